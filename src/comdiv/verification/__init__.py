"""Whether what is written down is true: every hash and every number, computed again from what it was made from."""

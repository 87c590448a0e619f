"""Verification of results: every hash and every number is computed again from the data behind it."""

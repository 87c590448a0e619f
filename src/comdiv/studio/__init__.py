"""The pages in the browser: look at problems, solve them, proofread them, have people judge them."""

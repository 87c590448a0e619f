"""Plans (what to run), the runner (here or on a Ray cluster), and the results."""

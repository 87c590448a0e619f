"""Plans (what to run), the runner (here or on a Ray cluster), and what came of it."""

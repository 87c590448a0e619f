"""From results to a page: the paper's numbers beside ours, tables, figures, worked examples, commands to reproduce."""

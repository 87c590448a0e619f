"""What the verbs of the command line do, as functions with the verbs' names: `from comdiv import split, measure`.

They read and write the same files and take the same settings; the command line only reads options and shows results.
Everything heavy is imported when it is needed: `measure` never loads torch.
"""

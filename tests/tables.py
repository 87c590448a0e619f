"""Cases of a test as a table of text."""


def rows(table: str) -> list[list[str]]:
    """The cells of a table with one line per case; – is an empty cell, and lines that begin with # are comments."""
    lines = [line.strip() for line in table.split("\n")]
    return [[cell.strip().replace("–", "") for cell in line.split("|")] for line in lines if line and line[0] != "#"]

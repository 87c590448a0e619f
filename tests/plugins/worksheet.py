"""A worksheet for the tests of the plug-in format."""

from pathlib import Path

PROBLEMS = (
    "Tom has 3 bags of 12 apples. How many apples does he have? => 3*12 = 36",
    "Ann has 40 pens. She gives 7 pens away. How many pens are left? => 40-7 = 33",
    "A box holds 8 eggs. Ben fills 5 boxes. How many eggs are there? => 8*5 = 40",
    "Eve had 15 coins. She found 6 more coins. How many coins does she have? => 15+6 = 21",
    "There is no calculation here.",
    "Sam cuts 24 meters of rope into 4 pieces. How long is each piece? => 24/4 = 6",
)


def write_worksheet(path: Path) -> Path:
    """A file with one problem that cannot be read."""
    path.write_text("\n\n".join(PROBLEMS) + "\n", encoding="utf-8")
    return path

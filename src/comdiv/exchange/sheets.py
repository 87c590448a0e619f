"""Human evaluation in a spreadsheet: a row a problem, with empty columns for the marks.

The file is opened by people's spreadsheet programs, which take a cell that begins with `=`, `+`, `-` or `@` for a
formula, whoever wrote it: such cells get a leading apostrophe. The reader of judgements takes it off the ids again.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from comdiv.evaluation.judgements import CRITERIA, harmless_cell
from comdiv.exchange.judging import draw_sheets
from comdiv.files import atomic_write, refuse_to_overwrite
from comdiv.problem import Problem

COLUMNS = ("id", "text", "equation", "answer", "judge", *CRITERIA, "comment")


def export_csv(
    problems: Sequence[Problem],
    out: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    judge: str = "",
    force: bool = False,
) -> dict[str, Any]:
    """Write the sheet of one judge; everybody who gets the same seed judges the same problems in the same order."""
    refuse_to_overwrite(out, force=force)
    sheets = draw_sheets(problems, sample, seed)
    with atomic_write(out) as stream:
        stream.write("\ufeff")  # without it, spreadsheets take UTF-8 for something else
        writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\r\n")
        writer.writeheader()
        for sheet in sheets:
            row = {"id": sheet.id, **sheet.to_json(), "judge": judge}
            writer.writerow({key: harmless_cell(value) for key, value in row.items()})
    return {"target": "csv", "problems": len(sheets), "sample": sample, "seed": seed}

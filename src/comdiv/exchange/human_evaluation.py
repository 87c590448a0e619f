"""Human evaluation elsewhere (§V-D): problems to judge in Label Studio or in a spreadsheet.

Wherever they work, all judges get the same sample of problems in the same order, and the same three questions.
`comdiv import judgements` reads what comes back: Label Studio's JSON, JSON-MIN or CSV, or a filled-in sheet.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import quoteattr

from pydantic import Field

from comdiv.corpora.hub import equation_over_numbers
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA, GOOD, NOT_GOOD, PROBLEM_ID, harmless_cell
from comdiv.exchange.exports import Export, ExportSource, Facts, write_export
from comdiv.expression import format_number
from comdiv.files import atomic_write, refuse_to_overwrite, write_text
from comdiv.problem import Problem
from comdiv.settings import Settings

QUESTIONS = {
    "grammar": "Is every sentence grammatical?",
    "fluency": "Does it read as a person would write it?",
    "logic": "Does it make sense, and do equation and answer belong to it?",
}
assert tuple(QUESTIONS) == CRITERIA
SHEET_COLUMNS = ("id", "text", "equation", "answer", "judge", *CRITERIA, "comment")
_SHOWN = {"equation": "Equation", "answer": "Answer"}


Sheet = dict[str, str]  # a problem as a judge sees it: nothing, not even its id, shows who or what wrote it


def draw_sheets(problems: Sequence[Problem], sample: int | None = None, seed: int = 0) -> list[Sheet]:
    """The problems to judge: all or a sample, shuffled so that the order reveals nothing; the seed decides."""
    if not problems:
        raise ComdivError("there are no problems to judge")
    size = len(problems) if sample is None else sample
    if size > len(problems):
        raise ComdivError(f"cannot draw a sample of {size} from {len(problems)} problems")
    draw = Random(seed).sample(sorted(problems, key=lambda problem: problem.id), size)
    return [
        {
            "id": problem.id,
            "text": problem.text,
            "equation": equation_over_numbers(problem) or "",
            "answer": "" if problem.answer is None else format_number(problem.answer),
        }
        for problem in draw
    ]


def export_label_studio(
    problems: Sequence[Problem], out: Path, *, sample: int | None = None, seed: int = 0, force: bool = False
) -> Facts:
    """Write `tasks.json` and `labels.xml` (the labelling interface); returns the facts."""
    sheets = draw_sheets(problems, sample, seed)

    def make(staging: Path) -> Facts:
        tasks = [{"data": {PROBLEM_ID if key == "id" else key: sheet[key] for key in sheet}} for sheet in sheets]
        write_text(staging / "tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
        write_text(staging / "labels.xml", labelling_interface())
        return {"target": "label-studio", "problems": len(sheets), "sample": sample, "seed": seed}

    return write_export(out, make, force=force)


def labelling_interface() -> str:
    """The form: the problem, its equation and answer, one choice per criterion, and a field for a comment."""
    lines = ["<View>", '  <Text name="text" value="$text"/>']
    for field, title in _SHOWN.items():
        lines += [f'  <Header value={quoteattr(title)} size="5"/>', f'  <Text name="{field}" value="${field}"/>']
    for criterion, question in QUESTIONS.items():
        lines.append(f'  <Header value={quoteattr(f"{criterion.capitalize()}: {question}")} size="5"/>')
        lines.append(f'  <Choices name="{criterion}" toName="text" choice="single" required="true" showInline="true">')
        lines += [f"    <Choice value={quoteattr(mark)}/>" for mark in (GOOD, NOT_GOOD)]
        lines.append("  </Choices>")
    lines.append('  <TextArea name="comment" toName="text" placeholder="Comment" rows="2" maxSubmissions="1"/>')
    return "\n".join([*lines, "</View>"]) + "\n"


def export_csv(
    problems: Sequence[Problem],
    out: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    judge: str = "",
    force: bool = False,
) -> Facts:
    """Write the sheet of one judge; with the same seed, all judge the same problems in the same order.

    Spreadsheet programs take a cell that begins with `=`, `+`, `-` or `@` for a formula, so such cells get a leading
    apostrophe. The reader of judgements removes it from ids again.
    """
    refuse_to_overwrite(out, force=force)
    sheets = draw_sheets(problems, sample, seed)
    with atomic_write(out) as stream:
        stream.write("\ufeff")  # without it, spreadsheets do not recognise UTF-8
        writer = csv.DictWriter(stream, SHEET_COLUMNS, restval="", lineterminator="\r\n")
        writer.writeheader()
        for sheet in sheets:
            writer.writerow({key: harmless_cell(value) for key, value in {**sheet, "judge": judge}.items()})
    return {"target": "csv", "problems": len(sheets), "sample": sample, "seed": seed}


class JudgeSettings(Settings):
    """Which problems are judged, and in which order."""

    sample: int | None = Field(None, ge=1, description="How many problems, drawn by seed; all by default.")
    seed: int = Field(0, ge=0, description="Seed of the choice and order of problems.")


class SheetSettings(JudgeSettings):
    """Which problems are judged, in which order, and by whom."""

    judge: str = Field("", description="Who fills it in; by default the file's name.")


class LabelStudioExport(Export):
    """Problems to judge in Label Studio: tasks.json to import there, labels.xml as the labelling interface."""

    reads = "corpus"
    settings = JudgeSettings
    example = "comdiv export label-studio sd/train.jsonl --sample 100 --out ls"

    def write(self, source: ExportSource, out: Path, settings: JudgeSettings, *, force: bool, **_: Any) -> Facts:
        return export_label_studio(source.problems, out, **settings.model_dump(), force=force)


class SheetExport(Export):
    """Problems to judge in a spreadsheet: one per row, with empty columns for grammar, fluency, logic and a comment."""

    reads = "corpus"
    settings = SheetSettings
    example = "comdiv export csv sd/train.jsonl --sample 100 --judge ann --out ann.csv"
    out_help = "The file to write."

    def write(self, source: ExportSource, out: Path, settings: SheetSettings, *, force: bool, **_: Any) -> Facts:
        return export_csv(source.problems, out, **settings.model_dump(), force=force)

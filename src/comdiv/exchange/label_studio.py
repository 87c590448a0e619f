"""Human evaluation in Label Studio: tasks to import there, and the form that the judges fill in.

What Label Studio exports afterwards (JSON, JSON-MIN or CSV) is read by `comdiv import judgements`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from comdiv.evaluation.judgements import GOOD, NOT_GOOD, PROBLEM_ID
from comdiv.exchange.folders import write_export
from comdiv.exchange.judging import QUESTIONS, draw_sheets
from comdiv.files import write_text
from comdiv.problem import Problem

_SHOWN = {"equation": "Equation", "answer": "Answer"}


def export_label_studio(
    problems: Sequence[Problem], out: Path, *, sample: int | None = None, seed: int = 0, force: bool = False
) -> dict[str, Any]:
    """Write `tasks.json` and `labels.xml` (the labelling interface); returns the facts."""
    sheets = draw_sheets(problems, sample, seed)

    def make(staging: Path) -> dict[str, Any]:
        tasks = [{"data": {PROBLEM_ID: sheet.id, **sheet.to_json()}} for sheet in sheets]
        write_text(staging / "tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
        write_text(staging / "labels.xml", labelling_interface())
        return {"target": "label-studio", "problems": len(sheets), "sample": sample, "seed": seed}

    return write_export(out, make, force=force)


def labelling_interface() -> str:
    """The form: the problem, its equation and answer, a choice for each criterion, room for a comment."""
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

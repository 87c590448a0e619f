"""`make_report`: from a folder of results to a folder with the page, the tables and the figures."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.accuracies import Number, plan_numbers
from comdiv.experiments.reporting.cell_tables import cell_table, recipe
from comdiv.experiments.reporting.examples import case_studies, worked_examples
from comdiv.experiments.reporting.paper import read_paper
from comdiv.experiments.reporting.sections import Section, human_section, in_order, plan_section, tiles
from comdiv.experiments.reporting.tables import WRITERS, duration
from comdiv.figures import write_figure
from comdiv.files import refuse_to_overwrite, write_text
from comdiv.solver import Progress

PAGE, DATA = "index.html", "results.json"
_MADE_BY = "comdiv report"


def make_report(
    runs: Path,
    out: Path,
    *,
    judgements: Sequence[Path] = (),
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the report on everything finished in `runs` and say what was written; the page itself is written last.

    `judgements` are files with people's marks of augmented problems; by default those in `runs/judgements`.
    """
    from comdiv import __version__

    plans = in_order(read_results(runs))
    tell = progress or (lambda what, done, total, note: None)
    people = human_section(runs, plans, judgements)
    _make_room(out, force=force)
    numbers: dict[str, list[Number]] = {}
    sections = []
    for place, plan in enumerate(plans):
        tell("reading results", place, len(plans), plan.name)
        numbers[plan.name] = plan_numbers(plan)
        sections.append(plan_section(plan, numbers[plan.name]))
    sections += [people] if people is not None else []
    recipes = [_recipe(plan) for plan in plans]
    cells = [recipe["cells"] for recipe in recipes if recipe["cells"] is not None]
    tables = [table for section in sections for table in section.all_tables] + cells
    for table in tables:
        for ending, write in WRITERS.items():
            write_text(out / "tables" / f"{table.file}.{ending}", write(table))
    pictures = [picture for section in sections for picture in section.all_pictures]
    for place, picture in enumerate(pictures):
        tell("drawing", place, len(pictures), picture.title)
        write_figure(out / "figures" / picture.file, picture.draw, dark=True)
    flat = [number for plan in plans for number in numbers[plan.name]]
    data = {"made_by": _MADE_BY, "source": runs.name, "numbers": [number.to_json() for number in flat]}
    write_text(out / DATA, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    content = {
        "version": __version__,
        "title": _title(plans),
        "lead": _lead(plans, sections),
        "tiles": tiles(_unique(flat)),
        "sections": sections,
        "examples": worked_examples(plans),
        "cases": case_studies(plans),
        "recipes": recipes,
        "report_command": f"comdiv report {runs.name} --out {out.name}",
        "source": runs.name,
        "paper": read_paper(),
    }
    write_text(out / PAGE, render_page(content))
    return {
        "page": str(out / PAGE),
        "plans": [plan.name for plan in plans],
        "numbers": len(flat),
        "tables": len(tables),
        "figures": len(pictures),
        "cells": {
            state: sum(cell.status == state for plan in plans for cell in plan.cells)
            for state in ("done", "failed", "not run")
        },
    }


def _make_room(out: Path, *, force: bool) -> None:
    """With `--force`, remove an earlier report so that no old figure stays; never remove anything else."""
    if out.exists() and not out.is_dir():
        raise ComdivError(f"{out} is a file: a report is a folder")
    refuse_to_overwrite(out, force=force)
    data = out / DATA
    if data.is_file() and f'"made_by": "{_MADE_BY}"'.encode() in _beginning(data):
        (out / PAGE).unlink(missing_ok=True)
        for name in ("figures", "tables"):
            shutil.rmtree(out / name, ignore_errors=True)


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(200)


def _title(plans: Sequence[PlanResults]) -> str:
    if len(plans) == 1 and plans[0].title:
        return plans[0].title
    return "Compositional generalization in math word problem solving"


def _lead(plans: Sequence[PlanResults], sections: Sequence[Section]) -> str:
    cells = [cell for plan in plans for cell in plan.cells]
    done = sum(cell.status == "done" for cell in cells)
    rows = [len(table.rows) for section in sections for table in section.details if table.title == "All numbers"]
    many = "" if len(plans) == 1 else "s"
    return (
        f"{len(plans)} plan{many}, {done} of {len(cells)} cells done, {sum(rows)} numbers. Each stands beside the "
        "paper's where it has one, with its interval, its n and seeds; augmentation is tested against the same method "
        "without it, on the same problems."
    )


def _unique(numbers: Sequence[Number]) -> list[Number]:
    """Plans share cells: a number that several of them have is shown only once at the top."""
    first: dict[tuple[object, ...], Number] = {}
    for number in numbers:
        facts = number.facts
        place = (facts.dataset, facts.cover, facts.rounds, facts.target, facts.steps_like)
        first.setdefault((number.method, number.part, number.subset, *place), number)
    return list(first.values())


def _recipe(plan: PlanResults) -> dict[str, Any]:
    import yaml

    run = recipe(plan)
    return {
        "name": plan.name,
        "title": plan.title or plan.name,
        "recipe": run,
        "time": duration(run.seconds),
        "cells": cell_table(plan),
        "yaml": yaml.safe_dump(json.loads(json.dumps(plan.plan)), sort_keys=False, allow_unicode=True),
        "sha256": hashlib.sha256(plan.path.read_bytes()).hexdigest(),
    }


FORMATS = (("csv", "CSV"), ("tex", "LaTeX"), ("md", "Markdown"))


def render_page(content: Mapping[str, Any]) -> str:
    """Fill the template; every text is escaped except our own style, script and trees."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = Markup(page_file("style.css")), Markup(page_file("script.js"))
    return environment.get_template("report.html").render(**content, style=style, script=script, formats=FORMATS)


def page_file(name: str) -> str:
    """A file of the page's own: template, style or script."""
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")

"""`comdiv run` and `comdiv report`: a plan's cells, on this machine or on a Ray cluster, and a page of results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json, print_line, print_note, progress_bars
from comdiv.cli.options import ForceOption, JsonOption, ProgramsOption

if TYPE_CHECKING:
    from comdiv.experiments.cell import Cell, PlanResults
    from comdiv.experiments.plan import Plan
    from comdiv.experiments.runner import State, Watch

_SHOWN = 200  # cells that are listed one by one
_MARKS = {"done": "✓", "failed": "✗", "not run": "·"}


def run(
    plan: Annotated[Path, typer.Argument(help="A plan, such as experiments/main-results.yaml.")],
    out: Annotated[Path, typer.Option(help="Folder for the results; several plans can share it.")] = Path("runs"),
    preset: Annotated[str | None, typer.Option(help="A preset of the plan: smoke runs it in miniature.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at a time; by default one per core.")] = None,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="This machine, or a Ray cluster.")] = "local",
    address: Annotated[
        str | None,
        typer.Option(help="Ray cluster: HOST:PORT, ray://HOST:PORT or auto; by default one is started here."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="For a tuning plan: combinations per method, drawn by its seed.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this dataset of the plan, and what it needs; may be repeated.")
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only this method of the plan; may be repeated.")] = None,
    seed: Annotated[
        list[int] | None, typer.Option(help="Only trainings with this seed of the plan; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, and how long it would take.")
    ] = False,
    programs: ProgramsOption = False,
    json: JsonOption = False,
) -> None:
    """Run whatever part of a plan is not done yet. You can stop it at any time: the same command continues."""
    from comdiv.verbs import running

    part: dict[str, Any] = {"datasets": dataset or (), "methods": method or (), "seeds": seed or ()}
    if dry_run:
        from comdiv.experiments.plan import read_plan
        from comdiv.experiments.planning import plan_cells
        from comdiv.experiments.runner import fitting_jobs, selected

        read = read_plan(plan, preset, samples)
        cells = selected(read, plan_cells(read, plan.parent), **part)
        published = plan.parent / "results"  # where ours lie: how long similar cells took elsewhere
        _print_dry_run(read, cells, out, published, fitting_jobs(jobs, read.training.threads), json=json)
        return
    with _shown() as watch:
        results = running.run(
            plan, out, preset=preset, samples=samples, jobs=jobs, engine=engine, address=address, programs=programs,
            watch=watch, observer=TERMINAL, **part,
        )  # fmt: skip
    _print_results(results, out, json=json)
    if any(cell.status != "done" for cell in results.cells):
        raise typer.Exit(1)


@contextmanager
def _shown() -> Iterator["Watch"]:
    """A bar for the whole and one per running cell; without a terminal, one line per finished cell."""
    with progress_bars() as bars:
        whole = bars.add_task("cells", total=None, note="")
        tasks: dict[str, Any] = {}

        def watch(state: "State") -> None:
            note = f"{state.failed} failed" if state.failed else ""
            bars.update(whole, completed=state.done + state.failed + state.blocked, total=state.cells, note=note)
            for line in state.news:
                if not bars.disable:
                    bars.console.print(line, markup=False, style="dim", soft_wrap=True)
                else:
                    print_note(line)
            for running in state.running:
                key = running.cell.key
                if key not in tasks:
                    tasks[key] = bars.add_task("", total=None, note="")
                bars.update(
                    tasks[key], description=f"  {running.cell.label[:48]}", completed=running.done,
                    total=running.total or None, note=f"{running.what} {running.note}".strip(),
                )  # fmt: skip
            for key in tasks.keys() - {running.cell.key for running in state.running}:
                bars.remove_task(tasks.pop(key))

        yield watch


def _print_dry_run(plan: "Plan", cells: Sequence["Cell"], out: Path, published: Path, jobs: int, *, json: bool) -> None:
    from comdiv.experiments.estimates import estimate
    from comdiv.experiments.store import FAILED, cell_folder, read_done

    distinct = list({cell.key: cell for cell in cells}.values())
    done = {cell.key for cell in distinct if read_done(cell_folder(out, cell.key)) is not None}
    left = estimate(out, [cell for cell in distinct if cell.key not in done], published)
    if json:
        listed = [{**cell.to_json(), "done": cell.key in done} for cell in distinct]
        print_json({"plan": plan.name, "cells": listed, "seconds_left": left.seconds, "unknown": left.unknown})
        return
    console = output_console()
    for cell in distinct[:_SHOWN]:
        failed = (cell_folder(out, cell.key) / FAILED).is_file()
        mark = _MARKS["done" if cell.key in done else "failed" if failed else "not run"]
        console.print(f"{mark} {cell.kind:12} {cell.label}", markup=False, soft_wrap=True)
    if len(distinct) > _SHOWN:
        console.print(f"… and {len(distinct) - _SHOWN} more; --json lists all")
    kinds = Counter(cell.kind for cell in distinct)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    console.print(f"{len(distinct)} cells ({counts}), {len(done)} done", markup=False, soft_wrap=True)
    console.print(f"left: {left.left(jobs)}, with {jobs} job{'s' * (jobs > 1)}", markup=False, soft_wrap=True)


def _print_results(results: "PlanResults", out: Path, *, json: bool) -> None:
    counts = Counter(cell.status for cell in results.cells)
    if json:
        cells = [
            {"key": c.key, "kind": c.kind, "label": c.label, "status": c.status, "reason": c.reason, "node": c.node}
            for c in results.cells
        ]
        print_json({"plan": results.name, "folder": str(out), "counts": counts, "cells": cells})
        return
    console = output_console()
    for cell in _one_each(results.cells):
        if cell.status != "done":
            reason = f": {cell.reason}" if cell.reason else ""
            console.print(f"{_MARKS[cell.status]} {cell.status}: {cell.label}{reason}", markup=False, soft_wrap=True)
    _print_accuracies(results)
    said = ", ".join(f"{counts[status]} {status}" for status in ("done", "failed", "not run") if counts[status])
    console.print(f"{results.name}: {said}; results in {out}", markup=False, soft_wrap=True)


def _one_each(cells: Sequence["Cell"]) -> list["Cell"]:
    return list({cell.key: cell for cell in cells}.values())


def _print_accuracies(results: "PlanResults") -> None:
    """One row per method and dataset with the mean over seeds; for a tuning, the best by validation accuracy."""
    from rich.markup import escape
    from rich.table import Table

    from comdiv.experiments.reporting.cell_tables import accuracies, best_settings

    rows = best_settings(results) if results.plan.get("tuning") else accuracies(results)
    if not rows:
        return
    table = Table(*(escape(name) for name in rows[0]), box=None)
    for row in rows:
        table.add_row(*(escape(_cell_text(value)) for value in row.values()))
    output_console().print(table)


def _cell_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1%}"
    return "–" if value is None else str(value)


def report(
    runs: Annotated[Path, typer.Argument(help="Folder that `comdiv run` filled.")],
    out: Annotated[Path, typer.Option(help="Folder of the report: index.html, tables/, figures/, results.json.")],
    judgements: Annotated[
        list[Path] | None,
        typer.Option(help="People's marks of augmented problems; by default the files in RUNS/judgements."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page if there is a screen.")] = False,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Make a page of all results: the paper's numbers beside ours, figures, examples, and how to reproduce them."""
    from comdiv.verbs import running

    facts = running.report(runs, out, judgements=judgements or (), force=force, observer=TERMINAL)
    if json:
        print_json(facts)
    else:
        cells = ", ".join(f"{count} {state}" for state, count in facts["cells"].items() if count)
        print_line(f"{facts['page']}: {facts['numbers']} numbers, {facts['figures']} figures; cells: {cells}")
    if show and _has_screen():
        typer.launch(str(Path(facts["page"]).resolve()))


def _has_screen() -> bool:
    """Whether opening a page would show it to anyone: Linux needs a display."""
    import os
    import sys

    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

"""Writes `results.md` and its figures from the published results: `python docs/_tools/results_page.py`.

The page is short: the paper's tables and figures with ours beside them, a leaderboard per dataset, and one list of what
has not been run. `detail_pages` has the rest, one page per plan; `make docs` adds them to the site.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from readings import readings_section

from comdiv.experiments.archive import is_published, read_results
from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.reporting.accuracies import Number, main_numbers, plan_numbers
from comdiv.experiments.reporting.accuracy_tables import (
    Show,
    accuracy_entry,
    accuracy_table,
    breakdown_table,
    composition_table,
    divergence_table,
    numbers_table,
    rounds_table,
)
from comdiv.experiments.reporting.cell_tables import dataset_table, recipe
from comdiv.experiments.reporting.pictures import Picture
from comdiv.experiments.reporting.sections import Section, human_section, in_order, plan_section
from comdiv.experiments.reporting.split_tables import cost_table, costs, splits_table, structures_table
from comdiv.experiments.reporting.tables import (
    EMPTY,
    Column,
    Entry,
    Table,
    duration,
    file_name,
    interval_text,
    percent,
    to_markdown,
)
from comdiv.experiments.store import judgement_files
from comdiv.figures import write_figure
from comdiv.files import write_text

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "experiments"
RESULTS = EXPERIMENTS / "results"
READINGS = EXPERIMENTS / "augmentation"
PAGE = ROOT / "docs" / "results.md"
PICTURES = ROOT / "docs" / "pictures" / "results"
MINIATURE = "smoke"  # a preset that tests the path, not a method
BEST = 3  # methods of a leaderboard
FEWEST = 3  # methods that make one
DEVELOPMENT = "development"  # plans whose test sets are there to choose on: no leaderboard
PRESET = "@"  # between the name of a plan and that of its preset
OLD_SD = "-old-sd"  # at the end of the name of a plan that was run on the SD of before version 1.0
BUDGET = "main-results@small"  # whose learning curves are on the page

Make = Callable[[PlanResults, Sequence[Number], Show], Table | None]

HEAD = """# Results

Our numbers on the paper's corpora, beside the paper's. `python docs/_tools/results_page.py` makes this page from the
files in `experiments/results`; nothing on it is written by hand.

An entry is the mean answer accuracy in percent over seeds, ± half of its 95 % interval (Student's; below three seeds
the interval over problems, Wilson's, stands instead). Below it: the paper's number and ours minus the paper's; for a
method with augmentation, the paired difference in points from the method without, with its interval and p (bootstrap
over problems), and the same seed by seed; the number of seeds. [What equal steps
mean](how-to/run-experiments.md#equal-steps). Every table of every plan, with its figures, is on the site that
`make docs` builds, and in `comdiv report experiments/results --out report`.
"""
OLD_SD_NOTE = """## The SD of before version 1.0

Nobody had read it: 8 % of its lexical test problems and 74 % of the products in its training side were valid. Its
numbers stay on the site, in the plans whose names end in `-old-sd`; [What we found](what-we-found.md) says which
conclusions are withdrawn. The plans now build [SD 1.0](how-to/synthesize-a-benchmark.md#readers), whose products were
read: `sd-1.0` above.
"""
LOOKS = """## How often each test was looked at

A look is one published training evaluated on the test set; [others](what-we-found.md#how-often-we-looked) are told.
"""
CURVES = """## What another hour would buy

"""
FIGURE_6 = """## Figure 6: the case study

It shows problems, and published results hold no text: `comdiv report runs --out report` makes it from runs of your own,
with what the augmentation kept, ranked away and refused.
"""
JUDGING = "- Human evaluation (§V-D) by people: nobody has judged. `comdiv judge` collects marks."
FOOT = """## How these numbers are made

```sh
make paper       # what fits one night on two cores: an estimate first, this page at the end; make paper-full: the rest
comdiv run experiments/main-results.yaml --dataset sd-1.0 --out runs  # any plan, in as many sittings as it takes
comdiv export results runs --out experiments/results              # what is done: numbers and ids, no texts, no weights
python docs/_tools/results_page.py                                # this page
```

The corpora must be there (`comdiv data download math23k`, `mawps`). Same seeds and machine, same numbers.
"""


# --- the short page ---


def results_page(results: Path = RESULTS) -> tuple[str, dict[str, Picture]]:
    """The page, and its figures by name."""
    plans = {plan.name: plan for plan in _plans(results)}
    numbers = {name: plan_numbers(plan) for name, plan in plans.items()}
    pictures: dict[str, Picture] = {}
    lines = [HEAD]
    before = ""
    for name, title, make, figure in PAPER:
        if name in plans:
            table = make(plans[name], numbers[name], _entry)
            if table is None:
                continue
            lines += _paper_section(title, plans[name], table, numbers[name], again=name == before)
            before = name
            for picture in plan_section(plans[name], numbers[name]).all_pictures if figure else ():
                if picture.name == f"{name}-{figure}":
                    pictures[file_name(picture.name)] = picture
                    lines += _image(picture)
    if any(name.endswith(OLD_SD) for name in plans):
        lines += [FIGURE_6, *readings_section(READINGS), *_curves(plans.get(BUDGET)), OLD_SD_NOTE]
    lines += [*_leaderboards(plans, numbers), *_looks(plans), *_not_run(results, plans), FOOT]
    return "\n".join(lines), pictures


def _plans(results: Path) -> list[PlanResults]:
    """The plans of a folder, as they stand on the page; miniatures are none."""
    there = read_results(results) if results.is_dir() and is_published(results) else ()
    return in_order([plan for plan in there if plan.preset != MINIATURE])


def _datasets(plan: PlanResults, numbers: Sequence[Number], show: Show) -> Table | None:
    """Table I has no accuracies to show."""
    return dataset_table(plan)


def _rounds(plan: PlanResults, numbers: Sequence[Number], show: Show) -> Table | None:
    """The originals alone are no curve."""
    known = any(number.facts.rounds and number.known for number in numbers)
    return rounds_table(plan, numbers, show) if known else None


def _splits(plan: PlanResults, numbers: Sequence[Number], show: Show) -> Table | None:
    return splits_table(plan, numbers)


def _structures(plan: PlanResults, numbers: Sequence[Number], show: Show) -> Table | None:
    return structures_table(plan, numbers)


# The tables and figures: the plan, the title, its table, and its figure if it has one.
PAPER: tuple[tuple[str, str, Make, str], ...] = (
    ("datasets", "Table I: the datasets", _datasets, ""),
    ("main-results", "Table II: i.i.d. against compositional", accuracy_table, ""),
    ("main-results@small", "Table II with small solvers: Math23K", accuracy_table, ""),
    ("length-split", "Table II, column LenDiv: longer texts than in training", accuracy_table, ""),
    ("composition-types", "Table III: structural and lexical", composition_table, ""),
    ("ablation", "Table IV: what each part of the augmentation contributes", accuracy_table, ""),
    ("divergence-curve", "Figure 5a: accuracy against compound divergence", divergence_table, "divergence"),
    ("rounds-curve", "Figure 5b: accuracy and time against rounds", _rounds, "rounds"),
    ("sense", "Augmentation that makes sense, beside pasted", accuracy_table, ""),
    ("sense", "Augmentation that makes sense: over three splits", _splits, ""),
    ("deduction", "Encoder, decoder, augmentation", accuracy_table, "grid"),
    ("deduction", "Encoder, decoder, augmentation: by local structures", _structures, ""),
)


def _entry(number: Number) -> Entry:
    """An accuracy as tables have it, with the number of seeds, and with an interval where seeds give none."""
    entry = accuracy_entry(number)
    if number.accuracy is None:
        return EMPTY
    seeds = len(number.shares)
    interval = () if number.half_width is not None else (interval_text(number.over_problems or (0, 1)),)
    lines = [line for line in entry.lines if " of " not in line or "seeds" not in line]
    return replace(entry, lines=(*interval, *lines, f"{seeds} seed{'s' * (seeds > 1)}"))


def _paper_section(
    title: str, plan: PlanResults, table: Table, numbers: Sequence[Number], *, again: bool
) -> Iterator[str]:
    """One table, under what its plan is about and what it cost, unless the section before is `again` of that plan."""
    yield from (f"## {title}", "")
    shown = _with_hours(plan, _without_gaps(replace(table, title="", caption="", notes=())))
    sizes = {(n.facts.dataset, n.subset or n.part): n.n for n in numbers if n.known}
    told = [
        f"{column.full_title} {sizes[column.group, column.title]:,}"
        for column in shown.columns
        if (column.group, column.title) in sizes
    ]
    about = f"The preset `{plan.preset}` of `{plan.name.partition(PRESET)[0]}`." if plan.preset else plan.about
    paragraph = [*([] if again else [about, _budget(plan)]), *([f"n: {', '.join(told)}."] if told else [])]
    if paragraph:
        yield from (" ".join(paragraph), "")
    yield from (to_markdown(shown, breaks=True).rstrip(), "")


def _with_hours(plan: PlanResults, table: Table) -> Table:
    """A table of methods against datasets, with the processor hours of each row."""
    datasets = {column.group for column in table.columns if column.group}
    hours: dict[str, float] = {}
    for cost in costs(plan):
        if cost.dataset in datasets:
            hours[cost.method] = hours.get(cost.method, 0) + cost.training + cost.evaluation
    if not hours:
        return table
    last = (Entry.number(hours.get(row[0].text), ".1f") for row in table.rows)
    rows = tuple((*row, entry) for row, entry in zip(table.rows, last, strict=True))
    return replace(table, columns=(*table.columns, Column("Processor hours")), rows=rows)


def _curves(plan: PlanResults | None) -> Iterator[str]:
    """How validation accuracy grew with the epochs of one plan's trainings."""
    table = None if plan is None else cost_table(plan, ())
    if plan is None or table is None:
        return
    told = f"The trainings of {plan.name.replace(PRESET, ', preset ')}; those of all plans are on the site. "
    yield from (CURVES + told + table.caption, "")
    yield from (to_markdown(replace(table, title="", caption="")).rstrip(), "")


def _looks(plans: Mapping[str, PlanResults]) -> Iterator[str]:
    """For each test set the published evaluations, each counted once although several plans may share it."""
    looks: dict[str, dict[str, tuple[str, str]]] = {}
    names: dict[str, str] = {}
    for plan in plans.values():
        for cell in plan.of_kind("evaluation"):
            if cell.status != "done" or "test" not in cell.summary or cell.facts.cover not in (None, "none"):
                continue
            source = plan.ancestor(cell, "dataset")
            key = "" if source is None else source.origin.get("originals", {}).get("dataset/test.jsonl", "")
            old = " (old)" if plan.name.endswith(OLD_SD) and cell.facts.split in ("synthesis", "disjoint") else ""
            name = names.setdefault(key or str(cell.facts.dataset), f"{cell.facts.dataset}{old}")
            looks.setdefault(name, {})[cell.key] = (cell.facts.method or "", plan.name)
    if looks:
        told = (
            f"{name} {len(cells)} (of {len(set(cells.values()))} methods of plans)"
            for name, cells in sorted(looks.items(), key=lambda item: -len(item[1]))
        )
        yield from (LOOKS, "; ".join(told) + ".", "")


def _budget(plan: PlanResults) -> str:
    """One line on what the numbers cost: the command, seeds and time."""
    run = recipe(plan)
    if plan.name.endswith(OLD_SD):  # on its own page of the site
        return f"{duration(run.seconds)} of one core in all; the command of then builds other problems now."
    done = [cell for cell in plan.cells if cell.status == "done"]
    known = {_origin(cell) for cell in done if cell.kind in ("evaluation", "measurement")}
    named = list(dict.fromkeys(_origin(cell) for cell in plan.cells))
    chosen = [name for name in named if name in known]
    flags = "" if len(chosen) in (0, len(named)) else "".join(f" --dataset {name}" for name in chosen)
    epochs = [cell.summary["planned_epochs"] for cell in done if cell.summary.get("planned_epochs")]
    trained = f"{len(epochs)} training{'s' * (len(epochs) > 1)} of at most {max(epochs)} epochs, " if epochs else ""
    command = run.command.replace(" --out", f"{flags} --out")
    return f"Budget: {trained}{duration(run.seconds)} of one core in all (`{command}`). {_whose(plan)}".rstrip()


def _whose(plan: PlanResults) -> str:
    """What of a plan `make paper` runs in its night, and what only `make paper-full`."""
    name, _, preset = plan.name.partition(PRESET)
    parts = [part for part in paper().NIGHT if (part.plan, part.preset or "") == (name, preset)]
    if not parts:
        return "From `make paper-full`." if any(part.plan == name for part in paper().FULL) else ""
    named = [" ".join([*part.datasets, *(f"seed {seed}" for seed in part.seeds)]) for part in parts]
    return (
        f"From `make paper`: {'; '.join(filter(None, named)) or 'all'}; the rest from `make paper-full`."
        if any(named)
        else "From `make paper`."
    )


@cache
def paper() -> Any:
    """`experiments/paper.py`."""
    spec = spec_from_file_location("paper", EXPERIMENTS / "paper.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["paper"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _without_gaps(table: Table) -> Table:
    """Only rows and columns that have a number: what has not been run is listed at the page's end."""
    results = [place for place, column in enumerate(table.columns) if column.number and place and _is_result(column)]
    rows = [row for row in table.rows if any(_has_number(row[place]) for place in results)]
    kept = [
        place
        for place, column in enumerate(table.columns)
        if not column.number or any(_has_number(row[place]) for row in rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in rows),
    )


def _is_result(column: Column) -> bool:
    """Whether a column has what was measured, not what was asked for."""
    return column.group != "Compound divergence" and column.title not in ("Rounds", "n", "k")


def _has_number(entry: Entry) -> bool:
    return isinstance(entry.value, int | float) or entry.text == "∞"


def _leaderboards(plans: Mapping[str, PlanResults], numbers: Mapping[str, Sequence[Number]]) -> Iterator[str]:
    """The best methods of each test set over all plans; datasets that share a test set share a board."""
    yield from ("## Leaderboards", "")
    yield from (
        f"The best {BEST} of each test set of the paper's corpora, of any plan. Plans differ in budget "
        "and in what they train on; with one seed, a number is one training's.",
        "",
    )
    boards: dict[str, dict[tuple[str, float], tuple[Number, str]]] = {}
    names: dict[str, str] = {}  # hash of a test set → the first dataset that has it
    for name, found in numbers.items():
        for number in main_numbers(found):
            facts = number.facts
            if (
                name.startswith(DEVELOPMENT)
                or facts.target is not None
                or facts.rounds is not None
                or "demo" in (facts.corpus or "")
                or (name.endswith(OLD_SD) and facts.split in ("synthesis", "disjoint"))
            ):
                continue
            if number.part == "test" and number.accuracy is not None:
                source = plans[name].ancestor(number.cells[0], "dataset")
                test = source.origin["originals"].get("dataset/test.jsonl", "") if source is not None else ""
                board = names.setdefault(test or str(facts.dataset), str(facts.dataset))
                boards.setdefault(board, {}).setdefault((number.method, number.accuracy), (number, name))
    rows = []
    for dataset, entries in boards.items():
        if len(entries) >= FEWEST:
            ranked = sorted(entries.values(), key=lambda one: -(one[0].accuracy or 0))[:BEST]
            n = max(number.n for number, _ in ranked)
            rows.append((Entry(dataset), Entry.number(n), *(_ranked(number, plan) for number, plan in ranked)))
    columns = (Column("Test set", number=False), Column("n"), *(Column(f"{place + 1}.") for place in range(BEST)))
    if rows:
        yield from (to_markdown(Table("", "", columns, tuple(rows)), breaks=True).replace("\\`", "`").rstrip(), "")


def _ranked(number: Number, plan: str) -> Entry:
    interval, seeds = number.over_seeds or number.over_problems, len(number.shares)
    told = "" if interval is None else interval_text(interval)
    return Entry(
        f"{number.method} {percent(number.accuracy or 0)}", None, (told, f"{seeds} seed{'s' * (seeds > 1)}, `{plan}`")
    )


def _not_run(results: Path, plans: Mapping[str, PlanResults]) -> Iterator[str]:
    """One list: of each plan the methods without any number on a dataset, and the plans of which nothing is there."""
    yield from ("## Not run", "")
    for name, plan in plans.items():
        if name.endswith(OLD_SD):
            continue
        lacking: dict[str, list[str]] = {}
        for cell in plan.of_kind("evaluation"):
            methods = lacking.setdefault(_origin(cell), [])
            if cell.facts.method not in methods:
                methods.append(cell.facts.method or "")
        for cell in plan.of_kind("evaluation"):
            methods = lacking[_origin(cell)]
            if cell.status == "done" and cell.facts.method in methods:
                methods.remove(cell.facts.method)
        told = [f"{dataset}: {', '.join(methods)}" for dataset, methods in lacking.items() if methods]
        if told:
            yield f"- `{name}`: {'; '.join(told)}"
    known = {name.partition(PRESET)[0] for name in plans}
    nothing = [
        path.stem for path in sorted(EXPERIMENTS.glob("*.yaml")) if path.stem not in known and path.stem != "demo"
    ]
    if nothing:
        yield "- nothing of " + ", ".join(f"`{name}`" for name in nothing)
    if not judgement_files(results):
        yield JUDGING
    yield ""


def _origin(cell: Cell) -> str:
    """The dataset as the plan names it; a split with targets makes one for each."""
    return (cell.facts.dataset or "").removesuffix("" if cell.facts.target is None else f"-{cell.facts.target:.2f}")


def _image(picture: Picture) -> Iterator[str]:
    alternative = " ".join(picture.alternative.replace("[", "(").replace("]", ")").split())
    yield from (f"![{alternative}](pictures/results/{file_name(picture.name)}.svg)", "", f"*{picture.caption}*", "")


# --- one page per plan, for the site ---


@cache
def detail_pages(results: Path = RESULTS) -> tuple[dict[str, str], dict[str, Picture]]:
    """The name of a plan → everything about it; and the figures of all these pages."""
    pages, pictures = {}, {}
    for plan in _plans(results):
        numbers = plan_numbers(plan)
        section = plan_section(plan, numbers)
        pages[file_name(plan.name)] = "\n".join(_details(plan, section, numbers))
        pictures |= {file_name(picture.name): picture for picture in section.pictures}
    if judgement_files(results):
        section_of_people = human_section(results, _plans(results))
        if section_of_people is not None:
            tables = [to_markdown(table, breaks=True) for table in section_of_people.tables]
            pages["human-evaluation"] = "\n".join(
                ["# Human evaluation (§V-D)", "", section_of_people.kicker, "", *tables]
            )
    return pages, pictures


def _details(plan: PlanResults, section: Section, numbers: Sequence[Number]) -> Iterator[str]:
    yield from (f"# {plan.name}", "", f"{plan.title}. {section.kicker} {plan.about}", "", _budget(plan), "")
    known = [number for number in numbers if number.known]
    for table in section.tables:
        yield from (to_markdown(table, breaks=True), "")
    for picture in section.pictures:
        yield from _site_image(picture)
    for table in section.details:
        if table.name == f"{plan.name}-numbers":
            table = numbers_table(plan, known) or table  # noqa: PLW2901
        if table.name == f"{plan.name}-breakdown":
            table = breakdown_table(plan, known) or table  # noqa: PLW2901
        yield from ('<details markdown="1">', f"<summary>{table.title}</summary>", "")
        yield from (to_markdown(replace(table, title=""), breaks=True), "</details>", "")
    run = recipe(plan)
    versions = ", ".join(f"{package} {version}" for package, version in run.versions.items())
    yield from (f"Made with: seeds {', '.join(map(str, run.seeds)) or 'none'}; {versions}.", "")


def _site_image(picture: Picture) -> Iterator[str]:
    for line in _image(picture):
        yield line.replace("](pictures/results/", "](pictures/")


def main() -> None:
    """Write the page and its figures; figures that are no longer on it go."""
    page, pictures = results_page()
    write_text(PAGE, page)
    for old in PICTURES.glob("*"):
        old.unlink()
    for name, picture in pictures.items():
        for path in write_figure(PICTURES / name, picture.draw):
            if path.suffix != ".svg":
                path.unlink()
    sys.stdout.write(f"{PAGE}: {len(page.splitlines())} lines, {len(pictures)} figures\n")


if __name__ == "__main__":
    main()

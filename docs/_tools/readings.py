"""The paper's human evaluation (§V-D) on the page of results: what two readers said of new problems, by corpus."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comdiv.evaluation.judgements import read_judgements
from comdiv.evaluation.kappa import agreement
from comdiv.experiments.reporting.tables import Column, Entry, tabulate, to_markdown
from comdiv.loading import read_json_lines

FILES = "verdicts-sense-*.jsonl"
MARKS = ("qualified", "valid", "label")
KINDS = {"op1": "operation 1", "op2": "operation 2", "original": "originals"}
ABOUT = """## New problems as two readers see them (§V-D)

What `comdiv augment --preset sense` makes, read with originals among it by two language models (no person has read it),
blind to each other and to what is new; in percent, reader a, then b. The paper's two people found 83 and 84 % of its
new problems qualified (κ 0.71). κ is that of *qualified* over all problems of a corpus. [What the marks
mean](how-to/augment-a-training-set.md#what-the-presets-make).
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the readers said of the problems of one corpus."""

    corpus: str
    verdicts: Sequence[dict[str, Any]]
    kappa: float | None

    @property
    def read(self) -> int:
        """The number of problems."""
        return len({verdict["id"] for verdict in self.verdicts})

    def shares(self, kind: str, mark: str) -> Entry:
        """The shares of one kind of problems with a mark, one reader after the other."""
        own = [verdict for verdict in self.verdicts if _kind(verdict) == kind]
        readers = sorted({verdict["reader"] for verdict in own})
        marks = [[verdict[mark] for verdict in own if verdict["reader"] == reader] for reader in readers]
        return Entry(", ".join(f"{100 * sum(given) / len(given):.0f}" for given in marks))


def readings(folder: Path) -> Iterator[Reading]:
    """One of each corpus whose new problems were read."""
    for path in sorted(folder.glob(FILES)):
        verdicts = [verdict for _, verdict in read_json_lines(path)]
        kappa = agreement(read_judgements(path, mark="qualified")).good.kappa.value
        yield Reading(path.stem.removeprefix("verdicts-sense-"), verdicts, kappa)


def readings_section(folder: Path) -> Iterator[str]:
    """The section, or nothing where nobody has read."""
    columns = (
        Column.words("Corpus", lambda row: row.corpus),
        Column.numbers("Read", lambda row: row.read),
        *(_shares(kind, mark) for mark in MARKS for kind in KINDS),
        Column.numbers("κ", lambda row: row.kappa, ".2f"),
    )
    table = tabulate("readings", "", columns, readings(folder))
    if table is not None:
        yield from (ABOUT, to_markdown(table).rstrip(), "")


def _shares(kind: str, mark: str) -> Column:
    return Column(KINDS[kind], mark, show=lambda row: row.shares(kind, mark))


def _kind(verdict: dict[str, Any]) -> str:
    """`op1` or `op2` of a new problem, from its id; `original`."""
    return "original" if verdict["kind"] == "original" else str(verdict["id"]).split("-")[1]

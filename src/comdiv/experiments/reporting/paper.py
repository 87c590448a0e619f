"""The paper's numbers, to be shown beside ours. They are data: `paper.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from comdiv.evaluation.significance import Interval, wilson_interval

Place = tuple[str, str, str, str | None]  # corpus, split, part, subset
ROUNDS = 7  # of its augmentation


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """An accuracy in percent as printed. It comes from one run on n problems, so Wilson's interval is all we know."""

    percent: float
    n: int

    @property
    def share(self) -> float:
        """The accuracy as a share."""
        return self.percent / 100

    @property
    def interval(self) -> Interval:
        """Where the accuracy would plausibly lie for other problems of the same kind, as shares."""
        return wilson_interval(round(self.share * self.n), self.n)


@dataclass(frozen=True, slots=True)
class PaperDataset:
    """A row of Table I."""

    name: str
    corpus: str
    split: str
    train: int
    test: int
    length_ratio: float
    atom_divergence: float
    compound_divergence: float


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of accuracies: one number per method and place."""

    rows: Mapping[str, Mapping[Place, PaperNumber]]

    def get(self, method: str, place: Place) -> PaperNumber | None:
        """The paper's number for a method at a place, if it prints one; `GTS` and `gts` are the same method."""
        return next((row for name, row in self.rows.items() if name.casefold() == method.casefold()), {}).get(place)


@dataclass(frozen=True, slots=True)
class Paper:
    """Everything that the paper reports as numbers."""

    title: str
    authors: str
    datasets: tuple[PaperDataset, ...]
    results: PaperTable  # Table II, and LenDiv
    composition_types: PaperTable  # Table III
    ablation: PaperTable  # Table IV
    gaps: Mapping[str, Mapping[str, float]]  # method → math23k, mawps, sd
    human_evaluation: Mapping[str, Any]

    def dataset(self, corpus: str | None, split: str | None) -> PaperDataset | None:
        """The row of Table I for a split of a corpus."""
        return next((one for one in self.datasets if (one.corpus, one.split) == (corpus, split)), None)

    def accuracy(self, method: str, place: Place) -> PaperNumber | None:
        """The paper's accuracy for a method at a place, whichever table has it."""
        tables = (self.results, self.composition_types, self.ablation)
        return next((number for table in tables if (number := table.get(method, place)) is not None), None)

    def gap(self, method: str, corpus: str) -> float | None:
        """The relative gap that the paper prints for a method on a corpus."""
        return next((gaps for name, gaps in self.gaps.items() if name.casefold() == method.casefold()), {}).get(corpus)


@cache
def read_paper() -> Paper:
    """The paper's numbers."""
    import yaml

    record = yaml.safe_load(files(__package__).joinpath("paper.yaml").read_text(encoding="utf-8"))
    gaps = record["gaps"]
    return Paper(
        title=record["title"],
        authors=record["authors"],
        datasets=tuple(PaperDataset(**entry) for entry in record["datasets"]),
        results=_table(record["results"]),
        composition_types=_table(record["composition_types"]),
        ablation=_table(record["ablation"]),
        gaps={method: dict(zip(gaps["columns"], values, strict=True)) for method, values in gaps["rows"].items()},
        human_evaluation=record["human_evaluation"],
    )


def _table(record: Mapping[str, Any]) -> PaperTable:
    columns = [((c["corpus"], c["split"], c["part"], c.get("subset")), c["n"]) for c in record["columns"]]
    return PaperTable(
        {
            method: {place: PaperNumber(value, n) for (place, n), value in zip(columns, values, strict=True)}
            for method, values in record["rows"].items()
        }
    )

"""The cells of a plan's datasets, and the book in which all cells of a plan are entered, each once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from comdiv.corpora import ReadReport
from comdiv.corpora.read import open_corpus
from comdiv.dataset import PARTS, is_intact, read_facts
from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.cell import Cell, Facts, Kind
from comdiv.experiments.keys import cell_key
from comdiv.experiments.options import SYNTHESIS_FILES, synthesis_options
from comdiv.experiments.plan import DatasetPlan, Plan, SplitPlan
from comdiv.files import file_sha256


@dataclass(slots=True)
class CellBook:
    """All cells entered so far. `base` is the folder from which the plan names files."""

    plan: Plan
    base: Path
    made: dict[tuple[str, str], Cell] = field(default_factory=dict)  # (key, label) → cell: each once

    def cell(
        self,
        kind: Kind,
        label: str,
        facts: Facts,
        recipe: Mapping[str, Any],
        needs: Sequence[Cell] = (),
        inputs: Mapping[str, str] | None = None,
    ) -> Cell:
        keys = tuple(need.key for need in needs)
        key = cell_key(kind, recipe, keys)
        if (key, label) not in self.made:
            self.made[key, label] = Cell(key, kind, label, facts, keys, dict(recipe), inputs or {})
        return self.made[key, label]

    def datasets(self, name: str, dataset: DatasetPlan) -> Iterator[Cell]:
        """One dataset; of a split with targets, one for each."""
        if dataset.folder is not None:
            yield self._given_dataset(name, dataset.folder)
            return
        if dataset.split is not None and dataset.within is not None:
            outer = self._made_dataset(dataset.within, f"datasets.{name}.within")
            facts = Facts(dataset=name, corpus=outer.facts.corpus)
            yield from self._splits(name, dataset.split, facts, {"within": "training side"}, [outer], {})
            return
        source = self.source(str(dataset.corpus))
        corpus, version, _ = open_corpus(source, ReadReport())
        recipe: dict[str, Any] = {"corpus": {"name": corpus, "version": version}}
        if dataset.limit is not None:
            recipe["limit"] = dataset.limit
        if dataset.columns is not None:
            recipe["columns"] = dataset.columns.model_dump()
        facts = Facts(dataset=name, corpus=corpus)
        if dataset.split is not None:
            yield from self._splits(name, dataset.split, facts, recipe, [], {"corpus": source})
        else:
            yield self._synthesis(name, facts, recipe, dict(dataset.synthesize or {}), source)

    def _splits(
        self,
        name: str,
        split: SplitPlan,
        facts: Facts,
        recipe: Mapping[str, Any],
        needs: Sequence[Cell],
        inputs: Mapping[str, str],
    ) -> Iterator[Cell]:
        # Within another dataset it is not the split that the paper has numbers for.
        named_split = f"{split.method} within" if needs else split.method
        facts = replace(facts, split=named_split, k=split.extraction.k, split_seed=split.seed)
        for target in split.targets or (split.target,):
            label = name if target is None else f"{name}-{target:.2f}"
            settings = split.settings(target).model_dump()
            named = replace(facts, dataset=label, target=target)
            yield self.cell("dataset", label, named, {**recipe, "split": settings}, needs, inputs)

    def _made_dataset(self, name: str, asked: str) -> Cell:
        """A dataset that stands before this one in the plan."""
        there = {cell.label: cell for cell in self.made.values() if cell.kind == "dataset"}
        if name not in there:
            raise ComdivError(f"{asked}: {unknown_name('dataset', name, there)}")
        return there[name]

    def _synthesis(self, name: str, facts: Facts, recipe: dict[str, Any], record: dict[str, Any], source: str) -> Cell:
        """A synthesized set; `exclude` may name another dataset of the plan, whose seeds are left out."""
        excluded = record.pop("exclude", None)
        files = {key: self.source(str(record.pop(key))) for key in SYNTHESIS_FILES if record.get(key) is not None}
        for path in files.values():
            if not Path(path).is_file():
                raise ComdivError(f"datasets.{name}.synthesize: {path}: no such file")
        options = synthesis_options(record)
        asked = f"datasets.{name}.synthesize.exclude"
        needs = [] if excluded is None else [self._made_dataset(str(excluded), asked)]
        facts = replace(facts, split="disjoint" if options.disjoint else "synthesis", split_seed=options.seed)
        hashes = {key: file_sha256(Path(path)) for key, path in files.items()}
        recipe = {**recipe, "synthesize": options.model_dump(mode="json"), "files": hashes}
        return self.cell("dataset", name, facts, recipe, needs, {"corpus": source, **files})

    def _given_dataset(self, name: str, folder: str) -> Cell:
        path = Path(self.source(folder))
        facts = read_facts(path)
        if not is_intact(path, facts):
            raise ComdivError(f"datasets.{name}: {path}: a part is missing or is not what dataset.json says")
        files = {part: file_sha256(path / f"{part}.jsonl") for part in PARTS}
        corpus = facts.get("source", {}).get("corpus") if isinstance(facts.get("source"), dict) else None
        return self.cell(
            "dataset", name, Facts(dataset=name, corpus=corpus, split="folder"), {"files": files}, (),
            {"folder": str(path)},
        )  # fmt: skip

    def source(self, named: str) -> str:
        """A corpus's name, or the path of a file or folder as seen from the plan's own folder."""
        named = self.plan.corpora.get(named, named)
        path = self.base / named
        return str(path.resolve()) if path.exists() else named

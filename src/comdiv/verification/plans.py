"""Checks of results of plans: the folder that `comdiv run` fills, and the files that `comdiv export results` writes."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from comdiv.dataset import Dataset, read_dataset
from comdiv.evaluation import templates_of
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.keys import SCHEMAS, baseline, cell_key
from comdiv.experiments.store import CELL, CELLS, DONE, OUTCOMES
from comdiv.experiments.work import steps_of, test_subsets
from comdiv.files import path_part
from comdiv.loading import load_object, read_json_lines
from comdiv.solver import Progress
from comdiv.splitting.divergence import ALPHA_PRESETS, count_divergence
from comdiv.splitting.extraction import ExtractionSettings
from comdiv.splitting.measurement import mean_divergence, measure_sides
from comdiv.verification import ledger as kinds
from comdiv.verification.folders import check_counts, check_dataset, check_evaluation, check_run, plain
from comdiv.verification.ledger import Ledger

_DATA = ("dataset", "augmentation", "rounds")  # kinds of cells that make a dataset


# --- runs ---


def check_plan_runs(ledger: Ledger, root: Path, *, corpora: bool, progress: Progress) -> None:
    """Every finished cell of a folder that `comdiv run` filled."""
    folders = sorted(path.parent for path in (root / CELLS).glob(f"*/{DONE}"))
    for number, folder in enumerate(folders):
        progress("checking cells", number, len(folders), folder.name)
        with ledger.reading(folder / CELL):
            _check_cell(ledger, folder, corpora=corpora)


def _check_cell(ledger: Ledger, folder: Path, *, corpora: bool) -> None:
    cell, done = load_object(folder / CELL), load_object(folder / DONE)
    ledger.same(kinds.KEYS, folder / CELL, "key", cell_key(cell["kind"], cell["recipe"], cell["needs"]), folder.name)
    for name, entry in done["files"].items():
        ledger.hashed(folder / name, entry["sha256"], f"{DONE}: files.{name}.sha256")
    needs = [folder.parent / path_part(need, "the cell key") for need in cell["needs"]]
    if missing := [need.name for need in needs if not (need / DONE).is_file()]:
        ledger.skip(kinds.NUMBERS, f"{folder.name} needs {missing[0]}, which is missing")
        return
    kind, summary = cell["kind"], done["summary"]
    if kind in _DATA:
        dataset = check_dataset(ledger, folder / "dataset", corpora=corpora)
        if dataset is not None:
            sizes = {part: len(getattr(dataset, part)) for part in ("train", "validation", "test")}
            ledger.same(kinds.COUNTS, folder / DONE, "summary.problems", sizes, summary["problems"])
    elif kind == "measurement":
        _check_measurement(ledger, folder, cell["recipe"], read_dataset(needs[0] / "dataset"), summary)
    elif kind == "training":
        check_run(ledger, folder / "run", needs[0] / "dataset")
        metrics = folder / "run" / "metrics.jsonl"
        history = [entry for _, entry in read_json_lines(metrics)] if metrics.is_file() else []
        _check_curve(ledger, folder / DONE, "summary", history, summary, cell["recipe"])
    elif kind == "evaluation":
        _check_cell_evaluation(ledger, folder, needs, summary)


def _check_measurement(ledger: Ledger, folder: Path, recipe: Mapping[str, Any], data: Dataset, summary: Any) -> None:
    made_with = data.facts.get("settings", {}).get("extraction", {})
    settings = ExtractionSettings.checked(**{**made_with, "k": recipe["k"]})
    sides = measure_sides(data.training_side, data.test, settings, alpha=recipe["alpha"])
    report = folder / "measurement" / "report.json"
    ledger.same(kinds.DIVERGENCES, folder / DONE, "summary", plain(sides.to_json()), summary)
    ledger.same(kinds.DIVERGENCES, report, "", plain(sides.to_json(frequencies=True)), load_object(report))


def _check_cell_evaluation(ledger: Ledger, folder: Path, needs: Sequence[Path], summary: Mapping[str, Any]) -> None:
    trained_on, dataset = read_dataset(needs[1] / "dataset"), read_dataset(needs[-1] / "dataset")
    templates = templates_of(trained_on.training_side)
    for part, record in summary.items():
        problems = getattr(dataset, part)
        subsets = test_subsets(problems, trained_on.train) if part == "test" else {}
        result = check_evaluation(ledger, folder / part, problems, templates=templates, subsets=subsets)
        written = {name: result.get(name) for name in record}
        ledger.same(kinds.NUMBERS, folder / DONE, f"summary.{part}", written, record)
        outcomes = folder / part / OUTCOMES
        if outcomes.is_file():
            sides = load_object(outcomes)
            right = {"correct": len(sides["right"]), "n": len(sides["right"]) + len(sides["wrong"])}
            ledger.same(kinds.NUMBERS, outcomes, "", {name: record[name] for name in right}, right)


def _check_curve(
    ledger: Ledger, file: Path, key: str, history: Sequence[Mapping[str, Any]], summary: Any, recipe: Any
) -> None:
    """Check that a training's summary follows from its epochs."""
    if not history:
        return
    accuracies = [entry.get("validation_accuracy") for entry in history]
    known = [accuracy for accuracy in accuracies if accuracy is not None]
    best = accuracies.index(max(known)) + 1 if known else len(history)
    expected = {"epochs": len(history), "best_epoch": best, "validation_accuracy": max(known) if known else None}
    seconds = [entry.get("processor_seconds") for entry in history]
    if None not in seconds:
        expected["seconds_per_epoch"] = sum(filter(None, seconds)) / len(seconds)
    batch = (recipe.get("settings") or {}).get("batch", baseline()["training"]["settings"]["batch"])
    expected["steps"] = steps_of(summary["problems"], batch, len(history))
    expected["planned_steps"] = steps_of(summary["problems"], batch, summary["planned_epochs"])
    ledger.same(kinds.CURVES, file, key, expected, {name: summary.get(name) for name in expected})


# --- published results ---


def check_published(ledger: Ledger, root: Path, progress: Progress) -> tuple[PlanResults, ...]:
    """Check every cell of published results as far as the published data allow; returns the plans."""
    plans = read_results(root)
    for number, (plan, cell) in enumerate(published_cells(plans)):
        progress("checking cells", number, sum(len(plan.cells) for plan in plans), cell.label)
        with ledger.reading(plan.path):
            _check_published_cell(ledger, plan, cell)
    return plans


def published_cells(plans: Sequence[PlanResults]) -> Iterator[tuple[PlanResults, Cell]]:
    """Every finished cell, with its plan; a shared cell comes once per plan, together with the cells that it needs."""
    for plan in plans:
        for cell in plan.cells:
            if cell.status == "done":
                yield plan, cell


def _check_published_cell(ledger: Ledger, plan: PlanResults, cell: Cell) -> None:
    file = plan.path
    recipe = json.dumps([SCHEMAS[cell.kind], cell.kind, cell.recipe, list(cell.needs)], sort_keys=True)
    key = f"{cell.kind}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    ledger.same(kinds.KEYS, file, f"{cell.label}: key", key, cell.key)
    source, facts = plan.ancestor(cell, "dataset"), cell.facts
    if cell.kind == "dataset":
        _check_sizes(ledger, file, cell)
    elif cell.kind == "measurement":
        _check_frequencies(ledger, file, cell)
    elif cell.kind == "training":
        named = {"solver": facts.solver, "seed": facts.seed}
        written = {"solver": cell.recipe.get("solver"), "seed": (cell.recipe.get("settings") or {}).get("seed", 0)}
        ledger.same(kinds.KEYS, file, f"{cell.label}: facts", written, named)
        history = [] if cell.details is None else cell.details.history()
        _check_curve(ledger, file, cell.label, history, cell.summary, cell.recipe)
    elif cell.kind == "augmentation" and source is not None:
        _check_augmentation(ledger, file, cell, source)
    elif cell.kind == "evaluation":
        ledger.same(kinds.KEYS, file, f"{cell.label}: cover", cell.recipe.get("cover", "none"), facts.cover)
        _check_outcomes(ledger, file, cell)


def _check_sizes(ledger: Ledger, file: Path, cell: Cell) -> None:
    dataset = {} if cell.details is None else cell.details.dataset()
    problems, ids = cell.summary["problems"], () if cell.details is None else cell.details.test_ids()
    if "train_size" in dataset:
        sizes = {"train_size": problems["train"] + problems["validation"], "test_size": problems["test"]}
        ledger.same(kinds.COUNTS, file, cell.label, sizes, {name: dataset[name] for name in sizes})
    if ids:
        ledger.same(kinds.COUNTS, file, f"{cell.label}: ids", problems["test"], len(set(ids)))


def _check_frequencies(ledger: Ledger, file: Path, cell: Cell) -> None:
    """The divergences of a measurement: those of its first clustering from the frequencies, the others' from theirs."""
    frequencies = {} if cell.details is None else cell.details.frequencies()
    of_several: dict[str, Callable[[Sequence[float]], float]] = {"compounds": mean_divergence, "atoms": max}
    for kind, combine in of_several.items():
        if kind not in frequencies:
            continue
        name = f"{kind.removesuffix('s')}_divergence"
        train, test = (np.array([entry[side] for entry in frequencies[kind]]) for side in ("train", "test"))
        counted = {
            preset: round(count_divergence(train, test, getattr(alphas, kind)), 6)
            for preset, alphas in ALPHA_PRESETS.items()
        }
        by_clustering = cell.summary.get(f"{name}_by_clustering") or {preset: [d] for preset, d in counted.items()}
        first = {preset: values[0] for preset, values in by_clustering.items()}
        combined = {preset: combine(values) for preset, values in by_clustering.items()}
        ledger.same(kinds.DIVERGENCES, file, f"{cell.label}: {name} of the first clustering", counted, first)
        ledger.same(kinds.DIVERGENCES, file, f"{cell.label}: {name}", combined, cell.summary[name])


def _check_augmentation(ledger: Ledger, file: Path, cell: Cell, source: Cell) -> None:
    report = cell.summary["report"]
    made_from = {part: source.origin["originals"].get(f"dataset/{part}.jsonl") for part in ("train", "test")}
    ledger.same(kinds.HASHES, file, f"{cell.label}: source", made_from, {p: report["source"].get(p) for p in made_from})
    copy = cell.origin["originals"].get("dataset/test.jsonl")
    ledger.same(kinds.HASHES, file, f"{cell.label}: test.jsonl", made_from["test"], copy)
    kept = sum(
        entry["kept"]
        for one in report["rounds"]
        for entry in one.values()
        if isinstance(entry, Mapping) and "kept" in entry
    )
    ledger.same(kinds.COUNTS, file, f"{cell.label}: new", kept, report["new"])
    ledger.same(kinds.COUNTS, file, f"{cell.label}: train", cell.summary["problems"]["train"], report["train"])


def _check_outcomes(ledger: Ledger, file: Path, cell: Cell) -> None:
    """The numbers of an evaluation, from one outcome per test problem."""
    for part, record in cell.summary.items():
        check_counts(ledger, file, f"{cell.label}: {part}", record)
        ledger.skip(kinds.HASHES, "predictions are not published; to compare their hashes, run the plan again")
    outcomes = None if cell.details is None else cell.details.outcomes()
    test = cell.summary.get("test")
    if test is None or outcomes is None or cell.details is None:
        return
    expected = {"correct": sum(outcomes.values()), "n": len(outcomes)}
    ledger.same(kinds.NUMBERS, file, f"{cell.label}: test", expected, {name: test[name] for name in expected})
    for name, ids in cell.details.compositions().items():
        expected = {"correct": sum(outcomes[one] for one in ids), "n": len(ids)}
        share = (test.get("subsets") or {}).get(name, {})
        ledger.same(kinds.NUMBERS, file, f"{cell.label}: {name}", expected, {n: share.get(n) for n in expected})
        halves = [one for key, one in test["subsets"].items() if key.endswith("halves in train")]
        if name == "structural" and halves:
            total = {count: sum(one[count] for one in halves) for count in expected}
            ledger.same(kinds.COUNTS, file, f"{cell.label}: sum of halves in train", expected, total)

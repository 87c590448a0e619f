"""Results as a runner leaves them, made up: for tests of everything that reads them.

Two plans on the English demo corpus: `main-results` (two splits, four methods, three seeds, with and without coverage;
one training failed and its evaluation was not run) and `rounds-curve` (a measurement, an augmentation of three rounds).
The numbers are drawn by seed, a +DA being better than its plain method.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, write_dataset
from comdiv.evaluation import Prediction, evaluate_predictions
from comdiv.evaluation.outcomes import gold_answer
from comdiv.evaluation.predictions import write_predictions
from comdiv.experiments.cell import Cell, Facts, Kind
from comdiv.experiments.store import begin_cell, fail_cell, finish_cell, write_plan
from comdiv.files import write_text
from comdiv.problem import Problem, Provenance

METHODS = {"MathEN": 0.35, "GTS": 0.45, "MathEN+DA": 0.55, "GTS+DA": 0.7}
HARDER = 0.15  # points that a compositional test costs
SEEDS = (0, 1, 2)
ORIGIN = {
    "seconds": 12.5,
    "started": "2024-05-01T10:00:00+00:00",
    "finished": "2024-05-01T10:00:12+00:00",
    "host": "example",
    "node": None,
    "versions": {"comdiv": "0.1.0", "python": "3.11.0"},
}


@cache
def problems() -> tuple[Problem, ...]:
    """A hundred demo problems; of the last forty, the tests, every fourth is lexical and the rest structural."""
    found = list(islice(generate("en"), 100))
    return (*found[:60], *(_composed(one, place) for place, one in enumerate(found[60:])))


def _composed(problem: Problem, place: int) -> Problem:
    return replace(problem, composition="lexical" if place % 4 == 0 else "structural")


def write_synthetic_results(root: Path) -> Path:
    """Write both plans and their cells into a folder, and return it."""
    _main_results(root)
    _rounds_curve(root)
    return root


def _main_results(root: Path) -> None:
    cells: list[Cell] = []
    for name, split in (("demo-en-iid", "iid"), ("demo-en-comdiv", "dbca")):
        facts = Facts(dataset=name, corpus="demo-en", split=split, k=10, split_seed=0)
        data = _cell(cells, "dataset", name, facts, ())
        _dataset(root, data, problems()[:60])
        augmented = replace(facts, augmentation="DA", augmentation_seed=0)
        grown = _cell(cells, "augmentation", f"DA on {name}", augmented, (data.key,))
        _dataset(root, grown, (*problems()[:60], *_new_problems(3)))
        for method, level in METHODS.items():
            has_da = method.endswith("+DA")
            for seed in SEEDS:
                run_facts = replace(
                    augmented if has_da else facts, method=method, solver=method.removesuffix("+DA").lower(), seed=seed,
                    plain=method.removesuffix("+DA") if has_da else None, steps="equal",
                    steps_like=None if not has_da else method.removesuffix("+DA"),
                )  # fmt: skip
                label = f"{method} on {name}, seed {seed}"
                needs = (grown.key, data.key) if has_da else (data.key,)
                training = _cell(cells, "training", label, run_facts, needs)
                fails = (name, method, seed) == ("demo-en-comdiv", "MathEN", 2)
                _training(root, training, seed, fails=fails)
                for cover in ("none", "hard"):
                    evaluation = _cell(
                        cells, "evaluation", f"{label}, cover {cover}", replace(run_facts, cover=cover), (training.key,)
                    )
                    accuracy = level - HARDER * (split == "dbca") + 0.05 * (cover == "hard")
                    if not fails:
                        _evaluation(root, evaluation, accuracy, seed)
    write_plan(
        root,
        "main-results",
        {"title": "Answer accuracy", "reproduces": "Table II", "preset": None, "plan": {"seeds": list(SEEDS)}},
        cells,
    )


def _rounds_curve(root: Path) -> None:
    cells: list[Cell] = []
    facts = Facts(dataset="sd", corpus="demo-en", split="synthesis", split_seed=0)
    data = _cell(cells, "dataset", "sd", facts, ())
    _dataset(root, data, problems()[:60])
    measurement = _cell(cells, "measurement", "sd, k = 10", replace(facts, k=10), (data.key,))
    _measurement(root, measurement)
    augmented = replace(facts, augmentation="DA", augmentation_seed=0)
    grown = _cell(cells, "augmentation", "DA on sd", augmented, (data.key,))
    _dataset(root, grown, (*problems()[:60], *_new_problems(3)))
    for count in range(4):
        counted = replace(augmented, rounds=count)
        prefix = _cell(cells, "rounds", f"{count} rounds of DA on sd", counted, (grown.key,))
        _dataset(root, prefix, (*problems()[:60], *_new_problems(count)))
        run_facts = replace(counted, method="GTS", solver="gts", seed=0)
        training = _cell(cells, "training", f"GTS on sd, {count} rounds, seed 0", run_facts, (prefix.key,))
        _training(root, training, count, fails=False)
        label = f"GTS on sd, {count} rounds, seed 0, cover none"
        evaluation = _cell(cells, "evaluation", label, replace(run_facts, cover="none"), (training.key,))
        _evaluation(root, evaluation, 0.2 + 0.15 * count, count)
    described = {"title": "Accuracy against rounds", "reproduces": "Figure 5b", "preset": None, "plan": {"seeds": [0]}}
    write_plan(root, "rounds-curve", described, cells)


def _cell(cells: list[Cell], kind: Kind, label: str, facts: Facts, needs: tuple[str, ...]) -> Cell:
    key = f"{kind}-{random.Random(f'{kind} {label} {facts}').getrandbits(64):016x}"
    cell = Cell(key, kind, label, facts, needs, {"kind": kind, **facts.to_json()})
    cells.append(cell)
    return cell


def _new_problems(rounds: int) -> list[Problem]:
    """Five problems a round, as an augmentation would have made them."""
    return [
        replace(
            problem,
            id=f"{problem.id}-{number}",
            provenance=Provenance(operation="operation 1", round=number, parents=(problem.id, problems()[50].id)),
        )
        for number in range(1, rounds + 1)
        for problem in problems()[5 * number : 5 * number + 5]
    ]


def _dataset(root: Path, cell: Cell, train: Sequence[Problem]) -> None:
    folder = begin_cell(root, cell)
    parts = (tuple(train[10:]), tuple(train[:10]), problems()[60:])
    write_dataset(folder / "dataset", Dataset(*parts, facts={"made_by": "a test"}), title=cell.label, force=True)
    summary: dict[str, Any] = {"problems": dict(zip(("train", "validation", "test"), map(len, parts), strict=True))}
    if cell.kind == "augmentation":
        report = {
            "options": {"ranker": "gts"},
            "rounds": [
                {
                    "round": number,
                    "least_score_kept": -0.001,
                    "operation 1": {
                        "candidates": 20 * number,
                        "kept": 5,
                        "new_templates": 3 - number,
                        "median_score": -0.25,
                    },
                    "operation 2": {
                        "candidates": 1200,
                        "kept": 240,
                        "new_templates": 0,
                        "median_score": -0.002,
                    },
                }
                for number in (1, 2, 3)
            ],
            "samples": {"operation 1": [{"id": problem.id, "text": problem.text} for problem in train[-2:]]},
        }
        write_text(folder / "dataset" / "report.json", json.dumps(report))
        summary["report"] = report
    _finish(folder, summary)


def _measurement(root: Path, cell: Cell) -> None:
    import numpy as np

    from comdiv.splitting.extraction import ExtractionSettings, extract
    from comdiv.splitting.measurement import measure

    extraction = extract(problems())
    test = {problem.id for problem in problems()[60:]}
    mask = np.array([problem.id in test for problem in extraction.problems])
    measurement = measure(extraction, mask, ExtractionSettings(k=cell.facts.k or 10))
    folder = begin_cell(root, cell)
    write_text(folder / "measurement" / "report.json", json.dumps(measurement.to_json(frequencies=True)))
    _finish(folder, json.loads(json.dumps(measurement.to_json())))


def _training(root: Path, cell: Cell, seed: int, *, fails: bool) -> None:
    folder = begin_cell(root, cell)
    write_text(folder / "log.txt", f"{cell.label}\n")
    if fails:
        fail_cell(folder, "the loss is not a number at step 17: try a lower learning_rate", ORIGIN)
        return
    epochs = [
        {"epoch": number, "loss": round(2 / number + 0.01 * seed, 4), "validation_accuracy": min(0.9, 0.2 * number),
         "learning_rate": 1e-3, "problems_per_second": 500.0 - 10 * number,
         "processor_seconds": 0.1}
        for number in range(1, 6)
    ]  # fmt: skip
    write_text(folder / "run" / "metrics.jsonl", "".join(json.dumps(epoch) + "\n" for epoch in epochs))
    summary = {
        "epochs": 5, "planned_epochs": 5, "best_epoch": 5, "validation_accuracy": 0.9, "problems": 50, "left_out": 0,
        "steps": 10, "seconds_per_epoch": 0.1 * (1 + (cell.facts.rounds or 0)),
    }  # fmt: skip
    _finish(folder, summary)


def _evaluation(root: Path, cell: Cell, accuracy: float, seed: int) -> None:
    folder = begin_cell(root, cell)
    write_text(folder / "log.txt", f"{cell.label}\n")
    summary = {}
    for part, tested, level in (("validation", problems()[:10], 0.9), ("test", problems()[60:], accuracy)):
        source = random.Random(f"{cell.label} {part} {seed}")
        right = [source.random() < level for _ in tested]
        predictions = [
            Prediction(problem.id, answer=(gold_answer(problem) or 0) + (not good), log_probability=-source.random())
            for problem, good in zip(tested, right, strict=True)
        ]
        ids = {problem.id for problem in tested}
        subsets = {
            name: {problem.id for problem in tested if problem.composition == name}
            for name in ("structural", "lexical")
        }
        subsets |= {"text in train": set(sorted(ids)[:3]), "text not in train": set(sorted(ids)[3:])}
        subsets = {name: chosen for name, chosen in subsets.items() if chosen}
        evaluation = evaluate_predictions(tested, predictions, {"n1+n2"}, subsets)
        write_predictions(folder / part / "predictions.jsonl", predictions)
        result = {**evaluation.to_json(), "solver": cell.facts.solver, "seed": seed, "cover": cell.facts.cover}
        write_text(folder / part / "result.json", json.dumps(result, indent=2))
        summary[part] = {
            "n": evaluation.n,
            "correct": evaluation.correct,
            "answer_accuracy": evaluation.answer_accuracy,
            "subsets": {name: share.to_json() for name, share in evaluation.subsets.items()},
        }
    _finish(folder, summary)


def _finish(folder: Path, summary: dict[str, Any]) -> None:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("log.txt", "cell.json")]
    finish_cell(folder, summary, ORIGIN, files)

"""What pre-training is worth: `bertgen` with pre-trained weights, with random ones, and `lstm`, on the same datasets.

The three are trained for equally many epochs, with the preset `cpu` otherwise, and evaluated on the test parts;
`lstm` once more with the epochs of its preset. Seconds are those of the processor, not of the clock, so that others on
the machine change nothing. Every training is a run folder: stopped and started again, it goes on.

    comdiv split mawps --method iid --test-size 474 --no-twins --out mawps-iid
    python benchmarks/pretrained.py mawps-iid --weights FOLDER --out runs
"""

import argparse
import json
import statistics
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from comdiv.dataset import read_dataset
from comdiv.files import write_text
from comdiv.solvers.runs import evaluate_run, train_run


def trained(solver: str, data: Path, run: Path, changes: dict[str, Any]) -> float | None:
    """Train; the processor's seconds an epoch: the median step's times the steps, None where nothing was left to do."""
    marks: list[tuple[str, float]] = []
    steps = 0

    def mark(what: str, done: int, total: int, note: str) -> None:
        nonlocal steps
        steps = total
        marks.append((what, time.process_time()))

    summary = train_run(solver, data, run, changes=changes, progress=mark)
    seconds = [after[1] - before[1] for before, after in pairwise(marks) if before[0] == after[0]]
    epochs = changes.get("epochs") or summary.epochs
    return statistics.median(seconds) * steps / epochs if seconds else None


def measured(name: str, solver: str, data: Path, run: Path, changes: dict[str, Any]) -> dict[str, Any]:
    """One row of the table; it is kept beside the run, so that it is not measured again."""
    kept = run / "measured.json"
    if kept.is_file():
        row: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return row
    seconds = trained(solver, data, run, {"threads": 1, "device": "cpu", **changes})
    dataset = read_dataset(data)
    result = evaluate_run(run, dataset.test, run / "evaluations" / data.name, name=data.name, beam=1)
    row = {"what": name, "data": data.name, "seconds": seconds, "right": result.answers.correct, "n": result.answers.n}
    write_text(kept, json.dumps(row) + "\n")
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="dataset folders")
    parser.add_argument("--weights", required=True, help="folder or name of a BERT-like model")
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    shared = {"weights": options.weights, "epochs": options.epochs}
    arms: list[tuple[str, str, dict[str, Any]]] = [
        ("bertgen, pre-trained", "bertgen", shared),
        ("bertgen, random", "bertgen", {**shared, "random_weights": True}),
        (f"lstm, {options.epochs} epochs", "lstm", {"epochs": options.epochs}),
        ("lstm, its own epochs", "lstm", {}),
    ]
    for data in options.data:
        for name, solver, changes in arms:
            run = options.out / f"{data.name}-{name.replace(', ', '-').replace(' ', '-')}"
            row = measured(name, solver, data, run, changes)
            seconds = "–" if row["seconds"] is None else f"{row['seconds']:.1f} s"
            accuracy = row["right"] / row["n"]
            print(f"{data.name:12}  {name:22}  {accuracy:6.1%} of {row['n']}  {seconds:>9} an epoch", flush=True)


if __name__ == "__main__":
    main()

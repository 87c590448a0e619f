"""How fast two versions of comdiv train and evaluate, in turn: `python benchmarks/solver_versions.py --old FOLDER`.

FOLDER is a checkout of another version (`git worktree add --detach old 8de78c8`). Each version trains every solver at
the preset `cpu` on the same dataset and evaluates it on the dataset's test problems, in a process of its own, on one
thread, several times in turn; printed are problems per second of processor time, the best of all times, since whatever
else the machine does only slows a process down, and their ratio. Validation after every epoch is part of a training.
Both versions must end with the same weights.

    COMDIV_DATA=… python benchmarks/solver_versions.py --old old --corpus mawps
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

NEW = Path(__file__).parents[1]


def measure(solver: str, data: Path, epochs: int) -> dict[str, float | str]:
    """Processor seconds of a training and of an evaluation, with this process's version of comdiv; and the weights."""
    from comdiv.dataset import read_dataset
    from comdiv.files import file_sha256
    from comdiv.solvers.runs import evaluate_run, train_run

    dataset = read_dataset(data)
    changes = {"epochs": epochs, "patience": 0, "threads": 1, "device": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        warm = {**changes, "epochs": 1, "hidden": 8}
        train_run(solver, data, Path(folder) / "warm", changes=warm)  # what is imported and cached is no one's merit
        training = seconds(lambda: train_run(solver, data, run, changes=changes))
        evaluation = min(
            seconds(lambda: evaluate_run(run, dataset.test, run / "test", name="test", train=dataset.train))
            for _ in range(5)
        )
        weights = file_sha256(run / "model.safetensors")
    return {
        "training": len(dataset.train) * epochs / training,
        "evaluation": len(dataset.test) / evaluation,
        "weights": weights,
    }


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def measured_by(version: Path, solver: str, data: Path, epochs: int) -> dict[str, float | str]:
    """What `measure` gives with the comdiv of a checkout."""
    command = [sys.executable, __file__, "--measure", solver, "--data", str(data), "--epochs", str(epochs)]
    environment = {**os.environ, "PYTHONPATH": str(version.resolve() / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{version}: {done.stderr.strip()}")
    record: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return record


def compare(solver: str, old: Path, data: Path, epochs: int, repeats: int) -> None:
    """Both versions in turn; the best of each."""
    times: dict[str, list[dict[str, float | str]]] = {"old": [], "new": []}
    for _ in range(repeats):
        times["old"].append(measured_by(old, solver, data, epochs))
        times["new"].append(measured_by(NEW, solver, data, epochs))
    for what in ("training", "evaluation"):
        before, after = (max(float(one[what]) for one in times[version]) for version in ("old", "new"))
        print(f"{solver:10} {what:12} {before:10,.1f} {after:10,.1f} {after / before:8.2f}", flush=True)
    same = len({one["weights"] for version in times.values() for one in version}) == 1
    print(f"{solver:10} {'weights':12} {'the same' if same else 'DIFFERENT'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="a checkout of the version to compare with")
    parser.add_argument("--corpus", default="demo-en", help="a corpus that `comdiv split` knows")
    parser.add_argument("--only", nargs="*", default=["gts", "mathen"], help="solvers")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a dataset folder instead of a split of the corpus")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.data, arguments.epochs)))
        return
    if arguments.old is None:
        parser.error("--old names the version to compare with")
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data or Path(folder) / "data"
        if arguments.data is None:
            split = ["split", arguments.corpus, "--method", "iid", "--out", str(data)]
            environment = {**os.environ, "PYTHONPATH": str(NEW / "src")}
            subprocess.run([sys.executable, "-m", "comdiv", *split], env=environment, check=True, capture_output=True)
        print(f"{arguments.corpus}, {arguments.epochs} epochs\n{'problems/s':23} {'old':>10} {'new':>10} {'ratio':>8}")
        for solver in arguments.only:
            compare(solver, arguments.old, data, arguments.epochs, arguments.repeats)


if __name__ == "__main__":
    main()

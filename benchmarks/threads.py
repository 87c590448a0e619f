"""How long a training takes on one and on two threads, in turn: `python benchmarks/threads.py`.

Each solver trains at the preset `cpu` on the same problems, in a process of its own, several times in turn; printed are
seconds and processor seconds per epoch, the best of all times, and their ratios. Threads that wait for one another
spin: where the machine does other work, too, they take more processor time and finish later.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from comdiv.corpora.demo import generate


def measure(solver: str, threads: int, problems: int, epochs: int) -> dict[str, float]:
    """Seconds and processor seconds of an epoch, with this many threads."""
    from comdiv.solvers.runs import make_solver

    train = list(generate("en", problems))

    def seconds(epochs: int) -> tuple[float, float]:
        start, used = time.perf_counter(), time.process_time()
        make_solver(solver, changes={"epochs": epochs, "threads": threads, "device": "cpu"}).fit(train, None)
        return time.perf_counter() - start, time.process_time() - used

    before, after = seconds(1), seconds(1 + epochs)  # reading the texts and making the model is in both
    return {
        "seconds": (after[0] - before[0]) / epochs,
        "processor seconds": (after[1] - before[1]) / epochs,
    }


def measured_apart(solver: str, threads: int, arguments: argparse.Namespace) -> dict[str, float]:
    """What `measure` gives in a process of its own, whatever the environment says about threads."""
    sizes = ["--problems", str(arguments.problems), "--epochs", str(arguments.epochs)]
    command = [sys.executable, __file__, "--measure", solver, str(threads), *sizes]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    record: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=["lstm", "transformer", "mathen", "gts"], help="solvers")
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        solver, threads = arguments.measure
        print(json.dumps(measure(solver, int(threads), arguments.problems, arguments.epochs)))
        return
    print(f"demo-en, {arguments.problems} problems\n{'per epoch':32} {'1 thread':>9} {'2 threads':>9} {'ratio':>6}")
    for solver in arguments.only:
        times: dict[int, list[dict[str, float]]] = {1: [], 2: []}
        for _ in range(arguments.repeats):
            for threads, measured in times.items():
                measured.append(measured_apart(solver, threads, arguments))
        for what in ("seconds", "processor seconds"):
            one, two = (min(record[what] for record in times[threads]) for threads in (1, 2))
            print(f"{solver:12} {what:19} {one:9.2f} {two:9.2f} {two / one:6.2f}", flush=True)


if __name__ == "__main__":
    main()

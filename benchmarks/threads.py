"""How fast solvers train on one and on two threads, in turn: `python benchmarks/threads.py`.

Each solver trains at the preset `cpu` on the same problems; printed are seconds and processor seconds per epoch, the
best of several, and their ratios. Threads that wait for one another spin: on a machine that has other work, too, they
take more processor time and finish later. Run it on a quiet machine and beside other work.
"""

import argparse
import time

import torch

from solvers import corpus, prepared, train_epoch


def seconds_of(solver: str, problems: int, repeats: int) -> dict[int, tuple[float, float]]:
    """The number of threads → seconds and processor seconds of an epoch."""
    trained, examples, optimiser = prepared(solver, corpus(problems)[1], "cpu")
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for epoch in range(repeats + 1):
        for threads, measured in times.items():
            torch.set_num_threads(threads)
            start, used = time.perf_counter(), time.process_time()
            train_epoch(trained, examples, optimiser, epoch)
            if epoch:  # the first one warms up
                measured.append((time.perf_counter() - start, time.process_time() - used))
    return {n: (min(wall for wall, _ in found), min(used for _, used in found)) for n, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=["lstm", "transformer", "mathen", "gts"], help="solvers")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{arguments.problems} problems\n{'per epoch':32} {'1 thread':>9} {'2 threads':>9} {'ratio':>6}")
    for solver in arguments.only:
        times = seconds_of(solver, arguments.problems, arguments.repeats)
        for place, what in enumerate(("seconds", "processor seconds")):
            one, two = times[1][place], times[2][place]
            print(f"{solver:12} {what:19} {one:9.2f} {two:9.2f} {two / one:6.2f}", flush=True)


if __name__ == "__main__":
    main()

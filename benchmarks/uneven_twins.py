"""How much of a solver's accuracy is knowing how divisions are written: `python benchmarks/uneven_twins.py RUN DATA`.

Test problems with a division that comes out even are solved as they are, with other numbers whose division comes out
even, too, and with others whose division does not; as decoded, and re-ranked by values with weights learnt on DATA's
validation problems, with all features and without those about divisions. Understanding would make no difference.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from comdiv import read_dataset, renumber_problem
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solver import Solver
from comdiv.solvers.beam import is_right
from comdiv.solvers.plausible import Reranked
from comdiv.solvers.runs import learn_run_weights, load_runs

DIVISIONS = ("even division", "missed division", "even product")


def twins_of(problems: Sequence[Problem], seed: int) -> dict[str, list[Problem]]:
    """The problems that have both twins, and the twins."""
    found: dict[str, list[Problem]] = {"as they are": [], "even twins": [], "uneven twins": []}
    for problem in problems:
        even, uneven = renumber_problem(problem, seed), renumber_problem(problem, seed, uneven=True)
        if isinstance(even, Problem) and isinstance(uneven, Problem):
            for kind, one in zip(found, (problem, even, uneven), strict=True):
                found[kind].append(one)
    return found


def right(solver: Solver, problems: Sequence[Problem]) -> int:
    solutions = solver.solve(problems, beam=1)
    return sum(is_right(reading, one) for reading, one in zip(read_all(problems), solutions, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="of the new numbers")
    arguments = parser.parse_args()
    dataset = read_dataset(arguments.data)
    plain = load_runs([arguments.run], rerank=False)
    weights = learn_run_weights([arguments.run], dataset.validation)
    without = learn_run_weights([arguments.run], dataset.validation, DIVISIONS)
    solvers: dict[str, Solver] = {
        "as decoded": plain,
        "re-ranked": Reranked(plain, weights),
        "without divisions": Reranked(plain, without),
    }
    kinds = twins_of(dataset.test, arguments.seed)
    print(f"{len(kinds['as they are'])} of {len(dataset.test)} test problems have both twins")
    print(f"{'':18}" + "".join(f"{kind:>14}" for kind in kinds))
    for name, solver in solvers.items():
        shares = (right(solver, problems) / len(problems) for problems in kinds.values())
        print(f"{name:18}" + "".join(f"{share:14.1%}" for share in shares))


if __name__ == "__main__":
    main()

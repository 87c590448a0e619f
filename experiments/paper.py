"""Runs everything on the page of results: what fits one night on two cores, or with `--full` the rest as well.

    python experiments/paper.py --dry-run       # what is left, and how long it will take
    python experiments/paper.py --out runs      # `make paper`
    python experiments/paper.py --full          # `make paper-full`

Everything that is done stays done: stop it at any time, the same command goes on. At the end it publishes what is there
and writes the page.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from comdiv.errors import ComdivError
from comdiv.experiments.archive import export_results
from comdiv.experiments.cell import Cell
from comdiv.experiments.estimates import Estimate, estimate
from comdiv.experiments.plan import read_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.runner import selected
from comdiv.experiments.store import cell_folder, read_done

EXPERIMENTS = Path(__file__).parent
RESULTS = EXPERIMENTS / "results"
PAGE = EXPERIMENTS.parent / "docs" / "_tools" / "results_page.py"
CHEAP = ("LSTM", "Transformer", "MathEN", "GTS", "MathEN+DA", "GTS+DA")


@dataclass(frozen=True, slots=True)
class Part:
    """A plan, or as much of it as is named."""

    plan: str
    preset: str | None = None
    datasets: Sequence[str] = ()
    methods: Sequence[str] = ()
    seeds: Sequence[int] = ()

    def __str__(self) -> str:
        named = [*self.datasets, *self.methods, *(f"seed {seed}" for seed in self.seeds)]
        return f"{self.plan}{f'@{self.preset}' if self.preset else ''}" + (f" ({', '.join(named)})" if named else "")

    def cells(self) -> tuple[Cell, ...]:
        """What it consists of."""
        plan = read_plan(EXPERIMENTS / f"{self.plan}.yaml", self.preset)
        return selected(plan, plan_cells(plan, EXPERIMENTS), self.datasets, self.methods, self.seeds)

    def command(self, out: Path, jobs: int) -> list[str]:
        """The command that runs what is not done of it."""
        options = [("--preset", [self.preset] if self.preset else []), ("--dataset", self.datasets)]
        options += [("--method", self.methods), ("--seed", self.seeds)]
        named = [word for option, values in options for value in values for word in (option, str(value))]
        plan = str(EXPERIMENTS / f"{self.plan}.yaml")
        return [sys.executable, "-m", "comdiv", "run", plan, "--out", str(out), "--jobs", str(jobs), *named]


NIGHT = (
    Part("datasets"),
    Part("main-results", datasets=("sd-1.0",), methods=CHEAP),
    Part("composition-types"),
    Part("main-results", datasets=("mawps-iid", "mawps-comdiv"), methods=(*CHEAP, "BERTGen (MiniLM 23M)"), seeds=(0,)),
    Part("main-results", preset="small"),
    Part("length-split", datasets=("mawps-length",), methods=CHEAP, seeds=(0,)),
    Part("ablation", datasets=("mawps-comdiv", "sd-1.0"), seeds=(0,)),
    Part("rounds-curve", seeds=(0,)),
    Part("divergence-curve", datasets=("mawps-iid", "mawps"), seeds=(0,)),
    Part("sense", datasets=("sd-1.0", "mawps-robust-1", "mawps-robust-2", "mawps-robust-3")),
    Part("robust-splits"),
    Part("deductive", seeds=(0,)),
)
FULL = (
    Part("main-results"),
    Part("length-split"),
    Part("ablation"),
    Part("rounds-curve"),
    Part("divergence-curve"),
    Part("sense"),
    Part("deductive"),
    Part("deduction"),
)


def left(part: Part, out: Path, counted: set[str]) -> tuple[list[Cell], Estimate]:
    """The cells of a part that are not done and not counted before, and how long they will take."""
    cells = {cell.key: cell for cell in part.cells() if cell.key not in counted}
    todo = [cell for key, cell in cells.items() if read_done(cell_folder(out, key)) is None]
    counted.update(cells)
    return todo, estimate(out, todo, RESULTS)


def estimates(parts: Sequence[Part], out: Path, jobs: int) -> Iterator[str]:
    """One line for each part, and one for all."""
    counted: set[str] = set()
    whole, cells = Estimate(0, 0), 0
    for part in parts:
        todo, time = left(part, out, counted)
        whole, cells = whole + time, cells + len(todo)
        yield f"{part}: {len(todo)} cells left, {time.left(jobs)}"
    yield f"in all: {cells} cells left, {whole.left(jobs)} with {jobs} at a time"


def say(line: str) -> None:
    """A line at once: what follows takes hours."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Say how long it will take, run it, publish what is done, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="also what does not fit one night")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time, of one thread each")
    parser.add_argument("--dry-run", action="store_true", help="only say how long it will take")
    chosen = parser.parse_args(arguments)
    parts = (*NIGHT, *FULL) if chosen.full else NIGHT
    try:
        for line in estimates(parts, chosen.out, chosen.jobs):
            say(line)
        if chosen.dry_run:
            return 0
        failed = 0
        for part in parts:  # what fails does not keep the rest from running
            say(f"== {part}")
            failed += subprocess.run(part.command(chosen.out, chosen.jobs), check=False).returncode != 0
        export_results(chosen.out, RESULTS)
    except ComdivError as error:
        sys.stderr.write(f"comdiv: {error}\n")
        return 1
    return int(subprocess.run([sys.executable, str(PAGE)], check=False).returncode or failed > 0)


if __name__ == "__main__":
    sys.exit(main())

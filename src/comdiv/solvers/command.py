"""A solver that is the user's own program, in any language.

`command:PROGRAM ARGUMENTS` is run as `PROGRAM ARGUMENTS solve BEAM` or `PROGRAM ARGUMENTS score`. It reads problems as
JSON Lines from standard input and writes one line per problem: `{"id": …, "log_probability": -0.3, "tokens": 3}` to
score, `{"id": …, "expression": "N0*N1", "log_probability": -0.3}` to solve. When solving, further lines with the same
id are further hypotheses.
"""

import json
import math
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from comdiv.errors import ComdivError
from comdiv.expression import ExpressionError, parse
from comdiv.files import file_sha256
from comdiv.loading import parse_json
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solver import Hypothesis, Score, Solution, TrainingSummary, solution_of

PROGRAM = "command:"  # how the name of such a solver begins


def command_words(name: str) -> list[str]:
    """The program and its arguments, split as a shell would."""
    try:
        words = shlex.split(name.removeprefix(PROGRAM))
    except ValueError as error:
        raise ComdivError(f"{name}: {error}") from error
    if not words:
        raise ComdivError("command: names no program")
    return words


def program_files(name: str) -> dict[str, str]:
    """The files named in a user's own command, by their bytes, so that a changed program is another one."""
    return {path.name: file_sha256(path) for path in map(Path, command_words(name)) if path.is_file()}


class CommandSolver:
    """Runs the program without a shell, once for each call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.command = command_words(name)

    def fit(
        self,
        train: Sequence[Problem],
        validation: Sequence[Problem] | None,
        **_: Any,
    ) -> TrainingSummary:
        """Do nothing: a program trains itself, if it needs to."""
        return TrainingSummary(0, 0, None, len(train), 0)

    def solve(self, problems: Sequence[Problem], *, beam: int = 1) -> list[Solution]:
        """Run the program; a problem that it does not answer counts as ill-formed."""
        hypotheses: dict[str, list[Hypothesis]] = {}
        for line in self._run(["solve", str(beam)], problems):
            expression = line.get("expression")
            try:
                tree = parse(expression) if isinstance(expression, str) else None
            except ExpressionError:
                tree = None
            hypotheses.setdefault(str(line.get("id")), []).append(Hypothesis(tree, _log_probability(line)))
        return [solution_of(read(problem), hypotheses.get(problem.id, [])[:beam]) for problem in problems]

    def score(self, problems: Sequence[Problem]) -> list[Score]:
        """Run the program; a problem that it does not score gets −inf."""
        lines = {str(line.get("id")): line for line in self._run(["score"], problems)}
        missing = Score(float("-inf"), 0)
        return [
            Score(_log_probability(lines[p.id]), _tokens(lines[p.id])) if p.id in lines else missing for p in problems
        ]

    def save(self, folder: Path) -> None:
        """Keep the command in a run folder."""
        from comdiv.solvers.runs import write_config

        write_config(folder, {"solver": self.name})

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The command of a run folder."""
        from comdiv.solvers.runs import read_config

        return cls(str(read_config(folder).get("solver", "")))

    def _run(self, arguments: list[str], problems: Sequence[Problem]) -> list[dict[str, Any]]:
        text = "".join(json.dumps(problem.to_json(), ensure_ascii=False) + "\n" for problem in problems)
        try:
            done = subprocess.run(
                [*self.command, *arguments],
                input=text,
                capture_output=True,
                check=False,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise ComdivError(f"{self.name}: cannot be run: {error.strerror or error}") from error
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise ComdivError(f"{self.name}: ended with exit code {done.returncode}: {last}")
        try:
            lines = [parse_json(line) for line in done.stdout.splitlines() if line.strip()]
        except ValueError as error:
            raise ComdivError(f"{self.name}: its output is not JSON Lines: {error}") from error
        if not all(isinstance(line, dict) for line in lines):
            raise ComdivError(f"{self.name}: a line of its output is not a JSON object")
        return lines


def _log_probability(line: dict[str, Any]) -> float:
    """The log-probability of a line, 0 if it has none; NaN counts as impossible."""
    value = line.get("log_probability", 0.0)
    if not isinstance(value, int | float):
        return 0.0
    return float(value) if value < math.inf else -math.inf


def _tokens(line: dict[str, Any]) -> int:
    value = line.get("tokens")
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 1

"""The paper's six solvers stay what they are: losses, weights, scores and answers as before encoders were exchangeable.

`paper_solvers.json` was recorded by `record` at commit 8de78c8, with that commit's package and `tests/solvers/tiny.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from solvers.tiny import EIGHT, UNSEEN, tiny_solver

RECORD = Path(__file__).with_name("paper_solvers.json")
PAPER_SOLVERS = ("lstm", "transformer", "bertgen", "gpt2", "mathen", "gts")
NEARLY = 2e-4  # processors add up in different orders; another draw or layer changes the first digits


def behaviour(name: str) -> dict[str, Any]:
    """What a short training with dropout and forgotten words comes to: everything random is drawn in its order."""
    solver = tiny_solver(name, epochs=4, dropout=0.3, forget=0.25, targets="ordered", schedule="one-cycle")
    summary = solver.fit(EIGHT, list(UNSEEN))
    assert solver.model is not None
    return {
        "losses": [entry["loss"] for entry in summary.history],
        "weights": [round(float(tensor.double().norm()), 6) for tensor in solver.model.state_dict().values()],
        "scores": [round(score.log_probability, 6) for score in solver.score(EIGHT)],
        "answers": [str(solution.answer) for solution in solver.solve(EIGHT, beam=3)],
    }


def record(file: Path) -> None:
    """Write what the solvers do now."""
    file.write_text(json.dumps({name: behaviour(name) for name in PAPER_SOLVERS}, indent=1) + "\n")


@pytest.mark.parametrize("name", PAPER_SOLVERS)
def test_a_solver_of_the_paper_is_unchanged(name: str) -> None:
    expected, now = json.loads(RECORD.read_text())[name], behaviour(name)
    for part in ("losses", "weights", "scores"):
        assert now[part] == pytest.approx(expected[part], rel=NEARLY, abs=NEARLY), part
    assert now["answers"] == expected["answers"]

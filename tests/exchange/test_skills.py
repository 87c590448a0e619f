"""Which skill a problem tests: its template and local structures, against those of training."""

from typing import Any

import pytest

from comdiv.exchange.skills import SKILL_COLUMNS, TrainingKnowledge, local_structures
from comdiv.expression import parse
from comdiv.problem import Problem


def problem(expression: str | None, **more: Any) -> Problem:
    tree = None if expression is None else parse(expression)
    return Problem(id="1", language="en", text="1 and 2 and 3 and 4", expression=tree, **more)


@pytest.mark.parametrize(
    ("expression", "structures"),
    [
        ("N0*(N1-2)", ["(-)*n", "n-C"]),
        ("(N1-2)*N0", ["(-)*n", "n-C"]),
        ("N0-(N1+N2)", ["n-(+)", "n+n"]),
        ("(N0+N1)-N2", ["(+)-n", "n+n"]),
        ("N0", []),
    ],
)
def test_a_local_structure_is_an_operator_with_its_operands(expression: str, structures: list[str]) -> None:
    assert list(local_structures(parse(expression))) == structures


def test_the_skill_is_the_first_thing_that_training_does_not_have() -> None:
    known = TrainingKnowledge.of([problem("N0*(N1-N2)"), problem("N0-N1"), problem("N0+N1*N2"), problem(None)])
    rows = {text: known.columns(problem(text)) for text in ("N0-N1", "(N0-N1)*N2", "N0/N1", "N0-N1*N2")}
    assert {text: (row["skill"], row["template_seen"], row["unseen_structures"]) for text, row in rows.items()} == {
        "N0-N1": ("seen template", True, ""),
        "(N0-N1)*N2": ("unseen template", False, ""),
        "N0/N1": ("unseen structure", False, "n/n"),
        "N0-N1*N2": ("unseen structure", False, "n-(*)"),
    }
    assert all(row.keys() == SKILL_COLUMNS.keys() for row in rows.values())


def test_a_synthesised_problem_says_its_skill_and_rule() -> None:
    known = TrainingKnowledge.of([problem("N0-N1")])
    row = known.columns(problem("N0/N1", composition="structural", rule="R3"))
    assert (row["skill"], row["rule"], row["unseen_structures"]) == ("structural", "R3", "n/n")
    assert known.columns(problem(None)) == {**dict.fromkeys(SKILL_COLUMNS)}

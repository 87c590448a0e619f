"""Local structures: every operator with one below it, and the roles of their leaves."""

import pytest
from hypothesis import given

from comdiv.expression import Operation, local_structures, operator_count, parse, structures_of
from strategies import trees


@pytest.mark.parametrize(
    ("expression", "structures"),
    [
        ("N0", set()),
        ("N0+N1", set()),
        ("(N0+N1)*N2", {"((n+n)*n)"}),
        ("N2*(N0+N1)", {"((n+n)*n)"}),  # a product has no order
        ("N2-(N0+N1)", {"(n-(n+n))"}),  # a difference has
        ("(N0+N1)-N2", {"((n+n)-n)"}),
        ("(N0+3)*N2", {"((c+n)*n)"}),
        ("(N0+N1)*(N2-N3)", {"((n+n)*…)", "((n-n)*…)"}),
        ("((N0+N1)*N2)/N3", {"((n+n)*n)", "((n*…)/n)"}),
    ],
)
def test_they_are_pairs_of_operators_with_the_roles_of_their_leaves(expression: str, structures: set[str]) -> None:
    assert local_structures(parse(expression)) == structures


@given(trees(max_leaves=6))
def test_there_is_at_most_one_for_each_operator_below_another(tree: Operation) -> None:
    assert len(local_structures(tree)) <= max(0, operator_count(tree) - 1)
    assert bool(local_structures(tree)) == (operator_count(tree) > 1)


def test_those_of_a_training_set_are_all_of_its_problems() -> None:
    assert structures_of(map(parse, ("N0+N1", "(N0+N1)*N2", "N0-N1*N2"))) == {"((n+n)*n)", "(n-(n*n))"}

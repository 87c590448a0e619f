"""Which expressions a new problem may have."""

from fractions import Fraction

import pytest
from hypothesis import given

from comdiv.augmentation.soundness import is_degenerate, is_overdrawn, positive_value
from comdiv.expression import Expression, Operation, parse, subtrees, value_of
from strategies import attempt, quantity_values, trees


@given(trees(max_leaves=6, operators="+-*/"), quantity_values())
def test_a_positive_value_is_that_of_an_expression_all_of_whose_operations_give_more_than_nothing(
    tree: Expression, values: list[Fraction]
) -> None:
    results = [attempt(value_of, part, values) for part in subtrees(tree) if isinstance(part, Operation)]
    sound = all(isinstance(result, Fraction) and result > 0 for result in results)
    assert positive_value(tree, values) == (value_of(tree, values) if sound else None)


@pytest.mark.parametrize(
    "expression",
    ["1-(1-N0)", "N0/N0", "N0-N0", "N1+1*N0", "N0/(N0/N1)", "(N0+N1)-(N0+N1)", "N0*12/12", "N0+N1-N0"],
)
def test_degenerate_expressions(expression: str) -> None:
    assert is_degenerate(parse(expression))


@pytest.mark.parametrize(
    ("expression", "overdrawn"),
    [
        ("N0+N2-N1", True),  # 15 tickets, 27 spent, 39 won
        ("N2*(N0+N2-N1)", True),
        ("N0+N2", False),
        ("N1-N0", False),
        ("N2-(N0+N1)", False),
        ("N2-N0+N1", False),
    ],
)
def test_in_the_order_of_the_text_no_more_is_taken_than_there_is(expression: str, overdrawn: bool) -> None:
    assert is_overdrawn(parse(expression), [Fraction(15), Fraction(27), Fraction(39)]) == overdrawn


@pytest.mark.parametrize("expression", ["1-N0", "N0-(N1-N2)", "N0*N0", "1-(N0-1)"])
def test_sound_expressions(expression: str) -> None:
    assert not is_degenerate(parse(expression))

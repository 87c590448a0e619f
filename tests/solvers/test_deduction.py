"""Expressions as deductions: one for each, steps that may come next, and what values say about them."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from comdiv.expression import OPERATORS, Constant, Expression, Operation, Reference, in_text_order, parse, to_infix
from comdiv.expression.tree import COMMUTATIVE
from comdiv.solvers.alphabet import Alphabet
from comdiv.solvers.deduction import DeductionRules, StepColumns
from comdiv.solvers.values import FEATURES, bounded_value, pair_features, value_of_step

ALPHABET = Alphabet(("1", "100"), 4)
COLUMNS = StepColumns(ALPHABET)
LEAVES = [*map(Reference, range(4)), Constant(Fraction(1)), Constant(Fraction(100))]


def trees() -> st.SearchStrategy[Expression]:
    def operations(operands: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.builds(Operation, st.sampled_from(OPERATORS), operands, operands)

    return st.recursive(st.sampled_from(LEAVES), operations, max_leaves=10)


def commuted(expression: Expression) -> Expression:
    """A form that all expressions share which differ only in the order of operands of + and *."""
    if not isinstance(expression, Operation):
        return expression
    left, right = commuted(expression.left), commuted(expression.right)
    if expression.operator in COMMUTATIVE:
        left, right = sorted((left, right), key=repr)
    return Operation(expression.operator, left, right)


@given(trees())
def test_every_expression_can_be_deduced_and_read_again(expression: Expression) -> None:
    columns = COLUMNS.write(expression, 4)
    assert columns is not None
    again = COLUMNS.read(columns)
    assert again is not None
    assert commuted(again) == commuted(expression)
    assert COLUMNS.write(again, 4) == columns


@settings(deadline=None)
@given(trees())
def test_the_rules_allow_the_deduction_of_every_expression(expression: Expression) -> None:
    columns = COLUMNS.write(expression, 4)
    assert columns is not None
    rules = DeductionRules(COLUMNS, 9)
    state = rules.start(torch.tensor([4]), COLUMNS.count)
    for column in columns:
        assert not bool(state.finished[0])
        assert bool(rules.allowed(state, COLUMNS.count)[0, column])
        state = rules.advance(state, torch.tensor([column]))
    assert bool(state.finished[0])


@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_rules_allow_ends_as_an_expression(seed: int, cover: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    rules = DeductionRules(COLUMNS, 5, cover)
    state, columns = rules.start(torch.tensor([3]), COLUMNS.count), []
    while not bool(state.finished[0]):
        allowed = rules.allowed(state, COLUMNS.count)[0].nonzero().squeeze(1)
        columns.append(int(allowed[torch.randint(len(allowed), (1,), generator=generator)]))
        state = rules.advance(state, torch.tensor(columns[-1:]))
    expression = COLUMNS.read(columns)
    assert expression is not None
    assert len(columns) <= 5
    assert COLUMNS.write(expression, 3) == columns  # no other order of steps is allowed
    if cover:
        assert sorted(to_infix(expression).count(f"N{index}") for index in range(3)) == [1, 1, 1]


def test_operands_are_deduced_from_left_to_right() -> None:
    columns = COLUMNS.write(parse("(N0-N1)/(N2-N3)"), 4)
    assert columns is not None
    left, right, operator, is_last = COLUMNS.steps(torch.tensor(columns))
    assert left.tolist() == [0, 2, COLUMNS.latest + 1]
    assert right.tolist() == [1, 3, COLUMNS.latest]
    assert [OPERATORS[index] for index in operator.tolist()] == ["-", "-", "/"]
    assert is_last.tolist() == [False, False, True]


def test_commuted_operands_have_one_deduction() -> None:
    assert COLUMNS.write(parse("N1+N0"), 4) == COLUMNS.write(parse("N0+N1"), 4)
    assert COLUMNS.write(parse("(N0+N1)*N2"), 4) == COLUMNS.write(parse("N2*(N0+N1)"), 4)
    assert COLUMNS.write(parse("N1-N0"), 4) != COLUMNS.write(parse("N0-N1"), 4)


@pytest.mark.parametrize("expression", ["N4+N0", "N0*7", "N3+N0"])
def test_what_has_no_place_cannot_be_deduced(expression: str) -> None:
    assert COLUMNS.write(parse(expression), 3) is None


@pytest.mark.parametrize("columns", [(), (COLUMNS.end,), (COLUMNS.first_leaf, COLUMNS.first_leaf)])
def test_columns_that_are_no_deduction_are_no_expression(columns: tuple[int, ...]) -> None:
    assert COLUMNS.read(columns) is None


def test_a_result_that_is_not_there_is_no_expression() -> None:
    first = COLUMNS.write(parse("N0*(N1+N2)"), 4)
    assert first is not None
    assert COLUMNS.read(first[1:]) is None


def test_text_order_survives() -> None:
    tree = in_text_order(parse("N2*N0+N1"))
    columns = COLUMNS.write(tree, 4)
    assert columns is not None
    again = COLUMNS.read(columns)
    assert again is not None
    assert in_text_order(again) == tree


# --- values ---


def features(x: float, y: float, **changes: float) -> list[bool]:
    left = [x, 0.0, changes.get("used", 0.0), changes.get("constant", 0.0), changes.get("result", 0.0)]
    facts = torch.tensor([left, [y, 1.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    found = pair_features(facts[:1], facts[1:], torch.tensor([2]), torch.tensor([int(changes.get("result", 0))]))
    assert found.shape == (1, FEATURES)
    return [bool(value) for value in found[0]]


def test_features_know_which_is_larger_and_what_divides() -> None:
    assert features(12, 4)[:5] == [True, False, False, True, False]
    assert features(4, 12)[:5] == [False, True, False, False, True]
    assert features(12, 5)[3:5] == [False, False]
    assert features(12, 1)[3] is False  # everything is a multiple of one
    assert features(0.5, 12)[8:11] == [True, False, True]


def test_features_count_what_is_left() -> None:
    assert features(1, 2)[16:18] == [True, False]
    assert features(1, 2, used=1.0)[16:18] == [False, True]


def test_the_value_of_a_step_is_cut_off_and_undefined_ones_are_nothing() -> None:
    operators = torch.arange(5)
    left, right = torch.full((5,), 6.0, dtype=torch.float64), torch.full((5,), 4.0, dtype=torch.float64)
    assert value_of_step(left, right, operators).tolist() == [10.0, 2.0, 24.0, 1.5, 1296.0]
    assert value_of_step(left, 0 * right, operators).tolist()[3] == 0.0
    assert value_of_step(-left, 0.5 * right / 4, operators).tolist()[4] == 0.0
    assert bounded_value(Fraction(10**40)) == 1e12
    assert bounded_value("2/3") == pytest.approx(2 / 3)

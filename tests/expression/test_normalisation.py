"""When two expressions are the same: canonical form, template, shape, MathEN's normal form."""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from comdiv.expression import (
    Constant,
    Expression,
    ExpressionError,
    Operation,
    Reference,
    canonical,
    equivalent,
    leaves,
    mathen_normal_form,
    parse,
    renumber,
    shape,
    template,
    template_tree,
    to_infix,
    used_quantities,
    value_of,
)
from comdiv.expression.normalisation import Member, chain, join_chain
from comdiv.expression.tree import MAX_DEPTH
from strategies import QUANTITIES, attempt, quantity_values, references, trees

Members = list[tuple[bool, Expression]]  # of a sum or product: (subtracted or divided by, member)
FAMILIES = {"+": "+-", "-": "+-", "*": "*/", "/": "*/"}
SMALL = trees(max_leaves=5)
FEW_LEAVES = trees(leaves=references(count=2))  # so that members differ in nothing but their operators


def members_of(tree: Expression, family: str, inverse: bool = False) -> Members:
    if not (isinstance(tree, Operation) and tree.operator in family):
        return [(inverse, tree)]
    right_inverse = inverse != (tree.operator == family[1])
    return members_of(tree.left, family, inverse) + members_of(tree.right, family, right_inverse)


def rearranged(draw: st.DrawFn, tree: Expression) -> Expression:
    """The same expression in another order and with other brackets, by the laws of `+ -` and of `* /`."""
    if not isinstance(tree, Operation):
        return tree
    if tree.operator == "^":
        return Operation("^", rearranged(draw, tree.left), rearranged(draw, tree.right))
    family = FAMILIES[tree.operator]
    members = [(inverse, rearranged(draw, member)) for inverse, member in members_of(tree, family)]
    return bracketed(draw, draw(st.permutations(members)), family)


def bracketed(draw: st.DrawFn, members: Members, family: str) -> Expression:
    """A random tree for members of which at least one is not inverse: a-b+c, a-(b-c)…"""
    if len(members) == 1:
        return members[0][1]
    first = draw(st.sampled_from([place for place, (inverse, _) in enumerate(members) if not inverse]))
    rest = members[:first] + members[first + 1 :]
    cut = draw(st.integers(0, len(rest) - 1))
    left, right = [members[first], *rest[:cut]], rest[cut:]
    flipped = [(not inverse, member) for inverse, member in right]
    may_add, may_subtract = not all(inverse for inverse, _ in right), not all(inverse for inverse, _ in flipped)
    subtract = draw(st.booleans()) if may_add and may_subtract else may_subtract
    operand = bracketed(draw, flipped if subtract else right, family)
    return Operation(family[subtract], bracketed(draw, left, family), operand)


def commuted(draw: st.DrawFn, tree: Expression) -> Expression:
    """The same template: operands of chains of `+` alone and of `*` alone in another order, with other brackets."""
    if not isinstance(tree, Operation):
        return tree
    if tree.operator not in "+*":
        return Operation(tree.operator, commuted(draw, tree.left), commuted(draw, tree.right))

    def operands(node: Expression) -> list[Expression]:
        same = isinstance(node, Operation) and node.operator == tree.operator
        return operands(node.left) + operands(node.right) if same else [commuted(draw, node)]

    parts = draw(st.permutations(operands(tree)))
    while len(parts) > 1:
        place = draw(st.integers(0, len(parts) - 2))
        parts[place : place + 2] = [Operation(tree.operator, parts[place], parts[place + 1])]
    return parts[0]


def left_associated_orders(tree: Expression) -> Iterator[Expression]:
    """Every left-associated expression that is equal by commutativity and re-association, by brute force."""
    if not isinstance(tree, Operation):
        yield tree
        return
    if tree.operator == "^":
        for base, exponent in itertools.product(*map(left_associated_orders, (tree.left, tree.right))):
            yield Operation("^", base, exponent)
        return
    family = FAMILIES[tree.operator]
    members = members_of(tree, family)
    for forms in itertools.product(*(left_associated_orders(member) for _, member in members)):
        signed = [(inverse, form) for (inverse, _), form in zip(members, forms, strict=True)]
        for (inverse, first), *rest in itertools.permutations(signed):
            if not inverse:
                yield reduce(lambda tree, member: Operation(family[member[0]], tree, member[1]), rest, first)


def positions(tree: Expression) -> list[tuple[bool, Fraction]]:
    """Places of the leaves in the text, constants after all quantities."""
    return [
        (True, leaf.value) if isinstance(leaf, Constant) else (False, Fraction(leaf.index)) for leaf in leaves(tree)
    ]


@pytest.mark.parametrize("normalise", [canonical, mathen_normal_form])
@given(tree=trees(), quantities=quantity_values())
@example(tree=parse("N0-(N1-(N2-3))"), quantities=[Fraction(n) for n in range(1, 7)])
@example(tree=parse("N5/(N4/(N3*2))"), quantities=[Fraction(n) for n in range(1, 7)])
def test_normalising_changes_no_leaf_and_no_value(
    normalise: Callable[[Expression], Expression], tree: Expression, quantities: list[Fraction]
) -> None:
    normal_form = normalise(tree)
    assert sorted(map(repr, leaves(normal_form))) == sorted(map(repr, leaves(tree)))
    value = attempt(value_of, tree, quantities)
    assume(isinstance(value, Fraction))
    assert value_of(normal_form, quantities) == value


@given(trees(), quantity_values())
def test_the_template_has_the_value_of_the_expression_on_its_used_quantities(
    tree: Expression, quantities: list[Fraction]
) -> None:
    value = attempt(value_of, tree, quantities)
    assume(isinstance(value, Fraction))
    used = [quantities[index] for index in used_quantities(tree)]
    assert value_of(template_tree(tree), used) == value


@pytest.mark.parametrize("normalise", [canonical, mathen_normal_form, template_tree])
@given(tree=trees())
def test_normalising_twice_is_normalising_once(normalise: Callable[[Expression], Expression], tree: Expression) -> None:
    once = normalise(tree)
    assert normalise(once) == once


@pytest.mark.parametrize("normalise", [canonical, mathen_normal_form])
@given(tree=st.one_of(trees(), FEW_LEAVES), data=st.data())
def test_equal_expressions_have_one_normal_form(
    normalise: Callable[[Expression], Expression], tree: Expression, data: st.DataObject
) -> None:
    other = rearranged(data.draw, tree)
    assert normalise(other) == normalise(tree)
    assert equivalent(other, tree)


@given(st.one_of(trees(), FEW_LEAVES), st.data())
@example(parse("N0*N1+(N0-N1)"), None)
def test_the_template_does_not_depend_on_the_order_of_sums_and_products(
    tree: Expression, data: st.DataObject | None
) -> None:
    other = commuted(data.draw, tree) if data else parse("(N0-N1)+N0*N1")
    assert template(other) == template(tree)
    assert shape(other) == shape(tree)


@given(trees(), st.lists(st.integers(0, 99), min_size=QUANTITIES, max_size=QUANTITIES, unique=True).map(sorted))
def test_the_template_does_not_depend_on_quantities_that_are_not_used(tree: Expression, places: list[int]) -> None:
    moved = renumber(tree, places.__getitem__)
    assert template(moved) == template(tree)
    assert shape(moved) == shape(tree)


@given(trees(), trees())
def test_expressions_with_different_values_are_not_equivalent(first: Expression, second: Expression) -> None:
    quantities = [Fraction(n) for n in (2, 3, 5, 7, 11, 13)]
    values = [attempt(value_of, tree, quantities) for tree in (first, second)]
    assume(all(isinstance(value, Fraction) for value in values) and values[0] != values[1])
    assert not equivalent(first, second)


@settings(max_examples=150)
@given(SMALL)
@example(parse("N2+N2/N1"))
@example(parse("N2+N2/N1-N0"))
@example(parse("N3*(N2-N1-N0)-N0"))
@example(parse("3-N1-2"))
def test_mathen_form_has_the_least_positions_of_all_left_associated_orders(tree: Expression) -> None:
    orders = list(left_associated_orders(tree))
    form = mathen_normal_form(tree)
    assert form in orders
    assert positions(form) == min(map(positions, orders))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("N1+N0", "N0+N1"), ("N1*N0", "N0*N1"), ("N1-N0", "N1-N0"), ("N2-N0+N1", "N1-N0+N2"),
        ("N2+(N0+N1)", "N0+N1+N2"), ("N2-(N1-N0)", "N0-N1+N2"), ("N1*(N2/N0)", "N1/N0*N2"),
        ("N2/(N1*N0)", "N2/N0/N1"), ("N2/(N1/N0)", "N0/N1*N2"), ("2*N1*N0", "N0*N1*2"), ("1-(1-N0)", "N0+1-1"),
        ("(1-N1)*N0", "N0*(1-N1)"), ("N2*N1+N0", "N0+N1*N2"), ("(N2+N1)^(N1*N0)", "(N1+N2)^(N0*N1)"),
        ("3-1-2", "3-1-2"), ("N2+N2/N1", "N2/N1+N2"),
    ],
)  # fmt: skip
def test_mathen_form_worked_by_hand(text: str, form: str) -> None:
    assert to_infix(mathen_normal_form(parse(text))) == form


@pytest.mark.parametrize(
    ("text", "expected_template", "expected_shape"),
    [
        ("N1*N0", "n1*n2", "n*n"), ("N1-N0", "n2-n1", "n-n"), ("N0-N1", "n1-n2", "n-n"), ("N1/N0", "n2/n1", "n/n"),
        ("N1^N0", "n2^n1", "n^n"), ("N2+(N0+N1)", "n1+n2+n3", "n+n+n"), ("N2*(N0*N1)", "n1*n2*n3", "n*n*n"),
        ("N7*N3", "n1*n2", "n*n"), ("N5-N2", "n2-n1", "n-n"), ("N4+N4", "n1+n1", "n+n"),
        ("N0*(1-N1)", "n1*(1-n2)", "n*(1-n)"), ("(1-N1)*N0", "n1*(1-n2)", "n*(1-n)"),
        ("1-(1-N0)", "1-(1-n1)", "1-(1-n)"), ("3.14*N1*N1", "n1*n1*3.14", "n*n*3.14"), ("2+1", "1+2", "1+2"),
        ("N0-(N1-N2)", "n1-(n2-n3)", "n-(n-n)"), ("N2+(N0-N1)", "n1-n2+n3", "n-n+n"),
        ("N1*(N0+N2)", "(n1+n3)*n2", "(n+n)*n"), ("N0*(1-N1)*N2", "n1*(1-n2)*n3", "n*(1-n)*n"),
        ("N0*20%", "n1*0.2", "n*0.2"), ("7", "7", "7"),
    ],
)  # fmt: skip
def test_template_and_shape_worked_by_hand(text: str, expected_template: str, expected_shape: str) -> None:
    tree = parse(text)
    assert (template(tree), shape(tree)) == (expected_template, expected_shape)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("N1*N0", "N0*N1", True),
        ("N1-N0", "N0-N1", False),
        ("N2+(N0+N1)", "N1+N0+N2", True),
        ("N0-N1-N2", "N0-(N1+N2)", True),
        ("N0-(N1-N2)", "N0+N2-N1", True),
        ("N0/N1/N2", "N0/(N2*N1)", True),
        ("N0*(N1/N2)", "N0*N1/N2", True),
        ("N0/(N1/N2)", "N0/N1/N2", False),
        ("(N1+N0)^2", "(N0+N1)^2", True),
        ("N0^N1", "N1^N0", False),
        ("N0*(N1+N2)", "N0*N1+N0*N2", False),  # distributivity is no matter of order
        ("1-(1-N0)", "1-1+N0", True),
        ("1-(1-N0)", "N0", False),
        ("N0*20%", "N0*0.2", True),
        ("N0*N1+N0/N1", "N0/N1+N0*N1", True),  # the same leaves in the same order
    ],
)
def test_equivalence_is_commutativity_and_associativity_and_no_more(first: str, second: str, same: bool) -> None:
    assert equivalent(parse(first), parse(second)) is same


def test_a_chain_opens_brackets_of_its_own_family_only() -> None:
    tree = parse("N0-(N1-N2*N3)")
    assert isinstance(tree, Operation)
    assert chain(tree) == [
        Member(False, Reference(0)),
        Member(True, Reference(1)),
        Member(False, parse("N2*N3")),
    ]


def test_a_joined_chain_that_begins_with_an_inverse_member_begins_with_the_neutral_element() -> None:
    members = [Member(True, Reference(0)), Member(False, Reference(1))]
    assert to_infix(join_chain("+", members)) == "0-N0+N1"
    assert to_infix(join_chain("*", members)) == "1/N0*N1"


@pytest.mark.parametrize("normalise", [canonical, mathen_normal_form, template_tree])
@pytest.mark.parametrize("operator", ["+", "*", "-", "/"])
def test_a_wide_tree_is_normalised_or_refused_with_our_error(
    normalise: Callable[[Expression], Expression], operator: str
) -> None:
    tree: Expression = Reference(0)
    for _ in range(9):
        grown = attempt(Operation, operator, tree, tree)
        tree = tree if isinstance(grown, ExpressionError) else grown
    form = attempt(normalise, tree)
    assert isinstance(form, ExpressionError) or sum(1 for _ in leaves(form)) == sum(1 for _ in leaves(tree))


def balanced(operator: str, terms: int) -> Expression:
    if terms == 1:
        return Reference(0)
    return Operation(operator, balanced(operator, terms // 2), balanced(operator, terms - terms // 2))


@pytest.mark.parametrize("operator", ["+", "-", "*", "/"])
def test_every_expression_has_its_normal_forms_however_its_brackets_stand(operator: str) -> None:
    other = "*" if operator in "+-" else "+"
    widest = balanced(operator, MAX_DEPTH + 1)  # as deep as allowed once its brackets are opened
    deepest = Operation(other, balanced(operator, MAX_DEPTH), Reference(0))
    for tree in (widest, deepest):
        assert canonical(tree)
        assert template(tree)
        assert mathen_normal_form(tree)
    for terms in (MAX_DEPTH + 2, 200, 512):  # they parse, and had no template: one ended the statistics of a corpus
        with pytest.raises(ExpressionError, match=f"at most {MAX_DEPTH} levels deep"):
            balanced(operator, terms)

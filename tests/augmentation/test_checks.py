"""Every check refuses what it is for, and lets the rest pass."""

from fractions import Fraction

import pytest

from augmentation.small import options, view
from comdiv.augmentation.checks import Rejected, checked, is_degenerate, is_overdrawn, text_hash
from comdiv.augmentation.composition import Composition, exchange
from comdiv.augmentation.view import ProblemView
from comdiv.expression import parse, to_infix, value_of
from comdiv.language import get_language

ASKING = view("Ann has 20 pens . She lost 5 . How many pens has she ?", "N0-N1", name="asking")


def fate(asking: ProblemView, stating: ProblemView, clause: int = 0, **changes: object) -> str:
    try:
        checked(Composition(asking, stating, clause), options(**changes), frozenset(), 1)
    except Rejected as refused:
        return str(refused)
    return "passed"


def stating(text: str, expression: str) -> ProblemView:
    return view(text, expression, name="stating")


def test_a_new_problem_has_everything_and_re_parses() -> None:
    other = stating("Bob has 7 pens . Cid has 3 pens . How many pens have they ?", "N0+N1")
    problem, _ = checked(Composition(ASKING, other, 0), options(), frozenset(), 4)
    assert problem.expression is not None
    assert to_infix(problem.expression) == "N0-N1+N2"
    quantities = get_language("en").quantities(problem.text)
    assert problem.answer == value_of(problem.expression, [q.value for q in quantities]) == 18
    assert problem.provenance.operation == "operation 1"
    assert (problem.provenance.round, problem.provenance.parents) == (4, ("asking", "stating"))


@pytest.mark.parametrize(
    ("text", "expression", "reason"),
    [
        ("Bob has 30 pens . He lost 20 . How many pens has he ?", "N0-N1", "no positive value"),
        ("Bob has 32 pens . 4 boys share them . How many each ?", "N0/N1", "a whole number became a fraction"),
        ("Bob has 0.5 pens . He buys 2 . How many pens ?", "N0+N1", "a share became a number"),
        ("Bob has 30 pens . She lost 5 . How many pens ?", "N0-N1", "a clause twice"),
        ("Bob has 3 pens . He gets 1 + 2 + 3 + 4 + 5 . How many pens ?", "N0+N1", "too many quantities"),
        ("Bob has 3 pens . He adds 2 . What is left " + "of them all " * 20 + "?", "N0+N1", "text too long"),
        ("Bob has 30 pens . He buys 2 . How many pens ?", "N0+N1", "passed"),
    ],
)
def test_values_and_sizes(text: str, expression: str, reason: str) -> None:
    changes = {"most_quantities": 4} if reason == "too many quantities" else {}
    found = fate(ASKING, stating(text, expression), **changes)
    assert found == reason


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


def test_only_the_full_checks_refuse_what_is_overdrawn() -> None:
    other = stating("Bob has 40 pens . He lost 30 . He bought 35 . How many pens has he ?", "N0+N2-N1")
    assert fate(ASKING, other, checks="paper") == "passed"
    assert fate(ASKING, other, checks="full") == "more is taken than there is"


@pytest.mark.parametrize("expression", ["1-N0", "N0-(N1-N2)", "N0*N0", "1-(N0-1)"])
def test_sound_expressions(expression: str) -> None:
    assert not is_degenerate(parse(expression))


def test_a_known_text_does_not_come_again_whatever_its_numbers() -> None:
    other = stating("Bob has 7 pens . Cid has 3 pens . How many pens have they ?", "N0+N1")
    draft = Composition(ASKING, other, 0)
    twin = draft.text.replace("20", "99")
    known = frozenset([text_hash(get_language("en").masked_text(twin))])
    with pytest.raises(Rejected, match="there already"):
        checked(draft, options(), known, 1)


def test_a_fragment_that_swallows_a_number_does_not_re_parse() -> None:
    draft = exchange(ASKING, 0, ["pens"], "4 pens", ASKING)
    with pytest.raises(Rejected, match="re-parse"):
        checked(draft, options(), frozenset(), 1)

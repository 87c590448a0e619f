"""Words and tokens: what is learnt from training problems, and how expressions are spelled."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.expression import Constant, Expression, mathen_normal_form, parse, value_of
from comdiv.expression.tree import ExpressionError
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solvers.alphabet import END, Alphabet, Notation
from comdiv.solvers.inputs import Vocabulary
from solvers.tiny import problem
from strategies import references, trees

NOTATIONS: tuple[Notation, ...] = ("infix", "prefix", "postfix")
CONSTANTS = ("1", "2", "3.14", "0.5", "0(1/3)", "100")
ALPHABET = Alphabet(CONSTANTS, 6)
SPELLABLE = st.one_of(
    references(count=6),
    st.sampled_from([Constant(Fraction(value)) for value in ("1", "2", "157/50", "1/2", "1/3", "100")]),
)


def texts(tokens: list[int]) -> list[str]:
    copy = ALPHABET.first_copy
    return [ALPHABET.base[token] if token < copy else f"N{token - copy}" for token in tokens]


# --- learning ---


def uses(constant: str, times: int, language: str = "en") -> list[Problem]:
    return [problem(f"{constant}-{n}", f"There are {n} things.", f"N0*{constant}", language) for n in range(times)]


def test_a_constant_of_five_expressions_gets_a_token_and_one_of_four_does_not() -> None:
    learnt = Alphabet.learn(read_all([*uses("7", 5), *uses("8", 4)]))
    assert learnt.constants == ("1", "7")


def test_a_constant_counts_once_an_expression() -> None:
    often = [problem("a", "There are 3 things.", "N0*7*7*7*7*7*7")]
    assert Alphabet.learn(read_all(often)).constants == ("1",)


def test_chinese_always_has_pi() -> None:
    assert Alphabet.learn(read_all([problem("a", "有3个", "N0", "zh")])).constants == ("1", "3.14")


def test_equal_values_written_differently_are_one_constant() -> None:
    half = [problem(str(n), "There are 3 things.", text) for n, text in enumerate(["N0*0.5", "N0*50%"] * 3)]
    assert Alphabet.learn(read_all(half)).constants == ("1", "0.5")


def test_there_are_as_many_copies_as_a_training_text_has_quantities_and_at_least_two() -> None:
    assert Alphabet.learn(read_all([problem("a", "3", "N0")])).copies == 2
    counts = [problem(str(count), "7 " * count, "N0") for count in (1, 9, 4)]
    assert Alphabet.learn(read_all(counts)).copies == 9


def test_words_below_the_least_frequency_are_unknown() -> None:
    vocabulary = Vocabulary.learn([["a", "b", "a"], ["c", "a", "b"]], 2)
    assert vocabulary.words == ("<pad>", "<unk>", "a", "b")
    assert vocabulary.encode(["b", "c", "never", "a"]) == [3, 1, 1, 2]


def test_words_of_one_frequency_are_in_alphabetical_order() -> None:
    assert Vocabulary.learn([["pear", "fig"]], 1).words[2:] == ("fig", "pear")


def test_a_text_cannot_smuggle_in_padding() -> None:
    assert Vocabulary.learn([["<pad>", "<unk>", "a"]], 1).words == ("<pad>", "<unk>", "a")


# --- spelling ---


def test_an_expression_is_spelled_in_each_notation() -> None:
    tree = parse("N2*(N1+N0)")
    spelled = {notation: texts(ALPHABET.spell(tree, notation, 3) or []) for notation in NOTATIONS}
    assert spelled == {
        "prefix": ["*", "N2", "+", "N1", "N0"],
        "infix": ["N2", "*", "(", "N1", "+", "N0", ")", END],
        "postfix": ["N0", "N1", "+", "N2", "*", END],  # the normal form of MathEN: (N0+N1)*N2
    }


@given(trees(leaves=SPELLABLE))
def test_what_is_spelled_reads_back_as_the_same_tree(tree: Expression) -> None:
    for notation in NOTATIONS:
        tokens = ALPHABET.spell(tree, notation, 6)
        assert tokens is not None
        wanted = mathen_normal_form(tree) if notation == "postfix" else tree
        assert ALPHABET.read(tokens, notation) == wanted


@given(trees(leaves=SPELLABLE, operators="+-*/"))
def test_the_postfix_that_is_read_back_has_the_same_value(tree: Expression) -> None:
    values = [Fraction(value) for value in (2, 3, 5, 7, 11, 13)]
    try:
        wanted = value_of(tree, values)
    except ExpressionError:
        return
    read = ALPHABET.read(ALPHABET.spell(tree, "postfix", 6) or [], "postfix")
    assert read is not None
    assert value_of(read, values) == wanted


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("text", ["N0*17", "N0-(-1)", "N0+N3"])
def test_what_the_alphabet_lacks_is_not_spelled(text: str, notation: Notation) -> None:
    assert ALPHABET.spell(parse(text), notation, quantities=3) is None


@pytest.mark.parametrize(
    ("notation", "tokens"),
    [("prefix", "+ N0"), ("prefix", "N0 N1"), ("postfix", "N0 +"), ("infix", "N0 +"), ("infix", "( N0"), ("infix", "")],
)
def test_tokens_that_make_no_expression_read_as_none(notation: Notation, tokens: str) -> None:
    index = {**ALPHABET.index, **{f"N{n}": ALPHABET.first_copy + n for n in range(6)}}
    assert ALPHABET.read([index[token] for token in tokens.split()], notation) is None


def test_nothing_after_the_end_is_read() -> None:
    end, first = ALPHABET.index[END], ALPHABET.first_copy
    assert ALPHABET.read([first, end, first, first], "infix") == parse("N0")


def test_copies_come_after_everything_else() -> None:
    assert ALPHABET.size == ALPHABET.first_copy + 6
    assert texts([ALPHABET.first_copy, ALPHABET.size - 1]) == ["N0", "N5"]
    assert texts(list(range(ALPHABET.first_operator, ALPHABET.last_operator + 1))) == ["+", "-", "*", "/", "^"]


# --- validation where a dataset has none ---

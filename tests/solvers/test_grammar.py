"""The masks of decoding, held against all expressions that there are, in small."""

from collections.abc import Iterator
from itertools import product

import pytest
import torch

from comdiv.solvers import grammar
from comdiv.solvers.alphabet import CLOSE, END, OPEN, Alphabet, Notation

NOTATIONS: tuple[Notation, ...] = ("infix", "prefix", "postfix")
ALPHABET = Alphabet(("1",), 3)
Sequence = tuple[str, ...]


def index(token: str) -> int:
    return ALPHABET.first_copy + int(token[1:]) if token.startswith("N") else ALPHABET.index[token]


# One operator and one constant stand for all: a test below shows that their masks are always equal.
TOKENS = ("+", OPEN, CLOSE, "1", "N0", "N1", "N2", END)


def expressions(notation: Notation, length: int, operands: Sequence) -> Iterator[Sequence]:
    """All well-formed expressions of a length, by the definition of the notation."""
    if length == 1:
        yield from ((operand,) for operand in operands)
    if notation == "infix" and length >= 3:
        yield from ((OPEN, *inner, CLOSE) for inner in expressions(notation, length - 2, operands))
    for left_length in range(1, length - 1):
        lefts = list(expressions(notation, left_length, operands))
        rights = list(expressions(notation, length - 1 - left_length, operands))
        for left, right in product(lefts, rights):
            if notation == "infix":
                yield (*left, "+", *right)
            elif notation == "prefix":
                yield ("+", *left, *right)
            else:
                yield (*left, *right, "+")


def all_that_fit(notation: Notation, most: int, quantities: int, *, cover: bool) -> set[Sequence]:
    """Every finished sequence within the greatest length; with `cover`, those that use every quantity once."""
    operands = ("1", *(f"N{n}" for n in range(quantities)))
    end = () if notation == "prefix" else (END,)
    found = {(*tokens, *end) for n in range(1, most + 1 - len(end)) for tokens in expressions(notation, n, operands)}
    return {s for s in found if not cover or all(s.count(f"N{n}") == 1 for n in range(quantities))}


def walk(rules: grammar.Rules, quantities: int) -> tuple[set[Sequence], list[Sequence]]:
    """Every sequence that the masks let through, and every unfinished one that they leave without a next token."""
    columns = ALPHABET.size
    finished: set[Sequence] = set()
    dead_ends: list[Sequence] = []
    sequences: list[Sequence] = [()]
    state = rules.start(torch.tensor([quantities]), columns)
    for _ in range(rules.most_tokens):
        mask = rules.allowed(state, columns)
        assert (mask[:, 1:6] == mask[:, 1:2]).all(), "operators have one mask"
        dead_ends += [s for s, row in zip(sequences, mask.any(1).tolist(), strict=True) if not row]
        choices = [(row, token) for row, line in enumerate(mask.tolist()) for token in TOKENS if line[index(token)]]
        if not choices:
            return finished, dead_ends
        rows = torch.tensor([row for row, _ in choices])
        tokens = torch.tensor([index(token) for _, token in choices])
        state = rules.advance(state.reordered(rows), tokens)
        sequences = [(*sequences[row], token) for row, token in choices]
        finished |= {s for s, done in zip(sequences, state.finished.tolist(), strict=True) if done}
        going = (~state.finished).nonzero().squeeze(1)
        state, sequences = state.reordered(going), [sequences[row] for row in going.tolist()]
    return finished, dead_ends + sequences


@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize("quantities", [0, 1, 2, 3])
@pytest.mark.parametrize("most", [3, 4, 5, 6])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_the_masks_let_exactly_the_expressions_that_fit_through(
    notation: Notation, most: int, quantities: int, cover: bool
) -> None:
    wanted = all_that_fit(notation, most, quantities, cover=cover)
    found, dead_ends = walk(grammar.Rules(notation, ALPHABET, most, cover=cover), quantities)
    assert found == wanted
    if wanted:  # three quantities do not fit into three tokens
        assert dead_ends == []


@pytest.mark.parametrize(("notation", "most"), [("prefix", 9), ("postfix", 8), ("infix", 8)])
def test_coverage_never_ends_in_a_place_too_narrow_for_what_is_unused(notation: Notation, most: int) -> None:
    found, dead_ends = walk(grammar.Rules(notation, ALPHABET, most, cover=True), 3)
    assert dead_ends == []
    assert found == all_that_fit(notation, most, 3, cover=True)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_nothing_may_come_where_coverage_is_impossible(notation: Notation) -> None:
    rules = grammar.Rules(notation, ALPHABET, 4, cover=True)
    assert not rules.allowed(rules.start(torch.tensor([3]), ALPHABET.size), ALPHABET.size).any()


@pytest.mark.parametrize("notation", NOTATIONS)
def test_without_the_grammar_everything_that_the_problem_has_is_allowed(notation: Notation) -> None:
    rules = grammar.Rules(notation, ALPHABET, 5, constrained=False)
    state = rules.start(torch.tensor([1]), ALPHABET.size)
    row = rules.allowed(state, ALPHABET.size)[0]
    mask = {token: bool(row[index(token)]) for token in TOKENS}
    tree = notation == "prefix"  # a tree decoder knows neither brackets nor an end
    assert mask == dict(zip(TOKENS, [True, not tree, not tree, True, True, False, False, not tree], strict=True))


def test_rows_do_not_disturb_one_another() -> None:
    rules = grammar.Rules("prefix", ALPHABET, 3, cover=True)
    state = rules.start(torch.tensor([1, 2, 0]), ALPHABET.size)
    state = rules.advance(state, torch.tensor([index("N0"), index("+"), index("1")]))
    assert state.finished.tolist() == [True, False, True]
    assert state.pending.tolist() == [0, 2, 0]
    assert state.used.tolist() == [[True, False, False], [False] * 3, [False] * 3]
    state = rules.advance(state, torch.tensor([index(END), index("N1"), index(END)]))
    assert rules.allowed(state, ALPHABET.size)[1].nonzero().squeeze(1).tolist() == [index("N0")]


def test_a_decoder_without_copies_is_masked_too() -> None:
    bare = Alphabet(("1",), 0)
    rules = grammar.Rules("prefix", bare, 3)
    state = rules.start(torch.tensor([0]), bare.size)
    assert rules.allowed(state, bare.size)[0].nonzero().squeeze(1).tolist() == [1, 2, 3, 4, 5, 8]

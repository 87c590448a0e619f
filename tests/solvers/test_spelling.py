"""Tokens spelled with pieces: the trie, and a grammar over pieces that allows what the grammar of tokens does."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from comdiv.solvers.alphabet import Alphabet
from comdiv.solvers.grammar import Rules
from comdiv.solvers.spelling import SpelledRules, Spelling, ambiguous

ALPHABET = Alphabet(("1", "10"), 2)  # <end> + - * / ^ ( ) 1 10 N0 N1
# 1 begins 10 as it does for tokenizers that write digit by digit; N0 and N1 share their first piece.
SPELLINGS = [[0], [11], [12], [13], [14], [15], [16], [17], [20, 21], [20, 21, 30], [40, 30], [40, 21]]
CPU = torch.device("cpu")


def spelled_rules(most_tokens: int, *, constrained: bool = True, cover: bool = False) -> SpelledRules:
    return SpelledRules(Rules("infix", ALPHABET, most_tokens, constrained, cover), Spelling(SPELLINGS), CPU)


def token_sequences(rules: Rules, quantities: int) -> Iterator[tuple[int, ...]]:
    """Every finished sequence of tokens that the grammar allows, with its end."""
    pending = [((), rules.start(torch.tensor([quantities]), ALPHABET.size))]
    while pending:
        written, state = pending.pop()
        for token in rules.allowed(state, ALPHABET.size)[0].nonzero().squeeze(1).tolist():
            after = rules.advance(state, torch.tensor([token]))
            if bool(after.finished[0]):
                yield (*written, token)
            else:
                pending.append(((*written, token), after))


def column_sequences(rules: SpelledRules, quantities: int) -> Iterator[tuple[int, ...]]:
    """Every finished sequence of columns that the spelled grammar allows; none may lead into a dead end."""
    columns = len(rules.spelling.pieces)
    pending = [((), rules.start(torch.tensor([quantities]), columns))]
    while pending:
        written, state = pending.pop()
        chosen = rules.allowed(state, columns)[0].nonzero().squeeze(1).tolist()
        assert chosen or not written, f"a dead end after {written}"
        assert len(written) < rules.most_steps
        for column in chosen:
            after = rules.advance(state, torch.tensor([column]))
            if bool(after.finished[0]):
                yield (*written, column)
            else:
                pending.append(((*written, column), after))


@pytest.mark.parametrize("cover", [False, True])
@pytest.mark.parametrize(("most_tokens", "quantities"), [(2, 0), (2, 2), (4, 1), (4, 2), (5, 1)])
def test_pieces_may_write_exactly_what_tokens_may(most_tokens: int, quantities: int, cover: bool) -> None:
    spelled = spelled_rules(most_tokens, cover=cover)
    wanted = {tuple(spelled.spelling.spell(tokens)) for tokens in token_sequences(spelled.rules, quantities)}
    found = list(column_sequences(spelled, quantities))
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert {spelled.tokens(columns) for columns in found} == {
        spelled.rules.tokens(tokens) for tokens in token_sequences(spelled.rules, quantities)
    }


def test_rows_go_their_own_ways_and_finished_ones_stay() -> None:
    rules = spelled_rules(9)
    spelling = rules.spelling
    expressions = [[10, 0], [9, 1, 11, 0], [8, 3, 6, 10, 2, 11, 7, 0]]  # N0; 10+N1; 1*(N0-N1)
    written = [spelling.spell(tokens) for tokens in expressions]
    state = rules.start(torch.tensor([2, 2, 2]), len(spelling.pieces))
    for step in range(max(map(len, written))):
        allowed = rules.allowed(state, len(spelling.pieces))
        columns = [row[step] if step < len(row) else 0 for row in written]
        for row, column in enumerate(columns):
            assert step >= len(written[row]) or bool(allowed[row, column])
        state = rules.advance(state, torch.tensor(columns))
        assert state.finished.tolist() == [step + 1 >= len(row) for row in written]
    assert state.syntax.length.tolist() == [2, 4, 8]


def test_without_the_grammar_pieces_still_spell_tokens_of_the_problem() -> None:
    rules = spelled_rules(3, constrained=False)
    columns = len(rules.spelling.pieces)
    state = rules.start(torch.tensor([1]), columns)

    def pieces() -> set[int]:
        return {rules.spelling.pieces[column] for column in rules.allowed(state, columns)[0].nonzero().squeeze(1)}

    assert pieces() == {0, 11, 12, 13, 14, 15, 16, 17, 20, 40}
    state = rules.advance(state, torch.tensor([rules.spelling.pieces.index(40)]))
    assert pieces() == {30}  # N0, but no N1


@given(st.lists(st.integers(0, len(SPELLINGS) - 1), max_size=12))
def test_what_is_spelled_is_read_again(tokens: list[int]) -> None:
    spelling = Spelling(SPELLINGS)
    assert spelling.read(spelling.spell(tokens)) == tokens


def test_a_token_spelled_half_is_none() -> None:
    spelling = Spelling(SPELLINGS)
    columns = spelling.spell([10, 1, 11])
    assert spelling.read(columns[:-1]) == [10, 1]


@pytest.mark.parametrize(
    ("spellings", "found"),
    [
        ([[1], [2, 3], [2, 4]], set()),
        ([[1], [1, 2]], set()),  # what follows a 1 tells
        ([[1], [1, 2], [2]], {1}),  # 1 2: one token, or two?
        ([[1], [1]], {1}),
        ([[1], []], {1}),
    ],
)
def test_spellings_that_could_be_read_in_two_ways_are_found(spellings: list[list[int]], found: set[int]) -> None:
    assert ambiguous(spellings) == found
    if found:
        with pytest.raises(ValueError, match="cannot be distinguished from others"):
            Spelling(spellings)


def test_the_end_must_be_one_piece() -> None:
    with pytest.raises(ValueError, match="the end must be one piece"):
        SpelledRules(Rules("infix", ALPHABET, 5), Spelling([[0, 1], *SPELLINGS[1:]]), CPU)

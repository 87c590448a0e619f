"""Tokens of expressions spelled with the pieces of a sub-word tokenizer, and the grammar over such pieces.

A decoder that writes pieces needs several steps for some tokens (`N1` is `N`, `1`). The spellings form a trie, and
every row is at one of its nodes: a piece is allowed if it leads to a token that the grammar allows. If one spelling is
a prefix of another (`N1` and `N10`), the token is complete only when the next piece begins a new one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from comdiv.solvers import grammar

Spellings = Sequence[Sequence[int]]


def ambiguous(spellings: Spellings) -> set[int]:
    """Tokens that need another spelling, because it is empty, a duplicate, or readable as several tokens."""
    unclear = {token for token, spelled in enumerate(spellings) if not spelled}
    seen: dict[tuple[int, ...], int] = {}
    for token, spelled in enumerate(spellings):
        if seen.setdefault(tuple(spelled), token) != token:
            unclear.add(token)
    first = {spelled[0] for spelled in spellings if spelled}
    for token, spelled in enumerate(spellings):
        ends = (end for end in range(1, len(spelled)) if tuple(spelled[:end]) in seen)
        if any(spelled[end] in first for end in ends):
            unclear.add(token)
    return unclear


class Spelling:
    """The spelling of every token as columns of a decoder's logits, as a trie whose root is node 0."""

    def __init__(self, spellings: Spellings) -> None:
        if confused := ambiguous(spellings):
            raise ValueError(f"tokens {sorted(confused)} cannot be distinguished from others")
        self.pieces: list[int] = sorted({piece for spelled in spellings for piece in spelled})  # by column
        column = {piece: index for index, piece in enumerate(self.pieces)}
        self.columns: list[tuple[int, ...]] = [tuple(column[piece] for piece in spelled) for spelled in spellings]
        self.longest = max(len(spelled) for spelled in self.columns)
        self.children: list[dict[int, int]] = [{}]  # for every node: the node that each column leads to
        self.tokens: list[int] = [-1]  # for every node: the token whose spelling ends there, or -1
        for token, spelled in enumerate(self.columns):
            node = 0
            for position in spelled:
                if position not in self.children[node]:
                    self.children[node][position] = len(self.children)
                    self.children.append({})
                    self.tokens.append(-1)
                node = self.children[node][position]
            self.tokens[node] = token

    def spell(self, tokens: Sequence[int]) -> list[int]:
        """The columns that write tokens."""
        return [column for token in tokens for column in self.columns[token]]

    def read(self, columns: Sequence[int]) -> list[int]:
        """The tokens that columns write; an incomplete token at the end is dropped."""
        tokens, node = [], 0
        for column in columns:
            if column not in self.children[node]:
                tokens.append(self.tokens[node])
                node = 0
            node = self.children[node][column]
            if not self.children[node]:
                tokens.append(self.tokens[node])
                node = 0
        return [*tokens, self.tokens[node]] if self.tokens[node] >= 0 else tokens

    @cached_property
    def child(self) -> Tensor:
        """(nodes, columns): the next node, −1 if there is none."""
        table = torch.full((len(self.children), len(self.pieces)), -1)
        for node, following in enumerate(self.children):
            for column, below in following.items():
                table[node, column] = below
        return table

    @cached_property
    def below(self) -> Tensor:
        """(nodes, columns, tokens): whether a token can still be spelled after a column."""
        table = torch.zeros(len(self.children), len(self.pieces), len(self.columns), dtype=torch.bool)
        for token, spelled in enumerate(self.columns):
            node = 0
            for column in spelled:
                table[node, column, token] = True
                node = self.children[node][column]
        return table


@dataclass(frozen=True)
class SpelledState:
    """One row per unfinished expression: the grammar's state after its complete tokens, and the node of the next."""

    syntax: grammar.GrammarState
    node: Tensor  # (rows)

    @property
    def finished(self) -> Tensor:
        return self.syntax.finished

    def reordered(self, rows: Tensor) -> "SpelledState":
        """The rows that a beam keeps."""
        return SpelledState(self.syntax.reordered(rows), self.node[rows])


class SpelledRules:
    """The rules of a grammar for a decoder that writes pieces; the same interface as `grammar.Rules`."""

    def __init__(self, rules: grammar.Rules, spelling: Spelling, device: torch.device) -> None:
        if len(spelling.columns[rules.end]) != 1:
            raise ValueError("the end must be one piece")
        self.rules, self.spelling = rules, spelling
        self.constrained = rules.constrained
        self.end = spelling.columns[rules.end][0]
        self.most_steps = rules.most_tokens * spelling.longest
        self.child, self.below = spelling.child.to(device), spelling.below.to(device)
        self.token = torch.tensor(spelling.tokens, device=device)  # (nodes)
        self.is_leaf = torch.tensor([not following for following in spelling.children], device=device)

    def start(self, quantities: Tensor, columns: int) -> SpelledState:
        """The state before the first piece."""
        return SpelledState(
            self.rules.start(quantities, self.rules.alphabet.size), torch.zeros_like(quantities, dtype=torch.long)
        )

    def allowed(self, state: SpelledState, columns: int) -> Tensor:
        """True where a piece may come next: (rows, columns)."""
        tokens = self.rules.allowed(state.syntax, self.rules.alphabet.size)  # (rows, tokens)
        within = (self.below[state.node] & tokens.unsqueeze(1)).any(-1)
        ending = self.token[state.node]  # the token that is complete if a new one begins
        if not bool((ending >= 0).any()):
            return within
        may_end = tokens.gather(1, ending.clamp(min=0).unsqueeze(1)) & (ending >= 0).unsqueeze(1)  # (rows, 1)
        ended = self._complete(state.syntax, ending, ending >= 0)
        new = (self.below[0] & self.rules.allowed(ended, self.rules.alphabet.size).unsqueeze(1)).any(-1)
        return within | (may_end & new)

    def advance(self, state: SpelledState, tokens: Tensor) -> SpelledState:
        """The state after one more piece per row; finished rows stay as they are."""
        goes_on = self.child[state.node, tokens]  # (rows), −1 where the piece begins a new token
        begins = (goes_on < 0) & ~state.finished
        syntax = self._complete(state.syntax, self.token[state.node], begins)
        node = torch.where(goes_on < 0, self.child[0, tokens].clamp(min=0), goes_on)
        node = torch.where(state.finished, 0, node)
        complete = self.is_leaf[node] & ~state.finished
        return SpelledState(
            self._complete(syntax, self.token[node], complete), torch.where(self.is_leaf[node], 0, node)
        )

    def _complete(self, syntax: grammar.GrammarState, tokens: Tensor, rows: Tensor) -> grammar.GrammarState:
        """The grammar's state after a token in those rows; the others do not change."""
        others = replace(syntax, finished=syntax.finished | ~rows)
        after = self.rules.advance(others, tokens.clamp(min=0))
        return replace(
            after,
            length=torch.where(rows, after.length, syntax.length),
            finished=torch.where(rows, after.finished, syntax.finished),
        )

    def tokens(self, columns: Sequence[int]) -> tuple[int, ...]:
        """The tokens that a decoding's columns write, without the end."""
        return self.rules.tokens(self.spelling.read(columns))

"""Which token may come next, for whole batches of unfinished expressions at once.

The rules of a notation keep two numbers per row: how many operands or brackets are pending, and whether an operand was
just completed. From these follows what the grammar forbids: wrong arity, unbalanced brackets, ending too early, and a
token after which there is no room left to close everything. With `cover`, every quantity must be used exactly once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from comdiv.solvers.alphabet import CLOSE, END, OPEN, Alphabet, Notation


class DecodingRules(Protocol):
    """What a search needs. A decoder writes columns: tokens, or the pieces that tokens are spelled with.

    Each kind of rules has its own kind of state, with `finished` (rows) and `reordered`.
    """

    @property
    def constrained(self) -> bool: ...

    @property
    def end(self) -> int:
        """The column that ends an expression."""

    @property
    def most_steps(self) -> int:
        """The most columns of a decoding."""

    def start(self, quantities: Tensor, columns: int) -> Any: ...

    def allowed(self, state: Any, columns: int) -> Tensor: ...

    def advance(self, state: Any, tokens: Tensor) -> Any: ...

    def tokens(self, columns: Sequence[int]) -> tuple[int, ...]:
        """The tokens that columns write, without the end."""


@dataclass(frozen=True)
class DecodingState:
    """What is known of unfinished expressions; every field has one row per expression."""

    def reordered(self, rows: Tensor) -> Self:
        """The rows that a beam keeps."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True)
class GrammarState(DecodingState):
    """Unfinished expressions, one per row.

    `pending`: operands still needed (prefix), operands on the stack (postfix), open brackets (infix).
    `after_operand`: infix only. `used`: which quantities have occurred. `finished`: the expression has ended.
    """

    pending: Tensor  # (rows)
    after_operand: Tensor  # (rows), bool
    used: Tensor  # (rows, quantities), bool
    quantities: Tensor  # (rows): how many the problem has
    length: Tensor  # (rows): tokens so far
    finished: Tensor  # (rows), bool


@dataclass(frozen=True)
class Rules:
    """What is fixed for a decoding: the notation, the range of each kind of token, and what is enforced."""

    notation: Notation
    alphabet: Alphabet
    most_tokens: int
    constrained: bool = True
    cover: bool = False

    @property
    def end(self) -> int:
        return self.alphabet.index[END]

    @property
    def most_steps(self) -> int:
        return self.most_tokens

    def tokens(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(columns[: columns.index(self.end)]) if self.end in columns else tuple(columns)

    def start(self, quantities: Tensor, columns: int) -> GrammarState:
        """The state before the first token. `columns` is the number of tokens that the decoder scores, with copies."""
        rows, device = len(quantities), quantities.device
        copies = columns - self.alphabet.first_copy
        return GrammarState(
            pending=torch.full((rows,), 1 if self.notation == "prefix" else 0, device=device),
            after_operand=torch.zeros(rows, dtype=torch.bool, device=device),
            used=torch.zeros(rows, max(1, copies), dtype=torch.bool, device=device),
            quantities=quantities.clamp(max=copies),
            length=torch.zeros(rows, dtype=torch.long, device=device),
            finished=torch.zeros(rows, dtype=torch.bool, device=device),
        )

    def allowed(self, state: GrammarState, columns: int) -> Tensor:
        """True where a token may come next: (rows, columns)."""
        alphabet, rows, device = self.alphabet, len(state.pending), state.pending.device
        copies = columns - alphabet.first_copy
        has_quantity = torch.arange(copies, device=device) < state.quantities.unsqueeze(1)  # (rows, copies)
        mask = torch.zeros(rows, columns, dtype=torch.bool, device=device)
        if not self.constrained:
            mask[:, : alphabet.first_copy] = True
            mask[:, alphabet.first_copy :] = has_quantity
            if self.notation == "prefix":  # a tree decoder needs no end token and no brackets
                mask[:, [self.end, alphabet.index[OPEN], alphabet.index[CLOSE]]] = False
            return mask
        room = self.most_tokens - state.length - 1  # tokens that may follow this one
        unused = has_quantity & ~state.used[:, :copies] if self.cover else torch.zeros_like(has_quantity)
        quantity, constant, operator, opening, closing, ending = self._permissions(state, room, unused.sum(1))
        mask[:, alphabet.first_operator : alphabet.last_operator + 1] = operator.unsqueeze(1)
        mask[:, alphabet.index[CLOSE] + 1 : alphabet.first_copy] = constant.unsqueeze(1)
        mask[:, alphabet.first_copy :] = quantity.unsqueeze(1) & (unused if self.cover else has_quantity)
        mask[:, alphabet.index[OPEN]] = opening
        mask[:, alphabet.index[CLOSE]] = closing
        mask[:, self.end] = ending
        return mask

    def _permissions(self, state: GrammarState, room: Tensor, unused: Tensor) -> tuple[Tensor, ...]:
        """For each row, whether a quantity, constant, operator, opening or closing bracket, or the end may come.

        A token is permitted if what it leaves to be written fits into `room` (rows); `unused` quantities (rows) must
        still come, each but the one for a place that is open anyway with an operator of its own.
        """
        pending, never, after = state.pending, torch.zeros_like(state.finished), state.after_operand
        fewer = (unused - 1).clamp(min=0)  # unused after a quantity
        if self.notation == "prefix":

            def fits(places: Tensor, unused: Tensor) -> Tensor:
                return (torch.maximum(places, 2 * unused - places) <= room) & ((places > 0) | (unused == 0))

            open_ = pending >= 1
            quantity, constant = open_ & fits(pending - 1, fewer), open_ & fits(pending - 1, unused)
            return quantity, constant, open_ & fits(pending + 1, unused), never, never, never
        # Operands so far are followed by their operators (postfix) or closing brackets (infix), and by the end.
        quantity, constant = pending + 1 + 2 * fewer <= room, pending + 1 + 2 * unused <= room
        if self.notation == "postfix":
            return quantity, constant, pending >= 2, never, never, (pending == 1) & (unused == 0)
        beyond = pending + (2 * unused).clamp(min=2)  # after an infix operator: an operand, and everything after it
        opening, operator = ~after & (beyond + 1 <= room), after & (beyond <= room)
        ending = after & (pending == 0) & (unused == 0)
        return ~after & quantity, ~after & constant, operator, opening, after & (pending >= 1), ending

    def advance(self, state: GrammarState, tokens: Tensor) -> GrammarState:
        """The state after one more token per row; finished rows do not change."""
        alphabet = self.alphabet
        is_operator = (tokens >= alphabet.first_operator) & (tokens <= alphabet.last_operator)
        opens, closes = tokens == alphabet.index[OPEN], tokens == alphabet.index[CLOSE]
        ends = tokens == self.end
        is_operand = ~(is_operator | opens | closes | ends)
        one = torch.ones_like(state.pending)
        if self.notation == "prefix":
            change = torch.where(is_operator, one, -one)
        elif self.notation == "postfix":
            change = torch.where(is_operator, -one, torch.where(is_operand, one, 0 * one))
        else:
            change = torch.where(opens, one, torch.where(closes, -one, 0 * one))
        pending = torch.where(state.finished, state.pending, state.pending + change)
        copy = tokens - alphabet.first_copy
        used = state.used.clone()
        copied = (copy >= 0) & ~state.finished
        used[copied, copy[copied].clamp(max=used.shape[1] - 1)] = True
        finished = state.finished | (pending == 0 if self.notation == "prefix" else ends)
        return replace(
            state,
            pending=pending,
            after_operand=torch.where(state.finished, state.after_operand, is_operand | closes),
            used=used,
            length=state.length + 1,
            finished=finished,
        )

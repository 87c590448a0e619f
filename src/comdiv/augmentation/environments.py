"""Environments: clauses with holes, by rolling hashes and a sort-join; every match is confirmed on the tokens (§IV).

GECA keeps a dictionary from each environment to its fragments. Here an environment is a 64-bit hash, computed for all
clauses of one length at once from the hashes of their prefixes; sorting brings equal hashes together. A hash collision
costs a little time, but never yields a wrong pair.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from comdiv.engine import Engine

LONGEST_FRAGMENT = 4  # tokens of one span
Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
TokenRows = npt.NDArray[np.int32]

_BASE = 0x9E3779B97F4A7C15  # odd, so that its powers never vanish modulo 2**64
_HOLE = -1  # the token that stands for a removed span
_PADDING = -2
_CHUNK = 1 << 17  # rows confirmed at a time; bounds the memory


@cache
def hole_positions(length: int, holes: int) -> Integers:
    """All ways to remove one span, or two that do not touch, from a clause: rows of one or two (start, end) pairs.

    At least one token stays: without any, every fragment would be an alternative to every other.
    """
    spans = [
        (start, end)
        for start in range(length)
        for end in range(start + 1, min(start + LONGEST_FRAGMENT, length) + 1)
        if end - start < length
    ]
    if holes == 1:
        return np.array(spans, dtype=np.int64).reshape(-1, 2)
    pairs = [(*first, *second) for first in spans for second in spans if second[0] > first[1]]
    return np.array(pairs, dtype=np.int64).reshape(-1, 4)


def token_values(count: int) -> Hashes:
    """A random-looking odd number for every token id (splitmix64), the same on every machine."""
    mixed = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_BASE)) & np.uint64(2**64 - 1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


def environment_hashes(values: Hashes, positions: Integers, powers: Hashes, hole: np.uint64) -> Hashes:
    """The hashes of all environments of clauses of one length.

    `values` are their tokens' numbers (clauses, length); `positions` the holes; the result is (clauses, holes' rows).
    """
    count, length = values.shape
    prefixes = np.zeros((count, length + 1), dtype=np.uint64)
    for place in range(length):
        prefixes[:, place + 1] = prefixes[:, place] * powers[1] + values[:, place]
    result = prefixes[:, positions[:, 0]]
    edges = [*positions[:, 1:].T, np.full(len(positions), length)]  # end, next start, …, the clause's end
    for end, following in zip(edges[::2], edges[1::2], strict=True):
        between = prefixes[:, following] - prefixes[:, end] * powers[following - end]
        result = (result * powers[1] + hole) * powers[following - end] + between
    return result


class TokenNumbers(dict[str, int]):
    """The number of every token; a new token gets the next number."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        return number


@dataclass(slots=True)
class ClauseTable:
    """Distinct masked clauses as rows of token ids, padded to equal length; grows from round to round."""

    vocabulary: TokenNumbers = field(default_factory=TokenNumbers)
    rows: dict[tuple[int, ...], int] = field(default_factory=dict)
    by_row: list[tuple[int, ...]] = field(default_factory=list)
    _padded: TokenRows | None = None

    def add(self, masked: Iterable[str]) -> int:
        """The row of a clause; a new clause gets a new row."""
        tokens = tuple(map(self.vocabulary.__getitem__, masked))
        row = self.rows.get(tokens)
        if row is None:
            row = self.rows[tokens] = len(self.by_row)
            self.by_row.append(tokens)
            self._padded = None
        return row

    def words(self) -> list[str]:
        """The tokens by their ids."""
        return list(self.vocabulary)

    def padded(self) -> TokenRows:
        """All clauses, (clauses, greatest length)."""
        if self._padded is None:
            width = max(map(len, self.by_row), default=0)
            self._padded = np.full((len(self.by_row), width), _PADDING, dtype=np.int32)
            for row, tokens in enumerate(self.by_row):
                self._padded[row, : len(tokens)] = tokens
        return self._padded


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Occurrences of environments: hash, clause row, holes (one or two start, end pairs), as arrays of equal length."""

    hashes: Hashes
    clauses: Integers
    holes: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.hashes)

    def take(self, chosen: npt.NDArray[np.bool_] | Integers) -> "Occurrences":
        """The occurrences selected by a mask or by indices."""
        return Occurrences(self.hashes[chosen], self.clauses[chosen], self.holes[chosen])


def join_occurrences(parts: Sequence[Occurrences], holes: int) -> Occurrences:
    """Several sets of occurrences as one."""
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return Occurrences(empty.astype(np.uint64), empty, np.zeros((0, 2 * holes), dtype=np.int16))
    return Occurrences(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.clauses for part in parts]),
        np.concatenate([part.holes for part in parts]),
    )


def find_occurrences(table: ClauseTable, rows: Iterable[int], holes: int, *, without: str | None = None) -> Occurrences:
    """The environments of some clauses, except those whose fragment contains the token `without`."""
    by_length: dict[int, list[int]] = {}
    for row in rows:
        by_length.setdefault(len(table.by_row[row]), []).append(row)
    values = token_values(len(table.vocabulary) + 1)
    hole, values = values[0], values[1:]
    longest = max(by_length, default=0)
    powers = np.full(longest + 2, _BASE, dtype=np.uint64)
    powers[0] = 1
    powers = np.multiply.accumulate(powers)
    banned = table.vocabulary.get(without, -1) if without is not None else -1
    parts = []
    for length, members in sorted(by_length.items()):
        positions = hole_positions(length, holes)
        if not len(positions):
            continue
        narrow = positions.astype(np.int16)
        step = max(1, (1 << 22) // len(positions))  # bounds the memory of one block
        for first in range(0, len(members), step):
            clauses = np.array(members[first : first + step], dtype=np.int64)
            tokens = np.array([table.by_row[row] for row in clauses], dtype=np.int64)
            hashes = environment_hashes(values[tokens], positions, powers, hole).ravel()
            occurrences = Occurrences(hashes, np.repeat(clauses, len(positions)), np.tile(narrow, (len(clauses), 1)))
            if banned >= 0:
                occurrences = occurrences.take(~_holes_with(tokens == banned, positions).ravel())
            parts.append(occurrences)
    return join_occurrences(parts, holes)


class EnvironmentIndex:
    """The environments of a growing number of clauses; each clause is hashed once, however many rounds ask for it."""

    def __init__(self, holes: int, *, without: str | None = None) -> None:
        self.table = ClauseTable()
        self._holes, self._without = holes, without
        self._occurrences = join_occurrences([], holes)
        self._rows = 0  # of the table that are already hashed

    def add(self, masked: Iterable[str]) -> int:
        """The row of a clause; a known clause keeps its row."""
        return self.table.add(masked)

    def occurrences(self) -> Occurrences:
        """The environments of all clauses so far."""
        new = range(self._rows, len(self.table.by_row))
        if new:
            more = find_occurrences(self.table, new, self._holes, without=self._without)
            self._occurrences = join_occurrences([self._occurrences, more], self._holes) if self._rows else more
            self._rows = new.stop
        return self._occurrences


def _holes_with(marked: npt.NDArray[np.bool_], positions: Integers) -> npt.NDArray[np.bool_]:
    """Whether a hole covers a marked token: (clauses, holes' rows)."""
    counts = np.zeros((len(marked), marked.shape[1] + 1), dtype=np.int64)
    np.cumsum(marked, axis=1, out=counts[:, 1:])
    covered = np.zeros((len(marked), len(positions)), dtype=np.bool_)
    for start, end in zip(positions[:, ::2].T, positions[:, 1::2].T, strict=True):
        covered |= counts[:, end] > counts[:, start]
    return covered


@dataclass(frozen=True, slots=True)
class Groups:
    """Occurrences ordered by environment; `starts` has the beginning of each environment, and the end.

    Environments that occur once are left out.
    """

    members: Occurrences
    starts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1


def group(occurrences: Occurrences, table: ClauseTable) -> Groups:
    """Bring equal environments together: by hash, then confirmed token by token."""
    occurrences = occurrences.take(_may_repeat(occurrences.hashes))
    order = np.lexsort((occurrences.clauses, occurrences.hashes))
    occurrences = occurrences.take(order)
    same = occurrences.hashes[1:] == occurrences.hashes[:-1]
    repeated = np.concatenate([same, [False]]) | np.concatenate([[False], same]) if len(occurrences) else same
    occurrences = occurrences.take(repeated)
    if not len(occurrences):
        return Groups(occurrences, np.zeros(1, dtype=np.int64))
    fresh = np.ones(len(occurrences), dtype=np.bool_)
    fresh[1:] = occurrences.hashes[1:] != occurrences.hashes[:-1]
    differs = _differ_from_previous(occurrences, table) & ~fresh
    if differs.any():
        occurrences, fresh = _separate(occurrences, table, fresh, differs)
    starts = np.append(np.flatnonzero(fresh), len(occurrences))
    sizes = np.diff(starts)
    if (sizes == 1).any():  # a collision left a single occurrence
        keep = np.repeat(sizes > 1, sizes)
        occurrences = occurrences.take(keep)
        starts = np.concatenate([[0], np.cumsum(sizes[sizes > 1])])
    return Groups(occurrences, starts)


def _may_repeat(hashes: Hashes) -> npt.NDArray[np.bool_]:
    """Which hashes share their first bits with another one: the rest occur once, and need no sorting."""
    bits = len(hashes).bit_length() + 1
    buckets = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    places = np.arange(len(hashes), dtype=np.int32)
    last = np.zeros(1 << bits, dtype=np.int32)
    last[buckets] = places
    shared = np.zeros(1 << bits, dtype=np.bool_)
    shared[buckets[last[buckets] != places]] = True
    return shared[buckets]


def group_on(engine: Engine, occurrences: Occurrences, table: ClauseTable) -> Groups:
    """`group`, with the environments partitioned by hash: the engine sorts and confirms each partition.

    The result is ordered by hash, so that the number of partitions does not matter.
    """
    if engine.partitions == 1:
        return group(occurrences, table)
    rest = occurrences.hashes % np.uint64(engine.partitions)
    parts = [occurrences.take(rest == number) for number in range(engine.partitions)]
    groups = list(engine.map(_group_part, table, parts))
    members = join_occurrences([part.members for part in groups], occurrences.holes.shape[1] // 2)
    sizes = np.concatenate([np.diff(part.starts) for part in groups])
    order = np.argsort(members.hashes, kind="stable")
    firsts = np.cumsum(sizes) - sizes
    sizes = sizes[np.argsort(members.hashes[firsts], kind="stable")] if len(sizes) else sizes
    return Groups(members.take(order), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _group_part(table: ClauseTable, part: Occurrences) -> Groups:
    return group(part, table)


def environment_rows(occurrences: Occurrences, table: ClauseTable) -> TokenRows:
    """The environments themselves, one per row: token ids, holes, padding."""
    padded = table.padded()
    width = padded.shape[1]
    places = np.arange(width, dtype=np.int16)[None, :]
    holes = occurrences.holes
    shifted = np.broadcast_to(places, (len(occurrences), width)).copy()
    is_hole = np.zeros(shifted.shape, dtype=np.bool_)
    for start, end in zip(holes[:, ::2].T, holes[:, 1::2].T, strict=True):
        is_hole |= shifted == start[:, None]
        shifted += (shifted > start[:, None]) * (end - start - 1)[:, None]
    inside = shifted < width
    tokens = padded[occurrences.clauses[:, None], np.where(inside, shifted, 0)]
    tokens[~inside] = _PADDING
    tokens[is_hole] = _HOLE
    return tokens


def _differ_from_previous(occurrences: Occurrences, table: ClauseTable) -> npt.NDArray[np.bool_]:
    differs = np.zeros(len(occurrences), dtype=np.bool_)
    for first in range(0, len(occurrences), _CHUNK):
        begin = max(0, first - 1)  # the first row is compared with the one before the chunk
        part = slice(begin, first + _CHUNK)
        rows = environment_rows(occurrences.take(np.arange(*part.indices(len(occurrences)))), table)
        differs[begin + 1 : begin + len(rows)] = (rows[1:] != rows[:-1]).any(axis=1)
    return differs


def _separate(
    occurrences: Occurrences, table: ClauseTable, fresh: npt.NDArray[np.bool_], differs: npt.NDArray[np.bool_]
) -> tuple[Occurrences, npt.NDArray[np.bool_]]:
    """Sort every group with a collision by its environments; the others stay as they are."""
    order = np.arange(len(occurrences))
    fresh = fresh.copy()
    starts = np.append(np.flatnonzero(fresh), len(occurrences))
    for which in np.unique(np.searchsorted(starts, np.flatnonzero(differs), side="right") - 1):
        part = np.arange(starts[which], starts[which + 1])
        rows = environment_rows(occurrences.take(part), table)
        inner = np.lexsort(rows.T[::-1])
        order[part] = part[inner]
        fresh[part[1:]] = (rows[inner][1:] != rows[inner][:-1]).any(axis=1)
    return occurrences.take(order), fresh

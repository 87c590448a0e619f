"""Alternative fragments: what stands in the same holes (§IV)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from comdiv.augmentation.environments import (
    LONGEST_FRAGMENT,
    ClauseTable,
    EnvironmentIndex,
    Groups,
    Integers,
    Occurrences,
    environment_rows,
    group_on,
)
from comdiv.engine import Engine


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Which fragments occur in which shared environments.

    A member is an occurrence: `fragment_of` its fragment, `group_of` its environment. `first_member` gives, for each
    clause's row and the next, where its members begin in `members_of_rows`.
    """

    groups: Groups
    fragments: Integers  # (fragments, 4): token ids, shorter ones padded with -1
    fragment_of: Integers
    group_of: Integers
    members_of_rows: Integers
    first_member: Integers
    environments_of: tuple[Integers, Integers]  # of fragment f: groups[starts[f] : starts[f + 1]], ascending

    @classmethod
    def of(cls, index: EnvironmentIndex, engine: Engine) -> "Alternatives":
        """Those of one-hole environments that occur more than once."""
        table = index.table
        groups = group_on(engine, index.occurrences(), table)
        members = groups.members
        fragments, fragment_of = _number_rows(_fragment_rows(members, table))
        group_of = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
        order = np.argsort(members.clauses, kind="stable")
        first = np.searchsorted(members.clauses[order], np.arange(len(table.by_row) + 1))
        pairs = np.unique(np.stack([fragment_of, group_of], axis=1), axis=0) if len(members) else np.zeros((0, 2), int)
        starts = np.searchsorted(pairs[:, 0], np.arange(len(fragments) + 1))
        return cls(groups, fragments, fragment_of, group_of, order, first, (pairs[:, 1], starts))

    def members_in(self, row: int) -> Integers:
        """The members whose clause is this row."""
        return self.members_of_rows[self.first_member[row] : self.first_member[row + 1]]

    def shared(self, first: int, second: int) -> int:
        """In how many environments both fragments occur."""
        groups, starts = self.environments_of
        mine = groups[starts[first] : starts[first + 1]]
        others = groups[starts[second] : starts[second + 1]]
        return len(np.intersect1d(mine, others, assume_unique=True))

    def words(self, fragment: int, vocabulary: Sequence[str]) -> tuple[str, ...]:
        """A fragment's tokens."""
        return tuple([vocabulary[token] for token in self.fragments[fragment].tolist() if token >= 0])


def environment_counts(groups: Groups, table: ClauseTable, counted: Callable[[str], bool]) -> Integers:
    """For each environment, how many of its tokens count."""
    words = np.array([counted(word) for word in table.vocabulary], dtype=np.int64)
    rows = environment_rows(groups.members.take(groups.starts[:-1]), table)
    totals: Integers = np.where(rows >= 0, words[np.maximum(rows, 0)] if len(words) else 0, 0).sum(axis=1)
    return totals


def _fragment_rows(members: Occurrences, table: ClauseTable) -> Integers:
    """The tokens in the hole, (members, 4)."""
    padded = table.padded()
    start, end = members.holes[:, 0].astype(np.int64), members.holes[:, 1].astype(np.int64)
    places = start[:, None] + np.arange(LONGEST_FRAGMENT)
    inside = places < end[:, None]
    return np.where(inside, padded[members.clauses[:, None], np.where(inside, places, 0)].astype(np.int64), -1)


def _number_rows(rows: Integers) -> tuple[Integers, npt.NDArray[np.int64]]:
    """The distinct rows in order, and the number of each row among them; exact, by two keys of 64 bits."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    shifted = rows + 1
    high, low = (shifted[:, 0] << 32) | shifted[:, 1], (shifted[:, 2] << 32) | shifted[:, 3]
    order = np.lexsort((low, high))
    fresh = np.ones(len(rows), dtype=np.bool_)
    fresh[1:] = (np.diff(high[order]) != 0) | (np.diff(low[order]) != 0)
    number = np.empty(len(rows), dtype=np.int64)
    number[order] = np.cumsum(fresh) - 1
    return rows[order[fresh]], number

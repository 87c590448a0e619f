"""Scorers for `--rank coherence`: which new problems read like the training set's own. No solver is involved.

The built-in scorer learns to tell real narratives from spoiled ones, which have a clause or the question of another
problem, or another thing in one place. To add a scorer, subclass `CoherenceScorer` and name it in an entry point of
the group `comdiv.scorers`.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from comdiv.augmentation.environments import Integers
from comdiv.language.base import NUMBER_MASK
from comdiv.problem import Problem
from comdiv.reading import Reading, read

STOP_WORDS = 30  # so many of the training set's most frequent words are ignored: they occur with everything
MOST_NARRATIVES = 3000  # for learning the weights; pairs of words are counted in all problems
AT_ONCE = 256  # narratives whose pairs are looked up together


class CoherenceScorer(ABC):
    """Scores how coherent texts are. It learns from the original training problems alone."""

    @abstractmethod
    def fit(self, problems: Sequence[Problem], seed: int) -> None:
        """Learn from the training set."""

    @abstractmethod
    def score(self, problems: Sequence[Problem]) -> list[float]:
        """A score for each new problem; higher is more coherent."""


class Narrative(NamedTuple):
    """The words of each clause, the question last, and the training problems that they come from."""

    clauses: tuple[tuple[str, ...], ...]
    sources: tuple[str, ...]


class PairsOfWords(NamedTuple):
    """The pairs of words of different clauses of several narratives, seen from every clause, in one table.

    A pair has two rows, one for each of its clauses, and more if its words recur.
    """

    keys: Integers
    narrative: Integers  # the place of each row's narrative
    clause: Integers  # the number of its clause among those of all the narratives


class PairScorer(CoherenceScorer):
    """Logistic regression on the share of a text's word pairs across clauses that occur in other training problems."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._own: dict[str, Integers] = {}  # the pairs of each training problem
        self._pairs, self._counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._model = LogisticRegression()

    def fit(self, problems: Sequence[Problem], seed: int) -> None:
        """Count pairs in all problems; learn the weights from some of them and their spoiled copies."""
        narratives = [Narrative(words_of(read(problem)), (problem.id,)) for problem in problems]
        counts = Counter(word for one in narratives for clause in one.clauses for word in clause)
        stop = {word for word, _ in counts.most_common(STOP_WORDS)}
        self._words = {word: number for number, word in enumerate(sorted(counts.keys() - stop))}
        self._own = {name: keys for batch in batched(narratives) for name, keys in self._pairs_of_each(batch)}
        self._pairs, self._counts = np.unique(_joined(list(self._own.values())), return_counts=True)
        source = random.Random(seed)
        real = source.sample(narratives, min(MOST_NARRATIVES, len(narratives)))
        spoiled = [copy for one in real for copy in spoil(one, narratives, source)]
        if spoiled:
            rows = np.array(self._features([*real, *spoiled]))
            self._model.fit(rows, [1] * len(real) + [0] * len(spoiled))

    def score(self, problems: Sequence[Problem]) -> list[float]:
        """The log-probability that a text is real. Its parents do not count as evidence."""
        rows = self._features([Narrative(words_of(read(one)), one.provenance.parents) for one in problems])
        if not rows or not hasattr(self._model, "classes_"):
            return [0.0] * len(rows)
        scores: list[float] = self._model.predict_log_proba(np.array(rows))[:, 1].tolist()
        return scores

    def _features(self, narratives: Sequence[Narrative]) -> list[list[float]]:
        """How well clauses go with each other, at worst and on average; also the question, and what it repeats."""
        return [row for batch in batched(narratives) for row in self._features_of_batch(batch)]

    def _features_of_batch(self, narratives: Sequence[Narrative]) -> Iterator[list[float]]:
        known = [self._known(one) for one in narratives]
        shares = iter(self._shares(narratives, known))
        for narrative, sets in zip(narratives, known, strict=True):
            mine = [next(shares) for _ in sets]
            clauses = Counter(word for words in sets for word in words)
            story: set[int] = set().union(*sets[:-1])
            question = [self._words[word] for word in narrative.clauses[-1] if word in self._words]
            repeated = sum(word in story for word in question) / len(question) if question else 1.0
            linked = sum(any(clauses[word] > 1 for word in words) for words in sets) / len(sets)
            yield [float(np.mean(mine)), min(mine), mine[-1], repeated, linked]

    def _known(self, narrative: Narrative) -> list[set[int]]:
        """The words of each clause that are compared, by their numbers."""
        return [{self._words[word] for word in clause if word in self._words} for clause in narrative.clauses]

    def _shares(self, narratives: Sequence[Narrative], known: Sequence[Sequence[set[int]]]) -> list[float]:
        """The share of each clause's pairs that occur in problems other than the narrative's sources."""
        pairs = self._across(known)
        own = [
            place * self._span + self._own[name]
            for place, one in enumerate(narratives) for name in one.sources if name in self._own
        ]  # fmt: skip
        seen = times(pairs.keys, self._pairs, self._counts)
        seen -= times(pairs.narrative * self._span + pairs.keys, *np.unique(_joined(own), return_counts=True))
        clauses = sum(map(len, known))
        of_clause = np.bincount(pairs.clause, minlength=clauses)
        shares = np.bincount(pairs.clause[seen > 0], minlength=clauses) / np.maximum(of_clause, 1)
        # Where there is nothing to compare, nothing is strange.
        result: list[float] = np.where((of_clause == 0) | (not len(self._pairs)), 1.0, shares).tolist()
        return result

    @property
    def _span(self) -> int:
        """Keys of pairs are below it."""
        return len(self._words) ** 2

    def _pairs_of_each(self, narratives: Sequence[Narrative]) -> Iterator[tuple[str, Integers]]:
        """The pairs of each training problem, each once."""
        pairs = self._across([self._known(one) for one in narratives])
        keys = np.unique(pairs.narrative * self._span + pairs.keys)
        ends = np.searchsorted(keys, np.arange(1, len(narratives)) * self._span)
        for place, (one, mine) in enumerate(zip(narratives, np.split(keys, ends), strict=True)):
            yield one.sources[0], mine - place * self._span

    def _across(self, known: Sequence[Sequence[set[int]]]) -> PairsOfWords:
        """Every word of every clause with each other word of the narrative's other clauses."""
        sizes = [[len(words) for words in sets] for sets in known]
        words = np.array([word for sets in known for clause in sets for word in sorted(clause)], dtype=np.int64)
        clause = np.repeat(np.arange(sum(map(len, sizes))), [size for those in sizes for size in those])
        narrative = np.repeat(np.arange(len(known)), [sum(those) for those in sizes])
        # Each word of a narrative once, with the first clause that has it, and whether others have it.
        others, first, counts = np.unique(
            narrative * (len(self._words) + 1) + words, return_index=True, return_counts=True
        )
        many = np.bincount(narrative[first], minlength=len(known))  # different words of each narrative
        begin = np.cumsum(many) - many
        width = many[narrative]
        row = np.repeat(np.arange(len(words)), width)
        column = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width) + begin[narrative[row]]
        one, two = words[row], others[column] % (len(self._words) + 1)
        elsewhere = (counts[column] > 1) | (clause[first[column]] != clause[row])
        kept = elsewhere & (one != two)
        one, two, row = one[kept], two[kept], row[kept]
        return PairsOfWords(np.minimum(one, two) * len(self._words) + np.maximum(one, two), narrative[row], clause[row])


def batched(narratives: Sequence[Narrative]) -> Iterator[Sequence[Narrative]]:
    """So many narratives at once that a table of their pairs stays small."""
    for first in range(0, len(narratives), AT_ONCE):
        yield narratives[first : first + AT_ONCE]


def times(keys: Integers, there: Integers, counts: Integers) -> Integers:
    """How often each key is there; `there` is sorted."""
    if not len(there):
        return np.zeros(len(keys), dtype=np.int64)
    places = np.minimum(np.searchsorted(there, keys), len(there) - 1)
    result: Integers = np.where(there[places] == keys, counts[places], 0)
    return result


def _joined(arrays: Sequence[Integers]) -> Integers:
    result: Integers = np.concatenate([np.zeros(0, dtype=np.int64), *arrays])
    return result


def words_of(reading: Reading) -> tuple[tuple[str, ...], ...]:
    """The words of each clause that are compared: no numbers, punctuation or names."""
    return tuple(
        tuple(
            word
            for word, token in zip(clause.masked, clause.tokens, strict=True)
            if word != NUMBER_MASK and word[:1].isalpha() and not token.text[:1].isupper()
        )
        for clause in reading.clauses
    )


def spoil(narrative: Narrative, others: Sequence[Narrative], source: random.Random) -> Iterator[Narrative]:
    """Copies with another problem's clause, with another problem's question, and with another thing in one place."""
    clauses, [mine] = narrative.clauses, narrative.sources
    other = source.choice(others)
    if other.sources == narrative.sources or len(clauses) < 2:
        return
    sources = (mine, *other.sources)
    if len(clauses) > 2:
        place = source.randrange(len(clauses) - 1)
        yield Narrative((*clauses[:place], source.choice(other.clauses), *clauses[place + 1 :]), sources)
    yield Narrative((*clauses[:-1], other.clauses[-1]), sources)
    counts = Counter(word for clause in clauses for word in set(clause))
    repeated = sorted(word for word, count in counts.items() if count > 1)
    strange = sorted({word for clause in other.clauses for word in clause} - counts.keys())
    if repeated and strange:
        old, new = source.choice(repeated), source.choice(strange)
        place = source.choice([number for number, clause in enumerate(clauses) if old in clause])
        changed = tuple(new if word == old else word for word in clauses[place])
        yield Narrative((*clauses[:place], changed, *clauses[place + 1 :]), sources)

"""Scorers for `--rank coherence`: which new problems read like the training set's own. No solver is involved.

The built-in scorer learns to tell real narratives from spoiled ones, which have a clause or the question of another
problem, or another thing in one place. To add a scorer, subclass `CoherenceScorer` and name it in an entry point of
the group `comdiv.scorers`.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from comdiv.augmentation.environments import Integers
from comdiv.language.base import NUMBER_MASK
from comdiv.problem import Problem
from comdiv.reading import Reading, read

STOP_WORDS = 30  # so many of the training set's most frequent words are ignored: they occur with everything
MOST_NARRATIVES = 3000  # for learning the weights; pairs of words are counted in all problems


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
        self._own = {one.sources[0]: self._keys(one.clauses) for one in narratives}
        every = np.concatenate([np.zeros(0, dtype=np.int64), *self._own.values()])
        self._pairs, self._counts = np.unique(every, return_counts=True)
        source = random.Random(seed)
        real = source.sample(narratives, min(MOST_NARRATIVES, len(narratives)))
        spoiled = [copy for one in real for copy in spoil(one, narratives, source)]
        if spoiled:
            rows = np.array([self._features(one) for one in (*real, *spoiled)])
            self._model.fit(rows, [1] * len(real) + [0] * len(spoiled))

    def score(self, problems: Sequence[Problem]) -> list[float]:
        """The log-probability that a text is real. Its parents do not count as evidence."""
        rows = [self._features(Narrative(words_of(read(one)), one.provenance.parents)) for one in problems]
        if not rows or not hasattr(self._model, "classes_"):
            return [0.0] * len(rows)
        scores: list[float] = self._model.predict_log_proba(np.array(rows))[:, 1].tolist()
        return scores

    def _keys(self, clauses: Iterable[Iterable[str]]) -> Integers:
        """The pairs of known words of different clauses, each once."""
        sets = [self._known(clause) for clause in clauses]
        pairs = [self._across(one, two) for place, one in enumerate(sets) for two in sets[place + 1 :]]
        return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *pairs]))

    def _known(self, clause: Iterable[str]) -> Integers:
        return np.array(sorted({self._words[word] for word in clause if word in self._words}), dtype=np.int64)

    def _across(self, one: Integers, two: Integers) -> Integers:
        low, high = np.minimum.outer(one, two), np.maximum.outer(one, two)
        keys: Integers = (low * len(self._words) + high)[low != high]
        return keys

    def _features(self, narrative: Narrative) -> list[float]:
        """How well clauses go with each other, at worst and on average; also the question, and what it repeats."""
        own = [self._own[name] for name in narrative.sources if name in self._own]
        sets = [self._known(clause) for clause in narrative.clauses]
        shares: list[float] = []
        for place, words in enumerate(sets):
            others = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *sets[:place], *sets[place + 1 :]]))
            shares.append(self._seen(self._across(words, others), own))
        story = {word for clause in narrative.clauses[:-1] for word in clause if word in self._words}
        question = [word for word in narrative.clauses[-1] if word in self._words]
        repeated = sum(word in story for word in question) / len(question) if question else 1.0
        linked = np.mean([
            any(np.isin(words, other).any() for number, other in enumerate(sets) if number != place)
            for place, words in enumerate(sets)
        ])  # fmt: skip
        return [float(np.mean(shares)), min(shares), shares[-1], repeated, float(linked)]

    def _seen(self, keys: Integers, own: Sequence[Integers]) -> float:
        """The share of pairs that occur in problems other than the sources."""
        if not len(keys) or not len(self._pairs):
            return 1.0
        places = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
        counts = np.where(self._pairs[places] == keys, self._counts[places], 0)
        for mine in own:
            counts = counts - np.isin(keys, mine)
        return float((counts > 0).mean())


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

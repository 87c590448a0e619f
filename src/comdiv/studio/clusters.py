"""Atoms and compounds of every problem, as a split counts them (§III-A): computed once, when the studio starts."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from comdiv.errors import ComdivError
from comdiv.language.base import NUMBER_MASK
from comdiv.reading import read_text
from comdiv.splitting.compounds import atoms_of, compounds_of
from comdiv.splitting.encoding import Incidence
from comdiv.splitting.extraction import Extraction, ExtractionSettings, Track, extract
from comdiv.studio.library import SOURCE, Library, LibraryEntry

LEGEND_WORDS = 4


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An atom or compound of a problem: how often it occurs there, in training and in test."""

    name: str
    here: int
    train: int
    test: int


@dataclass(frozen=True, slots=True)
class ClusterMap:
    """The clusters of all quantities, and how often every atom and compound occurs on each side."""

    settings: ExtractionSettings
    clusters: Mapping[int, Sequence[int]]  # by the entry's number
    words: Mapping[int, tuple[str, ...]]  # words that are typical around the quantities of a cluster
    atom_counts: Mapping[str, tuple[int, int]]
    compound_counts: Mapping[str, tuple[int, int]]

    def atoms(self, entry: LibraryEntry) -> list[Occurrence]:
        """The atoms of a problem."""
        if entry.problem.expression is None or entry.number not in self.clusters:
            return []
        names = atoms_of(entry.problem.expression, self.clusters[entry.number])
        return _occurrences(names, self.atom_counts)

    def compounds(self, entry: LibraryEntry) -> list[Occurrence]:
        """The compounds of a problem, the whole expression last."""
        if entry.problem.expression is None or entry.number not in self.clusters:
            return []
        clusters, commutative = self.clusters[entry.number], self.settings.commutative
        return _occurrences(
            compounds_of(entry.problem.expression, clusters, commutative=commutative), self.compound_counts
        )


def _occurrences(names: Sequence[str], counts: Mapping[str, tuple[int, int]]) -> list[Occurrence]:
    return [Occurrence(name, here, *counts.get(name, (0, 0))) for name, here in Counter(names).items()]


def map_clusters(library: Library, track: Track = lambda items: items) -> ClusterMap | None:
    """Cluster the library's quantities with the dataset's own settings; None if there is nothing to cluster."""
    # `extract` sorts by id; with the same order, rows match entries even if two parts share an id.
    own = [entry for entry in library.entries if entry.part != SOURCE]
    entries = sorted(own, key=lambda entry: entry.problem.id)
    settings = _settings(library.facts)
    extraction = extract([entry.problem for entry in entries], window=settings.window, track=track)
    clustering = _clusterable(extraction, settings)
    if clustering is None:
        return None
    by_problem = extraction.clusters_by_problem(clustering.k, clustering.seed)
    encoded = extraction.encoded(clustering, twins=False)
    test = np.array([entry.part == "test" for entry in entries])
    return ClusterMap(
        settings=clustering,
        clusters={entry.number: row.tolist() for entry, row in zip(entries, by_problem, strict=True)},
        words=_typical_words(extraction, clustering),
        atom_counts=_counts(encoded.atoms, test),
        compound_counts=_counts(encoded.compounds, test),
    )


def _settings(facts: Mapping[str, Any]) -> ExtractionSettings:
    """The settings of the dataset's split if it records them, or else the defaults."""
    try:
        return ExtractionSettings.recorded(facts)
    except ComdivError:  # settings of another version
        return ExtractionSettings()


def _clusterable(extraction: Extraction, settings: ExtractionSettings) -> ExtractionSettings | None:
    """The settings with no more clusters than there are contexts: a handful of problems has fewer than ten."""
    k = settings.k
    while k:
        try:
            extraction.clusters(k, settings.seed)
            return settings.changed(k=k)
        except ComdivError:
            k //= 2
    return None


def _counts(incidence: Incidence, test: "np.typing.NDArray[np.bool_]") -> dict[str, tuple[int, int]]:
    train_totals, test_totals = incidence.totals(~test).tolist(), incidence.totals(test).tolist()
    rows = zip(incidence.names, train_totals, test_totals, strict=True)
    return {str(name): (train, in_test) for name, train, in_test in rows}


def _typical_words(extraction: Extraction, settings: ExtractionSettings) -> dict[int, tuple[str, ...]]:
    """For each cluster, the content words that are more frequent around its quantities than around others."""
    counts: dict[int, Counter[str]] = {}
    content = {code: _ContentWords(code) for code in {problem.language for problem in extraction.problems}}
    labels = iter(extraction.clusters(settings.k, settings.seed).tolist())
    for problem, contexts in zip(extraction.problems, extraction.contexts, strict=True):
        for context, cluster in zip(contexts, labels, strict=False):
            around = {word for word in context if word != NUMBER_MASK and content[problem.language][word]}
            counts.setdefault(cluster, Counter()).update(around)
    overall: Counter[str] = Counter()
    for counter in counts.values():
        overall.update(counter)
    words = {}
    for cluster, counter in counts.items():
        weight = {word: count * math.log1p(count / (overall[word] - count + 1)) for word, count in counter.items()}
        words[cluster] = tuple(sorted(weight, key=lambda word: (-weight[word], word))[:LEGEND_WORDS])
    return words


class _ContentWords(dict[str, bool]):
    """Whether a word of a language is a noun or a verb: "and", "to" and "has" do not characterise a cluster."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __missing__(self, word: str) -> bool:
        content = read_text(word, self.language).content_words
        self[word] = word.isalpha() and bool(content.nouns or content.verbs)
        return self[word]

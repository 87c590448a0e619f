"""A corpus, ready to be split or measured (§III-A): contexts of quantities, their clusters, atoms and compounds.

"3 bags" and "12 bags" are the same atom, "3 bags" and "3 hours" are not. An expression tree alone cannot tell, so every
quantity is represented by its context and clustered. Texts are read once, clusters computed once per k and seed.
"""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from comdiv.errors import ComdivError
from comdiv.expression import template
from comdiv.problem import Problem
from comdiv.reading import Context, read
from comdiv.settings import Option, Settings
from comdiv.splitting.compounds import CompoundKind, Nodes, lay_out
from comdiv.splitting.encoding import Encoded, Floats, Integers, Small
from comdiv.word_vectors import read_vectors

Track = Callable[[Iterable[Problem]], Iterable[Problem]]
WINDOW = 3  # tokens on each side: the interpretation of the paper that reproduces its Table I
CLUSTERINGS = 10  # enough for a split that is as compositional under other clusterings
MINI_BATCH_ABOVE = 30_000  # quantities
INITIALISATIONS = 3
UNITS_UP_TO = 100_000  # problems

Vectorise = Callable[[Sequence[Context]], Any]


class ExtractionSettings(Settings):
    """How quantities become atoms. Except for `clusterings`, the defaults reproduce the paper's Table I."""

    k: int = Field(default=10, ge=1, description="Number of clusters of quantities.")
    clusterings: int = Field(
        default=CLUSTERINGS,
        ge=1,
        le=100,
        description="Number of clusterings, with consecutive seeds, under which a split is compositional; "
        "the paper has 1.",
    )
    window: int = Field(default=WINDOW, ge=1, description="Tokens of context on each side of a quantity.")
    compounds: CompoundKind = Field(
        default="subtrees", description="What counts as a compound: every sub-expression, or only the whole expression."
    )
    commutative: bool = Field(default=True, description="Whether a+b and b+a are the same compound.")
    seed: Annotated[int, Option(key="cluster_seed")] = Field(
        default=0, ge=0, description="Seed of the first clustering."
    )

    @classmethod
    def recorded(cls, facts: Mapping[str, Any]) -> "ExtractionSettings":
        """The settings in a `dataset.json`, or the defaults. Before there were several clusterings, there was one."""
        settings = facts.get("settings")
        extraction = settings.get("extraction") if isinstance(settings, Mapping) else None
        if not isinstance(extraction, Mapping):
            return cls()
        known = {name: value for name, value in extraction.items() if (name, value) != ("atoms", "clusters")}
        return cls.checked(**{"clusterings": 1, **known})

    def seeds(self) -> range:
        """The seeds of the clusterings that a split is searched with."""
        return range(self.seed, self.seed + self.clusterings)


def tf_idf(contexts: Sequence[Context]) -> Any:
    """l2-normalised TF-IDF vectors, as in the paper, over our tokens: scikit-learn's pattern would drop short ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=list).fit_transform(contexts)  # (contexts, words), sparse


def mean_vectors(name: str) -> Vectorise:
    """Contexts as the means of their words' vectors, weighed like those of TF-IDF, without what all contexts share."""

    def vectorise(contexts: Sequence[Context]) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import normalize

        weigher = TfidfVectorizer(analyzer=list)
        weights = weigher.fit_transform(contexts)  # (contexts, words), sparse
        words = weigher.get_feature_names_out().tolist()
        known = read_vectors(name, words)
        if not known:
            raise ComdivError(f"vectors {name!r}: the file has none of the words of the texts")
        nothing = np.zeros_like(next(iter(known.values())))
        table = normalize(np.stack([known.get(word, nothing) for word in words]).astype(np.float64))  # (words, width)
        means = weights @ table
        return normalize(means - means.mean(axis=0))

    return vectorise


def cluster_contexts(contexts: Sequence[Context], k: int, seed: int = 0, vectorise: Vectorise = tf_idf) -> Small:
    """A cluster from 0 to k-1 for every context; empty contexts share the extra cluster k."""
    return ContextVectors(contexts, vectorise).clusters(k, [seed])[0]


class ContextVectors:
    """Contexts as vectors, computed on first use and once for all clusterings of them."""

    def __init__(self, contexts: Sequence[Context], vectorise: Vectorise = tf_idf) -> None:
        self.contexts, self.vectorise = contexts, vectorise

    @cached_property
    def filled(self) -> list[int]:
        """The places of contexts that are not empty."""
        return [position for position, context in enumerate(self.contexts) if context]

    @cached_property
    def distinct(self) -> int:
        """How many different contexts there are."""
        return len(set(self.contexts) - {()})

    @cached_property
    def vectors(self) -> Any:
        """One vector for each context that is not empty."""
        return self.vectorise([self.contexts[position] for position in self.filled])

    def clusters(self, k: int, seeds: Sequence[int]) -> list[Small]:
        """A clustering for each seed, side by side on all cores; each is the same whatever the number of cores."""
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        if k < 1:
            raise ComdivError(f"k must be at least 1, not {k}")
        too_few = ComdivError(f"{self.distinct} different contexts of quantities are too few for k = {k} clusters")
        if self.distinct < k:
            raise too_few
        vectors = self.vectors
        # One thread for each: floating-point sums depend on their order, and threads finish in any order. OpenMP counts
        # its threads for each thread that calls it, so that the limit is set in those of the pool, too.
        pool = ThreadPoolExecutor(os.cpu_count(), initializer=threadpool_limits, initargs=(1, "openmp"))
        with threadpool_limits(limits=1), warnings.catch_warnings(), pool:
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                return list(pool.map(lambda seed: self._labels(k, seed, vectors), seeds))
            except ConvergenceWarning:  # different contexts with equal vectors, as of the same words in another order
                raise too_few from None

    def _labels(self, k: int, seed: int, vectors: Any) -> Small:
        from sklearn.cluster import KMeans, MiniBatchKMeans

        if len(self.filled) > MINI_BATCH_ABOVE:
            means = MiniBatchKMeans(k, n_init=INITIALISATIONS, random_state=seed, batch_size=4096)
        else:
            means = KMeans(k, n_init=INITIALISATIONS, random_state=seed)
        labels = np.full(len(self.contexts), k, dtype=np.int32)
        labels[self.filled] = means.fit_predict(vectors)
        return labels


@dataclass(frozen=True)
class Extraction:
    """Problems, sorted by id so that equal sets give equal clusters, and what a split needs of their texts."""

    problems: tuple[Problem, ...]
    lengths: tuple[int, ...]  # in tokens
    twin_groups: Integers  # (problems), the same number for twins
    contexts: tuple[tuple[Context, ...], ...]  # one for every quantity
    templates: tuple[str | None, ...]
    vectorise: Vectorise = tf_idf
    window: int = WINDOW
    embeddings: Vectorise | None = None  # another way to represent contexts, which no search sees
    _clusters: dict[tuple[int, int], Small] = field(default_factory=dict)
    _encoded: dict[tuple[ExtractionSettings, bool], Encoded] = field(default_factory=dict)

    @cached_property
    def quantities(self) -> Integers:
        """How many quantities each text has."""
        return np.fromiter(map(len, self.contexts), dtype=np.int64, count=len(self.contexts))

    @cached_property
    def text_lengths(self) -> Floats:
        """The lengths as an array, the same for every clustering."""
        return np.array(self.lengths, dtype=np.float64)

    @property
    def masks(self) -> tuple[str, ...]:
        """The texts without their numbers, equal for twins; read again, since they are as long as the corpus."""
        return tuple(read(problem).mask for problem in self.problems)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes of all expressions."""
        return lay_out([problem.expression for problem in self.problems], self.quantities)

    @cached_property
    def vectors(self) -> ContextVectors:
        """The contexts of all quantities, problem after problem."""
        return ContextVectors([context for own in self.contexts for context in own], self.vectorise)

    def forget_vectors(self) -> None:
        """Free their memory, where all clusterings are there; they are computed again for another."""
        self.__dict__.pop("vectors", None)

    def clusters(self, k: int, seed: int = 0) -> Small:
        """The cluster of every quantity, problem after problem; computed once per k and seed."""
        self.prepare(k, [seed])
        return self._clusters[k, seed]

    def prepare(self, k: int, seeds: Iterable[int]) -> None:
        """Compute the clusterings that are not there yet, side by side."""
        if missing := [seed for seed in seeds if (k, seed) not in self._clusters]:
            labels = self.vectors.clusters(k, missing)
            self._clusters.update({(k, seed): row for seed, row in zip(missing, labels, strict=True)})

    def clusters_by_problem(self, k: int, seed: int = 0) -> list[Small]:
        """The clusters of each problem's quantities, in text order."""
        return np.split(self.clusters(k, seed), np.cumsum(self.quantities)[:-1])

    def encoded(self, settings: ExtractionSettings, *, twins: bool = True) -> Encoded:
        """Atoms, compounds, lengths and groups under the first clustering; without `twins` every problem is alone."""
        if settings.window != self.window:
            raise ComdivError(f"these contexts were extracted with window {self.window}, not {settings.window}")
        key = (settings.changed(clusterings=1), twins)
        if key not in self._encoded:
            self._encoded[key] = self.encode(self.clusters(settings.k, settings.seed), settings, twins=twins)
        return self._encoded[key]

    def views(self, settings: ExtractionSettings, *, twins: bool = True) -> list[Encoded]:
        """The same under each clustering of the settings."""
        self.prepare(settings.k, settings.seeds())
        return [self.encoded(settings.changed(seed=seed), twins=twins) for seed in settings.seeds()]

    def encode(self, clusters: Small, settings: ExtractionSettings, *, twins: bool = True) -> Encoded:
        """Atoms, compounds, lengths and groups for a cluster of every quantity, however it was found."""
        return Encoded(
            atoms=self.nodes.atoms(clusters),
            compounds=self.nodes.compounds(clusters, settings.compounds, commutative=settings.commutative),
            lengths=self.text_lengths,
            groups=self.twin_groups if twins else np.arange(len(self.problems)),
        )

    def other_labels(self, k: int) -> dict[str, Small]:
        """Labels of the quantities from other sources than TF-IDF: the units that the texts name, and embeddings.

        The most frequent units have one each, the others share one, and so do quantities without a unit. Left out for
        corpora in which a search for units would take too long.
        """
        labels = {}
        if len(self.problems) <= UNITS_UP_TO:
            units = [quantity.unit for problem in self.problems for quantity in read(problem).quantities]
            frequent = [unit for unit, _ in Counter(unit for unit in units if unit is not None).most_common(k)]
            places: dict[str | None, int] = {None: k + 1, **{unit: place for place, unit in enumerate(frequent)}}
            labels["units"] = np.array([places.get(unit, k) for unit in units], dtype=np.int32)
        if self.embeddings is not None:
            labels["embeddings"] = ContextVectors(self.vectors.contexts, self.embeddings).clusters(k, [0])[0]
        return labels

    def operators(self) -> Integers:
        """The number of operators of each problem; 0 if it has no expression."""
        return self.nodes.operator_counts


def extract(
    problems: Sequence[Problem],
    *,
    window: int = WINDOW,
    vectorise: Vectorise = tf_idf,
    track: Track = lambda items: items,
) -> Extraction:
    """Read every text once. `track` may wrap the problems, to show progress."""
    ordered = tuple(sorted(problems, key=lambda problem: problem.id))
    lengths, contexts = [], []
    twins: dict[str, int] = {}
    twin_groups = np.zeros(len(ordered), dtype=np.int64)
    shared: dict[Context, Context] = {}  # the same words stand around many quantities
    for place, problem in enumerate(track(ordered)):
        reading = read(problem)
        lengths.append(len(reading.tokens))
        twin_groups[place] = twins.setdefault(reading.mask, len(twins))
        own = [tuple(map(intern, context)) for context in reading.contexts(window)]
        contexts.append(tuple([shared.setdefault(context, context) for context in own]))
    known = {problem.expression for problem in ordered}
    template_of = {expression: None if expression is None else template(expression) for expression in known}
    templates = tuple(template_of[problem.expression] for problem in ordered)
    return Extraction(ordered, tuple(lengths), twin_groups, tuple(contexts), templates, vectorise, window)

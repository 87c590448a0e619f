"""A corpus, ready to be split or measured: features once, clusters once for each k."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from comdiv.errors import ComdivError
from comdiv.expression import operator_count, template
from comdiv.problem import Problem
from comdiv.settings import Option, Settings
from comdiv.splitting.compounds import AtomKind, atoms_of, compounds_of
from comdiv.splitting.contexts import WINDOW, TextFeatures, Vectorise, cluster_contexts, text_features, tf_idf
from comdiv.splitting.encoding import Encoded, encode

Track = Callable[[Iterable[Problem]], Iterable[Problem]]


class ExtractionSettings(Settings):
    """How quantities become atoms. The defaults are the reading that reproduces the paper's Table I."""

    k: int = Field(default=10, ge=1, description="Number of clusters of quantities.")
    window: int = Field(default=WINDOW, ge=1, description="Tokens of context on each side of a quantity.")
    atoms: AtomKind = Field(default="clusters", description="What counts as an atom.")
    commutative: bool = Field(default=True, description="Whether a+b and b+a are the same compound.")
    seed: Annotated[int, Option(key="cluster_seed")] = Field(default=0, ge=0, description="Seed of the clustering.")


@dataclass(frozen=True)
class Extraction:
    """Problems, sorted by id so that the same set always clusters alike, with the features of their texts."""

    problems: tuple[Problem, ...]
    features: tuple[TextFeatures, ...]
    templates: tuple[str | None, ...]
    vectorise: Vectorise = tf_idf
    window: int = WINDOW
    _clusters: dict[tuple[int, int], npt.NDArray[np.int64]] = field(default_factory=dict)
    _encoded: dict[tuple[ExtractionSettings, bool], Encoded] = field(default_factory=dict)

    def clusters(self, k: int, seed: int = 0) -> npt.NDArray[np.int64]:
        """The cluster of every quantity, problem after problem; computed once for each k and seed."""
        if (k, seed) not in self._clusters:
            contexts = [context for feature in self.features for context in feature.contexts]
            self._clusters[k, seed] = cluster_contexts(contexts, k, seed, self.vectorise)
        return self._clusters[k, seed]

    def clusters_by_problem(self, k: int, seed: int = 0) -> list[npt.NDArray[np.int64]]:
        """The clusters of each problem's quantities, in text order."""
        ends = list(accumulate(len(feature.contexts) for feature in self.features))
        return np.split(self.clusters(k, seed), ends[:-1])

    def encoded(self, settings: ExtractionSettings, *, twins: bool = True) -> Encoded:
        """Atoms, compounds, lengths and groups as arrays; without `twins` every problem is a group of its own."""
        if settings.window != self.window:
            raise ComdivError(f"these contexts were extracted with window {self.window}, not {settings.window}")
        if (settings, twins) not in self._encoded:
            self._encoded[settings, twins] = self._encode(settings, twins)
        return self._encoded[settings, twins]

    def _encode(self, settings: ExtractionSettings, twins: bool) -> Encoded:
        clusters = self.clusters_by_problem(settings.k, settings.seed)

        def atoms(position: int) -> list[str]:
            expression = self.problems[position].expression
            return [] if expression is None else atoms_of(expression, clusters[position].tolist(), settings.atoms)

        def compounds(position: int) -> list[str]:
            expression = self.problems[position].expression
            if expression is None:
                return []
            return compounds_of(expression, clusters[position].tolist(), commutative=settings.commutative)

        return encode(
            range(len(self.problems)),
            atoms,
            compounds,
            length_of=lambda position: self.features[position].tokens,
            group_of=(lambda position: self.features[position].masked_text) if twins else None,
        )

    def operators(self) -> npt.NDArray[np.int64]:
        """The number of operators of each problem; 0 where it has no expression."""
        counts = (operator_count(p.expression) if p.expression is not None else 0 for p in self.problems)
        return np.fromiter(counts, dtype=np.int64, count=len(self.problems))


def extract(
    problems: Sequence[Problem],
    *,
    window: int = WINDOW,
    vectorise: Vectorise = tf_idf,
    track: Track = lambda items: items,
) -> Extraction:
    """Read every text once. `track` may wrap the problems, to show progress."""
    ordered = tuple(sorted(problems, key=lambda problem: problem.id))
    features = tuple(text_features(problem, window) for problem in track(ordered))
    templates = tuple(None if p.expression is None else template(p.expression) for p in ordered)
    return Extraction(ordered, features, templates, vectorise, window)

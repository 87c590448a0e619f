"""A corpus, ready to be split or measured (§III-A): contexts of quantities, their clusters, atoms and compounds.

"3 bags" and "12 bags" are the same atom, "3 bags" and "3 hours" are not. An expression tree alone cannot tell, so every
quantity is represented by its context and clustered. Texts are read once, clusters computed once per k and seed.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from comdiv.errors import ComdivError
from comdiv.expression import Constant, Expression, Reference, leaves, operator_count, subtrees, template
from comdiv.expression.tree import COMMUTATIVE, Operation
from comdiv.problem import Problem
from comdiv.reading import Context, read
from comdiv.settings import Option, Settings
from comdiv.splitting.encoding import Encoded, encode

AtomKind = Literal["clusters", "clusters+operators"]
CompoundKind = Literal["subtrees", "whole"]
CONSTANT = "C"
Track = Callable[[Iterable[Problem]], Iterable[Problem]]
WINDOW = 3  # tokens on each side: the interpretation of the paper that reproduces its Table I
MINI_BATCH_ABOVE = 30_000  # quantities
INITIALISATIONS = 3

Vectorise = Callable[[Sequence[Context]], Any]


class ExtractionSettings(Settings):
    """How quantities become atoms. The defaults are the interpretation that reproduces the paper's Table I."""

    k: int = Field(default=10, ge=1, description="Number of clusters of quantities.")
    window: int = Field(default=WINDOW, ge=1, description="Tokens of context on each side of a quantity.")
    atoms: AtomKind = Field(default="clusters", description="What counts as an atom.")
    compounds: CompoundKind = Field(
        default="subtrees", description="What counts as a compound: every sub-expression, or only the whole one."
    )
    commutative: bool = Field(default=True, description="Whether a+b and b+a are the same compound.")
    seed: Annotated[int, Option(key="cluster_seed")] = Field(default=0, ge=0, description="Seed of the clustering.")


def tf_idf(contexts: Sequence[Context]) -> Any:
    """l2-normalised TF-IDF vectors, as in the paper, over our tokens: scikit-learn's pattern would drop short ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=list).fit_transform(contexts)  # (contexts, words), sparse


def cluster_contexts(
    contexts: Sequence[Context], k: int, seed: int = 0, vectorise: Vectorise = tf_idf
) -> npt.NDArray[np.int64]:
    """A cluster from 0 to k-1 for every context; empty contexts share the extra cluster k."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    if k < 1:
        raise ComdivError(f"k must be at least 1, not {k}")
    filled = [position for position, context in enumerate(contexts) if context]
    distinct = len({contexts[position] for position in filled})
    too_few = ComdivError(f"{distinct} different contexts of quantities are too few for k = {k} clusters")
    if distinct < k:
        raise too_few
    vectors = vectorise([contexts[position] for position in filled])
    if len(filled) > MINI_BATCH_ABOVE:
        means = MiniBatchKMeans(k, n_init=INITIALISATIONS, random_state=seed, batch_size=4096)
    else:
        means = KMeans(k, n_init=INITIALISATIONS, random_state=seed)
    # One thread: floating-point sums depend on their order, and threads finish in any order.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            found = means.fit_predict(vectors)
        except ConvergenceWarning:  # different contexts with equal vectors, such as the same words in another order
            raise too_few from None
    labels = np.full(len(contexts), k, dtype=np.int64)
    labels[filled] = found
    return labels


def atoms_of(expression: Expression, clusters: Sequence[int], kind: AtomKind = "clusters") -> list[str]:
    """The leaves that are quantities, as their clusters: `c3`. Constants are no atoms."""
    atoms = [f"c{clusters[leaf.index]}" for leaf in leaves(expression) if isinstance(leaf, Reference)]
    if kind == "clusters+operators":
        atoms += [node.operator for node in subtrees(expression) if isinstance(node, Operation)]
    return atoms


def compounds_of(
    expression: Expression, clusters: Sequence[int], kind: CompoundKind = "subtrees", *, commutative: bool = True
) -> list[str]:
    """For every inner node the whole sub-expression below it: `(c3*(C-c1))`, counted with multiplicity.

    `whole`: only the root's. With `commutative`, operands of `+` and `*` are sorted: `b+a` is not a new composition
    beside `a+b`.
    """
    found: list[str] = []

    def spell(node: Expression) -> str:
        if isinstance(node, Constant):
            return CONSTANT
        if isinstance(node, Reference):
            return f"c{clusters[node.index]}"
        operands = [spell(node.left), spell(node.right)]
        if commutative and node.operator in COMMUTATIVE:
            operands.sort()
        text = f"({operands[0]}{node.operator}{operands[1]})"
        found.append(text)
        return text

    spell(expression)
    return found[-1:] if kind == "whole" else found


@dataclass(frozen=True)
class Extraction:
    """Problems, sorted by id so that equal sets give equal clusters, and what a split needs of their texts."""

    problems: tuple[Problem, ...]
    lengths: tuple[int, ...]  # in tokens
    masks: tuple[str, ...]  # equal for twins
    contexts: tuple[tuple[Context, ...], ...]  # one for every quantity
    templates: tuple[str | None, ...]
    vectorise: Vectorise = tf_idf
    window: int = WINDOW
    _clusters: dict[tuple[int, int], npt.NDArray[np.int64]] = field(default_factory=dict)
    _encoded: dict[tuple[ExtractionSettings, bool], Encoded] = field(default_factory=dict)

    def clusters(self, k: int, seed: int = 0) -> npt.NDArray[np.int64]:
        """The cluster of every quantity, problem after problem; computed once per k and seed."""
        if (k, seed) not in self._clusters:
            contexts = [context for own in self.contexts for context in own]
            self._clusters[k, seed] = cluster_contexts(contexts, k, seed, self.vectorise)
        return self._clusters[k, seed]

    def clusters_by_problem(self, k: int, seed: int = 0) -> list[npt.NDArray[np.int64]]:
        """The clusters of each problem's quantities, in text order."""
        ends = list(accumulate(map(len, self.contexts)))
        return np.split(self.clusters(k, seed), ends[:-1])

    def encoded(self, settings: ExtractionSettings, *, twins: bool = True) -> Encoded:
        """Atoms, compounds, lengths and groups as arrays; without `twins` every problem is a separate group."""
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
            own = clusters[position].tolist()
            return compounds_of(expression, own, settings.compounds, commutative=settings.commutative)

        return encode(
            range(len(self.problems)),
            atoms,
            compounds,
            length_of=lambda position: self.lengths[position],
            group_of=(lambda position: self.masks[position]) if twins else None,
        )

    def operators(self) -> npt.NDArray[np.int64]:
        """The number of operators of each problem; 0 if it has no expression."""
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
    lengths, masks, contexts = [], [], []
    for problem in track(ordered):
        reading = read(problem)
        lengths.append(len(reading.tokens))
        masks.append(reading.mask)
        contexts.append(reading.contexts(window))
    templates = tuple(None if p.expression is None else template(p.expression) for p in ordered)
    return Extraction(ordered, tuple(lengths), tuple(masks), tuple(contexts), templates, vectorise, window)

"""What a quantity means: the words around it, and the cluster that those words put it in (§III-A).

"3 bags" and "12 bags" are one atom, "3 bags" and "3 hours" are two: an expression tree alone cannot tell, so every
quantity is represented by its context and clustered.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.reading import Context, read

WINDOW = 3  # tokens on each side: the reading of the paper that reproduces its Table I
MINI_BATCH_ABOVE = 30_000  # quantities
INITIALISATIONS = 3

Vectorise = Callable[[Sequence[Context]], Any]


@dataclass(frozen=True, slots=True)
class TextFeatures:
    """What a split needs of a problem's text: its length, its twins' common mask, a context for every quantity."""

    tokens: int
    masked_text: str
    contexts: tuple[Context, ...]


def text_features(problem: Problem, window: int = WINDOW) -> TextFeatures:
    """Tokenise a problem once, for everything that follows."""
    reading = read(problem)
    return TextFeatures(len(reading.tokens), reading.mask, reading.contexts(window))


def tf_idf(contexts: Sequence[Context]) -> Any:
    """l2-normalised TF-IDF vectors, the paper's choice. The tokens are given: a pattern would drop short ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=list).fit_transform(contexts)  # (contexts, words), sparse


def cluster_contexts(
    contexts: Sequence[Context], k: int, seed: int = 0, vectorise: Vectorise = tf_idf
) -> npt.NDArray[np.int64]:
    """A cluster from 0 to k-1 for every context; an empty context gets cluster k, one of its own."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    if k < 1:
        raise ComdivError(f"k is at least 1, not {k}")
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
    # One thread: sums of floats depend on their order, and threads finish in any order.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            found = means.fit_predict(vectors)
        except ConvergenceWarning:  # different contexts with equal vectors, such as the same words in another order
            raise too_few from None
    labels = np.full(len(contexts), k, dtype=np.int64)
    labels[filled] = found
    return labels

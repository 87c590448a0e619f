"""A reader who has seen the corpus: does a product's text suggest its template, or another one?

The paper's authors proofread their set by hand (§V-A). This is the part of it that a program can do: a logistic
regression from a problem's words and numbers to its template, trained on the corpus's problems with one operator. Where
it takes "36个苹果，每人分3个，一共多少" for n1/n2, a product that says n1*n2 is refused: such contradictory labels are
what keeps a solver from learning. The words of clauses add up, so each clause is read once.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from comdiv.expression import operator_count
from comdiv.reading import read_text
from comdiv.synthesis.reading import Reader, Reading
from comdiv.synthesis.story import Story

Scores = npt.NDArray[np.float64]
FEWEST_PROBLEMS = 10  # of a template that the reader knows…
FEWEST_SHARE = 0.01  # …and their share of the problems with one operator
FEWEST_TEMPLATES = 2
_QUESTION = "?"


class Proofreader:
    """How well a text fits a template, as a probability among the templates of the corpus."""

    def __init__(self, readings: Iterable[Reading], reader: Reader) -> None:
        self._reader = reader
        self._cache: dict[tuple[str, bool], Scores] = {}
        self._columns: dict[str, int] = {}
        self.templates: list[str] = []
        examples = [reading for reading in readings if _operators(reading) == 1]
        counts = Counter(reading.template for reading in examples)
        fewest = max(FEWEST_PROBLEMS, FEWEST_SHARE * len(examples))
        known = [reading for reading in examples if counts[reading.template] >= fewest]
        if len({reading.template for reading in known}) >= FEWEST_TEMPLATES:
            self._fit(known)

    def probability(self, clauses: Sequence[str], story: Story, template: str) -> float:
        """How probable the template is for a problem of these clauses; 1 where the corpus is too small to tell."""
        if template not in self.templates:
            return 1.0
        scores = self._intercept + self._sum(story.features(self._reader))
        for number, clause in enumerate(clauses):
            scores += self._scores(clause, number == len(clauses) - 1)
        scores = np.exp(scores - scores.max())
        return round(float(scores[self.templates.index(template)] / scores.sum()), 6)

    def _scores(self, clause: str, question: bool) -> Scores:
        if (clause, question) not in self._cache:
            self._cache[clause, question] = self._sum(self._features(clause, question))
        return self._cache[clause, question]

    def _sum(self, features: Iterable[str]) -> Scores:
        summed: Scores = self._weights[:, [self._columns[f] for f in features if f in self._columns]].sum(axis=1)
        return summed

    def _fit(self, examples: Sequence[Reading]) -> None:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import LogisticRegression

        rows = [self._problem_features(reading) for reading in examples]
        often = Counter(feature for row in rows for feature in set(row))
        self._columns = {f: n for n, f in enumerate(sorted(f for f, count in often.items() if count > 1))}
        data = [(r, self._columns[f]) for r, row in enumerate(rows) for f in row if f in self._columns]
        positions = np.array(data, dtype=np.int64).reshape(-1, 2).T
        matrix = csr_matrix((np.ones(len(data)), (positions[0], positions[1])), (len(rows), len(self._columns)))
        labels = [reading.template for reading in examples]
        model = LogisticRegression(C=1.0, max_iter=60, tol=1e-3).fit(matrix, labels)
        self.templates = [str(name) for name in model.classes_]
        weights, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(self.templates) == FEWEST_TEMPLATES:  # scikit-learn has one row for two classes
            weights, intercept = np.vstack([-weights, weights]) / 2, np.concatenate([-intercept, intercept]) / 2
        self._weights: Scores = weights
        self._intercept: Scores = intercept

    def _problem_features(self, reading: Reading) -> list[str]:
        features = Story.of(reading, self._reader).features(self._reader)
        for number, clause in enumerate(reading.clauses):
            features += self._features(clause.text, number == len(reading.clauses) - 1)
        return features

    def _features(self, clause: str, question: bool) -> list[str]:
        """Words and pairs of neighbouring words, numbers by their kind; the question's apart from the narrative's."""
        read = read_text(clause, self._reader.language)
        mark = _QUESTION if question else ""
        words = [
            f"<{read.quantities[token.quantity].kind}>" if token.quantity is not None else token.text.lower()
            for token in read.tokens
        ]
        pairs = [f"{first} {second}" for first, second in pairwise(words)]
        return [mark + feature for feature in dict.fromkeys([*words, *pairs])]


def _operators(reading: Reading) -> int:
    return 0 if reading.problem.expression is None else operator_count(reading.problem.expression)

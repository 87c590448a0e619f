"""A model of the corpus that tells whether a product's text suggests its template or another one.

The paper's authors proofread their set by hand (§V-A). This does the part that a program can do: a logistic regression
from a problem's words and numbers to its template, trained on the corpus's problems with one operator. If it takes
"36个苹果，每人分3个，一共多少" for n1/n2, a product labelled n1*n2 is refused, because contradictory labels keep a
solver from learning. The scores of clauses add up, so each clause is scored once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from comdiv.language import Language
from comdiv.language.base import SHARE
from comdiv.language.story import StoryWords
from comdiv.reading import read_text
from comdiv.synthesis.tale import Given, Tale

Scores = npt.NDArray[np.float64]
FEWEST_PROBLEMS = 10  # of a template that the model learns…
FEWEST_SHARE = 0.01  # …and their share of all problems with one operator
FEWEST_TEMPLATES = 2
_QUESTION = "?"


class Proofreader:
    """How well a text fits a template, as a probability among the templates of the corpus."""

    def __init__(self, tales: Iterable[Tale], language: Language) -> None:
        self._language = language
        self._cache: dict[tuple[str, bool], Scores] = {}
        self._columns: dict[str, int] = {}
        self.templates: list[str] = []
        examples = [tale for tale in tales if tale.operators == 1]
        counts = Counter(tale.template for tale in examples)
        fewest = max(FEWEST_PROBLEMS, FEWEST_SHARE * len(examples))
        known = [tale for tale in examples if counts[tale.template] >= fewest]
        if len({tale.template for tale in known}) >= FEWEST_TEMPLATES:
            self._fit(known)

    def probability(self, clauses: Sequence[str], features: Iterable[str], template: str) -> float:
        """The probability of the template for a problem with these clauses; 1 if the corpus is too small to tell.

        `features` are those of the story, from `story_features`.
        """
        if template not in self.templates:
            return 1.0
        scores = self._intercept + self._sum(features)
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

    def _fit(self, examples: Sequence[Tale]) -> None:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import LogisticRegression

        rows = [self._problem_features(tale) for tale in examples]
        often = Counter(feature for row in rows for feature in set(row))
        self._columns = {f: n for n, f in enumerate(sorted(f for f, count in often.items() if count > 1))}
        data = [(r, self._columns[f]) for r, row in enumerate(rows) for f in row if f in self._columns]
        positions = np.array(data, dtype=np.int64).reshape(-1, 2).T
        matrix = csr_matrix((np.ones(len(data)), (positions[0], positions[1])), (len(rows), len(self._columns)))
        labels = [tale.template for tale in examples]
        model = LogisticRegression(C=1.0, max_iter=60, tol=1e-3).fit(matrix, labels)
        self.templates = [str(name) for name in model.classes_]
        weights, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(self.templates) == FEWEST_TEMPLATES:  # scikit-learn has one row for two classes
            weights, intercept = np.vstack([-weights, weights]) / 2, np.concatenate([-intercept, intercept]) / 2
        self._weights: Scores = weights
        self._intercept: Scores = intercept

    def _problem_features(self, tale: Tale) -> list[str]:
        clauses = tale.clauses
        features = story_features(tale.givens, tale.roles, tale.asked_unit_name, clauses[-1].text, tale.story)
        for clause in clauses:
            features += self._features(clause.text, clause is clauses[-1])
        return features

    def _features(self, clause: str, question: bool) -> list[str]:
        """Words and pairs of neighbouring words, numbers by kind; question and narrative kept apart."""
        reading = read_text(clause, self._language)
        mark = _QUESTION if question else ""
        words = [
            f"<{reading.quantities[token.quantity].kind}>" if token.quantity is not None else token.text.lower()
            for token in reading.tokens
        ]
        pairs = [f"{first} {second}" for first, second in pairwise(words)]
        return [mark + feature for feature in dict.fromkeys([*words, *pairs])]


def story_features(
    givens: Sequence[Given], roles: Mapping[str, str], asked_unit: str | None, question: str, words: StoryWords
) -> list[str]:
    """How the numbers relate to each other and to the question, which single words do not show.

    These features separate n1/n2 from n2/n1 and n1*n2: kinds, units, sizes, and the side of a comparison asked for.
    """
    kinds = "/".join(f"{given.sign.kind}{'!' if given.sign.per else ''}" for given in givens)
    asked = str(asked_unit) if asked_unit is None or asked_unit == SHARE else _ranks_with(asked_unit, givens)
    features = [f"#kinds {kinds}", f"#asked {asked}", f"#kinds {kinds} asked {asked}"]
    if len(givens) == 2:
        (first, unit, _), (second, other_unit, _) = givens
        larger = "first" if first > second else "second"
        whole = [bool(b) and (a / b).denominator == 1 for a, b in ((first, second), (second, first))]
        features += [f"#larger {larger}", f"#kinds {kinds} asked {asked} larger {larger}"]
        features += [f"#same unit {unit == other_unit} asked {asked}", f"#divides {whole}"]
    for rank in range(len(givens)):
        if (frame := _frame(rank, roles, question)) is not None:
            features += [f"#frame {rank} {frame}", f"#frame {rank} {frame} {kinds}"]
    per = map(words.unit_name, words.per_word.findall(question))
    return features + [f"#for each {_ranks_with(unit, givens)}" for unit in per]


def _ranks_with(unit: str | None, givens: Sequence[Given]) -> str:
    return "+".join(str(rank) for rank, given in enumerate(givens) if unit and given.unit == unit) or "none"


def _frame(rank: int, roles: Mapping[str, str], question: str) -> str | None:
    """Which side of the comparison at a quantity the question names; the text may omit a side."""
    reference, compared = (roles.get(f"{role}{rank}") for role in ("reference", "compared"))
    if reference is None:
        return None
    asks_compared = None if compared is None else compared in question
    direction = next((role for role in ("less", "more") if f"{role}{rank}" in roles), "share")
    return f"{direction}: reference {reference in question} compared {asks_compared}"

"""Parts of a test set that a result is broken down by, because of what the training set holds."""

from collections import Counter
from collections.abc import Sequence

from comdiv.language import get_language
from comdiv.problem import Problem

IN_TRAIN, NOT_IN_TRAIN = "text in train", "text not in train"
STRUCTURAL = "structural"
REPETITION = "repetition"  # of an original in an augmented set: no further half


def test_subsets(test: Sequence[Problem], train: Sequence[Problem]) -> dict[str, set[str]]:
    """Ids of the test problems whose number-masked text is in the training set, and of the others; and of SD's
    structural problems, by how many of the two simpler problems that they were decomposed into are in the training set.

    An augmentation can join the two halves again and so reproduce a test text: a result says how much that explains.
    """
    texts = set(map(masked_text, train))
    known = {problem.id for problem in test if masked_text(problem) in texts}
    subsets = {IN_TRAIN: known, NOT_IN_TRAIN: {problem.id for problem in test} - known}
    products = (problem for problem in train if problem.provenance.rule and problem.provenance.operation != REPETITION)
    halves = Counter(map(seed_of, products))
    for problem in test:
        if problem.extra.get("composition") == STRUCTURAL:
            subsets.setdefault(f"{halves[seed_of(problem)]} halves in train", set()).add(problem.id)
    return dict(sorted(subsets.items(), key=lambda item: (item[0][0].isdigit(), item[0])))


def seed_of(problem: Problem) -> str:
    """The id of the problem that a synthesized one was made from; of a seed, its own."""
    return str(problem.provenance.details.get("seed", problem.id))


def masked_text(problem: Problem) -> str:
    """A text without its numbers: what twins share."""
    return get_language(problem.language).masked_text(problem.text, number_words=problem.number_words)

"""Parts of a test set that a result is broken down by, because of what the training set holds."""

from collections import Counter
from collections.abc import Sequence

from comdiv.language import get_language
from comdiv.problem import Problem

IN_TRAIN, NOT_IN_TRAIN = "text in train", "text not in train"
STRUCTURAL, LEXICAL = COMPOSITIONS = ("structural", "lexical")
DECOMPOSITION = "decomposition"  # how a synthesis calls what it did; an augmentation's repetitions are called otherwise


def test_subsets(test: Sequence[Problem], train: Sequence[Problem]) -> dict[str, set[str]]:
    """Ids of test problems by name of the part that they belong to.

    All: whether the number-masked text is in the training set. An augmentation can join what was taken apart and so
    reproduce a test text: a result says how much that explains. Of SD: structural and lexical problems, and structural
    ones by how many of the two simpler problems that they were decomposed into are in the training set.
    """
    texts = set(map(masked_text, train))
    subsets: dict[str, set[str]] = {IN_TRAIN: set(), NOT_IN_TRAIN: set()}
    halves = Counter(seed_of(problem) for problem in train if problem.provenance.operation == DECOMPOSITION)
    for problem in test:
        subsets[IN_TRAIN if masked_text(problem) in texts else NOT_IN_TRAIN].add(problem.id)
        composition = problem.composition
        if composition in COMPOSITIONS:
            subsets.setdefault(composition, set()).add(problem.id)
        if composition == STRUCTURAL:
            subsets.setdefault(f"{halves[problem.id]} halves in train", set()).add(problem.id)
    return dict(sorted(subsets.items(), key=lambda item: (item[0][0].isdigit(), item[0])))


def seed_of(product: Problem) -> str:
    """The id of the problem that a decomposition took apart."""
    return str(product.provenance.details.get("seed", ""))


def masked_text(problem: Problem) -> str:
    """A text without its numbers: what twins share."""
    return get_language(problem.language).masked_text(problem.text, number_words=problem.number_words)

"""Parts of a test set by what the training set holds."""

from dataclasses import replace

from comdiv.experiments.work import test_subsets as subsets_of
from comdiv.problem import Problem, Provenance
from solvers.tiny import EIGHT, problem


def composed(one: Problem, kind: str) -> Problem:
    return replace(one, composition=kind)


def product(number: int, seed: str) -> Problem:
    made = problem(f"product {number}", f"Tom has {number} pens. How many?", "N0")
    return replace(
        made, provenance=Provenance(operation="decomposition", parents=(seed, "donor"), details={"seed": seed})
    )


def test_a_text_that_differs_in_numbers_only_is_in_train() -> None:
    twin = problem("twin", "Tom has 8 red and 2 green apples. How many has he?", "N0+N1")
    subsets = subsets_of(EIGHT[:3], [twin])
    assert subsets == {"text in train": {"sum"}, "text not in train": {"difference", "product"}}


def test_structural_problems_are_told_apart_by_the_halves_that_train_has() -> None:
    test = [composed(one, "structural") for one in EIGHT[:3]] + [composed(EIGHT[3], "lexical")]
    train = [product(1, "sum"), product(2, "sum"), product(3, "difference"), product(4, "quotient"), *EIGHT[4:]]
    subsets = subsets_of(test, train)
    assert subsets["0 halves in train"] == {"product"}
    assert subsets["1 halves in train"] == {"difference"}
    assert subsets["2 halves in train"] == {"sum"}
    assert (subsets["structural"], subsets["lexical"]) == ({"sum", "difference", "product"}, {"quotient"})


def test_what_an_augmentation_makes_of_a_half_is_no_other_half() -> None:
    test = [composed(EIGHT[0], "structural")]
    half = product(1, "sum")
    augmented = replace(EIGHT[1], provenance=Provenance(operation="operation 1", parents=("product 1",)))
    again = replace(half, id="product 1~2", provenance=replace(half.provenance, operation="repetition"))
    assert subsets_of(test, [half, augmented, again])["1 halves in train"] == {"sum"}

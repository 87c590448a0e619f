"""Test texts in the training set: shown for augmented sets, and wherever there are any."""

from pathlib import Path

from comdiv.evaluation import Share
from comdiv.experiments.cell import Facts, PlanResults
from comdiv.experiments.reporting.accuracies import Number
from comdiv.experiments.reporting.accuracy_tables import overlap_table

PLAN = PlanResults("p", "", "", None, {}, Path("p.json"), ())


def numbers(method: str, inside: tuple[int, int], outside: tuple[int, int], *, augmented: bool) -> list[Number]:
    """A method's accuracy on all test problems, and on those whose texts are in train and are not: right, of."""
    facts = Facts(dataset="sd", method=method, augmentation="DA" if augmented else None, cover="none")
    parts = {
        None: (inside[0] + outside[0], inside[1] + outside[1]),
        "text in train": inside,
        "text not in train": outside,
    }
    return [Number("p", method, facts, "test", part, {"seed 0": Share(*share)}, ()) for part, share in parts.items()]


def test_accuracy_is_given_with_and_without_the_repeated_texts() -> None:
    table = overlap_table(PLAN, numbers("GTS+DA", (9, 10), (45, 90), augmented=True))
    assert table is not None
    assert [column.full_title for column in table.columns[4:]] == [
        "Accuracy all", "Accuracy without them", "Accuracy on them",
    ]  # fmt: skip
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["GTS+DA", "sd", "10", "100", "54.0", "50.0", "90.0"]
    ]


def test_an_augmented_set_that_repeats_nothing_says_so() -> None:
    table = overlap_table(PLAN, numbers("GTS+DA", (0, 0), (45, 90), augmented=True))
    assert table is not None
    assert [entry.text for entry in table.rows[0]] == ["GTS+DA", "sd", "0", "90", "50.0", "50.0", "–"]


def test_a_plain_method_is_shown_only_where_train_and_test_share_a_text() -> None:
    assert overlap_table(PLAN, numbers("GTS", (0, 0), (45, 90), augmented=False)) is None
    assert overlap_table(PLAN, numbers("GTS", (1, 1), (45, 90), augmented=False)) is not None

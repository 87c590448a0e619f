"""Agreement between judges, against published worked examples, statsmodels and tables worked out by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import Judgement
from comdiv.evaluation.kappa import agreement, cohen_kappa, fleiss_kappa

# Fleiss, "Statistical Methods for Rates and Proportions", chapter on the measurement of interrater agreement: the
# diagnoses of 100 subjects by two raters (psychotic, neurotic, organic); κ = 0.676 with a standard error of 0.088.
DIAGNOSES = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
# The worked example of Fleiss' κ that encyclopaedias print: ten subjects, fourteen raters, five categories; κ = 0.210.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def marked(judge: str, marks: str) -> list[Judgement]:
    """One judge's marks: `+` for a good problem, or the initial of the criterion that is not."""
    return [
        Judgement.of_criteria(f"p{number}", judge, mark != "g", mark != "f", mark != "l")
        for number, mark in enumerate(marks)
    ]


def test_cohen_kappa_is_that_of_the_published_example() -> None:
    kappa = cohen_kappa(DIAGNOSES)
    assert kappa.value == pytest.approx(0.676, abs=0.0005)
    assert kappa.observed == pytest.approx(0.89)
    assert kappa.expected == pytest.approx(0.66)
    assert kappa.interval is not None
    half = (kappa.interval[1] - kappa.interval[0]) / 2
    assert half / 1.959964 == pytest.approx(0.0877, abs=0.0005)
    assert kappa.band == "substantial"


def test_fleiss_kappa_is_that_of_the_published_example() -> None:
    kappa = fleiss_kappa(FOURTEEN_RATERS)
    assert kappa.value == pytest.approx(0.210, abs=0.0005)
    assert kappa.observed == pytest.approx(0.378, abs=0.0005)
    assert kappa.expected == pytest.approx(0.213, abs=0.0005)


def test_83_and_84_good_of_100_never_give_the_papers_kappa() -> None:
    possible = set()
    for both in range(67, 84):
        kappa = cohen_kappa([[both, 83 - both], [84 - both, 100 - 167 + both]])
        assert kappa.value is not None
        possible.add(round(kappa.value, 2))
    assert {0.67, 0.75} <= possible
    assert not possible & {0.70, 0.71, 0.72}


@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=3, max_size=3))
def test_cohen_kappa_equals_statsmodels(table: list[list[int]]) -> None:
    counts = np.array(table)
    assume(len({*np.flatnonzero(counts.sum(0)), *np.flatnonzero(counts.sum(1))}) > 1)
    ours, reference = cohen_kappa(table), cohens_kappa(counts)
    assume(reference.var_kappa > 1e-9)  # where the variance vanishes the intervals differ by intention
    assert ours.value == pytest.approx(reference.kappa, abs=1e-9)
    assert ours.interval is not None
    expected = max(-1.0, reference.kappa_low), min(1.0, reference.kappa_upp)
    assert ours.interval == pytest.approx(expected, abs=1e-5)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=30))
def test_fleiss_kappa_equals_statsmodels(good: list[int]) -> None:
    counts = [[number, 4 - number] for number in good]
    assume(0 < sum(good) < 4 * len(good))
    assert fleiss_kappa(counts).value == pytest.approx(reference_fleiss(np.array(counts)), abs=1e-9)


def test_fleiss_interval_has_the_width_of_a_bootstrap() -> None:
    generator = np.random.default_rng(0)
    counts = generator.choice(5, 200, p=[0.2, 0.1, 0.1, 0.2, 0.4])
    table = np.stack([counts, 4 - counts], 1)
    kappa = fleiss_kappa(table.tolist())
    resampled = [fleiss_kappa(table[generator.integers(0, 200, 200)].tolist()).value for _ in range(500)]
    low, high = np.percentile(np.array(resampled, dtype=float), [2.5, 97.5])
    assert kappa.interval == pytest.approx((low, high), abs=0.03)


def test_perfect_agreement_has_an_interval_that_leaves_room_for_doubt() -> None:
    kappa = cohen_kappa([[5, 0], [0, 5]])
    assert kappa.value == 1.0
    assert kappa.interval is not None
    low, high = kappa.interval
    assert high == 1.0
    assert 0.3 < low < 0.6  # ten problems do not prove much
    assert fleiss_kappa([[2, 0]] * 5 + [[0, 2]] * 5).interval == pytest.approx((low, high))


def test_a_judge_with_one_category_only_has_kappa_0_and_an_interval_around_it() -> None:
    kappa = cohen_kappa([[15, 0], [5, 0]])
    assert kappa.value == pytest.approx(0.0)
    assert kappa.interval is not None
    assert kappa.interval[0] < 0 < kappa.interval[1] <= 1


def test_kappa_of_equal_marks_only_is_undefined() -> None:
    assert cohen_kappa([[10, 0], [0, 0]]).value is None
    assert cohen_kappa([[10, 0], [0, 0]]).band == "undefined"
    assert fleiss_kappa([[3, 0]] * 4).value is None


def test_fleiss_interval_survives_a_single_disputed_problem() -> None:
    kappa = fleiss_kappa([[3, 0], [3, 0], [3, 0], [2, 1]])
    assert kappa.value == pytest.approx(-1 / 11)
    assert kappa.interval is not None


@pytest.mark.parametrize("table", [[], [[1, 2]], [[1, -1], [0, 1]], [[0, 0], [0, 0]]])
def test_a_table_that_is_none_is_refused(table: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"table|nothing"):
        cohen_kappa(table)


@pytest.mark.parametrize("counts", [[], [[2, 1], [1, 1]], [[1, 0], [0, 1]]])
def test_counts_of_unequal_judges_are_refused(counts: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"judges|nothing"):
        fleiss_kappa(counts)


@pytest.mark.parametrize(
    ("value", "band"),
    [(-0.1, "poor"), (0.0, "slight"), (0.3, "fair"), (0.5, "moderate"), (0.71, "substantial"), (0.9, "almost perfect")],
)
def test_bands_are_those_of_landis_and_koch(value: float, band: str) -> None:
    from comdiv.evaluation.kappa import Kappa

    assert Kappa(value, None, 0.0, 0.0, 1).band == band


def test_two_judges_give_shares_table_kappa_and_disagreements() -> None:
    found = agreement(marked("Ann", "++++gf++") + marked("Ben", "+++l+f++"))
    assert found.judges == ("Ann", "Ben")
    assert [criterion.criterion for criterion in found.criteria] == ["good", "grammar", "fluency", "logic"]
    assert [(share.good, share.n) for share in found.good.shares] == [(6, 8), (6, 8)]
    assert found.good.pairs[0].table == ((5, 1), (1, 1))
    assert found.good.kappa.value == pytest.approx((0.75 - 0.625) / 0.375)
    assert found.good.fleiss is None
    assert [[one.id for one in disputed] for disputed in found.disagreements] == [["p3", "p3"], ["p4", "p4"]]
    assert found.criteria[2].kappa.value == 1.0  # fluency


def test_more_judges_give_fleiss_and_every_pair() -> None:
    found = agreement(marked("Ann", "++gg") + marked("Ben", "++g+") + marked("Cem", "+fff"))
    assert found.good.fleiss is not None
    assert found.good.kappa is found.good.fleiss
    assert [pair.judges for pair in found.good.pairs] == [("Ann", "Ben"), ("Ann", "Cem"), ("Ben", "Cem")]
    record = found.to_json()
    assert record["good"]["fleiss"]["n"] == 4
    assert len(record["disagreements"]) == 2


def test_marks_without_criteria_are_compared_on_good_alone() -> None:
    found = agreement([Judgement(f"p{n}", judge, n != 1) for judge in ("Ann", "Ben") for n in range(3)])
    assert [criterion.criterion for criterion in found.criteria] == ["good"]


def test_judges_with_different_problems_are_refused_by_name() -> None:
    with pytest.raises(ComdivError, match="judge 'Ben' has no mark for problem 'p2', which another judged"):
        agreement(marked("Ann", "+++") + marked("Ben", "++"))


def test_a_single_judge_agrees_with_nobody() -> None:
    with pytest.raises(ComdivError, match="at least two judges: only 'Ann' did"):
        agreement(marked("Ann", "++"))
    with pytest.raises(ComdivError, match="nobody"):
        agreement([])

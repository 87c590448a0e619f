"""Four ways to split behind one interface: sizes, twins, and what each method promises."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.registry import SPLIT_METHODS
from comdiv.splitting.extraction import Extraction, ExtractionSettings, extract
from comdiv.splitting.measurement import measure
from comdiv.splitting.methods import (
    SplitSettings,
    _at_held_out_target,
    preset_settings,
    problems_to_split,
    split_problems,
    wanted_test_size,
)
from comdiv.splitting.outputs import small_corpus_note
from comdiv.splitting.search import SplitResult

EXPRESSIONS = ["N0+N1", "N0-N1", "N0*N1", "N0/N1", "N0*N1+N0", "(N0+N1)*N1", "N0-N1/N0", "N0+N1-1"]
THINGS = ["apples", "pears", "boxes", "hours", "roads"]


def twin_corpus() -> list[Problem]:
    """Forty texts of 5 to 12 tokens, of which there are one, two or three with other numbers."""
    problems = []
    for number in range(40):
        one, other = THINGS[number % 5], THINGS[number // 5 % 5]
        padding = " ".join(["more"] * (number % 8))
        for twin in range(1 + number % 3):
            text = f"{number + twin} {one} and {number * 7 + twin} {other} {padding} q{'x' * number}"
            problems.append(Problem(f"{number:02}-{twin}", "en", text, parse(EXPRESSIONS[number % 8])))
    return problems


EXTRACTION = extract(twin_corpus())
BASIC = SplitSettings(
    test_size=16, atom_bound=0.05, operator_bound=0.1, extraction=ExtractionSettings(k=3, clusterings=2)
)


def masked(extraction: Extraction, mask: np.ndarray, *, test: bool) -> set[str]:
    return {masked for masked, is_test in zip(extraction.masks, mask, strict=True) if is_test == test}


def corpus_of(*texts: str) -> Extraction:
    return extract([Problem(f"{number:02}", "en", text) for number, text in enumerate(texts)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", SPLIT_METHODS.names())
def test_twins_never_lie_on_both_sides(method: str, seed: int) -> None:
    mask = split_problems(EXTRACTION, BASIC.changed(method=method, seed=seed))
    assert not masked(EXTRACTION, mask, test=True) & masked(EXTRACTION, mask, test=False)


@pytest.mark.parametrize("method", SPLIT_METHODS.names())
def test_test_has_the_wanted_size(method: str) -> None:
    mask = split_problems(EXTRACTION, BASIC.changed(method=method, test_size=20))
    assert mask.shape == (len(EXTRACTION.problems),)
    assert mask.sum() == 20


def test_templates_that_do_not_add_up_give_the_nearest_smaller_size() -> None:
    sizes = Counter(EXTRACTION.templates)
    assert set(sizes.values()) == {9, 10, 11}
    assert split_problems(EXTRACTION, BASIC.changed(method="template", test_size=16)).sum() == 11


@pytest.mark.parametrize("method", SPLIT_METHODS.names())
def test_equal_seeds_give_equal_splits(method: str) -> None:
    settings = BASIC.changed(method=method, seed=3)
    assert np.array_equal(split_problems(EXTRACTION, settings), split_problems(EXTRACTION, settings))


@pytest.mark.parametrize("method", ["dbca", "iid", "template"])
def test_other_seeds_give_other_splits(method: str) -> None:
    extraction = extract(list(generate("en", 200)))
    settings = SplitSettings(method=method, k=3, clusterings=2, operator_bound=0.1, steps_per_item=20)
    masks = [split_problems(extraction, settings.changed(seed=seed)) for seed in range(2)]
    assert not np.array_equal(*masks)


def test_groups_of_twins_that_do_not_add_up_give_the_nearest_smaller_size() -> None:
    pairs = corpus_of(*[f"{n} {'x' * (n // 2 + 1)} here" for n in range(8)])
    for method in ("iid", "length", "template"):
        assert split_problems(pairs, SplitSettings(method=method, test_size=3)).sum() == 2


def test_iid_without_the_twin_rule_tears_twins_apart() -> None:
    mask = split_problems(EXTRACTION, BASIC.changed(method="iid", twins=False))
    assert mask.sum() == 16
    assert masked(EXTRACTION, mask, test=True) & masked(EXTRACTION, mask, test=False)


def test_dbca_diverges_more_than_chance_within_its_bound() -> None:
    mask = split_problems(EXTRACTION, BASIC)
    found = measure(EXTRACTION, mask, BASIC.extraction)
    assert found.atom_divergence["paper"] <= 0.05
    assert found.compound_divergence["paper"] > found.iid_compound_divergence + 0.2


def test_dbca_can_search_greedily_and_by_the_other_preset() -> None:
    extraction = extract(list(generate("en", 200)))
    basic = BASIC.changed(test_size=40, atom_bound=0.2, operator_bound=0.2, steps_per_item=50)
    greedy = split_problems(extraction, basic.changed(search="greedy"))
    other = split_problems(extraction, basic.changed(alpha="keysers2020", atom_bound=0.1))
    assert measure(extraction, other, basic.extraction).atom_divergence["keysers2020"] <= 0.1
    assert len({mask.tobytes() for mask in (split_problems(extraction, basic), greedy, other)}) == 3


def test_dbca_reports_its_progress() -> None:
    steps: list[tuple[int, int]] = []
    split_problems(EXTRACTION, BASIC, lambda done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] > 0


def test_length_puts_the_longest_texts_into_test_and_ties_by_id() -> None:
    corpus = corpus_of("1 a b", "2 a b c d", "3 a", "4 b", "5 a b c", "6 c")
    assert split_problems(corpus, SplitSettings(method="length", test_size=2)).nonzero()[0].tolist() == [1, 4]
    assert split_problems(corpus, SplitSettings(method="length", test_size=4)).nonzero()[0].tolist() == [0, 1, 2, 4]


def test_length_passes_over_a_group_of_twins_that_no_longer_fits() -> None:
    corpus = corpus_of("1 a b c d", "2 a b c", "3 a b c", "4 a b", "5 a")
    assert split_problems(corpus, SplitSettings(method="length", test_size=2)).nonzero()[0].tolist() == [0, 3]
    free = SplitSettings(method="length", test_size=2, twins=False)
    assert split_problems(corpus, free).nonzero()[0].tolist() == [0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_no_template_of_test_is_in_train(seed: int) -> None:
    settings = BASIC.changed(method="template", test_size=20, seed=seed)
    mask = split_problems(EXTRACTION, settings)
    templates = np.array(EXTRACTION.templates)
    assert not set(templates[mask]) & set(templates[~mask])
    assert measure(EXTRACTION, mask, settings.extraction).unseen_template_share == 1.0


def test_templates_that_twins_connect_stay_together() -> None:
    connected = extract(
        [
            Problem("1", "en", "1 and 2", parse("N0+N1")),
            Problem("2", "en", "3 and 4", parse("N0*N1")),  # a twin of 1 with the template of 3
            Problem("3", "en", "5 or 6", parse("N0*N1")),
            Problem("4", "en", "7 less 8", parse("N0-N1")),
            Problem("5", "en", "a problem without an expression"),
        ]
    )
    for seed in range(5):
        mask = split_problems(connected, SplitSettings(method="template", test_size=3, seed=seed)).tolist()
        assert mask[:3] in ([True] * 3, [False] * 3)


@pytest.mark.parametrize("method", ["iid", "length", "template"])
def test_controls_need_no_expressions(method: str) -> None:
    corpus = corpus_of("1 a", "2 b b", "3 c c c", "4 d d d d")
    assert split_problems(corpus, SplitSettings(method=method, test_size=0.5)).sum() == 2


def test_dbca_without_expressions_is_one_clear_line() -> None:
    with pytest.raises(ComdivError, match="no problem has an expression with an operator"):
        split_problems(corpus_of("1 a", "2 b", "3 c"), SplitSettings(test_size=1))


@pytest.mark.parametrize("method", SPLIT_METHODS.names())
def test_a_corpus_of_twins_only_is_one_clear_line(method: str) -> None:
    twins = extract([Problem(str(n), "en", f"{n} bags of {n} apples", parse("N0*N1")) for n in range(6)])
    settings = SplitSettings(method=method, test_size=2, extraction=ExtractionSettings(k=2))
    with pytest.raises(ComdivError, match="all 6 examples are twins of each other"):
        split_problems(twins, settings)


@pytest.mark.parametrize(("size", "count"), [(0.2, 100), (0.25, 125), (0.9989, 499), (1, 1), (474, 474), (499, 499)])
def test_a_test_size_is_a_share_or_a_number(size: float, count: int) -> None:
    assert wanted_test_size(SplitSettings(test_size=size), 500) == count


@pytest.mark.parametrize("size", [0, -3, 100, 101, 2.5, 0.001, 0.999])
def test_a_test_size_of_nothing_all_or_too_much_is_one_clear_line(size: float) -> None:
    with pytest.raises(ComdivError, match=r"does not fit 100 problems: use a share such as 0\.2, or 1 to 99"):
        wanted_test_size(SplitSettings(test_size=size), 100)


@pytest.mark.parametrize("size", [float("nan"), float("inf")])
def test_a_test_size_that_is_no_number_is_refused_at_once(size: float) -> None:
    with pytest.raises(ComdivError, match="setting test_size: Input should be a finite number"):
        SplitSettings(test_size=size)


@pytest.mark.parametrize("problems", [0, 1])
def test_a_corpus_of_fewer_than_two_problems_cannot_be_split(problems: int) -> None:
    with pytest.raises(ComdivError, match=f"{problems} problems are too few to split"):
        wanted_test_size(SplitSettings(), problems)


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(ComdivError, match="Did you mean 'template'"):
        SplitSettings(method="templates")


def test_an_unknown_preset_is_refused_at_once() -> None:
    with pytest.raises(ComdivError, match="unknown alpha preset 'mine'"):
        SplitSettings(alpha="mine")


@pytest.mark.parametrize("method", ["iid", "length", "template"])
def test_a_target_goes_with_dbca_only(method: str) -> None:
    with pytest.raises(ComdivError, match=f"goes with --method dbca, not {method}"):
        SplitSettings(method=method, target=0.5)


def corpus_with_empty_ones(empty: int) -> list[Problem]:
    """The twin corpus, and problems that no expression is known of, or that have no operator."""
    kinds = [None, parse("N0")]
    return twin_corpus() + [Problem(f"x{n:02}", "en", f"{n} {'y' * n}", kinds[n % 2]) for n in range(empty)]


@pytest.mark.parametrize("seed", range(3))
def test_problems_without_compounds_are_spread_evenly(seed: int) -> None:
    full = [
        replace(problem, expression=None) if n % 4 == 0 else problem for n, problem in enumerate(generate("en", 400))
    ]
    extraction = extract(full)
    empty = extraction.operators() == 0
    settings = SplitSettings(clusterings=2, seed=seed, steps_per_item=50)
    test = split_problems(extraction, settings)
    assert test.sum() == 80
    assert test[empty].sum() == 20
    anywhere = split_problems(extraction, settings.changed(without_expression="anywhere", length_weight=0))
    assert anywhere[empty].sum() > 24  # they cost a search nothing


def test_problems_without_compounds_can_be_left_out() -> None:
    problems = corpus_with_empty_ones(6)
    assert problems_to_split(problems, BASIC) == problems
    assert problems_to_split(problems, BASIC.changed(without_expression="drop")) == twin_corpus()


def test_operators_and_their_numbers_are_alike_on_both_sides() -> None:
    extraction = extract(list(generate("en", 600)))
    settings = SplitSettings(clusterings=3, steps_per_item=100)
    bounded, free = (
        measure(extraction, split_problems(extraction, chosen), settings.extraction)
        for chosen in (settings, settings.changed(operator_bound=1))
    )
    assert bounded.operator_divergence <= 0.01
    assert bounded.operator_count_divergence is not None
    assert bounded.operator_count_divergence <= 0.01
    assert free.operator_divergence > 0.01


def test_bounds_give_way_to_chance_on_a_corpus_too_small_for_them() -> None:
    """Twelve problems with one to four operators cannot be as evenly mixed as 48: a random split has 0.03 or more."""
    extraction = extract(list(generate("en", 60)))
    measured = measure(extraction, split_problems(extraction, SplitSettings()), ExtractionSettings())
    assert measured.operator_count_divergence is not None
    assert 0.01 < measured.operator_count_divergence <= 0.05


def test_forty_problems_can_be_split_and_the_report_says_what_they_are_too_few_for() -> None:
    extraction, settings = extract(list(generate("en", 40))), SplitSettings(steps_per_item=500)
    measured = measure(extraction, split_problems(extraction, settings), ExtractionSettings())
    assert 0.01 < measured.atom_divergence["paper"] <= 9 * 0.045 * (1 / 32 + 1 / 8)  # what chance gives ten clusters
    assert small_corpus_note(measured, settings).startswith("WARNING: 40 problems are too few for the bounds asked for")
    assert "atom divergence 0.0" in small_corpus_note(measured, settings)
    assert small_corpus_note(measured, settings.changed(atom_bound=None, operator_bound=None)) == ""
    assert small_corpus_note(measured, settings.changed(method="iid")) == ""


def test_a_target_that_one_seed_jumps_over_is_found_by_another() -> None:
    """With seed 3, a split has 0.1 more or less than its aim; with seed 6, just as much as its aim."""
    aims: list[float] = []

    def search(*, target: float, seed: int) -> SplitResult:
        aims.append(target)
        off = 0.1 * (-1) ** len(aims) if seed < 6 else 0.0
        return SplitResult(np.array([target + off]), target + off, 0.0, 1.0, True, 1)  # type: ignore[arg-type]

    found = _at_held_out_target(search, 0.5, 3, lambda mask: float(mask[0]))
    assert found[0] == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ComdivError, match=r"the nearest has 0\.[46]00$"):
        _at_held_out_target(search, 0.5, -100, lambda mask: float(mask[0]))


def test_several_clusterings_hold_under_others() -> None:
    extraction = extract(list(generate("en", 600)))
    one, several = (
        measure(extraction, split_problems(extraction, preset_settings("paper", clusterings=n)), ExtractionSettings())
        for n in (1, 6)
    )
    assert several.compound_divergence_other_clusterings > one.compound_divergence_other_clusterings + 0.03


def test_a_target_is_aimed_at_on_held_out_clusterings() -> None:
    extraction = extract(list(generate("en", 600)))
    settings = SplitSettings(clusterings=4, target=0.6, steps_per_item=100)
    found = measure(extraction, split_problems(extraction, settings), settings.extraction)
    assert found.compound_divergence_other_clusterings == pytest.approx(0.6, abs=0.01)
    with pytest.raises(ComdivError, match=r"no split found with compound divergence 0\.99"):
        split_problems(extraction, settings.changed(target=0.99))


def test_the_papers_preset_can_be_changed_and_an_unknown_one_is_named() -> None:
    assert preset_settings("paper", k=5).extraction == ExtractionSettings(k=5, clusterings=1)
    assert preset_settings() == SplitSettings()
    with pytest.raises(ComdivError, match=r"unknown preset 'papr'\. Did you mean 'paper'"):
        preset_settings("papr")

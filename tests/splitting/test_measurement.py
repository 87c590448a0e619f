"""The report on a split, worked out by hand on four problems: a stands for apples, p for pears.

train  t1  2 apples and 3 pears            N0+N1            a p      a+p
       t2  4 pears and 5 pears             (N0-N1)+(N0-N1)  p p p p  p-p twice, (p-p)+(p-p)
test   s1  6 apples and 8 pears            N1+N0            a p      a+p; a twin of t1
       s2  9 apples and 2 apples here now  N0*N1            a a      a*a
"""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.reading import Context
from comdiv.splitting.extraction import Extraction, ExtractionSettings, extract
from comdiv.splitting.measurement import (
    Frequency,
    Measurement,
    iid_divergence,
    inexpressible_note,
    measure,
    table_rows,
)

SETTINGS = ExtractionSettings(k=2, window=1)


def problem(name: str, text: str, expression: str | None) -> Problem:
    return Problem(name, "en", text, None if expression is None else parse(expression))


S1 = problem("s1", "6 apples and 8 pears", "N1+N0")
S2 = problem("s2", "9 apples and 2 apples here now", "N0*N1")
T1 = problem("t1", "2 apples and 3 pears", "N0+N1")
T2 = problem("t2", "4 pears and 5 pears", "(N0-N1)+(N0-N1)")
FOUR = (S1, S2, T1, T2)


def by_fruit(contexts: Sequence[Context]) -> npt.NDArray[np.float64]:
    return np.array([[float(context[-1] == "apples")] for context in contexts])


def extracted(*problems: Problem) -> Extraction:
    return extract(problems, window=1, vectorise=by_fruit)


def measured(*problems: Problem, settings: ExtractionSettings = SETTINGS) -> Measurement:
    """What is called s… goes to test."""
    extraction = extracted(*problems)
    test = np.array([item.id.startswith("s") for item in extraction.problems], dtype=np.bool_)
    return measure(extraction, test, settings)


def test_compound_divergence_is_that_of_the_formula_at_both_presets() -> None:
    found = measured(*FOUR).compound_divergence  # a+p: 1 of 4 in train, 1 of 2 in test; nothing else is shared
    assert found["paper"] == pytest.approx(1 - 0.25**0.5 * 0.5**0.5, abs=1e-6)
    assert found["keysers2020"] == pytest.approx(1 - 0.25**0.1 * 0.5**0.9, abs=1e-6)


def test_atom_divergence_is_that_of_the_formula_at_both_presets() -> None:
    found = measured(*FOUR).atom_divergence  # apples and pears: 1 and 5 of 6 in train, 3 and 1 of 4 in test
    for name, alpha in (("paper", 0.1), ("keysers2020", 0.5)):
        shared = (1 / 6) ** alpha * 0.75 ** (1 - alpha) + (5 / 6) ** alpha * 0.25 ** (1 - alpha)
        assert found[name] == pytest.approx(1 - shared, abs=1e-6)


def test_operator_divergence_compares_operators_alone() -> None:
    # + twice and - twice in train, + and * once in test
    assert measured(*FOUR).operator_divergence == pytest.approx(0.5)


def test_ratios_are_of_tokens_and_of_operators_with_leaves() -> None:
    found = measured(*FOUR)
    assert found.length_ratio == pytest.approx(5 / 6, abs=1e-4)  # 5, 5 against 5, 7
    assert found.expression_length_ratio == pytest.approx(5 / 3, abs=1e-4)  # 3, 7 against 3, 3


def test_shares_count_test_problems() -> None:
    found = measured(*FOUR)
    assert (found.train_size, found.test_size) == (2, 2)
    assert found.unseen_compound_share == 0.5  # s2
    assert found.unseen_template_share == 0.5  # s2; s1 has the template of t1
    assert (found.twins, found.twin_share) == (1, 0.5)  # s1


def test_without_commutativity_the_other_order_is_another_compound() -> None:
    settings = ExtractionSettings(k=2, window=1, commutative=False)
    found = measured(*FOUR, settings=settings)
    assert found.compound_divergence == {"paper": 1.0, "keysers2020": 1.0}
    assert found.unseen_compound_share == 1.0


def test_the_iid_divergence_is_the_mean_of_random_splits_with_twins_together() -> None:
    # Two of four in test, s1 and t1 together: against s2 and t2 they share nothing, whatever the draw.
    assert measured(*FOUR).iid_compound_divergence == 1.0
    without_twins = iid_divergence(extracted(*FOUR).encoded(SETTINGS, twins=False), 2, seeds=40)
    assert without_twins < 1.0


def test_frequencies_are_sorted_and_the_most_different_come_first() -> None:
    found = measured(*FOUR)
    assert [(f.train, f.test) for f in found.atoms] == [(5, 1), (1, 3)]
    assert found.compounds[0] == Frequency("(c0+c1)", 1, 1)  # before p-p, which is as frequent, by its name
    assert (found.compounds[1].train, found.compounds[1].test) == (2, 0)
    assert len(found.compounds) == 4
    assert {(f.train, f.test) for f in found.differing_compounds[:2]} == {(2, 0), (0, 1)}  # half of a side each
    assert len(found.differing_compounds) == 4


def test_a_side_against_itself_has_no_divergence_and_only_twins() -> None:
    again = [problem(f"s-{p.id}", p.text, "N0+N1") for p in FOUR]
    train = [problem(f"t-{p.id}", p.text, "N0+N1") for p in FOUR]
    found = measured(*again, *train)
    assert found.compound_divergence == found.atom_divergence == {"paper": 0.0, "keysers2020": 0.0}
    assert found.length_ratio == found.expression_length_ratio == 1.0
    assert found.unseen_compound_share == found.unseen_template_share == 0.0
    assert (found.twins, found.twin_share) == (4, 1.0)


def test_problems_without_expressions_are_counted_and_change_nothing_else() -> None:
    silent = [problem("s3", "1 apples and 2 plums", None), problem("t3", "7 apples and 2 plums", None)]
    found, without = measured(*FOUR, *silent), measured(*FOUR)
    assert found.without_expression == 2
    assert (found.train_size, found.test_size) == (3, 3)
    assert found.compound_divergence == without.compound_divergence
    assert found.atom_divergence == without.atom_divergence
    assert found.expression_length_ratio == without.expression_length_ratio
    assert found.unseen_compound_share == found.unseen_template_share == 0.5
    assert (found.twins, found.twin_share) == (2, pytest.approx(2 / 3))  # texts have twins without expressions, too


@pytest.mark.parametrize(("side", "others"), [("test", (T1, T2)), ("training", (S1, S2))])
def test_an_empty_side_is_one_clear_line(side: str, others: tuple[Problem, ...]) -> None:
    with pytest.raises(ComdivError, match=f"the {side} side is empty"):
        measured(*others)


@pytest.mark.parametrize(("side", "name", "others"), [("test", "s3", (T1, T2)), ("training", "t3", (S1, S2))])
def test_a_side_without_expressions_is_one_clear_line(side: str, name: str, others: tuple[Problem, ...]) -> None:
    with pytest.raises(ComdivError, match=f"the {side} side has no expression with an operator"):
        measured(*others, problem(name, "9 apples", "N0"))


def test_no_expressions_at_all_are_one_clear_line_even_with_too_few_contexts_for_k() -> None:
    with pytest.raises(ComdivError, match="no problem has an expression with an operator"):
        measured(
            problem("s", "1 apples", None), problem("t", "2 apples", None), settings=ExtractionSettings(k=50, window=1)
        )


def test_an_unknown_preset_is_refused() -> None:
    extraction = extracted(*FOUR)
    with pytest.raises(ComdivError, match="Did you mean 'keysers2020'"):
        measure(extraction, np.array([True, True, False, False]), SETTINGS, alpha="keysers", iid=0.1)


def test_json_has_every_figure_and_the_long_tables_only_where_asked_for() -> None:
    found = measured(*FOUR)
    short, full = found.to_json(), found.to_json(frequencies=True)
    assert json.loads(json.dumps(short))["compound_divergence"]["paper"] == found.compound_divergence["paper"]
    assert full.keys() - short.keys() == {"atoms", "compounds"}
    assert full["atoms"][0] == {"name": found.atoms[0].name, "train": 5, "test": 1}


def test_other_clusterings_are_measured_with_other_seeds_and_averaged() -> None:
    extraction = extract(list(generate("en", 120)))
    test = np.arange(120) % 4 == 0
    one = [measure(extraction, test, ExtractionSettings(k=5, seed=seed, clusterings=1)) for seed in range(5)]
    several = measure(extraction, test, ExtractionSettings(k=5, seed=0, clusterings=2))
    compounds = [single.compound_divergence["paper"] for single in one]
    atoms = [single.atom_divergence["paper"] for single in one]
    assert one[0].compound_divergence_other_clusterings == pytest.approx(np.mean(compounds[1:4]), abs=1e-9)
    assert several.compound_divergence["paper"] == pytest.approx(np.mean(compounds[:2]), abs=1e-6)
    assert several.atom_divergence["paper"] == max(atoms[:2])
    assert several.compound_divergence_other_clusterings == pytest.approx(np.mean(compounds[2:]), abs=1e-9)
    assert several.atom_divergence_other_clusterings == pytest.approx(np.mean(atoms[2:]), abs=1e-9)


def test_what_has_no_operator_is_told_for_each_side_and_loudly_where_it_is_much() -> None:
    problems = [problem(f"{n:02}", f"{n} a and {n} {'b' * n}", "N0+N1" if n > 1 else None) for n in range(20)]
    found = measure(extract(problems), np.arange(20) >= 15, ExtractionSettings(k=2))
    assert found.without_operator_share == {"train": pytest.approx(2 / 15, abs=1e-6), "test": 0.0}
    assert inexpressible_note(found).startswith("WARNING: 2 problems (10.0%) have no expression with an operator")
    few = measure(extract([*problems[1:], replace(problems[5], id="x")]), np.arange(20) >= 15, ExtractionSettings(k=2))
    assert inexpressible_note(few) == ""


def test_the_report_begins_with_the_held_out_divergence() -> None:
    found = measured(*FOUR)
    name, value = table_rows(found)[1]
    assert name == "compound divergence, held-out clusterings (paper)"
    assert value == f"{found.compound_divergence_other_clusterings:.3f}"


def test_a_measurement_of_an_earlier_version_is_read_without_what_it_lacks() -> None:
    facts = measured(*FOUR).to_json()
    newer = ("clusterings", "operator_count_divergence", "without_operator_share", "atom_divergence_other_clusterings")
    found = Measurement.from_facts({name: value for name, value in facts.items() if name not in newer})
    assert found is not None
    assert found.clusterings == 1
    assert ("divergence of the numbers of operators (α = 0.5)", "not measured") in table_rows(found)

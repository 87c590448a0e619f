"""The real corpora: how many labels agree, how many leaves and units are found. Only ids and counts stand here."""

from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from comdiv.corpora import Corpus, CorpusStatistics, corpus_statistics, read_corpus
from comdiv.expression import TOLERANCE, format_number
from comdiv.language import get_language, learn_units
from comdiv.reading import read_text

pytestmark = [pytest.mark.real_data, pytest.mark.usefixtures("real_data")]


@cache
def corpus(name: str) -> Corpus:
    return read_corpus(name)


@cache
def statistics(name: str, tolerance: Fraction = TOLERANCE) -> CorpusStatistics:
    return corpus_statistics(corpus(name).problems, corpus(name).report, tolerance)


@pytest.mark.parametrize(("name", "records"), [("math23k", 23_162), ("mawps", 2_373), ("svamp", 1_000)])
def test_every_record_becomes_a_problem(name: str, records: int) -> None:
    counted = statistics(name)
    assert (counted.records, counted.problems) == (records, records)
    assert len({problem.id for problem in corpus(name).problems}) == records


def test_math23k_labels_agree() -> None:
    counted = statistics("math23k")
    assert counted.agree >= 23_156
    assert counted.evaluated >= 23_160
    assert (counted.unreadable, counted.not_expressible) == (2, 0)


def test_mawps_labels_agree_where_the_corpus_does_not_contradict_itself() -> None:
    counted = statistics("mawps")
    assert counted.evaluated >= 2_354
    assert counted.agree >= 2_325  # 37 answers are not within 1e-4 of their own equation
    assert (counted.unreadable, counted.not_expressible) == (0, 11)
    assert counted.evaluated + counted.not_expressible == counted.problems


@pytest.mark.parametrize(("tolerance", "agree", "hold"), [(TOLERANCE, 2_325, 2_355), (Fraction(1, 100), 2_344, 2_358)])
def test_mawps_equations_evaluate_to_their_answers_as_printed(tolerance: Fraction, agree: int, hold: int) -> None:
    counted = statistics("mawps", tolerance)
    assert (counted.evaluated, counted.agree, counted.hold) == (2_362, agree, hold)
    assert len(counted.disagreeing) == 2_362 - agree


def test_svamp_labels_agree() -> None:
    counted = statistics("svamp")
    assert (counted.evaluated, counted.unreadable, counted.not_expressible) == (1_000, 0, 0)
    assert counted.agree >= 999


def test_hardly_a_leaf_of_math23k_is_another_constant_than_1_and_3_14() -> None:
    report = corpus("math23k").report
    others = {
        format_number(value): n for value, n in report.constants.items() if format_number(value) not in ("1", "3.14")
    }
    leaves = report.leaves_aligned + report.constants.total()
    assert leaves > 75_000
    assert sum(others.values()) <= 0.001 * leaves


def test_nearly_every_quantity_of_math23k_has_a_unit_or_a_kind() -> None:
    texts = [problem.text for problem in corpus("math23k").problems]
    chinese = get_language("zh")
    learnt = chinese.with_lexicon(learn_units(chinese, texts))
    quantities = [q for text in texts for q in read_text(text, learnt).quantities]
    assert len(quantities) > 65_000
    assert sum(q.unit is not None or q.kind is not None for q in quantities) >= 0.98 * len(quantities)
    assert sum(q.unit is not None for q in quantities) >= 0.65 * len(quantities)


def test_mawps_has_its_twins() -> None:
    assert (statistics("mawps").twins, statistics("mawps").twin_groups) == (778, 313)


@pytest.mark.parametrize("name", ["math23k", "mawps", "svamp"])
def test_the_clauses_of_every_text_cover_it(name: str) -> None:
    for problem in corpus(name).problems:
        clauses = get_language(problem.language).clauses(problem.text)
        assert "".join(clause.text for clause in clauses) == problem.text, problem.id


def test_the_data_folder_is_the_one_that_the_environment_names(real_data: Path) -> None:
    assert real_data.is_dir()

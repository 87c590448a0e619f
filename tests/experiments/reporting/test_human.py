"""The report's human evaluation: shares, κ and its table from judges' files; without any, how to get them."""

from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import Judgement, write_judgements
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import PlanResults
from comdiv.experiments.reporting.sections import human_section
from comdiv.experiments.reporting.tables import Table


@pytest.fixture(scope="module")
def plans(results: Path) -> tuple[PlanResults, ...]:
    return read_results(results)


def write_marks(path: Path, judge: str, good: str) -> Path:
    """A file of marks: a letter a problem, g for good."""
    write_judgements(path, [Judgement(f"p{place}", judge, mark == "g") for place, mark in enumerate(good)])
    return path


def rows(table: Table) -> list[list[str]]:
    return [[entry.text for entry in row] for row in table.rows]


def test_the_marks_of_two_judges_stand_beside_the_papers(plans: tuple[PlanResults, ...], tmp_path: Path) -> None:
    files = [
        write_marks(tmp_path / "a.jsonl", "Ann", "gggggggb"),
        write_marks(tmp_path / "b.jsonl", "Ben", "ggggggbb"),
    ]
    section = human_section(tmp_path, plans, files)
    assert section is not None
    shares, agreement, table = section.tables
    assert rows(shares)[:2] == [["Ann", "7", "8", "87.5", "52.9", "97.8"], ["Ben", "6", "8", "75.0", "40.9", "92.9"]]
    assert [row[0] for row in rows(shares)[2:]] == ["the paper's judge 1", "the paper's judge 2"]
    assert rows(table) == [["Ann: good", "6", "1"], ["Ann: not good", "0", "1"]]
    assert (table.columns[1].full_title, table.columns[2].full_title) == ("Ben good", "Ben not good")
    # observed 7/8; by chance 7/8 · 6/8 + 1/8 · 2/8 = 11/16; κ = (14 − 11) / (16 − 11)
    assert rows(agreement)[0][:2] == ["good", "0.60"]
    assert rows(agreement)[0][4:] == ["moderate", "87.5", "8"]
    assert rows(agreement)[-1][:2] == ["good, in the paper", "0.71"]
    assert "8 problems, 2 judges" in section.kicker


def test_marks_that_lie_with_the_results_are_found(plans: tuple[PlanResults, ...], tmp_path: Path) -> None:
    write_marks(tmp_path / "judgements" / "ann.jsonl", "Ann", "gb")
    write_marks(tmp_path / "judgements" / "ben.jsonl", "Ben", "gb")
    (tmp_path / "judgements" / "agreement.json").write_text("{}")
    section = human_section(tmp_path, plans)
    assert section is not None
    assert "2 problems, 2 judges" in section.kicker


def test_without_marks_it_says_how_to_get_them(results: Path, plans: tuple[PlanResults, ...]) -> None:
    section = human_section(results, plans)
    assert section is not None
    assert not section.tables
    assert "Nobody has judged" in section.kicker
    assert f"comdiv judge {results.name}/cells/augmentation-" in section.kicker
    assert f"--out {results.name}/judgements" in section.kicker


def test_where_nothing_was_augmented_there_is_nothing_to_judge(tmp_path: Path) -> None:
    assert human_section(tmp_path, ()) is None


def test_judges_of_other_problems_are_refused_by_name(plans: tuple[PlanResults, ...], tmp_path: Path) -> None:
    files = [write_marks(tmp_path / "a.jsonl", "Ann", "ggb"), write_marks(tmp_path / "b.jsonl", "Ben", "gg")]
    with pytest.raises(ComdivError, match="Ben"):
        human_section(tmp_path, plans, files)


def test_the_page_has_the_section(report: Path) -> None:
    assert 'id="human-evaluation"' in (report / "index.html").read_text(encoding="utf-8")

"""The page of results: in step with the files it is made from, and right however much of them there is."""

import re
from pathlib import Path

import pytest

from comdiv.experiments.published import export_results
from docs.tools import TOOLS, load_tool
from experiments.synthetic import problems, write_synthetic_results

tool = load_tool("results_page")
PAPER = TOOLS.parents[1] / "src" / "comdiv" / "experiments" / "reporting" / "paper.yaml"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    export_results(write_synthetic_results(folder / "runs"), folder / "published")
    return folder / "published"


def test_the_page_is_in_step_with_the_results() -> None:
    page, pictures = tool.results_page()
    assert page == (TOOLS.parent / "results.md").read_text(encoding="utf-8"), "python docs/_tools/results_page.py"
    assert {path.name for path in tool.PICTURES.glob("*")} == {f"{name}.svg" for name in pictures}


def test_without_results_everything_is_marked_as_not_run(tmp_path: Path) -> None:
    page, pictures = tool.results_page(tmp_path)
    assert page.count("**Not run.**") == len(tool.PARTS) + 1  # and nobody has judged
    assert not pictures


def test_numbers_stand_there_with_n_seeds_intervals_and_tests(published: Path) -> None:
    page, pictures = tool.results_page(published)
    section = page.partition("## Table II")[2].partition("\n## ")[0]
    assert "demo-en-comdiv test: n = 40" in section
    assert re.search(r"\| GTS\+DA \| \d+\.\d\s±\s\d+\.\d<br>[+−]\d+\.\d\son\sGTS<br>.*\sto\s.*,\sp\s", section)
    assert "2\u00a0of\u00a03\u00a0seeds" in section
    assert "**With and without the coverage constraint**" in section
    assert "**Test texts in the training set**" in section
    assert "<summary>All numbers</summary>" in section
    assert "main-results-gap-test" in pictures
    assert "](pictures/results/main-results-gap-test.svg)" in section
    assert "rounds-curve-rounds" in pictures


def test_the_points_of_a_curve_are_a_table_too(published: Path) -> None:
    page, _ = tool.results_page(published)
    section = page.partition("## Figure 5b")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| GTS \| sd \| (\d) \| 50 \| \d+\.\d \| 40 \| \d\.\d \|$", section, flags=re.M)
    assert rows == ["0", "1", "2", "3"]


def test_no_problem_is_on_the_page(published: Path) -> None:
    page, _ = tool.results_page(published)
    assert not [problem.id for problem in problems() if problem.text in page]


def test_what_we_found_has_no_number_that_is_not_a_result_or_the_papers() -> None:
    pages = TOOLS.parent
    told = ("results.md", "explanation/splitting.md", "how-to/judge-problems.md")
    sources = (*(pages / name for name in told), PAPER)
    known = {number for path in sources for number in _decimals(path.read_text(encoding="utf-8"))}
    found = _decimals((pages / "what-we-found.md").read_text(encoding="utf-8"))
    assert len(found) > 20
    assert found - known == set()


def _decimals(text: str) -> set[str]:
    return set(re.findall(r"\d+\.\d+", text))

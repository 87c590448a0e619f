"""The page of results: in step with the files it is made from, and right however much of them there is."""

import re
from pathlib import Path

import pytest

from comdiv.experiments.archive import export_results
from docs.tools import TOOLS, load_tool
from experiments.synthetic import problems, write_synthetic_results

tool = load_tool("results_page")
PAPER = TOOLS.parents[1] / "src" / "comdiv" / "experiments" / "reporting" / "paper.yaml"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    export_results(write_synthetic_results(folder / "runs"), folder / "published")
    return folder / "published"


def test_the_page_is_in_step_with_the_results_and_short() -> None:
    page, pictures = tool.results_page()
    assert page == (TOOLS.parent / "results.md").read_text(encoding="utf-8"), "python docs/_tools/results_page.py"
    assert {path.name for path in tool.PICTURES.glob("*")} == {f"{name}.svg" for name in pictures}
    assert len(page.splitlines()) <= 250


def test_no_row_of_the_page_lacks_a_number_and_what_is_missing_is_listed_once() -> None:
    page, _ = tool.results_page()
    shown, _, missing = page.partition("## Not run")
    assert "not run" not in shown
    rows = [line for line in shown.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) > 50
    assert "`sd-1.0` above" in shown
    assert not [row for row in rows if set(row.split(" | ")[1:-1]) == {"–"}]
    assert "- `main-results`: math23k-iid: LSTM" in missing
    assert re.search(r"^- nothing of .*`reranking-features`.*`tuning`", missing, flags=re.M)
    assert "old-sd" not in missing


def test_without_results_everything_is_listed_as_not_run(tmp_path: Path) -> None:
    page, pictures = tool.results_page(tmp_path)
    (line,) = re.findall(r"^- nothing of (.*)$", page, flags=re.M)
    assert line.count("`main-results`") == 1
    assert "nobody has judged" in page
    assert not pictures


def test_numbers_stand_there_with_n_seeds_intervals_and_tests(published: Path) -> None:
    page, pictures = tool.results_page(published)
    section = page.partition("## Table II")[2].partition("\n## ")[0]
    assert "n: demo-en-iid test 40, demo-en-comdiv test 40." in section
    assert re.search(r"\| GTS\+DA \| \d+\.\d\s±\s\d+\.\d<br>[+−]\d+\.\d\son\sGTS<br>.*\sto\s.*,\sp\s", section)
    assert re.search(r"\| MathEN \|.*\d+\.\d<br>\d+\.\d\sto\s\d+\.\d<br>2\sseeds", section)  # one of three failed
    assert "Budget: 23 trainings of at most 5 epochs" in section
    assert "rounds-curve-rounds" in pictures


def test_the_points_of_a_curve_are_a_table_too(published: Path) -> None:
    page, _ = tool.results_page(published)
    section = page.partition("## Figure 5b")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| GTS \| sd \| (\d) \| 50 \| \d+\.\d<br>.* \| 40 \| \d\.\d \|$", section, flags=re.M)
    assert rows == ["0", "1", "2", "3"]


def test_every_plan_has_a_page_with_everything(published: Path) -> None:
    pages, pictures = tool.detail_pages(published)
    assert set(pages) == {"main-results", "rounds-curve"}
    page = pages["main-results"]
    for title in ("With and without the coverage constraint", "Test texts in the training set", "All numbers"):
        assert title in page
    assert "](pictures/main-results-gap-test.svg)" in page
    assert "main-results-gap-test" in pictures


def test_no_problem_is_on_the_page(published: Path) -> None:
    page, _ = tool.results_page(published)
    assert not [problem.id for problem in problems() if problem.text in page]


def test_what_we_found_has_no_number_that_is_not_a_result_or_the_papers() -> None:
    pages = TOOLS.parent
    texts = [
        (pages / name).read_text(encoding="utf-8") for name in ("explanation/splitting.md", "how-to/judge-problems.md")
    ]
    texts += [PAPER.read_text(encoding="utf-8"), *tool.detail_pages()[0].values()]
    known = {number for text in texts for number in _decimals(text)}
    page = (pages / "what-we-found.md").read_text(encoding="utf-8")
    assert len(_decimals(page)) > 20
    assert _decimals(page) - known == set()
    assert len(page.splitlines()) <= 150


def _decimals(text: str) -> set[str]:
    return set(re.findall(r"\d+\.\d+", text))

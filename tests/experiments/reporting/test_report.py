"""The report's folder: what is in it, what it says of failed cells, and what it does with strange names."""

import csv
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.experiments.reporting.report import _make_room, make_report


class Links(HTMLParser):
    """Every address and every id of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.addresses += [address for name in ("href", "src") if (address := named.get(name))]
        self.ids += [identity for identity in [named.get("id")] if identity]


@pytest.fixture(scope="module")
def page(report: Path) -> str:
    return (report / "index.html").read_text(encoding="utf-8")


def test_every_link_of_the_page_leads_somewhere(report: Path, page: str) -> None:
    links = Links(page)
    assert len(links.ids) == len(set(links.ids))
    for address in links.addresses:
        if address.startswith("#"):
            assert address[1:] in links.ids, address
        elif not address.startswith("data:"):
            assert (report / address).is_file(), address


def test_nothing_is_loaded_from_elsewhere(report: Path, page: str) -> None:
    assert not [
        address for address in Links(page).addresses if re.match(r"[a-z]+:|//", address) and address != "data:,"
    ]
    assert "@import" not in page
    assert "url(" not in page


def test_failed_and_missing_cells_are_shown_with_their_reasons(page: str) -> None:
    assert "the loss is not a number at step 17: try a lower learning_rate" in page
    assert "because of: MathEN on demo-en-comdiv, seed 2" in page
    assert "2 of 3 seeds" in page


def test_every_table_is_there_in_three_formats_and_every_figure_too(report: Path) -> None:
    tables = {path.stem for path in (report / "tables").iterdir()}
    assert {"main-results-accuracy", "main-results-numbers", "main-results-cells", "rounds-curve-datasets"} <= tables
    for name in tables:
        assert all((report / "tables" / f"{name}.{ending}").stat().st_size for ending in ("md", "tex", "csv"))
    figures = {path.stem.removesuffix("-dark") for path in (report / "figures").iterdir()}
    assert {"main-results-gap-test", "rounds-curve-rounds", "rounds-curve-compounds-sd-10"} <= figures
    for name in figures:
        assert all((report / "figures" / f"{name}{ending}").is_file() for ending in (".svg", ".png", "-dark.svg"))


def test_the_csv_of_all_numbers_agrees_with_the_data(report: Path) -> None:
    data = json.loads((report / "results.json").read_text(encoding="utf-8"))
    mine = [number for number in data["numbers"] if number["plan"] == "main-results"]
    rows = list(csv.DictReader((report / "tables" / "main-results-numbers.csv").open(encoding="utf-8")))
    assert len(rows) == len(mine)
    for row, number in zip(rows, mine, strict=True):
        assert float(row["Accuracy"]) == pytest.approx(100 * number["accuracy"])
        assert int(row["n"]) == number["n"]
        assert row["Method"] == number["method"]
        if number["paired"]:
            assert float(row["Paired test difference"]) == pytest.approx(100 * number["paired"][0]["difference"])


def test_the_data_hold_numbers_and_names_but_no_problem(report: Path) -> None:
    text = (report / "results.json").read_text(encoding="utf-8")
    assert "How many" not in text
    assert json.loads(text)["made_by"] == "comdiv report"


def test_how_to_reproduce_names_command_seeds_versions_and_hashes(page: str) -> None:
    assert "comdiv run experiments/main-results.yaml --out runs" in page
    assert "<dt>seeds</dt><dd>0, 1, 2</dd>" in page
    assert "comdiv 0.1.0" in page
    assert re.search(
        r"<dt>plan&#39;s SHA-256</dt><dd><code>[0-9a-f]{64}|<dt>plan's SHA-256</dt><dd><code>[0-9a-f]{64}", page
    )


def test_a_report_is_not_written_over_without_force(results: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(ComdivError, match="--force"):
        make_report(results, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_without_results_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="holds no results"):
        make_report(tmp_path, tmp_path / "out")


def small_results(results: Path, folder: Path, **changes: object) -> Path:
    """The rounds curve alone, with its plan's description changed."""
    shutil.copytree(results, folder)
    (folder / "plans" / "main-results.json").unlink()
    path = folder / "plans" / "rounds-curve.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, **changes}), encoding="utf-8")
    return folder


def test_names_are_escaped_wherever_they_stand(results: Path, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>../../x"
    runs = small_results(results, tmp_path / "runs", name=evil, title=evil, reproduces=evil, plan={"note": evil})
    make_report(runs, tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "out"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"index.html", "figures", "tables", "results.json"}


def test_with_force_a_results_file_of_another_kind_is_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "results.json").write_bytes(b"\xff\xfe" * 200)
    _make_room(tmp_path, force=True)
    assert (tmp_path / "tables").is_dir()


def test_with_force_an_earlier_report_makes_way_and_other_files_stay(results: Path, tmp_path: Path) -> None:
    runs, out = small_results(results, tmp_path / "runs"), tmp_path / "out"
    make_report(runs, out)
    (out / "figures" / "old.svg").write_text("old")
    (out / "notes.txt").write_text("mine")
    before = (out / "index.html").read_bytes()
    make_report(runs, out, force=True)
    assert not (out / "figures" / "old.svg").exists()
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "index.html").read_bytes() == before  # the same results, the same bytes

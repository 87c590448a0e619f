"""`comdiv report` on the command line: what it prints, what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from comdiv.cli import app
from comdiv.errors import ComdivError
from experiments.synthetic import write_synthetic_results


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_synthetic_results(tmp_path_factory.mktemp("report") / "runs")
    (root / "plans" / "main-results.json").unlink()  # the smaller plan is enough here
    return root


def test_the_page_is_named_and_counted(runs: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / "page")])
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'page' / 'index.html'}: 24 numbers, 4 figures; cells: 15 done" in result.stdout
    assert (tmp_path / "page" / "index.html").is_file()
    refused = CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / "page")])
    assert isinstance(refused.exception, ComdivError)
    again = CliRunner().invoke(app, ["report", str(runs), "--out", str(tmp_path / "page"), "--force", "--json"])
    assert json.loads(again.stdout)["cells"] == {"done": 15, "failed": 0, "not run": 0}


def test_a_folder_that_no_run_filled_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(tmp_path), "--out", str(tmp_path / "page")])
    assert isinstance(result.exception, ComdivError)
    assert "comdiv run PLAN --out" in str(result.exception)

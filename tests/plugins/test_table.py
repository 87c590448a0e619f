"""A table of the report as a package: `docs/examples/comdiv-error-rates`."""

from collections.abc import Callable
from pathlib import Path

from plugins.conftest import Environment

PLAN = """
name: tiny
datasets:
  demo-iid: {corpus: demo-en, limit: 40, split: {method: iid, test_size: 8, k: 2}}
methods:
  LSTM: {solver: lstm}
training: {settings: {epochs: 1, hidden: 8, embedding: 8}}
"""


def test_a_reports_table_may_come_from_a_package(install: Callable[[str], Environment], tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(PLAN, encoding="utf-8")
    environment = install("comdiv-error-rates")
    environment.comdiv("run", "tiny.yaml", "--out", "runs", folder=tmp_path)
    environment.comdiv("report", "runs", "--out", "report", folder=tmp_path)
    (table,) = (tmp_path / "report").rglob("*error-rates*.csv")
    header, row = table.read_text(encoding="utf-8").splitlines()
    assert header == 'Method,Dataset,"Wrong, %"'
    method, dataset, error = row.split(",")
    assert (method, dataset) == ("LSTM", "demo-iid")
    assert 0 <= float(error) <= 1
    assert "Share of the test problems that are not solved." in (tmp_path / "report" / "index.html").read_text()

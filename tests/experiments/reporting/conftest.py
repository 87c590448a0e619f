"""One report on made-up results, for all tests that look at it."""

from pathlib import Path

import pytest

from comdiv.experiments.reporting.report import make_report
from experiments.synthetic import write_synthetic_results


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a runner would have left."""
    return write_synthetic_results(tmp_path_factory.mktemp("results") / "runs")


@pytest.fixture(scope="session")
def report(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report on them; its page is `index.html`."""
    out = tmp_path_factory.mktemp("report") / "report"
    make_report(results, out)
    return out

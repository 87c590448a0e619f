"""The page of a dataset: its divergences and figures, whatever its facts are."""

from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.problem import Problem, Provenance
from comdiv.review import ReviewLog
from comdiv.splitting.extraction import extract
from comdiv.splitting.methods import SplitSettings, split_problems
from comdiv.splitting.outputs import write_split
from comdiv.studio.app import Studio
from comdiv.studio.library import Library
from studio.small import page_client


@pytest.fixture(scope="module")
def split_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("split") / "demo-iid"
    extraction = extract(list(generate("en", 120)))
    settings = SplitSettings.checked(method="iid", k=3)
    write_split(folder, extraction, split_problems(extraction, settings), settings, {"corpus": "demo"})
    return folder


def studio_on(folder: Path) -> Studio:
    library = Library.read(folder)
    return Studio(library, None, ReviewLog(folder / "review.jsonl"))


def test_a_split_shows_its_divergences_figures_and_settings(split_folder: Path) -> None:
    with page_client(studio_on(split_folder)) as client:
        page = client.get("/dataset")
        assert page.status_code == 200
        assert "compound divergence, own 10 clusterings (paper, α = 0.5)" in page.text
        assert "test problems with a twin in train" in page.text
        assert "<dt>test_size</dt>" in page.text
        for name in ("atoms", "compounds"):
            assert f'src="/dataset/figures/{name}.svg"' in page.text
            figure = client.get(f"/dataset/figures/{name}.svg")
            assert (figure.status_code, figure.headers["content-type"]) == (200, "image/svg+xml")
            assert figure.headers["content-security-policy"].startswith("default-src 'none'")
        for other in ("dataset", "..%2Fdataset", "frequencies-atoms"):
            assert client.get(f"/dataset/figures/{other}.svg").status_code == 404


def test_a_dataset_without_a_measurement_says_how_to_get_one(studio: Studio) -> None:
    with page_client(studio) as client:
        page = client.get("/dataset")
        assert page.status_code == 200
        assert "comdiv measure" in page.text
        assert client.get("/dataset/figures/atoms.svg").status_code == 404


def test_repeated_originals_are_no_products() -> None:
    again = Problem("a-2", "en", "3 cats.", provenance=Provenance(operation="repetition", parents=("a",)))
    new = Problem("b", "en", "4 dogs.", provenance=Provenance(operation="operation 1", parents=("a",)))
    library = Library("all", {"train": [again, new]}, {}, Path("review.jsonl"))
    assert [entry.problem.id for entry in library.products] == ["b"]

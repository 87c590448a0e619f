"""Datasets and studios for the tests of the pages."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, write_dataset
from comdiv.review import ReviewLog
from comdiv.studio.app import Studio
from comdiv.studio.clusters import map_clusters
from comdiv.studio.library import Library
from comdiv.studio.shelf import Shelf
from studio.small import hostile, page_client, products


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset folder: demo problems, products, and problems that attack the page. Nobody writes into it."""
    folder = tmp_path_factory.mktemp("datasets") / "small"
    demo = list(generate("en", 160))
    parts = Dataset(tuple(demo[:90] + products()), tuple(demo[90:110]), tuple(demo[110:] + hostile()))
    write_dataset(folder, parts, title="Small")
    return folder


@pytest.fixture
def own_dataset(dataset: Path, tmp_path: Path) -> Path:
    """A copy that a test may write into."""
    folder = tmp_path / "small"
    folder.mkdir()
    for path in dataset.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture(scope="session")
def made(dataset: Path) -> Callable[[Path], Studio]:
    """Studios on copies of the dataset; its clusters are computed once."""
    cluster_map = map_clusters(Library.read(dataset))

    def make(folder: Path, shelf: Shelf | None = None) -> Studio:
        library = Library.read(folder)
        return Studio(library, cluster_map, ReviewLog(library.review), shelf or Shelf(), "Ann")

    return make


@pytest.fixture
def studio(own_dataset: Path, made: Callable[[Path], Studio]) -> Studio:
    return made(own_dataset)


@pytest.fixture
def client(studio: Studio) -> Iterator[TestClient]:
    with page_client(studio) as client:
        yield client

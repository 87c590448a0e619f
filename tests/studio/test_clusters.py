"""Clusters in the studio are those of the split: same settings, same counts as the measurement."""

from pathlib import Path

import numpy as np
import pytest

from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, read_facts, write_dataset
from comdiv.expression import parse
from comdiv.problem import Problem, write_problems
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.measurement import measure
from comdiv.studio.clusters import map_clusters
from comdiv.studio.library import Library


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    demo = list(generate("en", 150))
    folder = tmp_path_factory.mktemp("cluster_map") / "data"
    facts = {"settings": {"extraction": {"k": 6, "window": 2, "atoms": "clusters", "commutative": True, "seed": 3}}}
    write_dataset(folder, Dataset(tuple(demo[:80]), tuple(demo[80:100]), tuple(demo[100:]), facts), title="Data")
    return folder


def test_counts_are_those_of_the_measurement(folder: Path) -> None:
    assert read_facts(folder)["settings"]["extraction"]["k"] == 6
    library = Library.read(folder)
    cluster_map = map_clusters(library)
    assert cluster_map is not None
    assert cluster_map.settings == ExtractionSettings(k=6, window=2, seed=3, clusterings=1)
    extraction = extract([entry.problem for entry in library.entries], window=2)
    parts = {entry.problem.id: entry.part for entry in library.entries}
    test = np.array([parts[problem.id] == "test" for problem in extraction.problems])
    measured = measure(extraction, test, cluster_map.settings)
    assert cluster_map.compound_counts == {f.name: (f.train, f.test) for f in measured.compounds}
    assert cluster_map.atom_counts == {f.name: (f.train, f.test) for f in measured.atoms}
    for entry in library.entries[:20]:
        assert entry.problem.expression is not None
        names = {occurrence.name for occurrence in cluster_map.compounds(entry)}
        assert names <= cluster_map.compound_counts.keys()
        assert all(occurrence.train + occurrence.test >= occurrence.here for occurrence in cluster_map.atoms(entry))


def test_every_cluster_has_words_that_explain_it(folder: Path) -> None:
    cluster_map = map_clusters(Library.read(folder))
    assert cluster_map is not None
    assert all(1 <= len(words) <= 4 for words in cluster_map.words.values())


def test_few_contexts_make_fewer_clusters(tmp_path: Path) -> None:
    texts = ["Tom has 3 cats.", "Ann sees 4 dogs there.", "Buy 5 pens now."]
    path = tmp_path / "few.jsonl"
    write_problems(path, [Problem(str(n), "en", text, parse("N0")) for n, text in enumerate(texts)])
    cluster_map = map_clusters(Library.read(path))
    assert cluster_map is not None
    assert cluster_map.settings.k == 2
    assert map_clusters(Library("none", {"all": [Problem("a", "en", "No number.")]}, {}, path)) is None


def test_hints_are_content_words(folder: Path) -> None:
    cluster_map = map_clusters(Library.read(folder))
    assert cluster_map is not None
    hints = {word for words in cluster_map.words.values() for word in words}
    assert hints
    assert not hints & {"and", "to", "has", "the", "of", "each", "a", "with"}

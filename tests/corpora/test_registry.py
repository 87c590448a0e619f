"""The table of published corpora, and the addresses it gives."""

import json
import os
import re
from io import BytesIO

import pytest

from comdiv.corpora.download import git_blob_id
from comdiv.corpora.locate import find_corpus_files
from comdiv.corpora.registry import PUBLISHED_CORPORA, PublishedFile, published_corpus
from comdiv.errors import ComdivError

FILE = PublishedFile("owner/name", "c0ffee", "data/train set.json", "0" * 40)


def test_every_corpus_of_the_table_is_known_by_its_name() -> None:
    assert set(PUBLISHED_CORPORA) == {
        "math23k",
        "mawps",
        "mawps-original",
        "svamp",
        "mawps-folds",
        "asdiv-a",
        "asdiv",
        "ape210k",
        "gsm8k",
    }
    assert all(published_corpus(name).name == name for name in PUBLISHED_CORPORA)


def test_every_file_is_pinned_to_a_full_commit_and_a_full_blob_id() -> None:
    files = [file for corpus in PUBLISHED_CORPORA.values() for file in corpus.files]
    assert len(files) == 3 + 3 + 1 + 1 + 2 + 2 + 1 + 3 + 2
    assert all(re.fullmatch(r"[0-9a-f]{40}", file.commit) for file in files)
    assert all(re.fullmatch(r"[0-9a-f]{40}", file.blob_id) for file in files)
    assert len({file.blob_id for file in files}) == len(files)


@pytest.mark.parametrize("corpus", PUBLISHED_CORPORA.values(), ids=lambda corpus: corpus.name)
def test_files_of_one_corpus_have_different_names_on_disk(corpus) -> None:
    names = [file.filename.lower() for file in corpus.files]
    assert len(set(names)) == len(names)


def test_training_comes_before_validation_and_test_in_reading_order() -> None:
    assert [file.filename for file in published_corpus("math23k").files] == [
        "trainset.json",
        "validset.json",
        "testset.json",
    ]


def test_unknown_corpus_is_answered_with_the_nearest_known_one() -> None:
    with pytest.raises(ComdivError, match=r"unknown corpus 'math23'\. Did you mean 'math23k'\?"):
        published_corpus("math23")


@pytest.mark.parametrize("name", ["asdiv", "asdiv-a"])
def test_notice_of_asdiv_says_its_licence_and_that_commercial_use_is_excluded(name: str) -> None:
    notice = published_corpus(name).notice
    assert "CC BY-NC 4.0" in notice
    assert "No commercial use" in notice
    assert "\n" not in notice


def test_url_points_to_the_pinned_commit_with_the_path_quoted() -> None:
    assert FILE.url() == "https://raw.githubusercontent.com/owner/name/c0ffee/data/train%20set.json"


@pytest.mark.parametrize(
    "mirror", ["http://localhost:8000/raw", "http://localhost:8000/raw/", "http://localhost:8000/raw//"]
)
def test_mirror_stands_in_for_the_public_base_with_or_without_trailing_slash(mirror: str) -> None:
    assert FILE.url(mirror) == "http://localhost:8000/raw/owner/name/c0ffee/data/train%20set.json"


@pytest.mark.parametrize(
    "mirror",
    [
        "",
        "localhost:8000",
        "mirror.example.org/raw",
        "file:///etc",
        "ftp://mirror.example.org",
        "data:text/plain,x",
        "http://",
        "http://user:secret@mirror.example.org",
        "http://mirror.example.org/?x=",
        "http://mirror.example.org/#x",
        "http://mirror.example.org/a b",
        "http://mirror.example.org/\nx",
        "http://[::1",
        "http://mirror.example.org:port",
    ],
)
def test_mirror_that_is_not_a_plain_web_address_is_refused_in_one_line(mirror: str) -> None:
    with pytest.raises(ComdivError, match="is not a web address") as refusal:
        FILE.url(mirror)
    assert "\n" not in str(refusal.value)


@pytest.mark.real_data
def test_pinned_blob_id_of_svamp_is_that_of_the_real_corpus() -> None:
    if not os.environ.get("COMDIV_DATA"):
        pytest.skip("COMDIV_DATA is not set: the real SVAMP is not at hand")
    (path,) = find_corpus_files("svamp")
    problems = json.loads(path.read_text(encoding="utf-8"))
    as_published = json.dumps(problems, indent=4).encode()  # its authors' layout; copies differ in white space
    (file,) = published_corpus("svamp").files
    assert git_blob_id(BytesIO(as_published)) == file.blob_id

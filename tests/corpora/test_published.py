"""Where corpora are looked for on disk."""

import json
import os
import re
from io import BytesIO
from pathlib import Path

import pytest

from comdiv.corpora.download import git_blob_id
from comdiv.corpora.published import (
    PUBLISHED_CORPORA,
    PublishedFile,
    data_folders,
    find_corpus_files,
    published_corpus,
    user_data_folder,
)
from comdiv.errors import ComdivError


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that COMDIV_DATA names; the user's own data folder is elsewhere and empty too."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("COMDIV_DATA", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return folder


@pytest.fixture
def own(shared: Path, tmp_path: Path) -> Path:
    """The user's own data folder, made."""
    folder = tmp_path / "home" / "comdiv"
    folder.mkdir(parents=True)
    return folder


def put(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("[]")
    return paths


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/xdg"}, "/xdg/comdiv"), ("linux", {}, "/home/ada/.local/share/comdiv"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/comdiv"),
        ("darwin", {"XDG_DATA_HOME": "/xdg"}, "/home/ada/Library/Application Support/comdiv"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/comdiv"), ("win32", {}, "/home/ada/AppData/Local/comdiv"),
    ],
)  # fmt: skip
def test_user_data_folder_is_where_the_system_wants_it(
    platform: str, environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in {"HOME": "/home/ada", **environment}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr("sys.platform", platform)
    assert user_data_folder() == Path(expected)


def test_folder_named_by_comdiv_data_is_searched_before_the_users_own(shared: Path, own: Path) -> None:
    assert data_folders() == [shared, own]


@pytest.mark.parametrize("unset", [True, False])
def test_without_comdiv_data_only_the_users_own_folder_is_searched(
    unset: bool, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if unset:
        monkeypatch.delenv("COMDIV_DATA")
    else:
        monkeypatch.setenv("COMDIV_DATA", "")
    assert data_folders() == [own]


def test_comdiv_data_that_does_not_exist_is_an_error_rather_than_passed_over(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMDIV_DATA", str(shared / "missing"))
    with pytest.raises(ComdivError, match=r"COMDIV_DATA=.*missing does not exist"):
        find_corpus_files("svamp")


def test_comdiv_data_that_is_a_file_is_an_error(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = put(shared, "svamp.json")
    monkeypatch.setenv("COMDIV_DATA", str(path))
    with pytest.raises(ComdivError, match="is not a folder"):
        find_corpus_files("svamp")


@pytest.mark.parametrize(
    "filename",
    [
        "math23k.jsonl", "Math23K.JSON", "MATH23K.csv", "math23k.xml",
    ],
)  # fmt: skip
def test_single_file_is_found_by_the_name_of_its_corpus_in_any_case(filename: str, shared: Path) -> None:
    expected = put(shared, filename)
    assert find_corpus_files("math23k") == expected


@pytest.mark.parametrize(
    "filename",
    [
        "math23k", "math23k.txt", "math23k.v2.json", "math23k-a.json", "math23k.part",
    ],
)  # fmt: skip
def test_other_files_beside_it_are_not_taken_for_the_corpus(filename: str, shared: Path) -> None:
    put(shared, filename)
    with pytest.raises(ComdivError, match="is not in"):
        find_corpus_files("math23k")


def test_json_lines_are_preferred_where_one_folder_holds_several_files_of_one_name(shared: Path) -> None:
    put(shared, "svamp.csv", "svamp.json", "SVAMP.jsonl", "svamp.xml")
    assert find_corpus_files("svamp") == [shared / "SVAMP.jsonl"]


def test_downloaded_files_are_found_in_reading_order(own: Path) -> None:
    expected = put(own, *(f"mawps/{name}" for name in ("trainset.json", "validset.json", "testset.json")))
    assert find_corpus_files("mawps") == expected


def test_downloaded_corpus_that_lacks_a_file_counts_as_not_found(own: Path) -> None:
    put(own, "mawps/trainset.json", "mawps/testset.json", "mawps/validset.json.part")
    with pytest.raises(ComdivError, match="comdiv data download mawps"):
        find_corpus_files("mawps")


def test_earlier_folder_wins_over_the_downloaded_layout_of_a_later_one(shared: Path, own: Path) -> None:
    downloaded = put(own, "svamp/SVAMP.json")
    assert find_corpus_files("svamp") == downloaded
    single = put(shared, "svamp.json")
    assert find_corpus_files("svamp") == single


def test_missing_corpus_is_answered_with_the_download_command_and_the_variable(shared: Path) -> None:
    with pytest.raises(ComdivError, match=r"'comdiv data download gsm8k', or set COMDIV_DATA") as error:
        find_corpus_files("gsm8k")
    assert str(shared) in str(error.value)


def test_corpus_of_the_users_own_is_found_by_its_plain_name(shared: Path) -> None:
    expected = put(shared, "my-corpus-2.csv")
    assert find_corpus_files("my-corpus-2") == expected


def test_plain_name_that_nobody_knows_is_answered_with_the_nearest_known_one(shared: Path) -> None:
    with pytest.raises(ComdivError, match=r"unknown corpus 'svanp'\. Did you mean 'svamp'\?"):
        find_corpus_files("svanp")


@pytest.mark.parametrize(
    "name",
    [
        "", "../x", "/etc/x", "a/b", "a\\b", "C:x", "x.json", "~", "svamp\n", "ｓvamp", "*",
    ],
)  # fmt: skip
def test_name_that_is_not_plain_is_refused_even_where_it_would_lead_to_a_file(name: str, shared: Path) -> None:
    put(shared.parent, "x.json")
    put(shared, "x.json.json", "~.json")
    with pytest.raises(ComdivError, match="is not the name of a corpus"):
        find_corpus_files(name)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["math23k", "mawps", "svamp"])
def test_real_corpora_are_found_by_their_names(name: str) -> None:
    if not os.environ.get("COMDIV_DATA"):
        pytest.skip("COMDIV_DATA is not set: the real corpora are not at hand")
    assert all(path.stat().st_size > 100_000 for path in find_corpus_files(name))


def test_folder_of_the_corpus_name_with_a_file_suffix_is_not_a_file(shared: Path) -> None:
    (shared / "svamp.json").mkdir()
    with pytest.raises(ComdivError, match="is not in"):
        find_corpus_files("svamp")


def test_layout_that_is_searched_is_named_after_the_published_files(own: Path) -> None:
    expected = put(own, *(f"ape210k/{file.filename}" for file in published_corpus("ape210k").files))
    assert find_corpus_files("ape210k") == expected


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("MAWPS", "mawps"), ("demo_en", "demo-en"), ("Demo_ZH", "demo-zh"), ("Math23K", "math23k"),
        ("demo-eng", "demo-en"),
    ],
)  # fmt: skip
def test_other_spellings_are_answered_with_ours(name: str, ours: str, shared: Path) -> None:
    with pytest.raises(ComdivError, match=f"unknown corpus '{name}'. Did you mean '{ours}'?"):
        find_corpus_files(name)


# The table of published corpora, and the addresses it gives.


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
        "", "localhost:8000", "mirror.example.org/raw", "file:///etc", "ftp://mirror.example.org",
        "data:text/plain,x", "http://", "http://user:secret@mirror.example.org", "http://mirror.example.org/?x=",
        "http://mirror.example.org/#x", "http://mirror.example.org/a b", "http://mirror.example.org/\nx",
        "http://[::1", "http://mirror.example.org:port",
    ],
)  # fmt: skip
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

"""Files that appear whole or not at all."""

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from comdiv.errors import ComdivError
from comdiv.files import atomic_path, atomic_write, file_sha256, path_part, refuse_to_overwrite, write_text


def test_the_file_appears_only_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "file.txt"
    with atomic_write(path) as stream:
        stream.write("苹果\n")
        assert not path.exists()
    assert path.read_bytes() == "苹果\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def fail_in_the_middle() -> None:
        with atomic_write(path) as stream:
            stream.write("new" * 100_000)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_library_that_writes_by_name_can_write_atomically(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    with atomic_path(path) as temporary:
        temporary.write_bytes(b"\x89PNG")
        assert not path.exists()
    assert path.read_bytes() == b"\x89PNG"
    assert list(tmp_path.iterdir()) == [path]


def test_what_we_write_is_as_readable_as_other_files(tmp_path: Path) -> None:
    write_text(tmp_path / "ours.txt", "")
    (tmp_path / "other.txt").write_text("")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours.txt", "other.txt")}
    assert len(modes) == 1


def test_a_folder_in_the_way_is_an_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is a folder, not a file to write"):
        write_text(tmp_path, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_an_error_in_one_line(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "x")
    with pytest.raises(ComdivError, match=r"file/inside\.txt cannot be written: (File exists|Not a directory)"):
        write_text(tmp_path / "file" / "inside.txt", "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_without_permission_is_an_error_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ComdivError, match="cannot be written: Permission denied"):
        write_text(tmp_path / "file.txt", "x")


def test_nothing_is_overwritten_unless_it_is_said(tmp_path: Path) -> None:
    path, folder = tmp_path / "file.txt", tmp_path / "folder"
    folder.mkdir()
    refuse_to_overwrite(path, force=False)  # not there
    refuse_to_overwrite(folder, force=False)  # empty
    write_text(path, "x")
    write_text(folder / "file.txt", "x")
    for occupied in (path, folder):
        with pytest.raises(ComdivError, match="exists already; choose another name, or use --force"):
            refuse_to_overwrite(occupied, force=False)
        refuse_to_overwrite(occupied, force=True)


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc" * 1_000_000)
    assert file_sha256(tmp_path / "file") == hashlib.sha256(b"abc" * 1_000_000).hexdigest()


def test_what_a_link_points_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_never_replaced_by_a_file() -> None:
    with pytest.raises(ComdivError, match="is a device, not a file to write"):
        write_text(Path(os.devnull), "anything")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ComdivError, match=r"file\.txt cannot be written: No space left on device"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["sd-dev", "main-results@smoke", "17#2", "it's 3 [a]", "数学", "a.b"])
def test_ordinary_names_are_parts_of_paths(name: str) -> None:
    assert path_part(name, "the corpus") == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "/x", "a/b", "a\\b", "C:x", ".hidden", "a\nb", "a\x00", "名" * 90]
)
def test_a_name_that_is_more_than_one_part_of_a_path_is_refused(name: str) -> None:
    with pytest.raises(ComdivError, match=r"the corpus '.*' cannot be part of a path"):
        path_part(name, "the corpus")

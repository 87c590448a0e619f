"""Downloads from a real server on localhost that can be told to misbehave, one request at a time."""

import hashlib
import random
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from comdiv.corpora import download as download_module
from comdiv.corpora.download import download, git_blob_id
from comdiv.corpora.published import PublishedCorpus, PublishedFile
from comdiv.errors import ComdivError

CONTENT = random.Random(0).randbytes(300_000)  # several pieces
CUT = 100_000  # where a misbehaving server stops


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def corpus_of(**contents: bytes) -> PublishedCorpus:
    """A corpus `toy` of files `a.json`, `b.json`… whose published contents are given."""
    files = tuple(
        PublishedFile("owner/name", "c0ffee", f"data/{name}.json", blob_id(content))
        for name, content in contents.items()
    )
    return PublishedCorpus("toy", "Toy", "en", files, licence="MIT", note="", citation="")


@dataclass
class Site:
    """What the server offers, how it behaves at each coming request ("well" when the list is used up), what it saw."""

    contents: dict[str, bytes]
    behaviours: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)  # the Range header of every request
    sent: list[int] = field(default_factory=list)  # the bytes of content sent in answer
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        self.ranges.append(wanted)
        behaviour = self.behaviours.pop(0) if self.behaviours else "well"
        content = self.contents.get(handler.path, b"")
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and behaviour != "ignore range" else 0
        if behaviour == "hang up":
            return
        if behaviour.startswith("status "):
            handler.send_error(int(behaviour.removeprefix("status ")))
        elif behaviour.startswith("redirect "):
            handler.send_response(302)
            handler.send_header("Location", behaviour.removeprefix("redirect "))
            handler.end_headers()
        elif handler.path not in self.contents:
            handler.send_error(404)
        elif start >= len(content) > 0:
            handler.send_error(416)
        else:
            self._send(handler, content, start, behaviour)

    def _send(self, handler: BaseHTTPRequestHandler, content: bytes, start: int, behaviour: str) -> None:
        shift = 1 if behaviour == "wrong range" else 0
        handler.send_response(206 if start or shift else 200)
        if start or shift:
            handler.send_header("Content-Range", f"bytes {start + shift}-{len(content) - 1}/{len(content)}")
        if behaviour != "no length":
            handler.send_header("Content-Length", str(len(content) - start))
        handler.end_headers()
        body = content[start:]
        if behaviour in ("cut", "stall"):
            body = body[:CUT]
        self.sent.append(len(body))
        handler.wfile.write(body)
        if behaviour == "stall":
            self.released.wait(10)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "*")
    site = Site({"/owner/name/c0ffee/data/a.json": CONTENT, "/owner/name/c0ffee/data/b.json": b"[]"})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.answer(self)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(site: Site, folder: Path, corpus: PublishedCorpus | None = None, **options: object) -> list[Path]:
    return download(corpus or corpus_of(a=CONTENT), folder, mirror=site.url, **{"backoff": 0.0, **options})


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "toy").iterdir())


def leave_part(folder: Path, content: bytes) -> Path:
    part = folder / "toy" / "a.json.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(content)
    return part


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # From `git hash-object`.
        (b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello\n", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ],
)
def test_blob_id_is_the_one_that_git_gives(content: bytes, expected: str) -> None:
    copy = BytesIO()
    assert git_blob_id(BytesIO(content), copy_to=copy) == expected
    assert copy.getvalue() == content


def test_whole_corpus_arrives_under_its_name_and_nothing_else_is_left(site: Site, tmp_path: Path) -> None:
    paths = fetch(site, tmp_path / "new" / "folder", corpus_of(a=CONTENT, b=b"[]"))
    assert paths == [tmp_path / "new" / "folder" / "toy" / name for name in ("a.json", "b.json")]
    assert [path.read_bytes() for path in paths] == [CONTENT, b"[]"]
    assert names_in(tmp_path / "new" / "folder") == ["a.json", "b.json"]
    assert site.ranges == [None, None]


def test_progress_grows_from_nothing_to_the_announced_total(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    fetch(site, tmp_path, progress=lambda file, done, total: seen.append((file.filename, done, total)))
    done = [count for _, count, _ in seen]
    assert done[0] == 0
    assert done[-1] == len(CONTENT)
    assert done == sorted(done)
    assert len(done) > 3
    assert {(name, total) for name, _, total in seen} == {("a.json", len(CONTENT))}


def test_corpus_that_is_complete_causes_no_request_and_is_reported_as_done(site: Site, tmp_path: Path) -> None:
    fetch(site, tmp_path)
    site.ranges.clear()
    seen: list[tuple[int, int | None]] = []
    fetch(site, tmp_path, progress=lambda _file, done, total: seen.append((done, total)))
    assert site.ranges == []
    assert seen == [(len(CONTENT), len(CONTENT))]


def test_file_with_other_content_than_published_is_replaced(site: Site, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.json").write_bytes(b"damaged")
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT


def test_cut_connection_is_resumed_and_only_the_rest_is_sent(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["cut"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={CUT}-"]
    assert site.sent == [CUT, len(CONTENT) - CUT]
    assert names_in(tmp_path) == ["a.json"]


@pytest.mark.parametrize("behaviour", ["hang up", "status 503", "status 429"])
def test_passing_trouble_before_the_first_byte_is_tried_again(behaviour: str, site: Site, tmp_path: Path) -> None:
    site.behaviours = [behaviour]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert len(site.ranges) == 2


def test_server_that_falls_silent_is_given_up_after_the_timeout_and_resumed(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["stall"]
    start = time.monotonic()
    (path,) = fetch(site, tmp_path, timeout=0.3)
    assert time.monotonic() - start < 8  # the server is silent for 10 seconds
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={CUT}-"]


def test_server_that_ignores_range_sends_all_and_the_file_is_right(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["cut", "ignore range"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={CUT}-"]
    assert site.sent == [CUT, len(CONTENT)]


def test_server_that_ignores_range_mends_a_part_that_is_too_long(site: Site, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT + b"tail")
    site.behaviours = ["ignore range"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert len(site.ranges) == 1


def test_server_that_answers_with_another_range_is_asked_for_the_whole(site: Site, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT[:CUT])
    site.behaviours = ["wrong range"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [f"bytes={CUT}-", None]


def test_server_that_speaks_of_a_range_unasked_is_judged_by_its_content(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["wrong range"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None]


def test_part_longer_than_the_content_is_started_anew(site: Site, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT + b"tail")
    site.behaviours = ["well", "cut"]  # the first answer is 416; the new start can be resumed like any other
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [f"bytes={len(CONTENT) + 4}-", None, f"bytes={CUT}-"]


def test_part_that_is_complete_gets_its_name_without_a_request(site: Site, tmp_path: Path) -> None:
    leave_part(tmp_path, CONTENT)
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == []
    assert names_in(tmp_path) == ["a.json"]


def test_endless_truncation_stops_after_the_allowed_attempts_and_keeps_what_arrived(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["cut", "hang up", "hang up", "hang up"]
    with pytest.raises(ComdivError, match="run the same command again to resume") as error:
        fetch(site, tmp_path, retries=3)
    assert f"{site.url}/owner/name/c0ffee/data/a.json" in str(error.value)
    assert "4 attempts" in str(error.value)
    assert len(site.ranges) == 4
    assert (tmp_path / "toy" / "a.json.part").read_bytes() == CONTENT[:CUT]
    assert names_in(tmp_path) == ["a.json.part"]

    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges[-1] == f"bytes={CUT}-"


def test_truncation_is_told_with_the_bytes_that_came_and_those_announced(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["cut"]
    with pytest.raises(ComdivError, match=f"ended after {CUT} of {len(CONTENT)} bytes"):
        fetch(site, tmp_path, retries=0)


def test_pauses_between_attempts_double_up_to_a_limit(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(download_module.time, "sleep", pauses.append)
    site.behaviours = ["hang up"] * 7
    with pytest.raises(ComdivError):
        fetch(site, tmp_path, retries=6, backoff=0.5)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


@pytest.mark.parametrize("behaviour", ["well", "no length"])
def test_wrong_content_is_refused_with_both_ids_and_removed(behaviour: str, site: Site, tmp_path: Path) -> None:
    other = b"published once, changed since"
    site.behaviours = [behaviour]
    with pytest.raises(ComdivError, match=r"wrong content for a\.json") as error:
        fetch(site, tmp_path, corpus_of(a=other))
    assert f"expected git blob id {blob_id(other)}, found {blob_id(CONTENT)}" in str(error.value)
    assert names_in(tmp_path) == []
    assert len(site.ranges) == 1


def test_damaged_part_is_refused_once_and_the_next_run_starts_anew(site: Site, tmp_path: Path) -> None:
    leave_part(tmp_path, b"x" * CUT)
    with pytest.raises(ComdivError, match="wrong content"):
        fetch(site, tmp_path)
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [f"bytes={CUT}-", None]


@pytest.mark.parametrize("status", [403, 404, 410])
def test_refusal_by_the_server_is_told_at_once_with_address_and_status(status: int, site: Site, tmp_path: Path) -> None:
    site.behaviours = [f"status {status}"]
    with pytest.raises(ComdivError, match=f"HTTP status {status} ") as error:
        fetch(site, tmp_path)
    assert str(error.value).startswith(f"{site.url}/owner/name/c0ffee/data/a.json: ")
    assert "\n" not in str(error.value)
    assert len(site.ranges) == 1
    assert names_in(tmp_path) == []


def test_interruption_keeps_the_part_and_the_next_run_asks_only_for_the_rest(site: Site, tmp_path: Path) -> None:
    def interrupt(_file: PublishedFile, done: int, _total: int | None) -> None:
        if done > CUT:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(site, tmp_path, progress=interrupt)
    kept = (tmp_path / "toy" / "a.json.part").read_bytes()
    assert names_in(tmp_path) == ["a.json.part"]
    assert CUT < len(kept) < len(CONTENT)
    assert CONTENT.startswith(kept)

    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT
    assert site.ranges == [None, f"bytes={len(kept)}-"]
    assert site.sent[-1] == len(CONTENT) - len(kept)


def test_files_before_the_one_that_fails_are_kept(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["well", "status 404"]
    with pytest.raises(ComdivError):
        fetch(site, tmp_path, corpus_of(b=b"[]", a=CONTENT))
    assert names_in(tmp_path) == ["b.json"]


def test_unreachable_server_is_answered_with_the_mirror_and_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as closed:  # bound, but nobody listens
        closed.bind(("127.0.0.1", 0))
        mirror = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(ComdivError, match=r"cannot reach .*--mirror URL.*COMDIV_DATA"):
            download(corpus_of(a=CONTENT), tmp_path, mirror=mirror)
    assert names_in(tmp_path) == []


def test_host_name_that_cannot_be_one_is_answered_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(ComdivError, match="cannot reach"):
        download(corpus_of(a=CONTENT), tmp_path, mirror="http://a..b")


def test_mirror_may_end_in_a_slash(site: Site, tmp_path: Path) -> None:
    (path,) = download(corpus_of(a=CONTENT), tmp_path, mirror=f"{site.url}/")
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("scheme", ["file", "ftp"])
def test_mirror_of_another_scheme_is_refused_even_if_nothing_is_to_be_fetched(
    scheme: str, site: Site, tmp_path: Path
) -> None:
    fetch(site, tmp_path)
    with pytest.raises(ComdivError, match="is not a web address"):
        download(corpus_of(a=CONTENT), tmp_path, mirror=f"{scheme}://localhost/{tmp_path}")


def test_redirection_within_the_web_is_followed(site: Site, tmp_path: Path) -> None:
    site.contents["/elsewhere"] = CONTENT
    site.behaviours = [f"redirect {site.url}/elsewhere"]
    (path,) = fetch(site, tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize(("scheme", "refusal"), [("file", "is not allowed"), ("ftp", "unknown url type: ftp")])
def test_redirection_out_of_the_web_is_refused(scheme: str, refusal: str, site: Site, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(CONTENT)
    site.behaviours = [f"redirect {scheme}://localhost{tmp_path}/secret"]
    with pytest.raises(ComdivError, match=refusal):
        fetch(site, tmp_path)
    assert names_in(tmp_path) == []


def test_server_that_never_stops_is_stopped(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "MAXIMUM_FILE_BYTES", CUT)
    site.behaviours = ["no length"]
    with pytest.raises(ComdivError, match=f"more than {CUT} bytes"):
        fetch(site, tmp_path)
    assert names_in(tmp_path) == []


def test_folder_that_cannot_be_made_is_told_in_one_line(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ComdivError, match="cannot read or write"):
        fetch(site, tmp_path / "file")


def test_downloads_of_one_corpus_at_the_same_time_all_end_with_the_right_file(site: Site, tmp_path: Path) -> None:
    site.behaviours = ["well", "cut", "ignore range", "well", "cut", "hang up"]
    with ThreadPoolExecutor(6) as pool:
        ends = [pool.submit(fetch, site, tmp_path) for _ in range(6)]
    assert [end.result()[0].read_bytes() == CONTENT for end in ends] == [True] * 6
    assert names_in(tmp_path) == ["a.json"]

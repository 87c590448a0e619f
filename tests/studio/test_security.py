"""Who may ask: names, tokens, origins, sizes; and what every answer forbids the page."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from comdiv.studio.app import Studio, studio_app
from comdiv.studio.security import COOKIE, LARGEST_BODY, Guard

HERE = "http://127.0.0.1:8421"


def guarded_client(studio: Studio, base_url: str = HERE, **options: object) -> TestClient:
    return TestClient(Guard(studio_app(studio), **options), base_url=base_url, follow_redirects=False)  # type: ignore[arg-type]


@pytest.fixture
def anyone(studio: Studio) -> Iterator[TestClient]:
    with guarded_client(studio) as client:
        yield client


ACCEPT = {"id": "p1", "status": "accepted"}


def test_every_answer_carries_a_strict_policy(anyone: TestClient) -> None:
    for path in ("/", "/problem?id=p1", "/solve", "/proofread", "/static/studio.js", "/nowhere"):
        answer = anyone.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"


def test_pages_have_no_inline_script_or_style_and_load_nothing_from_elsewhere(anyone: TestClient) -> None:
    for path in ("/", "/problem?id=p1", "/solve", "/proofread", "/proofread?id=p1&edit=1"):
        page = anyone.get(path).text
        assert page.count("<script") == page.count('<script src="/static/')
        assert " style=" not in page
        assert "<style" not in page
        assert " on" not in {piece[:3] for piece in page.split("<")}
        assert 'src="http' not in page
        assert 'href="http' not in page


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8421", "192.168.1.7", "", "[", "a@127.0.0.1.x"]
)
def test_a_foreign_name_is_refused_on_this_machine(anyone: TestClient, host: str) -> None:
    assert anyone.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:8421", "[::1]:8421", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(anyone: TestClient, host: str) -> None:
    assert anyone.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": HERE, "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_write_from_another_page_is_refused(anyone: TestClient, studio: Studio, headers: dict[str, str]) -> None:
    assert anyone.post("/proofread/decide", data=ACCEPT, headers=headers).status_code == 403
    assert not studio.review.path.exists()


@pytest.mark.parametrize("headers", [{"origin": HERE}, {"sec-fetch-site": "same-origin"}])
def test_a_write_from_our_own_page_is_taken(anyone: TestClient, studio: Studio, headers: dict[str, str]) -> None:
    assert anyone.post("/proofread/decide", data=ACCEPT, headers=headers).status_code == 303
    assert studio.review.latest["p1"].status == "accepted"


def test_a_get_never_writes(anyone: TestClient, studio: Studio) -> None:
    assert anyone.get("/proofread/decide?id=p1&status=accepted").status_code == 405
    assert not studio.review.path.exists()


def test_elsewhere_a_token_is_asked_for_and_exchanged_for_a_cookie(studio: Studio) -> None:
    with guarded_client(studio, "http://box.example:8421", hosts=None, token="sesame") as client:
        assert client.get("/").status_code == 401
        assert client.get("/static/studio.js").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        assert client.post("/proofread/decide?token=sesame", data=ACCEPT).status_code == 401
        entered = client.get("/?words=apples&token=sesame")
        assert entered.status_code == 303
        assert entered.headers["location"] == "/?words=apples"
        cookie = entered.headers["set-cookie"].lower()
        assert COOKIE in cookie
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/").status_code == 200
        own = {"origin": "http://box.example:8421"}
        assert client.post("/proofread/decide", data=ACCEPT, headers=own).status_code == 303


def test_the_exchange_never_leads_to_another_server(studio: Studio) -> None:
    with guarded_client(studio, "http://box.example", hosts=None, token="sesame") as client:
        answer = client.get("http://box.example//evil.example/?token=sesame")
        assert answer.headers["location"] == "/evil.example/"


def test_a_server_for_anybody_needs_a_token(studio: Studio) -> None:
    with pytest.raises(ValueError, match="needs a token"):
        Guard(studio_app(studio), hosts=None)


def test_a_damaged_cookie_is_no_token(studio: Studio) -> None:
    with guarded_client(studio, "http://box.example", hosts=None, token="sesame") as client:
        for cookie in (f"{COOKIE}=", "=;=;", f'{COOKIE}="é', "a" * 5000):
            assert client.get("/", headers={"cookie": cookie.encode("latin-1")}).status_code == 401  # type: ignore[dict-item]


def test_too_much_text_is_refused_whether_announced_or_not(anyone: TestClient) -> None:
    own = {"origin": HERE, "content-type": "application/x-www-form-urlencoded"}
    assert anyone.post("/solve", content=b"text=" + b"x" * LARGEST_BODY, headers=own).status_code == 413

    def pieces() -> Iterator[bytes]:
        yield b"text="
        for _ in range(30):
            yield b"x" * 10_000

    assert anyone.post("/solve", content=pieces(), headers=own).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/problem?id=../../etc/passwd",
        "/problem?id=p1&part=../../etc",
        "/proofread?id=/etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_folder(anyone: TestClient, path: str) -> None:
    answer = anyone.get(path)
    assert answer.status_code in (200, 404)
    assert "root:" not in answer.text
    assert "import" not in answer.text

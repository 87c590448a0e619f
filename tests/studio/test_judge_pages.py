"""The judges' pages: own marks only, nothing of others' at any address until all have finished, results afterwards."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from comdiv.evaluation.judgements import read_judgements
from comdiv.studio.judge_pages import judging_app
from comdiv.studio.security import Guard
from comdiv.studio.session import JudgingSession
from studio.small import ATTACK, HERE, hostile, products, text_of

HTMX = {"hx-request": "true"}
GOOD = {"grammar": "good", "fluency": "good", "logic": "good"}
BAD = {**GOOD, "logic": "not good", "comment": f"why {ATTACK}"}


@pytest.fixture
def session(tmp_path: Path) -> JudgingSession:
    problems = [*products(), *hostile()]
    return JudgingSession.create(tmp_path / "judging.sqlite", problems, ["Ann", "Ben"], {"seed": 0})


@pytest.fixture
def client(session: JudgingSession) -> Iterator[TestClient]:
    app = Guard(judging_app(session), hosts=None, secret_links=True)
    with TestClient(app, base_url=HERE, headers={"origin": HERE}, follow_redirects=False) as client:
        yield client


def link_of(session: JudgingSession, name: str) -> str:
    return next(f"/judge/{judge.secret}" for judge in session.judges() if judge.name == name)


def judge_everything(client: TestClient, base: str, marks: dict[str, str]) -> None:
    for place in range(1, 6):
        assert client.post(f"{base}/problem/{place}", data=marks, headers=HTMX).status_code == 200
    assert client.post(f"{base}/finish").status_code == 303


def test_a_judge_goes_from_problem_to_problem(client: TestClient, session: JudgingSession) -> None:
    base = link_of(session, "Ann")
    assert "Hello, Ann" in client.get(base).text
    first = client.post(f"{base}/problem/1", data=GOOD, headers=HTMX)
    assert "Problem 2 of 5" in text_of(first.text)
    assert first.headers["hx-push-url"] == f"{base}/problem/2"
    plain = client.post(f"{base}/problem/2", data=GOOD)
    assert plain.headers["location"] == f"{base}/problem/3"
    assert "2 of 5 marked" in text_of(client.get(base).text)
    for place in (3, 4):
        client.post(f"{base}/problem/{place}", data=GOOD)
    last = client.post(f"{base}/problem/5", data=BAD, headers=HTMX)
    assert "Your marks" in last.text
    assert last.headers["hx-push-url"] == f"{base}/summary"
    assert len(client.get(f"{base}/judgements.jsonl").text.splitlines()) == 5


def test_judges_do_not_see_where_a_problem_comes_from(client: TestClient, session: JudgingSession) -> None:
    page = client.get(f"{link_of(session, 'Ann')}/problem/1").text
    assert "3×12 = 36" in text_of(page)
    assert "rule" not in text_of(page)
    assert "p1" not in text_of(page)
    hidden = TestClient(Guard(judging_app(session, with_solution=False)), base_url=HERE)
    assert "3×12" not in hidden.get(f"{link_of(session, 'Ann')}/problem/1").text


def test_no_address_shows_anothers_marks_before_both_have_finished(client: TestClient, session: JudgingSession) -> None:
    ann, ben = link_of(session, "Ann"), link_of(session, "Ben")
    judge_everything(client, ann, BAD)
    addresses = ["", "/summary", "/results", "/judgements.jsonl", *(f"/problem/{place}" for place in range(1, 6))]
    for address in [f"{ben}{address}" for address in addresses] + [f"/overview/{session.organiser}", "/"]:
        for headers in ({}, HTMX):
            answer = client.get(address, headers=headers)
            assert answer.status_code == 200, address
            assert "why" not in answer.text, address
            assert "checked" not in answer.text.replace('id="shortcuts" checked', ""), address
            assert "not good</span>" not in answer.text, address
    assert client.get(f"/overview/{session.organiser}/judgements.jsonl").status_code == 400
    assert "hidden until everybody has finished" in client.get(f"{ann}/results").text
    assert not session.path.with_name("judgements.jsonl").exists()


def test_results_come_when_all_have_finished(client: TestClient, session: JudgingSession) -> None:
    ann, ben = link_of(session, "Ann"), link_of(session, "Ben")
    judge_everything(client, ann, GOOD)
    client.post(f"{ben}/problem/1", data=BAD)
    for place in range(2, 6):
        client.post(f"{ben}/problem/{place}", data=GOOD)
    client.post(f"{ben}/finish")
    for address in (f"{ann}/results", f"{ben}/results", f"/overview/{session.organiser}"):
        shown = text_of(client.get(address).text)
        assert "1 disagreement" in shown
        assert "5 of 5, 95 % interval" in shown
        assert "Cohen’s κ" in shown
        assert "logic" in shown
    assert ATTACK not in client.get(f"{ann}/results").text
    written = read_judgements(session.path.with_name("judgements.jsonl"))
    assert len(written) == 10
    report = json.loads(session.path.with_name("agreement.json").read_text())
    assert report["good"]["cohen"][0]["table"] == [[4, 1], [0, 0]]
    assert "organiser" not in report["session"]
    assert len(client.get(f"/overview/{session.organiser}/judgements.jsonl").text.splitlines()) == 10


def test_three_judges_get_fleiss(client: TestClient, session: JudgingSession) -> None:
    session.add_judge("Cem")
    for name, marks in (("Ann", GOOD), ("Ben", BAD), ("Cem", GOOD)):
        judge_everything(client, link_of(session, name), marks)
    shown = text_of(client.get(f"/overview/{session.organiser}").text)
    assert "Fleiss’ κ" in shown
    assert "Ann and Cem" in shown


def test_a_finished_judge_can_look_but_not_write(client: TestClient, session: JudgingSession) -> None:
    base = link_of(session, "Ann")
    judge_everything(client, base, GOOD)
    answer = client.post(f"{base}/problem/1", data=BAD, headers=HTMX)
    assert answer.status_code == 400
    assert "can no longer be changed" in answer.text
    assert "disabled" in client.get(f"{base}/problem/1").text


@pytest.mark.parametrize("path", ["", "/problem/1", "/summary", "/results", "/judgements.jsonl"])
def test_a_wrong_link_is_nobodys(client: TestClient, path: str) -> None:
    assert client.get(f"/judge/guess{path}").status_code == 404
    assert client.get("/overview/guess").status_code == 404
    assert client.post("/judge/guess/problem/1", data=GOOD).status_code == 404


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"grammar": "good"}, "still needs a mark for fluency and logic"),
        ({**GOOD, "logic": "perhaps"}, "logic must be 'good' or 'not good', not 'perhaps'"),
    ],
)
def test_incomplete_or_strange_marks_are_refused(
    client: TestClient, session: JudgingSession, data: dict[str, str], said: str
) -> None:
    answer = client.post(f"{link_of(session, 'Ann')}/problem/1", data=data, headers=HTMX)
    assert answer.status_code == 400
    assert said in answer.text
    assert session.own_marks("Ann") == {}


def test_problems_that_attack_are_displayed_only(client: TestClient, session: JudgingSession) -> None:
    page = client.get(f"{link_of(session, 'Ann')}/problem/4").text
    assert "<script>window" not in page
    assert "&lt;script&gt;" in page
    assert client.get(f"{link_of(session, 'Ann')}/problem/99").status_code == 400

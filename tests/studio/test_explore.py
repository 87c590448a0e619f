"""Explore: the list and the problem's page, escaped whatever is in the corpus."""

import pytest
from starlette.testclient import TestClient

from comdiv.review import Decision
from comdiv.studio.app import Studio
from studio.small import ATTACK, hostile, text_of


def test_the_list_shows_problems_and_pages(client: TestClient) -> None:
    page = client.get("/").text
    assert "165 problems, 1 to 50" in text_of(page)
    assert 'href="/?page=2"' in page
    last = client.get("/?page=4").text
    assert "165 problems, 151 to 165" in text_of(last)
    assert "Previous page 4 of 4" in " ".join(text_of(last).split())
    assert text_of(client.get("/?page=99999999999999").text) == text_of(client.get("/").text)
    assert "151 to 165" in text_of(client.get("/?page=4000").text)


def test_htmx_gets_the_list_alone_and_the_address_to_show(client: TestClient) -> None:
    answer = client.get("/?words=bags&part=&page=", headers={"hx-request": "true"})
    assert "<html" not in answer.text
    assert answer.headers["hx-push-url"] == "/?words=bags"
    restored = client.get("/", headers={"hx-request": "true", "hx-history-restore-request": "true"})
    assert "<html" in restored.text


def test_a_problems_page_has_text_trees_counts_and_lineage(client: TestClient) -> None:
    page = client.get("/problem?id=p3&part=train").text
    shown = text_of(page)
    assert page.count("<svg") == 2
    assert 'aria-label="Expression tree of N0−N1"' in page
    assert "Atoms" in shown
    assert "Compounds" in shown
    assert "operation 1" in shown
    assert 'href="/problem?id=p1&amp;part=train">p1</a>' in page  # a parent that is here
    assert "lost" in shown  # one that is not
    assert "made from it" in text_of(client.get("/problem?id=p1").text).lower()


def test_decisions_are_shown(client: TestClient, studio: Studio) -> None:
    studio.review.decide(Decision("p1", "edited", "Tom has 2 cats and 3 dogs.", "N0+N1", by="Ben"))
    page = text_of(client.get("/problem?id=p1").text)
    assert "edited by Ben" in page
    assert "Tom has 2 cats and 3 dogs." in page
    assert "edited" in text_of(client.get("/?words=p1").text)


@pytest.mark.parametrize("problem", hostile(), ids=["script", "quotes"])
@pytest.mark.parametrize("path", ["/problem", "/proofread", "/solve", "/"])
def test_a_corpus_full_of_scripts_is_displayed_never_run(client: TestClient, problem: object, path: str) -> None:
    name = problem.id  # type: ignore[attr-defined]
    key = "words" if path == "/" else "id"
    page = client.get(path, params={key: name}).text
    assert ATTACK not in page
    for attack in ("<script>", "<img src=x", "<svg onload", "<b>苹果"):
        assert attack not in page
    assert "&lt;" in page


def test_what_is_not_there_is_a_page_that_says_so(client: TestClient) -> None:
    answer = client.get("/problem", params={"id": "<b>nobody</b>"})
    assert answer.status_code == 404
    assert "There is no problem &#39;&lt;b&gt;nobody&lt;/b&gt;&#39; here." in answer.text
    assert client.get("/nowhere").status_code == 404
    assert "There is no such page." in client.get("/nowhere").text
    assert client.get("/problem").status_code == 400


def test_a_mistake_is_one_line_for_htmx_and_a_page_otherwise(client: TestClient) -> None:
    answer = client.get("/?operators=many", headers={"hx-request": "true"})
    assert answer.status_code == 400
    assert answer.text == "operators: 'many' is not a number"
    assert "<html" in client.get("/?operators=many").text

"""Proofread: decisions land in review.jsonl, in order, whatever happens."""

import re
from itertools import product
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from comdiv.corpora.demo import generate
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.problem import Problem
from comdiv.review import read_review
from comdiv.studio.app import Studio, open_studio
from comdiv.synthesis import SynthesisOptions, synthesize_dataset
from comdiv.synthesis.readers import key_of
from command_line import run
from studio.small import page_client, text_of
from synthesis.handmade import corpus

HTMX = {"hx-request": "true"}


def decide(client: TestClient, name: str, status: str, **more: str) -> str:
    answer = client.post("/proofread/decide", data={"id": name, "status": status, **more}, headers=HTMX)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_products_come_one_by_one_until_all_are_decided(client: TestClient, studio: Studio) -> None:
    assert "Problem 1 of 3" in text_of(client.get("/proofread").text)
    assert 'data-problem="p2"' in decide(client, "p1", "accepted")
    assert 'data-problem="p3"' in decide(client, "p2", "rejected")
    assert "Everything is decided" in decide(client, "p3", "accepted")
    assert [(d.id, d.status, d.by) for d in read_review(studio.review.path)] == [
        ("p1", "accepted", "Ann"),
        ("p2", "rejected", "Ann"),
        ("p3", "accepted", "Ann"),
    ]
    assert "3 of 3 decided: 2 accepted, 0 edited, 1 rejected" in text_of(client.get("/proofread").text)


def test_the_queue_goes_round_to_what_was_passed_over(client: TestClient) -> None:
    assert 'data-problem="p1"' in decide(client, "p3", "accepted")


def test_all_problems_or_one_part_can_be_proofread(client: TestClient) -> None:
    assert "of 165" in text_of(client.get("/proofread?which=all").text)
    assert "of 20" in text_of(client.get("/proofread?which=all&of=validation").text)


def test_undo_brings_the_problem_back(client: TestClient, studio: Studio) -> None:
    decide(client, "p1", "accepted")
    answer = client.post("/proofread/undo", headers=HTMX)
    assert 'data-problem="p1"' in answer.text
    assert answer.headers["hx-push-url"] == "/proofread?id=p1&part=train"
    assert studio.review.latest["p1"].status == "open"
    again = client.post("/proofread/undo", headers=HTMX)
    assert again.status_code == 400
    assert again.text == "there is nothing to undo"


def test_an_edit_is_checked_stored_and_shown(client: TestClient, studio: Studio) -> None:
    decide(client, "p1", "edited", text="Tom has 4 bags of 12 apples. How many?", expression="N1 * N0")
    decision = studio.review.latest["p1"]
    assert (decision.text, decision.expression) == ("Tom has 4 bags of 12 apples. How many?", "N1*N0")
    page = client.get("/proofread?id=p1").text
    assert "Tom has 4 bags of 12 apples." in text_of(page)
    assert "12×4 = 48" in text_of(page)
    assert "N1*N0" in client.get("/proofread?id=p1&edit=1").text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"status": "edited", "text": "Tom has 3 cats.", "expression": "N0+N1"}, "N1 is not in the text"),
        ({"status": "edited", "text": "", "expression": "N0"}, "the text is empty"),
        ({"status": "fine"}, "unknown status 'fine'; known: "),
        ({"id": "nobody", "status": "accepted"}, "no problem 'nobody'"),
    ],
)
def test_what_cannot_be_decided_is_refused_and_not_written(
    client: TestClient, studio: Studio, more: dict[str, str], said: str
) -> None:
    answer = client.post("/proofread/decide", data={"id": "p1", **more}, headers=HTMX)
    assert answer.status_code == 400
    assert said in answer.text
    assert not studio.review.path.exists()


def test_the_live_check_says_what_an_edit_means(client: TestClient) -> None:
    def check(text: str, expression: str) -> str:
        answer = client.post("/proofread/check", data={"id": "p1", "text": text, "expression": expression})
        assert answer.status_code == 200
        return answer.text

    good = check("Tom has 3 bags of 12 apples and 1 pear.", "N0*N1")
    assert "3×12 = 36" in text_of(good)
    assert "not used: N2 = 1" in good
    assert "<svg" in good
    assert "disabled" not in good
    wrong = check("Tom has 3 bags.", "N0*(")
    assert "disabled" in wrong
    assert "N0 = 3" in wrong
    assert "<script>" not in check("<script>3</script>", "<script>")


def test_without_script_the_forms_lead_to_pages(client: TestClient) -> None:
    answer = client.post("/proofread/decide", data={"id": "p1", "status": "accepted"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/proofread?id=p2&part=train"


@pytest.fixture
def synthetic(tmp_path: Path) -> Path:
    """A small dataset of the synthesis: one decomposition, with its seed in test and its products in train."""
    seed = Problem("s", "zh", "一本书有120页，小明已经看了30页，剩下的每天看15页，还要看几天？", parse("(N0-N1)/N2"))
    other = Problem("t", "zh", "三年级有男生90人，女生60人，三年级一共有多少人？", parse("N0+N1"))
    synthesize_dataset([seed, other], tmp_path / "sd", SynthesisOptions(validation=0), corpus="two")
    return tmp_path / "sd"


def test_the_seeds_of_a_synthesised_dataset_come_first(synthetic: Path) -> None:
    with page_client(open_studio(str(synthetic), synthetic / "runs", reviewer="Ann")) as client:
        assert 'data-problem="t"' in client.get("/proofread").text  # the seed of the reformulation is in train
        decide(client, "t", "accepted")
        assert 'data-problem="s"' in client.get("/proofread").text
        decide(client, "s", "accepted")
        assert "of 3" in text_of(client.get("/proofread").text)  # then the products


def test_two_readers_are_blind_to_each_other_and_to_the_origin(synthetic: Path) -> None:
    studios = [open_studio(str(synthetic), synthetic / "runs", reader=name) for name in ("ann", "ben")]
    for studio in studios:
        with page_client(studio) as client:
            page = text_of(client.get("/proofread").text)
            assert "Problem 1 of 3" in page
            assert "0 of 3 decided" in page
            assert "decomposition" not in page
            assert "reformulation" not in page
            decide(client, key_of(studio.library.products[0].problem.id), "accepted")
            assert client.get("/", follow_redirects=False).headers["location"] == "/proofread"
            assert client.get("/dataset").status_code == 404  # the other pages tell where a problem comes from
            assert "Explore" not in page
            assert "validation" not in page
    assert [studio.review.path.name for studio in studios] == ["review-ann.jsonl", "review-ben.jsonl"]
    assert all(len(read_review(studio.review.path)) == 1 for studio in studios)


def test_nothing_that_a_blind_reader_gets_names_a_product_or_its_part(synthetic: Path) -> None:
    """A product's id tells its rule and seed, its part the kind of its rule: also in addresses and hidden fields."""
    studio = open_studio(str(synthetic), synthetic / "runs", reader="ann")
    with page_client(studio) as client:
        key = key_of(studio.library.products[0].problem.id)
        answers = [
            client.get("/proofread"),
            client.get(f"/proofread?id={key}&edit=1"),
            client.get("/proofread?which=seeds&of=test"),
            client.post("/proofread/decide", data={"id": key, "status": "rejected"}, headers=HTMX),
            client.post("/proofread/undo", headers=HTMX),
            client.post("/proofread/check", data={"id": key, "text": "3 cats", "expression": "N0+N1"}),
            client.post("/proofread/decide", data={"id": key, "status": "edited", "text": "", "expression": "N0"}),
        ]
        assert f'data-problem="{key}"' in answers[0].text
        assert client.get(f"/proofread?id={studio.library.products[0].problem.id}").status_code == 404
    said = [f"{answer.text}\n{answer.headers}" for answer in answers]
    for entry in studio.library.products:
        assert not [text for text in said if entry.problem.id in text]
    assert not [text for text in said if re.search(r"part=|name=.part|part-", text)]
    assert {decision.id for decision in read_review(studio.review.path)} == {studio.library.products[0].problem.id}


def test_a_queue_of_unread_products_is_read_in_the_browser_and_comes_back_as_verdicts(tmp_path: Path) -> None:
    queue, out, third = (tmp_path / f"{name}.jsonl" for name in ("queue", "verdicts", "third"))
    synthesize_dataset(corpus(), tmp_path / "sd", SynthesisOptions(), corpus="handmade", queue=queue)
    studios = [open_studio(str(queue), tmp_path, reader=name) for name in ("ann", "ben")]
    disputed, *others = studios[0].library.entries
    with page_client(studios[0]) as ann, page_client(studios[1]) as ben:
        decide(ann, key_of(disputed.problem.id), "accepted")
        assert f"0 of {1 + len(others)} decided" in text_of(ben.get("/proofread").text)
        decide(ben, key_of(disputed.problem.id), "rejected")
        for client, entry in product((ann, ben), others):
            decide(client, key_of(entry.problem.id), "accepted")
        assert "Everything is decided" in ben.get("/proofread").text
    reviews = [studio.review.path for studio in studios]
    assert [path.name for path in reviews] == ["queue.review-ann.jsonl", "queue.review-ben.jsonl"]
    run("import", "verdicts", *reviews, "--queue", queue, "--out", out, "--disputed", third)
    assert [entry.problem.text for entry in open_studio(str(third), tmp_path).library.entries] == [
        disputed.problem.text
    ]
    synthesize_dataset(corpus(), tmp_path / "read", SynthesisOptions(verdicts=out), corpus="handmade")
    dataset = read_dataset(tmp_path / "read")
    texts = {given.text for given in (*dataset.training_side, *dataset.test) if given.provenance.rule}
    assert texts == {entry.problem.text for entry in others}


def test_the_halves_of_a_seed_are_shuffled_for_readers_alike(tmp_path: Path) -> None:
    synthesize_dataset(
        list(generate("zh", size=300)), tmp_path / "sd", SynthesisOptions(validation=0), corpus="demo-zh"
    )
    orders = [
        [entry.problem.id for entry in open_studio(str(tmp_path / "sd"), tmp_path, **{role: name}).library.products]
        for role, name in (("reader", "ann"), ("reader", "ben"), ("reviewer", "cem"))
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])


def test_a_readers_name_stays_within_the_folder(synthetic: Path) -> None:
    with pytest.raises(ComdivError, match="the reader's name"):
        open_studio(str(synthetic), synthetic / "runs", reader="../ann")

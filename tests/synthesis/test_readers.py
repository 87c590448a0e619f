"""Readers of synthetic problems: what they get, their verdicts, and a set made of what they found good."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from comdiv.corpora import read_corpus
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.expression import parse
from comdiv.loading import read_json_lines
from comdiv.problem import Problem
from comdiv.synthesis import SynthesisOptions, synthesize_dataset
from comdiv.synthesis.readers import (
    Verdict,
    collect_verdicts,
    decide,
    keys_of,
    read_verdicts,
    reading_facts,
    reading_rows,
)
from command_line import refused, run
from synthesis.handmade import PRODUCTS, corpus, made, problem, verdict, write_lines


def test_two_readers_decide_and_a_third_where_they_differ() -> None:
    def marks(name: str, *good: bool) -> list[Verdict]:
        return [Verdict(name, str(reader), mark, mark, mark) for reader, mark in enumerate(good)]

    decisions = decide([
        *marks("both", True, True), *marks("neither", False, False), *marks("differ", True, False),
        *marks("third", True, False, True), *marks("once", True),
    ])  # fmt: skip
    assert decisions == {"both": True, "neither": False, "third": True}


def test_a_clumsy_product_or_a_wrong_label_is_not_good() -> None:
    assert Verdict("p", "a", valid=True, qualified=True, label=True).good
    assert not Verdict("p", "a", valid=True, qualified=False, label=True).good
    assert not Verdict("p", "a", valid=True, qualified=True, label=False).good


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (None, "line 2: not a JSON object"),
        (["valid", "qualified", "label"], "line 2: not a JSON object"),
        ({"id": "p", "reader": "a", "valid": True}, "line 2: not a verdict: 'qualified' is missing"),
        ({**verdict("p", "b"), "label": "yes"}, "line 2: valid, qualified and label are true or false"),
        (verdict("p", "a"), "line 2: a already has a verdict on 'p'"),
    ],
)
def test_a_wrong_line_of_verdicts_is_named(record: Any, said: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "verdicts.jsonl", verdict("p", "a"), record)
    with pytest.raises(ComdivError, match=said):
        read_verdicts(path)


def test_readers_get_products_blind_and_shuffled(tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    synthesize_dataset(corpus(), tmp_path / "sd", SynthesisOptions(), corpus="handmade", queue=path)
    queue = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    keys = [json.loads(line) for line in (tmp_path / "queue.jsonl.keys").read_text(encoding="utf-8").splitlines()]
    assert {entry["id"] for entry in keys} == set(PRODUCTS)
    assert [entry["id"] for entry in queue] == [entry["key"] for entry in keys]
    assert all(entry.keys() == {"id", "text", "expression", "answer"} for entry in queue)
    six = next(entry for entry in queue if entry["text"] == made("6").products[0].tale.text)
    assert (six["expression"], six["answer"]) == ("120-30", "90")
    assert "6" not in [entry["id"] for entry in queue]


def test_a_fraction_in_the_queue_is_read_as_one_number(tmp_path: Path) -> None:
    seed = problem("share", "水果店有梨80千克，比苹果少1/5，苹果有多少千克？", "N0/(1-N1)")
    path = tmp_path / "queue.jsonl"
    synthesize_dataset([*corpus(), seed], tmp_path / "sd", SynthesisOptions(), corpus="handmade", queue=path)
    expressions = {json.loads(line)["expression"] for line in path.read_text(encoding="utf-8").splitlines()}
    assert "1-(1/5)" in expressions


def test_a_number_in_words_stands_in_the_queues_expression_by_its_value(tmp_path: Path) -> None:
    text = "Mia has five apples. Tom has three apples. How many apples do they have together?"
    seed = Problem("words", "en", text, parse("N0+N1"), Fraction(8), number_words=True)
    path = tmp_path / "queue.jsonl"
    synthesize_dataset([seed], tmp_path / "sd", SynthesisOptions(validation=0), corpus="handmade", queue=path)
    assert [record["expression"] for _, record in read_json_lines(path)] == ["5-3"]
    assert [given.expression for given in read_corpus(path).problems] == [parse("N0-N1")]


def test_a_queue_does_not_write_over_another(tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    path.write_text("mine\n", encoding="utf-8")
    with pytest.raises(ComdivError, match=r"queue\.jsonl exists already"):
        synthesize_dataset(corpus(), tmp_path / "sd", SynthesisOptions(), corpus="handmade", queue=path)
    assert path.read_text(encoding="utf-8") == "mine\n"


# --- from a queue to a set ---


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """The queue of the corpus made by hand."""
    path = tmp_path / "queue.jsonl"
    synthesize_dataset(corpus(), tmp_path / "first", SynthesisOptions(), corpus="handmade", queue=path)
    return path


def marked(queue: Path, reader: str, *, bad: str = "") -> Path:
    """A reader's file, by the queue's keys; products whose text has the word `bad` are rejected."""
    records = [json.loads(line) for line in queue.read_text(encoding="utf-8").splitlines()]
    said = [verdict(record["id"], "", good=not bad or bad not in record["text"]) for record in records]
    without_name = [{name: value for name, value in record.items() if name != "reader"} for record in said]
    return write_lines(queue.with_name(f"{reader}.jsonl"), *without_name)


def test_verdicts_by_key_come_back_by_id(queue: Path) -> None:
    found = collect_verdicts([marked(queue, "ann"), marked(queue, "ben", bad="红花")], queue)
    assert {verdict.id for verdict in found} == set(PRODUCTS)
    assert {verdict.reader for verdict in found} == {"ann", "ben"}  # the names of their files
    rejected = {verdict.id for verdict in found if not verdict.good}
    assert rejected == {made("13").product.id}


def test_a_third_reader_gets_what_the_two_dispute(queue: Path, tmp_path: Path) -> None:
    readers = [marked(queue, "ann"), marked(queue, "ben", bad="红花")]
    out, third = tmp_path / "verdicts.jsonl", tmp_path / "third.jsonl"
    said = run("import", "verdicts", *readers, "--queue", queue, "--out", out, "--disputed", third).output
    assert "disputed: 1" in said
    records = [json.loads(line) for line in third.read_text(encoding="utf-8").splitlines()]
    assert [record["text"] for record in records] == [made("13").product.tale.text]
    again = [*readers, marked(third, "cem")]
    said = run("import", "verdicts", *again, "--queue", queue, "--out", out, "--force").output
    assert f"good: {len(PRODUCTS)}, not good: 0, disputed: 0" in said
    assert decide(read_verdicts(out)) == dict.fromkeys(PRODUCTS, True)


def test_a_set_is_made_of_what_readers_found_good(queue: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    run("import", "verdicts", marked(queue, "ann", bad="红花"), marked(queue, "ben", bad="红花"), "--queue", queue,
        "--out", out)  # fmt: skip
    again = tmp_path / "again.jsonl"
    options = SynthesisOptions(verdicts=out)
    synthesize_dataset(corpus(), tmp_path / "set", options, corpus="handmade", queue=again)
    dataset = read_dataset(tmp_path / "set")
    ids = {problem.id for problem in (*dataset.training_side, *dataset.test)}
    assert not ids & {made("13").product.id, "seed-13"}
    assert made("12").product.id in ids
    assert again.read_text(encoding="utf-8") == ""  # everything was read
    assert "| 13 | 1 | 0.0% |" in (tmp_path / "set" / "report.md").read_text(encoding="utf-8")
    assert dataset.facts["settings"]["verdicts"] == "verdicts.jsonl"


def test_what_nobody_read_stays_out_and_is_in_the_next_queue(queue: Path, tmp_path: Path) -> None:
    unread = made("13").product
    records = [verdict(name, reader) for name in PRODUCTS if name != unread.id for reader in "ab"]
    out, again = write_lines(tmp_path / "verdicts.jsonl", *records), tmp_path / "again.jsonl"
    options = SynthesisOptions(verdicts=out)
    synthesize_dataset(corpus(), tmp_path / "set", options, corpus="handmade", queue=again)
    assert unread.id not in {problem.id for problem in read_dataset(tmp_path / "set").test}
    assert [json.loads(line)["text"] for line in again.read_text(encoding="utf-8").splitlines()] == [unread.tale.text]


def test_decisions_of_the_studio_count_as_verdicts(tmp_path: Path) -> None:
    first, second = PRODUCTS[:2]
    reviews = [
        write_lines(
            tmp_path / f"review-{name}.jsonl",
            {"id": first, "status": "rejected", "by": name},
            {"id": first, "status": "accepted", "by": name},
            {"id": second, "status": "rejected", "by": name},
            {"id": PRODUCTS[2], "status": "open", "by": name},
        )
        for name in ("ann", "ben")
    ]
    assert decide(collect_verdicts(reviews, None)) == {first: True, second: False}


def test_mistakes_with_verdicts_are_answered_in_one_line(queue: Path, tmp_path: Path) -> None:
    ann, out = marked(queue, "ann"), tmp_path / "verdicts.jsonl"
    foreign = write_lines(tmp_path / "foreign.jsonl", verdict("nobody", "b"))
    assert "has no key 'nobody'" in refused("import", "verdicts", ann, foreign, "--queue", queue, "--out", out)
    assert "in another file, too" in refused("import", "verdicts", ann, ann, "--queue", queue, "--out", out)
    missing = refused("import", "verdicts", ann, "--out", out, "--disputed", tmp_path / "third.jsonl")
    assert "name the file that they read with --queue" in missing
    assert not out.exists()
    with keys_of(queue).open("a", encoding="utf-8") as stream:
        stream.write("[1]\n")
    assert "not a JSON object" in refused("import", "verdicts", ann, "--queue", queue, "--out", out)
    alone = SynthesisOptions(verdicts=write_lines(out, verdict(PRODUCTS[0], "a")))
    with pytest.raises(ComdivError, match="no product of handmade is good to most of at least two readers"):
        synthesize_dataset(corpus(), tmp_path / "set", alone, corpus="handmade")


def test_shares_are_what_most_readers_say_and_kappa_that_of_the_two_who_read_all() -> None:
    def said(name: str, **marks: str) -> list[Verdict]:
        return [Verdict(f"{name}-r6a-0123ab", reader, "v" in m, "q" in m, "l" in m) for reader, m in marks.items()]

    facts = reading_facts([
        *said("1", a="vql", b="vql"), *said("2", a="vl", b="vl"), *said("3", a="vql", b="vl", c="vql"),
        *said("4", a="vql", b="vql"),
    ])  # fmt: skip
    assert facts["readers"] == {"a": 4, "b": 4, "c": 1}
    assert facts["rules"]["6"] == facts["rules"]["all"]
    assert [facts["rules"]["6"][name] for name in ("read", "valid", "qualified")] == [4, 1.0, 0.75]
    # Both qualified 2, neither 1, only a's 1: observed 3/4, by chance 3/4·2/4 + 1/4·2/4 = 1/2.
    assert facts["rules"]["6"]["kappa_qualified"] == pytest.approx(0.5)
    assert facts["rules"]["6"]["kappa_valid"] is None
    assert reading_rows(facts)[0] == ("6", "4", "100.0%", "75.0%", "100.0%", "–", "0.50")


def test_the_agreement_on_a_published_set_is_told_by_its_name() -> None:
    said = run("agreement", "mawps-sd", "--mark", "qualified", "--shown", "0").output
    assert "reader-a and reader-b" in said
    assert (
        "reader-a" in run("agreement", "mawps-sd", "--judge", "reader-a", "--judge", "reader-b", "--shown", "0").output
    )
    assert "nobody is called 'ann'" in refused("agreement", "mawps-sd", "--judge", "ann")
    assert "--mark is valid, qualified or label, not 'good'" in refused("agreement", "mawps-sd", "--mark", "good")

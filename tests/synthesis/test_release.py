"""Published sets: readers' verdicts, what stands, what a wrong corpus is told."""

from pathlib import Path
from typing import Any

import pytest

from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.files import file_sha256
from comdiv.synthesis import SynthesisOptions, release, synthesize_dataset
from comdiv.synthesis.release import Release, find_release, releases
from synthesis.handmade import PRODUCTS, SEEDS, corpus, made, problem, verdict, write_lines

LATE = {"10": ("三年级", "四年级"), "11": ("一支铅笔", "一支毛笔"), "13": ("红花", "黄花")}


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Publish a set of the corpus made by hand; `bad` are the products that both readers reject."""

    def as_release(bad: tuple[str, ...] = (), **fields: Any) -> Release:
        records = [verdict(name, reader, name not in bad) for name in PRODUCTS for reader in "ab"]
        path = write_lines(tmp_path / "verdicts.jsonl", *records)
        known = {"name": "small", "title": "By hand", "version": "1.0", "corpus": "handmade", "language": "zh"}
        result = Release(**{**known, "verdicts": str(path), "read": True, **fields})
        monkeypatch.setattr(release, "releases", lambda: {**releases.__wrapped__(), result.name: result})
        return result

    return as_release


def build(folder: Path, name: str = "small", problems: Any = None, **options: Any) -> dict[str, Any]:
    settings = SynthesisOptions(release=name, **options)
    return synthesize_dataset(problems or corpus(), folder, settings, corpus="handmade")


def test_only_what_readers_found_good_stands_in_a_set(publish: Any, tmp_path: Path) -> None:
    six, ten = made("6").products[0].id, made("10").product.id
    publish(bad=(six, ten))
    build(tmp_path / "sd")
    dataset = read_dataset(tmp_path / "sd")
    names = {problem.id for problem in (*dataset.training_side, *dataset.test)}
    assert made("6").products[1].id in names
    assert not names & {six, ten, "seed-10"}
    assert dataset.facts["settings"]["release"] == "small"


def test_a_set_that_was_not_read_in_full_leaves_out_only_what_was_rejected(publish: Any, tmp_path: Path) -> None:
    more = problem("late", SEEDS["6"][0].replace("小明", "小红"), SEEDS["6"][1])
    rejected = made("6").products[0].id
    publish(bad=(rejected,), read=False)
    build(tmp_path / "sd", problems=[*corpus(), more])
    dataset = read_dataset(tmp_path / "sd")
    assert "late" in {problem.id for problem in dataset.test}
    assert rejected not in {problem.id for problem in dataset.training_side}


def test_a_single_reader_leaves_out_what_makes_no_sense_or_is_wrongly_labelled(publish: Any, tmp_path: Path) -> None:
    """What only reads badly stays; what two readers decided stands whatever a single one says."""
    late = [problem(f"late-{r}", SEEDS[r][0].replace(*words), SEEDS[r][1]) for r, words in LATE.items()]
    names = {r: made(r, given.text, SEEDS[r][1], given.id).product.id for r, given in zip(LATE, late, strict=True)}
    marks = {"10": {"valid": False}, "11": {"label": False}, "13": {"qualified": False}}
    said = [verdict(names[rule], "c", True) | mark for rule, mark in marks.items()]
    said.append(verdict(made("10").product.id, "c", good=False))
    screen = write_lines(tmp_path / "screen.jsonl", *said)
    publish(read=False, screen=str(screen))
    build(tmp_path / "sd", problems=[*corpus(), *late])
    test = {problem.id for problem in read_dataset(tmp_path / "sd").test}
    assert test & {*names.values(), made("10").product.id} == {names["13"], made("10").product.id}


def test_a_set_beside_another_has_other_seeds(publish: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = publish()
    dev = small.model_copy(update={"name": "dev", "read": False, "beside": "small"})
    monkeypatch.setattr(release, "releases", lambda: {"small": small, "dev": dev})
    late = [problem("late", SEEDS[r][0].replace("小明", "小红"), SEEDS[r][1]) for r in ("6",)]
    late += [problem("more", SEEDS["10"][0].replace("三年级", "四年级"), SEEDS["10"][1])]
    build(tmp_path / "dev", "dev", [*corpus(), *late])
    assert {problem.id for problem in read_dataset(tmp_path / "dev").test if problem.composition == "structural"} == {
        "late"
    }


def test_another_version_of_the_corpus_is_told_what_is_missing(publish: Any, tmp_path: Path) -> None:
    publish()
    other = [given for given in corpus() if given.id != "seed-6"]
    with pytest.raises(ComdivError, match=r"small 1\.0 needs the version of handmade") as error:
        build(tmp_path / "sd", problems=other)
    assert "2 cannot be made from this one (seed-6-r6a-" in str(error.value)
    assert not (tmp_path / "sd").exists()


def test_bytes_that_are_not_the_published_ones_are_refused(publish: Any, tmp_path: Path) -> None:
    publish()
    build(tmp_path / "first")
    hashes = {name: file_sha256(tmp_path / "first" / name) for name in ("train.jsonl", "test.jsonl")}
    publish(files=hashes)
    build(tmp_path / "again")
    publish(files={**hashes, "test.jsonl": "0" * 64})
    with pytest.raises(ComdivError, match=r"test\.jsonl would differ from the published files"):
        build(tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()


def test_a_published_set_may_be_cut_otherwise_and_is_checked_as_published(publish: Any, tmp_path: Path) -> None:
    publish()
    build(tmp_path / "first")
    published = read_dataset(tmp_path / "first")
    names = [f"{part}.jsonl" for part in ("train", "validation", "test")]
    publish(files={name: file_sha256(tmp_path / "first" / name) for name in names})
    build(tmp_path / "whole", validation=0)
    whole = read_dataset(tmp_path / "whole")
    assert published.validation
    assert not whole.validation
    assert {problem.id for problem in whole.train} == {problem.id for problem in published.training_side}
    assert whole.test == published.test
    publish(files={"validation.jsonl": "0" * 64})
    with pytest.raises(ComdivError, match=r"validation\.jsonl would differ from the published files"):
        build(tmp_path / "wrong", validation=0)


def test_a_published_set_has_its_own_options_and_corpus(publish: Any, tmp_path: Path) -> None:
    publish()
    with pytest.raises(ComdivError, match="has its own options: leave out size"):
        build(tmp_path / "sd", size="3/2")
    with pytest.raises(ComdivError, match="is made from handmade, not from mawps"):
        synthesize_dataset(corpus(), tmp_path / "sd", SynthesisOptions(release="small"), corpus="mawps")
    with pytest.raises(ComdivError, match="small"):
        find_release("smal")


def test_every_shipped_set_has_readable_verdicts_and_options() -> None:
    for published in releases().values():
        assert published.options.sizes is None or min(published.options.sizes) > 0
        assert published.decisions


def test_shipped_reasons_quote_no_chinese_corpus() -> None:
    for published in releases().values():
        reasons = "".join(verdict.reason for verdict in published.said)
        assert reasons
        assert not [character for character in reasons if "\u4e00" <= character <= "\u9fff"]

"""The audit of a split: what it counts, on items small enough to count by hand, and what its page must not do."""

import json
from pathlib import Path

import numpy as np
import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.splitting import CompositionalSplit
from comdiv.splitting.audit import adversarial_auc, audit_problems, masked
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.measurement import measure

AUDITOR = CompositionalSplit(str.split, lambda text: [text.split()[0] + text.split()[-1]])


def test_twins_and_near_duplicates_are_counted() -> None:
    texts = [
        "Tom has 3 apples and buys some more of them today",
        "Tom has 12 apples and buys some more of them today",  # a twin
        "Tom has 3 apples and buys some more of them today.",  # nearly the same
        "a train leaves at noon",
    ]
    audit = AUDITOR.audit(texts, [0], [1, 2, 3])
    assert (audit.twins, audit.near_duplicates, audit.compared) == (1, 2, 3)
    assert [pair.test for pair in audit.nearest] == ["1", "2", "3"]
    assert audit.nearest[0].similarity == 1.0
    assert audit.nearest[2].similarity < 0.2


def test_items_without_a_text_can_be_audited() -> None:
    views = CompositionalSplit(lambda text: ["atom"], lambda text: ["compound"])
    audit = views.audit(["", " ", ""], [0], [1, 2])
    assert (audit.twins, audit.near_duplicates, audit.compared) == (2, 2, 2)


def test_divergences_are_those_of_the_views() -> None:
    texts = ["a b", "b a", "a a", "b b"]
    views = {"words": (str.split, str.split), "letters": (list, lambda text: [len(text)])}
    audit = AUDITOR.audit(texts, [0, 1], [2, 3], other_views=views)
    assert (audit.compound_divergence, audit.atom_divergence) == (1.0, 0.0)
    assert audit.unseen_compound_share == 1.0
    assert audit.other_views == {
        "words": {"compound_divergence": 0.0, "atom_divergence": 0.0},
        "letters": {"compound_divergence": 0.0, "atom_divergence": 0.0},
    }


def test_a_classifier_tells_sides_that_differ_and_only_these() -> None:
    generator = np.random.default_rng(0)
    noise = generator.random((200, 5))
    test = np.arange(200) % 4 == 0
    groups = np.arange(200)
    by_chance = adversarial_auc(noise, test, groups)
    assert by_chance is not None
    assert abs(by_chance - 0.5) < 0.15
    assert adversarial_auc(np.c_[noise, test * 9.0], test, groups) == 1.0
    assert adversarial_auc(noise[:3], test[:3], groups[:3]) is None


def test_a_twin_in_another_fold_is_no_help_to_the_classifier() -> None:
    """Each group has a feature of its own: only who has seen a group could know its side."""
    groups = np.repeat(np.arange(40), 2)
    features = np.eye(40)[groups]
    test = groups % 4 == 0
    value = adversarial_auc(features, test, groups)
    assert value is not None
    assert value <= 0.6


def test_lengths_are_compared() -> None:
    long = CompositionalSplit(str.split, str.split, length_of=len)
    audit = long.audit(["aa", "bbbb", "a", "bb"], [0, 1], [2, 3])
    assert (audit.length_ratio, audit.mean_length) == (2.0, {"train": 3.0, "test": 1.5})


def test_items_without_a_text_have_no_twins() -> None:
    audit = CompositionalSplit(lambda item: [item % 3], lambda item: [item % 2]).audit(range(12), range(9), [9, 10, 11])
    assert (audit.twins, audit.near_duplicates, audit.nearest) == (None, None, ())
    assert set(audit.adversarial_auc) == {"atoms", "compounds"}


def test_texts_are_escaped_in_the_page_and_kept_in_json(tmp_path: Path) -> None:
    texts = ["<script>alert('a')</script> b", "<script>alert('a')</script> c", "plain words here"]
    audit = AUDITOR.audit(texts, [0, 2], [1])
    page, record = tmp_path / "audit.html", tmp_path / "audit.json"
    assert audit.write(tmp_path, "<b>a & b</b>") == [record, page]
    assert "<script" not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()
    assert "<title>&lt;b&gt;a &amp; b&lt;/b&gt;</title>" in page.read_text()
    assert json.loads(record.read_text())["nearest"][0]["test_text"] == texts[1]


def test_word_problems_are_audited_under_held_out_clusterings() -> None:
    extraction = extract(generate("en", 120))
    test = np.arange(120) % 5 == 0
    settings = ExtractionSettings(k=4, clusterings=2)
    audit = audit_problems(extraction, test, settings, alpha="paper")
    measured = measure(extraction, test, settings)
    assert list(audit.other_views) == [*(f"held-out clustering {seed}" for seed in (2, 3, 4)), "units"]
    held_out = [audit.other_views[f"held-out clustering {seed}"]["compound_divergence"] for seed in (2, 3, 4)]
    assert np.mean(held_out) == pytest.approx(measured.compound_divergence_other_clusterings)
    assert audit.compound_divergence == measured.compound_divergence["paper"]
    assert audit.twins == measured.twins


def test_an_empty_side_is_refused() -> None:
    with pytest.raises(ComdivError, match="the test side is empty"):
        AUDITOR.audit(["a", "b"], [0, 1], [])


def test_a_mask_has_no_numbers_capitals_or_spacing() -> None:
    assert masked("Tom  has 1,200.5 Apples") == masked("tom has 3 apples")

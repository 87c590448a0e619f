"""Units: the lists that come with the package, and what a corpus shows."""

import pytest

from comdiv.language import UnitLexicon, get_language, learn_units
from comdiv.reading import read_text


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_shipped_list_has_at_least_150_units(code: str) -> None:
    assert len(get_language(code).lexicon.words) >= 150
    assert not any("#" in word or word != word.strip() for word in get_language(code).lexicon.words)


def test_longest_bounds_the_look_ahead() -> None:
    assert UnitLexicon(frozenset(["个", "平方米"])).longest == 3
    assert UnitLexicon(frozenset()).longest == 0


def test_extending_a_lexicon_leaves_the_old_one_alone() -> None:
    old = UnitLexicon(frozenset(["个"]))
    assert old.extended(["瓣", "个"]).words == {"个", "瓣"}
    assert old.words == {"个"}


def test_what_a_chinese_corpus_counts_often_becomes_a_unit() -> None:
    chinese = get_language("zh")
    corpus = ["一头蒜有8瓣", "剥了3瓣蒜", "还剩几瓣？", "共有多少瓣？", "每头12瓣"]
    assert "瓣" not in chinese.lexicon.words
    learnt = chinese.with_lexicon(learn_units(chinese, corpus))
    assert "瓣" in learnt.lexicon.words
    assert chinese.lexicon.words < learnt.lexicon.words
    assert [q.unit for q in read_text("吃了5瓣", learnt).quantities] == ["瓣"]
    assert [q.unit for q in read_text("吃了5瓣", chinese).quantities] == [None]


def test_what_an_english_corpus_counts_often_becomes_a_unit() -> None:
    english = get_language("en")
    corpus = [
        "He has 3 kumquats.",
        "She ate 5 kumquats.",
        "How many kumquats are left?",
        "4 red kumquats",
        "9 kumquats",
    ]
    assert "kumquat" in learn_units(english, corpus).words - english.lexicon.words


def test_once_or_twice_is_chance() -> None:
    chinese = get_language("zh")
    corpus = ["一头蒜有8瓣", "剥了3瓣蒜"]
    assert "瓣" not in learn_units(chinese, corpus).words
    assert "瓣" in learn_units(chinese, corpus, minimum=2).words


def test_a_measure_word_with_its_noun_is_not_learnt_as_one_unit() -> None:
    chinese = get_language("zh")
    assert learn_units(chinese, ["买了3个桃子"] * 9).words == chinese.lexicon.words

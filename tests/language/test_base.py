"""What holds for every language, on every text; and that a third language is one small class."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.expression import parse_equation, to_infix
from comdiv.language import (
    ContentWords,
    Language,
    Token,
    UnitLexicon,
    align,
    detect_language,
    get_language,
    learn_units,
    register_language,
)
from comdiv.language.base import as_measure
from comdiv.language.numbers import NumberSpan
from comdiv.problem import Quantity
from comdiv.reading import read_text

LANGUAGES = [get_language("en"), get_language("zh")]
PIECES = [
    "Tom has ", "how many ", "Mr. ", "If ", "p.m. ", "apples", ", ", ". ", "? ", "“", "”", "$", "%", "-", "/", "(", ")",
    "1,000", "3.5", "(1/3)", "1(1/2)", "2 1/2", "20%", "７", "½", "twenty-five ", "a dozen ", "two and a half ",
    "小明有", "多少", "几", "个", "千克", "，", "。", "．", "：", "3：5", "第", "三分之二", "二十五", "半", "分给",
    "\n", "\u3000", "é", "😀",
]  # fmt: skip
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
languages = st.sampled_from(LANGUAGES)


@given(languages, texts)
def test_clauses_cover_the_text_and_nothing_else(language: Language, text: str) -> None:
    clauses = language.clauses(text)
    assert "".join(clause.text for clause in clauses) == text
    assert all(text[clause.start : clause.end] == clause.text for clause in clauses)


@given(languages, texts)
def test_a_clause_without_a_word_stands_alone_or_not_at_all(language: Language, text: str) -> None:
    clauses = language.clauses(text)
    wordless = [clause for clause in clauses if not any(character.isalnum() for character in clause.text)]
    assert not wordless or len(clauses) == 1


@given(languages, texts)
def test_no_clause_ends_inside_a_number(language: Language, text: str) -> None:
    ends = {clause.end for clause in language.clauses(text)}
    assert not any(end in range(q.start + 1, q.end) for q in language.quantities(text) for end in ends)


@given(languages, texts, st.booleans())
def test_tokens_lie_in_order_and_leave_out_only_white_space(language: Language, text: str, number_words: bool) -> None:
    tokens = language.tokens(text, number_words=number_words)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert all(first.end <= second.start for first, second in pairwise(tokens))
    assert re.sub(r"\s", "", "".join(token.text for token in tokens)) == re.sub(r"\s", "", text)


@given(languages, texts, st.booleans())
def test_number_tokens_are_the_quantities(language: Language, text: str, number_words: bool) -> None:
    quantities = language.quantities(text, number_words=number_words)
    tokens = [t for t in language.tokens(text, number_words=number_words) if t.quantity is not None]
    assert [(t.quantity, t.text, t.start, t.end) for t in tokens] == [
        (q.index, q.text, q.start, q.end) for q in quantities
    ]
    assert [quantity.index for quantity in quantities] == list(range(len(quantities)))


@given(languages, texts)
def test_no_text_makes_any_question_about_it_fail(language: Language, text: str) -> None:
    for number_words in (False, True):
        quantities = language.quantities(text, number_words=number_words)
        known = read_text(text, language, number_words=number_words).quantities
        assert [replace(quantity, unit=None, kind=None) for quantity in known] == quantities
        assert (
            read_text(text, language, number_words=number_words).mask
            == read_text(text, language, number_words=number_words).mask.lower()
        )
    language.asked_unit(text)
    language.content_words(text)
    list(language.counted_words(text))


numbers = st.one_of(
    st.integers(0, 99_999).map(str),
    st.integers(1_000, 9_999_999).map("{:,}".format),
    st.decimals(0, 999, places=2).map(str),
    st.integers(1, 300).map("{}%".format),
    st.tuples(st.integers(1, 8), st.integers(9, 20)).map("({0[0]}/{0[1]})".format),
)


@given(numbers, numbers, numbers, numbers)
def test_texts_that_differ_in_numbers_only_are_twins(first: str, second: str, third: str, fourth: str) -> None:
    for language, text in zip(LANGUAGES, ["Tom has {} apples and {} pears .", "甲有{}元，乙有{}元。"], strict=True):
        one, other = text.format(first, second), text.format(third, fourth)
        assert read_text(one, language).mask == read_text(other.replace(" ", "  "), language).mask
        assert (
            read_text(one, language).mask
            != read_text(one.replace("apples", "plums").replace("甲", "丙"), language).mask
        )


def test_masked_text_shows_one_mask_for_each_number() -> None:
    assert read_text("Tom  has 1,000 apples\nand 2", "en").mask == "tom has num apples and num"
    assert read_text("a dozen and 2", "en", number_words=True).mask == "num and num"


@pytest.mark.parametrize(
    "text",
    [
        "1," * 30_000, "a. " * 30_000, "苹果，" * 30_000, "9" * 100_000, "1 one " * 10_000, "3：" * 20_000,
        "(" * 50_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_a_text_of_a_hundred_thousand_characters_is_read_like_any_other(language: Language, text: str) -> None:
    assert "".join(clause.text for clause in language.clauses(text)) == text
    tokens = language.tokens(text, number_words=True)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    assert "".join(token.text for token in tokens) == "".join(text.split())


def test_languages_are_found_by_code_and_by_look() -> None:
    assert (get_language("en").name, get_language("zh").name) == ("English", "Chinese")
    assert (detect_language("Tom 有 3"), detect_language("Tom has 3"), detect_language("")) == ("zh", "en", "en")
    with pytest.raises(ComdivError, match=r"unknown language 'eng'\. Did you mean 'en'\? Known: en, "):
        get_language("eng")


class German(Language):
    """A third language, whole: what `docs` promises to be possible in one small file."""

    code, name = "de", "German"

    def words(self, text: str, start: int, end: int) -> list[Token]:
        return [Token(m[0], m.start(), m.end()) for m in re.compile(r"\w+|\S").finditer(text, start, end)]

    def clause_ends(self, text: str) -> Iterable[re.Match[str]]:
        return re.finditer(r"[.?!,]+(?=\s|$)", text)

    def number_word_spans(self, text: str) -> Iterable[NumberSpan]:
        return [
            NumberSpan(m.start(), m.end(), measure, "word") for m in re.finditer(r"\bdrei\b", text) for measure in [3]
        ]

    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        word = re.match(r"\s*(\w+)", text[quantity.end :])
        return as_measure(quantity, word[1]) if word and word[1] in self.lexicon.words else quantity

    def asked_unit(self, text: str) -> str | None:
        asked = re.search(r"[Ww]ie viele (\w+)", text)
        return asked[1] if asked else None

    def content_words(self, text: str) -> ContentWords:
        return ContentWords(tuple(word.lower() for word in re.findall(r"\b[A-ZÄÖÜ]\w+", text)), ())

    def counted_words(self, text: str) -> Iterable[str]:
        return re.findall(r"\d+ (\w+)", text)


def test_a_third_language_works_with_everything_that_knows_languages() -> None:
    german = German(UnitLexicon(frozenset(["Birnen"])))
    text = "Anna hat 12 Äpfel und drei Birnen. Sie isst 5, wie viele Äpfel bleiben?"
    assert [quantity.value for quantity in german.quantities(text, number_words=True)] == [12, 3, 5]
    assert [clause.text for clause in german.clauses(text)][-1] == " wie viele Äpfel bleiben?"
    assert read_text(text, german).mask == read_text(text.replace("12", "7"), german).mask
    learnt = german.with_lexicon(learn_units(german, [text] * 5))
    assert [q.unit for q in read_text(text, learnt).quantities] == ["Äpfel", None]
    alignment = align(parse_equation("x=12-5"), german, text, german.quantities(text))
    assert to_infix(alignment.expression) == "N0-N1"


def test_a_registered_language_is_found_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("comdiv.registry.LANGUAGES._added", {})
    german = German(UnitLexicon(frozenset()))
    register_language(german)
    assert get_language("de") is german

"""The closed classes of a language, and what follows from them: names, connectives, joined clauses, written numbers."""

from fractions import Fraction

import pytest

from comdiv.language import get_language
from comdiv.language.story import StoryWords, story_words
from comdiv.reading import read_text

ZH, EN = get_language("zh").story, get_language("en").story


@pytest.mark.parametrize(
    ("story", "text", "rest"),
    [
        (ZH, "那么还剩多少页？", "还剩多少页？"),
        (ZH, "求还剩多少页？", "还剩多少页？"),
        (EN, "Then how many are left?", "how many are left?"),
        (EN, "So, how many are left?", "how many are left?"),
        (EN, "Andy has 3 cups.", "Andy has 3 cups."),  # "and" is no word of it
        (ZH, "问？", "问？"),  # nothing would be left
        (StoryWords(), "Then how many?", "Then how many?"),
    ],
)
def test_a_connective_stays_behind_with_what_it_joined_to(story: StoryWords, text: str, rest: str) -> None:
    assert story.without_connective(text) == rest


@pytest.mark.parametrize(
    ("story", "clauses", "text"),
    [
        (ZH, ["有3个苹果，", " 还剩几个？"], "有3个苹果，还剩几个？"),
        (EN, ["Tom has 3 cups.", "how many cups?"], "Tom has 3 cups. How many cups?"),
        (EN, ["If Tom has 3 cups,", "How many cups?"], "If Tom has 3 cups, how many cups?"),
        (EN, ["With 3 cups,", "Tom leaves."], "With 3 cups, Tom leaves."),  # a name keeps its capital
        (StoryWords(), ["With 3 cups,", "How many?"], "With 3 cups, How many?"),  # no openers are known
    ],
)
def test_clauses_are_joined_as_the_language_writes_them(story: StoryWords, clauses: list[str], text: str) -> None:
    assert story.join_clauses(clauses) == text


def test_names_are_found_by_role_and_cleaned() -> None:
    assert dict(ZH.names_in("而鸭是鸡的NUM，"))["reference"] == "鸡"
    assert dict(ZH.names_in("鸭比鸡多NUM，")) | {} == {"compared": "鸭", "reference": "鸡", "more": "多"}
    assert "object" not in dict(ZH.names_in("每NUM个"))
    assert list(StoryWords().names_in("鸭是鸡的NUM")) == []


def test_an_owner_stands_before_the_possessive() -> None:
    assert (ZH.owner("小红的邮票"), ZH.owner("苹果"), EN.owner("Maya")) == ("小红", "苹果", "Maya")


def test_synonyms_share_a_name() -> None:
    assert (ZH.unit_name("公斤"), ZH.unit_name("吨"), ZH.unit_name(None)) == ("千克", "吨", None)
    assert ZH.merge_synonyms(["公斤", "千克", "剩下"]) == {"千克", "剩"}


def test_a_table_without_entries_knows_nothing_and_still_answers() -> None:
    empty = story_words({}, spaced=True)
    assert not empty.speaks_of_rest("the rest is left")
    assert empty.per.search("each box") is None
    assert empty.join_clauses(["a b.", "c?"]) == "A b. C?"


def test_english_names_are_always_written_with_a_capital() -> None:
    texts = ["Will Tom go to Rome? There Tom will rest.", "I saw Ann. There she was, there in Rome with Ann."]
    assert get_language("en").proper_names(texts) == {"Tom", "Rome", "Ann"}
    assert get_language("zh").proper_names(texts) == frozenset()


def test_a_name_after_a_preposition_is_a_place() -> None:
    english = get_language("en")
    text = "A boy called Tom met Ann Lee near Rome."
    assert english.named_roles(text, {"Rome", "Tom", "Ann", "Lee"}) == {"place": "Rome", "person": "Tom"}
    assert english.named_roles(text, frozenset()) == {}
    assert get_language("zh").named_roles(text, {"Rome"}) == {}


@pytest.mark.parametrize(
    ("value", "model", "written"),
    [
        ("12", "7", "12"),
        ("7/2", "7", None),  # a count that is no integer
        ("1200", "3,400", "1,200"),
        ("7/2", "2.5", "3.5"),
        ("12", "2.5", "12"),
        ("120/7", "2.5", None),  # 17.142…
        ("1/16", "2.5", None),  # more decimals than a schoolbook writes
        ("3/5", "(1/3)", "(3/5)"),
        ("3/5", "1/3", "3/5"),
        ("7/5", "(1/3)", None),
        ("2", "(1/3)", None),
        ("3/2", "2(1/3)", "1(1/2)"),
        ("4/5", "20%", "80%"),
        ("1/3", "20%", None),
    ],
)
def test_a_value_is_written_in_the_models_form_or_not_at_all(value: str, model: str, written: str | None) -> None:
    quantity = read_text(f"有{model}，", "zh").quantities[0]
    assert get_language("zh").write_number(Fraction(value), quantity) == written

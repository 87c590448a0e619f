"""Which clauses are offered for a placeholder, in which order, and which of their names the seed knows."""

import pytest

from comdiv.language import get_language
from comdiv.reading import read_text
from comdiv.synthesis.donors import DonorIndex, Surroundings, find_names
from comdiv.synthesis.tale import Tale, tell
from synthesis.handmade import problem

ZH = get_language("zh")


def tale(name: str, text: str, expression: str) -> Tale:
    result = tell(problem(name, text, expression), ZH)
    assert result is not None
    return result


BOOKS = tale("books", "这本故事书有90页，看了40页，还剩多少页？", "N0-N1")
SHOP = tale("shop", "商店有梨90千克，卖出30千克，还剩多少千克？", "N0-N1")
COAL = tale("coal", "一堆煤20吨，用去(3/4)，用去多少吨？", "N0*N1")
INDEX = DonorIndex([SHOP, BOOKS, COAL])


def offers(*arguments: object, words: set[str], neighbours: set[str] | None = None) -> list[tuple[str, str]]:
    scored = INDEX.offers(*arguments, words, neighbours or set())  # type: ignore[arg-type]
    return [(entry.donor.id, entry.donor.clause.text) for entry in scored]


def test_questions_come_from_problems_with_the_template() -> None:
    assert offers("n1-n2", None, "页", words={"故事书", "商店"}) == [
        ("books", "还剩多少页？"),
        ("shop", "还剩多少千克？"),
    ]
    assert offers("n1/n2", None, "页", words={"故事书"}) == []


def test_a_stated_quantity_has_its_rank_and_its_kind_of_unit() -> None:
    assert offers("n1-n2", 0, "页", words={"故事书"}) == [("books", "这本故事书有90页，")]
    assert offers("n1-n2", 1, "页", words={"故事书"}) == [("books", "看了40页，")]
    assert offers("n1*n2", 1, "share", words={"煤"}) == [("coal", "用去(3/4)，")]
    assert offers("n1*n2", 1, "吨", words={"煤"}) == []  # it states a share


def test_a_problem_without_a_common_word_is_never_offered() -> None:
    assert offers("n1-n2", None, "页", words={"飞机"}) == []


def test_words_beside_the_placeholder_count_more_than_words_elsewhere() -> None:
    both = {"故事书", "梨", "商店"}
    assert [name for name, _ in offers("n1-n2", None, "页", words=both)] == ["shop", "books"]  # two words against one
    beside = offers("n1-n2", None, "页", words=both, neighbours={"页"})
    assert [name for name, _ in beside] == ["books", "shop"]


def test_ties_go_to_the_lower_id() -> None:
    twins = DonorIndex([tale(name, "这本故事书有90页，看了40页，还剩多少页？", "N0-N1") for name in ("b", "a", "c")])
    assert [entry.donor.id for entry in twins.offers("n1-n2", None, "页", {"故事书"}, ())] == ["a", "b", "c"]


def test_a_clause_with_two_quantities_states_neither() -> None:
    index = DonorIndex([tale("p", "这本故事书有90页看了40页，还剩多少页？", "N0-N1")])
    assert index.offers("n1-n2", 0, "页", {"故事书"}, ()) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("一共有多少个？", []),  # generic: fits any story
        ("运来苹果多少千克？", ["运来", "苹果", "千克"]),
        ("现在有多少个？", ["现在"]),  # generic, but bound to a time that the seed must have
    ],
)
def test_names_are_what_a_clause_says_of_its_own_story(text: str, names: list[str]) -> None:
    assert find_names(read_text(text, ZH)) == names


def test_a_seed_knows_words_parts_of_words_and_single_characters_at_the_end() -> None:
    orchard = tale("p", "果园有苹果树60棵，梨树20棵，一共有多少棵？", "N0+N1")
    around = Surroundings(orchard, orchard.clauses[:1], unit="棵")
    assert around.foreign(["苹果树", "苹果", "树", "棵", "梨树", "果"]) == ["梨树", "果"]

"""English: clauses, tokens, units and content words, checked by hand."""

import json
import subprocess
import sys

import pytest

from comdiv.language import get_language
from comdiv.language.en import singular
from comdiv.reading import read_text

ENGLISH = get_language("en")


@pytest.mark.parametrize(
    "clauses",
    [
        ["Tom has 3 apples.", " He buys 4 more.", " How many apples has he?"],
        ["Tom has 3 apples .", " How many are left ?"],
        ["If a pen costs $1.50,", " how many pens can he buy with $6?"],
        ["If there are 5 boys ,", " how many girls are there ?"],
        ["If 3 more come,", "how many are there?"],
        ["She ate 2 of 8 slices,", " what fraction is left?"],
        ["The sum is 12,", " find the numbers."],
        ["If he read 8 pages,", " then how many are left?"],
        ["She reads 8 pages,", " and how many are left?"],
        ["By 6 he had 5 apples, 3 pears and 2 plums."],
        ["Did he, however, eat all 5?"],
        ["There are 1,000 sheep;", " 300 are black;", " how many are not?"],
        ["It weighs 3.5 pounds.", " What do 2 weigh?"],
        ["He ate (1/3) of it.", " What is left?"],
        ["Mr. Smith and Mrs. Jones met Dr. Who in St. Louis.", " How many are they?"],
        ["He worked from 5 p.m. to 9 p.m. and slept."],
        ["He came at 5 p.m.", " She came at 6 p.m.", " Who was first?"],
        ["The U.S. team won 3 games."],
        ["Mary bought 3 lbs. of beef and 2 oz. of salt."],
        ["He wore no. 5 on his shirt."],
        ["Did he win?", " The answer is no.", " He lost 5 times."],
        ['She said, "I have 5 cents."', " How many has he?"],
        ["“I have 5.”", " How many has he?"],
        ["Wow!", " That is 5 cats...", " How many?!"],
        ["He ate 5.", "How many are left?"],
        ["How many are left?", "He wants 5."],
        ["Line one\nand line two.", " How many lines?"],
        ["How many apples are there"],
        ["Find 3 + 4"],
        ["... ?!"],
        ["..."],
        ["   "],
        ["?How many?"],
        [],
    ],
    ids=lambda clauses: " ".join(clauses)[:30],
)
def test_clauses(clauses: list[str]) -> None:
    assert [clause.text for clause in ENGLISH.clauses("".join(clauses))] == clauses


def test_a_clause_knows_its_place() -> None:
    text = "Tom has 3 cats. How many legs?"
    assert [text[clause.start : clause.end] for clause in ENGLISH.clauses(text)] == [
        "Tom has 3 cats.",
        " How many legs?",
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Tom has 1,000 red apples.", ["Tom", "has", "1,000", "red", "apples", "."]),
        ("It's $5.50!", ["It", "'s", "$", "5.50", "!"]),
        ("He doesn't eat 1 1/2 cups", ["He", "doesn't", "eat", "1 1/2", "cups"]),
        ("a 5-inch nail", ["a", "5", "-", "inch", "nail"]),
        ("an ice-cream, 20 % off", ["an", "ice-cream", ",", "20 %", "off"]),
        ("An A4 page", ["An", "A", "4", "page"]),
        ("", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert [token.text for token in ENGLISH.tokens(text)] == tokens


def test_number_tokens_say_which_quantity_they_are() -> None:
    tokens = ENGLISH.tokens("2 cats, three dogs and 4 birds", number_words=True)
    assert [(token.text, token.quantity) for token in tokens if token.quantity is not None] == [
        ("2", 0),
        ("three", 1),
        ("4", 2),
    ]


@pytest.mark.parametrize(
    ("text", "unit", "kind"),
    [
        ("Tom has 3 apples.", "apple", "measure"), ("There are 41 short trees", "tree", "measure"),
        ("They planted 41 trees today", "tree", "measure"), ("5 men work here", "man", "measure"),
        ("7 children", "child", "measure"), ("She has 12 of the stickers", "sticker", "measure"),
        ("5 of his red marbles", "marble", "measure"), ("3 more boxes", "box", "measure"),
        ("3 loaves of bread", "loaf", "measure"), ("It weighs 3.5 pounds", "pound", "measure"),
        ("1 1/2 cups of flour", "cup", "measure"), ("a 5-inch nail", "inch", "measure"),
        ("5kg of rice", "kg", "measure"), ("-11 degrees", "degree", "measure"),
        ("30° outside", "degree", "measure"), ("It costs $5.50.", "dollar", "measure"),
        ("It costs $ 5 .", "dollar", "measure"), ("5¢ each", "cent", "measure"), ("£3 each", "pound", "measure"),
        ("100 miles per hour", "mile", "measure"), ("3 times as many", "time", "share"),
        ("20% of it", None, "share"), ("20 percent of it", None, "share"), ("3/5 of the cake", None, "share"),
        ("She ate 3/5.", None, "share"), ("0.25 of the cake", None, "share"), ("The number is 7.", None, "bare"),
        ("7 plus something", None, "bare"), ("at 5 p.m. sharp", None, "bare"), ("at 5 o'clock", None, "bare"),
        ("12 were sold", None, None),
    ],
)  # fmt: skip
def test_units_and_kinds(text: str, unit: str | None, kind: str | None) -> None:
    (quantity,) = read_text(text, ENGLISH).quantities
    assert (quantity.unit, quantity.kind) == (unit, kind)


@pytest.mark.parametrize(
    ("text", "unit", "kind"),
    [("half an hour", None, "share"), ("two dozen eggs", "egg", "measure"), ("twice as many", None, "share")],
)
def test_units_of_number_words(text: str, unit: str | None, kind: str | None) -> None:
    (quantity,) = read_text(text, ENGLISH, number_words=True).quantities
    assert (quantity.unit, quantity.kind) == (unit, kind)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("Tom has 3 cats. How many apples has he?", "apple"),
        ("How many more red marbles does she have?", "marble"),
        ("How many of the apples are left?", "apple"),
        ("How many pieces of cake are left?", "piece"),
        ("How many hours did 5 men work?", "hour"),
        ("How much money did he pay?", "dollar"),
        ("What fraction of the 8 slices is left?", "share"),
        ("What percent of 50 is 5?", "share"),
        ("How many apples has he? He has 5 pears.", None),
        ("How long is it?", None),
        ("", None),
    ],
)
def test_asked_unit(text: str, unit: str | None) -> None:
    assert ENGLISH.asked_unit(text) == unit


@pytest.mark.parametrize(
    ("text", "nouns", "verbs"),
    [
        ("Tom buys 3 red apples.", ("tom", "apple"), ("buys",)),
        ("The farmer has sold two horses", ("farmer", "horse"), ("sold",)),
        ("5 + 3 = 8", (), ()),
        ("", (), ()),
    ],
)
def test_content_words_are_nouns_and_verbs_without_auxiliaries(
    text: str, nouns: tuple[str, ...], verbs: tuple[str, ...]
) -> None:
    words = ENGLISH.content_words(text)
    assert (words.nouns, words.verbs) == (nouns, verbs)


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("Apples", "apple"), ("boxes", "box"), ("dishes", "dish"), ("puppies", "puppy"), ("movies", "movie"),
        ("shoes", "shoe"), ("potatoes", "potato"), ("prizes", "prize"), ("quizzes", "quiz"), ("classes", "class"),
        ("scarves", "scarf"), ("calories", "calorie"), ("people", "person"), ("feet", "foot"), ("glass", "glass"),
        ("bus", "bus"), ("sheep", "sheep"), ("houses", "house"),
    ],
)  # fmt: skip
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected


def test_tags_are_those_of_textblob_without_its_imports() -> None:
    """textblob's package also imports NLTK and scikit-learn, which took most of the time of reading a corpus."""
    words = ("Sam", "read", "12 %", "of", "41", "brand-new", "and/or", "unreadably", "books", "/", "quickly", ".")
    script = (
        "import json, sys; from comdiv.language.en.tagging import tag_words\n"
        f"print(json.dumps([tag_words({words!r}), 'nltk' in sys.modules]))"
    )
    alone = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    from textblob.en import tag

    tags, imports_nltk = json.loads(alone.stdout)
    assert tags == [list(pair) for pair in tag(" ".join(words), tokenize=False)]
    assert not imports_nltk

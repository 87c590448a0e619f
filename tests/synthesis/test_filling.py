"""A donor's clause in its place: why it is refused, what the product says of its origin, and a language of no words."""

import re
from collections.abc import Iterator
from fractions import Fraction

import pytest

from comdiv.expression import parse, value_of
from comdiv.language import ContentWords, Language, Token
from comdiv.language.base import as_measure
from comdiv.language.numbers import NumberSpan
from comdiv.problem import Problem, Quantity
from comdiv.reading import read_text
from comdiv.synthesis.families import Family, make_family
from comdiv.synthesis.filling import Product, Workshop, fill, learn_language
from comdiv.synthesis.sense import UnitOfX
from comdiv.synthesis.tale import find_seed, tell
from synthesis.handmade import DONORS, RULES, SEEDS, problem, seed_of, workshop_of

BOOK = problem("seed-6", *SEEDS["6"])  # 120 pages, 30 are read, the rest in 15 a day
PAGES = UnitOfX("页", per=False)


def first_half(*donors: tuple[str, str]) -> Product | str:
    """The half of the book that asks for x = 90 pages, with the donors' questions to choose from."""
    bench = workshop_of([BOOK, *(problem(f"d{number}", *donor) for number, donor in enumerate(donors))])
    return fill(seed_of(RULES["6"], bench, "seed-6"), 0, bench, PAGES, Fraction(90))


@pytest.mark.parametrize(
    ("donor", "reason"),
    [
        (("动物园里猴子12只，狮子5只，猴子比狮子多几只？", "N0-N1"), "similarity 0"),
        (("一本书看了一些，每天看9页，少看4页，看了多少页？", "N0-N1"), "other kinds of quantities"),  # a rate
        (("妈妈有书90页，撕了40页，还剩妈妈的钢琴曲谱多少页？", "N0-N1"), "foreign words"),
        (
            ("一本书要90元，已经看了40元，还剩多少钱？", "N0-N1"),
            "x cannot be written so",
        ),  # 元 is not written
        (("一本书有90页，已经看了40页，看了看了多少页？", "N0-N1"), "another thing than x"),  # the same thing twice
    ],
)
def test_a_donor_is_refused_for_the_first_thing_that_does_not_fit(donor: tuple[str, str], reason: str) -> None:
    assert first_half(donor) == reason


def test_of_several_reasons_the_furthest_one_counts() -> None:
    foreign = ("妈妈有书90页，撕了40页，还剩妈妈的钢琴曲谱多少页？", "N0-N1")
    rate = ("一本书看了一些，每天看9页，少看4页，看了多少页？", "N0-N1")
    assert first_half(rate, foreign) == first_half(foreign, rate) == "foreign words"


def test_the_fittest_donor_is_taken_and_recorded() -> None:
    loose = ("一本书有50页，丢了20页，还剩多少页？", "N0-N1")
    product = first_half(loose, DONORS[8])  # the second one has 已经 and 看 in common with the seed as well
    assert isinstance(product, Product)
    assert product.donor == "d1"
    details = product.tale.problem.provenance.details
    assert (details["product"], details["template"], details["seed"], details["x"]) == ("a", "n1-n2", "seed-6", "90")
    assert details["similarity"] == product.similarity <= details["score"] == product.fit


_WORD = re.compile(r"\w+|\S")


class Toki(Language):
    """A made-up language without a single file: words between blanks, units behind numbers, and nothing else."""

    code, name = "tok", "Toki"

    def words(self, text: str, start: int, end: int) -> list[Token]:
        return [Token(match[0], match.start(), match.end()) for match in _WORD.finditer(text, start, end)]

    def clause_ends(self, text: str) -> Iterator[re.Match[str]]:
        return re.finditer(r"[.?]", text)

    def number_word_spans(self, text: str) -> list[NumberSpan]:
        return []

    def unit_of(self, text: str, quantity: Quantity) -> Quantity:
        noun = re.match(r" (\w+)", text[quantity.end :])
        return as_measure(quantity, noun[1]) if noun else quantity

    def asked_unit(self, text: str) -> str | None:
        noun = re.search(r"seme (\w+)", text)
        return noun[1] if noun else None

    def content_words(self, text: str) -> ContentWords:
        return ContentWords(tuple(re.findall(r"[a-z]+", text)), ())

    def counted_words(self, text: str) -> list[str]:
        return []


def toki(name: str, text: str, expression: str) -> Problem:
    tree = parse(expression)
    return Problem(name, "tok", text, tree, value_of(tree, read_text(text, Toki()).values))


TOKI_SEED = toki(
    "seed", "jan li jo e 90 kili. jan li pana e 30 kili. poki ali li jo e 15 kili. seme poki li jo?", "(N0-N1)/N2"
)


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("seme kili li jo?", True),  # every word is the seed's
        ("seme kili li lon tomo?", False),  # two words of its own, and nobody says that they mean nothing
    ],
)
def test_a_language_without_words_takes_only_clauses_without_a_foreign_word(question: str, fits: bool) -> None:
    donors = [
        toki("d1", f"jan li jo e 8 kili. jan li pana e 3 kili. {question}", "N0-N1"),
        toki("d2", "jan li jo e 8 kili. poki ali li jo e 4 kili. seme poki li jo?", "N0/N1"),
    ]
    tales = [tale for given in (TOKI_SEED, *donors) if (tale := tell(given, Toki()))]
    seed = find_seed(RULES["6"], tales[0])
    assert seed is not None
    family = make_family(seed, Workshop(tales, Toki(), 0))
    if not fits:
        assert family == "a: foreign words"
        return
    assert isinstance(family, Family)
    assert [product.tale.text for product in family.products] == [
        "Jan li jo e 90 kili. Jan li pana e 30 kili. Seme kili li jo?",
        "Jan li jo e 60 kili. Poki ali li jo e 15 kili. Seme poki li jo?",
    ]


def test_a_corpus_teaches_units_and_names() -> None:
    language, names = learn_language("en", ["There Tom has 3 gizmos."] * 5)
    assert "gizmo" in language.lexicon.words
    assert names == {"Tom"}

"""Which leaf of an equation is which quantity of the text, rule by rule."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.expression import Constant, Operation, Reference, parse_equation, to_infix, value_of
from comdiv.language import Alignment, align, get_language
from tables import rows


def aligned(text: str, equation: str, *, code: str = "zh", number_words: bool = False) -> Alignment:
    language = get_language(code)
    quantities = language.quantities(text, number_words=number_words)
    return align(parse_equation(equation, fractions_are_leaves=True), language, text, quantities)


@pytest.mark.parametrize(
    ("text", "equation", "expected"),
    rows("""
        # Leaves in infix order take the quantity of their value.
        甲有11元，乙有2元 | x=11+2 | N0+N1
        甲有2元，乙有11元 | x=11+2 | N1+N0
        甲有1,200元，乙有3.50元 | x=1200-3.5 | N0-N1
        # Equal numbers: the first one not yet used, then the next.
        甲有5元，乙有5元，丙有5元 | x=5+5*5 | N0+N1*N2
        # All used: again the first.
        有5人，每两人握手 | x=5*(5-1)/2 | N0*(N0-1)/2
        # None: a constant.
        半径5厘米 | x=2*3.14*5 | 2*3.14*N0
        # Within a relative 1e-6.
        有3000000个 | x=3000001*2 | N0*2
        有3000000个 | x=3000009*2 | 3000009*2
        # (a/b) is one leaf where the text has that value, else a division.
        看了(1/3)，共60页 | x=60*(1/3) | N1*N0
        看了(2/6)，共60页 | x=60*(1/3) | N1*N0
        看了0.5，共60页 | x=60*(1/2) | N1*N0
        6个苹果分给2人 | x=60*(6/2) | 60*(N0/N1)
        有60页 | x=60*(1/3) | N0*(1/3)
        3个班共6人，2组 | x=5+(6/2) | 5+N1/N2
        吃了1/4，共8个 | x=8*1/4 | N1*N0
        吃了1/4，共8个 | x=8-8*1/4 | N1-N1*N0
        1人4天吃了1/4，共8个 | x=8*1/4 | N3*N0/N1
        共8个 | x=8*1/4 | N0*1/4
        3/4的结果是 | x=3/4 | 3/4
        # Mixed numbers.
        用了1(1/2)小时 | x=60*1(1/2) | 60*N0
        用了1小时和1/2小时 | x=60*1(1/2) | 60*(N0+N1)
        有60页 | x=60*1(1/2) | N0*(1+1/2)
        # Percents: as one leaf, as a share of the number 20, or as a constant.
        打了20%的折 | x=60*20% | 60*N0
        打了0.2的折 | x=60*20% | 60*N0
        打了20的折 | x=60*20% | 60*(N0/100)
        打了折 | x=60*20% | 60*0.2
        税是15%，共70元 | x=70*15*0.01 | N1*N0
        税是15%，共70元 | x=70*(15*0.01) | N1*N0
        税是15%，共70元 | x=70/(15*0.01) | N1/N0
        有15个，共70元 | x=70*15*0.01 | N1*N0*0.01
        # A fraction of the text that the equation rounds.
        看了(1/3)，共60页 | x=60*0.3333 | N1*N0
        看了(2/3)，共60页 | x=60*0.667 | N1*N0
        看了(1/3)，共60页 | x=60*0.35 | N1*0.35
        # A literal 1 is a constant, unless an unused 1 with a unit is in the text.
        用了(1/3)，还剩几分之几 | x=1-(1/3) | 1-N0
        长1米，剪去(1/3)米 | x=1-(1/3) | N0-N1
        比是1：4 | x=1/(1+4) | N0/(1+N1)
        6（1）班有5人 | x=5-1 | N2-1
        第1天看了5页 | x=5-1 | N1-1
        1小时走5千米 | x=5*(1+1) | N1*(N0+1)
        用了1(2/2)，共5页 | x=5*(3/3) | N1*1
        用了1，共5页 | x=5*(3/3) | N1*N0
    """),
)
def test_leaves_become_quantities_by_the_rules(text: str, equation: str, expected: str) -> None:
    assert to_infix(aligned(text, equation).expression) == expected


def test_the_tree_stays_as_the_corpus_wrote_it() -> None:
    expression = aligned("税是15%，共60元，3个，2盒", "x=60/(3/2)").expression
    assert to_infix(expression) == "N1/(N2/N3)"


def test_a_negative_number_is_a_quantity_too() -> None:
    text = "The first number is -15, the second 4."
    assert to_infix(aligned(text, "x=4+(-15)", code="en").expression) == "N1+N0"


def test_number_words_are_quantities_where_they_are_read() -> None:
    text = "Ann has three cats and 2 dogs"
    assert to_infix(aligned(text, "x=3+2", code="en", number_words=True).expression) == "N0+N1"
    assert to_infix(aligned(text, "x=3+2", code="en").expression) == "3+N0"


def test_aligned_leaves_and_constants_are_counted() -> None:
    alignment = aligned("甲有11元，乙有2元", "x=(11-1)*2*3.14*11")
    assert (alignment.aligned, alignment.constants) == (3, (Fraction(1), Fraction("3.14")))


def test_references_in_the_equation_stay_and_count_as_used() -> None:
    language = get_language("en")
    text = "5 cats and 5 dogs"
    equation = Operation("+", Reference(0), Constant(Fraction(5)))
    alignment = align(equation, language, text, language.quantities(text))
    assert (to_infix(alignment.expression), alignment.aligned) == ("N0+N1", 2)


@given(st.lists(st.integers(2, 60), min_size=1, max_size=5), st.data())
def test_alignment_never_changes_the_value(numbers: list[int], data: st.DataObject) -> None:
    text = "，".join(f"有{number}个" for number in numbers)
    terms = data.draw(st.lists(st.sampled_from([*numbers, 1, 7, 100]), min_size=1, max_size=6))
    operators = data.draw(st.lists(st.sampled_from("+-*/"), min_size=len(terms) - 1, max_size=len(terms) - 1))
    equation = str(terms[0]) + "".join(f"{sign}{term}" for sign, term in zip(operators, terms[1:], strict=True))
    language = get_language("zh")
    quantities = language.quantities(text)
    alignment = align(parse_equation(equation), language, text, quantities)
    values = [quantity.value for quantity in quantities]
    assert value_of(alignment.expression, values) == value_of(parse_equation(equation))
    assert alignment.aligned + len(alignment.constants) == len(terms)

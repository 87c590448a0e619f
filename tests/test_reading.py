"""A problem, read once: quantities, clauses, mask, contexts and expression of one text agree with each other."""

from hypothesis import given
from hypothesis import strategies as st

from comdiv.expression import parse
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import Context, read, read_text

BAGS = Problem("a", "en", "Tom has 3 bags of 12 apples. He eats 5 apples, how many apples are left?", parse("N0*N1-N2"))
texts = st.text(alphabet=st.sampled_from("ab 小有个3 5.,?，。％%half"), max_size=60)


def test_everything_is_told_of_the_same_quantities() -> None:
    reading = read(BAGS)
    assert [(q.text, q.unit, q.kind) for q in reading.quantities] == [
        ("3", "bag", "measure"), ("12", "apple", "measure"), ("5", "apple", "measure"),
    ]  # fmt: skip
    assert reading.values == (3, 12, 5)
    assert reading.asked_unit == "apple"
    assert (reading.template, reading.value, reading.used, reading.operators) == ("n1*n2-n3", 31, {0, 1, 2}, 2)


def test_the_last_clause_is_the_question_and_clauses_know_their_quantities() -> None:
    reading = read(BAGS)
    assert [clause.text for clause in reading.clauses] == [
        "Tom has 3 bags of 12 apples.", " He eats 5 apples,", " how many apples are left?",
    ]  # fmt: skip
    assert [clause.quantities for clause in reading.clauses] == [(0, 1), (2,), ()]
    assert reading.question.masked[:3] == ("how", "many", "apples")
    assert reading.narrative == reading.clauses[:2]
    assert [reading.clause_of(quantity) for quantity in range(3)] == [0, 0, 1]


def test_twins_and_only_twins_have_the_same_mask() -> None:
    twin = Problem("b", "en", "Tom has 1,200 bags of 1/2  apples. He eats 0.5 apples, how many apples are left?")
    other = Problem("c", "en", BAGS.text.replace("apples", "pears"))
    assert (read(twin).mask, read(twin).mask_hash) == (read(BAGS).mask, read(BAGS).mask_hash)
    assert read(other).mask != read(BAGS).mask


def test_number_words_count_where_the_problem_says_so() -> None:
    text = "Tom has three bags of 12 apples."
    assert read(Problem("a", "en", text)).values == (12,)
    assert read(Problem("a", "en", text, number_words=True)).values == (3, 12)


def test_an_expression_without_a_value_or_without_its_quantities_is_no_error() -> None:
    assert read(Problem("a", "en", "3 apples", parse("N0/0"))).value is None
    beyond = read(Problem("a", "en", "3 apples", parse("N0+N1")))
    assert (beyond.value, beyond.is_grounded) == (None, False)
    without = read(Problem("a", "en", "3 apples"))
    assert (without.value, without.template, without.operators, without.is_grounded) == (None, None, 0, False)
    assert without.used == frozenset()


def test_a_language_with_learnt_units_reads_them() -> None:
    chinese = get_language("zh")
    learnt = chinese.with_lexicon(chinese.lexicon.extended(["瓣"]))
    problem = Problem("a", "zh", "吃了5瓣，还剩多少瓣？")
    assert read(problem).quantities[0].unit is None
    assert (read(problem, learnt).quantities[0].unit, read(problem, learnt).asked_unit) == ("瓣", "瓣")


def test_a_reading_is_kept_once_it_is_made() -> None:
    reading = read(BAGS)
    assert reading.tokens is reading.tokens
    assert reading.quantities is reading.quantities


@given(texts, st.sampled_from(["en", "zh"]), st.booleans())
def test_tokens_clauses_and_mask_cover_any_text(text: str, language: str, number_words: bool) -> None:
    reading = read_text(text, language, number_words=number_words)
    assert "".join(clause.text for clause in reading.clauses) == text
    assert [token for clause in reading.clauses for token in clause.tokens] == list(reading.tokens)
    assert [i for clause in reading.clauses for i in clause.quantities] == list(range(len(reading.numbers)))
    assert [q.value for q in reading.plain_quantities] == list(reading.values)
    assert len(reading.contexts(3)) == len(reading.numbers)
    assert reading.mask.count("num") >= len(reading.numbers)


def contexts_of(text: str, language: str = "en", window: int = 3, *, number_words: bool = False) -> tuple[Context, ...]:
    return read_text(text, language, number_words=number_words).contexts(window)


def test_a_context_is_three_tokens_on_each_side_without_the_quantity() -> None:
    (context,) = contexts_of("In the old town Tom has 3 red bags of ripe apples")
    assert context == ("town", "tom", "has", "red", "bags", "of")


def test_a_window_is_cut_off_at_the_ends_of_the_text() -> None:
    assert contexts_of("Buy 3 bags") == (("buy", "bags"),)


def test_the_window_can_be_chosen() -> None:
    assert contexts_of("Tom has 3 red bags", window=1) == (("has", "red"),)


def test_other_numbers_are_one_token_and_words_are_lower_case() -> None:
    assert contexts_of("TOM has 3 Bags, 1,000.5 Pears") == (
        ("tom", "has", "bags", ",", "NUM"),
        ("NUM", "bags", ",", "pears"),
    )


def test_number_words_are_quantities_only_where_the_problem_says_so() -> None:
    text = "three bags and 12 apples"
    assert contexts_of(text) == (("three", "bags", "and", "apples"),)
    assert contexts_of(text, number_words=True) == (("bags", "and", "NUM"), ("NUM", "bags", "and", "apples"))

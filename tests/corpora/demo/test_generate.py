"""The demo corpora themselves: different texts, sound numbers, the same for the same seed."""

import hashlib
from collections import Counter
from itertools import islice

import pytest

from comdiv.corpora.demo import VERSION, generate
from comdiv.errors import ComdivError
from comdiv.expression import operator_count, template, value_of
from comdiv.language import get_language
from comdiv.problem import Problem

LANGUAGES = ("en", "zh")


@pytest.fixture(scope="module", params=LANGUAGES)
def corpus(request: pytest.FixtureRequest) -> list[Problem]:
    return list(generate(request.param))


def test_the_default_corpus_has_two_thousand_problems_and_no_text_twice(corpus: list[Problem]) -> None:
    assert len(corpus) == 2000
    assert len({problem.text for problem in corpus}) == 2000
    assert len({problem.id for problem in corpus}) == 2000


def test_every_expression_evaluates_to_its_positive_answer_from_the_text_alone(corpus: list[Problem]) -> None:
    for problem in corpus:
        quantities = get_language(problem.language).quantities(problem.text)
        assert problem.expression is not None
        assert value_of(problem.expression, [quantity.value for quantity in quantities]) == problem.answer
        assert problem.answer > 0


def test_the_corpus_has_many_templates_of_one_to_four_operators(corpus: list[Problem]) -> None:
    expressions = [problem.expression for problem in corpus if problem.expression is not None]
    assert len({template(expression) for expression in expressions}) >= 40
    assert set(Counter(map(operator_count, expressions))) == {1, 2, 3, 4}


def test_the_question_is_the_last_clause_and_has_no_number(corpus: list[Problem]) -> None:
    for problem in corpus:
        language = get_language(problem.language)
        clauses = language.clauses(problem.text)
        assert len(clauses) >= 2, problem.text
        assert not language.quantities(clauses[-1].text), problem.text


def test_names_and_slots_are_all_filled(corpus: list[Problem]) -> None:
    assert not [problem.text for problem in corpus if "{" in problem.text or "  " in problem.text]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_gives_the_same_corpus_and_another_seed_another(language: str) -> None:
    first = list(generate(language, 50, seed=3))
    assert first == list(generate(language, 50, seed=3))
    assert first != list(generate(language, 50, seed=4))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(language: str) -> None:
    assert list(generate(language, 20)) == list(islice(generate(language, 500), 20))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hundred_thousand_problems_have_a_hundred_thousand_texts(language: str) -> None:
    texts = {problem.text for problem in generate(language, 100_000)}
    assert len(texts) == 100_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_changes_without_a_new_version(language: str) -> None:
    texts = "".join(f"{problem.id}\n{problem.text}\n" for problem in generate(language))
    known = {
        ("5", "en"): "a16094938a4f0639c4ea7d584b56ba19456e814c19c1ab84424035549f9e8703",
        ("5", "zh"): "9dd4ddc7f4e7d270fbf1b42609667b8ec4dc7ca9827222a5c50b1adc6856d57b",
    }
    assert hashlib.sha256(texts.encode()).hexdigest() == known[VERSION, language]


def test_a_corpus_without_problems_is_refused() -> None:
    with pytest.raises(ComdivError, match="at least 1 problem"):
        list(generate("en", 0))

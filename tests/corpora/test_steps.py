"""GSM8K's calculator steps as one expression over the text's quantities: read right, or refused with the reason."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from comdiv.corpora import read_rows
from comdiv.corpora.steps import align_steps, final_answer
from comdiv.expression import Expression, ExpressionError, NotExpressible, equivalent, format_number, parse, to_infix
from comdiv.problem import Problem
from comdiv.reading import Reading, read, read_text

CASES: list[dict[str, str]] = yaml.safe_load((Path(__file__).parent / "shapes" / "gsm8k.yaml").read_text("utf-8"))


def read_one(question: str, answer: str) -> tuple[Problem, list[str]]:
    corpus = read_rows([{"question": question, "answer": answer}])
    return corpus.problems[0], [complaint.reason for complaint in corpus.report.not_expressible]


def gold(written: str, reading: Reading) -> Expression:
    """The expression that a person wrote: {48 clips} is the quantity that begins there, or its value if it is none."""
    values = {quantity.start: quantity.value for quantity in read_text(reading.text, "en", number_words=True).numbers}

    def reference(match: re.Match[str]) -> str:
        assert reading.text.count(match[1]) == 1, match[1]
        start = reading.text.index(match[1])
        index = next((q.index for q in reading.plain_quantities if q.start == start), None)
        return format_number(values[start]) if index is None else f"N{index}"

    return parse(re.sub(r"\{([^}]+)\}", reference, written))


def test_at_least_95_of_100_are_read_right_and_none_is_read_wrong() -> None:
    """The 92 problems have 79 expressions; what is not read is refused with a reason."""
    right, wrong = 0, []
    for case in CASES:
        problem, reasons = read_one(case["question"], case["answer"])
        if problem.expression is None:
            assert len(reasons) == 1
            continue
        if "gold" in case and equivalent(problem.expression, gold(case["gold"], read(problem))):
            right += 1
        else:
            wrong.append((case["question"][:60], to_infix(problem.expression)))
    assert not wrong
    assert len(CASES) >= 60
    assert right >= 0.95 * sum("gold" in case for case in CASES)


@pytest.mark.parametrize("case", [case for case in CASES if "refused" in case], ids=lambda case: case["question"][:30])
def test_what_the_steps_do_not_say_is_refused_with_its_reason(case: dict[str, str]) -> None:
    problem, reasons = read_one(case["question"], case["answer"])
    assert problem.expression is None
    assert problem.answer is not None
    assert case["refused"] in reasons[0]


TEXT = "Ann has 48 clips, 12 pens and 5 cups. She sells 30% of the clips and 2/3 of the cups. How much in all?"


@pytest.mark.parametrize(
    ("solution", "expression"),
    [
        ("She has <<48+12=60>>60 clips and pens.\n#### 60", "N0+N1"),
        ("So <<48-5=43>> and <<43*12=516>>\n#### 516", "(N0-N2)*N1"),
        ("She sells <<48*.3=14.4>>14.4 clips\n#### 14.4", "N0*N3"),
        ("She sells <<48*30/100=14.4>>14.4 clips\n#### 14.4", "N0*N3"),
        ("She sells <<30*.01*48=14.4>>14.4 clips\n#### 14.4", "N3*N0"),
        ("She keeps <<48*.7=33.6>>33.6 clips\n#### 33.6", "N0*(1-N3)"),
        ("She keeps <<100-30=70>>70% of the clips\nThat is <<48*70/100=33.6>>33.6 clips\n#### 33.6", "N0*(1-N3)"),
        ("She sells <<12*2/3=8>>8\n#### 8", "N1*N4"),
        ("She keeps <<12*1/3=4>>4\n#### 4", "N1*(1-N4)"),
        ("There are <<48+12=60>>60\nAnd <<60,0*1=600>>\n#### 600", None),
        ("That is 48 + 12 = 60 things.\nAnd <<60-5=55>>55\n#### 55", "N0+N1-N2"),
    ],
)
def test_numbers_of_a_step_are_earlier_steps_or_whole_quantities(solution: str, expression: str | None) -> None:
    reading = read_text(TEXT, "en")
    if expression is None:
        with pytest.raises(ExpressionError):
            align_steps(solution, reading)
    else:
        assert equivalent(align_steps(solution, reading).expression, parse(expression))


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        ("No steps.\n#### 5", "no calculator steps"),
        ("<<48+12=60>> and that is all", "no final answer"),
        ("<<48+12=60>> <<5+12=17>>\n#### 17", "the steps do not chain"),
        ("<<48+12=61>>\n#### 61", "the step 48+12=61 is wrong"),
        ("<<48+12=60>>\n#### 61", "the last step is not the answer"),
        ("<<48+77=125>>\n#### 125", "nothing explains the 77 of step 1"),
        ("Let x be the price.\nx = <<48+12=60>>60\n#### 60", "the solution solves for an unknown"),
        ("2x = 60\n<<48+12=60>>60\n#### 60", "the solution solves for an unknown"),
    ],
)
def test_steps_that_do_not_say_enough_say_why(solution: str, reason: str) -> None:
    with pytest.raises(NotExpressible, match=f"^{re.escape(reason)}"):
        align_steps(solution, read_text(TEXT, "en"))


def test_a_number_that_may_be_two_quantities_is_refused_with_both() -> None:
    text = "A red box has 3 balls and a blue box has 3 balls. How many balls are in 5 boxes of one colour?"
    with pytest.raises(NotExpressible, match=r"^ambiguous: the 3 of step 1 may be N[01] or N[01]$"):
        align_steps("<<5*3=15>>15\n#### 15", read_text(text, "en"))
    with_words = align_steps("The red boxes have <<5*3=15>>15 balls\n#### 15", read_text(text, "en"))
    assert to_infix(with_words.expression) == "N2*N0"
    named = read_text(text.replace("5 boxes of one colour", "5 blue boxes"), "en")
    assert to_infix(align_steps("<<5*3=15>>15\n#### 15", named).expression) == "N2*N1"


@pytest.mark.parametrize("step", ["<<5/0=0>>", "<<two+3=5>>", "<<9^99=9>>", "<<5+=5>>", "<<5=cats>>", "<<N0+1=5>>"])
def test_a_step_that_is_no_calculation_is_one_of_our_errors(step: str) -> None:
    with pytest.raises(ExpressionError):
        align_steps(f"{step}\n#### 5", read_text(TEXT, "en"))


def test_a_chain_that_doubles_at_each_step_is_refused_before_it_fills_the_memory() -> None:
    steps = "".join(f"<<{3 * 2**n}+{3 * 2**n}={3 * 2 ** (n + 1)}>>" for n in range(40))
    with pytest.raises(ExpressionError, match=r"at most|too many"):
        align_steps(f"{steps}\n#### {3 * 2**40}", read_text("Ann has 3 cats. How many?", "en"))


@pytest.mark.parametrize(
    ("solution", "answer"),
    [("#### 72", "72"), ("x\n#### $1,234 \n", "1234"), ("####-3", "-3"), ("none", None)],
)
def test_the_final_answer_stands_after_four_signs(solution: str, answer: str | None) -> None:
    assert final_answer(solution) == answer


def test_number_words_count_only_where_a_step_means_one() -> None:
    question = "Two girls have 5 cats each and three dogs. How many cats?"
    digits: Any = read_one(question, "They have <<5*2=10>>10 cats\n#### 10")[0]
    assert (to_infix(digits.expression), digits.number_words) == ("N1*N0", True)
    question = "Ann has 4 cats and 5 dogs in one house. How many pets?"
    plain: Any = read_one(question, "She has <<4+5=9>>9 pets\n#### 9")[0]
    assert (to_infix(plain.expression), plain.number_words) == ("N0+N1", False)

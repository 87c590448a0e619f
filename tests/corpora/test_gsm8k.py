"""Calculator steps composed into one expression, where they chain."""

import pytest

from comdiv.corpora.gsm8k import compose_steps, final_answer
from comdiv.expression import ExpressionError, NotExpressible, equivalent, parse


@pytest.mark.parametrize(
    ("solution", "expression"),
    [
        ("She has 3*4=<<3*4=12>>12.\n#### 12", "3*4"),
        ("<<48/2=24>>, so <<48+24=72>>\n#### 72", "48+48/2"),
        ("<<3*4=12>> <<12-5=7>> <<7*2=14>>\n#### 14", "(3*4-5)*2"),
        ("<<10-4=6>> <<6*6=36>>\n#### 36", "(10-4)*(10-4)"),
        ("<<20*.05=1>> <<20-1=19>>\n#### $19", "20-20*0.05"),
        ("<<600*2=1200>> <<1,200+300=1500>>\n#### 1,500", "600*2+300"),
        ("<<50*20%=10>>\n#### 10", "50*0.2"),
        ("<<10/3=3.33333>> <<3.33333*2=6.66666>>\n#### 6.66666", "10/3*2"),
    ],
)
def test_steps_that_chain_become_one_expression(solution: str, expression: str) -> None:
    assert equivalent(parse(compose_steps(solution)), parse(expression))


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        ("No steps.\n#### 5", "no calculator steps"),
        ("<<2+3=5>> and that is all", "no final answer"),
        ("<<2+3=5>> <<4+4=8>>\n#### 8", "the steps do not chain"),
        ("<<2+3=6>>\n#### 6", "the step 2+3=6 is wrong"),
        ("<<2+3=5>>\n#### 7", "the last step is not the answer"),
    ],
)
def test_steps_that_do_not_chain_say_why(solution: str, reason: str) -> None:
    with pytest.raises(NotExpressible, match=f"^{reason}".replace("+", r"\+")):
        compose_steps(solution)


@pytest.mark.parametrize("step", ["<<5/0=0>>", "<<two+3=5>>", "<<9^99=9>>", "<<5+=5>>", "<<5=cats>>"])
def test_a_step_that_is_no_calculation_is_one_of_our_errors(step: str) -> None:
    with pytest.raises(ExpressionError):
        compose_steps(f"{step}\n#### 5")


def test_a_chain_that_doubles_at_each_step_is_refused_before_it_fills_the_memory() -> None:
    steps = "".join(f"<<{2**n}+{2**n}={2 ** (n + 1)}>>" for n in range(40))
    with pytest.raises(ExpressionError, match="at most 1023 nodes"):
        compose_steps(f"{steps}\n#### {2**40}")


@pytest.mark.parametrize(
    ("solution", "answer"), [("#### 72", "72"), ("x\n#### $1,234 \n", "1234"), ("####-3", "-3"), ("none", None)]
)
def test_the_final_answer_stands_after_four_signs(solution: str, answer: str | None) -> None:
    assert final_answer(solution) == answer

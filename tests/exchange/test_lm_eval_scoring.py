"""The scoring module that goes with the tasks: it stands alone, and agrees with comdiv's own reading of answers."""

import ast
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.evaluation.answers import extract_answer
from comdiv.exchange import lm_eval_scoring
from comdiv.exchange.lm_eval_scoring import answer_in, numeric_answer, process_results, readings_of

OUTPUTS = {
    " 36": 36,
    "36.": 36,
    "The answer is 36.": 36,
    "3 * 12 = 36. 36 + 4 = 40. The answer is 40.": 40,
    "3×12=36，36+4=40。答案是40。": 40,
    "答案是３６。": 36,
    "He has $1,200.50 left": Fraction("1200.5"),
    "So x = -7": -7,
    "10 - 7 = 3": 3,
    "about 20% of them": Fraction(1, 5),
    "They ate 3/4 of it.": Fraction(3, 4),
    "It takes 1 1/2 hours": Fraction(3, 2),
    "1(1/2)": Fraction(3, 2),
    r"\boxed{42} is 6 times 7": 42,
    r"\boxed{\frac{3}{4}}": Fraction(3, 4),
    r"$1{,}200$ in 3 days is \boxed{400}, not 5": 400,
    "first 5, then #### 18": 18,
    "The 3rd box holds 12": 12,
    "The area is 25 cm^2": 25,
    "room A4 has 12 seats": 12,
    "18 dollars": 18,
    "0.5": Fraction(1, 2),
    "−5 degrees": -5,
    "it is 5/0 or 7": 7,
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_filter_finds_the_number_that_comdiv_finds(output: str) -> None:
    found = readings_of(answer_in(output))
    assert OUTPUTS[output] in found
    assert extract_answer(output).answer == found[0]


@pytest.mark.parametrize("output", ["", "I do not know.", "###", r"\boxed{}", "5/0", "room A4"])
def test_words_without_a_number_are_no_answer(output: str) -> None:
    assert answer_in(output) == ""
    assert process_results({"answer": "5"}, [answer_in(output)]) == {"exact_match": 0.0, "within_tolerance": 0.0}


@pytest.mark.parametrize(
    ("gold", "said", "exact", "near"),
    [
        ("36", "36.0", 1, 1),
        ("2/3", "0.66667", 0, 1),
        ("2/3", "0.67", 0, 0),
        ("2/3", "4/6", 1, 1),
        ("20", "20%", 1, 1),
        ("0.2", "20%", 1, 1),
        ("1200", "1,200", 1, 1),
        ("36", "63", 0, 0),
        ("0", "0", 1, 1),
        ("224000", "224007", 0, 0),
        ("224000.5", "224007", 0, 1),
    ],
)
def test_exact_match_wants_the_value_and_the_tolerance_forgives_rounding(
    gold: str, said: str, exact: int, near: int
) -> None:
    assert process_results({"answer": gold}, [said]) == {"exact_match": exact, "within_tolerance": near}


def test_the_filter_keeps_the_harness_form_of_one_list_a_problem() -> None:
    assert numeric_answer([["it is 4", "5"], ["?"]], [{}, {}]) == [["4", "5"], [""]]


@pytest.mark.parametrize(
    "noise", ["9" * 100_000, "1/" * 50_000, "1," * 50_000, "(" * 100_000, "1 " * 50_000, r"\boxed{" * 20_000]
)
def test_noise_of_any_length_is_read_through(noise: str) -> None:
    assert readings_of(answer_in(f"{noise} and so 7")) == [7]


def test_it_needs_nothing_but_the_standard_library_and_datasets() -> None:
    tree = ast.parse(Path(lm_eval_scoring.__file__).read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name is not None
    }
    assert imported <= sys.stdlib_module_names | {"datasets"}

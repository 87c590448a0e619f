"""Shapes that other people's files have: lists, units, remainders, blanks, encodings. Everything is read or counted."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from comdiv.corpora import Corpus, read_corpus, read_rows
from comdiv.corpora.formats import calculation
from comdiv.errors import ComdivError
from comdiv.expression import format_number, to_infix

ZH = {"id": "7", "original_text": "小明有3个苹果，又买了4个，共几个？", "equation": "x=3+4", "ans": "7"}
EN = {"id": 1, "original_text": "Tom has 3 cats and 4 dogs. How many pets?", "equation": "x=3+4", "ans": [7.0]}
ASDIV = {"ID": "a-1", "Body": "There are 47 eggs. A box holds 6 eggs.", "Question": "How many?", "Solution-Type": "x"}


def summary(*records: dict[str, Any]) -> tuple[str | None, str | None, list[str]]:
    """Expression and answer of the first record, and what the report says of all."""
    corpus = read_rows(records)
    problem = corpus.problems[0]
    return (
        None if problem.expression is None else to_infix(problem.expression),
        None if problem.answer is None else format_number(problem.answer),
        [complaint.reason for complaint in (*corpus.report.not_expressible, *corpus.report.unreadable)],
    )


# Answers


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ([7.0], "7"), (["7"], "7"), ([[7]], "7"), (["7", "7"], "7"), ("[7]", "7"), ("7 (pets)", "7"), ("7 pets", "7"),
        ("$1,234.50", "1234.5"), ("$ 7", "7"), ("-7", "-7"), ("−7", "-7"), ("-$7.50", "-7.5"), ("1/2", "0.5"),
        ("1 1/2", "1.5"), ("1 1/2 hours", "1.5"), ("3/4 (pizza)", "0.75"), ("25%", "0.25"), ("7个", "7"), ("7 元", "7"),
        ("3:4", "0.75"), ("７", "7"), ("7.", "7"), (" 7 ", "7"), (7, "7"), (7.0, "7"), (True, None),
        (None, None), ("", None), ("  ", None), ([], None), ("nan", None), (float("nan"), None), ("None", None),
    ],
)  # fmt: skip
def test_an_answer_is_its_one_number_however_it_is_written(answer: Any, value: str | None) -> None:
    assert summary({**EN, "ans": answer})[1] == value


@pytest.mark.parametrize("answer", [None, "", [], float("nan"), "null"])
def test_a_blank_answer_is_no_complaint(answer: Any) -> None:
    assert summary({**EN, "ans": answer}) == ("N0+N1", None, [])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([7.0, 3.0], "2 answers: 7.0, 3.0"),
        ("7 (boxes); 5 (eggs)", "2 answers: 7 (boxes); 5 (eggs)"),
        ("7 r5", "a quotient and a remainder: 7 r5"),
        ("7 remainder 5", "a quotient and a remainder: 7 remainder 5"),
    ],
)
def test_a_problem_with_several_answers_is_not_expressible(answer: Any, reason: str) -> None:
    assert summary({**EN, "ans": answer}) == (None, None, [reason])


def test_a_word_as_an_answer_is_counted_and_the_expression_kept() -> None:
    expression, answer, reasons = summary({**EN, "ans": "Tom"})
    assert (expression, answer) == ("N0+N1", None)
    assert reasons == ["answer 'Tom': unknown name 'Tom' at position 1"]


# Equations


@pytest.mark.parametrize(
    ("equation", "expression"),
    [
        (["x=3+4"], "N0+N1"), ("X = ( 3.0 + 4.0 )", "N0+N1"), ("3.0 + 4.0", "N0+N1"), ("3+4=x", "N0+N1"),
        ("x=4:3", "N1/N0"), ("x=4：3", "N1/N0"), ("x=3×4", "N0*N1"), ("x=[3+4]*{3-4}", "(N0+N1)*(N0-N1)"),
        ("cats=3+4", "N0+N1"), ("4.0*m-3.0*m=7", "7/(N1-N0)"),
        (None, None), ("", None), ([], None), ("nan", None), (float("nan"), None), (7, "7"),
    ],
)  # fmt: skip
def test_equations_of_many_spellings(equation: Any, expression: str | None) -> None:
    assert summary({**EN, "equation": equation})[0] == expression


@pytest.mark.parametrize(
    ("equation", "answers"),
    [("x + y = 7.0 ; x - y = 1.0", [4, 3]), (["x+y=7", "x-y=1"], [4, 3]), ("x ^ 2.0 = 9.0", [3, -3])],
)
def test_a_system_is_not_expressible_and_counted_once(equation: Any, answers: list[int]) -> None:
    expression, answer, reasons = summary({**EN, "equation": equation, "ans": answers})
    assert (expression, answer, len(reasons)) == (None, None, 1)


@pytest.mark.parametrize(
    ("text", "equation", "expression"),
    [
        ("A 1 liter jug costs 5 dollars more than a cup. Together 21. How much?", "x+x+5=21", "(N2-N1)/(1+1)"),
        ("A tax of 4 percent on 1 room. In all 104. How much?", "m+0.01*4.0*m=104", "N2/(1+0.01*N0)"),
        ("1小时后，比是1：4，共5个，几个？", "x+4*x=5", "N3/(1+N2)"),
    ],
)
def test_a_coefficient_that_solving_introduced_is_never_a_1_of_the_text(
    text: str, equation: str, expression: str
) -> None:
    assert summary({**EN, "original_text": text, "equation": equation, "ans": None})[0] == expression


def test_the_100_of_a_percentage_is_never_a_100_of_the_text() -> None:
    record = {**ZH, "original_text": "有100人，20的折扣，共几人？", "equation": "x=60*20%", "ans": "12"}
    assert summary(record)[0] == "60*(N1/100)"


# ASDiv


@pytest.mark.parametrize(
    ("formula", "side"),
    [
        ("7+2=9", "7+2"), ("9=7+2", "7+2"), ("7+2", "7+2"), ("(3+4)*2=7*2=14", "(3+4)*2"), ("47/6=7 r0", "47/6=7"),
        ("3(feet)*12=36(inches)", "3*12"), ("3 feet*12=36 inches", "3*12"), ("2 (hours)*60=120 (min.)", "2*60"),
        ("x=7-2", "x=7-2"), ("48/6=8 R0", "48/6"), ("1,200+300=1,500", "1,200+300"), ("20%*50=10", "20%*50"),
        ("12÷3=4", "12/3"),
    ],
)  # fmt: skip
def test_the_side_of_a_formula_that_calculates_is_taken(formula: str, side: str) -> None:
    assert calculation(formula)[0] in (side, side.partition("=")[0] if "x" not in side else side)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("47/6=7 r5", "formula 47/6=7 r5: a division with remainder"),
        ("47/6=7 R 5", "formula 47/6=7 R 5: a division with remainder"),
        ("47/6=7 remainder 5", "formula 47/6=7 remainder 5: a division with remainder"),
        ("47/6=7...5", "formula 47/6=7...5: a division with remainder"),
        ("GCD(47,6)=1", "formula GCD(47,6)=1: GCD(…) is not one of the five operators"),
        ("LCM(47, 6)=282", "formula LCM(47, 6)=282: LCM(…) is not one of the five operators"),
        ("47-6=41; 41-6=35", "formula 47-6=41; 41-6=35: more than one equation"),
        ("47-6=41, 41-6=35", "formula 47-6=41, 41-6=35: more than one equation"),
        ("x+y=47; x-y=6", "formula x+y=47; x-y=6: more than one equation"),
    ],
)
def test_a_formula_without_an_expression_is_counted_with_its_reason(formula: str, reason: str) -> None:
    assert summary({**ASDIV, "Formula": formula, "Answer": "7 (boxes)"}) == (None, "7", [reason])


def test_an_asdiv_file_is_read_with_its_units_and_remainders(tmp_path: Path) -> None:
    path = tmp_path / "mine.xml"
    problems = "".join(
        f'<Problem ID="p{number}" Grade="3"><Body>There are 47 eggs. A box holds 6 eggs.</Body>'
        f"<Question>How many?</Question><Solution-Type>x</Solution-Type><Answer>{answer}</Answer>"
        f"<Formula>{formula}</Formula></Problem>"
        for number, (answer, formula) in enumerate(
            [("282 (eggs)", "47*6(eggs)=282"), ("7 (boxes)", "47/6=7 r5"), ("41", "47-6=41"), ("Tom", "47-6=41")]
        )
    )
    path.write_text(f"<Machine-Reading-Corpus-File>{problems}</Machine-Reading-Corpus-File>", encoding="utf-8")
    corpus = read_corpus(path)
    assert [problem.expression and to_infix(problem.expression) for problem in corpus.problems] == [
        "N0*N1", None, "N0-N1", "N0-N1",
    ]  # fmt: skip
    assert (len(corpus.report.not_expressible), len(corpus.report.unreadable)) == (1, 1)


# Ids, columns and files


def test_ids_may_be_missing_blank_numbers_or_repeated() -> None:
    records = [{**EN, "id": name} for name in (5, 5.0, "5", None, "", "a")]
    records.append({key: value for key, value in EN.items() if key != "id"})
    assert [problem.id for problem in read_rows(records).problems] == ["5", "5#2", "5#3", "4", "5#4", "a", "7"]


def test_mwptoolkit_records_without_an_equation_or_answer_are_problems_too() -> None:
    bare = {key: value for key, value in EN.items() if key not in ("equation", "ans")}
    assert summary(bare, EN) == (None, None, [])


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.jsonl", lines(ZH, ZH)),
        ("mine.json", json.dumps([ZH, ZH], ensure_ascii=False)),
        ("ape.json", json.dumps(ZH, indent=1) * 2),  # consecutive objects, as Ape210K and Math23K were published
        ("bom.jsonl", "\ufeff" + lines(ZH, ZH)),
        ("crlf.jsonl", lines(ZH, ZH).replace("\n", "\r\n")),
        ("blank.jsonl", "\n" + lines(ZH) + "\n\n" + lines(ZH)),
        ("mine.csv", "id,original_text,equation,ans\n" + f"7,{ZH['original_text']},x=3+4,7\n" * 2),
        ("mine.tsv", "id\toriginal_text\tequation\tans\r\n" + f"7\t{ZH['original_text']}\tx=3+4\t7\r\n" * 2),
    ],
)
def test_a_file_is_read_whatever_its_syntax_and_line_ends(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    problems = read_corpus(tmp_path / name).problems
    assert [problem.id for problem in problems] == ["7", "7#2"]
    assert {problem.text for problem in problems} == {ZH["original_text"]}
    assert [problem.expression and to_infix(problem.expression) for problem in problems] == ["N0+N1"] * 2


def test_a_compressed_file_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(lines(ZH).encode()))
    with pytest.raises(ComdivError, match=r"mine\.jsonl\.gz: a compressed file: unpack it first"):
        read_corpus(path)


def test_half_a_character_in_a_text_is_replaced_and_the_problem_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({**EN, "original_text": "Tom \ud83d has 3 cats and 4 dogs."}) + "\n", encoding="utf-8")
    corpus: Corpus = read_corpus(path)
    assert corpus.problems[0].text == "Tom \ufffd has 3 cats and 4 dogs."
    assert not corpus.report.unreadable

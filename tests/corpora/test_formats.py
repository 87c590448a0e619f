"""Every published shape, on problems of our own invention."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from comdiv.corpora import Columns, Corpus, RawRecord, read_corpus, read_rows
from comdiv.corpora.formats import (
    Asdiv,
    Format,
    Gsm8k,
    Mawps,
    MwpToolkit,
    ReadersQueue,
    Svamp,
    SvampCsv,
    detect_format,
    joined_text,
)
from comdiv.corpora.record_files import Complain, Record, Records
from comdiv.errors import ComdivError
from comdiv.expression import format_number, to_infix
from comdiv.registry import FORMATS

MATH23K = {
    "id": "7",
    "original_text": "小明有3个苹果，又买了4个，共几个？",
    "segmented_text": "小明 有 3 个",
    "equation": "x=3+4",
    "ans": "7",
}
MAWPS = {
    "iIndex": 5,
    "sQuestion": "Tom has 3.0 cats and gets 4.0. How many?",
    "lEquations": ["X=(3.0+4.0)"],
    "lSolutions": [7.0],
}
SVAMP = {
    "ID": "chal-1", "Body": "Tom has 9 cats and gives 4 away", "Question": "How many are left?",
    "Equation": "( 9.0 - 4.0 )", "Answer": 5.0, "Type": "Subtraction",
}  # fmt: skip
SVAMP_CSV = {
    "": "0", "Question": "Tom has number0 cats and number1 dogs .", "Numbers": "3 4", "Equation": "+ number0 number1",
    "Answer": "7.0", "Body": "Tom has number0 cats", "Ques_Statement": "How many?",
}  # fmt: skip
ASDIV = {
    "ID": "nluds-1", "Grade": "2", "Source": "invented", "Body": "Seven red apples and two green apples lie here.",
    "Question": "How many apples are there?", "Solution-Type": "Addition", "Answer": "9 (apples)", "Formula": "7+2=9",
}  # fmt: skip
GSM8K = {
    "question": "Ann sold 48 clips in May and half as many in June. How many in all?",
    "answer": "In June <<48/2=24>>24.\nIn all <<48+24=72>>72.\n#### 72",
}  # fmt: skip
QUEUE = {
    "id": "04ab", "text": "Mia sold 4 % of her 50 eggs. What share is left?", "expression": "1-4%", "answer": "0.96",
}  # fmt: skip


def read(*records: dict[str, Any], columns: Columns | None = None) -> Corpus:
    corpus = read_rows(records, columns)
    assert corpus.report.records == len(records)
    return corpus


def only(*records: dict[str, Any], columns: Columns | None = None) -> tuple[str, str, str | None, str | None]:
    problem = read(*records, columns=columns).problems[0]
    return (
        problem.id,
        problem.text,
        None if problem.expression is None else to_infix(problem.expression),
        None if problem.answer is None else format_number(problem.answer),
    )


@pytest.mark.parametrize(
    ("record", "known", "expected"),
    [
        (MATH23K, MwpToolkit, ("7", MATH23K["original_text"], "N0+N1", "7")),
        (MAWPS, Mawps, ("5", MAWPS["sQuestion"], "N0+N1", "7")),
        (SVAMP, Svamp, ("chal-1", "Tom has 9 cats and gives 4 away, How many are left?", "N0-N1", "5")),
        (SVAMP_CSV, SvampCsv, ("1", "Tom has 3 cats and 4 dogs .", "N0+N1", "7")),
        (ASDIV, Asdiv, ("nluds-1", f"{ASDIV['Body']} {ASDIV['Question']}", "N0+N1", "9")),
        (GSM8K, Gsm8k, ("1", GSM8K["question"], "N0+N0/2", "72")),
        (QUEUE, ReadersQueue, ("04ab", QUEUE["text"], "1-N0", "0.96")),
    ],
)
def test_each_shape_is_recognised_and_converted(
    record: dict[str, Any], known: type[Format], expected: tuple[str, str, str, str]
) -> None:
    assert type(detect_format(record, "here")) is known
    assert only(record) == expected


def test_shapes_keep_what_they_do_not_use() -> None:
    assert read(SVAMP).problems[0].extra == {"Type": "Subtraction"}
    assert read({**MATH23K, "split": "train"}).problems[0].extra == {"split": "train"}
    assert read(ASDIV).problems[0].extra["Grade"] == "2"


def test_a_record_without_an_id_is_called_by_its_number() -> None:
    nameless = {key: value for key, value in MATH23K.items() if key != "id"}
    assert [problem.id for problem in read(nameless, {**nameless, "id": ""}).problems] == ["1", "2"]


# MAWPS, first release


def test_mawps_with_two_equations_is_not_expressible_and_keeps_them() -> None:
    corpus = read({**MAWPS, "lEquations": ["x+y=7", "x-y=1"], "lSolutions": [4.0, 3.0]})
    assert [str(complaint) for complaint in corpus.report.not_expressible] == [
        "rows, row 1, id 5: equation x+y=7; x-y=1: more than one equation"
    ]
    assert corpus.problems[0].expression is None
    assert corpus.problems[0].extra["equation"] == "x+y=7; x-y=1"


def test_mawps_with_the_unknown_elsewhere_is_solved() -> None:
    assert only({**MAWPS, "lEquations": ["X-3.0=4.0"]})[2] == "N1+N0"


def test_mawps_may_give_plain_values_and_no_solution() -> None:
    assert only({**MAWPS, "lEquations": "X=3.0*4.0", "lSolutions": []})[2:] == ("N0*N1", None)


# SVAMP-style CSV


@pytest.mark.parametrize(
    ("question", "numbers", "equation", "text", "expression"),
    [
        # Equal values are told apart by where they stand, not by what they are.
        ("number0 cats and number1 dogs", "5 5", "- number1 number0", "5 cats and 5 dogs", "N1-N0"),
        # The numbers' order need not be the text's.
        ("number1 cats and number0 dogs", "4.0 9.5", "- number1 number0", "9.5 cats and 4 dogs", "N0-N1"),
        # A number that stands in the text by itself moves the indices.
        ("In 1990 number0 cats and number1 dogs", "3 4", "+ number0 number1", "In 1990 3 cats and 4 dogs", "N1+N2"),
        # A number twice in the text is one; a number only in the equation is a constant or another quantity.
        ("number0 cats , number0 more", "3", "+ number0 number0", "3 cats , 3 more", "N0+N0"),
        ("number0 cats", "3 7", "+ number0 number1", "3 cats", "N0+7"),
        ("number0 % of number1", "20 50", "* * number0 0.01 number1", "20 % of 50", "N0*N1"),
        ("number0 cats", "3", "/ number0 100.0", "3 cats", "N0/100"),
    ],
)
def test_number_names_become_the_numbers_at_their_places(
    question: str, numbers: str, equation: str, text: str, expression: str
) -> None:
    record = {"Question": question, "Numbers": numbers, "Equation": equation, "Answer": "1"}
    assert only(record)[1:3] == (text, expression)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"Question": "number0 and number2"}, "number2 in the text, but only 2 numbers"),
        ({"Numbers": "3 four"}, "numbers 3 four: unknown name 'four' at position 1"),
        ({"Numbers": "1/0 4"}, "numbers 1/0 4: division by zero"),
        ({"Numbers": "1e999999999 4"}, "numbers 1e999999999 4: unknown name 'e999999999' at position 2"),
        ({"Equation": "+ number0 number2"}, "equation + N0 number2: 'number2' is not an operand at position 3"),
        ({"Equation": "+ number0"}, "equation + N0: operator '+' lacks an operand at position 1"),
        ({"Answer": "seven"}, "answer 'seven': unknown name 'seven' at position 1"),
    ],
)
def test_a_damaged_row_is_counted_with_its_reason_and_the_next_one_read(changes: dict[str, str], reason: str) -> None:
    corpus = read({**SVAMP_CSV, **changes}, SVAMP_CSV)
    assert [str(complaint) for complaint in corpus.report.unreadable] == [f"rows, row 1, id 1: {reason}"]
    assert corpus.problems[-1].expression is not None


# ASDiv


@pytest.mark.parametrize(
    ("changes", "expression", "answer"),
    [
        ({}, "N0+N1", "9"), ({"Body": "7 red apples and 2 green apples."}, "N0+N1", "9"),
        ({"Formula": "x=7-2", "Answer": "5 (apples)"}, "N0-N1", "5"),
        ({"Answer": "1,200 (dollars)"}, "N0+N1", "1200"), ({"Answer": "0.5 (hour)"}, "N0+N1", "0.5"),
        ({"Answer": "3/4"}, "N0+N1", "0.75"), ({"Answer": "25%"}, "N0+N1", "0.25"),
        ({"Answer": "Ann"}, "N0+N1", None), ({"Formula": None}, None, "9"),
        ({"Formula": "7+2=9; 9-1=8"}, None, "9"), ({"Formula": "7(km/h)*2(h)=14(km)"}, "N0*N1", "9"),
        ({"Body": "Ann ate 1/4 of a cake and Bob 2/4.", "Formula": "1/4+2/4=3/4", "Answer": "3/4"}, "N0+N1", "0.75"),
    ],
)  # fmt: skip
def test_asdiv_formulas_and_answers(changes: dict[str, Any], expression: str | None, answer: str | None) -> None:
    assert only({**ASDIV, **changes})[2:] == (expression, answer)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("7>2", "a comparison"), ("12:00-8:30=3:30", "times of day"), ("GCD(24,36)=12", "GCD(…) is not one of"),
        ("47/6=7 r5", "a division with remainder"), ("x+y=9;x-y=5", "more than one equation"),
    ],
)  # fmt: skip
def test_an_asdiv_formula_that_is_no_expression_is_counted_with_its_reason(formula: str, reason: str) -> None:
    report = read({**ASDIV, "Formula": formula}).report
    assert not report.unreadable
    assert reason in report.not_expressible[0].reason


def test_asdiv_reads_number_words_only_where_the_formula_needs_them() -> None:
    words, digits = read(ASDIV, {**ASDIV, "Body": "7 red apples and 2 green apples for one girl."}).problems
    assert (words.number_words, digits.number_words) == (True, False)


# GSM8K


def test_gsm8k_steps_that_do_not_chain_leave_a_problem_without_expression() -> None:
    corpus = read({**GSM8K, "answer": "<<48/2=24>> <<48+48=96>>\n#### 96"})
    assert [complaint.reason for complaint in corpus.report.not_expressible] == ["the steps do not chain"]
    assert (corpus.problems[0].expression, corpus.problems[0].answer) == (None, 96)


# Own columns and unknown shapes

OWN = {"no": "a", "story": "Tom has 3 cats and 4 dogs. How many?", "formula": "3+4", "result": "7", "level": "easy"}


def test_named_columns_make_any_record_a_problem() -> None:
    columns = Columns(text="story", equation="formula", answer="result", id="no")
    assert only(OWN, columns=columns) == ("a", OWN["story"], "N0+N1", "7")
    assert read(OWN, columns=columns).problems[0].extra == {"level": "easy"}


def test_only_the_text_is_needed() -> None:
    assert only(OWN, columns=Columns("story")) == ("1", OWN["story"], None, None)


@pytest.mark.parametrize(
    "column",
    [
        "text", "equation", "answer", "id",
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_an_error_that_lists_those_there_are(column: str) -> None:
    columns = Columns(**{"text": "story", column: "nothing"})
    with pytest.raises(ComdivError) as caught:
        read(OWN, columns=columns)
    assert str(caught.value) == "rows, row 1: no column 'nothing'; there are: no, story, formula, result, level"


def test_a_later_record_may_lack_what_is_not_needed() -> None:
    columns = Columns(text="story", equation="formula", answer="result", id="no")
    corpus = read(OWN, {"story": "One more?"}, {"formula": "1+1"}, {"story": None, "no": "d"}, columns=columns)
    assert [(problem.id, problem.text) for problem in corpus.problems] == [("a", OWN["story"]), ("2", "One more?")]
    assert [str(complaint) for complaint in corpus.report.unreadable] == [
        "rows, row 3, id 3: no column 'story'",
        "rows, row 4, id d: no text",
    ]


def test_a_column_called_as_one_of_ours_is_kept_under_another_name() -> None:
    record = {"question": "Tom has 3 cats. How many?", "text": "short", "answer": "3", "language": "English", "id": "9"}
    problem = read(record, columns=Columns("question")).problems[0]
    assert problem.text == record["question"]
    assert problem.to_json()["text"] == record["question"]
    assert problem.extra == {"corpus_text": "short", "corpus_answer": "3", "corpus_language": "English"}


@pytest.mark.parametrize(
    ("record", "options"),
    [
        (OWN, "--text TEXT --equation formula --answer result"),
        ({"Question": "How many?", "the answer": "7"}, "--text Question --equation EQUATION --answer ANSWER"),
        ({}, "--text TEXT --equation EQUATION --answer ANSWER"),
    ],
)
def test_an_unknown_shape_is_an_error_that_lists_the_columns_and_says_what_to_do(
    record: dict[str, Any], options: str
) -> None:
    with pytest.raises(ComdivError) as caught:
        detect_format(record, "mine.csv, line 2")
    assert str(caught.value) == (
        f"mine.csv, line 2: unknown format; its columns are {', '.join(record)}. Name them: {options}"
    )


@pytest.mark.parametrize(
    ("body", "question", "text"),
    [
        ("Tom has 3 cats.", "How many?", "Tom has 3 cats. How many?"),
        ("If Tom has 3 cats", "how many?", "If Tom has 3 cats, how many?"), ("", "How many?", "How many?"),
        (None, " How many? ", "How many?"), ("Tom has 3 cats.", None, "Tom has 3 cats."),
    ],
)  # fmt: skip
def test_body_and_question_are_joined(body: str | None, question: str | None, text: str) -> None:
    assert joined_text(body, question) == text


# A format that a package adds


class Cards(Format):
    """`Q: …` and `A: …` in turn."""

    keys = frozenset(["question", "answer", "card"])

    def opens(self, path: Path, beginning: bytes) -> bool:
        return beginning.startswith(b"Q: ")

    def records(self, path: Path, complain: Complain) -> Records:
        for number, card in enumerate(path.read_text(encoding="utf-8").split("\n\n"), start=1):
            question, _, answer = card.strip().partition("\nA: ")
            if answer:
                yield f"{path.name}, card {number}", {"card": number, "question": question[3:], "answer": answer}
            else:
                complain(f"{path.name}, card {number}", "no answer")

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        equation, _, answer = str(record["answer"]).partition(" = ")
        return RawRecord(f"card-{record['card']}", record["question"], where, equation, answer)


@pytest.fixture
def cards() -> Iterator[None]:
    with FORMATS.adding("cards", Cards):
        yield


@pytest.mark.usefixtures("cards")
def test_a_format_of_its_own_syntax_is_read_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "mine.cards"
    path.write_text("Q: Tom has 3 cats and 4 dogs. How many?\nA: 3+4 = 7\n\nQ: How many?\n", encoding="utf-8")
    corpus = read_corpus(path)
    assert [(p.id, p.answer, p.provenance.corpus) for p in corpus.problems] == [("card-1", 7, "mine")]
    assert [str(complaint) for complaint in corpus.report.unreadable] == ["mine.cards, card 2, id ?: no answer"]


@pytest.mark.usefixtures("cards")
def test_of_two_formats_that_know_a_record_the_one_with_more_keys_reads_it() -> None:
    assert type(detect_format({**GSM8K, "card": 1}, "here")) is Cards
    assert type(detect_format(GSM8K, "here")) is Gsm8k

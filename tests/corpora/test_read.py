"""One way to read problems, whatever they come as."""

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from comdiv.corpora import Columns, Corpus, ReadReport, open_corpus, read_corpus, read_rows
from comdiv.corpora.formats import NumberWords, RawRecord
from comdiv.corpora.read import Complaint, build_problem, locate
from comdiv.errors import ComdivError
from comdiv.expression import to_infix, value_of
from comdiv.language import get_language
from comdiv.problem import Problem, read_problems, write_problems

CHINESE = [
    {"id": "1", "original_text": "小明有12元，花了5元，还剩多少元？", "equation": "x=12-5", "ans": "7"},
    {"id": "2", "original_text": "一本书60页，看了(1/3)，看了多少页？", "equation": "x=60*(1/3)", "ans": "20"},
    {"id": "3", "original_text": "10.6-0.4=？", "equation": "x=10.6-0.4", "ans": "10.2"},
]
SVAMP = [
    {"ID": "c-1", "Body": "Ann has 9 cats.", "Question": "She sells 4. How many are left?", "Equation": "( 9.0 - 4.0 )",
     "Answer": 5.0, "Type": "Subtraction"},
]  # fmt: skip
MAWPS = [
    {"iIndex": 1, "sQuestion": "Ann has 9.0 cats and sells 4.0. How many?", "lEquations": ["X=(9.0-4.0)"],
     "lSolutions": [5.0], "lAlignments": [1, 2]},
]  # fmt: skip
GSM8K = [{"question": "Ann has 9 cats and sells 4. How many?", "answer": "She has <<9-4=5>>5.\n#### 5"}]
ASDIV = """<?xml version="1.0" encoding="UTF-8"?>
<Machine-Reading-Corpus-File><ProblemSet>
  <Problem ID="nluds-1" Grade="1" Source="invented"><Body>Ann has nine cats.</Body>
    <Question>She sells 4. How many are left?</Question><Solution-Type>Subtraction</Solution-Type>
    <Answer>5 (cats)</Answer><Formula>9-4=5</Formula></Problem>
</ProblemSet></Machine-Reading-Corpus-File>"""


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def json_lines(records: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def expressions(corpus: Corpus) -> list[str | None]:
    return [None if p.expression is None else to_infix(p.expression) for p in corpus.problems]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("math23k.json", json.dumps(CHINESE), ["N0-N1", "N0*N1", "N0-N1"]),
        ("math23k-first.json", "\n".join(json.dumps(r, indent=2) for r in CHINESE), ["N0-N1", "N0*N1", "N0-N1"]),
        ("train.ape.json", json_lines(CHINESE), ["N0-N1", "N0*N1", "N0-N1"]),
        ("MAWPS.json", json.dumps(MAWPS), ["N0-N1"]),
        ("SVAMP.json", json.dumps(SVAMP), ["N0-N1"]),
        ("ASDiv.xml", ASDIV, ["N0-N1"]),
        ("gsm8k.jsonl", json_lines(GSM8K), ["N0-N1"]),
        (
            "fold0.csv",
            ",Question,Numbers,Equation,Answer\n0,number0 cats less number1,9 4,- number0 number1,5.0\n",
            ["N0-N1"],
        ),
    ],
)
def test_every_published_shape_is_read_from_its_file(
    name: str, content: str, expected: list[str], tmp_path: Path
) -> None:
    corpus = read_corpus(write(tmp_path / name, content))
    assert expressions(corpus) == expected
    assert corpus.name == Path(name).stem
    assert (corpus.report.unreadable, corpus.report.not_expressible) == ([], [])
    for problem in corpus.problems:
        values = [
            q.value for q in get_language(problem.language).quantities(problem.text, number_words=problem.number_words)
        ]
        assert problem.expression is not None
        assert value_of(problem.expression, values) == problem.answer
        assert problem.provenance.corpus == corpus.name
        assert problem.provenance.version == corpus.version


def test_a_corpus_has_one_language_even_where_a_text_does_not_show_it(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path / "m.json", json.dumps(CHINESE)))
    assert {problem.language for problem in corpus.problems} == {"zh"}


OWN = [
    {"key": "a", "question": "Tom has 3 cats and 4 dogs.", "formula": "3+4", "result": "7", "level": "1"},
    {"key": "b", "question": "Tom has two cats and 4 dogs.", "formula": "2*4", "result": "8", "level": "2"},
]
COLUMNS = Columns(text="question", equation="formula", answer="result", id="key")


@pytest.mark.parametrize(
    "kind",
    [
        "jsonl", "json", "csv", "rows",
    ],
)  # fmt: skip
def test_named_columns_read_the_same_from_every_format(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{kind}"
    if kind == "rows":
        corpus = read_rows(OWN, COLUMNS, name="mine")
    elif kind == "csv":
        corpus = read_corpus(write_csv(path, OWN), columns=COLUMNS)
    else:
        corpus = read_corpus(write(path, json_lines(OWN) if kind == "jsonl" else json.dumps(OWN)), columns=COLUMNS)
    assert expressions(corpus) == ["N0+N1", "N0*N1"]
    assert [problem.id for problem in corpus.problems] == ["a", "b"]
    assert [problem.number_words for problem in corpus.problems] == [False, True]
    assert corpus.problems[1].extra == {"level": "2"}


def test_number_words_and_language_can_be_said(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", OWN)
    corpus = read_corpus(path, columns=COLUMNS, number_words="never", language="zh")
    assert expressions(corpus) == ["N0+N1", "2*N0"]
    assert {problem.language for problem in corpus.problems} == {"zh"}


def test_rows_of_a_known_shape_need_no_columns() -> None:
    assert expressions(read_rows(iter(SVAMP))) == ["N0-N1"]
    assert read_rows([]).problems == ()


def test_an_unknown_shape_lists_its_columns(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=r"mine\.csv, line 2: unknown format; its columns are key, question, formula"):
        read_corpus(write_csv(tmp_path / "mine.csv", OWN))
    with pytest.raises(ComdivError, match=r"mine\.csv, line 2: no column 'story'; there are: key, question"):
        read_corpus(write_csv(tmp_path / "mine.csv", OWN), columns=Columns("story"))


def test_nothing_is_lost_in_silence(tmp_path: Path) -> None:
    good = CHINESE[0]
    records = [
        good,
        {**good, "original_text": ""},
        {**good, "equation": "x=12-"},
        {**good, "ans": "七"},
        {**good, "equation": "x+y=7"},
        {"id": "other", "question": "another shape"},
        {**good, "equation": None, "ans": None},
    ]
    corpus = read_corpus(write(tmp_path / "mine.jsonl", json_lines(records)))
    report = corpus.report
    assert (report.records, report.problems, len(corpus.problems)) == (7, 5, 5)
    assert [(complaint.where, complaint.reason) for complaint in report.unreadable] == [
        ("mine.jsonl, line 2", "no text"),
        ("mine.jsonl, line 3", "equation x=12-: an operand is missing at position 6"),
        ("mine.jsonl, line 4", "answer '七': unexpected character '七' at position 1"),
        ("mine.jsonl, line 6", "no column 'original_text'"),
    ]
    assert [complaint.where for complaint in report.not_expressible] == ["mine.jsonl, line 5"]
    without_text = [c for c in report.unreadable if c.reason.startswith(("no text", "no column"))]
    assert report.records == report.problems + len(without_text)


def test_repeated_ids_get_a_suffix_that_is_free(tmp_path: Path) -> None:
    ids = ["17", "17", "17#2", "17", "18"]
    records = [{**CHINESE[0], "id": name} for name in ids]
    corpus = read_corpus(write(tmp_path / "mine.jsonl", json_lines(records)))
    assert [problem.id for problem in corpus.problems] == ["17", "17#2", "17#2#2", "17#3", "18"]


def our_problem(
    name: str, text: str = "Tom has 3 cats and 4 dogs.", expression: str | None = "N0+N1"
) -> dict[str, Any]:
    return {
        "id": name,
        "language": "en",
        "text": text,
        "expression": expression,
        "answer": "7",
        "provenance": {},
        "mine": 1,
    }


def test_our_own_format_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path / "ours.jsonl", json_lines([our_problem("a"), our_problem("b", expression=None)]))
    corpus = read_corpus(path)
    assert [problem.to_json() for problem in corpus.problems] == [our_problem("a"), our_problem("b", expression=None)]
    assert corpus.report.leaves_aligned == 2
    write_problems(tmp_path / "again.jsonl", corpus.problems)
    assert list(read_problems(tmp_path / "again.jsonl")) == list(corpus.problems)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"expression": "N0+N2"}, "there is no quantity N2: the text has 2"),
        ({"expression": "N0+"}, "problem 'b': an operand is missing at position 4"),
        ({"expression": "N0/(N1-4)"}, "division by zero"), ({"text": ""}, "problem 'b': 'text' is missing"),
        ({"language": "xx"}, "unknown language 'xx'."),
        ({"language": "xx", "expression": None}, "unknown language 'xx'."),
    ],
)  # fmt: skip
def test_a_damaged_problem_of_our_own_format_is_reported_and_the_next_one_read(
    changes: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    records = [our_problem("a"), {**our_problem("b"), **changes}, our_problem("c")]
    corpus = read_corpus(write(tmp_path / "ours.jsonl", json_lines(records)))
    assert [problem.id for problem in corpus.problems] == ["a", "c"]
    (complaint,) = corpus.report.unreadable
    assert str(complaint).startswith(f"ours.jsonl, line 2, id b: {reason}")
    assert (corpus.report.records, corpus.report.problems) == (3, 2)


def test_a_dataset_folder_is_read_in_the_order_of_its_parts(tmp_path: Path) -> None:
    folder = tmp_path / "my-dataset"
    folder.mkdir()
    for part in ("test", "train", "validation"):
        write_problems(
            folder / f"{part}.jsonl", [Problem(part, "en", "Tom has 3 cats."), Problem("same", "en", "4 dogs")]
        )
    (folder / "dataset.json").write_text("{}")
    corpus = read_corpus(folder)
    assert corpus.name == "my-dataset"
    assert [p.id for p in corpus.problems] == ["train", "same", "validation", "same#2", "test", "same#3"]


def test_a_folder_without_a_dataset_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=r"is not a dataset folder: it has none of train\.jsonl, validation\.jsonl"):
        read_corpus(tmp_path)


def test_the_demo_corpora_are_read_by_name() -> None:
    report = ReadReport()
    name, version, problems = open_corpus("demo-en", report)
    first = next(problems)
    assert (name, version[:5], first.language, report.problems) == ("demo-en", "demo ", "en", 1)


@pytest.mark.parametrize("name", ["mine.jsonl", "folder/mine", "./mine"])
def test_a_file_that_is_not_there_says_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ComdivError, match="no such file"):
        read_corpus(name)


def test_a_name_that_nobody_knows_gets_the_nearest_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMDIV_DATA", str(tmp_path))
    with pytest.raises(ComdivError, match=r"unknown corpus 'math23'\. Did you mean 'math23k'\?"):
        read_corpus("math23")


def test_a_published_name_is_found_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMDIV_DATA", str(tmp_path))
    path = write(tmp_path / "SVAMP.json", json.dumps(SVAMP))
    assert locate("svamp") == ("svamp", [path])
    assert read_corpus("svamp").name == "svamp"


def test_the_version_changes_with_any_byte(tmp_path: Path) -> None:
    versions = Counter(
        read_corpus(write(tmp_path / "mine.json", json.dumps(CHINESE) + white_space)).version
        for white_space in ["", "", " ", "\n"]
    )
    assert sorted(versions.values()) == [1, 1, 2]
    assert all(version.startswith("sha256:") for version in versions)


def test_problems_come_one_at_a_time(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", json_lines([CHINESE[0]] * 60) + "\n")
    report = ReadReport()
    _, _, problems = open_corpus(path, report)
    assert next(problems).id == "1"
    assert report.problems == 1
    assert len(list(problems)) == 59
    assert report.problems == 60


def test_a_broken_line_is_counted_with_its_place_and_the_next_one_is_read(tmp_path: Path) -> None:
    line = json.dumps(CHINESE[0])
    corpus = read_corpus(write(tmp_path / "mine.jsonl", f"{line}\n{{broken\n{line}\n"))
    assert (corpus.report.records, len(corpus.problems)) == (3, 2)
    (complaint,) = corpus.report.unreadable
    assert str(complaint).startswith("mine.jsonl, line 2, id ?: not valid JSON")


def test_a_row_with_too_many_fields_is_counted_and_the_next_one_is_read(tmp_path: Path) -> None:
    rows = "question,formula\nTom has 2 and 3 apples,2+3\nAnn, too,2,3\nTom has 4 and 5 apples,4+5\n"
    corpus = read_corpus(write(tmp_path / "mine.csv", rows), columns=Columns("question", "formula"))
    assert [to_infix(problem.expression) for problem in corpus.problems if problem.expression] == ["N0+N1", "N0+N1"]
    (complaint,) = corpus.report.unreadable
    assert complaint.where == "mine.csv, line 3"


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "question,question\na,b\n")
    with pytest.raises(ComdivError, match="two columns have the same name: question, question"):
        read_corpus(path, columns=Columns("question"))


# From a raw record to a problem: nothing is lost without a line that says why.


def build(text: Any = "Tom has 3 cats and 4 dogs.", **fields: Any) -> tuple[Problem | None, ReadReport]:
    report = ReadReport()
    record = RawRecord(id="7", text=text, where="mine.csv, line 2", **fields)
    return build_problem(record, report, corpus="mine", version="v1"), report


def test_a_record_becomes_a_problem_that_knows_its_corpus() -> None:
    problem, report = build("  Tom has 3 cats and 4 dogs.\n", equation="x=3+4", answer="7", extra={"grade": 2})
    assert problem is not None
    assert problem.to_json() == {
        "id": "7",
        "language": "en",
        "text": "Tom has 3 cats and 4 dogs.",
        "expression": "N0+N1",
        "answer": "7",
        "provenance": {"corpus": "mine", "version": "v1"},
        "grade": 2,
    }
    assert (report.records, report.problems, report.leaves_aligned) == (1, 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        "", "  \n", None, 5, ["a"],
    ],
)  # fmt: skip
def test_a_record_without_text_is_no_problem_but_a_complaint(text: Any) -> None:
    problem, report = build(text, equation="3+4")
    assert problem is None
    assert report.unreadable == [Complaint("mine.csv, line 2", "7", "no text")]
    assert (report.records, report.problems) == (1, 0)


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("x=3+", "equation x=3+: an operand is missing at position 5"),
        ("x=3/0", "equation x=3/0: division by zero"),
        ("x=N5+3", "equation x=N5+3: there is no quantity N5: the text has 2"),
        ("x=__import__('os')", "equation x=__import__('os'): unexpected character \"'\" at position 14"),
        ("1" * 20_000, f"equation {'1' * 80}: an equation has at most 10000 characters, this one has 20000"),
    ],
)
def test_an_equation_that_cannot_be_read_is_kept_and_complained_of(equation: str, reason: str) -> None:
    problem, report = build(equation=equation, answer="7")
    assert problem is not None
    assert (problem.expression, problem.answer) == (None, Fraction(7))
    assert problem.extra == {"equation": equation}
    assert [complaint.reason for complaint in report.unreadable] == [reason]
    assert (report.records, report.problems, report.leaves_aligned) == (1, 1, 0)


@pytest.mark.parametrize("equation", ["x+y=7;x-y=1", "x*x=9", "x+y=7"])
def test_an_equation_without_an_expression_is_counted_apart(equation: str) -> None:
    problem, report = build(equation=equation)
    assert problem is not None
    assert (len(report.not_expressible), len(report.unreadable)) == (1, 0)


def test_an_answer_that_cannot_be_read_leaves_the_expression() -> None:
    problem, report = build(equation="3+4", answer="seven")
    assert problem is not None
    assert problem.expression is not None
    assert problem.answer is None
    assert [str(c) for c in report.unreadable] == [
        "mine.csv, line 2, id 7: answer 'seven': unknown name 'seven' at position 1"
    ]


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_no_mistake(answer: str | None) -> None:
    problem, report = build(equation="3+4", answer=answer)
    assert problem is not None
    assert (problem.answer, report.unreadable) == (None, [])


@pytest.mark.parametrize(
    ("number_words", "text", "expression", "with_words"),
    [
        ("never", "Tom has three cats and 4 dogs", "3+N0", False),
        ("auto", "Tom has three cats and 4 dogs", "N0+N1", True),
        ("auto", "One day Tom has 3 cats and 4 dogs", "N0+N1", False),
        ("auto", "Tom has many cats and 4 dogs", "3+N0", False),
        ("always", "One day Tom has 3 cats and 4 dogs", "N1+N2", True),
    ],
)
def test_number_words_count_always_never_or_where_they_explain_a_constant(
    number_words: NumberWords, text: str, expression: str, with_words: bool
) -> None:
    problem, _ = build(text, equation="3+4", number_words=number_words)
    assert problem is not None
    assert problem.expression is not None
    assert (to_infix(problem.expression), problem.number_words) == (expression, with_words)


def test_constants_are_counted_by_value() -> None:
    _, report = build(equation="3*3.14+1-1+4*5")
    assert report.constants == {Fraction("3.14"): 1, Fraction(1): 2, Fraction(5): 1}
    assert report.leaves_aligned == 2


def test_the_language_is_detected_unless_it_is_given() -> None:
    chinese, _ = build("有3只猫")
    assert chinese is not None
    assert chinese.language == "zh"
    record = RawRecord("1", "10.6-0.4=?", "here")
    given = build_problem(record, ReadReport(), corpus="", version="", language="zh")
    assert given is not None
    assert given.language == "zh"

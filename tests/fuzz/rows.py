"""Corpus files in every format and syntax that the readers detect, whole and damaged; and files of predictions."""

import csv
import io
import json
import os
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from comdiv.corpora.read import ReadReport, open_corpus
from comdiv.evaluation import evaluate_predictions, read_predictions
from comdiv.expression import parse
from comdiv.problem import Problem
from fuzz.damage import damaged_text, damaged_value

ROWS = 25  # of a file: the first decides its format, most of the others fit
Row = dict[str, Any]

TEXTS = (
    "Tom has 3 bags of 12 apples. How many apples has he?", "Ann had twenty-one pens and lost 4. How many are left?",
    "小明有5个苹果，又买了2个，一共有多少个？", "一件商品打八折后是40元，原价是多少元？", "A shelf has (1/3) of 7.",
    "10.6-0.4=?", "No number here.", "number0 red and number1 green pens. How many?", "<b>3</b> & 4 \"each\", ; \t", "",
)  # fmt: skip
EQUATIONS = (
    "x=3*12", "3*12", "N0*N1", "21-4", "x=(5+2)*1", "40/80%", "x+4=21", "x^2=9", "X-9=4; Y=2", "* number0 number1",
    "7*(1/3)", "+ number0 * number1 2", "1e999999999", "9" * 5_000, "((((", "x", "", "1/0", "+".join("1" * 300),
    None, 7,
)  # fmt: skip
ANSWERS = (
    "36",
    36,
    2.5,
    "17",
    "2/3",
    "((2)/(3))",
    "20%",
    "9 (apples)",
    "1e999999999",
    "1e-99",
    10**50,
    "nan",
    "",
    None,
    "七",
)
STEPS = (
    "<<3*12=36>> #### 36",
    "He has 3*12=<<3*12=36>>36. Then <<36-1=35>>35\n#### 35",
    "#### $1,200",
    "<<1/0=1>> #### 1",
    "####",
)
_ANY = (*TEXTS, *EQUATIONS, *ANSWERS, *STEPS)


def _rows(**columns: Sequence[Any]) -> Callable[[random.Random], Row]:
    """A maker of rows: each column is drawn from its usual values."""
    return lambda source: {name: source.choice(values) for name, values in columns.items()}


_NAMES = (*range(30), "a", "", None, "x" * 300)
FORMATS: Mapping[str, Callable[[random.Random], Row]] = {
    "ours": _rows(
        id=("a", "b", "c1", "c2", 7, ""), language=("en", "zh", "en", "zh", "xx"), text=TEXTS, expression=EQUATIONS,
        answer=ANSWERS, provenance=({}, {"corpus": "c", "parents": ["a"]}, {"parents": [1]}, {"round": True}, [], None),
        number_words=(True, False, None, "yes"), composition=("structural", "lexical", 3), rule=("4", "²"),
    ),
    "mwptoolkit": _rows(id=_NAMES, original_text=TEXTS, segmented_text=TEXTS, equation=EQUATIONS, ans=ANSWERS),
    "mawps": _rows(
        iIndex=_NAMES, sQuestion=TEXTS, lEquations=[[text] for text in EQUATIONS] + ["x=1", [], None],
        lSolutions=[[answer] for answer in ANSWERS] + [7, [], None],
    ),
    "svamp": _rows(ID=_NAMES, Body=TEXTS, Question=TEXTS, Equation=EQUATIONS, Answer=ANSWERS, Type=("Sum",)),
    "svamp csv": _rows(
        Question=TEXTS, Numbers=("3 12", "3.0 12.5", "1e999999999 2", "1/0", "1/3 2", "", "a", "9" * 5_000, "-1 +2"),
        Equation=EQUATIONS, Answer=ANSWERS,
    ),
    "asdiv": _rows(
        **{"ID": _NAMES, "Grade": ("1",), "Body": TEXTS, "Question": TEXTS, "Solution-Type": ("Sum",)},
        Answer=ANSWERS, Formula=("7+2=9", *EQUATIONS),
    ),
    "gsm8k": _rows(question=TEXTS, answer=STEPS),
    "unknown": _rows(question=TEXTS, solution=ANSWERS, id=_NAMES),
}  # fmt: skip


def draw(source: random.Random) -> str:
    """A file of rows of one format; a row in 25 is damaged, and so is a file in seven."""
    name = source.choice(list(FORMATS))
    rows: list[Any] = [FORMATS[name](source) for _ in range(ROWS)]
    if source.random() < 0.8 and name == "ours":
        rows[0] |= {"id": "first", "language": "en", "text": "Tom has 3 pens and 4 more.", "expression": "N0+N1"}
    for place in range(source.random() < 0.9, ROWS):
        if source.random() < 0.04:
            rows[place] = damaged_value(rows[place], source)
    return _file(rows, source, xml=name == "asdiv" and source.random() < 0.7)


def _file(rows: Sequence[Any], source: random.Random, *, xml: bool = False) -> str:
    """The rows as a file in any of the syntaxes, sometimes damaged."""
    write = _as_xml if xml else source.choice((_as_lines, _as_lines, _as_array, _as_objects, _as_csv, _as_csv))
    text = write(rows, source)
    pieces = (*map(str, _ANY), "\n", '"', ",", "{", "}", "[", "]", "<", "\x00", "\ufeff", "NaN", "<!DOCTYPE a>", "&a;")
    return damaged_text(text, source, pieces) if source.random() < 0.15 else text


def _as_lines(rows: Sequence[Any], source: random.Random) -> str:
    return "".join(json.dumps(row, ensure_ascii=source.random() < 0.5) + "\n" for row in rows)


def _as_array(rows: Sequence[Any], source: random.Random) -> str:
    return json.dumps(rows, indent=source.choice((None, 1)))


def _as_objects(rows: Sequence[Any], source: random.Random) -> str:
    return "\n".join(json.dumps(row, indent=1) for row in rows)


def _as_csv(rows: Sequence[Any], source: random.Random) -> str:
    """Fields as a spreadsheet writes them; a row that is no mapping becomes a field."""
    names = list(rows[0]) if isinstance(rows[0], dict) else ["column"]
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=source.choice(",,;\t"), escapechar="\\")
    writer.writerow(names)
    for row in rows:
        values = row.values() if isinstance(row, dict) else [row]
        writer.writerow([str(value) for value in values])
    return stream.getvalue()


def _as_xml(rows: Sequence[Any], source: random.Random) -> str:
    parts = []
    for row in rows:
        fields = row if isinstance(row, dict) else {"Body": row}
        inner = "".join(
            f"<{name}>{escape(str(value))}</{name}>" for name, value in fields.items() if name.isidentifier()
        )
        parts.append(f"<Problem ID={quoteattr(str(fields.get('ID', 'x')))}>{inner}</Problem>")
    return f"<?xml version='1.0'?><Machine-Reading><ProblemSet>{''.join(parts)}</ProblemSet></Machine-Reading>"


def examine(content: str) -> None:
    """Read the file: every record is a problem or a complaint, and every problem survives writing and reading."""
    report = ReadReport()
    _, _, problems = open_corpus(_written(content), report)
    count = 0
    for problem in problems:
        count += 1
        record = json.loads(json.dumps(problem.to_json()))
        again = Problem.from_json(record)
        assert again.to_json() == record, "writing and reading changes a problem"
    assert report.problems == count
    assert all("\n" not in str(complaint) for complaint in (*report.unreadable, *report.not_expressible))


def _written(content: str) -> Path:
    """The content as a file of this process; half a surrogate pair becomes bytes that are not UTF-8."""
    path = Path(tempfile.gettempdir()) / f"comdiv-fuzz-{os.getpid()}.txt"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    return path


# --- predictions ---

GOLD = tuple(
    Problem(name, "en", "Tom has 3 pens and 4 more.", parse("N0+N1"), Fraction(7)) for name in ("a", "b", "1", "2", "3")
)
PREDICTIONS: Mapping[str, Callable[[random.Random], Row]] = {
    "words": _rows(id=("a", "b", 1, 2, 3), output=(*TEXTS, *STEPS, r"\boxed{7}", r"$\frac{7}{2}$", "7 %", 7, None)),
    "expressions": _rows(
        id=("a", "b", 1, 2, 3), expression=EQUATIONS, answer=ANSWERS, log_probability=(-1.5, "x", 10**400, None, "nan"),
        ill_formed=(True, False, "true", "maybe", None), undefined=(False, 0), reason=("", "because", 3),
    ),
    "logged": _rows(doc=({"id": "a"}, {"id": None}, {}, "a"), resps=([["7"]], [], [[]], "7", [[["7"]]])),
}  # fmt: skip


def draw_predictions(source: random.Random) -> str:
    """A file of predictions, as solvers, spreadsheets and lm-evaluation-harness write them."""
    make = PREDICTIONS[source.choice(list(PREDICTIONS))]
    rows = [
        damaged_value(make(source), source) if source.random() < 0.2 else make(source)
        for _ in range(source.randrange(1, 6))
    ]
    for place, row in enumerate(rows):
        if isinstance(row, dict) and "id" in row and source.random() < 0.9:
            row["id"] = GOLD[place].id
    return _file(rows, source)


def examine_predictions(content: str) -> None:
    """Read and score the file: every prediction is counted once, and survives writing."""
    predictions = read_predictions(_written(content))
    for prediction in predictions:
        json.dumps(prediction.to_json(), allow_nan=True)
    evaluation = evaluate_predictions(GOLD, predictions)
    record = evaluation.to_json()
    assert record["n"] == len(GOLD)
    assert 0 <= record["correct"] <= record["n"]

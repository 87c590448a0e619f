"""Data, numeric-answer filter and metrics of the tasks in this folder, for lm-evaluation-harness.

It needs nothing but Python and `datasets`, which the harness brings: the folder can be taken anywhere.
`comdiv export lm-eval` puts it here; the number that it finds in a model's words is the one that `comdiv evaluate
--predictions` scores, except that comdiv also works out an expression such as 3*12.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

TOLERANCE = Fraction(1, 10_000)  # relative: corpora round their answers
_LONGEST = 100  # digits of an answer; more are noise
_LONGEST_TEXT, _MOST_PHRASES = 200_000, 20  # of a model that repeats itself for ever, the end is read

_PLAIN_SIGNS = str.maketrans("０１２３４５６７８９．，％／（）−－–", "0123456789.,%/()---")
_LATEX = {r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\%": "%", r"\$": "", "{,}": ",", r"\,": "", r"\!": ""}
_LATEX_FRACTION = re.compile(r"\\frac\s*\{\s*(-?[0-9.,]+)\s*\}\s*\{\s*([0-9.,]+)\s*\}")
_PLAIN = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?"
_NUMBER = re.compile(
    rf"""
    (?<![A-Za-z_0-9^])(?<![0-9]\.)                      # not inside A4 or 1.2.3, nor the exponent of cm^2
    (?P<sign>(?<![0-9][ ])(?<![)%])-(?=[$€£¥0-9(]))?    # a sign, not a minus between two numbers
    [$€£¥]?
    (?:
        (?P<whole>[0-9]+)(?:[ ]?\(|[ ])(?P<part>[0-9]+/[0-9]+)\)?(?![0-9/])
      | \(?(?P<top>{_PLAIN})(?:[ ]?/[ ]?(?P<bottom>{_PLAIN}))?
    )
    (?P<percent>[ ]?%)?
    (?![0-9]|(?:st|nd|rd|th)\b)
    """,
    re.VERBOSE,
)
_ANSWER_PHRASE = re.compile(
    r"\b(?:(?:final\s+)?answer|final\s+result)\b[\s*_]*(?:(?:is|are|was|(?:would|will|must|should)\s+be|comes?\s+to|equals?|becomes)\b|[:=])"
    r"|\b(?:final\s+answer|ans\.?)\b[\s*_]*[:=]?"
    r"|(?:答案|最终结果)\s*(?:应该|应|就)?(?:是|为|等于|[:：=])|(?:^|(?<=[\s。，；！？]))答\s*[:：]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|[\"')*”]|$)|[。！？\n]")
_ADVERBS = "about|approximately|exactly|therefore|thus|simply|now|约为?|大约"
_LEAD = re.compile(rf"[^\w$€£¥(.-]*(?:(?:{_ADVERBS})\s*)?[^\w$€£¥(.-]*")


def load(train: str, test: str, **_: Any) -> Any:
    """The task's data, from the files beside this one."""
    import datasets

    folder = Path(__file__).parent
    files = {"train": str(folder / train), "test": str(folder / test)}
    return datasets.load_dataset("json", data_files=files)


def numeric_answer(responses: Sequence[Sequence[str]], documents: Sequence[Any]) -> list[list[str]]:
    """The filter: each response as the number that it comes to, as it was written; empty where it has none."""
    return [[answer_in(response) for response in own] for own in responses]


def process_results(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The metrics: the exact value, and the value within the tolerance, which a whole number does not have.

    20 % is right where 20 or 0.2 is.
    """
    gold = Fraction(document["answer"])
    slack = 0 if gold.denominator == 1 else TOLERANCE * abs(gold)
    readings = readings_of(results[0]) if results else []
    return {
        "exact_match": float(gold in readings),
        "within_tolerance": float(any(abs(value - gold) <= slack for value in readings)),
    }


def answer_in(text: str) -> str:
    r"""The number in the last `\boxed{}`, or after the last `####` or "the answer is"; else the last number."""
    text = text[-_LONGEST_TEXT:].translate(_PLAIN_SIGNS)
    for written, plain in _LATEX.items():
        text = text.replace(written, plain)
    text = _LATEX_FRACTION.sub(r"(\1/\2)", text)
    marked = [_boxed(text)] if r"\boxed{" in text else []
    marked += [line for line in re.findall(r"####[ \t]*([^\n]*)", text)[-1:] if not re.match(r"[0-9]+[.)][ \t]", line)]
    for piece in (*marked, *_announced(text), text):
        for match in reversed(list(_NUMBER.finditer(piece))):
            if readings_of(match[0]):
                return match[0].strip()
    return ""


def _announced(text: str) -> list[str]:
    """What follows the last "the answer is" or the like: a number if it comes first, else the whole sentence."""
    for phrase in reversed(list(_ANSWER_PHRASE.finditer(text))[-_MOST_PHRASES:]):
        said = text[phrase.end() :].lstrip("*_:： \t\r\n")
        end = _SENTENCE_END.search(said)
        said = said[: end.start()] if end else said
        if re.match(r"not\b|不是", said):
            continue
        lead = _LEAD.match(said)
        first = _NUMBER.match(said, lead.end() if lead else 0)
        if "=" in said:
            first = _NUMBER.search(said, said.rindex("="))
        if _NUMBER.search(said):
            return [*([first[0]] if first else []), said]
    return []


def readings_of(written: str) -> list[Fraction]:
    """The values that a written number may mean; none where it is no number."""
    match = _NUMBER.search(written)
    if match is None or len(match[0]) > _LONGEST:
        return []
    try:
        if match["whole"]:
            value = int(match["whole"]) + Fraction(match["part"])
        else:
            top, bottom = (Fraction((match[name] or "1").replace(",", "")) for name in ("top", "bottom"))
            value = top / bottom
    except ZeroDivisionError:
        return []
    value = -value if match["sign"] else value
    return [value / 100, value] if match["percent"] else [value]


def _boxed(text: str) -> str:
    """The content of the last box, up to the brace that closes it."""
    start = text.rfind(r"\boxed{") + len(r"\boxed{")
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return text[start:]

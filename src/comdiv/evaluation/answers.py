r"""The answer in a model's output: an expression, a lone number, or the number that a free text ends with.

In order of preference: the content of the last `\boxed{}`, the text after the last `####`, the whole text if it is one
number or one expression, the number after the last "the answer is", the last number of the text. Unlike in a problem's
text, `7/2` is always one number here: nobody is asked to work out an answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from comdiv.expression import Constant, Expression, ExpressionError, parse_answer, parse_equation
from comdiv.language.numbers import half_width

LONGEST_TEXT = 200_000  # characters: of a longer one, the end is read
_MOST_PHRASES = 20  # of a model that says "the answer is" for ever, these many are looked at
_MINUS_SIGNS = str.maketrans("−－–", "---")  # not the em dash: —5 is a pause before a five
_LATEX = {
    r"\left": "", r"\right": "", r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\times": "*", r"\cdot": "*",
    r"\div": "/", r"\%": "%", r"\$": "", "{,}": ",", r"\,": "", r"\!": "", r"\ ": " ",
}  # fmt: skip
_LATEX_SIGN = re.compile("|".join(re.escape(sign) for sign in _LATEX))
_LATEX_FRACTION = re.compile(r"\\frac\s*(?:\{\s*(-?[0-9.,]+)\s*\}|([0-9]))\s*(?:\{\s*([0-9.,]+)\s*\}|([0-9]))")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}")

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)"
_PLAIN = rf"(?:{_DIGITS}(?:\.[0-9]+)?|(?<!\.)\.[0-9]+)"
_NUMBER = re.compile(
    rf"""
    (?<![A-Za-z_0-9^])(?<![0-9]\.)(?<!\^\{{)             # not inside A4 or 1.2.3, nor the exponent of cm^2
    (?P<sign>(?<![0-9][ ])(?<![)%])-(?=[$€£¥￥0-9(.]))?   # a sign, not a minus between two numbers
    [$€£¥￥]?
    (?P<body>
        (?P<whole>[0-9]+)[ ]?(?:\((?P<bracketed>[0-9]+/[0-9]+)\)|(?<=[ ])(?P<beside>[0-9]+/[0-9]+)(?![0-9/]))
      | \(-?{_PLAIN}/{_PLAIN}\)
      | {_PLAIN}(?:[ ]?/[ ]?{_PLAIN}|[eE][+-]?[0-9]{{1,2}})?(?P<percent>[ ]?%)?
    )
    (?![0-9]|(?:st|nd|rd|th)\b)
    """,
    re.VERBOSE,
)
_AFTER_HASHES = re.compile(r"####[ \t]*([^\n]*)")
# Words after which a model gives its answer. What a question or a heading says ("Answer the question") has no number.
_ANSWER_PHRASE = re.compile(
    r"""
    \b(?:(?:final\s+)?answer|final\s+result)\b[\s*_]*
        (?:(?:is|are|was|would\s+be|will\s+be|must\s+be|should\s+be|comes?\s+to|equals?|becomes)\b|[:=：])
  | \b(?:final\s+answer|ans\.?)\b[\s*_]*[:=：]?
  | (?:答案|最终结果)\s*(?:应该|应|就)?(?:是|为|等于|[:：=])
  | (?:^|(?<=[\s。，；！？]))答\s*[:：]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|[\"')*”]|$)|[。！？\n]")
_ADVERBS = "about|approximately|exactly|therefore|thus|simply|now|约为?|大约"
_LEAD = re.compile(rf"[^\w$€£¥￥(.-]*(?:(?:{_ADVERBS})\s*)?[^\w$€£¥￥(.-]*")
_NUMBERED_HEADING = re.compile(r"[0-9]+[.)][ \t]+\S")  # `#### 2. Multiply` is Markdown, not GSM8K's answer


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a text says: an expression or an answer. `percent`: it was written as 20 %, which is 0.2 but may mean 20."""

    answer: Fraction | None = None
    expression: Expression | None = None
    percent: bool = False


def extract_answer(text: str) -> ModelAnswer:
    """The answer in a model's text; raises `ExpressionError` if there is none."""
    text = _plain_text(text[-LONGEST_TEXT:])
    marked = (_last_boxed(text), _after_hashes(text))
    for content in marked:
        if content is not None and (answer := _whole(content) or _last_number(content)):
            return answer
    answer = _whole(text) or _announced(text) or _last_number(text)
    if answer is None:
        shown = " ".join(text.split())
        raise ExpressionError(f"no number in the text '{shown[:60]}{'…' if len(shown) > 60 else ''}'")
    return answer


def _plain_text(text: str) -> str:
    """The text with digits, minus signs and LaTeX numbers in one form: `１２` → `12`, `1{,}200` → `1,200`."""
    text = half_width(text).translate(_MINUS_SIGNS)
    if "\\" not in text and "{,}" not in text:
        return text
    text = _LATEX_SIGN.sub(lambda match: _LATEX[match[0]], text)
    text = _LATEX_FRACTION.sub(lambda match: f"({match[1] or match[2]}/{match[3] or match[4]})", text)
    return _LATEX_TEXT.sub(r" \1", text)


def _last_boxed(text: str) -> str | None:
    """The content of the last `\\boxed{…}`, up to the brace that closes it."""
    start = text.rfind(r"\boxed{")
    if start < 0:
        return None
    start += len(r"\boxed{")
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return text[start:]


def _after_hashes(text: str) -> str | None:
    """The line after the last `####` if it begins with a number; otherwise it is a heading."""
    lines = _AFTER_HASHES.findall(text)
    if not lines or _NUMBERED_HEADING.match(lines[-1]):
        return None
    match = _NUMBER.match(lines[-1].strip("* \t"))
    return match[0] if match else None


def _whole(text: str) -> ModelAnswer | None:
    """A text that is nothing but a number or an expression: `36`, `20%`, `3*12`, `x = N0*N1`."""
    text = text.strip("$ \t\r\n")
    if match := _NUMBER.fullmatch(text):
        return _value(match)
    if "\n" in text:  # several lines of working would be read as one long expression
        return None
    try:
        expression = parse_equation(text)
    except ExpressionError:
        return None
    return ModelAnswer(expression.value) if isinstance(expression, Constant) else ModelAnswer(expression=expression)


def _announced(text: str) -> ModelAnswer | None:
    """The number announced by the last "the answer is": right after it, after its last `=`, or at its end."""
    for phrase in reversed(list(_ANSWER_PHRASE.finditer(text))[-_MOST_PHRASES:]):
        rest = text[phrase.end() :].lstrip("*_:： \t\r\n")
        end = _SENTENCE_END.search(rest)
        rest = rest[: end.start()] if end else rest
        if re.match(r"not\b|不是", rest):
            continue
        lead = _LEAD.match(rest)
        first = _NUMBER.match(rest, lead.end() if lead else 0)
        if "=" in rest:
            first = _NUMBER.search(rest, rest.rindex("="))
        answer = (_value(first) if first else None) or _last_number(rest)
        if answer is not None:
            return answer
    return None


def _last_number(text: str) -> ModelAnswer | None:
    values: Iterator[ModelAnswer | None] = (_value(match) for match in reversed(list(_NUMBER.finditer(text))))
    return next(filter(None, values), None)


def _value(match: re.Match[str]) -> ModelAnswer | None:
    """The number of a match; None if it looks like a number but has no value (1/0, a thousand digits)."""
    body = match["body"].replace(" ", "")
    if match["whole"]:
        body = f"{match['whole']}({match['bracketed'] or match['beside']})"
    try:
        return ModelAnswer(parse_answer(f"{match['sign'] or ''}{body}"), percent=bool(match["percent"]))
    except ExpressionError:
        return None

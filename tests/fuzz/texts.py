"""Texts in two languages: numbers in digits and words among any characters that Unicode has."""

import random
import sys

from comdiv.reading import read_text

ENGLISH = (
    "three", "twenty-one", "a hundred", "one and a half", "half", "dozen", "two thirds", "Tom", "has", "apples", "each",
    "how many", "What", "percent", "$5", "3.5", "1,000", "1/2", "(1/3)", "20%", "1st", "No. 5", "kg", "Mr.", "e.g.",
)  # fmt: skip
CHINESE = (
    "三", "二十一", "一百零五", "两", "半", "十分之三", "百分之二十", "几分之几", "多少", "千克", "小明", "苹果", "有",
    "个", "3", "2.5", "(1/3)", "1(1/2)", "50%", "万", "亿", "第一", "，", "。", "？", "；", "：", "〇", "廿", "倍",
)  # fmt: skip
SIGNS = (
    " ",
    " ",
    " ",
    ".",
    "?",
    "!",
    ";",
    ",",
    ":",
    "\n",
    "\t",
    "",
    "%",
    "/",
    "^",
    "٣",
    "½",
    "²",
    "Ⅷ",
    "\u200b",
    "\x00",
    "9" * 200,
)


def draw(source: random.Random) -> dict[str, object]:
    """A text of words, numbers and signs; every fifth is of characters from the whole of Unicode."""
    language = source.choice(("en", "zh"))
    if source.random() < 0.2:
        text = "".join(_character(source) for _ in range(source.randrange(1, 60)))
    else:
        words = (*ENGLISH, *SIGNS) if language == "en" else (*CHINESE, *SIGNS)
        space = " " if language == "en" else ""
        text = space.join(source.choices(words, k=source.randrange(1, 40)))
    if source.random() < 0.05:
        text *= 50
    return {"language": language, "text": text, "number_words": source.random() < 0.5}


def _character(source: random.Random) -> str:
    """Any character; half a surrogate pair is no text, and never comes out of a file."""
    code = source.randrange(sys.maxunicode - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def examine(case: dict[str, object]) -> None:
    """Numbers stand where they say, in order; tokens lie in the text; clauses cover it."""
    text = str(case["text"])
    reading = read_text(text, str(case["language"]), number_words=bool(case["number_words"]))
    end = 0
    for place, quantity in enumerate(reading.quantities):
        assert quantity.index == place
        assert end <= quantity.start < quantity.end <= len(text)
        assert text[quantity.start : quantity.end] == quantity.text
        end = quantity.end
    for token in reading.tokens:
        assert text[token.start : token.end] == token.text
    numbers = [token.quantity for token in reading.tokens if token.quantity is not None]
    assert numbers == list(range(len(reading.quantities))), "a number is no token"
    assert sorted(number for clause in reading.clauses for number in clause.quantities) == numbers
    assert all(left.end <= right.start for left, right in zip(reading.clauses, reading.clauses[1:], strict=False))
    if reading.clauses:
        assert reading.question.end <= len(text)
        assert reading.asked_unit is None or reading.asked_unit
    assert reading.mask_hash
    assert len(reading.contexts(3)) == len(reading.quantities)
    reading.content_words  # noqa: B018  (it is computed)

"""Chinese numerals: 三, 二十五, 一百零八, 两千, 三分之二, 半."""

import re
from fractions import Fraction

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "亿": 10**8}
_SIGNS = "零〇一二两三四五六七八九十百千万亿"

NUMERAL = re.compile(
    rf"(?P<denominator>[{_SIGNS}]{{1,8}})分之(?P<numerator>[{_SIGNS}]{{1,8}})|一?半|[{_SIGNS}]{{1,12}}"
)


def numeral_value(text: str) -> Fraction | None:
    """The value of a numeral, or None if the characters do not form one (二〇〇八, 万万, 十百)."""
    if text in ("半", "一半"):
        return Fraction(1, 2)
    total, section, digit, least = 0, 0, None, 10_000
    for sign in text:
        if sign in _DIGITS:
            if digit:  # two digits in a row: a year or a telephone number
                return None
            digit = _DIGITS[sign]
        elif sign in _TENS:
            if _TENS[sign] >= least:
                return None
            least = _TENS[sign]
            section += (digit or 1) * least
            digit = None
        else:
            section += digit or 0
            if not section and not (sign == "亿" and total):  # 一万亿 is a numeral, 万万 is not
                return None
            total = (total + section) * _MYRIADS[sign] if sign == "亿" else total + section * _MYRIADS[sign]
            section, digit, least = 0, None, 10_000
    return Fraction(total + section + (digit or 0))


def share_value(numerator: str, denominator: str) -> Fraction | None:
    """The value of 三分之二 (denominator 三, numerator 二) and 百分之五."""
    bottom = Fraction(100) if denominator == "百" else numeral_value(denominator)
    top = numeral_value(numerator)
    return top / bottom if top is not None and bottom else None

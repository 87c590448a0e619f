"""Chinese demo texts: clauses in chains, and who acts is named once where nobody else can be meant."""

import re

import pytest

from comdiv.corpora.demo import generate
from comdiv.corpora.demo.chaining import CHAIN, chain

ACTORS = {"小芳": "", "余静": "她", "邻居家": "", "周爷爷": ""}


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (
            "小芳有56颗弹珠。小芳赢了7颗。后来小芳输掉30颗。现在小芳还剩多少颗弹珠？",
            "小芳有56颗弹珠，赢了7颗，后来输掉30颗，现在小芳还剩多少颗弹珠？",
        ),
        (
            "小芳的弹珠有56颗。小芳赢了7颗。小芳一共有多少颗？",
            "小芳的弹珠有56颗，小芳赢了7颗，小芳一共有多少颗？",
        ),
        (
            "小芳有7颗弹珠。小芳又买了2颗。小芳的盒子有2个。每盒有多少颗？",
            "小芳有7颗弹珠，又买了2颗，盒子有2个，每盒有多少颗？",
        ),
        (
            "在家里，余静打了720个字。下午，余静打了9个字。余静打了多少个字？",
            "在家里，余静打了720个字，下午打了9个字，她打了多少个字？",
        ),
        (
            "稿件摆在余静面前，有360个字。余静上午打了9个字。还剩多少个字？",
            "稿件摆在余静面前，有360个字，她上午打了9个字，还剩多少个字？",
        ),
        (
            "小芳有56颗弹珠。小芳赢了7颗。小芳一共有多少颗弹珠？",
            "小芳有56颗弹珠，小芳赢了7颗，小芳一共有多少颗弹珠？",
        ),
        (
            "周爷爷捕了50千克鱼。邻居家比周爷爷多捕了9千克。邻居家捕了多少千克？",
            "周爷爷捕了50千克鱼，邻居家比周爷爷多捕了9千克，邻居家捕了多少千克？",
        ),
        (
            "小芳和余静折纸。小芳家有9张纸。小芳折了几张？",
            "小芳和余静折纸，小芳家有9张纸，小芳折了几张？",
        ),
    ],
)
def test_sentences_are_chained_and_the_subject_is_not_said_again(told: str, text: str) -> None:
    assert chain(told, ACTORS) == text


def test_a_chain_ends_before_it_is_too_long() -> None:
    told = "".join(f"第{number}天有雨，也有{number}度。" for number in "一二三") + "明天怎样？"
    assert chain(told, {}) == "第一天有雨，也有一度，第二天有雨，也有二度。第三天有雨，也有三度，明天怎样？"


def test_most_demo_texts_are_chained_and_few_name_anybody_four_times() -> None:
    texts = [problem.text for problem in generate("zh", 500)]
    assert all(len(part.split("，")) <= CHAIN + 1 for text in texts for part in text.split("。"))
    assert sum("。" not in text for text in texts) > len(texts) / 3
    assert sum(len(re.findall("小[明红刚丽华芳强兰东梅]", text)) >= 4 for text in texts) < len(texts) / 50

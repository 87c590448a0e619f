"""A small corpus made by hand: one seed for each rule that a frame recognises, and a few that none does."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from comdiv.expression import parse, value_of
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import read_text
from comdiv.synthesis.frames import FrameTable, frame_table
from comdiv.synthesis.products import Family, make_family
from comdiv.synthesis.rules import Rule, load_rules
from comdiv.synthesis.seeds import Seed, find_seed, tell

RULES = {rule.id: rule for rule in load_rules().rules}
_SEEDS = """
1 | 一堆煤重100吨，用去(2/5)，还剩多少吨？ | N0*(1-N1)
2 | 食堂运来5袋大米，每袋20千克，这些大米吃了4天，平均每天吃多少千克？ | N0*N1/N2
3 | 学校买来6箱图书，每箱30本，又买来50本连环画，一共买来书多少本？ | N0*N1+N2
4 | 商店运来3车苹果，每车20箱，每箱苹果15千克，一共有苹果多少千克？ | N0*N1*N2
5 | 水果店有梨80千克，比苹果少(1/5)，苹果有多少千克？ | N0/(1-N1)
6 | 一本书有120页，小明已经看了30页，剩下的每天看15页，还要看几天？ | (N0-N1)/N2
7 | 商店上午卖出25箱苹果，下午卖出15箱苹果，每箱苹果30元，一共卖了多少元？ | (N0+N1)*N2
8 | 果园有桃树60棵，是梨树的(3/4)，苹果树是梨树的(1/2)，苹果树有多少棵？ | N0/N1*N2
9 | 水果店运来20箱梨，每箱25千克，卖出300千克，还剩多少千克？ | N0*N1-N2
10 | 三年级有男生90人，女生60人，三年级一共有多少人？ | N0+N1
11 | 一支钢笔8元，一支铅笔2元，一支钢笔比一支铅笔贵多少元？ | N0-N1
12 | 一个长方形的长是12厘米，宽是4厘米，它的面积是多少平方厘米？ | N0*N1
13 | 有36朵红花，平均分给4个小朋友，每个小朋友分得多少朵？ | N0/N1
"""
SEEDS = {
    rule: (text, expression) for rule, text, expression in (line.split(" | ") for line in _SEEDS.strip().splitlines())
}
OTHERS = [
    ("小明有12元，花了5元，小明还有多少元？", "N0-N1"),
    ("一辆汽车每小时行60千米，行了3小时，一共行了多少千米？", "N0*N1"),
]


def problem(name: str, text: str, expression: str, language: str = "zh") -> Problem:
    tree = parse(expression)
    return Problem(name, language, text, tree, value_of(tree, read_text(text, language).values))


def corpus() -> list[Problem]:
    seeds = [problem(f"seed-{rule}", text, expression) for rule, (text, expression) in SEEDS.items()]
    return [*seeds, *(problem(f"other-{number}", *other) for number, other in enumerate(OTHERS))]


@cache
def table(code: str = "zh") -> FrameTable:
    return frame_table(get_language(code))


def seed_of(rule: Rule, given: Problem) -> Seed:
    tale = tell(given, get_language(given.language))
    assert tale is not None
    seed = find_seed(rule, tale)
    assert seed is not None
    return seed


def family(rule: str, text: str = "", expression: str = "", name: str = "", language: str = "zh") -> Family | str:
    """What a rule makes of a problem; by default of its seed in the corpus."""
    text, expression = (text, expression) if text else SEEDS[rule]
    given = problem(name or f"seed-{rule}", text, expression, language)
    return make_family(seed_of(RULES[rule], given), table(language))


def made(rule: str, text: str = "", expression: str = "", name: str = "", language: str = "zh") -> Family:
    """The family of a problem, which has one."""
    result = family(rule, text, expression, name, language)
    assert isinstance(result, Family), result
    return result


PRODUCTS = [product.id for rule in SEEDS for product in made(rule).products]


def verdict(name: str, reader: str, good: bool = True) -> dict[str, Any]:
    return {"id": name, "valid": good, "qualified": good, "label": good, "reason": "", "reader": reader}


def write_lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path

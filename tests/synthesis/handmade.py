"""A small corpus made by hand: one seed for each rule, and donors that fit."""

from collections.abc import Iterable
from functools import cache

from comdiv.expression import parse, value_of
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import read_text
from comdiv.synthesis.filling import Workshop
from comdiv.synthesis.rules import Rule, load_rules
from comdiv.synthesis.tale import Seed, find_seed, tell

RULES = {rule.id: rule for rule in load_rules().rules}
SEEDS = {
    "1": ("一堆煤重100吨，用去(2/5)，还剩多少吨？", "N0*(1-N1)"),
    "2": ("食堂运来5袋大米，每袋20千克，这些大米吃了4天，平均每天吃多少千克？", "N0*N1/N2"),
    "3": ("学校买来6箱图书，每箱30本，原有图书50本，一共有图书多少本？", "N0*N1+N2"),
    "4": ("商店运来3车苹果，每车20箱，每箱苹果15千克，一共有苹果多少千克？", "N0*N1*N2"),
    "5": ("水果店有梨80千克，比苹果少(1/5)，苹果有多少千克？", "N0/(1-N1)"),
    "6": ("一本书有120页，已经看了30页，剩下的每天看15页，还要看几天？", "(N0-N1)/N2"),
    "7": ("商店上午卖出苹果25箱，下午卖出苹果15箱，每箱苹果30元，一共卖了多少元？", "(N0+N1)*N2"),
    "8": ("果园有桃树60棵，是梨树的(3/4)，苹果树是梨树的(1/2)，苹果树有多少棵？", "N0/N1*N2"),
    "9": ("水果店运来20箱梨，每箱25千克，卖出300千克，还剩多少千克？", "N0*N1-N2"),
    "10": ("学校有足球90个，有排球60个，足球和排球一共有多少个？", "N0+N1"),
    "11": ("一支钢笔8元，一支铅笔2元，一支钢笔比一支铅笔贵多少元？", "N0-N1"),
    "12": ("甲数是12，乙数是4，甲乙两数的积=？", "N0*N1"),
    "13": ("甲数是30，乙数是6，甲数除以乙数的商=？", "N0/N1"),
}
DONORS = [
    ("一堆煤重20吨，还剩(3/4)，还剩多少吨？", "N0*N1"),
    ("一堆煤，用去(1/4)，还剩几分之几？", "1-N0"),
    ("橘子比苹果少(1/3)，橘子是苹果的几分之几？", "1-N0"),
    ("商店有橘子30千克，是香蕉的(3/4)，香蕉有多少千克？", "N0/N1"),
    ("商店运来8袋大米，每袋10千克，一共运来多少千克？", "N0*N1"),
    ("食堂有大米60千克，吃了3天，平均每天吃多少千克？", "N0/N1"),
    ("学校有图书70本，又买来图书20本，一共有图书多少本？", "N0+N1"),
    ("商店有苹果30箱，每箱苹果12千克，一共有苹果多少千克？", "N0*N1"),
    ("一本书有90页，已经看了40页，还剩多少页没看？", "N0-N1"),
    ("一本书还剩60页，每天看12页，还要看几天？", "N0/N1"),
    ("商店上午卖出梨20箱，下午卖出梨10箱，一共卖出多少箱？", "N0+N1"),
    ("商店一共卖出苹果18箱，每箱苹果20元，一共卖了多少元？", "N0*N1"),
    ("果园有李树48棵，是杏树的(2/3)，杏树有多少棵？", "N0/N1"),
    ("果园有梨树70棵，桃树是梨树的(1/7)，桃树有多少棵？", "N0*N1"),
    ("水果店有梨90千克，卖出30千克，还剩多少千克？", "N0-N1"),
    ("学校有篮球40个，有皮球30个，篮球比皮球多多少个？", "N0-N1"),
    ("一支毛笔6元，一支蜡笔1元，一共要多少元？", "N0+N1"),
    ("甲数是18，乙数是3，甲数是乙数的几倍？", "N0/N1"),
    ("甲数是7，乙数是5，甲数与乙数的积=？", "N0*N1"),
]


def problem(name: str, text: str, expression: str, language: str = "zh") -> Problem:
    tree = parse(expression)
    return Problem(name, language, text, tree, value_of(tree, read_text(text, language).values))


def corpus() -> list[Problem]:
    seeds = [problem(f"seed-{rule}", text, expression) for rule, (text, expression) in SEEDS.items()]
    return [*seeds, *(problem(f"donor-{n:02}", text, tree) for n, (text, tree) in enumerate(DONORS))]


def workshop_of(problems: Iterable[Problem], code: str = "zh") -> Workshop:
    language = get_language(code)
    return Workshop([tale for given in problems if (tale := tell(given, language))], language, 0)


@cache
def workshop() -> Workshop:
    return workshop_of(corpus())


def seed_of(rule: Rule, bench: Workshop, name: str) -> Seed:
    seed = find_seed(rule, next(tale for tale in bench.tales if tale.problem.id == name))
    assert seed is not None
    return seed

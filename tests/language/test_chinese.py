"""Chinese: clauses, tokens, units and content words, checked by hand."""

import pytest

from comdiv.language import get_language
from comdiv.reading import read_text

CHINESE = get_language("zh")


@pytest.mark.parametrize(
    "clauses",
    [
        ["小明有3个苹果，", "小红有5个，", "他们一共有多少个？"],
        ["小明有5元．", "小红有6元．", "共几元"],
        ["甲数是1,000，", "乙数是3.5，", "求和。"],
        ["每件12.5元,", "买3件,", "要多少钱?"],
        ["3．5元，", "共几元？"],
        ["走了１２．５米．", "还剩多少"],
        ["两数的比是3：5，", "求比值"],
        ["在1：2000的图上，", "长5厘米"],
        ["今天8：30出发，", "几时到？"],
        ["水果有：", "苹果3个，", "梨5个。", "问：", "一共几个？"],
        ["小明说：", "“我有5个。”", "他有几个？"],
        ["他说：", "“好！”", "然后走了；", "最后呢？"],
        ["他得了“优”，", "比（1）班多3个"],
        ["（1）求和；", "（2）求差"],
        ["吃了(1/3)，", "还剩几分之几？"],
        ["吃了（1/3），", "还剩几分之几？"],
        ["真的吗？！", "有5个？"],
        ["有5个……还剩几个？"],
        ["有3、5、7三个数"],
        ["A，", "B两地相距5千米"],
        ["《书》，", "5本"],
        ["没有标点的题目3+5"],
        ["5"],
        ["。。。"],
        ["，，"],
        ["　 "],
        ["，小明有5个。"],
        [],
    ],
    ids=lambda clauses: "".join(clauses)[:12],
)
def test_clauses(clauses: list[str]) -> None:
    assert [clause.text for clause in CHINESE.clauses("".join(clauses))] == clauses


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("小明买了3个苹果", ["小明", "买", "了", "3", "个", "苹果"]),
        ("吃了(1/3)千克", ["吃", "了", "(1/3)", "千克"]),
        ("两数的比是3：5", ["两数", "的", "比", "是", "3", "：", "5"]),
        ("共1,000元。", ["共", "1,000", "元", "。"]),
        ("", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert [token.text for token in CHINESE.tokens(text)] == tokens


def test_number_tokens_say_which_quantity_they_are() -> None:
    tokens = CHINESE.tokens("有2只猫，三只狗", number_words=True)
    assert [(token.text, token.quantity) for token in tokens if token.quantity is not None] == [("2", 0), ("三", 1)]


@pytest.mark.parametrize(
    ("text", "unit", "kind"),
    [
        ("买来3个苹果", "个", "measure"), ("有30多个", "个", "measure"), ("有100余人", "人", "measure"),
        ("运来2万吨", "万吨", "measure"), ("有3百人", "百人", "measure"), ("用电3千瓦时", "千瓦时", "measure"),
        ("重3.5千克", "千克", "measure"), ("重 3 千克", "千克", "measure"), ("每秒60米/秒", "米/秒", "measure"),
        ("时速60千米/时", "千米/时", "measure"), ("用了1(1/2)小时", "小时", "measure"),
        ("用了1 1/2小时", "小时", "measure"), ("长１２．５米", "米", "measure"), ("付了1,000元", "元", "measure"),
        ("用了12分钟", "分钟", "measure"), ("得了12分", "分", "measure"), ("得了12分，", "分", "measure"),
        ("长7分米", "分米", "measure"), ("把12分给弟弟", None, None), ("气温是-11度", "度", "measure"),
        ("养了15头牛", "头", "measure"), ("修了12条路", "条", "measure"), ("楼高5层楼", "层", "measure"),
        ("长5cm的线", "cm", "measure"), ("过了5个月", "个月", "measure"), ("过了4年后", "年", "measure"),
        ("第一次用5时先行", "时", "measure"), ("吃了(1/3)千克", "千克", "measure"), ("是乙的2.5倍", "倍", "share"),
        ("打8折", "折", "share"), ("吃了20%", None, "share"), ("吃了(1/3)", None, "share"),
        ("吃了它的3/5", None, "share"), ("按0.8出售", None, "share"), ("在5月份", None, "bare"),
        ("在5年级", None, "bare"), ("在第3天", None, "bare"), ("甲数是5", None, "bare"), ("甲是5，", None, "bare"),
        ("求和：5加乙", None, "bare"), ("一共5下午", None, None), ("占12分之五", None, None),
        ("面积是5面积", None, None),
    ],
)  # fmt: skip
def test_units_and_kinds(text: str, unit: str | None, kind: str | None) -> None:
    (quantity,) = read_text(text, CHINESE).quantities
    assert (quantity.unit, quantity.kind) == (unit, kind)


@pytest.mark.parametrize(
    "text",
    [
        "比是3：5", "6（1）班", "6(1)班", "计算5+3", "求5与3的和", "5×3", "算12/5", "6、7",
    ],
)  # fmt: skip
def test_terms_of_ratios_labels_and_exercises_are_bare(text: str) -> None:
    quantities = read_text(text, CHINESE).quantities
    assert [(quantity.unit, quantity.kind) for quantity in quantities] == [(None, "bare")] * 2


def test_a_sheet_of_a4_has_no_quantity() -> None:
    assert CHINESE.quantities("一张A4纸") == []


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("小明有5元，还剩多少千克？", "千克"), ("一共要多少钱？", "元"), ("还剩几个？", "个"),
        ("有几名学生？", "名"), ("要几分钟？", "分钟"), ("共多少万元？", "万元"), ("甲是乙的几倍？", "倍"),
        ("还剩几分之几？", "share"), ("占百分之几？", "share"), ("几只鸡和几只兔，共有多少条腿？", "条腿"),
        ("这个数是几？", None), ("甲有多少元，乙呢？", None), ("", None),
    ],
)  # fmt: skip
def test_asked_unit(text: str, unit: str | None) -> None:
    assert CHINESE.asked_unit(text) == unit


@pytest.mark.parametrize(
    ("text", "nouns", "verbs"),
    [
        ("小明买了3个苹果", ("小明", "苹果"), ("买",)),
        ("学校有20名老师", ("学校", "老师"), ()),
        ("5+3", (), ()),
        ("", (), ()),
    ],
)
def test_content_words_are_nouns_and_verbs_without_copulas(
    text: str, nouns: tuple[str, ...], verbs: tuple[str, ...]
) -> None:
    words = CHINESE.content_words(text)
    assert (words.nouns, words.verbs) == (nouns, verbs)


@pytest.mark.parametrize(
    ("text", "values"),
    [("这段路长3千米", [3]), ("买来两千克苹果", [2]), ("两千个苹果", [2000]), ("花了2万元", [2]), ("走了三千米", [3])],
)
def test_a_thousand_that_belongs_to_the_unit_is_no_number(text: str, values: list[int]) -> None:
    assert [quantity.value for quantity in CHINESE.quantities(text, number_words=True)] == values

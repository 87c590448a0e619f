"""What questions ask for, and what a sequel's sentences become."""

import re

import pytest

from comdiv.errors import ComdivError
from comdiv.expression import parse, to_infix
from comdiv.language import get_language, sequels_of
from comdiv.language.sequels import Sequel, Topic, fill_in, is_whole, number_comes_first, read_form, read_sequel
from comdiv.language.zh.sequels import ChineseSequels
from comdiv.problem import Problem
from comdiv.reading import read, read_all
from tables import rows

SHARES = rows("""
    left | 米 | 一条公路，已经修了(3/5)，还剩几分之几没有修？
    left | 吨 | 一堆煤，用去了(3/5)，还剩几分之几？
    done-share | 字 | 打一份稿件，还剩(3/5)没有打，已经打了几分之几？
    half-share | 人 | 五年级的学生中，男生占(3/5)，女生占几分之几？
    less | 千克 | 梨的质量比苹果少(1/4)，梨的质量是苹果的几分之几？
    less-in-time | 吨 | 今年用水比去年节约20%，今年用水是去年的百分之几？
""")


def topic_or_none(text: str, expression: str, language: str, *others: str) -> Topic | None:
    problems = [Problem("p", language, text, parse(expression))]
    problems += [Problem(str(number), language, other) for number, other in enumerate(others)]
    return sequels_of(language).topics(read_all(problems))[0]


def topic(text: str, expression: str, language: str, *others: str) -> Topic:
    topic = topic_or_none(text, expression, language, *others)
    assert topic is not None, text
    return topic


@pytest.mark.parametrize(
    ("role", "owner", "things", "text"),
    rows("""
        has | Joan | pears | Joan has 9 pears. She buys 6 pears. How many pears does Joan have now?
        has | Joan | pears | Joan has 9 pears. She buys 6 pears. How many pears does she have in all?
        got | Joan | red hats | Joan found 9 red hats. Joan found 6 red hats. How many red hats did Joan find?
        did | Joan | books | Joan read 9 books. Joan read 6 books. How many books did Joan read in total?
        money | Joan | – | Joan has 9 dollars. Joan got 6 dollars. How much money does Joan have?
        paid | Joan | – | A hat cost 9 dollars. Joan paid 6 dollars for a bag. How much did Joan spend?
    """),
)
def test_english_questions_name_their_topic(text: str, role: str, owner: str, things: str) -> None:
    seen = topic(text, "N0+N1", "en", "Then Joan slept. A dog saw Joan.")
    assert (seen.role, seen.slots["owner"], seen.slots["things"]) == (role, owner, things)


@pytest.mark.parametrize(
    "text",
    [
        "Joan has 9 pears. Tom has 6 pears. How many more pears does Joan have than Tom?",
        "Joan has 9 pears. Joan lost 6 pears. How many pears did Joan have at first?",
        "Joan has 9 pears. When she wakes up 6 pears are gone, how many pears does Joan have?",
        "Joan has 9 pears. How many pears does Joan have if she buys 6 pears?",
    ],
)
def test_english_questions_for_something_else_have_no_topic(text: str) -> None:
    assert topic_or_none(text, "N0-N1", "en", "A dog saw Joan and Tom.") is None


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("Joan has 9 dimes. She got 6 dimes. How many cents does Joan have?", "(N0+N1)*10"),
        ("Joan has 9 pears. Joan wants to buy 6 pears. How many pears would Joan have?", "N0+N1"),
        ("Joan had 15 cents. She found 6 cents. How much money does Joan have?", "N0+N1"),
        ("She also has 9 pears. Joan bought 6 pears. How many pears does Joan have?", "N0+N1"),
        ("Joan has 9 more pears that Tom. Tom has 6 pears. How many pears does Joan have?", "N0+N1"),
        ("Joan has 9 five dollars bills. She got one more. How many dollars does Joan have?", "N0*5"),
    ],
)
def test_english_stories_that_do_not_tell_what_is_asked_have_no_topic(text: str, expression: str) -> None:
    assert topic_or_none(text, expression, "en", "A dog saw Joan.") is None


def test_the_pronoun_of_a_question_means_the_first_person() -> None:
    text = "Joan has 9 pears. She gives 6 pears to Anna. How many pears does she have left?"
    seen = topic(text, "N0-N1", "en", "A dog saw Joan and Anna. She ran.", "She saw Anna.", "She saw Joan.")
    assert seen.slots["owner"] == "Joan"


def test_a_pronoun_that_cannot_mean_the_first_person_stays() -> None:
    text = "Joan is ill. Tom has 9 pears. He eats 6 pears. How many pears does he have left?"
    seen = topic(text, "N0-N1", "en", "A dog saw Joan and Tom.", *["She is Joan."] * 3)
    assert seen.slots["owner"] == "he"


@pytest.mark.parametrize(
    ("text", "expression", "trait", "there"),
    [
        ("Joan has 9 pears. She got 6 pears. How many pears does Joan have?", "N0+N1", "unpacked", True),
        ("Joan has 9 boxes of 6 pears. How many pears does Joan have?", "N0*N1", "unpacked", False),
        ("Joan played 9 games. She missed 6 games. How many games did Joan play?", "N0-N1", "whole", False),
        ("Joan led 9 guided tours. She led 6 guided tours. How many tours did Joan lead?", "N0+N1", "whole", False),
    ],
)
def test_what_is_packed_or_past_is_not_packed_or_taken_again(
    text: str, expression: str, trait: str, there: bool
) -> None:
    seen = topic(text, expression, "en", "A dog saw Joan.")
    assert (trait in seen.traits) is there


def test_what_is_left_after_a_loss_is_called_remaining() -> None:
    lost = topic("Joan has 9 pears. She lost 6 pears. How many pears does Joan have?", "N0-N1", "en", "A dog saw Joan.")
    won = topic("Joan has 9 pears. She got 6 pears. How many pears does Joan have?", "N0+N1", "en", "A dog saw Joan.")
    assert (lost.slots["all"], won.slots["all"]) == ("all of the remaining", "all of the")


@pytest.mark.parametrize(
    ("story", "past"),
    [
        ("Joan had 9 pears. She bought 6 pears.", True),
        ("Joan spent 9 days on pears. She picked 6 pears.", True),
        ("Joan baked pears. She baked 9 green pears and 6 red pears.", True),  # "baked" is an adjective to the tagger
        ("There are 9 pears in the bowl. Joan put 6 pears in it.", True),
        ("Joan has 9 pears, she gave Tom 6 of the pears.", True),
        ("Joan starts with 9 pears. She buys 6 pears.", False),
        ("Joan has bought 9 pears. She has already put 6 pears in the bowl.", False),
        ("There are 9 pears. 6 pears are added.", False),
        ("Joan has 9 pears that Tom bought. She gets 6 freshly picked pears.", False),
        ("Joan has 9 red pears and 6 dried pears.", False),
    ],
)
def test_a_story_is_past_where_a_main_verb_is(story: str, past: bool) -> None:
    seen = topic(
        f"{story} How many pears does Joan have?", "N0+N1", "en", "Tom has 3 pears. Joan left. A dog saw Joan."
    )
    assert seen.past is past


def test_capitals_of_things_and_titles_are_kept() -> None:
    text = "Joan has 9 Pokemon cards . She got 6 Pokemon cards . How many Pokemon cards does Joan have ?"
    seen = topic(text, "N0+N1", "en", "A dog saw Joan .")
    assert seen.slots["things"] == "Pokemon cards"
    joined = sequels_of("en").join(seen.story, "Then Mrs. Lee leaves.", read(Problem("p", "en", text)))
    assert joined.endswith("Then Mrs. Lee leaves .")


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("Bob bought 4 kites.", {"give", "price"}),
        ("Bob walked 4 miles and bought a kite.", set()),
        ("There are 4 pencils in each box.", {"pack"}),
        ("Each player has 4 lives.", set()),
        ("Bob gave 4 friends a kite.", set()),
    ],
)
def test_a_use_is_what_is_done_with_the_counted_thing(text: str, uses: set[str]) -> None:
    english = sequels_of("en")
    seen = {
        use
        for _, clause in english.mentions(read(Problem("p", "en", text)), 0)
        for use, pattern in english.uses.items()
        if pattern.search(clause)
    }
    assert seen == uses


def test_a_condition_becomes_a_sentence() -> None:
    seen = topic(
        "Joan has 9 pears. If she eats 6 of them, how many pears does she have left?", "N0-N1", "en", "A dog saw Joan."
    )
    assert seen.story == "Joan has 9 pears. She eats 6 of them."


def test_spaced_signs_and_small_letters_are_kept() -> None:
    donor = read(Problem("p", "en", "joan has 9 pears . how many pears does joan have ?"))
    assert sequels_of("en").join("joan has 9 pears .", "Then she eats one. How many?", donor) == (
        "joan has 9 pears . then she eats one . how many ?"
    )


@pytest.mark.parametrize(
    ("story", "car"),
    [
        ("汽车每小时行65千米，4小时到达", "另一辆汽车"),
        ("甲车从东站开出，每小时行65千米，4小时到达", "另一辆汽车"),
        ("一列火车每小时行65千米，4小时到达", "一辆汽车"),
        ("每小时行65千米，4小时到达火车站", "一辆汽车"),
    ],
)
def test_a_car_is_another_one_where_the_story_has_one(story: str, car: str) -> None:
    seen = topic(f"{story}，两地相距多少千米？", "N0*N1", "zh")
    assert (seen.role, seen.slots["car"]) == ("journey", car)


@pytest.mark.parametrize(
    ("role", "thing", "text"),
    rows("""
        stock | 苹果树 | 果园里有梨树20棵，苹果树比梨树多5棵，果园里有苹果树多少棵？
        stock | 苹果 | 水果店运来15箱苹果，每箱重12千克，一共运来多少千克苹果？
        rate | – | 张叔叔骑车3小时行了45千米，张叔叔平均每小时行多少千米？
        goods | 书 | 买3本书付了45元，每本书多少元？
        cost | – | 一本书15元，一枝笔3元，一共要付多少元？
        rest | – | 一条路长800米，已经修了200米，还剩多少米没有修？
        both | – | 甲乙两车相向而行，甲车每小时行60千米，乙车每小时行50千米，甲车和乙车每小时一共行多少千米？
        set | – | 一件上衣60元，一条裤子50元，买一件上衣和一条裤子一共要多少元？
        people | – | 三年级有4个班，每班45人，一共有多少人？
        cost | – | 一本书15元，一枝笔3元，买5本书和2枝笔，一共要花多少钱？
        original | 台灯 | 一种台灯每个卖30元，这件台灯比原来便宜6元，这个台灯的原价=多少元？
        each | – | 344千克苹果是8棵果树收的，平均每棵果树收苹果多少千克？
        journey | – | 一列火车每小时行95千米，14小时可以到达，北京到广州的铁路全长多少千米？
        size | – | 长方形的长是20厘米，宽是5厘米，面积是多少平方厘米？
        number | – | 一个数的62倍是3596，这个数=？
        result | – | 一个因数是113，另一个因数是2，积=？
        owned | 邮票 | 小红有邮票20张，小明的邮票比小红多5张，小明有邮票多少张？
        group | – | 五年级有135人，六年级的人数比五年级多18人，六年级有多少人？
        whole | 大米 | 一袋大米吃了25千克，正好是这袋大米的一半多5千克，这袋大米重多少千克？
        sum | – | 故事书有430本，科技书比故事书多20本，故事书和科技书一共有多少本？
        pace | – | 服装厂26天生产了9126件衬衣，平均每天生产多少件衬衣？
        deed | – | 小明跳了120下，小亮比小明多跳8下，小亮跳了多少下？
        trip | – | 小红从家到学校每分钟走60米，走了12分钟，全程多少米？
        job | – | 工程队每天修60米，修了12天修完，这条路全长多少米？
        goods-in | 故事书 | 书店运来8包故事书，每包25本，一共运来故事书多少本？
        part-first | – | 粮店有24吨大米，第一天卖出(1/3)，第一天卖出多少吨？
        under-way | – | 甲乙两地相距360千米，汽车行了(3/4)，已经行了多少千米？
        handed-out | – | 五年级有4个班，每班发30本练习本，一共发给这些班多少本？
        all-pupils | – | 全校有12个班，平均每班45人，全校有学生多少人？
        cut-rest | – | 一根绳子长20米，剪去了8米，还剩多少米？
        floor | – | 一间教室长9米，宽6米，它的面积是多少平方米？
        pool | – | 一个游泳池长50米，宽20米，底面积是多少平方米？
    """),
)
def test_chinese_questions_name_their_topic(text: str, role: str, thing: str) -> None:
    seen = topic(text, "N0/N1", "zh")
    assert (seen.role, seen.thing) == (role, thing)


@pytest.mark.parametrize(
    "text",
    [
        "果园里有梨树20棵，苹果树比梨树多5棵，苹果树比梨树多几分之几？",
        "小红有邮票20张，给小明5张后两人同样多，小明有邮票多少张？",
        "三个人跳绳共跳了360下，其中两人跳了240下，小文跳了多少下？",
        "圆柱的体积是75立方厘米，高是15厘米，底面积是多少平方厘米？",
        "去年产橘子20吨，比今年少5吨，今年产橘子多少吨？",
        "7与6的和=？再减去2，差=？",
        "货轮每小时行20千米，5小时到达，甲港到乙港全长多少千米？",  # no car goes back
    ],
)
def test_chinese_questions_for_something_else_have_no_topic(text: str) -> None:
    assert topic_or_none(text, "N0+N1", "zh") is None


@pytest.mark.parametrize(
    ("text", "eaten"),
    [
        ("食堂里有西瓜20个，苹果比西瓜多5个，食堂里有苹果多少个？", True),
        ("饲养员数出天鹅20只，猴子比天鹅多5只，饲养员这里有猴子多少只？", False),
    ],
)
def test_who_is_fed_in_a_kitchen_is_not_eaten_there(text: str, eaten: bool) -> None:
    seen = topic(text, "N0+N1", "zh")
    assert ("kitchen" in seen.traits) is eaten


def test_a_share_that_is_left_is_a_topic_of_its_own() -> None:
    seen = topic("一本故事书，小明看了(3/5)，还剩几分之几没有看？", "1-N0", "zh")
    assert (seen.role, seen.story, seen.slots["opening"], seen.slots["undone"]) == (
        "left", "(3/5)", "一本故事书", "没有看",
    )  # fmt: skip


def test_a_share_names_the_unit_of_its_whole() -> None:
    seen = {text: topic_or_none(text, "1-N0", "zh") for *_, text in SHARES}
    assert [(one.role, one.whole_unit, text) for text, one in seen.items() if one] == [tuple(row) for row in SHARES]


@pytest.mark.parametrize(
    "text",
    [
        "一项工作，已经完成了(3/5)，还剩几分之几？",  # no unit in which work is counted
        "鸭的只数比鸡少(1/5)，鹅的只数是鸡的几分之几？",  # the question is about another
    ],
)
def test_a_share_of_nothing_that_is_counted_has_no_topic(text: str) -> None:
    assert topic_or_none(text, "1-N0", "zh") is None


def test_the_number_of_a_sequel_may_come_before_the_story() -> None:
    assert number_comes_first("{opening}有{n}{hu}，{story}，还剩多少{hu}？")
    assert not number_comes_first("{opening}，{story}，还剩{n}{hu}？")
    assert not number_comes_first("Then {owner} gets {n} more.")


def test_what_was_bought_is_not_all_that_there_is() -> None:
    def whole(expression: str) -> bool:
        return is_whole(read(Problem("p", "en", "He had 3. Now he has 9. How many?", parse(expression))))

    assert whole("N0+N1")
    assert whole("N0-N1")
    assert not whole("N1-N0")


def test_slots_and_numbers_of_the_subject_are_filled() -> None:
    slots = {"owner": "they", "n": "3"}
    assert fill_in("Then {owner} [gives|give] {n}.", slots, plural=True) == "Then they give 3."
    assert fill_in("Then {owner} [gives|give] {n} to {other}.", slots, plural=False) is None


def test_a_step_takes_the_donors_expression_and_the_number() -> None:
    sequel = read_sequel({"name": "s", "roles": "has", "step": "X*(1-n)", "texts": ["{n}"], "clue": "@"})
    assert to_infix(sequel.compose(parse("N0+N1"), parse("N2"))) == "(N0+N1)*(1-N2)"


def test_a_form_of_question_gives_the_words_of_both_its_patterns() -> None:
    form = read_form(
        {"role": "size", "asks": "(?P<kind>面积)多少米", "story": "(?P<shape>圆)", "unless": "半", "units": "米"}
    )
    assert form.slots("面积多少米", "米", "一个圆") == {"kind": "面积", "shape": "圆"}
    assert form.slots("面积多少米", "米", "一个半圆") is None
    assert form.slots("面积多少米", "里", "一个圆") is None
    assert form.slots("的面积多少米", "米", "一个圆") is None


def test_a_damaged_form_of_question_is_named() -> None:
    with pytest.raises(ComdivError, match="question form 'odd'"):
        read_form({"role": "odd", "asks": "("})


def test_grades_are_compared_with_grades_and_people_with_people() -> None:
    chinese = sequels_of("zh")
    grade = topic("五年级有135人，六年级的人数比五年级多18人，六年级有多少人？", "N0+N1", "zh")
    person = topic("小红有邮票20张，小明的邮票比小红多5张，小明有邮票多少张？", "N0+N1", "zh")
    names = ["五年级", "四年级", "小红", "小丽", "合唱队"]
    assert chinese.companions(grade, names) == ["四年级"]
    assert chinese.companions(person, names) == ["小丽"]


def test_the_spellings_of_one_thing_are_not_compared() -> None:
    chinese = sequels_of("zh")
    seen = topic(
        "水果店有梨20箱，桔子比梨多5箱，桔子有多少箱？",
        "N0+N1",
        "zh",
        "桔子的箱数是橘子的3倍。",
        "梨的箱数是橘子的3倍。",
        "梨的箱数是橘子的2倍。",
    )
    assert "橘子" not in chinese.companions(seen, [])


def test_what_ends_alike_is_of_one_kind() -> None:
    assert list(sequels_of("zh").kinds("电视机")) == ["电视机", "机"]
    assert list(sequels_of("zh").kinds("绳子")) == ["绳子", "绳"]
    assert list(sequels_of("en").kinds("box")) == ["box"]


@pytest.mark.parametrize(
    ("story", "needs", "holds"),
    [
        ("甲、乙两车同时从两个车站相向而行，甲车每小时行60千米，乙车每小时行50千米", "meets", True),
        ("甲、乙两车从两个车站相向而行，甲车每小时行60千米，乙车每小时行50千米", "meets", False),
    ],
)
def test_only_those_who_set_out_together_meet(story: str, needs: str, holds: bool) -> None:
    seen = topic(f"{story}，甲车和乙车每小时一共行多少千米？", "N0+N1", "zh")
    assert (needs in seen.traits) is holds
    assert seen.slots["both"] == "两个车站"


def test_what_has_been_cut_is_called_by_what_it_was() -> None:
    cut = topic("一根绳子，剪去20米，还剩15米，这根绳子长多少米？", "N0+N1", "zh")
    read_book = topic("小明看一本故事书，已经看了20页，还有15页没看，这本故事书有多少页？", "N0+N1", "zh")
    assert (cut.slots["it"], read_book.slots["it"]) == ("这根绳子原来", "这本故事书")


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("树林里去年植树300棵，成活了95%，还剩多少棵没有成活？", "N0*(1-N1)"),  # nobody does it
        ("水果店有梨20箱，第一天卖了5箱，水果店有梨多少箱？", "N0-N1"),  # "has", not "has left"
        ("一列火车前3小时行240千米，后2小时行180千米，平均每小时行多少千米？", "(N1+N3)/(N0+N2)"),  # which speed?
    ],
)
def test_a_rest_and_a_rate_must_be_clear(text: str, expression: str) -> None:
    seen = topic_or_none(text, expression, "zh")
    assert seen is None or seen.role not in ("rest", "rate")


def test_a_new_person_is_introduced_and_compared_with_what_is_there_now() -> None:
    english = sequels_of("en")
    given = topic("Joan has 9 pears. She gives Tim 6 pears. How many pears does Joan have?", "N0-N1", "en")
    owned = topic("Joan has 9 boxes. Each box holds 6 pears. How many pears does Joan have?", "N0*N1", "en")
    assert english.introduce("Ann", given) == "Joan's friend Ann"
    assert (given.slots["has"], owned.slots["has"]) == ("now has", "has")


def test_a_damaged_sequel_is_named() -> None:
    with pytest.raises(ComdivError, match="sequel 'odd'"):
        read_sequel({"name": "odd", "roles": "has", "step": "X+n", "texts": ["{n}"], "clue": "("})


@pytest.mark.parametrize("code", ["en", "zh"])
def test_every_sequel_can_be_told(code: str) -> None:
    """Each wording has its number once and ends with a question; each slot is one that topics, clues or words fill."""
    english = "owner whom other friend has things thing verb past all"
    chinese = (
        "t u a v per subject hu opening undone story at ut ht has more b car whole asked group half q first other_one "
        "other_first a_thing thing_there second second_there did of told it row y both"
    )
    forms = sequels_of(code).forms
    groups = {group for form in forms for pattern in (form.asks, form.story) for group in pattern.groupindex}
    known = {"n", *english.split(), *chinese.split()} | groups
    for sequel in sequels_of(code).sequels:
        for text in sequel.texts:
            assert text.count("{n}") == 1, sequel.name
            assert text.endswith(("?", "？")), sequel.name
            assert set(re.findall(r"\{(\w+)\}", text)) <= known | set(sequel.words) | _groups(sequel), sequel.name


def _groups(sequel: Sequel) -> set[str]:
    return set(sequel.clue.groupindex)


def test_a_language_without_sequels_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(get_language("en")), "sequels", None)
    with pytest.raises(ComdivError, match="use --preset structure, or --compose paste"):
        sequels_of("en")


def test_half_a_sentence_becomes_a_whole_one() -> None:
    seen = topic("Joan has 9 pears. If she buys 6 pears. How many pears does Joan have?", "N0+N1", "en", "Joan slept.")
    assert seen.story == "Joan has 9 pears. She buys 6 pears."


def test_what_was_there_before_the_rest_was_left_is_not_given_away() -> None:
    text = "Joan has 9 pears left. She lost 6 pears. How many pears does Joan have?"
    before, now = topic(text, "N0+N1", "en", "Joan slept."), topic(text, "N0-N1", "en", "Joan slept.")
    assert "whole" not in before.traits
    assert "whole" in now.traits


@pytest.mark.parametrize(
    ("text", "role", "story"),
    [
        ("一台电脑现在比原价降低15%，现价是原价的百分之几？", "price-now", "15%"),
        ("有一款手机，现价比原价降价60%，现价是原价的百分之几？", "price-now", "60%"),
        ("一台电脑现在按原价的95%出售，现价比原价便宜百分之几？", "price-cut", "95%"),
    ],
)
def test_a_changed_price_is_a_topic_of_its_own(text: str, role: str, story: str) -> None:
    seen = topic(text, "1-N0", "zh")
    assert (seen.role, seen.story) == (role, story)


def test_a_clause_that_belongs_to_the_question_is_not_told() -> None:
    assert topic_or_none("王老师卖出9个苹果，每个收6元，去掉成本，这些苹果一共卖了多少元？", "N0*N1", "zh") is None


def test_things_that_are_compared_with_a_third_are_of_one_kind() -> None:
    texts = ["鸡有9只，鸡是鸭的3倍，鸭有多少只？", "鸡有8只，鸡是鸭的2倍，鸭有多少只？"]
    texts += [text.replace("鸡", "鹅") for text in texts]
    seen = topic(texts[0], "N0/N1", "zh", *texts[1:])
    assert sequels_of("zh").companions(seen, []) == []
    problems = [Problem(str(number), "zh", text) for number, text in enumerate(texts)]
    assert ChineseSequels()._learn_siblings(read_all(problems)) == {
        "鸡": ["鸭", "鹅"], "鸭": ["鸡", "鹅"], "鹅": ["鸡", "鸭"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("小明和王师傅在学校。", {"小明": "given_name", "王师傅": "craftsman"}),
        ("光明小学五年级有9人。", {"光明小学": "school", "五年级": "grade"}),
        ("一所小学有9人，妈妈有6人。", {}),
    ],
)
def test_chinese_people_grades_and_schools_have_kinds(text: str, people: dict[str, str]) -> None:
    assert sequels_of("zh").cast(read_all([Problem("p", "zh", text)])) == [people]


@pytest.mark.parametrize("word", ["杨树", "大米", "零件"])
def test_goods_that_the_tagger_does_not_know_are_things(word: str) -> None:
    seen = topic(f"仓库里有{word}9箱，运来{word}6箱，一共有{word}多少箱？", "N0+N1", "zh")
    assert seen.thing == word

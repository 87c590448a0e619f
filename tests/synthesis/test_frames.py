"""The files of frames: what they may say, and what a frame recognises."""

from pathlib import Path

import pytest
import yaml

from comdiv.errors import ComdivError
from comdiv.language import Language, get_language
from comdiv.language.en import English
from comdiv.synthesis.frames import FrameTable, fill, frame_table, match_frames
from comdiv.synthesis.products import Family, make_family
from synthesis.handmade import RULES, problem, seed_of, table

BOXES = {
    "name": "boxes",
    "rules": [9],
    "seed": r"(?P<who>@NAME@) has ① boxes\|Each box has ② (?P<t>[a-z]+)\|(?P<s3>[^|]*③[^|]*)\|(?P<q>[^|]+)",
    "a": "{who} has ① boxes. Each box has ② {t}. How many {t} are there?",
    "b": "{who} has ⓧ {t}. {s3}. {q}?",
}


def load(tmp_path: Path, **changes: object) -> FrameTable:
    """A table from a language folder of one's own."""
    record = {"spaces": " ", "classes": {"NAME": "[A-Z][a-z]+"}, "frames": [{**BOXES, **changes}]}
    (tmp_path / "frames.yaml").write_text(yaml.safe_dump(record, allow_unicode=True), encoding="utf-8")

    class Mine(English):
        def _file(self, name: str) -> str:
            return (tmp_path / name).read_text(encoding="utf-8") if name == "frames.yaml" else super()._file(name)

    return frame_table(Mine())


@pytest.mark.parametrize("code", ["en", "zh"])
def test_the_shipped_frames_load_and_cover_every_rule(code: str) -> None:
    rules = {rule for frame in table(code).frames for rule in frame.rules}
    assert rules == set(RULES)
    assert len({frame.name for frame in table(code).frames}) == len(table(code).frames)


@pytest.mark.parametrize("code", ["en", "zh"])
def test_every_frame_writes_the_numbers_that_its_rules_need(code: str) -> None:
    for frame in table(code).frames:
        for rule in (RULES[name] for name in frame.rules):
            assert len(frame.products) == len(rule.products), frame.name


def test_a_language_without_frames_makes_nothing() -> None:
    class Silent(English):
        def data(self, name: str) -> dict[str, object]:
            return {}

    assert frame_table(Silent()).frames == ()


def test_a_frame_that_nobody_has_read_is_used_only_where_it_is_asked_for() -> None:
    text = "科技园上午接待游客753人，比下午多169人，科技园下午接待游客多少人？"
    seed = seed_of(RULES["11"], problem("p", text, "N0-N1"))
    assert isinstance(make_family(seed, table("zh")), str)
    family = make_family(seed, table("zh"), unread=True)
    assert isinstance(family, Family)
    told = "如果不是比下午多，而是比下午少同样多，科技园下午接待游客多少人？"
    assert family.product.tale.text == text.replace("科技园下午接待游客多少人？", told)
    assert family.product.tale.value == 922


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"a": "{nobody} has ① boxes."}, "frame boxes: there is no slot {nobody}"),
        ({"a": "① and ① boxes"}, "a mark stands once"),
        ({"seed": "(①"}, "missing \\)"),
        ({"seed": "@NOBODY@ ①"}, "NOBODY"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_frame_is_named_in_one_line(changes: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=said) as error:
        load(tmp_path, **changes)
    assert "frames.yaml" in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_frame_takes_only_what_it_recognises(tmp_path: Path) -> None:
    mine = load(tmp_path, unless="stamps")
    story = "Ann has 3 boxes. Each box has 4 {}. She loses 2 of them. How many {} has she?"
    eggs, stamps, cups = (
        seed_of(RULES["9"], problem("p", text, "N0*N1-N2", "en"))
        for text in (story.format("eggs", "eggs"), story.format("stamps", "stamps"), story.format("cups", "cups")[3:])
    )
    (match,) = match_frames(eggs, mine)
    assert match.slots == {"who": "Ann", "t": "eggs", "s3": "She loses ③ of them", "q": "How many eggs has she"}
    assert fill(match.frame.b, match.slots, mine) == "Ann has ⓧ eggs. She loses ③ of them. How many eggs has she?"
    assert list(match_frames(stamps, mine)) == []  # by `unless`
    assert list(match_frames(cups, mine)) == []  # nobody is named


def test_what_must_never_be_a_seed_is_passed_over() -> None:
    odd = seed_of(RULES["1"], problem("p", "一堆煤重100吨，用去40%%，还剩多少吨？", "N0*(1-N1)"))
    assert list(match_frames(odd, table())) == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("甲数是30，比乙数多6，乙数是多少？", "如果丙数又比甲数多同样多，丙数是多少？"),
        ("果园有桃树30棵，比梨树多6棵，梨树有多少棵？", "如果苹果树又比桃树多同样多，苹果树有多少棵？"),
    ],
)
def test_one_more_thing_of_the_kind_is_new_in_the_story(text: str, asked: str) -> None:
    seed = seed_of(RULES["11"], problem("p", text, "N0-N1"))
    match = next(match_frames(seed, table()))
    assert fill(match.frame.a, {**match.slots, "forms": "integer integer", "size": "more"}, table()).endswith(asked)


def test_derived_slots_follow_from_others_and_mends_have_the_last_word() -> None:
    slots = {"forms": "integer percent", "u": "棵", "u2": ""}
    assert fill("{share} {much} {count}", slots, table()) == "百分之几 多少棵 的棵数"
    assert fill("答=多少米？？", {}, table()) == "答是多少米？"


def test_frames_are_read_once_for_a_language() -> None:
    def again(language: Language) -> FrameTable:
        return frame_table(language)

    assert again(get_language("zh")) is again(get_language("zh"))

"""Chinese read character by character: a setting that came later, and that runs made before it do not have."""

from pathlib import Path

import yaml

from comdiv.problem import Problem
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.reading import UNKNOWN_INDEX, input_words
from comdiv.solvers.settings import settings_for
from solvers.tiny import EIGHT, problem, trained_solver

CHINESE = (
    problem("sum", "苹果有3千克，梨子有5千克，一共有多少千克？", "N0+N1", "zh"),
    problem("difference", "果园有9棵树，砍去4棵，还剩多少棵？", "N0-N1", "zh"),
    problem("product", "每箱有6个瓶子，7箱有多少个瓶子？", "N0*N1", "zh"),
)


def test_a_chinese_word_is_as_many_as_it_has_characters() -> None:
    words, positions = input_words(problem("a", "苹果有3千克。", "N0", "zh"), "masked", characters=True)
    assert words == ["苹", "果", "有", "NUM", "千", "克", "。"]
    assert positions == [3]
    assert input_words(problem("a", "苹果有3千克。", "N0", "zh"), "masked")[0] == ["苹果", "有", "NUM", "千克", "。"]


def test_what_has_no_chinese_characters_stays_whole() -> None:
    mixed = Problem("a", "zh", "AB两地相距km")
    assert "".join(input_words(mixed, "masked", characters=True)[0]) == "ab两地相距km"
    assert {"ab", "km"} <= set(input_words(mixed, "masked", characters=True)[0])
    assert input_words(EIGHT[0], "masked", characters=True) == input_words(EIGHT[0], "masked")


def test_a_new_word_of_known_characters_is_read() -> None:
    new = Problem("new", "zh", "果树")  # neither a word of the training, both characters are
    for characters, unknown in ((False, True), (True, False)):
        reader = trained_solver("gts", CHINESE, characters=characters).reader
        assert reader is not None
        assert (UNKNOWN_INDEX in reader.read(new, "masked")[0]) == unknown


def test_a_solver_that_reads_characters_keeps_doing_so(tmp_path: Path) -> None:
    solver = trained_solver("gts", CHINESE, characters=True, epochs=3)
    solver.save(tmp_path)
    loaded = NeuralSolver.load(tmp_path)
    assert loaded.settings.characters
    assert loaded.solve(CHINESE, beam=3) == solver.solve(CHINESE, beam=3)
    expression = CHINESE[0].expression
    assert expression is not None
    found = loaded.attention(CHINESE[0], expression)
    assert found is not None
    assert "".join(found.words) == "苹果有N0千克，梨子有N1千克，一共有多少千克？"
    assert {len(row) for row in found.weights} == {len(found.words)}


def test_runs_from_before_the_setting_are_what_they_were(tmp_path: Path) -> None:
    assert "characters" not in settings_for("gts").model_dump()
    assert settings_for("gts", changes={"characters": True}).model_dump()["characters"] is True
    solver = trained_solver("gts", CHINESE)
    solver.save(tmp_path)
    assert "characters" not in yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))["settings"]
    assert NeuralSolver.load(tmp_path).solve(CHINESE) == solver.solve(CHINESE)

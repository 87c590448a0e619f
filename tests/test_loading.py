"""Damaged, huge and hostile files: one line that names the file, and never a traceback."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from comdiv import loading
from comdiv.dataset import read_facts
from comdiv.errors import ComdivError
from comdiv.loading import (
    DEEPEST,
    load_json,
    load_mapping,
    load_model,
    load_object,
    load_yaml,
    parse_json,
    read_json_lines,
)
from comdiv.solvers.runs import read_config

# Nine levels of nine aliases each: half a kilobyte that stands for 400 million values.
LAUGHS = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join(9 * [f'*{before}'])}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


class Shape(BaseModel):
    """A model of the tests' own."""

    files: dict[str, int]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"score": ' + "9" * 400 + "}", "a number of 300 digits or more"),
        ("{", "Expecting"),
    ],
)
def test_json_that_cannot_be_used_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


def test_depth_and_breadth_are_not_confused() -> None:
    assert parse_json(json.dumps([[n] for n in range(10 * DEEPEST)]))[-1] == [10 * DEEPEST - 1]
    deep: object = 1
    for _ in range(DEEPEST):
        deep = [deep]
    assert parse_json(json.dumps(deep)) == deep
    with pytest.raises(ValueError, match="nested"):
        parse_json(json.dumps([deep]))


def test_a_file_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text("[1]")
    with pytest.raises(ComdivError, match=r"facts\.json: not a JSON object"):
        load_object(path)
    with pytest.raises(ComdivError, match=r"facts\.json: Input should be a valid dictionary"):
        load_model(path, Shape)
    path.write_text('{"files": {"a": "x"}}')
    with pytest.raises(ComdivError, match=r"facts\.json: files\.a: Input should be a valid integer"):
        load_model(path, Shape)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ComdivError, match=r"facts\.json: not UTF-8"):
        load_json(path)
    with pytest.raises(ComdivError, match="No such file"):
        load_json(tmp_path / "none.json")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LARGEST_YAML", 10)
    (tmp_path / "plan.yaml").write_text("name: far too much")
    with pytest.raises(ComdivError, match="18 bytes; at most 10 are read"):
        load_yaml(tmp_path / "plan.yaml")


@pytest.mark.parametrize("text", ["a: [", "[" * 500 + "]" * 500, "a: !!python/object/apply:os.system [x]", "\x00"])
def test_yaml_that_cannot_be_used_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ComdivError, match=r"config\.yaml") as caught:
        load_yaml(tmp_path / "config.yaml")
    assert "\n" not in str(caught.value)


def test_a_line_without_end_is_told_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "LARGEST_LINE", 20)
    path = tmp_path / "mine.jsonl"
    path.write_text('{"a": 1}\n"' + "x" * 1000 + '"\n\n{"b": 2}\n')
    told: list[tuple[int, str]] = []
    assert list(read_json_lines(path, lambda number, reason: told.append((number, reason)))) == [
        (1, {"a": 1}), (4, {"b": 2}),
    ]  # fmt: skip
    assert told == [(2, "not valid JSON: a line of more than 20 characters")]


@pytest.mark.parametrize("facts", ['{"files": null}', '{"files": {"train.jsonl": []}}', '{"settings": [1]}', "null"])
def test_a_damaged_dataset_json_is_one_line(tmp_path: Path, facts: str) -> None:
    (tmp_path / "dataset.json").write_text(facts)
    with pytest.raises(ComdivError, match=r"dataset\.json"):
        read_facts(tmp_path)


@pytest.mark.parametrize("config", ["data: [1]", "settings: x", "solver: [gts]", "data: {sha256: 3}", "- 1"])
def test_a_damaged_configuration_is_one_line(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.yaml").write_text(config)
    with pytest.raises(ComdivError, match="is not a run of a solver: config"):
        read_config(tmp_path)


@pytest.mark.parametrize("number", ["1e999999999", "-1e400", "1E+999", "1" + "0" * 300])
def test_a_number_that_no_float_holds_is_no_number(number: str) -> None:
    with pytest.raises(ValueError, match=r"too large|digits or more"):
        parse_json(f'{{"score": {number}}}')
    assert parse_json('{"sha256": "3e12345", "score": 1e300}') == {"sha256": "3e12345", "score": 1e300}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS, "values"),
        ("a: &a [*a]", "values"),
        ("[" * 100_000, "nested too deeply"),
        ("a: 1" + "0" * 400, "digits or more"),
        ("a: 1" + ":00" * 5000, "digits or more"),
        ("a: 1\nb: {c: 2, c: 3}", "the key 'c' occurs twice"),
        ('a: "\\ud800"', ""),
    ],
)  # fmt: skip
def test_yaml_that_would_take_for_ever_or_mean_two_things_is_refused_at_once(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(ComdivError, match=f"plan.yaml: not a plan: .*{why}"):
        load_mapping(tmp_path / "plan.yaml", "a plan")


def test_anchors_and_twenty_thousand_keys_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("base: &base {x: 1}\nmore: {<<: *base, y: 2}\n" + "".join(f"key{n}: {n}\n" for n in range(20_000)))
    assert load_mapping(path, "a plan")["more"] == {"x": 1, "y": 2}
    path.write_text("- 1")
    with pytest.raises(ComdivError, match="not a plan: a mapping of names to values is expected"):
        load_mapping(path, "a plan")

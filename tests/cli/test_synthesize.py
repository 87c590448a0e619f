"""`comdiv synthesize` from end to end on a small corpus."""

import json
from pathlib import Path

import pytest
from typer.testing import Result

import command_line
from comdiv.dataset import read_dataset
from comdiv.problem import write_problems
from comdiv.synthesis import release
from comdiv.synthesis.release import Release
from synthesis.handmade import PRODUCTS, corpus, problem, verdict, write_lines


def run(*arguments: str | Path) -> Result:
    return command_line.run("synthesize", *arguments)


def refused(*arguments: str | Path) -> str:
    return command_line.refused("synthesize", *arguments)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "handmade.jsonl"
    write_problems(path, corpus())
    return path


def test_the_verb_writes_a_dataset_and_says_what_became_of_the_rules(source: Path, tmp_path: Path) -> None:
    result = run(source, "--out", tmp_path / "sd", "--size", "12/10")
    dataset = read_dataset(tmp_path / "sd")
    assert (len(dataset.training_side), len(dataset.test)) == (12, 10)
    assert "9 structural, 1 lexical" in result.stdout
    assert "the paper's SD: 0.82" in result.stdout


def test_json_is_the_datasets_facts(source: Path, tmp_path: Path) -> None:
    facts = json.loads(run(source, "--out", tmp_path / "sd", "--json").stdout)
    assert facts == json.loads((tmp_path / "sd" / "dataset.json").read_text(encoding="utf-8"))


def test_a_dataset_that_is_there_is_told_apart_by_setting_or_corpus(source: Path, tmp_path: Path) -> None:
    command = ("--out", tmp_path / "sd")
    run(source, *command)
    assert "exists already, but settings.seed is 0, not 3;" in refused(source, *command, "--seed", "3")
    other = tmp_path / "other.jsonl"
    write_problems(other, corpus()[:-1])
    assert "exists already, but source.corpus is handmade, not other;" in refused(other, *command)
    assert "made from the same corpus in the same way; choose another name, or use --force" in refused(source, *command)


def test_a_published_set_that_is_there_is_made_in_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own settings are the recorded ones, not the options' defaults."""
    records = [verdict(name, reader) for name in PRODUCTS for reader in "ab"]
    path = write_lines(tmp_path / "verdicts.jsonl", *records)
    small = Release(
        name="small", title="By hand", version="1.0", corpus="handmade", language="zh", verdicts=str(path), read=True,
        settings={"size": "12/10"},
    )  # fmt: skip
    monkeypatch.setattr(release, "releases", lambda: {"small": small})
    source = tmp_path / "handmade.jsonl"
    write_problems(source, corpus())
    command = (source, "--out", tmp_path / "sd", "--release")
    run(*command, "small")
    assert "made from the same corpus in the same way; choose another name, or use --force" in refused(
        *command, "small"
    )
    assert "settings.seed is 0, not 3" in refused(*command, "small", "--seed", "3")
    assert "unknown published set 'smal'" in refused("no-such-corpus", "--out", tmp_path / "other", "--release", "smal")


def test_an_existing_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "sd").mkdir()
    (tmp_path / "sd" / "mine.txt").write_text("keep", encoding="utf-8")
    assert "--force" in refused("no-such-corpus", "--out", tmp_path / "sd")


def test_a_wrong_rule_table_is_refused_before_the_corpus_is_read(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules: 3", encoding="utf-8")
    assert "rules" in refused("no-such-corpus", "--out", tmp_path / "sd", "--rules", tmp_path / "rules.yaml")


def test_nothing_applies_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "toys.jsonl"
    write_problems(path, [problem("a", "小明有3个苹果，吃了1个，又买来2个，还有几个？", "N0-N1+N2")])
    assert "no rule gives a product" in refused(path, "--out", tmp_path / "sd")
    assert not (tmp_path / "sd").exists()


def test_nothing_applies_ends_with_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from comdiv.cli import main

    path = tmp_path / "toys.jsonl"
    write_problems(path, [problem("a", "小明有3个苹果，吃了1个，又买来2个，还有几个？", "N0-N1+N2")])
    monkeypatch.setattr("sys.argv", ["comdiv", "synthesize", str(path), "--out", str(tmp_path / "sd")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1

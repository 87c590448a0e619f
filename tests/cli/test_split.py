"""`comdiv split` from end to end on small demo corpora."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comdiv.corpora import read_corpus
from comdiv.corpora.demo import generate
from comdiv.dataset import PARTS, read_dataset
from comdiv.expression import parse, to_infix
from comdiv.problem import Problem, write_problems
from comdiv.reading import read
from command_line import refused, run

REPORTED = {
    "compound_divergence", "atom_divergence", "length_ratio", "expression_length_ratio", "iid_compound_divergence",
    "unseen_template_share", "unseen_compound_share", "twins",
}  # fmt: skip
FILES = {
    "train.jsonl", "validation.jsonl", "test.jsonl", "dataset.json", "README.md",
    "frequencies-atoms.svg", "frequencies-atoms.png", "frequencies-compounds.svg", "frequencies-compounds.png",
}  # fmt: skip
QUICK = ("--k", "4", "--atom-bound", "0.05", "--steps-per-item", "60")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def modified(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "toys.jsonl"
    write_problems(path, generate("en", 200))
    return path


def write_toys(path: Path, texts: list[str], expression: str | None = "N0+N1") -> Path:
    tree = None if expression is None else parse(expression)
    write_problems(path, (Problem(str(n), "en", text, tree) for n, text in enumerate(texts)))
    return path


def test_problems_that_contradict_their_answer_are_left_out_unless_kept(tmp_path: Path) -> None:
    problems = list(generate("en", 60))
    wrong = [replace(problem, answer=problem.answer + 7) for problem in problems[:3] if problem.answer is not None]
    blank = [replace(problem, answer=None) for problem in problems[3:6]]
    write_problems(tmp_path / "toys.jsonl", [*wrong, *blank, *problems[6:]])
    result = run("split", tmp_path / "toys.jsonl", "--method", "iid", "--out", tmp_path / "out")
    assert "3 of 60 problems left out: their expression contradicts their answer" in result.stderr
    dataset = read_dataset(tmp_path / "out")
    ids = {problem.id for part in PARTS for problem in getattr(dataset, part)}
    assert ids == {problem.id for problem in problems[3:]}
    assert dataset.facts["source"]["contradicting_left_out"] == 3
    kept = ("--contradictions", "keep", "--method", "iid", "--out", tmp_path / "all")
    run("split", tmp_path / "toys.jsonl", *kept)
    assert sum(len(getattr(read_dataset(tmp_path / "all"), part)) for part in PARTS) == 60


def test_a_split_is_a_dataset_folder_with_report_card_and_figures(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "toys-comdiv"
    result = run("split", corpus, *QUICK, "--out", out)
    assert {path.name for path in out.iterdir()} == FILES
    dataset = read_dataset(out)
    assert [len(dataset.train), len(dataset.validation), len(dataset.test)] == [128, 32, 40]
    facts = dataset.facts
    assert facts.keys() >= REPORTED
    for name in ("compound_divergence", "atom_divergence"):
        assert facts[name].keys() == {"paper", "keysers2020"}
    assert facts["atom_divergence"]["paper"] <= 0.05
    assert facts["compound_divergence"]["paper"] > facts["iid_compound_divergence"]
    assert facts["twins"] == 0
    assert facts["source"]["corpus"] == "toys"
    assert facts["source"]["version"].startswith("sha256:")
    assert "compound divergence, held-out clusterings (paper)" in result.stdout
    assert f"{facts['compound_divergence_other_clusterings']:.3f}" in result.stdout
    assert (
        f"| length ratio of the texts, train / test | {facts['length_ratio']:.3f} |" in (out / "README.md").read_text()
    )


def test_measuring_the_folder_gives_the_same_figures(corpus: Path, tmp_path: Path) -> None:
    facts = json.loads(run("split", corpus, *QUICK, "--out", tmp_path / "a", "--json").stdout)
    found = json.loads(run("measure", tmp_path / "a", "--json").stdout)
    assert found.keys() >= REPORTED
    assert found == {name: facts[name] for name in found}


def test_json_alone_is_on_standard_output_and_equals_the_facts(corpus: Path, tmp_path: Path) -> None:
    printed = json.loads(run("split", corpus, *QUICK, "--method", "iid", "--out", tmp_path / "a", "--json").stdout)
    assert printed == json.loads((tmp_path / "a" / "dataset.json").read_text())
    assert printed.keys() >= REPORTED


@pytest.mark.parametrize("method", ["dbca", "iid", "length", "template"])
def test_every_method_splits_a_chinese_corpus_without_twins_across(method: str, tmp_path: Path) -> None:
    corpus = tmp_path / "zh.jsonl"
    write_problems(corpus, generate("zh", 120))
    out = tmp_path / method
    run("split", corpus, *QUICK, "--method", method, "--test-size", "30", "--out", out)
    dataset = read_dataset(out)
    assert not {read(p).mask for p in dataset.test} & {read(p).mask for p in dataset.training_side}
    assert dataset.facts["test_size"] == len(dataset.test) == 30
    if method == "length":
        assert dataset.facts["length_ratio"] < 0.9
    if method == "template":
        assert dataset.facts["unseen_template_share"] == 1.0


def test_the_same_command_again_says_so_and_changes_no_byte(corpus: Path, tmp_path: Path) -> None:
    command = ("split", corpus, *QUICK, "--out", tmp_path / "a", "--with-iid")
    run(*command)
    before, times = contents(tmp_path), modified(tmp_path)
    result = run(*command)
    assert f"{tmp_path / 'a'}: is there already" in result.stderr
    assert f"{tmp_path / 'a' / 'iid'}: is there already" in result.stderr
    assert (contents(tmp_path), modified(tmp_path)) == (before, times)
    again = json.loads(run(*command, "--json").stdout)
    assert again[str(tmp_path / "a")] == json.loads(before["a/dataset.json"])


def test_the_same_command_elsewhere_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run("split", corpus, *QUICK, "--seed", "3", "--out", tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_other_settings_in_the_same_folder_are_refused_without_force(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "a"
    run("split", corpus, *QUICK, "--method", "iid", "--out", out)
    (out / "review.jsonl").write_text("human work\n")
    before = contents(out)
    message = refused("split", corpus, *QUICK, "--method", "iid", "--seed", "1", "--out", out)
    assert "exists already, but settings.seed is 0, not 1; choose another name, or use --force" in message
    assert contents(out) == before
    run("split", corpus, *QUICK, "--method", "iid", "--seed", "1", "--out", out, "--force")
    assert json.loads((out / "dataset.json").read_text())["settings"]["seed"] == 1
    assert (out / "review.jsonl").read_text() == "human work\n"


def test_another_corpus_in_the_same_folder_is_refused(corpus: Path, tmp_path: Path) -> None:
    copy = tmp_path / corpus.name
    copy.write_text(corpus.read_text().replace("demo-en-000001", "renamed"))
    run("split", corpus, *QUICK, "--method", "iid", "--out", tmp_path / "a")
    message = refused("split", copy, *QUICK, "--method", "iid", "--out", tmp_path / "a")
    assert re.search(r"exists already, but source\.\w+ is \S+, not \S+;", message)


def test_a_control_has_the_sizes_of_its_split(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "a"
    command = ("split", corpus, *QUICK, "--method", "template", "--test-size", "7", "--out", out, "--with-iid")
    printed = json.loads(run(*command, "--json").stdout)
    assert list(printed) == [str(out), str(out / "iid")]
    split, control = (read_dataset(folder) for folder in (out, out / "iid"))
    assert control.facts["settings"]["method"] == "iid"
    for part in PARTS:
        assert len(getattr(split, part)) == len(getattr(control, part))


def test_a_control_follows_a_split_that_is_smaller_than_wanted(tmp_path: Path) -> None:
    """One template has four problems, the other six: of five, template takes four, and so does its control."""
    corpus = tmp_path / "toys.jsonl"
    write_problems(
        corpus,
        (Problem(str(n), "en", f"{n} {'x' * (n + 1)} or {n}", parse("N0*N1" if n < 4 else "N0+N1")) for n in range(10)),
    )
    command = ("split", corpus, "--method", "template", "--k", "2", "--test-size", "5", "--with-iid")
    result = run(*command, "--out", tmp_path / "a")
    assert "The test side has 4 problems instead of 5: templates and twins stay together." in result.stderr
    assert len(read_dataset(tmp_path / "a").test) == len(read_dataset(tmp_path / "a" / "iid").test) == 4


def test_several_splits_have_numbered_folders_and_seeds_one_after_the_other(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "many"
    run("split", corpus, *QUICK, "--seed", "5", "--splits", "3", "--with-iid", "--out", out)
    assert {path.name for path in out.iterdir()} == {f"{kind}-{n}" for kind in ("split", "iid") for n in (1, 2, 3)}
    for number in (1, 2, 3):
        facts = {kind: read_dataset(out / f"{kind}-{number}").facts for kind in ("split", "iid")}
        assert facts["split"]["settings"]["seed"] == facts["iid"]["settings"]["seed"] == 4 + number
        assert facts["split"]["settings"]["method"] == "dbca"
    tests = {(out / f"split-{number}" / "test.jsonl").read_bytes() for number in (1, 2, 3)}
    assert len(tests) == 3


def test_several_targets_make_a_curve_with_one_control(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "curve"
    targets = {"0.69": "target-0.69", "0.7": "target-0.70", "0.705": "target-0.705"}
    result = run("split", corpus, *QUICK, "--target", ",".join(targets), "--with-iid", "--out", out)
    assert {path.name for path in out.iterdir()} == {*targets.values(), "iid"}
    for target, name in targets.items():
        facts = read_dataset(out / name).facts
        assert facts["compound_divergence_other_clusterings"] == pytest.approx(float(target), abs=0.01)
        assert facts["atom_divergence"]["paper"] <= 0.05
        assert facts["settings"]["target"] == float(target)
        assert name in result.stdout.replace("\n", "")  # a long path may be broken
    assert read_dataset(out / "iid").facts["settings"]["target"] is None


def test_one_target_is_the_folder_itself(corpus: Path, tmp_path: Path) -> None:
    run("split", corpus, *QUICK, "--target", "0.71", "--out", tmp_path / "a")
    found = read_dataset(tmp_path / "a").facts["compound_divergence_other_clusterings"]
    assert found == pytest.approx(0.71, abs=0.01)


def test_with_the_papers_preset_the_target_is_that_of_the_one_clustering(corpus: Path, tmp_path: Path) -> None:
    run("split", corpus, *QUICK, "--preset", "paper", "--target", "0.75", "--out", tmp_path / "a")
    facts = read_dataset(tmp_path / "a").facts
    assert facts["compound_divergence"]["paper"] == pytest.approx(0.75, abs=0.005)
    assert facts["settings"]["extraction"]["clusterings"] == 1


def test_problems_without_an_operator_are_told_loudly_or_left_out(tmp_path: Path) -> None:
    problems = list(generate("en", 200))
    write_problems(tmp_path / "toys.jsonl", [*problems[:160], *(replace(p, expression=None) for p in problems[160:])])
    spread = run("split", tmp_path / "toys.jsonl", *QUICK, "--out", tmp_path / "a")
    assert "WARNING: 40 problems (20.0%) have no expression with an operator" in " ".join(spread.stderr.split())
    assert "WARNING" in (tmp_path / "a" / "README.md").read_text()
    assert read_dataset(tmp_path / "a").facts["without_operator_share"] == {"train": 0.2, "test": 0.2}
    run("split", tmp_path / "toys.jsonl", *QUICK, "--without-expression", "drop", "--out", tmp_path / "b")
    assert read_dataset(tmp_path / "b").facts["without_operator_share"] == {"train": 0.0, "test": 0.0}
    assert "40 problems without an operator were left out" in (tmp_path / "b" / "README.md").read_text()


@pytest.mark.parametrize("by", ["lift", "divergence"])
def test_several_k_are_tried_and_the_chosen_one_is_said_and_written(by: str, corpus: Path, tmp_path: Path) -> None:
    command = (
        "split",
        corpus,
        "--k",
        "2,12",
        "--k-by",
        by,
        "--atom-bound",
        "0.1",
        "--search",
        "greedy",
        "--test-size",
        "66",
    )
    result = run(*command, "--out", tmp_path / "a")
    k = read_dataset(tmp_path / "a").facts["k"]
    assert f"k = {k} by {by}: 2: " in result.stderr
    assert k == (2 if by == "lift" else 12)


def test_every_parameter_of_the_spec_arrives_in_the_settings(corpus: Path, tmp_path: Path) -> None:
    options = (
        "--test-size", "20", "--k", "3", "--alpha", "keysers2020", "--atom-bound", "0.3", "--length-weight", "0.25",
        "--search", "greedy", "--steps-per-item", "7", "--seed", "9", "--no-twins", "--validation", "0.1",
        "--window", "2", "--clusterings", "2", "--no-commutative", "--cluster-seed", "4",
        "--operator-bound", "0.2", "--without-expression", "anywhere",
    )  # fmt: skip
    settings = json.loads(run("split", corpus, *options, "--out", tmp_path / "a", "--json").stdout)["settings"]
    assert settings == {
        "method": "dbca", "test_size": 20.0, "alpha": "keysers2020", "atom_bound": 0.3, "operator_bound": 0.2,
        "without_expression": "anywhere", "length_weight": 0.25,
        "target": None, "search": "greedy", "steps_per_item": 7, "twins": False, "seed": 9, "validation_share": 0.1,
        "extraction": {
            "k": 3, "clusterings": 2, "window": 2, "compounds": "subtrees", "commutative": False, "seed": 4,
        },
    }  # fmt: skip
    assert len(read_dataset(tmp_path / "a").validation) == 18


def test_a_csv_file_with_columns_of_the_users_own_is_split(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["question", "formula", "product", "result"])
        rows.writerows([[f"{n} red {'x' * n} and 3 bags", f"{n}+3", f"{n}*3", n + 3] for n in range(1, 31)])
    columns = ("--text", "question", "--equation", "formula", "--answer", "result", "--k", "2")
    run("split", path, *columns, "--method", "iid", "--out", tmp_path / "mine")
    dataset = read_dataset(tmp_path / "mine")
    assert len(dataset.test) == 6
    assert {to_infix(p.expression) for p in dataset.test if p.expression is not None} == {"N0+N1"}
    other = ("--text", "question", "--equation", "product", "--k", "2")
    assert "exists already" in refused("split", path, *other, "--method", "iid", "--out", tmp_path / "mine")


def test_brackets_in_the_name_of_a_folder_are_shown(corpus: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert "[red]toys" in run("split", corpus, *QUICK, "--method", "iid", "--out", "[red]toys").stdout


def test_a_search_that_would_end_in_a_refusal_is_not_begun(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: Any, **__: Any) -> np.ndarray:
        raise AssertionError("searched in vain")

    monkeypatch.setattr("comdiv.verbs.benchmarks.split_problems", searched)
    (tmp_path / "notes.txt").write_text("mine")
    assert "exists already" in refused("split", corpus, "--out", tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--test-size", "0"), "a test size of 0 does not fit 200 problems"),
        (("--test-size", "200"), "a test size of 200 does not fit 200 problems"),
        (("--test-size", "201"), "a test size of 201 does not fit"),
        (("--test-size", "nan"), "setting test_size: Input should be a finite number"),
        (("--k", "5000"), "are too few for k = 5000 clusters"),
        (("--k", "0"), "k must be at least 1, not 0"),
        (("--k", "2.5"), "--k 2.5: not whole numbers such as 1 or 1,2"),
        (("--k", "5,,10"), "--k 5,,10: not whole numbers"),
        (("--k", "5,5"), "setting k: a value occurs twice"),
        (("--k", "5,10", "--method", "iid"), "several --k to choose from go with --method dbca, not iid"),
        (("--target", "0.999999", "--k", "1", "--atom-bound", "0.001"), "targets from "),
        (("--target", "0.05"), "(a random split)"),
        (("--target", "1.5"), "divergences lie between 0 and 1"),
        (("--target", "high"), "--target high: not numbers such as 0.5 or 0.3,0.4"),
        (("--target", ""), "--target : not numbers"),
        (("--target", "0.3,0.4", "--splits", "2"), "several --target and several --splits do not go together"),
        (("--target", "0.3", "--method", "length"), "goes with --method dbca, not length"),
        (("--splits", "2", "--method", "length"), "the same test side for every seed"),
        (("--with-iid", "--method", "iid"), "--method iid is one already"),
        (
            ("--atom-bound", "0", "--operator-bound", "1", "--steps-per-item", "1"),
            "no split found with atom divergence at most 0",
        ),
        (("--method", "templat"), "Did you mean 'template'"),
        (("--alpha", "papers"), "Did you mean 'paper'"),
        (("--equation", "formula"), "--text COLUMN"),
    ],
)
def test_a_wrong_option_is_one_clear_line_and_writes_nothing(
    options: tuple[str, ...], message: str, corpus: Path, tmp_path: Path
) -> None:
    assert message in refused("split", corpus, *options, "--out", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_with_fewer_problems_than_k_is_one_clear_line(tmp_path: Path) -> None:
    corpus = write_toys(tmp_path / "toys.jsonl", ["2 apples and 3 pears", "4 hours or 5 days", "1 road, 2 bridges"])
    for method in ("dbca", "iid"):
        message = refused("split", corpus, "--test-size", "1", "--method", method, "--out", tmp_path / "a")
        assert "different contexts of quantities are too few for k = 10 clusters" in message


@pytest.mark.parametrize("method", ["dbca", "iid", "length", "template"])
def test_a_corpus_without_expressions_is_one_clear_line(method: str, tmp_path: Path) -> None:
    corpus = write_toys(tmp_path / "toys.jsonl", [f"{n} {'x' * (n + 1)} and 2" for n in range(30)], None)
    message = refused("split", corpus, "--method", method, "--out", tmp_path / "a")
    assert "no problem has an expression with an operator" in message


@pytest.mark.parametrize("method", ["dbca", "iid", "length", "template"])
def test_a_corpus_of_twins_only_is_one_clear_line(method: str, tmp_path: Path) -> None:
    corpus = write_toys(tmp_path / "toys.jsonl", [f"{n} apples and {n} pears" for n in range(8)])
    message = refused("split", corpus, "--k", "2", "--method", method, "--test-size", "2", "--out", tmp_path / "a")
    assert "all 8 examples are twins of each other" in message


def test_an_empty_corpus_and_a_single_problem_are_one_clear_line(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert "the file is empty" in refused("split", empty, "--out", tmp_path / "a")
    single = write_toys(tmp_path / "single.jsonl", ["2 apples and 3 pears"])
    assert "1 problems are too few to split" in refused("split", single, "--out", tmp_path / "a")


def test_a_file_in_place_of_the_folder_is_one_clear_line(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    assert "exists already" in refused("split", corpus, *QUICK, "--method", "iid", "--out", tmp_path / "a")
    for out in (tmp_path / "a", tmp_path / "a" / "b"):
        message = refused("split", corpus, *QUICK, "--method", "iid", "--out", out, "--force")
        assert "is a file" in message or "cannot be written" in message
    assert (tmp_path / "a").read_text() == "mine"


def test_a_control_of_an_earlier_split_does_not_stay_beside_a_new_one(corpus: Path, tmp_path: Path) -> None:
    run("split", corpus, *QUICK, "--out", tmp_path / "a", "--with-iid")
    before = contents(tmp_path / "a")
    message = refused("split", corpus, *QUICK, "--out", tmp_path / "a", "--test-size", "30", "--force")
    assert "is the control of an earlier split: add --with-iid, or remove it" in message
    assert contents(tmp_path / "a") == before


def test_a_dataset_that_holds_nothing_back_is_a_corpus_too(corpus: Path, tmp_path: Path) -> None:
    run("split", corpus, *QUICK, "--validation", "0", "--out", tmp_path / "a")
    assert (tmp_path / "a" / "validation.jsonl").read_bytes() == b""
    assert len(read_corpus(tmp_path / "a").problems) == 200

"""`comdiv measure` from end to end: any two files, or a dataset folder."""

import json
from collections import Counter
from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.expression import parse
from comdiv.problem import Problem, write_problems
from command_line import refused, run

REPORTED = {
    "compound_divergence", "atom_divergence", "length_ratio", "expression_length_ratio", "iid_compound_divergence",
    "unseen_template_share", "unseen_compound_share", "twins",
}  # fmt: skip


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A training file and a test file with the same ids in both."""
    folder = tmp_path_factory.mktemp("sides")
    for name, seed in (("train", 0), ("test", 1)):
        write_problems(folder / f"{name}.jsonl", generate("en", 100 if name == "train" else 40, seed))
    return folder / "train.jsonl", folder / "test.jsonl"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A split whose every setting of the extraction differs from the defaults."""
    folder = tmp_path_factory.mktemp("dataset")
    write_problems(folder / "toys.jsonl", generate("zh", 150))
    options = ("--window", "2", "--clusterings", "2", "--no-commutative", "--cluster-seed", "3")
    options += ("--k", "4", "--alpha", "keysers2020", "--method", "iid")
    run("split", folder / "toys.jsonl", *options, "--out", folder / "split")
    return folder / "split"


def test_two_files_get_a_table_on_standard_output(sides: tuple[Path, Path]) -> None:
    result = run("measure", *sides)
    assert "compound divergence, held-out clusterings (paper)" in result.stdout
    assert "100 / 40" in result.stdout
    assert "a twin in train" in result.stdout


def test_sides_in_different_languages_are_said_aloud(sides: tuple[Path, Path], tmp_path: Path) -> None:
    assert "different languages" not in run("measure", *sides).stderr
    write_problems(tmp_path / "zh.jsonl", generate("zh", 40))
    result = run("measure", sides[0], tmp_path / "zh.jsonl")
    assert "the texts are in different languages (train: en; test: zh)" in " ".join(result.stderr.split())


def test_json_has_at_least_what_a_report_needs(sides: tuple[Path, Path]) -> None:
    found = json.loads(run("measure", *sides, "--json").stdout)
    assert found.keys() >= REPORTED
    for name in ("compound_divergence", "atom_divergence"):
        assert found[name].keys() == {"paper", "keysers2020"}
        assert all(0 <= value <= 1 for value in found[name].values())
    assert (found["train_size"], found["test_size"], found["k"], found["alpha"]) == (100, 40, 10, "paper")


def test_a_dataset_folder_gives_the_figures_of_its_facts_without_any_option(dataset: Path) -> None:
    facts = json.loads((dataset / "dataset.json").read_text())
    found = json.loads(run("measure", dataset, "--json").stdout)
    assert found == {name: facts[name] for name in found}
    assert found.keys() >= REPORTED
    assert found["alpha"] == "keysers2020"


def test_options_take_the_place_of_a_datasets_own_settings(dataset: Path) -> None:
    own = json.loads(run("measure", dataset, "--json").stdout)
    options = {
        "k": ("--k", "7"), "window": ("--window", "1"), "cluster_seed": ("--cluster-seed", "0"),
        "clusterings": ("--clusterings", "1"), "compound_divergence": ("--commutative",),
        "iid_compound_divergence": ("--alpha", "paper"),
    }  # fmt: skip
    for name, option in options.items():
        assert json.loads(run("measure", dataset, *option, "--json").stdout)[name] != own[name]


def test_a_dataset_with_settings_of_another_version_is_one_clear_line(dataset: Path, tmp_path: Path) -> None:
    for path in dataset.glob("*.jsonl"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "dataset.json").write_text(json.dumps({"settings": {"extraction": {"clusters": 3}}}))
    assert "dataset.json has settings that this version does not know" in refused("measure", tmp_path)


def test_a_dataset_made_elsewhere_is_measured_with_the_defaults(dataset: Path, tmp_path: Path) -> None:
    for path in dataset.glob("*.jsonl"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "dataset.json").write_text("{}")
    found = json.loads(run("measure", tmp_path, "--json").stdout)
    assert (found["k"], found["window"], found["alpha"]) == (10, 3, "paper")


def test_an_incomplete_dataset_folder_is_refused(dataset: Path, tmp_path: Path) -> None:
    for path in dataset.glob("*.jsonl"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert "is not a complete dataset folder: it has no dataset.json" in refused("measure", tmp_path)


def test_a_report_folder_has_json_markdown_and_figures(sides: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "report"
    printed = json.loads(run("measure", *sides, "--k", "4", "--out", out, "--json").stdout)
    assert {path.name for path in out.iterdir()} == {
        "report.json", "report.md", "frequencies-atoms.svg", "frequencies-atoms.png",
        "frequencies-compounds.svg", "frequencies-compounds.png", "compounds.jsonl", "audit.json", "audit.html",
    }  # fmt: skip
    written = json.loads((out / "report.json").read_text())
    assert {name: written[name] for name in printed} == printed
    assert written["atoms"][0].keys() == {"name", "train", "test"}
    assert (out / "report.md").read_text().startswith("| measure | value |\n| --- | --- |\n")
    assert "exists already" in refused("measure", *sides, "--k", "4", "--out", out)
    run("measure", *sides, "--k", "5", "--out", out, "--force")
    assert json.loads((out / "report.json").read_text())["k"] == 5


def test_a_file_against_itself_has_no_divergence_and_only_twins(sides: tuple[Path, Path]) -> None:
    found = json.loads(run("measure", sides[1], sides[1], "--k", "4", "--json").stdout)
    assert found["compound_divergence"] == found["atom_divergence"] == {"paper": 0.0, "keysers2020": 0.0}
    assert (found["twins"], found["twin_share"], found["length_ratio"]) == (40, 1.0, 1.0)


def test_csv_files_with_columns_of_the_users_own_are_measured(tmp_path: Path) -> None:
    for name, operator in (("train", "+"), ("test", "*")):
        rows = [f"{n} {'x' * n} {name} and 3 bags,{n}{operator}3" for n in range(1, 11)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["question,formula", *rows]))
    files = (tmp_path / "train.csv", tmp_path / "test.csv")
    found = json.loads(
        run("measure", *files, "--text", "question", "--equation", "formula", "--k", "2", "--json").stdout
    )
    assert found["compound_divergence"]["paper"] == found["operator_divergence"] == 1.0
    assert found["unseen_template_share"] == 1.0


def test_one_file_alone_is_one_clear_line(sides: tuple[Path, Path]) -> None:
    assert "name the test problems, too, or a dataset folder" in refused("measure", sides[0])


@pytest.mark.parametrize(("empty", "side"), [(0, "training"), (1, "test")])
def test_an_empty_side_is_one_clear_line(empty: int, side: str, sides: tuple[Path, Path], tmp_path: Path) -> None:
    files = list(sides)
    files[empty] = tmp_path / "none.jsonl"
    files[empty].write_text("")
    assert "none.jsonl: the file is empty" in refused("measure", *files)
    files[empty] = tmp_path / "none.csv"
    files[empty].write_text("question,formula\n")
    assert f"the {side} side has no problems" in refused("measure", *files)


@pytest.mark.parametrize(("silent", "side"), [(0, "training"), (1, "test")])
def test_a_side_without_expressions_is_one_clear_line(
    silent: int, side: str, sides: tuple[Path, Path], tmp_path: Path
) -> None:
    files = list(sides)
    files[silent] = tmp_path / "silent.jsonl"
    write_problems(files[silent], [Problem("1", "en", "2 apples and 3 pears")])
    assert f"the {side} side has no expression with an operator" in refused("measure", *files)


def test_no_expressions_too_few_contexts_and_an_unknown_preset_are_one_clear_line(
    sides: tuple[Path, Path], tmp_path: Path
) -> None:
    silent, small = tmp_path / "silent.jsonl", tmp_path / "small.jsonl"
    write_problems(silent, [Problem("1", "en", "2 apples and 3 pears")])
    write_problems(small, [Problem("1", "en", "2 apples and 3 pears", parse("N0+N1"))])
    assert "no problem has an expression with an operator" in refused("measure", silent, silent)
    assert "too few for k = 10 clusters" in refused("measure", small, small)
    assert "Did you mean 'paper'" in refused("measure", *sides, "--alpha", "papper")


def test_clusters_and_compounds_are_written_with_the_report(dataset: Path, tmp_path: Path) -> None:
    run("measure", dataset, "--out", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "compounds.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    assert Counter(line["side"] for line in lines) == {"train": 120, "test": 30}
    first = lines[0]
    assert first["clusters"].keys() == first["compounds"].keys() == {"3", "4"}  # the seeds of its two clusterings
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    counted = Counter(name for line in lines for name in line["compounds"]["3"])
    assert counted == {entry["name"]: entry["train"] + entry["test"] for entry in report["compounds"]}

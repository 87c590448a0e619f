"""A third language as a package: `docs/examples/comdiv-german`, through every verb that reads texts."""

import json
import sys
from pathlib import Path

import pytest

from plugins.conftest import Environment, installed
from plugins.german import write_corpus
from plugins.provenance import operations, records

PASTED = ("--preset", "structure")  # this package has no sequels
SMALL = ("--set", "epochs=2", "--set", "hidden=16", "--set", "embedding=16", "--threads", "1")


german = installed("comdiv-german")


@pytest.fixture(scope="module")
def folder(german: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a German corpus, and a compositional split of it."""
    folder = tmp_path_factory.mktemp("german")
    write_corpus(folder / "aufgaben.jsonl")
    german.comdiv("split", "aufgaben.jsonl", "--k", "4", "--out", "split", folder=folder)
    return folder


def test_without_the_package_the_language_is_unknown_in_one_line(tmp_path: Path) -> None:
    write_corpus(tmp_path / "aufgaben.jsonl", 8)
    here = Environment(Path(sys.executable))
    said = here.comdiv("split", "aufgaben.jsonl", "--out", "x", folder=tmp_path, fails=True)
    assert "unknown language 'de'" in said.replace("\n", " ")
    assert "Traceback" not in said


def test_german_expressions_give_their_answers(german: Environment, folder: Path) -> None:
    statistics = json.loads(german.comdiv("data", "stats", "aufgaben.jsonl", "--json", folder=folder))
    assert (statistics["problems"], statistics["languages"], statistics["agree"]) == (320, ["de"], 320)


def test_a_split_of_german_problems_keeps_twins_together(german: Environment, folder: Path) -> None:
    facts = json.loads((folder / "split" / "dataset.json").read_text(encoding="utf-8"))
    assert (facts["train_size"] + facts["test_size"], facts["twins"]) == (320, 0)
    assert facts["compound_divergence"]["paper"] > facts["iid_compound_divergence"]


def test_german_frames_say_what_the_rules_of_the_synthesis_make(german: Environment, folder: Path) -> None:
    german.comdiv("synthesize", "aufgaben.jsonl", "--out", "sd", folder=folder)
    products = [record for record in records(folder / "sd" / "train.jsonl") if "rule" in record["provenance"]]
    assert {record["provenance"]["rule"] for record in products} >= {"3", "6", "9"}
    asked = [record["text"] for record in products if record["expression"] == "N0*N1"]
    assert asked
    assert all("Wie viele" in text for text in asked)


@pytest.mark.parametrize("checks", ["paper", "full"])
def test_german_problems_are_augmented_by_both_operations(german: Environment, folder: Path, checks: str) -> None:
    german.comdiv("augment", "split", *PASTED, "--checks", checks, "--out", f"augmented-{checks}", folder=folder)
    made = operations(folder / f"augmented-{checks}" / "train.jsonl")
    assert made["operation 1"] > 100
    assert made["operation 2"] > 10


def test_how_to_do_without_sequels_is_said_in_one_line(german: Environment, folder: Path) -> None:
    said = german.comdiv("augment", "split", "--out", "stories", folder=folder, fails=True)
    assert "the language 'de' has no sequels: use --preset structure" in " ".join(said.split())
    assert "Traceback" not in said


def test_full_checks_rename_the_person_of_a_german_story(german: Environment, folder: Path) -> None:
    german.comdiv("augment", "split", *PASTED, "--checks", "full", "--out", "full", folder=folder)
    people = ("Anna", "Lena", "Mia", "Paul", "Jonas", "Emil")
    composed = [r["text"] for r in records(folder / "full" / "train.jsonl") if r["id"].startswith("r1-op1")]
    assert composed
    assert all(len({name for name in people if name in text}) == 1 for text in composed)


def test_a_solver_learns_and_solves_german_problems(german: Environment, folder: Path) -> None:
    german.comdiv("train", "lstm", "--data", "split", "--out", "runs/lstm", *SMALL, folder=folder)
    text = "Anna hat 12 Äpfel. Sie verkauft 5 Äpfel. Wie viele Äpfel hat Anna jetzt?"
    (solution,) = json.loads(german.comdiv("solve", text, "--json", folder=folder))  # the newest run in German
    assert solution["text"] == text
    evaluation = json.loads(german.comdiv("evaluate", "runs/lstm", "split", "--json", folder=folder))
    assert evaluation["n"] == 64


def test_prompts_are_german(german: Environment, folder: Path) -> None:
    german.comdiv("export", "lm-eval", "split", "--out", "tasks", folder=folder)
    tasks = [path.read_text(encoding="utf-8") for path in (folder / "tasks").rglob("*.yaml")]
    assert any("Löse die Aufgabe Schritt für Schritt" in task for task in tasks)

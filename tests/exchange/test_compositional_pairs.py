"""Operation 1 as a benchmark: triples that are independent, and the whole way to expected and observed."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from comdiv.cli import app
from comdiv.corpora import read_rows
from comdiv.errors import ComdivError
from comdiv.evaluation.pairs import read_triples
from comdiv.exchange.compositional_pairs import compose_pairs, export_compositional_pairs
from comdiv.expression import operator_count, value_of
from comdiv.problem import Problem, read_problems, write_problems
from comdiv.reading import read

NAMES = ("Ann", "Ben", "Carl", "Dora", "Emma", "Finn")


def marbles() -> tuple[Problem, ...]:
    """Problems that ask for marbles, and problems in which a clause states marbles: each goes with each."""
    rows = []
    for number, name in enumerate(NAMES, start=2):
        rows += [
            {
                "id": f"asks-{name}",
                "original_text": f"{name} has {3 * number} marbles. {name} finds {number} more marbles. "
                f"How many marbles does {name} have?",
                "equation": f"x={3 * number}+{number}",
                "ans": 4 * number,
            },
            {
                "id": f"tells-{name}",
                "original_text": f"{name} has {20 * number} marbles. {name} shares the marbles with "
                f"{number} friends equally. How many marbles does each friend get?",
                "equation": f"x={20 * number}/{number}",
                "ans": 20,
            },
        ]
    return read_rows(rows, name="marbles").problems


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_no_problem_is_in_two_pairs_and_every_composition_holds() -> None:
    pairs, drafts = compose_pairs(marbles())
    assert len(pairs) >= 3
    assert drafts["passed"] >= len(pairs)
    uses = Counter(name for pair in pairs for name in (pair.first.id, pair.second.id, pair.composed.id))
    assert set(uses.values()) == {1}
    for pair in pairs:
        composed = pair.composed
        assert composed.expression is not None
        assert composed.answer == value_of(composed.expression, read(composed).values)
        assert pair.first.expression is not None
        assert pair.second.expression is not None
        assert operator_count(composed.expression) > operator_count(pair.second.expression)
        assert composed.provenance.parents == (pair.first.id, pair.second.id)


def test_the_same_seed_gives_the_same_pairs_and_a_sample_is_some_of_them() -> None:
    pairs, _ = compose_pairs(marbles(), seed=1)
    assert pairs == compose_pairs(marbles(), seed=1)[0]
    some, _ = compose_pairs(marbles(), seed=1, sample=2)
    assert len(some) == 2
    assert {pair.triple for pair in some} <= {pair.triple for pair in pairs}
    with pytest.raises(ComdivError, match=r"99 pairs were asked for, but these 12 problems give only"):
        compose_pairs(marbles(), sample=99)


def test_problems_that_contradict_themselves_take_no_part() -> None:
    broken = [Problem(p.id, p.language, p.text, p.expression, (p.answer or 0) + 1) for p in marbles()]
    with pytest.raises(ComdivError, match="operation 1 makes nothing of these 12 problems"):
        export_compositional_pairs(broken, Path("nowhere"), name="x")


def test_predictions_for_parts_and_composed_give_expected_and_observed(tmp_path: Path) -> None:
    write_problems(tmp_path / "marbles.jsonl", marbles())
    out = tmp_path / "pairs"
    assert " pairs of 12 problems" in run("export", "compositional-pairs", tmp_path / "marbles.jsonl", "--out", out)
    triples = read_triples(out / "pairs.jsonl")
    problems = {problem.id: problem for problem in read_problems(out / "test.jsonl")}
    # The parts are all solved; of the composed problems, the first only.
    composed = [triple.composed for triple in triples]
    files = {"parents": [name for name in problems if name not in composed], "composed": composed}
    for name, ids in files.items():
        answers = [{"id": one, "answer": str(problems[one].to_json()["answer"])} for one in ids]
        if name == "composed":
            answers = [answers[0], *({**answer, "answer": "0.5"} for answer in answers[1:])]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    both = ("--predictions", tmp_path / "parents.jsonl", "--predictions", tmp_path / "composed.jsonl")
    result = json.loads(run("evaluate", *both, out, "--json"))["pairs"]
    assert (result["first"]["accuracy"], result["second"]["accuracy"], result["expected"]) == (1, 1, 1)
    assert result["observed"]["correct"] == 1
    assert result["difference"] == pytest.approx(1 / len(triples) - 1)
    table = run("evaluate", *both, out, "--out", tmp_path / "scored")
    assert "expected, S1·S2" in table
    assert "observed, composed" in table
    recorded = json.loads((tmp_path / "scored" / "result.json").read_text(encoding="utf-8"))
    assert recorded["pairs"] == result
    assert [entry["file"] for entry in recorded["predictions"]] == ["parents.jsonl", "composed.jsonl"]


def test_the_folder_has_tasks_for_the_harness_with_examples_that_are_in_no_pair(tmp_path: Path) -> None:
    facts = export_compositional_pairs(marbles(), tmp_path / "pairs", name="marbles", sample=2)
    assert facts["tasks"] == [
        f"comdiv_marbles_{part}_{style}" for part in ("parents", "composed") for style in ("direct", "steps")
    ]
    data = tmp_path / "pairs" / "data"
    rows = {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in data.iterdir()}
    assert {name: len(own) for name, own in rows.items()} == {
        "parents.test.jsonl": 4,
        "composed.test.jsonl": 2,
        "examples.train.jsonl": 8,
    }
    assert {row["id"] for row in rows["examples.train.jsonl"]}.isdisjoint(
        row["id"] for row in rows["parents.test.jsonl"]
    )
    again = export_compositional_pairs(marbles(), tmp_path / "again", name="marbles", sample=2)
    assert again == facts


def test_of_a_dataset_folder_the_test_problems_are_paired_and_training_problems_are_the_examples(
    split_folder: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    from comdiv.dataset import read_dataset, write_dataset

    dataset = replace(read_dataset(split_folder), test=marbles())
    write_dataset(tmp_path / "made", dataset, title="made")
    run("export", "compositional-pairs", tmp_path / "made", "--out", tmp_path / "pairs", "--shots", "1")
    examples = (tmp_path / "pairs/data/examples.train.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["id"] for line in examples} == {problem.id for problem in dataset.train}

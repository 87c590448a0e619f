"""Operation 1 as a benchmark: triples that are independent, and the whole way to expected and observed."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from comdiv.cli import app
from comdiv.corpora import read_rows
from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.evaluation.chains import read_chains
from comdiv.exchange.composing import ComposedChain, compose_chains, distract
from comdiv.exchange.compositional_pairs import export_compositional_pairs
from comdiv.expression import operator_count, value_of
from comdiv.problem import Problem, read_problems, write_problems
from comdiv.reading import read

PASTED = ("--compose", "paste", "--no-distractors", "--no-renumber")
PLAIN: dict[str, Any] = {"compose": "paste", "distractors": False, "renumber": False}
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


def pasted(**options: Any) -> tuple[list[ComposedChain], dict[str, int]]:
    return compose_chains(marbles(), compose="paste", **options)


def test_no_problem_is_in_two_pairs_and_every_composition_holds() -> None:
    pairs, drafts = pasted()
    assert len(pairs) >= 3
    assert drafts["passed"] >= len(pairs)
    uses = Counter(one.id for pair in pairs for one in (*pair.parts, *pair.composed))
    assert set(uses.values()) == {1}
    for pair in pairs:
        first, second = pair.parts
        (composed,) = pair.composed
        assert composed.expression is not None
        assert composed.answer == value_of(composed.expression, read(composed).values)
        assert first.expression is not None
        assert second.expression is not None
        assert operator_count(composed.expression) > operator_count(second.expression)
        assert composed.provenance.parents == (first.id, second.id)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_chains_go_on_as_one_story_with_their_controls(language: str, tmp_path: Path) -> None:
    problems = tuple(generate(language, 400))
    facts = export_compositional_pairs(problems, tmp_path / "chains", name="demo", longest=5)
    assert facts["lengths"]["2"] >= facts["lengths"]["3"] >= 1
    chains = read_chains(tmp_path / "chains" / "pairs.jsonl")
    by_id = {problem.id: problem for problem in read_problems(tmp_path / "chains" / "test.jsonl")}
    for chain in chains:
        composed = by_id[chain.composed]
        first = by_id[chain.parts[0]]
        assert composed.expression is not None
        assert composed.answer == value_of(composed.expression, read(composed).values)
        if chain.condition == "distractor":
            assert composed.text.endswith(first.text)
            assert composed.answer == first.answer
            assert len(read(composed).values) > len(read(first).values)
        elif chain.condition == "renumbered":
            assert read(composed).mask == read(by_id[chain.composed.removesuffix("-renumbered")]).mask
            assert composed.answer != by_id[chain.composed.removesuffix("-renumbered")].answer
        else:
            longer = by_id[chain.composed]
            assert longer.provenance.parents[1] == chain.parts[-1]
            assert operator_count(composed.expression) >= len(chain.parts)
    assert {chain.condition for chain in chains} == {"composed", "distractor", "renumbered"}
    again = export_compositional_pairs(problems, tmp_path / "again", name="demo", longest=5)
    assert again["files"] == facts["files"]


@pytest.mark.parametrize(
    ("story", "told"),
    [
        ("果园有6行梨树．每行有5棵．", "果园有6行梨树．每行有5棵．"),
        ("果园有6行梨树，每行有5棵，", "果园有6行梨树，每行有5棵。"),
        ("一辆汽车开了5小时，", "一辆汽车开了5小时。"),
        ("从甲地到乙地有90千米，如果平均每小时行60千米，", None),
        ("一辆汽车3小时行90千米，照这样计算，", None),
        ("一辆汽车行了90千米，完成全程的一半时，", None),
        ("红盒里有5块糖，拿出1块后，", None),
    ],
)
def test_a_distracting_story_does_not_break_off(story: str, told: str | None) -> None:
    """如果…, 照这样计算, …时 and …后 wait for the question that they have lost."""
    texts = {"first": "小明有3本书，又买了2本书，小明一共有多少本书？", "story": f"{story}一共是多少？"}
    first, other = (
        Problem.from_json({"id": name, "language": "zh", "text": text, "expression": "N0+N1"})
        for name, text in texts.items()
    )
    made = distract([ComposedChain((first, first), (first,))], [other])
    assert [problem.text for _, problem in made] == ([] if told is None else [told + first.text])


def test_the_same_seed_gives_the_same_pairs_and_a_sample_is_some_of_them() -> None:
    pairs, _ = pasted(seed=1)
    assert pairs == pasted(seed=1)[0]
    some, _ = pasted(seed=1, sample=2)
    assert len(some) == 2
    assert all(pair in pairs for pair in some)
    with pytest.raises(ComdivError, match=r"99 chains were asked for, but these 12 problems give only"):
        pasted(sample=99)


def test_problems_that_contradict_themselves_take_no_part() -> None:
    broken = [Problem(p.id, p.language, p.text, p.expression, (p.answer or 0) + 1) for p in marbles()]
    with pytest.raises(ComdivError, match="operation 1 makes nothing of these 12 problems"):
        export_compositional_pairs(broken, Path("nowhere"), name="x")


def test_predictions_for_parts_and_composed_give_expected_and_observed(tmp_path: Path) -> None:
    write_problems(tmp_path / "marbles.jsonl", marbles())
    out = tmp_path / "pairs"
    assert " pairs of 12 problems" in run(
        "export", "compositional-pairs", tmp_path / "marbles.jsonl", "--out", out, *PASTED
    )
    triples = read_chains(out / "pairs.jsonl")
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
    (result,) = json.loads(run("evaluate", *both, out, "--json"))["chains"]
    assert ([part["accuracy"] for part in result["parts"]], result["expected"]) == ([1, 1], 1)
    assert result["observed"]["correct"] == 1
    assert result["difference"] == pytest.approx(1 / len(triples) - 1)
    table = run("evaluate", *both, out, "--out", tmp_path / "scored")
    assert "chains of 2" in table
    assert "100·100" in table
    assert (tmp_path / "scored" / "chains.svg").is_file()
    recorded = json.loads((tmp_path / "scored" / "result.json").read_text(encoding="utf-8"))
    assert recorded["chains"] == [result]
    assert [entry["file"] for entry in recorded["predictions"]] == ["parents.jsonl", "composed.jsonl"]


def test_the_folder_has_tasks_for_the_harness_with_examples_that_are_in_no_pair(tmp_path: Path) -> None:
    facts = export_compositional_pairs(marbles(), tmp_path / "pairs", name="marbles", sample=2, **PLAIN)
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
    again = export_compositional_pairs(marbles(), tmp_path / "again", name="marbles", sample=2, **PLAIN)
    assert again == facts


def test_of_a_dataset_folder_the_test_problems_are_paired_and_training_problems_are_the_examples(
    split_folder: Path, tmp_path: Path
) -> None:
    from dataclasses import replace

    from comdiv.dataset import read_dataset, write_dataset

    dataset = replace(read_dataset(split_folder), test=marbles())
    write_dataset(tmp_path / "made", dataset, title="made")
    run("export", "compositional-pairs", tmp_path / "made", "--out", tmp_path / "pairs", "--shots", "1", *PASTED)
    examples = (tmp_path / "pairs/data/examples.train.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["id"] for line in examples} == {problem.id for problem in dataset.train}

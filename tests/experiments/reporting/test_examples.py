"""Worked examples and the case study: the right problems side by side, found by rule."""

import json
from dataclasses import replace
from pathlib import Path

from comdiv.dataset import Dataset, write_dataset
from comdiv.experiments.archive import read_results
from comdiv.experiments.cell import Cell, Facts, PlanResults
from comdiv.experiments.reporting.examples import case_studies, three_problems, worked_examples
from comdiv.expression import parse, template
from comdiv.problem import Problem, Provenance, write_problems
from comdiv.splitting.compounds import compounds_of
from comdiv.splitting.extraction import extract
from experiments.synthetic import problems


def test_figure_two_shows_one_template_with_two_compounds() -> None:
    extraction = extract(problems())
    chosen = three_problems(extraction, 10)
    assert chosen is not None
    clusters = extraction.clusters_by_problem(10)
    expressions = [extraction.problems[position].expression for position in chosen]
    assert len({template(expression) for expression in expressions if expression is not None}) == 1
    roots = [
        max(compounds_of(expression, clusters[position].tolist()), key=len)
        for position, expression in zip(chosen, expressions, strict=True)
        if expression is not None
    ]
    assert roots[0] == roots[2] != roots[1]


def test_problems_that_show_nothing_are_not_shown() -> None:
    assert three_problems(extract([Problem("1", "en", "3 and 2 pears", parse("N0+N1"))]), 1) is None


SEED = Problem(
    "seed", "en", "Ann has 3 bags of 4 pears. She eats 2 pears. How many pears are left?", parse("N0*N1-N2"),
    composition="structural",
    rule="9",
)  # fmt: skip
HALF = Problem("seed-a", "en", "Ann has 3 bags of 4 pears. How many pears has she?", parse("N0*N1"))
OTHER = Problem("seed-b", "en", "Ann picks 12 pears. She eats 2 pears. How many pears are left?", parse("N0-N1"))
PLAIN = Problem("plain", "en", "Ben has 9 figs. He eats 4 figs. How many figs are left?", parse("N0-N1"))


def product(problem: Problem, name: str) -> Problem:
    details = {"seed": "seed", "product": name, "frame": "d"}
    return replace(problem, provenance=Provenance(operation="decomposition", rule="9", details=details))


def made(problem: Problem, name: str, operation: int | str, parents: tuple[str, ...]) -> Problem:
    return replace(
        problem, id=name, provenance=Provenance(operation=f"operation {operation}", round=1, parents=parents)
    )


def plan(folder: Path) -> PlanResults:
    """A synthetic dataset with one seed, and an augmentation of it with one new problem of each operation."""
    train = (product(HALF, "a"), product(OTHER, "b"), PLAIN)
    write_dataset(folder / "sd" / "dataset", Dataset(train, (), (SEED,)), title="sd")
    new = (
        made(SEED, "new-1", 1, ("seed-a", "seed-b")),
        made(replace(PLAIN, text=PLAIN.text.replace("figs", "plums")), "new-2", 2, ("plain",)),
    )
    write_dataset(folder / "da" / "dataset", Dataset((*train, *new), (), (SEED,)), title="da")
    rounds = folder / "da" / "dataset" / "rounds" / "1"
    write_problems(rounds / "candidates.jsonl", [*new, made(SEED, "low", 1, ("seed-a", "seed-b"))])
    write_problems(rounds / "kept.jsonl", new)
    scores = [{"id": "new-1", "score": -0.1}, {"id": "new-2", "score": -0.5}, {"id": "low", "score": None}]
    (rounds / "scores.jsonl").write_text("".join(json.dumps(score) + "\n" for score in scores))
    refused = {
        "operation": 2,
        "reason": "relation word",
        "parents": ["plain"],
        "text": "Ben <b> 9 figs?",
        "expression": "N0+",
    }
    (rounds / "rejected.jsonl").write_text(json.dumps(refused) + "\n")
    facts = Facts(dataset="sd", corpus="demo-en", split="synthesis")
    augmented = replace(facts, augmentation="DA")
    cells = (
        Cell("sd", "dataset", "sd", facts, (), status="done", folder=folder / "sd"),
        Cell("da", "augmentation", "DA on sd", augmented, ("sd",), status="done", folder=folder / "da"),
    )
    return PlanResults("mine", "", "", None, {}, folder / "plans" / "mine.json", cells)


def test_figure_three_shows_the_seed_and_its_two_halves(tmp_path: Path) -> None:
    example = next(one for one in worked_examples([plan(tmp_path)]) if "Figure 3" in one.title)
    assert [problem.heading for problem in example.problems] == [
        "test: the seed seed",
        "train: product a",
        "train: product b",
    ]
    new = "".join(span.text for span in example.problems[2].spans if "new" in span.mark)
    assert new == "picks 12"
    assert ("frame", "d") in example.problems[1].facts


def test_figure_four_shows_each_operation_with_its_parents(tmp_path: Path) -> None:
    examples = [one for one in worked_examples([plan(tmp_path)]) if "Figure 4" in one.title]
    headings = [[problem.heading for problem in example.problems] for example in examples]
    assert headings == [["parent: seed-a", "parent: seed-b", "new: new-1"], ["parent: plain", "new: new-2"]]
    new = {span.text for span in examples[1].problems[1].spans if "new" in span.mark}
    assert new == {"plums"}


def test_an_operation_of_a_package_has_its_example_and_its_case(tmp_path: Path) -> None:
    whole = plan(tmp_path)
    train = tmp_path / "da" / "dataset" / "train.jsonl"
    new = made(replace(PLAIN, text="How many figs are left, if Ben eats 4 of 9 figs?"), "new-3", "reorder", ("plain",))
    write_problems(train, [PLAIN, new])
    write_problems(train.parent / "rounds" / "1" / "kept.jsonl", [new])
    rounds = [{"round": 1, "operation reorder": {"kept": 1}}]
    cells = tuple(replace(cell, summary={"report": {"rounds": rounds}}) for cell in whole.cells)
    examples = worked_examples([replace(whole, cells=cells)])
    assert [one.title for one in examples if one.title.startswith("Operation")] == ["Operation reorder (sd)"]
    (study,) = case_studies([whole])
    assert study.problems[0].heading == "accepted, operation reorder"


def test_the_case_study_has_accepted_and_rejected_problems_with_confidence(tmp_path: Path) -> None:
    (study,) = case_studies([plan(tmp_path)])
    assert study.title == "DA on sd, round 1"
    told = [(problem.verdict, problem.heading) for problem in study.problems]
    assert told == [
        ("accepted", "accepted, operation 1"),
        ("accepted", "accepted, operation 2"),
        ("rejected", "rejected by the ranker, operation 1"),
        ("rejected", "rejected by a check, operation 2"),
    ]
    assert ("confidence", "0.905 (log-probability -0.10)") in study.problems[0].facts
    assert ("confidence", "0: cannot be spelled") in study.problems[2].facts
    assert ("why", "relation word") in study.problems[3].facts
    assert study.problems[3].tree is None  # its expression is none: no reason to fail


def test_results_without_texts_have_no_examples(results: Path) -> None:
    bare = [replace(one, cells=()) for one in read_results(results)]
    assert worked_examples(bare) == []
    assert case_studies(bare) == []

"""The task folder, run by the real lm-evaluation-harness without a network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from comdiv.asking.prompting import prompts_of, worked_solution
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.evaluation import evaluate_predictions, read_predictions
from comdiv.exchange.exports import task_name
from comdiv.exchange.lm_eval import export_lm_eval
from comdiv.problem import Problem, read_problems

_ANSWERS = "COMDIV_TEST_ANSWERS"


@pytest.fixture(autouse=True)
def _offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fetched, and nothing of one test is found by another."""
    import datasets

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


def run(model: str, folder: Path, *tasks: str, shots: int | None = None) -> dict[str, Any]:
    """The harness's own loop, with the tasks of one folder."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    from exchange import language_models  # the models register themselves

    assert language_models
    return lm_eval.simple_evaluate(  # type: ignore[no-any-return]
        model=model,
        tasks=list(tasks),
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        num_fewshot=shots,
        log_samples=True,
        bootstrap_iters=0,
    )


def know(problems: list[Problem], path: Path, monkeypatch: pytest.MonkeyPatch, form: str = " {answer}") -> None:
    """Tell the knowing model these problems' answers."""
    answers = {problem.text: form.format(answer=problem.to_json()["answer"]) for problem in problems}
    path.write_text(json.dumps(answers), encoding="utf-8")
    monkeypatch.setenv(_ANSWERS, str(path))


def score(results: dict[str, Any], task: str) -> tuple[float, float]:
    own = results["results"][task]
    return own["exact_match,numeric-answer"], own["within_tolerance,numeric-answer"]


def test_a_language_model_of_random_weights_is_measured_on_every_task(split_folder: Path, tmp_path: Path) -> None:
    facts = export_lm_eval(split_folder, tmp_path / "tasks")
    results = run("comdiv-random", tmp_path / "tasks", "comdiv_shop_comdiv", shots=1)
    parts = ("compositional", "iid")
    assert facts["tasks"] == [f"comdiv_shop_comdiv_{part}_{style}" for part in parts for style in ("direct", "steps")]
    assert sorted(results["results"]) == sorted(facts["tasks"])
    for task in facts["tasks"]:
        assert all(0 <= share <= 1 for share in score(results, task))
        assert len(results["samples"][task]) == 10


def test_a_model_that_knows_half_of_the_answers_has_half_of_them_right(
    split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = read_dataset(split_folder)
    know(list(dataset.test[:5]), tmp_path / "answers.json", monkeypatch)
    export_lm_eval(split_folder, tmp_path / "tasks", name="shop")
    results = run("comdiv-knowing", tmp_path / "tasks", "comdiv_shop_compositional_direct")
    assert score(results, "comdiv_shop_compositional_direct") == (0.5, 0.5)


def test_renumbered_problems_tell_remembering_from_solving(
    split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = read_dataset(split_folder)
    export_lm_eval(split_folder, tmp_path / "tasks", name="shop", renumber=True)
    renumbered = list(read_problems(tmp_path / "tasks/data/compositional_renumbered.test.jsonl"))
    # It has read the test set, and takes a problem with other numbers for the one that it has read.
    old = {problem.id: problem for problem in dataset.test}
    confused = [Problem(p.id, p.language, p.text, p.expression, old[p.id].answer) for p in renumbered]
    know([*dataset.test, *confused], tmp_path / "answers.json", monkeypatch)
    tasks = [f"comdiv_shop_{part}_direct" for part in ("compositional", "compositional_renumbered")]
    results = run("comdiv-knowing", tmp_path / "tasks", *tasks)
    assert score(results, tasks[0]) == (1.0, 1.0)
    assert score(results, tasks[1]) == (0.0, 0.0)


def test_examples_come_from_the_training_side_of_the_same_split(
    split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    know([], tmp_path / "answers.json", monkeypatch)
    export_lm_eval(split_folder, tmp_path / "tasks", name="shop", shots=2)
    results = run("comdiv-knowing", tmp_path / "tasks", "comdiv_shop_iid_direct", "comdiv_shop_iid_steps")
    dataset = read_dataset(split_folder / "iid")
    for task, words in (("comdiv_shop_iid_direct", "Answer: "), ("comdiv_shop_iid_steps", "The answer is ")):
        for sample in results["samples"][task]:
            prompt = str(sample["arguments"][0][0])
            assert sum(problem.text in prompt for problem in dataset.train) == 2
            assert sum(problem.text in prompt for problem in dataset.test) == 1
            assert prompt.count(words) == 2
    none = run("comdiv-knowing", tmp_path / "tasks", "comdiv_shop_iid_steps", shots=0)
    prompt = str(none["samples"]["comdiv_shop_iid_steps"][0]["arguments"][0][0])
    assert prompt.startswith("Solve the problem step by step.")
    assert not any(problem.text in prompt for problem in dataset.train)


def test_the_halves_of_a_synthesised_set_are_tasks_in_its_language(
    synthesised_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = read_dataset(synthesised_folder).test
    know(
        [p for p in test if p.composition == "lexical"],
        tmp_path / "answers.json",
        monkeypatch,
        "答案是{answer}。",
    )
    facts = export_lm_eval(synthesised_folder, tmp_path / "tasks")
    assert list(facts["parts"]) == ["compositional", "structural", "lexical"]
    tasks = [f"comdiv_sd_{part}_steps" for part in facts["parts"]]
    results = run("comdiv-knowing", tmp_path / "tasks", *tasks)
    assert [score(results, task)[0] for task in tasks] == [0.5, 0.0, 1.0]
    assert "题目：" in str(results["samples"][tasks[0]][0]["arguments"][0][0])


def test_the_folder_can_be_taken_anywhere(split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = read_dataset(split_folder)
    know(list(dataset.test), tmp_path / "answers.json", monkeypatch)
    export_lm_eval(split_folder, tmp_path / "tasks", name="shop")
    shutil.move(tmp_path / "tasks", tmp_path / "moved")
    results = run("comdiv-knowing", tmp_path / "moved", "comdiv_shop_compositional_steps")
    assert score(results, "comdiv_shop_compositional_steps") == (1.0, 1.0)


def test_problems_without_an_answer_are_left_out_and_counted(split_folder: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from comdiv.dataset import write_dataset

    dataset = read_dataset(split_folder)
    odd = replace(dataset.test[0], expression=None, answer=None)
    unworked = replace(dataset.train[0], expression=None)
    changed = replace(dataset, test=(odd, *dataset.test[1:]), train=(unworked, *dataset.train[1:]))
    write_dataset(tmp_path / "odd", changed, title="odd")
    facts = export_lm_eval(tmp_path / "odd", tmp_path / "tasks")
    assert facts["parts"] == {"compositional": {"train": 11, "test": 9, "without_answer": 1}}


def test_the_same_seed_gives_the_same_bytes(split_folder: Path, tmp_path: Path) -> None:
    facts = [export_lm_eval(split_folder, tmp_path / name, name="x", renumber=True, seed=4) for name in "ab"]
    assert facts[0] == facts[1]
    other = export_lm_eval(split_folder, tmp_path / "c", name="x", renumber=True, seed=5)
    changed = {name for name, digest in other["files"].items() if facts[0]["files"][name] != digest}
    assert changed == {f"data/{part}_renumbered.test.jsonl" for part in ("compositional", "iid")}


def test_tasks_are_plain_yaml_with_their_data_beside_them(split_folder: Path, tmp_path: Path) -> None:
    export_lm_eval(split_folder, tmp_path / "tasks", name="My Shop-1")

    class Loader(yaml.SafeLoader):
        """The harness's `!function` as a text."""

    Loader.add_constructor("!function", lambda loader, node: f"function {loader.construct_scalar(node)}")
    task = yaml.load((tmp_path / "tasks/comdiv_my_shop_1_iid_direct.yaml").read_text(encoding="utf-8"), Loader)
    assert task["custom_dataset"] == "function comdiv_scoring.load"
    assert all((tmp_path / "tasks" / path).is_file() for path in task["dataset_kwargs"].values())
    assert [metric["metric"] for metric in task["metric_list"]] == ["exact_match", "within_tolerance"]


@pytest.mark.parametrize(
    ("name", "task"), [("target-0.30", "target_0_30"), ("Math23K", "math23k"), ("数学", "dataset")]
)
def test_names_of_tasks_are_plain(name: str, task: str) -> None:
    assert task_name(name) == task


def test_an_unknown_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a complete dataset folder"):
        export_lm_eval(tmp_path / "none", tmp_path / "tasks")


@pytest.mark.slow
def test_the_harness_command_line_runs_it_and_comdiv_scores_its_log(
    split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = read_dataset(split_folder)
    know(list(dataset.test[:4]), tmp_path / "answers.json", monkeypatch, "So 3 + 4 = 7.\nThe answer is {answer}.")
    export_lm_eval(split_folder, tmp_path / "tasks", name="shop")
    program = Path(__file__).parent / "language_models.py"
    command = [sys.executable, str(program), "--model", "comdiv-knowing", "--include_path", str(tmp_path / "tasks")]
    command += ["--tasks", "comdiv_shop_compositional_steps", "--log_samples", "--output_path", str(tmp_path / "out")]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert "within_tolerance" in done.stdout
    (log,) = (tmp_path / "out").rglob("samples_*.jsonl")
    evaluation = evaluate_predictions(dataset.test, read_predictions(log))
    assert (evaluation.correct, evaluation.n) == (4, 10)
    assert evaluation.counts["unreadable"] == 6


# Worked solutions: the expression operator by operator, from the inside.


@pytest.mark.parametrize(
    ("language", "text", "expression", "solution"),
    [
        ("en", "3 bags of 12 and 4 more", "N0*N1+N2", "3 * 12 = 36. 36 + 4 = 40. The answer is 40."),
        ("en", "9 and 4, then 2", "N0-(N1-N2)", "4 - 2 = 2. 9 - 2 = 7. The answer is 7."),
        ("en", "80 of which 20% are", "N0*(1-N1)", "1 - 0.2 = 0.8. 80 * 0.8 = 64. The answer is 64."),
        ("en", "6 by 1/3", "N0*N1", "6 * (1/3) = 2. The answer is 2."),
        ("en", "3 less 5, and 9", "(N0-N1)+N2", "3 - 5 = -2. (-2) + 9 = 7. The answer is 7."),
        ("en", "just 5", "N0", "The answer is 5."),
        ("zh", "3袋12个，还有4个", "N0*N1+N2", "3 * 12 = 36，36 + 4 = 40。答案是40。"),
        ("zh", "5个", "N0", "答案是5。"),
        ("en", "no idea", None, ""),
    ],
)
def test_a_worked_solution_has_a_step_for_every_operator(
    language: str, text: str, expression: str | None, solution: str
) -> None:
    record = {"id": "1", "language": language, "text": text, "expression": expression}
    assert worked_solution(Problem.from_json(record)) == solution


def test_every_language_is_asked_directly_and_step_by_step() -> None:
    for code in ("en", "zh", "fr"):
        assert [style.name for style in prompts_of(code).styles] == ["direct", "steps"]
    assert "题目" in prompts_of("zh").styles[0].question

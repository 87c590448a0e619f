"""A language model where solvers are expected: as a method of a plan, as a ranker, on chains of composed problems."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asking.endpoint_server import Request, completion, endpoint
from augmentation.small import write_small_dataset
from comdiv.errors import ComdivError
from comdiv.evaluation.chains import Chain, write_chains
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.problem import Problem, read_problems, write_problems
from command_line import refused, run
from experiments.tiny import tiny_corpus, tiny_plan, write_yaml


def question_of(request: Request) -> str:
    return str(request["messages"][-1]["content"])


def solve_tiny(request: Request) -> bytes:
    """The right answer to a problem of the tiny corpus: 3 bags of 12 are 36, 32 less 3 given away are 29."""
    text = question_of(request)
    first, second = map(int, re.findall(r"\d+", text))
    return completion(f"The answer is {first * second if 'bags' in text else first - second}.")


def say_nothing(request: Request) -> bytes:
    return completion("I do not know.")


def method(url: str, model: str, **more: Any) -> dict[str, Any]:
    return {"ask": {"base_url": url, "model": model, "shots": 2, "backoff": 0.01, **more}}


def test_a_plan_compares_models_like_solvers_and_asks_nothing_twice(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)

    def reply(request: Request) -> bytes:
        return solve_tiny(request) if request["model"] == "able" else say_nothing(request)

    with endpoint(reply) as server:
        methods = {"Able": method(server.url, "able"), "Unable": method(server.url, "unable", prompt="direct")}
        test_alone = {"evaluate": {"parts": ["test"]}}
        plan = write_yaml(tmp_path / "plan.yaml", tiny_plan(methods=methods, **test_alone))
        assert "this would ask an endpoint" in refused("run", plan, "--out", tmp_path / "runs")
        assert server.requests == []
        arguments = ["run", str(plan), "--out", str(tmp_path / "runs"), "--jobs", "1", "--programs"]
        run(*arguments)
        asked = len(server.requests)
        assert asked == 2 * 2 * 10  # models, datasets, test problems
        run(*arguments)
        # Other prices and another pace make no other run of it.
        methods["Able"] = method(server.url, "able", input_price=2.0, concurrency=1)
        write_yaml(plan, tiny_plan(methods=methods, **test_alone))
        run(*arguments)
        assert len(server.requests) == asked
    run("report", tmp_path / "runs", "--out", tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Able" in page
    assert "Unable" in page
    results = [json.loads(path.read_text()) for path in (tmp_path / "runs").rglob("result.json")]
    accuracy = {(result["asked"]["model"], result["answer_accuracy"]) for result in results if "asked" in result}
    assert accuracy == {("able", 1.0), ("unable", 0.0)}


def test_what_a_plan_asks_wrongly_is_named_by_its_key(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    wrong = method("http://localhost/v1", "m")
    wrong["ask"]["promt"] = "direct"
    with pytest.raises(ComdivError, match=r"methods\.M: unknown setting 'promt'\. Did you mean 'prompt'\?"):
        plan_cells(make_plan(tiny_plan(methods={"M": wrong})), tmp_path)


@pytest.mark.parametrize("probabilities", [True, False])
def test_a_model_ranks_what_an_augmentation_makes(tmp_path: Path, probabilities: bool) -> None:
    """It is surest of the problems about Tom: by its probabilities, or because its samples agree on them."""
    data = write_small_dataset(tmp_path / "data")

    def reply(request: Request) -> bytes:
        sure = "Tom" in question_of(request)
        number = 7 if sure else request["seed"]
        return completion(f"The answer is {number}.", [math.log(0.9 if sure else 0.2)] if probabilities else None)

    with endpoint(reply) as server:
        settings = [f"base_url={server.url}", "model=m", "shots=2", "backoff=0.01"]
        settings += [] if probabilities else ["samples=3", "temperature=0.5"]
        arguments = ["augment", str(data), "--out", str(tmp_path / "out"), "--solver", "ask", "--keep-by", "joint"]
        arguments += [part for setting in settings for part in ("--set", setting)]
        arguments += ["--preset", "structure", "--per-problem", "3,1", "--jobs", "1"]
        assert "this would ask an endpoint" in refused(*arguments)
        assert server.requests == []
        run(*arguments, "--programs")
        assert all(request.get("logprobs") for request in server.requests)
        asked = len(server.requests)
        run(*arguments, "--programs")
        assert len(server.requests) == asked
    (scored,) = (tmp_path / "out").rglob("scores.jsonl")
    scores = [json.loads(line)["score"] for line in scored.read_text().splitlines()]
    expected = {0.9, 0.2} if probabilities else {3.5 / 4, 1.5 / 4}
    assert {round(math.exp(score), 3) for score in scores} == expected
    (kept,) = (tmp_path / "out").rglob("kept.jsonl")
    assert all("Tom" in problem.text for problem in read_problems(kept))


def chain_folder(folder: Path) -> Path:
    """Four chains of three problems, whose compositions are told from the parts by a word."""
    problems, chains = [], []
    for number in range(4):
        parts = [f"c{number}-{place}" for place in range(3)]
        for name in (*parts, f"c{number}-two", f"c{number}-three"):
            kind = "Then" if name.endswith(("two", "three")) else "First"
            text = f"{kind} Tom has {number + 2} bags of {len(problems) + 3} pears. How many pears has he?"
            problems.append(Problem.from_json({"id": name, "language": "en", "text": text, "expression": "N0*N1"}))
        chains += [Chain((parts[0], parts[1]), f"c{number}-two"), Chain(tuple(parts), f"c{number}-three")]
        chains.append(replace(chains[-2], condition="distractor", composed=parts[2]))
    write_problems(folder / "test.jsonl", problems)
    write_chains(folder / "pairs.jsonl", chains)
    return folder


def test_chains_show_what_was_expected_and_what_was_observed_by_length(tmp_path: Path) -> None:
    """A model that solves every part, and no composition."""
    folder = chain_folder(tmp_path / "pairs")

    def reply(request: Request) -> bytes:
        first, second = map(int, re.findall(r"\d+", question_of(request)))
        return say_nothing(request) if "Then" in question_of(request) else completion(str(first * second))

    with endpoint(reply) as server:
        arguments = ["--base-url", server.url, "--model", "m", "--prompt", "direct", "--out", str(tmp_path / "run")]
        shown = run("ask", folder, *arguments).stdout
    assert re.search(r"chains of 3 +100·100·100 +100\.0% +0\.0% +-100\.0%", shown)
    evaluation = tmp_path / "run" / "evaluations" / "pairs"
    chains = json.loads((evaluation / "result.json").read_text())["chains"]
    told = {(row["condition"], row["length"]): (row["expected"], row["observed"]["accuracy"]) for row in chains}
    assert told == {("composed", 2): (1.0, 0.0), ("composed", 3): (1.0, 0.0), ("distractor", 2): (1.0, 1.0)}
    assert "<svg" in (evaluation / "chains.svg").read_text()

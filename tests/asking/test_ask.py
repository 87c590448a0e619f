"""`comdiv ask` against an endpoint that answers, refuses, hangs and breaks: nothing is lost, nothing is asked twice."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import comdiv
from asking.endpoint_server import EndpointServer, Fault, Request, completion, endpoint, refusal
from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.journal import ANSWERS
from comdiv.dataset import Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.problem import Problem, write_problems
from command_line import refused, run

SECRET = "sk-very-secret-0123456789"


def problems(count: int, first: int = 0) -> tuple[Problem, ...]:
    return tuple(
        Problem.from_json(
            {
                "id": f"p{number:03}", "language": "en", "expression": "N0*N1", "answer": str(3 * number + 3),
                "text": f"Tom has 3 bags of {number + 1} apples. How many apples does Tom have?",
            }
        )
        for number in range(first, first + count)
    )  # fmt: skip


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "apples"
    facts = {"source": {"corpus": "apples"}}
    write_dataset(folder, Dataset(problems(6, 100), problems(2, 200), problems(8), facts), title="apples")
    return folder


def solve(request: Request) -> bytes:
    """The right answer to the last message, told step by step."""
    numbers = re.findall(r"\d+", request["messages"][-1]["content"])
    return completion(f"{numbers[0]} * {numbers[1]} = {int(numbers[0]) * int(numbers[1])}. The answer is "
                      f"{int(numbers[0]) * int(numbers[1])}.")  # fmt: skip


def asked(server: EndpointServer, dataset: Path, out: Path, *more: str) -> list[str]:
    options = ["--base-url", server.url, "--model", "m", "--backoff", "0.01", "--concurrency", "2", *more]
    return ["ask", str(dataset), *options, "--out", str(out)]


def test_the_result_is_an_ordinary_run(dataset: Path, tmp_path: Path) -> None:
    with endpoint(solve) as server:
        shown = run(*asked(server, dataset, tmp_path / "run", "--input-price", "2", "--output-price", "10")).stdout
        assert "100.0%" in shown
        assert len(server.requests) == 8
        first = server.requests[0]
        assert first["model"] == "m"
        assert [message["role"] for message in first["messages"]] == ["system", *["user", "assistant"] * 4, "user"]
        assert "The answer is" in first["messages"][2]["content"]
        assert not set(re.findall(r"bags of (\d+)", json.dumps(first["messages"][:-1]))) & {str(n) for n in range(9)}
    folder = tmp_path / "run" / "evaluations" / "apples"
    result = json.loads((folder / "result.json").read_text())
    assert (result["answer_accuracy"], result["solver"]) == (1.0, "ask")
    assert result["asked"]["cost"] == pytest.approx(8 * (100 * 2 + 10 * 10) / 1e6)
    # With the server gone, the run answers for itself, and compares like any predictions.
    assert json.loads(run("evaluate", tmp_path / "run", dataset, "--json").stdout)["correct"] == 8
    assert "+0.0 points" in run("compare", folder, folder, "--test", dataset).stdout


def test_each_style_is_asked_in_the_problems_language(tmp_path: Path) -> None:
    chinese = Problem.from_json(
        {
            "id": "z",
            "language": "zh",
            "text": "小明有3袋苹果，每袋12个，一共有多少个苹果？",
            "expression": "N0*N1",
            "answer": "36",
        }
    )
    write_problems(tmp_path / "z.jsonl", [chinese])
    replies = {"direct": "36", "steps": "3 * 12 = 36。答案是36。", "program": "算式：3×12 = 36"}
    for style, reply in replies.items():
        with endpoint(lambda request, reply=reply: completion(reply)) as server:  # type: ignore[misc]
            out = tmp_path / style
            done = run(*asked(server, tmp_path / "z.jsonl", out, "--prompt", style, "--json"))
            assert json.loads(done.stdout)["correct"] == 1
            assert "题目：" in server.requests[0]["messages"][-1]["content"]
    prediction = json.loads((tmp_path / "program/evaluations/z/predictions.jsonl").read_text())
    assert prediction["expression"] == "3*12"


@pytest.mark.parametrize(
    "faults",
    [
        [refusal(429, "slow down", Retry_After="0.05")],
        [refusal(500, "oops"), refusal(503, "busy", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")],
        [Fault(hang=1.0, body=b"{}")],
        [Fault(body=completion("The answer is 1."), cut=True)],
        [Fault(body=b"<html>not json"), Fault(body=b'{"choices": []}'), Fault(body=b'{"a": ' + b"[" * 500)],
        [Fault(body=b'{"choices": [{"message": 5}]}'), Fault(body=b'{"error": "overloaded"}')],
    ],
)
def test_a_fault_that_passes_costs_nothing_but_time(dataset: Path, tmp_path: Path, faults: list[Fault]) -> None:
    with endpoint(solve, faults) as server:
        out = tmp_path / "run"
        result = json.loads(run(*asked(server, dataset, out, "--timeout", "0.5", "--json")).stdout)
        assert result["correct"] == 8
        assert len(server.requests) == 8 + len(faults)
        assert len((out / ANSWERS).read_text().splitlines()) == 8


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            refusal(401, f"Incorrect API key provided: {SECRET}"),
            r"401 Unauthorized: Incorrect API key.*: \[key\]",
        ),
        (refusal(403, "no"), "this key has no access to the model"),
        (
            refusal(404, "The model `m` does not exist"),
            r"404 Not Found: The model `m` does not exist; the endpoint does",
        ),
        (refusal(400, "maximum context length is 2048 tokens"), "prompt is too long: use fewer --shots"),
        (refusal(400, "bad temperature"), "400 Bad Request: bad temperature"),
        (Fault(302, b"", {"Location": "http://elsewhere/"}), "this is a redirect"),
        (Fault(body=b'"' + b"x" * 10_000_000 + b'"'), "a reply of more than 4 MB"),
        (refusal(429, "quota", Retry_After="86400"), "it wants a pause of 86,400 seconds"),
    ],
)
def test_a_fault_that_stays_is_one_line_and_what_came_before_is_kept(
    dataset: Path, tmp_path: Path, fault: Fault, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    bad = {"on": True}

    def reply(request: Request) -> bytes | Fault:
        return fault if bad["on"] and "bags of 5 " in request["messages"][-1]["content"] else solve(request)

    out = tmp_path / "run"
    with endpoint(reply) as server:
        arguments = asked(server, dataset, out, "--key-variable", "TEST_KEY")
        told = refused(*arguments)
        assert re.search(message, told)
        assert "problem 'p004'" in told
        assert SECRET not in told
        kept = len((out / ANSWERS).read_text().splitlines())
        assert kept >= 3
        bad["on"] = False
        before = len(server.requests)
        run(*arguments)
        assert len(server.requests) - before == 8 - kept
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            Fault(body=b'{"choices": []}'),
            "reply has no choices; gave up after 3 tries; the same command continues",
        ),
        (Fault(body=b"no"), "its reply is not JSON"),
        (Fault(body=b"{}", hang=0.4), "no reply within 0.2 seconds"),
        (refusal(500, "broken"), "500 Internal Server Error: broken; gave up"),
        (Fault(body=completion("1"), cut=True), "the connection was cut"),
    ],
)
def test_a_fault_that_does_not_pass_in_time_is_one_line(
    dataset: Path, tmp_path: Path, fault: Fault, message: str
) -> None:
    with endpoint(lambda request: fault) as server:
        more = ("--retries", "2", "--timeout", "0.2", "--concurrency", "1")
        assert message in refused(*asked(server, dataset, tmp_path / "run", *more))
        assert len(server.requests) == 3


def test_no_server_and_other_mistakes_are_one_line(dataset: Path, tmp_path: Path, monkeypatch: Any) -> None:
    with endpoint(solve) as server:
        gone = asked(server, dataset, tmp_path / "run")
        encrypted = [part.replace("http:", "https:") for part in asked(server, dataset, tmp_path / "b")]
        assert "cannot be reached: [SSL" in refused(*encrypted)
    assert "cannot be reached: Connection refused; is the address right, and the server running?" in refused(*gone)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with endpoint(solve) as server:
        assert "NO_SUCH_KEY is not set" in refused(
            *asked(server, dataset, tmp_path / "a", "--key-variable", "NO_SUCH_KEY")
        )
        assert "give a --temperature above 0" in refused(*asked(server, dataset, tmp_path / "a", "--samples", "3"))
        (tmp_path / "empty.jsonl").write_text("")
        assert "empty.jsonl" in refused(*asked(server, tmp_path / "empty.jsonl", tmp_path / "a"))
        assert server.requests == []
    for url in (
        "localhost:8080",
        "ftp://x/v1",
        "http://me:pw@x/v1",
        "http://x/v1?key=1",
        "http://[x/v1",
        "http://a..b",
        "http://x/ä",
    ):
        with pytest.raises(ComdivError, match=r"base_url: .*an? .*address"):
            AskSettings(base_url=url, model="m")
    with pytest.raises(ComdivError, match="'api_key' cannot be given as a parameter"):
        AskSettings(base_url="http://x/v1", model="m", parameters={"api_key": "1"})


def test_a_server_that_goes_away_is_asked_again_before_we_give_up(dataset: Path, tmp_path: Path) -> None:
    def last(request: Request) -> bytes:
        if len(server.requests) == 3:
            server.shutdown()
            server.server_close()
        return solve(request)

    with endpoint(last) as server:
        arguments = asked(server, dataset, tmp_path / "run", "--retries", "1", "--concurrency", "1")
        assert "Connection refused; gave up after 2 tries" in refused(*arguments)
    assert len((tmp_path / "run" / ANSWERS).read_text().splitlines()) == 3


def test_two_models_do_not_share_a_folder(dataset: Path, tmp_path: Path) -> None:
    with endpoint(solve) as server:
        out = tmp_path / "run"
        run(*asked(server, dataset, out))
        other = ["ask", str(dataset), "--base-url", server.url, "--model", "other", "--out", str(out)]
        assert "is another run: model is m, not other" in refused(*other)
        assert "is another run: prompt is steps, not direct" in refused(
            *asked(server, dataset, out, "--prompt", "direct")
        )
        assert len(server.requests) == 8
        run(*asked(server, dataset, out, "--concurrency", "1", "--timeout", "60"))  # how fast is another matter
        # Even where two models' answers stand in one file, each gets its own.
        run("ask", dataset, "--base-url", server.url, "--model", "other", "--out", tmp_path / "other")
        (tmp_path / "other" / ANSWERS).write_bytes((out / ANSWERS).read_bytes())
        run("ask", dataset, "--base-url", server.url, "--model", "other", "--out", tmp_path / "other")
        assert [request["model"] for request in server.requests[8:]] == ["other"] * 16


def test_a_run_from_elsewhere_asks_nobody_unless_allowed(dataset: Path, tmp_path: Path) -> None:
    write_problems(tmp_path / "more.jsonl", problems(2, 50))
    with endpoint(solve) as server:
        run(*asked(server, dataset, tmp_path / "run"))
        message = refused("evaluate", tmp_path / "run", tmp_path / "more.jsonl")
        assert (
            f"2 of 2 answers are not in the run, and asking would send problems to {server.url}; add --programs"
            in message
        )
        assert len(server.requests) == 8
        run("evaluate", tmp_path / "run", tmp_path / "more.jsonl", "--programs")
        assert len(server.requests) == 10


def test_the_majority_of_several_samples_decides(dataset: Path, tmp_path: Path) -> None:
    def reply(request: Request) -> bytes:
        return completion("The answer is 1.") if request["seed"] == 7 else solve(request)

    with endpoint(reply) as server:
        options = ("--samples", "3", "--temperature", "0.8", "--seed", "7", "--top-p", "0.9", "--parameter", "top_k=5")
        run(*asked(server, dataset, tmp_path / "run", *options, "--max-tokens", "40"))
        assert len(server.requests) == 24
        sent = server.requests[0]
        assert (sent["temperature"], sent["top_p"], sent["top_k"], sent["max_tokens"]) == (0.8, 0.9, 5, 40)
    lines = (tmp_path / "run/evaluations/apples/predictions.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert all(record["right"] for record in records)
    assert records[1]["votes"] == {"6": 2, "1": 1}


def test_no_more_questions_are_on_their_way_than_allowed(dataset: Path, tmp_path: Path) -> None:
    def slow(request: Request) -> bytes:
        time.sleep(0.02)
        return solve(request)

    with endpoint(slow) as server:
        run(*asked(server, dataset, tmp_path / "run", "--concurrency", "3"))
        assert 1 <= server.busiest <= 3


def test_parameters_that_an_endpoint_does_not_know_are_renamed_or_left_out(dataset: Path, tmp_path: Path) -> None:
    def picky(request: Request) -> bytes | Fault:
        if "max_tokens" in request:
            return refusal(400, "Unsupported parameter: use 'max_completion_tokens' instead")
        return refusal(400, "unknown field seed") if "seed" in request else solve(request)

    with endpoint(picky) as server:
        run(*asked(server, dataset, tmp_path / "run", "--concurrency", "1"))
        assert len(server.requests) == 10
        assert server.requests[-1]["max_completion_tokens"] == 512


def test_killed_at_any_moment_nothing_is_asked_twice(dataset: Path, tmp_path: Path) -> None:
    """Killed after a few answers, killed again while resuming, then left alone."""
    out, gate = tmp_path / "run", threading.Semaphore(3)

    def gated(request: Request) -> bytes:
        gate.acquire()
        return solve(request)

    def lines() -> int:
        return (out / ANSWERS).read_bytes().count(b"\n") if (out / ANSWERS).exists() else 0

    with endpoint(gated) as server:
        arguments = asked(server, dataset, out, "--concurrency", "1")
        for wanted in (3, 5):
            process = subprocess.Popen(
                [sys.executable, "-m", "comdiv", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            await_that(lambda wanted=wanted: lines() >= wanted)  # type: ignore[misc]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            with (out / ANSWERS).open("a") as stream:
                stream.write('{"key": "cut o')  # as a kill within a write would leave it
            for _ in range(3):
                gate.release()  # one for the question on its way, which nobody waits for any more
            await_that(lambda: server.busy == 0)
        for _ in range(100):
            gate.release()
        result = json.loads(run(*arguments, "--json").stdout)
    assert result["correct"] == 8
    questions = [request["messages"][-1]["content"] for request in server.requests]
    assert len(set(questions)) == 8
    assert len(questions) <= 8 + 2  # two were in flight when their asker was killed


def await_that(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def test_stopped_by_ctrl_c_what_is_on_its_way_is_kept(dataset: Path, tmp_path: Path) -> None:
    def slow(request: Request) -> bytes:
        time.sleep(0.5)
        return solve(request)

    with endpoint(slow) as server:
        arguments = asked(server, dataset, tmp_path / "run")
        process = subprocess.Popen(
            [sys.executable, "-m", "comdiv", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        await_that(lambda: len(server.requests) >= 3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 130
        assert "every answer is kept: the same command continues" in errors
        answers = [json.loads(line) for line in (tmp_path / "run" / ANSWERS).read_text().splitlines()]
        assert len({answer["key"] for answer in answers}) == len(server.requests)


def test_the_python_twin_takes_the_same_settings(dataset: Path, tmp_path: Path) -> None:
    with endpoint(solve) as server:
        settings = comdiv.AskSettings(base_url=f"{server.url}/chat/completions", model="m", shots=0)
        evaluation = comdiv.ask(dataset, tmp_path / "run", settings)
        assert evaluation.answer_accuracy == 1
        assert [message["role"] for message in server.requests[0]["messages"]] == ["system", "user"]

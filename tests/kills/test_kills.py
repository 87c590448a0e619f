"""A hundred kills, most of them of a resumption: the results are those of a command left alone, and nothing is lost.

`pytest tests/kills -m slow -s` prints a table of the kills.
"""

import http.client
import json
import random
import shutil
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from asking.endpoint_server import completion, endpoint
from augmentation.small import bytes_of, write_small_dataset
from comdiv.asking.journal import ANSWERS
from comdiv.dataset import Dataset, is_intact, read_dataset, read_facts, write_dataset
from comdiv.errors import ComdivError
from comdiv.problem import write_problems
from comdiv.review import latest, read_review
from experiments.tiny import SETTINGS, results_of, tiny_corpus, tiny_plan, tiny_problems, write_yaml
from kills.harness import HEADING, Count, Work, batter, files_in
from solvers.tiny import EIGHT, UNSEEN
from studio.serving import Process, free_port

ROOT = Path(__file__).resolve().parents[2]
TINY = {"hidden": 8, "embedding": 8, "layers": 1, "batch": 4, "most_tokens": 9, "patience": 0}
COUNTS: list[Count] = []


@pytest.fixture(scope="module", autouse=True)
def _table() -> Iterator[None]:
    """Prints what was counted; pytest shows it with -s."""
    yield
    if COUNTS:
        total = Count("in all", *(sum(column) for column in zip(*map(_numbers, COUNTS), strict=True)))
        print("", HEADING, *COUNTS, total, sep="\n")  # noqa: T201


def _numbers(count: Count) -> tuple[int, int, int, int]:
    return count.kills, count.of_resumptions, count.completed, count.lost


def _set(**settings: object) -> list[str]:
    return [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]


# --- the commands ---


def training(folder: Path) -> Work:
    data, run = folder / "data", folder / "out" / "run"
    write_dataset(data, Dataset(EIGHT, UNSEEN, UNSEEN), title="tiny")
    command = ["train", "gts", "--data", str(data), "--out", str(run), "--threads", "1"]

    def results(out: Path) -> dict[str, bytes]:
        return {name: (out / name).read_bytes() for name in ("model.safetensors", "vocabulary.json")}

    return Work("train", [*command, *_set(**TINY, dropout=0.3, epochs=12)], run, results)


def augmenting(folder: Path) -> Work:
    data, out = write_small_dataset(folder / "data"), folder / "work" / "out"
    options = ["--preset", "structure", "--solver", "gts", "--rank", "given", "--rounds", "2", "--per-problem", "2,1"]
    command = ["augment", str(data), "--out", str(out), "--warm-start", *options]
    return Work("augment", [*command, *_set(**TINY, epochs=2, threads=1)], out, bytes_of)


def running(folder: Path) -> Work:
    """A plan with a split, an augmentation, trainings and evaluations."""
    tiny_corpus(folder)
    training = {"seeds": [0, 1], "settings": {**SETTINGS, "epochs": 8}}
    plan = tiny_plan(datasets={"comdiv": tiny_plan()["datasets"]["comdiv"]}, training=training)
    path, out = write_yaml(folder / "tiny.yaml", plan), folder / "out" / "runs"
    return Work("run", ["run", str(path), "--out", str(out), "--jobs", "2"], out, results_of)


def running_the_demo(folder: Path) -> Work:
    """`experiments/demo.yaml`, as small as its smoke preset makes it."""
    out = folder / "out" / "runs"
    plan = ROOT / "experiments" / "demo.yaml"
    command = ["run", str(plan), "--preset", "smoke", "--out", str(out), "--jobs", "2"]
    return Work("run experiments/demo.yaml", command, out, results_of)


def asking(folder: Path, url: str) -> Work:
    """Questions to an endpoint: an answer that is on disk once stays there."""
    data, out = folder / "data", folder / "out" / "run"
    write_dataset(data, Dataset(EIGHT, UNSEEN, tuple(tiny_problems())), title="tiny")
    kept: set[bytes] = set()

    def answers(out: Path) -> set[bytes]:
        path = out / ANSWERS
        return {line for line in path.read_bytes().splitlines() if line.endswith(b"}")} if path.is_file() else set()

    def begin(out: Path) -> None:
        shutil.rmtree(out, ignore_errors=True)
        kept.clear()

    def check(out: Path) -> None:
        found = answers(out)
        assert kept <= found, "an answer that had been paid for is gone"
        kept.update(found)

    def results(out: Path) -> dict[str, bytes]:
        names = [json.loads(line)["key"] for line in answers(out)]
        assert len(set(names)) == len(names), "a question has two answers"
        said = b"\n".join(sorted(answers(out)))  # they arrive in any order
        return {"answers": said, "predictions": (out / "evaluations" / "data" / "predictions.jsonl").read_bytes()}

    command = ["ask", str(data), "--base-url", url, "--model", "m", "--concurrency", "2", "--out", str(out)]
    return Work("ask", command, out, results, begin, check)


def replacing(folder: Path) -> Work:
    """`split --force` over another dataset: at any moment the folder is the old one, the new one, or refused."""
    corpus = folder / "mine.jsonl"
    write_problems(corpus, tiny_problems())
    old, out = folder / "old", folder / "work" / "out"
    write_dataset(old, Dataset(EIGHT, UNSEEN, UNSEEN), title="old")
    command = ["split", str(corpus), "--out", str(out), "--force", "--method", "iid", "--test-size", "10"]

    def begin(out: Path) -> None:
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(old, out)

    def check(out: Path) -> None:
        try:
            facts = read_facts(out)
            names = {problem.id for problem in read_dataset(out).train}
        except ComdivError:
            return
        assert is_intact(out, facts), "a mixture is taken for a dataset"
        assert names <= {problem.id for problem in EIGHT} or names.isdisjoint(problem.id for problem in EIGHT)

    return Work("split --force", command, out, files_in, begin, check)


# --- the tests ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "kills"), [(training, 30), (augmenting, 14), (running, 12), (running_the_demo, 8), (replacing, 30)]
)
def test_kills_at_any_moment_change_nothing(make: object, kills: int, tmp_path: Path) -> None:
    assert callable(make)
    count = batter(make(tmp_path), kills, seed=kills)
    COUNTS.append(count)
    assert count.kills == kills
    assert count.of_resumptions


@pytest.mark.slow
def test_kills_of_questions_cost_no_answer_that_had_arrived(tmp_path: Path) -> None:
    def reply(request: dict[str, Any]) -> bytes:
        return completion(f"The answer is {len(request['messages'][-1]['content'])}.")

    with endpoint(reply) as server:
        count = batter(asking(tmp_path, server.url), 20, seed=5)
    COUNTS.append(count)
    assert count.kills == 20
    assert count.of_resumptions


def test_a_few_kills_of_a_replacement_leave_the_old_or_the_new_dataset(tmp_path: Path) -> None:
    assert batter(replacing(tmp_path), 3, seed=2).kills == 3


class Proofreader:
    """Accepts problems of a studio one after the other, and knows which decisions were confirmed to it."""

    def __init__(self, port: int, names: list[str]) -> None:
        self.port, self.names = port, names
        self.confirmed: list[str] = []

    def work(self) -> None:
        """Decide until nobody answers any more."""
        here = f"127.0.0.1:{self.port}"
        headers = {"Origin": f"http://{here}", "Content-Type": "application/x-www-form-urlencoded"}
        for name in [name for name in self.names if name not in self.confirmed]:
            form = urllib.parse.urlencode({"id": name, "status": "accepted", "which": "all"})
            connection = http.client.HTTPConnection(here, timeout=30)
            try:
                connection.request("POST", "/proofread/decide", form, headers)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException):  # killed: nothing was confirmed
                return
            assert answer.status == http.client.SEE_OTHER, answer.read()
            self.confirmed.append(name)


def proofread(folder: Path, kills: int, seed: int) -> Count:
    """Kill the studio while somebody proofreads; every confirmed decision must be in the review."""
    source = random.Random(seed)
    data, port = folder / "data", free_port()
    problems = tiny_problems()
    write_dataset(data, Dataset(tuple(problems), (), ()), title="tiny")
    reader = Proofreader(port, [problem.id for problem in problems])
    for number in range(kills):
        server = Process("studio", data, "--port", str(port))
        server.start(until="is open at")
        thread = threading.Thread(target=reader.work)
        thread.start()
        moment = len(reader.confirmed) + source.randint(1, 12)
        while len(reader.confirmed) < moment and thread.is_alive():
            time.sleep(0.001)
        time.sleep(source.uniform(0, 0.03))
        server.kill()
        thread.join()
        decisions = latest(read_review(data / "review.jsonl"))
        lost = [name for name in reader.confirmed if decisions[name].status != "accepted"]
        assert not lost, f"{lost} after kill {number + 1}"
        if len(reader.confirmed) == len(problems):
            reader.confirmed.clear()
            (data / "review.jsonl").unlink()
    assert decisions, "nothing was decided between the kills"
    return Count("studio, proofreading", kills, kills - 1, 1)


@pytest.mark.slow
def test_a_studio_killed_while_somebody_proofreads_loses_no_confirmed_decision(tmp_path: Path) -> None:
    COUNTS.append(proofread(tmp_path, 16, seed=3))


def test_two_kills_of_a_studio_lose_no_confirmed_decision(tmp_path: Path) -> None:
    assert proofread(tmp_path, 2, seed=4).kills == 2

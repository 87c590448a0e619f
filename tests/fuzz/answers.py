"""What language models and those who ran them send us: replies of an endpoint, and logs of Inspect."""

import io
import json
import os
import random
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from email.message import Message
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.error import HTTPError

import zipfile_zstd  # noqa: F401  (teaches zipfile the method of newer logs)

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.endpoint import Endpoint, Reply
from comdiv.asking.journal import Journal
from comdiv.asking.votes import majority, own_confidence, prediction_of
from comdiv.errors import ComdivError
from comdiv.evaluation import evaluate_predictions, read_predictions
from comdiv.evaluation.inspect_logs import LARGEST_SAMPLE
from comdiv.reading import read
from fuzz.damage import DEEP, damaged_bytes, damaged_value
from fuzz.rows import ANSWERS, EQUATIONS, GOLD, STEPS, TEXTS

KEY = 'sk-a/b"c+d\\e'  # has what JSON may write in several ways
VARIABLE = "COMDIV_FUZZ_KEY"
Case = dict[str, Any]
_WORDS = (
    *(text for text in (*TEXTS, *STEPS, *EQUATIONS, *ANSWERS) if isinstance(text, str)), f"Your key is {KEY}.",
    "The answer is 7.", "Expression: 3+4", "答案是7。", "\x1b]0;evil\x07\x1b[2J7", "\u202e7", "x" * 300_000, "\ud83d",
)  # fmt: skip
_NUMBERS = (0, -0.1, -3.5, 1, 5, 1e3, 1e308, -1e308, float("nan"), float("-inf"), float("inf"), 10**290, None, "-1")
_HEADERS: Mapping[str, tuple[str, ...]] = {
    "Retry-After": ("1", "0", "-5", "1e400", "nan", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "Mon, 1 Jan " + "9" * 30,
                    "Mon, 01 Jan 2029 00:00:00 +99999999999999999999", "²", ""),
    "Content-Length": ("0", "5", "9" * 30, "²", "-1", "x"),
}  # fmt: skip


# --- replies of an endpoint ---


def draw(source: random.Random) -> Case:
    """A few replies to one problem: what endpoints say, what they should not, and damage on the way."""
    replies = [_reply(source) for _ in range(source.randrange(1, 4))]
    return {"prompt": source.choice(("direct", "steps", "program")), "replies": replies}


def _reply(source: random.Random) -> Case:
    status = source.choice((200, 200, 200, 200, 400, 401, 404, 429, 500, 302))
    value = _completion(source) if status == 200 else {"error": {"message": source.choice(_WORDS)}}
    if source.random() < 0.4:
        value = damaged_value(value, source)
    body = json.dumps(value, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")
    if source.random() < 0.2:
        body = body.replace(b"/", b"\\/").replace(b"+", b"\\u002b")
    if source.random() < 0.15:
        body = damaged_bytes(body, source)
    headers = {name: source.choice(values) for name, values in _HEADERS.items() if source.random() < 0.2}
    return {"status": status, "headers": headers, "body": body.decode("latin-1")}


def _completion(source: random.Random) -> Case:
    choice: Case = {"message": {"role": "assistant", "content": source.choice(_WORDS)}, "finish_reason": "stop"}
    if source.random() < 0.5:
        choice["logprobs"] = {"content": [{"logprob": source.choice(_NUMBERS)} for _ in range(source.randrange(4))]}
    usage = {"prompt_tokens": source.choice(_NUMBERS), "completion_tokens": source.choice(_NUMBERS)}
    return {"choices": [choice], **({"usage": usage} if source.random() < 0.5 else {})}


class _Response(io.BytesIO):
    def __init__(self, reply: Case) -> None:
        super().__init__(reply["body"].encode("latin-1"))
        self.status, self.length = reply["status"], None
        self.headers = Message()
        for name, value in reply["headers"].items():
            self.headers[name] = value


class _Opener:
    """Instead of the network."""

    def __init__(self, reply: Case) -> None:
        self.reply = reply

    def open(self, request: Any, timeout: float) -> _Response:
        response = _Response(self.reply)
        if response.status == 200:
            return response
        raise HTTPError(request.full_url, response.status, "", response.headers, response)


def examine(case: Case) -> None:
    """Ask, vote, score and keep: no number is more than a probability, and the key is nowhere."""
    settings = AskSettings(
        base_url="http://localhost/v1", model="m", prompt=case["prompt"], retries=0, key_variable=VARIABLE,
        tokens_per_minute=1, output_price=1e30,
    )  # fmt: skip
    replies = [reply for told in case["replies"] if (reply := _asked(settings, told)) is not None]
    if not replies:
        return
    problem = GOLD[0]
    prediction = majority(problem, replies, settings.prompt)
    predictions = [prediction_of(problem, reply, settings.prompt) for reply in replies]
    assert own_confidence(read(problem), replies, predictions) <= 0
    record = prediction.to_json()
    assert KEY not in json.dumps(record, allow_nan=False, ensure_ascii=False).replace('\\"', '"').replace("\\\\", "\\")
    assert evaluate_predictions(GOLD, [prediction]).to_json()["n"] == len(GOLD)
    with tempfile.TemporaryDirectory(prefix="comdiv-fuzz-") as folder:
        path = Path(folder) / "answers.jsonl"
        for place, reply in enumerate(replies):
            Journal(path).add(str(place), reply, problem.id, place)
        again = Journal(path)
        for place, reply in enumerate(replies):
            assert again.get(str(place)) == reply, "a reply that was paid for is asked again, or has changed"


def _asked(settings: AskSettings, told: Case) -> Reply | None:
    with patch.dict(os.environ, {VARIABLE: KEY}):
        endpoint = Endpoint(settings)
    endpoint._opener = _Opener(told)  # type: ignore[assignment]
    waits: list[float] = []
    endpoint.pace._sleep = waits.append
    reply, refusal = None, ""
    try:
        reply = endpoint.ask([{"role": "user", "content": "?"}], {"max_tokens": 10})
    except ComdivError as error:
        refusal = str(error)
    endpoint.pace.wait(1)
    assert KEY not in refusal, "the key is in an error"
    if reply is None:
        return None
    assert KEY not in "".join(map(str, asdict(reply).values())), "the key is in a reply"
    assert all(wait < 1e9 for wait in waits), "it waits for ever"
    return reply


# --- logs of Inspect ---

_FOLDERS = ("", "", "../", "/", "a\x1b[2J")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93, 93, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)  # 93: zstandard


def draw_log(source: random.Random) -> Case:
    """A log of a few samples, as an archive or as JSON, one in two damaged."""
    samples = [_sample(source, problem.id) for problem in GOLD]
    if source.random() < 0.4:
        value: Any = {"version": 2, "eval": {"task": "t"}, "samples": samples}
        value = damaged_value(value, source) if source.random() < 0.5 else value
        content = json.dumps(value).encode()
        suffix = ".json"
    else:
        content, suffix = _archive(samples, source), ".eval"
    if source.random() < 0.3:
        content = damaged_bytes(content, source)
    return {"suffix": suffix, "content": content.decode("latin-1")}


def _sample(source: random.Random, name: str) -> Any:
    words = source.choice(_WORDS)
    outputs: tuple[Any, ...] = (
        {"completion": words}, {"choices": [{"message": {"content": words}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": words}]}}]}, {"choices": []}, None,
    )  # fmt: skip
    sample = {"id": name, "epoch": 1, "output": source.choice(outputs), "metadata": {"id": name}}
    return damaged_value(sample, source) if source.random() < 0.2 else sample


def _archive(samples: list[Any], source: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", source.choice(_METHODS)) as archive:
        archive.writestr("header.json", "{}")
        for place, sample in enumerate(samples):
            name = f"samples/{source.choice(_FOLDERS)}{place}_epoch_1.json"
            text = json.dumps(sample)
            archive.writestr(name, "[" * DEEP if source.random() < 0.02 else text)
        if source.random() < 0.01:
            archive.writestr("samples/9.json", b"0" * (LARGEST_SAMPLE + 1))
    return stream.getvalue()


def examine_log(case: Case) -> None:
    """Read and score the log: every problem is counted once, and every prediction survives writing."""
    path = Path(tempfile.gettempdir()) / f"comdiv-fuzz-{os.getpid()}{case['suffix']}"
    path.write_bytes(case["content"].encode("latin-1"))
    try:
        predictions = read_predictions(path)
    finally:
        path.unlink()
    for prediction in predictions:
        json.dumps(prediction.to_json())
    assert evaluate_predictions(GOLD, predictions).to_json()["n"] == len(GOLD)

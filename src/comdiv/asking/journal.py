"""The answers of a run, each synchronised to disk as it arrives, so that nothing paid for is asked again.

The key of a line covers everything that determines the answer. Several processes may append to one file. A line cut
off by a kill is skipped, and its question is asked again.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from comdiv.asking.endpoint import Reply, TokenCount
from comdiv.asking.prompting import Message
from comdiv.claims import locked_file
from comdiv.errors import ComdivError, disk_errors
from comdiv.files import json_line
from comdiv.loading import LARGEST_LINE, parse_json
from comdiv.problem import Problem

ANSWERS = "answers.jsonl"


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)
    key: str
    text: str
    finish: str = ""
    prompt_tokens: TokenCount = 0
    completion_tokens: TokenCount = 0
    log_probability: float | None = Field(default=None, le=0)


def question_key(
    model: str, endpoint: str, messages: Sequence[Message], parameters: Mapping[str, Any], problem: Problem
) -> str:
    """The key of an answer: model, endpoint, prompt and parameters, and the hash of the problem's record."""
    data = hashlib.sha256(json_line(problem.to_json()).encode()).hexdigest()
    record = json.dumps([model, endpoint, list(messages), dict(parameters), data], sort_keys=True)
    return hashlib.sha256(record.encode()).hexdigest()


class Journal:
    """The answers in a file, by key; without a file, in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._replies: dict[str, Reply] = dict(_read(path)) if path is not None and path.exists() else {}

    def get(self, key: str) -> Reply | None:
        """The answer to a question, if it has been asked."""
        return self._replies.get(key)

    def add(self, key: str, reply: Reply, problem: str, sample: int) -> None:
        """Keep an answer: on disk before this returns."""
        if self.path is not None:
            line = json_line({"key": key, "id": problem, "sample": sample, **asdict(reply)})
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with disk_errors(f"{self.path} cannot be written"):
                _append(self.path, line)
        self._replies[key] = reply


def _append(path: Path, line: str) -> None:
    with locked_file(path) as stream:
        end = stream.seek(0, os.SEEK_END)
        if end:
            stream.seek(end - 1)
            cut_off = stream.read(1) != b"\n"
            stream.write((b"\n" if cut_off else b"") + line.encode("utf-8", "replace") + b"\n")
        else:
            stream.write(line.encode("utf-8", "replace") + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def _read(path: Path) -> dict[str, Reply]:
    replies = {}
    try:
        with path.open("rb") as stream:
            while line := stream.readline(LARGEST_LINE):
                try:
                    record = _Line.model_validate(parse_json(line.decode("utf-8")))
                except (ValueError, ValidationError):  # cut off by a kill, or damaged: asked again
                    continue
                replies[record.key] = Reply(**record.model_dump(exclude={"key"}))
    except OSError as error:
        raise ComdivError(f"{path}: {error.strerror or error}") from error
    return replies

"""What people decided about a dataset while proofreading it (§V-A): `review.jsonl`, beside the dataset.

The file only grows: every decision is a line, the last line about a problem counts, and undoing adds a line. So
rebuilding the dataset, a crash, or a second reader never destroys human work.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Literal, get_args

from comdiv.claims import locked_file
from comdiv.errors import ComdivError, disk_errors
from comdiv.expression import Expression, answer_of, operator_count, parse, used_quantities
from comdiv.loading import LARGEST_FILE, parse_json
from comdiv.problem import Problem
from comdiv.reading import read

REVIEW = "review.jsonl"
Status = Literal["open", "accepted", "edited", "rejected"]
STATUSES: tuple[Status, ...] = get_args(Status)
_LONGEST_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class Decision:
    """One line: what somebody decided about a problem. Only an edit has a text and an expression.

    `undo` marks a line that takes back the previous decision; its status, text and expression are those restored.
    """

    id: str
    status: Status
    text: str | None = None
    expression: str | None = None
    by: str = ""
    when: str = ""
    undo: bool = False

    def __post_init__(self) -> None:
        if not self.id:
            raise ComdivError("a decision needs the 'id' of its problem")
        if self.status not in STATUSES:
            raise ComdivError(f"problem '{self.id}': the status '{self.status}' is not one of {', '.join(STATUSES)}")
        if (self.status == "edited") != (self.text is not None and self.expression is not None):
            raise ComdivError(f"problem '{self.id}': an edit has a text and an expression, nothing else does")

    def to_json(self) -> dict[str, Any]:
        """The line as it is written to the file: only the fields that are set."""
        record: dict[str, Any] = {"id": self.id, "status": self.status, "text": self.text}
        record |= {"expression": self.expression, "by": self.by, "when": self.when, "undo": self.undo}
        return {key: value for key, value in record.items() if value not in (None, "", False)}

    @classmethod
    def from_json(cls, record: Any) -> "Decision":
        """The inverse of `to_json`; unknown keys are ignored."""
        if not isinstance(record, Mapping):
            raise ComdivError("a decision is a JSON object")
        values: dict[str, Any] = {}
        for key in ("id", "status", "text", "expression", "by", "when"):
            value = record.get(key)
            if value is not None:
                if not isinstance(value, str):
                    raise ComdivError(f"'{key}' is a {type(value).__name__}, not a str")
                values[key] = value
        if missing := [key for key in ("id", "status") if key not in values]:
            raise ComdivError(f"'{missing[0]}' is missing")
        return cls(**values, undo=record.get("undo") is True)


def read_review(path: Path) -> list[Decision]:
    """All decisions of a review, oldest first; none if there is no file.

    A last line that a crash cut short was never confirmed to anybody: it is skipped. Any other damage is an error.
    """
    try:
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise ComdivError(f"{path}: {size:,} bytes; at most {LARGEST_FILE:,} are read")
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ComdivError(f"{path}: {error.strerror or error}") from error
    decisions = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (number == len(lines) and not _is_json(line)):
            continue
        try:
            decisions.append(Decision.from_json(parse_json(line.decode("utf-8"))))
        except (ValueError, ComdivError) as error:
            raise ComdivError(f"{path}, line {number}: {error}") from error
    return decisions


def _is_json(line: bytes) -> bool:
    try:
        parse_json(line.decode("utf-8"))
    except ValueError:
        return False
    return True


def latest(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """The decisions in force: the last one about each problem."""
    return {decision.id: decision for decision in decisions}


def checked_edit(problem: Problem, text: str, expression: str) -> Problem:
    """The problem with a new text and expression; raises a `ComdivError` that says what is wrong with them."""
    text = " ".join(text.split())
    if not text:
        raise ComdivError("the text is empty")
    if len(text) > _LONGEST_TEXT:
        raise ComdivError(f"the text has {len(text):,} characters; the maximum is {_LONGEST_TEXT:,}")
    tree = parse(expression)
    revision = replace(problem, text=text, expression=tree)
    values = read(revision).values
    beyond = [index for index in used_quantities(tree) if index >= len(values)]
    if beyond:
        there = f"N0 to N{len(values) - 1}" if len(values) > 1 else "only N0" if values else "no quantity"
        raise ComdivError(f"N{beyond[0]} is not in the text: it has {there}")
    return replace(revision, answer=answer_of(tree, values))


def doubts(problem: Problem, expression: Expression) -> list[str]:
    """What is allowed but deserves a second look: a value that is not positive, unused quantities."""
    used = used_quantities(expression)
    unused = [f"N{q.index} = {q.text}" for q in read(problem).plain_quantities if q.index not in used]
    remarks = [f"not used: {', '.join(unused)}"] if unused else []
    if problem.answer is not None and problem.answer <= 0:
        remarks.append("the value is not positive")
    if operator_count(expression) == 0:
        remarks.append("there is nothing to compute")
    return remarks


def apply_review(
    problems: Iterable[Problem], review: Mapping[str, Decision], *, only_accepted: bool = False
) -> list[Problem]:
    """The problems after review: rejected ones removed, edited ones changed, undecided ones kept by default."""
    kept = []
    for problem in problems:
        decision = review.get(problem.id)
        status = decision.status if decision else "open"
        if status == "rejected" or (only_accepted and status == "open"):
            continue
        if decision is not None and decision.text is not None and decision.expression is not None:
            try:
                kept.append(checked_edit(problem, decision.text, decision.expression))
            except ComdivError as error:
                raise ComdivError(f"the review's edit of problem '{problem.id}' cannot be used: {error}") from error
        else:
            kept.append(problem)
    return kept


class ReviewLog:
    """The review of one dataset, open for writing. Every decision is on disk before `decide` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._known: list[Decision] = []
        self._version: tuple[int, int] | None = None
        self._latest: dict[str, Decision] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read what another program has appended, if anything."""
        try:
            status = self.path.stat()
            version = (status.st_size, status.st_mtime_ns)
        except FileNotFoundError:
            version = (0, 0)
        if version != self._version:
            self._known = read_review(self.path)
            self._latest = latest(self._known)
            self._version = version

    @property
    def latest(self) -> Mapping[str, Decision]:
        """The decisions in force, by problem."""
        self.refresh()
        return self._latest

    def decide(self, decision: Decision) -> Decision:
        """Append a decision, adding the time if it has none."""
        with self._lock, locked_file(self.path) as stream:
            return self._append(decision, stream)

    def last_done(self) -> Decision | None:
        """The decision that `undo` would take back."""
        self.refresh()
        taken_back = 0
        for decision in reversed(self._known):
            if decision.undo:
                taken_back += 1
            elif taken_back:
                taken_back -= 1
            else:
                return decision
        return None

    def undo(self, by: str = "") -> Decision | None:
        """Take back the last decision and restore the one before it; None if there is nothing to undo."""
        with self._lock, locked_file(self.path) as stream:
            last = self.last_done()
            if last is None:
                return None
            return self._append(replace(self._before(last), by=by, when="", undo=True), stream)

    def _before(self, last: Decision) -> Decision:
        """The decision about the problem before `last`, the newest one that has not been undone."""
        position = max(index for index, decision in enumerate(self._known) if decision is last)
        earlier = [decision for decision in self._known[:position] if decision.id == last.id]
        return earlier[-1] if earlier else Decision(last.id, "open")

    def _append(self, decision: Decision, stream: BinaryIO) -> Decision:
        dated = decision if decision.when else replace(decision, when=datetime.now(UTC).isoformat(timespec="seconds"))
        line = json.dumps(dated.to_json(), ensure_ascii=False) + "\n"
        with disk_errors(f"{self.path} cannot be written"):
            _go_to_end(stream)
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
        self._version = None
        self.refresh()
        return dated


def _go_to_end(stream: BinaryIO) -> None:
    """Seek to where the next line begins: an unterminated last line is completed, or dropped if a crash cut it."""
    content = stream.read()
    last = content.rpartition(b"\n")[2]
    if last and _is_json(last):
        stream.write(b"\n")
    elif last:
        stream.truncate(stream.seek(len(content) - len(last)))

"""A judging session (§V-D) in one SQLite file: a sample of problems, the judges, their marks.

Blindness is enforced here, not in the pages: nobody sees another judge's marks before all judges have finished, and
a judge who has finished can no longer change a mark. A mark is one transaction, on disk before it is confirmed.
"""

import hashlib
import json
import random
import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, local
from typing import Any

from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus
from comdiv.errors import ComdivError, disk_errors
from comdiv.evaluation.judgements import CRITERIA, Judgement
from comdiv.files import path_part
from comdiv.loading import parse_json
from comdiv.observer import SILENT, Observer
from comdiv.problem import Problem

DATABASE = "judging.sqlite"
LONGEST_NAME, LONGEST_COMMENT = 60, 2_000
_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE problems (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT;
CREATE TABLE judges (
  name TEXT PRIMARY KEY, place INTEGER NOT NULL UNIQUE, secret TEXT NOT NULL UNIQUE, finished TEXT
) STRICT;
CREATE TABLE marks (
  judge TEXT NOT NULL REFERENCES judges (name), place INTEGER NOT NULL REFERENCES problems (place),
  grammar INTEGER NOT NULL, fluency INTEGER NOT NULL, logic INTEGER NOT NULL, comment TEXT NOT NULL, time TEXT NOT NULL,
  PRIMARY KEY (judge, place)
) STRICT;
"""


class StillBlindError(ComdivError):
    """Somebody's marks were asked for before everybody had finished."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge: the secret is the only way to their pages."""

    name: str
    secret: str
    finished: bool
    marked: int


def sample_problems(problems: Sequence[Problem], size: int, seed: int) -> list[Problem]:
    """A random sample in random order; it depends on the set and the seed, not on the order of the problems."""
    if size > len(problems):
        raise ComdivError(f"cannot draw {size:,} from {len(problems):,} problems: choose a smaller --sample")
    return random.Random(seed).sample(sorted(problems, key=lambda problem: problem.id), size)


@dataclass(slots=True, eq=False)
class _Change:
    """A change that waits to be written, and its fate."""

    change: Callable[[sqlite3.Connection], object]
    is_over: bool = False
    error: ComdivError | None = None


class JudgingSession:
    """The file of a session. Every method is one transaction, so that any number of pages can work at once."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ComdivError(f"{path}: no such judging session")
        self.path = path
        self._connections = local()
        self._turn = Lock()
        self._waiting: deque[_Change] = deque()
        self._names: dict[bytes, str] = {}  # of judges, by the hash of their secret
        with self._transaction() as connection:
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE type IN ('view', 'trigger')").fetchone():
                raise ComdivError(f"{path} is not a judging session: it has a view or a trigger, which may do anything")
            records = connection.execute("SELECT record FROM problems ORDER BY place").fetchall()
            facts = connection.execute("SELECT key, value FROM facts").fetchall()
        try:  # neither ever changes, so both are read once
            self.problems = tuple(Problem.from_json(parse_json(str(record))) for (record,) in records)
            self.facts: Mapping[str, Any] = {key: parse_json(str(value)) for key, value in facts}
            self.organiser = str(self.facts["organiser"])  # a secret, too: its page shows progress and results
        except (ValueError, KeyError, ComdivError) as error:
            raise ComdivError(f"{path} is not a judging session: {error}") from error

    @classmethod
    def create(
        cls, path: Path, problems: Sequence[Problem], judges: Sequence[str], facts: Mapping[str, Any]
    ) -> "JudgingSession":
        """A new session; the file appears complete or not at all."""
        if path.exists():
            raise ComdivError(f"{path} exists already")
        _check_names(judges)
        with disk_errors(f"{path} cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
        staging = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        try:
            with closing(sqlite3.connect(staging, isolation_level=None)) as connection:
                connection.executescript(f"PRAGMA journal_mode = WAL; {_SCHEMA}")
                connection.execute("BEGIN")
                rows = [(n, p.id, json.dumps(p.to_json(), ensure_ascii=False)) for n, p in enumerate(problems, 1)]
                connection.executemany("INSERT INTO problems VALUES (?, ?, ?)", rows)
                for place, name in enumerate(judges):
                    connection.execute("INSERT INTO judges VALUES (?, ?, ?, NULL)", (name, place, new_secret()))
                named = {**facts, "organiser": new_secret()}
                connection.executemany(
                    "INSERT INTO facts VALUES (?, ?)", [(k, json.dumps(v)) for k, v in named.items()]
                )
                connection.execute("COMMIT")
            staging.replace(path)
        except sqlite3.Error as error:
            raise ComdivError(f"{path} cannot be written: {error}") from error
        finally:
            staging.unlink(missing_ok=True)
        return cls(path)

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction, written through to disk (WAL, synchronous = FULL) when the block ends.

        Every thread keeps its connection. Whatever SQLite complains about, a damaged page or a lock, is one line.
        """
        try:
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise ComdivError(f"{self.path} cannot be used: {error}") from error

    def _write(self, change: Callable[[sqlite3.Connection], object]) -> None:
        """Make a change, and return when it is on disk.

        Whoever has the turn writes for all who wait, in one transaction: the disk is the slow part. A change that is
        refused is undone without the others.
        """
        own = _Change(change)
        self._waiting.append(own)
        with self._turn:
            if not own.is_over:
                self._write_all([self._waiting.popleft() for _ in range(len(self._waiting))])
        if own.error is not None:
            raise own.error

    def _write_all(self, changes: Sequence["_Change"]) -> None:
        try:
            with self._transaction(writes=True) as connection:
                for one in changes:
                    connection.execute("SAVEPOINT one")
                    try:
                        one.change(connection)
                    except ComdivError as error:
                        one.error = error
                        connection.execute("ROLLBACK TO one")
                    connection.execute("RELEASE one")
        except ComdivError as error:  # none is on disk
            for one in changes:
                one.error = error
        for one in changes:
            one.is_over = True

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._connections, "own", None)
        if connection is None:
            connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            self._connections.own = connection
        return connection

    @property
    def size(self) -> int:
        """The number of problems."""
        return len(self.problems)

    # --- who ---

    def judges(self, name: str | None = None) -> list[Judge]:
        """All judges, or one, in the order in which they were named, with the number of marks, never the marks."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT name, secret, finished, (SELECT count(*) FROM marks WHERE judge = name) FROM judges "
                + ("" if name is None else "WHERE name = :name ")
                + "ORDER BY judges.place",
                {"name": name},
            ).fetchall()
        return [Judge(str(name), str(secret), finished is not None, marked) for name, secret, finished, marked in rows]

    def judge(self, secret: str) -> Judge | None:
        """The judge to whom this link belongs.

        Secrets are compared by their hashes: how long that takes says nothing about them.
        """
        digest = hashlib.sha256(secret.encode("utf-8", "replace")).digest()
        if digest not in self._names:  # a judge may have joined through another process
            self._names = {hashlib.sha256(one.secret.encode()).digest(): one.name for one in self.judges()}
        judges = self.judges(self._names[digest]) if digest in self._names else []
        return judges[0] if judges else None

    def add_judge(self, name: str) -> None:
        """Add a judge while the results are still hidden: afterwards nobody could judge blindly."""
        judges = self.judges()
        if all(judge.finished for judge in judges):
            raise ComdivError(f"everybody has finished and the results are known: '{name}' can no longer judge blindly")
        _check_names([*(judge.name for judge in judges), name])
        row = (name, len(judges), new_secret())
        self._write(lambda connection: connection.execute("INSERT INTO judges VALUES (?, ?, ?, NULL)", row))

    # --- marks ---

    def problem(self, place: int) -> Problem:
        """The problem at a place, counted from 1."""
        if not 1 <= place <= self.size:
            raise ComdivError(f"there is no problem {place}: the session has {self.size}")
        return self.problems[place - 1]

    def mark(self, judge: str, place: int, marks: Mapping[str, bool], comment: str = "") -> None:
        """Store a judge's marks for a problem, replacing any earlier ones."""
        if missing := [name for name in CRITERIA if name not in marks]:
            raise ComdivError(f"problem {place} still needs a mark for {' and '.join(missing)}")
        self.problem(place)  # there must be one
        values = [int(marks[name]) for name in CRITERIA]

        def store(connection: sqlite3.Connection) -> None:
            _refuse_finished(connection, judge)
            connection.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?, ?)",
                (judge, place, *values, comment.strip()[:LONGEST_COMMENT], _now()),
            )

        self._write(store)

    def own_marks(self, judge: str) -> dict[int, Judgement]:
        """A judge's own marks by place."""
        with self._transaction() as connection:
            return _judgements(connection, judge)

    def own_mark(self, judge: str, place: int) -> Judgement | None:
        """A judge's own mark of one problem."""
        with self._transaction() as connection:
            return _judgements(connection, judge, place).get(place)

    def next_unmarked(self, judge: str, after: int = 0) -> int | None:
        """The first place without a mark after another one, continuing from the beginning; None: all are marked."""
        with self._transaction() as connection:
            marked = {place for (place,) in connection.execute("SELECT place FROM marks WHERE judge = ?", (judge,))}
        places = [*range(after + 1, self.size + 1), *range(1, after + 1)]
        return next((place for place in places if place not in marked), None)

    def finish(self, judge: str) -> None:
        """Finish judging: every problem must be marked, and marks can no longer change."""

        def store(connection: sqlite3.Connection) -> None:
            _refuse_finished(connection, judge)
            missing = self.size - len(_judgements(connection, judge))
            if missing:
                raise ComdivError(f"{missing} of {self.size} problems still need your marks")
            connection.execute("UPDATE judges SET finished = ? WHERE name = ?", (_now(), judge))

        self._write(store)

    # --- afterwards ---

    @property
    def is_over(self) -> bool:
        """Whether everybody has finished."""
        return all(judge.finished for judge in self.judges())

    def all_judgements(self) -> list[Judgement]:
        """Everybody's marks; refused until everybody has finished."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT name, finished FROM judges ORDER BY place").fetchall()
            if waiting := [name for name, finished in rows if finished is None]:
                raise StillBlindError(
                    f"the marks are hidden until everybody has finished; still judging: {', '.join(waiting)}"
                )
            return [mark for name, _ in rows for mark in _judgements(connection, name).values()]


def _refuse_finished(connection: sqlite3.Connection, judge: str) -> None:
    row = connection.execute("SELECT finished FROM judges WHERE name = ?", (judge,)).fetchone()
    if row is None:
        raise ComdivError(f"'{judge}' does not judge in this session")
    if row[0] is not None:
        raise ComdivError("you have finished: marks can no longer be changed")


def _judgements(connection: sqlite3.Connection, judge: str, place: int | None = None) -> dict[int, Judgement]:
    """A judge's marks by place: all of them, or that of one place."""
    rows = connection.execute(
        "SELECT marks.place, id, grammar, fluency, logic, comment, time FROM marks JOIN problems USING (place) "
        "WHERE judge = :judge AND marks.place = coalesce(:place, marks.place) ORDER BY marks.place",
        {"judge": judge, "place": place},
    ).fetchall()
    return {
        place: Judgement.of_criteria(
            str(name), judge, bool(grammar), bool(fluency), bool(logic), str(comment), str(time)
        )
        for place, name, grammar, fluency, logic, comment, time in rows
    }


def new_secret() -> str:
    """A secret for a link: 128 bits."""
    return secrets.token_urlsafe(16)


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise ComdivError("judging needs at least two judges: --judge Ann --judge Ben")
    for name in names:
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise ComdivError(
                f"'{name[:LONGEST_NAME]}' is not a judge's name: use 1 to {LONGEST_NAME} printable characters"
            )
    if twice := [name for name in names if names.count(name) > 1]:
        raise ComdivError(f"two judges are called '{twice[0]}'")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def open_session(
    source: str,
    judges: Sequence[str],
    sample: int,
    seed: int,
    out: Path | None,
    *,
    everything: bool,
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
) -> JudgingSession:
    """The session of a folder: a new one, or the existing one if it has the same sample."""
    corpus = load_corpus(source, reading, observer)
    path = (out or Path(f"judging-{path_part(corpus.name, 'the corpus')}")) / DATABASE
    problems = _products(corpus.problems, everything, observer)
    wanted = {"corpus": corpus.name, "version": corpus.version, "sample": sample, "seed": seed, "of": len(problems)}
    if not path.exists():
        return JudgingSession.create(path, sample_problems(problems, sample, seed), judges, wanted)
    session = JudgingSession(path)
    for key, value in wanted.items():
        if session.facts.get(key) != value:
            raise ComdivError(
                f"{path.parent} is a session with {key} {session.facts.get(key)}, not {value}: choose another --out"
            )
    known = [one.name for one in session.judges()]
    for name in judges:
        if name not in known:
            session.add_judge(name)
            observer.note(f"{name} joins the session")
    return session


def _products(problems: Sequence[Problem], everything: bool, observer: Observer) -> list[Problem]:
    """The products of rules and operations, if any: the paper judges augmented problems, not their originals."""
    products = [problem for problem in problems if problem.provenance.is_product]
    if not products or everything:
        return list(problems)
    observer.note(
        f"drawing from {len(products):,} products of rules and operations; --all draws from all {len(problems):,}"
    )
    return products

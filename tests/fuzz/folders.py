"""Folders and files that comdiv writes and reads again, with one file damaged: by a crash, by hand, or on purpose.

A case names the folder, the file (a pattern, since names of cells are hashes) and its bytes, as Latin-1 text; without
content the file is missing.
"""

import atexit
import json
import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from comdiv.corpora.read import read_corpus
from comdiv.dataset import Dataset, is_intact, read_dataset, read_facts, write_dataset
from comdiv.evaluation import Judgement, read_judgements, write_judgements
from comdiv.evaluation.kappa import agreement
from comdiv.experiments.archive import export_results, read_results
from comdiv.experiments.keys import adopt_cells
from comdiv.experiments.plan import read_plan
from comdiv.experiments.planning import plan_cells
from comdiv.expression import parse
from comdiv.problem import Problem, Provenance
from comdiv.review import Decision, ReviewLog, apply_review
from comdiv.studio.library import Library, Query
from comdiv.studio.session import JudgingSession
from experiments.synthetic import write_synthetic_results
from experiments.tiny import tiny_corpus, tiny_plan, write_yaml
from fuzz import exchanged
from fuzz.damage import STRANGE, damaged_bytes, damaged_value
from solvers.tiny import EIGHT, UNSEEN

Case = dict[str, Any]
WHEN = "2024-05-17T09:30:00+00:00"


# --- the folders ---


def _make_dataset(folder: Path) -> None:
    """A dataset with products, facts and a review."""
    products = [
        Problem(f"p{number}", "en", "Tom has 3 pens and 4 more.", parse("N0+N1"), Fraction(7), provenance, extra=extra)
        for number, (provenance, extra) in enumerate(
            [(Provenance(rule="4", parents=("sum",)), {"score": 0.5}), (Provenance(operation="1", round=2), {})]
        )
    ]
    facts = {"method": "dbca", "settings": {"seed": 0}, "source": {"name": "tiny"}, "divergences": {"atom": 0.1}}
    write_dataset(folder, Dataset(EIGHT[:4], EIGHT[4:], (*UNSEEN, *products), facts), title="fuzz")
    log = ReviewLog(folder / "review.jsonl")
    log.decide(Decision("sum", "edited", "Tom has 3 pens and 4 more.", "N0+N1", "me", WHEN))
    log.decide(Decision("p0", "rejected", by="me", when=WHEN))


def _read_dataset(folder: Path) -> None:
    """Everything that looks at a dataset without training."""
    is_intact(folder, read_facts(folder))
    dataset = read_dataset(folder)
    apply_review(dataset.test, ReviewLog(folder / "review.jsonl").latest)
    assert read_corpus(folder).problems is not None
    library = Library.read(folder)
    library.search(Query())
    library.facets  # noqa: B018


def _make_run(folder: Path) -> None:
    """A run of a tiny solver, with its checkpoints and an evaluation."""
    from comdiv.solvers.runs import evaluate_run, train_run
    from solvers.tiny import tiny_settings

    data = folder / "data"
    write_dataset(data, Dataset(EIGHT, UNSEEN, UNSEEN), title="fuzz")
    settings = {**tiny_settings().model_dump(), "hidden": 4, "embedding": 4, "epochs": 1}
    train_run("gts", data, folder / "run", changes=settings)
    evaluate_run(folder / "run", UNSEEN, folder / "run" / "evaluations" / "test", name="test")


def _read_run(folder: Path) -> None:
    """Load the solver, solve, and read what is beside it."""
    from comdiv.solvers.checkpoints import read_checkpoint
    from comdiv.solvers.runs import data_of, load_run, own_beam
    from comdiv.verbs.solving import compare

    run = folder / "run"
    own_beam(run)
    data_of(run)
    load_run(run).solve(UNSEEN)
    read_checkpoint(run / "training_state")
    predictions = run / "evaluations" / "test" / "predictions.jsonl"
    compare(predictions, predictions, folder / "data" / "test.jsonl")


def _make_plan(folder: Path) -> None:
    tiny_corpus(folder)
    tuning = {"presets": {"small": {"training": {"seeds": [0]}}}, "measure": {"k": [3]}}
    write_yaml(folder / "plan.yaml", tiny_plan(**tuning))


def _read_plan(folder: Path) -> None:
    for preset in (None, "small"):
        plan_cells(read_plan(folder / "plan.yaml", preset), folder)


def _make_runs(folder: Path) -> None:
    """Two plans with one cell of each kind, and one that failed: what is alike need not be read again and again."""
    write_synthetic_results(folder)
    kept: dict[str, dict[str, Any]] = {}
    for path in (folder / "plans").glob("*.json"):
        record = json.loads(path.read_text())
        kinds = dict.fromkeys(cell["kind"] for cell in record["cells"])
        cells = [next(cell for cell in record["cells"] if cell["kind"] == kind) for kind in kinds]
        cells += [cell for cell in record["cells"] if (folder / "cells" / cell["key"] / "failed.json").is_file()]
        named = {cell["key"] for cell in cells}.union(*(cell["needs"] for cell in cells))
        record["cells"] = [cell for cell in record["cells"] if cell["key"] in named]
        path.write_text(json.dumps(record))
        kept |= {cell["key"]: cell for cell in record["cells"]}
    for unused in (path for path in (folder / "cells").iterdir() if path.name not in kept):
        shutil.rmtree(unused)


def _read_runs(folder: Path) -> None:
    """Plans and cells with all their details, as the report reads them."""
    for plan in read_results(folder):
        for cell in plan.cells:
            if (details := cell.details) is not None:
                details.dataset(), details.history(), details.frequencies(), details.outcomes()
                details.test_ids(), details.compositions()
    adopt_cells(folder)


def _make_results(folder: Path) -> None:
    runs = folder / "runs"
    _make_runs(runs)
    export_results(runs, folder / "published")
    shutil.rmtree(runs)


def _read_results(folder: Path) -> None:
    _read_runs(folder / "published")


def _make_judging(folder: Path) -> None:
    """A session of two judges, as one small file without anything drawn at random: a seed gives the same bytes."""
    session = JudgingSession.create(folder / "session", EIGHT[:4], ["ann", "ben"], {"source": "tiny"})
    for place in (1, 2, 3):
        for judge in ("ann", "ben"):
            session.mark(judge, place, {"grammar": True, "fluency": place > 1, "logic": judge == "ann"}, "so so")
    small = folder / "judging.sqlite"
    with closing(sqlite3.connect(folder / "session")) as connection:
        connection.execute("VACUUM INTO ?", [str(small)])
    with closing(sqlite3.connect(small)) as connection:
        connection.execute("UPDATE judges SET secret = name")
        connection.execute("UPDATE facts SET value = '\"secret\"' WHERE key = 'organiser'")
        connection.execute("UPDATE marks SET time = ?", [WHEN])
        connection.commit()
        connection.executescript("PRAGMA page_size = 512; VACUUM")
    for unused in folder.glob("session*"):
        unused.unlink()


def _read_judging(folder: Path) -> None:
    session = JudgingSession(folder / "judging.sqlite")
    for judge in session.judges():
        session.own_marks(judge.name)
        session.next_unmarked(judge.name)
    for place in range(1, session.size + 1):
        session.problem(place)
    session.organiser, session.is_over  # noqa: B018
    session.mark("ann", 4, {"grammar": True, "fluency": True, "logic": True})
    for judge in session.judges():
        session.finish(judge.name)
    session.all_judgements()


def _make_judgements(folder: Path) -> None:
    marks = [Judgement(problem.id, judge, good=True) for judge in ("ann", "ben") for problem in EIGHT]
    write_judgements(folder / "flat.jsonl", marks)
    result = [{"from_name": "good", "value": {"choices": ["yes"]}}]
    tasks = [
        {"id": 1, "data": {"id": problem.id}, "annotations": [{"result": result, "completed_by": who}]}
        for problem in EIGHT
        for who in (1, {"email": "a@b"})
    ]
    (folder / "label-studio.json").write_text(json.dumps(tasks))


def _read_judgements(folder: Path) -> None:
    for path in folder.iterdir():
        agreement(read_judgements(path))


OWN: Mapping[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "dataset": (_make_dataset, _read_dataset),
    "run": (_make_run, _read_run),
    "plan": (_make_plan, _read_plan),
    "runs": (_make_runs, _read_runs),
    "results": (_make_results, _read_results),
    "judging": (_make_judging, _read_judging),
    "judgements": (_make_judgements, _read_judgements),
}
FOLDERS = {**OWN, **exchanged.FOLDERS}


@cache
def _original(name: str) -> Path:
    """The folder of that name as comdiv made it, once per process; nobody changes it."""
    folder = Path(tempfile.mkdtemp(prefix=f"comdiv-fuzz-{name}-"))
    owner = os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    FOLDERS[name][0](folder)
    return folder


@cache
def patterns(name: str) -> tuple[str, ...]:
    """Its files, each kind once: cells of one kind are alike."""
    unread = (".svg", ".png", ".txt", *([".md"] if name in OWN else []))  # cards are read by exports alone
    root = _original(name)
    paths = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    wild = (Path(*(_without_hash(part) for part in path.parts)) for path in paths)
    return tuple(sorted({path.as_posix() for path in wild if path.suffix not in unread}))


def _without_hash(part: str) -> str:
    kind, dash, rest = part.partition("-")
    return f"{kind}-*" if dash and len(rest) >= 12 and rest.isalnum() else part


# --- cases ---


def draw(source: random.Random, kinds: Iterable[str] = OWN) -> Case:
    """One folder with one file damaged, as text or as the value that it holds."""
    name = source.choice(list(kinds))
    return damaged_folder(name, source.choice(patterns(name)), source)


def damaged_folder(name: str, pattern: str, source: random.Random) -> Case:
    """One folder with the file of this pattern damaged."""
    if source.random() < 0.03:
        return {"folder": name, "file": pattern, "content": None}
    path = next(_original(name).glob(pattern))
    as_bytes = not path.stat().st_size or source.random() < 0.35
    content = damaged_bytes(path.read_bytes(), source) if as_bytes else _damaged_content(path, source)
    return {"folder": name, "file": pattern, "content": content.decode("latin-1")}


def _damaged_content(path: Path, source: random.Random) -> bytes:
    """The file with a value in it replaced; what has no values is damaged as bytes."""
    match path.suffix:
        case ".json":
            return _json(damaged_value(json.loads(path.read_text()), source))
        case ".jsonl":
            lines = path.read_bytes().splitlines()
            place = source.randrange(len(lines))
            lines[place] = _json(damaged_value(json.loads(lines[place]), source))
            return b"\n".join(lines) + b"\n"
        case ".yaml":
            return yaml.safe_dump(damaged_value(yaml.safe_load(path.read_text()), source), sort_keys=False).encode()
        case ".sqlite":
            return _damaged_database(path, source)
        case _:
            return damaged_bytes(path.read_bytes(), source)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _damaged_database(path: Path, source: random.Random) -> bytes:
    """The database with one column of one table set to something else, as far as SQLite allows that."""
    table, column = source.choice(
        (
            *(("facts", name) for name in ("key", "value")),
            *(("problems", name) for name in ("record", "id", "place")),
            *(("judges", name) for name in ("name", "finished")),
            *(("marks", name) for name in ("judge", "grammar", "place")),
        )
    )
    strange = [
        value for value in STRANGE if isinstance(value, str | int) and value not in (10**400, -(10**30), "\ud800")
    ]
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            values = (source.choice(strange), source.randrange(1, 4))
            try:
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", values)
            except sqlite3.Error:  # the schema refuses it: then without a table
                connection.execute(f"DROP TABLE {table}")
        return copy.read_bytes()
    finally:
        copy.unlink()


def prepare(case: Case) -> None:
    """Make and read the folder once: that is slow, loads libraries, and says nothing about the case."""
    _warm(case["folder"])


@cache
def _warm(name: str) -> None:
    examine({"folder": name, "file": "no such file", "content": None})


def examine(case: Case) -> None:
    """Read a copy of the folder in which the file has the case's content."""
    name = case["folder"]
    with tempfile.TemporaryDirectory(prefix="comdiv-fuzz-") as copy:
        folder = Path(copy) / name
        shutil.copytree(_original(name), folder, copy_function=_link)
        for path in [*folder.glob(case["file"])][:1]:
            path.unlink()
            if case["content"] is not None:
                path.write_bytes(case["content"].encode("latin-1"))
        FOLDERS[name][1](folder)


def _link(source: str, target: str) -> None:
    """Files are only ever replaced, except databases and logs, which are written in place."""
    copy = shutil.copyfile if source.endswith((".sqlite", "review.jsonl")) else os.link
    copy(source, target)

"""The whole of Algorithm 1 on a small dataset: what comes out, what is refused, what interruptions change (nothing)."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

from augmentation.small import bytes_of, english, options, records, write_small_dataset
from comdiv.augmentation import augment_dataset, ban_hashes
from comdiv.augmentation import rounds as rounds_module
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError
from comdiv.expression import value_of
from comdiv.problem import write_problems
from comdiv.reading import read
from comdiv.solver import Score, Solution, TrainingSummary


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_small_dataset(tmp_path / "small")


class Counting:
    """A ranker that likes long texts, and remembers what it was trained on."""

    trained: list[tuple[int, Path | None]]

    def fit(
        self, train: Any, validation: Any, *, resume_from: Any = None, progress: Any = None, start_from: Any = None
    ) -> Any:
        self.trained.append((len(train), start_from))
        return TrainingSummary(1, 1, None, len(train), 0)

    def solve(self, problems: Any, *, beam: int = 1) -> list[Solution]:
        return [Solution(None, None, -1 / len(problem.text)) for problem in problems]

    def score(self, problems: Any) -> list[Score]:
        return [Score(-1 / len(problem.text), 1) for problem in problems]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "saved").write_text("yes")

    @classmethod
    def load(cls, folder: Path) -> "Counting":
        assert (folder / "saved").is_file()
        return cls()


@pytest.fixture
def ranker() -> Callable[..., Any]:
    class Fresh(Counting):
        trained = []  # noqa: RUF012

    def make(name: str, **settings: Any) -> Any:
        assert name == "counting"
        return Fresh()

    make.solver = Fresh  # type: ignore[attr-defined]
    return make


RANKED: dict[str, Any] = {
    "ranker": "counting",
    "rounds": 3,
    "per_problem": (4, 2),
    "max_growth": 99,
    "checks": "paper",
    "keep": 0.25,
    "growth": None,
}


@pytest.mark.parametrize("checks", ["full", "paper"])
@pytest.mark.parametrize("match", ["unit", "environment"])
def test_every_new_problem_is_sound_new_and_says_where_it_came_from(
    data: Path, tmp_path: Path, checks: str, match: str
) -> None:
    augment_dataset(data, tmp_path / "out", options(checks=checks, match=match, rounds=2))
    before, after = read_dataset(data), read_dataset(tmp_path / "out")
    assert after.train[: len(before.train)] == before.train
    assert after.validation == before.validation
    new = after.train[len(before.train) :]
    assert {problem.provenance.operation for problem in new} >= ({"operation 1"} if checks == "paper" else set())
    assert new
    known = {problem.id for problem in after.train}
    for problem in new:
        assert problem.expression is not None
        assert problem.answer == value_of(problem.expression, read(problem).values)
        assert problem.answer is not None
        assert problem.answer > 0
        assert set(problem.provenance.parents) <= known
        assert problem.provenance.round in (1, 2)
    hashes = [read(problem).mask_hash for problem in (*after.train, *after.validation)]
    originals = {read(problem).mask_hash for problem in (*before.train, *before.validation)}
    assert len(set(hashes) - originals) == len(new)


def test_the_test_part_is_copied_as_bytes_and_never_parsed(tmp_path: Path) -> None:
    data = write_small_dataset(tmp_path / "small", unparsable_test=True)
    augment_dataset(data, tmp_path / "out", options())
    assert (tmp_path / "out" / "test.jsonl").read_bytes() == (data / "test.jsonl").read_bytes()
    assert (tmp_path / "out" / "validation.jsonl").read_bytes() == (data / "validation.jsonl").read_bytes()


def test_a_test_part_is_refused_by_name_and_by_content(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / "test.jsonl", data / "innocent.jsonl")
    for name in ("test.jsonl", "innocent.jsonl"):
        with pytest.raises(ComdivError, match="test part"):
            augment_dataset(data / name, tmp_path / "out", options())


def test_a_folders_train_file_stands_for_the_folder_and_a_bare_file_is_all_train(data: Path, tmp_path: Path) -> None:
    augment_dataset(data / "train.jsonl", tmp_path / "folder", options())
    assert (tmp_path / "folder" / "validation.jsonl").read_bytes() == (data / "validation.jsonl").read_bytes()
    write_problems(tmp_path / "bare.jsonl", english())
    report = augment_dataset(tmp_path / "bare.jsonl", tmp_path / "bare", options())
    assert report["originals"] == len(english())
    assert read_dataset(tmp_path / "bare").test == ()


def test_banned_texts_do_not_come_out(data: Path, tmp_path: Path) -> None:
    augment_dataset(data, tmp_path / "free", options(checks="paper"))
    new = [p for p in read_dataset(tmp_path / "free").train if p.provenance.round]
    banned = ban_hashes(new[::2])
    augment_dataset(data, tmp_path / "banned", options(checks="paper", ban=banned))
    again = [p for p in read_dataset(tmp_path / "banned").train if p.provenance.round]
    assert again
    assert not set(banned) & {read(problem).mask_hash for problem in again}
    facts = json.loads((tmp_path / "banned" / "dataset.json").read_text())
    assert facts["options"]["ban"]["texts"] == len(banned)


def test_same_seed_same_bytes_another_seed_other_problems(data: Path, tmp_path: Path) -> None:
    chosen = {"checks": "paper", "growth": 2.0}
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        augment_dataset(data, tmp_path / name, options(seed=seed, **chosen))
    assert bytes_of(tmp_path / "a").keys() == bytes_of(tmp_path / "b").keys()
    different = {n for n, content in bytes_of(tmp_path / "a").items() if bytes_of(tmp_path / "b")[n] != content}
    assert different == {"README.md"}  # it has the folder's name
    assert (tmp_path / "a" / "train.jsonl").read_bytes() != (tmp_path / "c" / "train.jsonl").read_bytes()


def test_growth_is_bounded_for_a_round_and_for_the_whole(data: Path, tmp_path: Path) -> None:
    report = augment_dataset(data, tmp_path / "round", options(checks="paper", growth=1.5))
    assert report["new"] == round(1.5 * report["originals"])
    report = augment_dataset(data, tmp_path / "whole", options(checks="paper", growth=None, max_growth=2.0, rounds=3))
    assert report["train"] == 2 * report["originals"]
    assert [found["round"] for found in report["rounds"]] == [1]  # it is full: no more rounds, no more rankers
    assert not (tmp_path / "whole" / "rounds" / "2").exists()


def test_originals_can_be_repeated(data: Path, tmp_path: Path) -> None:
    report = augment_dataset(data, tmp_path / "out", options(repeat_originals=3))
    train = read_dataset(tmp_path / "out").train
    assert len(train) == 3 * report["originals"] + report["new"]
    repeated = [problem for problem in train if problem.provenance.operation == "repetition"]
    assert len(repeated) == 2 * report["originals"]
    assert len({problem.id for problem in train}) == len(train)


def test_the_ranker_is_trained_on_the_current_set_and_an_exact_share_stays(
    data: Path, tmp_path: Path, ranker: Any
) -> None:
    report = augment_dataset(data, tmp_path / "out", options(**RANKED), make_solver=ranker)
    sizes = [28]
    for number, entry in enumerate(report["rounds"], start=1):
        candidates = records(tmp_path / "out" / "rounds" / str(number) / "candidates.jsonl")
        kept = entry["operation 1"]["kept"] + entry["operation 2"]["kept"]
        assert kept == len(candidates) // 4
        sizes.append(sizes[-1] + kept)
    assert [size for size, _ in ranker.solver.trained] == sizes[:-1]
    assert all(start is None for _, start in ranker.solver.trained)


def test_warm_start_begins_with_the_ranker_of_the_round_before(data: Path, tmp_path: Path, ranker: Any) -> None:
    augment_dataset(data, tmp_path / "out", options(**RANKED, warm_start=True), make_solver=ranker)
    starts = [start for _, start in ranker.solver.trained]
    assert starts == [None, tmp_path / "out" / "rounds" / "1" / "ranker", tmp_path / "out" / "rounds" / "2" / "ranker"]


def test_what_stays_has_the_best_scores(data: Path, tmp_path: Path, ranker: Any) -> None:
    chosen = {**RANKED, "rounds": 1, "keep_by": "joint"}
    report = augment_dataset(data, tmp_path / "out", options(**chosen), make_solver=ranker)
    folder = tmp_path / "out" / "rounds" / "1"
    scores = {line["id"]: line["score"] for line in records(folder / "scores.jsonl")}
    kept = [line["id"] for line in records(folder / "kept.jsonl")]
    assert kept == sorted(scores, key=lambda name: (-scores[name], name))[: len(scores) // 4]
    found = report["rounds"][0]
    assert found["least_score_kept"] == min(scores[name] for name in kept)
    operations = {line["id"]: line["provenance"]["operation"] for line in records(folder / "candidates.jsonl")}
    for operation in ("operation 1", "operation 2"):
        assert found[operation]["median_score"] == median_low(
            [scores[name] for name in operations if operations[name] == operation]
        )


def test_a_ranker_that_nobody_can_make_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="make_solver"):
        augment_dataset(data, tmp_path / "out", options(**RANKED))


class StoppedError(Exception):
    """As if the power had failed."""


@pytest.mark.parametrize("match", ["unit", "environment"])
@pytest.mark.parametrize(
    ("number", "after"),
    [(1, "checks.json"), (1, "candidates.jsonl"), (1, "kept.jsonl"), (2, "rejected.jsonl"), (2, "scores.jsonl")],
)
def test_stopped_after_any_file_of_any_round_it_comes_to_the_same_bytes(
    data: Path, tmp_path: Path, ranker: Any, monkeypatch: pytest.MonkeyPatch, after: str, number: int, match: str
) -> None:
    chosen = options(**{**RANKED, "rounds": 2, "match": match})
    whole = tmp_path / "whole" / "out"
    augment_dataset(data, whole, chosen, make_solver=ranker)
    out = tmp_path / "stopped" / "out"
    victim = out / "rounds" / str(number) / after

    def stop(what: str, done: int, total: int, note: str) -> None:
        if victim.exists():
            raise StoppedError

    writers = {
        name: getattr(rounds_module, name)
        for name in ("write_problems", "write_text", "write_json_lines", "_write_lines")
    }
    for name, writer in writers.items():

        def stopping(path: Path, *arguments: Any, writer: Any = writer) -> Any:
            result = writer(path, *arguments)
            stop("", 0, 0, "")
            return result

        monkeypatch.setattr(rounds_module, name, stopping)
    with pytest.raises(StoppedError):
        augment_dataset(data, out, chosen, make_solver=ranker)
    monkeypatch.undo()
    assert not (out / "dataset.json").exists()
    augment_dataset(data, out, chosen, make_solver=ranker)
    assert bytes_of(out) == bytes_of(whole)


def test_a_finished_folder_is_left_as_it_is_and_other_options_are_refused(data: Path, tmp_path: Path) -> None:
    first = augment_dataset(data, tmp_path / "out", options())
    before = (tmp_path / "out" / "train.jsonl").stat().st_mtime_ns
    assert augment_dataset(data, tmp_path / "out", options()) == first
    assert (tmp_path / "out" / "train.jsonl").stat().st_mtime_ns == before
    with pytest.raises(ComdivError, match="seed is 0, not 1"):
        augment_dataset(data, tmp_path / "out", options(seed=1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(ComdivError, match="exists and is not an augmentation"):
        augment_dataset(data, tmp_path / "mine", options())


def test_rejected_drafts_are_shown_with_reasons(data: Path, tmp_path: Path) -> None:
    report = augment_dataset(data, tmp_path / "out", options(checks="paper"))
    shown = records(tmp_path / "out" / "rounds" / "1" / "rejected.jsonl")
    refused = {(1, name) for name in report["rounds"][0]["operation 1"]["refused"]}
    refused |= {(2, name) for name in report["rounds"][0]["operation 2"]["refused"]}
    assert {(line["operation"], line["reason"]) for line in shown} == refused
    assert all(line["parents"] for line in shown)


def test_a_corpus_without_expressions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare.jsonl").write_text('{"id": "a", "language": "en", "text": "What is 2?", "expression": null}\n')
    with pytest.raises(ComdivError, match="nothing to augment"):
        augment_dataset(tmp_path / "bare.jsonl", tmp_path / "out", options())

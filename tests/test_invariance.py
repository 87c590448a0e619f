"""The same problems give the same bytes, in whatever order they come and however many processes work on them."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import comdiv
from augmentation.small import english
from comdiv.corpora import Corpus, ReadReport, read_corpus
from comdiv.corpora.demo import generate
from comdiv.dataset import PARTS, Dataset, write_dataset
from comdiv.exchange.compositional_pairs import export_compositional_pairs
from comdiv.problem import Problem, write_problems
from comdiv.solvers.runs import evaluate_run
from experiments.tiny import SETTINGS
from solvers.tiny import EIGHT, UNSEEN
from synthesis import handmade

ORDERS = 3
FILE_FACTS = ("version", "sha256")  # of the file that was read, with its order


def orders(problems: Sequence[Problem]) -> Iterator[list[Problem]]:
    """As they are, backwards, shuffled."""
    yield list(problems)
    yield list(reversed(problems))
    yield random.Random(1).sample(list(problems), len(problems))


def corpus_of(problems: Sequence[Problem]) -> Corpus:
    return Corpus("mine", "1", tuple(problems), ReadReport())


def results(folder: Path) -> dict[str, Any]:
    """The bytes of a dataset's parts, and its facts without those of the file it was made from."""
    facts = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    facts["source"] = {name: value for name, value in facts["source"].items() if name not in FILE_FACTS}
    return {**{part: (folder / f"{part}.jsonl").read_bytes() for part in PARTS}, "facts": facts}


def assert_all_alike(folders: Sequence[Path]) -> None:
    first, *others = (results(folder) for folder in folders)
    for other in others:
        assert other == first


@pytest.mark.parametrize("method", ["dbca", "iid", "length", "template"])
def test_splits(method: str, tmp_path: Path) -> None:
    settings = comdiv.SplitSettings.checked(method=method, test_size=20, k=3, operator_bound=1, steps_per_item=2)
    for number, problems in enumerate(orders(list(islice(generate("en"), 100)))):
        comdiv.split(corpus_of(problems), tmp_path / str(number), settings)
    assert_all_alike([tmp_path / str(number) for number in range(ORDERS)])


def test_syntheses(tmp_path: Path) -> None:
    options = comdiv.SynthesisOptions()
    for number, problems in enumerate(orders(handmade.corpus())):
        comdiv.synthesize(corpus_of(problems), tmp_path / str(number), options)
    assert_all_alike([tmp_path / str(number) for number in range(ORDERS)])


def test_augmentations_of_a_file_or_a_dataset_with_one_two_or_three_processes(tmp_path: Path) -> None:
    options = comdiv.AugmentationOptions.preset(per_problem=(2, 2), repeat_originals=2, rounds=2)
    files, datasets = [], []
    for number, problems in enumerate(orders([replace(one, id=str(n)) for n, one in enumerate(english())])):
        write_problems(tmp_path / f"{number}.jsonl", problems)
        write_dataset(tmp_path / f"{number}" / "data", Dataset(tuple(problems), (), ()), title="data")
        files.append(tmp_path / f"{number}-file")
        comdiv.augment(tmp_path / f"{number}.jsonl", files[-1], options, jobs=number + 1)
        datasets.append(tmp_path / f"{number}-dataset")
        comdiv.augment(tmp_path / f"{number}" / "data", datasets[-1], options, jobs=number + 1)
    for folders in (files, datasets):
        trains = {(folder / "train.jsonl").read_bytes() for folder in folders}
        candidates = {(folder / "rounds" / "2" / "candidates.jsonl").read_bytes() for folder in folders}
        assert (len(trains), len(candidates)) == (1, 1)


def test_splits_by_ids_audits_and_chains_of_problems(tmp_path: Path) -> None:
    problems = list(islice(generate("en"), 60))
    held_out = {problem.id for problem in problems[::4]}
    (tmp_path / "ids.json").write_text(json.dumps(sorted(held_out)))
    written = []
    for number, ordered in enumerate(orders(problems)):
        folder = tmp_path / str(number)
        comdiv.split(corpus_of(ordered), folder / "split", ids=tmp_path / "ids.json")
        sides = {
            "test": [p for p in ordered if p.id in held_out],
            "train": [p for p in ordered if p.id not in held_out],
        }
        for side, own in sides.items():
            write_problems(folder / f"{side}.jsonl", own)
        comdiv.measure(folder / "train.jsonl", folder / "test.jsonl", out=folder / "measured")
        export_compositional_pairs(ordered, folder / "pairs", name="mine")
        paths = [path for name in ("measured", "pairs") for path in sorted((folder / name).rglob("*.*"))]
        written.append({path.relative_to(folder): path.read_bytes() for path in paths if path.suffix != ".png"})
    assert_all_alike([tmp_path / str(number) / "split" for number in range(ORDERS)])
    assert Path("measured/audit.html") in written[0]
    assert written[0] == written[1] == written[2]


def test_evaluations_of_a_run_and_of_predictions(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", Dataset(EIGHT, UNSEEN, ()), title="data")
    small = {name: value for name, value in SETTINGS.items() if name != "heads"}
    comdiv.train("gts", tmp_path / "data", tmp_path / "run", changes={**small, "epochs": 1, "beam": 3})
    written = set()
    for number, problems in enumerate(orders([*EIGHT, *UNSEEN])):
        folder = tmp_path / "run" / "evaluations" / str(number)
        evaluate_run(tmp_path / "run", problems, folder, name="test", train=EIGHT)
        written.add(((folder / "predictions.jsonl").read_bytes(), (folder / "result.json").read_bytes()))
        write_problems(tmp_path / f"{number}.jsonl", problems)
        lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        random.Random(number).shuffle(lines)
        (tmp_path / "shuffled.jsonl").write_text("".join(lines), encoding="utf-8")
        scored = tmp_path / f"scored-{number}"
        comdiv.evaluate(tmp_path / f"{number}.jsonl", predictions=[tmp_path / "shuffled.jsonl"], out=scored)
        written.add((folder / "predictions.jsonl").read_bytes() == (scored / "predictions.jsonl").read_bytes())
    assert len(written) == 2  # one evaluation, and the same one again from its predictions
    assert True in written


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("name", ["mawps", "math23k"])
def test_real_corpora(name: str, tmp_path: Path) -> None:
    problems = read_corpus(name).problems[:2000]
    settings = comdiv.SplitSettings.checked(test_size=400, steps_per_item=5)
    options = comdiv.AugmentationOptions.preset(per_problem=(1, 1))
    for number, ordered in enumerate(orders(problems)):
        comdiv.split(corpus_of(ordered), tmp_path / f"split-{number}", settings)
        comdiv.synthesize(corpus_of(ordered), tmp_path / f"sd-{number}")
        write_problems(tmp_path / f"{number}.jsonl", ordered)
        comdiv.augment(tmp_path / f"{number}.jsonl", tmp_path / f"da-{number}", options, jobs=number + 1)
    for kind in ("split", "sd"):
        assert_all_alike([tmp_path / f"{kind}-{number}" for number in range(ORDERS)])
    assert len({(tmp_path / f"da-{number}" / "train.jsonl").read_bytes() for number in range(ORDERS)}) == 1

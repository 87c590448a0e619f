"""What a cell does, by its kind: plain functions that take a recipe and input folders and fill the cell's folder.

Each can be killed at any moment and called again: it resumes or restarts, and never takes partial work for a result.
"""

import hashlib
import math
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from comdiv.asking.ask_settings import AskSettings
from comdiv.corpora import Columns, Corpus, ReadReport, read_corpus
from comdiv.dataset import PARTS, Dataset, is_intact, read_dataset, read_facts, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.planning import augmentation_with_ban
from comdiv.experiments.store import write_outcomes
from comdiv.files import file_sha256
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.solver import Progress
from comdiv.solvers.command import PROGRAM
from comdiv.solvers.hyperparameters import settings_class
from comdiv.solvers.language_model import ASK

Summary = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a cell works: its own folder, and those of the cells that it needs, in the order of its needs."""

    folder: Path
    needs: tuple[Path, ...]
    inputs: Mapping[str, str]
    progress: Progress

    def data(self, number: int = 0) -> Path:
        """The dataset of a need."""
        return self.needs[number] / "dataset"


def work(kind: str, recipe: Mapping[str, Any], place: Workplace) -> Summary:
    """Do what a cell is for, and return its summary."""
    return _KINDS[kind](recipe, place)


# --- datasets ---


def _dataset(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    out = place.folder / "dataset"
    if not _is_complete(out):  # otherwise it was killed between the dataset and the marker
        shutil.rmtree(out, ignore_errors=True)
        if "split" in recipe:
            _split(recipe, place, out)
        elif "synthesize" in recipe:
            _synthesis(recipe, place, out)
        else:
            _copy(recipe, place, out)
    return {"problems": _sizes(out)}


def _split(recipe: Mapping[str, Any], place: Workplace, out: Path) -> None:
    from comdiv.splitting.extraction import extract
    from comdiv.splitting.methods import SplitSettings, problems_to_split, split_problems
    from comdiv.splitting.outputs import corpus_facts, write_split

    settings = SplitSettings.checked(**recipe["split"])
    corpus = _corpus(recipe, place)
    problems = problems_to_split(corpus.problems, settings)
    extraction = extract(problems, window=settings.extraction.window)
    test = split_problems(extraction, settings, lambda done, total: place.progress("searching", done, total, ""))
    write_split(out, extraction, test, settings, corpus_facts(corpus))


def _synthesis(recipe: Mapping[str, Any], place: Workplace, out: Path) -> None:
    from comdiv.synthesis import SynthesisOptions, synthesize_dataset

    corpus = _corpus(recipe, place)
    files: dict[str, Any] = {name: place.inputs[name] for name in recipe["files"]}
    for name, path in files.items():
        if file_sha256(Path(path)) != recipe["files"][name]:
            raise ComdivError(f"{path} has changed since the plan was made")
    excluded = {"exclude": place.data()} if place.needs else {}
    options = SynthesisOptions.checked(**{**recipe["synthesize"], **files, **excluded})
    synthesize_dataset(corpus.problems, out, options, corpus=corpus.name, progress=place.progress)


def _corpus(recipe: Mapping[str, Any], place: Workplace) -> Corpus:
    place.progress("reading", 0, 1, "")
    if "within" in recipe:
        return within_corpus(read_dataset(place.data()))
    columns = recipe.get("columns")
    corpus = read_corpus(place.inputs["corpus"], columns=Columns(*columns.values()) if columns else None)
    if corpus.version != recipe["corpus"]["version"]:
        version = recipe["corpus"]["version"]
        raise ComdivError(f"{place.inputs['corpus']} has changed: {corpus.version}, the plan was made with {version}")
    if recipe.get("contradictions") == "drop":
        corpus = replace(corpus, problems=tuple(corpus.report.without_contradictions(corpus.problems)))
    if (limit := recipe.get("limit")) is None:
        return corpus
    sample = sorted(corpus.problems, key=lambda problem: hashlib.sha256(problem.id.encode()).digest())[:limit]
    return replace(corpus, problems=tuple(sorted(sample, key=lambda problem: problem.id)))


def within_corpus(outer: Dataset) -> Corpus:
    """The training side of a dataset as a corpus of its own."""
    origin = outer.facts.get("source", {})
    name = f"{origin.get('corpus', 'a dataset')}, training side"
    return Corpus(name, str(origin.get("version", "unknown")), outer.training_side, ReadReport())


def _copy(recipe: Mapping[str, Any], place: Workplace, out: Path) -> None:
    """An existing dataset, copied so that results stay valid when the original changes."""
    source = Path(place.inputs["folder"])
    staging = out.with_name(".dataset.part")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    for name in (*(f"{part}.jsonl" for part in PARTS), "dataset.json"):
        shutil.copyfile(source / name, staging / name)
    hashes = {name.removesuffix(".jsonl"): entry["sha256"] for name, entry in read_facts(staging)["files"].items()}
    if hashes != recipe["files"] or not is_intact(staging, read_facts(staging)):
        raise ComdivError(f"{source} has changed since the plan was made")
    staging.replace(out)


def _is_complete(folder: Path) -> bool:
    return (folder / "dataset.json").is_file() and is_intact(folder, read_facts(folder))


def _sizes(folder: Path) -> dict[str, int]:
    files = read_facts(folder)["files"]
    return {part: int(files[f"{part}.jsonl"]["problems"]) for part in PARTS}


def _measurement(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    from comdiv.splitting.extraction import ExtractionSettings
    from comdiv.splitting.measurement import measure_sides
    from comdiv.splitting.outputs import write_measurement

    place.progress("measuring", 0, 1, "")
    dataset = read_dataset(place.data())
    settings = ExtractionSettings.recorded(dataset.facts).changed(k=recipe["k"])
    measurement = measure_sides(dataset.training_side, dataset.test, settings, alpha=recipe["alpha"])
    write_measurement(measurement, place.folder / "measurement")
    return measurement.to_json()


# --- augmentation ---


def _augmentation(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    from comdiv.augmentation import augment_dataset
    from comdiv.solvers.runs import make_solver

    options = augmentation_with_ban(recipe, place.data())
    out = place.folder / "dataset"
    ranker = partial(make_solver, programs=True)  # the plan was allowed to run its programs
    report = augment_dataset(place.data(), out, options, make_solver=ranker, progress=place.progress)
    return {"problems": _sizes(out), "report": report}


def _rounds(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    """The training set after some rounds: every new problem says which round it came from."""
    out = place.folder / "dataset"
    if not _is_complete(out):
        shutil.rmtree(out, ignore_errors=True)
        rounds = recipe["rounds"]
        grown = read_dataset(place.data())
        train = tuple(problem for problem in grown.train if (problem.provenance.round or 0) <= rounds)
        facts = {**grown.facts, "rounds_kept": rounds}
        title = f"An augmented set after {rounds} round{'s' * (rounds > 1)}"
        write_dataset(out, Dataset(train, grown.validation, grown.test, facts), title=title)
    return {"problems": _sizes(out)}


# --- solvers ---


def _training(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    from comdiv.solvers.runs import ask_run, make_solver, train_run

    solver, settings, run = recipe["solver"], recipe["settings"], place.folder / "run"
    if solver.startswith(PROGRAM):  # it trains itself, if necessary
        make_solver(solver, programs=True).save(run)
        return {"epochs": 0, "planned_epochs": 0, "steps": 0}
    if solver == ASK:
        data = read_dataset(place.data())
        model = ask_run(AskSettings.model_validate_json(place.inputs["ask"]), run, data.train)
        return {"epochs": 0, "planned_epochs": 0, "steps": 0, "problems": len(model.shots)}
    for kind, setting in (("weights", settings_class(solver).weights_setting), ("vectors", "vectors")):
        if kind in place.inputs:
            settings = {**settings, setting: place.inputs[kind]}
    if recipe["steps"] == "equal":
        settings = equal_steps(settings, training_problems(place.data(0)), training_problems(place.data(1)))
    summary = train_run(
        solver, place.data(), run, preset=recipe["preset"], changes=settings, select=recipe.get("select", "best"),
        progress=place.progress,
    )  # fmt: skip
    epochs = [entry["processor_seconds"] for entry in summary.history]
    return {
        "epochs": summary.epochs,
        "planned_epochs": settings["epochs"],
        "best_epoch": summary.best_epoch,
        "validation_accuracy": summary.best_validation_accuracy,
        "problems": summary.problems,
        "left_out": summary.left_out,
        "steps": steps_of(summary.problems, settings["batch"], summary.epochs),
        "planned_steps": steps_of(summary.problems, settings["batch"], settings["epochs"]),
        "seconds_per_epoch": sum(epochs) / len(epochs) if epochs else None,
    }


def _evaluation(recipe: Mapping[str, Any], place: Workplace) -> Summary:
    from comdiv.solvers.runs import evaluate_run, learn_run_weights, read_config

    trained_on, dataset = read_dataset(place.data(1)), read_dataset(place.data(-1))
    summary = {}
    members = recipe.get("members", 1)
    runs = [need / "run" for need in (place.needs[0], *place.needs[2 : 1 + members])]
    programs = _is_allowed(read_config(runs[0]), place.inputs)
    weights = None
    if "plausible" in recipe:
        learners, held_out = runs, trained_on.validation
        if recipe["plausible"] == "nested":
            learners = [need / "run" for need in place.needs[1 + members : -2]]
            held_out = read_dataset(place.data(-2)).test
        place.progress("learning to re-rank", 0, 1, "")
        weights = learn_run_weights(learners, held_out, recipe["without"])
    parts = {part: problems for part in recipe["parts"] if (problems := getattr(dataset, part))}
    if not parts:
        raise ComdivError(f"the dataset has no {' or '.join(recipe['parts'])} problems to evaluate on")
    for part, problems in parts.items():
        folder = place.folder / part
        subsets = test_subsets(problems, trained_on.train) if part == "test" else {}
        evaluation = evaluate_run(
            runs, problems, folder, name=part, train=trained_on.training_side, beam=recipe["beam"],
            cover=recipe["cover"], weights=weights, subsets=subsets, programs=programs, progress=place.progress,
        )  # fmt: skip
        write_outcomes(folder, evaluation.right)
        summary[part] = evaluation.to_json()
    return summary


def _is_allowed(config: Mapping[str, Any], inputs: Mapping[str, str]) -> bool:
    """Whether a run is the program or asks the endpoint, with the key, that the plan names: it may be a stranger's."""
    if config.get("solver") != inputs.get("program"):
        return False
    if "ask" not in inputs:
        return True
    planned = AskSettings.model_validate_json(inputs["ask"])
    there = AskSettings.checked(**(config.get("settings") or {}))
    return (planned.base_url, planned.key_variable) == (there.base_url, there.key_variable)


_KINDS: dict[str, Callable[[Mapping[str, Any], Workplace], Summary]] = {
    "dataset": _dataset,
    "measurement": _measurement,
    "augmentation": _augmentation,
    "rounds": _rounds,
    "training": _training,
    "evaluation": _evaluation,
}


COUNTED_IN_EPOCHS = ("epochs", "patience", "halve_every")


def steps_of(problems: int, batch: int, epochs: int) -> int:
    """The optimiser steps of a training."""
    return math.ceil(problems / batch) * epochs


def equal_steps(settings: Mapping[str, Any], problems: int, like: int) -> dict[str, Any]:
    """The settings with which `problems` are trained for as many steps as `like` problems with the given settings.

    Epochs are whole, and at least one: the numbers agree to within one epoch, and every result states its steps.
    """
    batch = settings["batch"]
    factor = math.ceil(like / batch) / math.ceil(problems / batch)
    scaled = {name: max(1, round(settings[name] * factor)) for name in COUNTED_IN_EPOCHS if settings.get(name)}
    return {**settings, **scaled}


def training_problems(data: Any) -> int:
    """How many problems the training part of a dataset folder has."""
    try:
        return int(read_facts(data)["files"]["train.jsonl"]["problems"])
    except (KeyError, TypeError, ValueError) as error:
        raise ComdivError(f"{data}: dataset.json does not say how many training problems there are") from error


IN_TRAIN, NOT_IN_TRAIN = "text in train", "text not in train"
STRUCTURAL, LEXICAL = COMPOSITIONS = ("structural", "lexical")
DECOMPOSITION = "decomposition"  # provenance of a synthesis; repetitions of an augmentation have another name


def test_subsets(test: Sequence[Problem], train: Sequence[Problem]) -> dict[str, set[str]]:
    """Ids of test problems by the name of their part.

    For all datasets: whether the number-masked text is in the training set. An augmentation can rejoin what was taken
    apart and so reproduce a test text; results say how much that explains. For SD: structural and lexical problems, and
    structural ones by how many of the two simpler problems they were decomposed into are in the training set.
    """
    texts = {read(problem).mask for problem in train}
    subsets: dict[str, set[str]] = {IN_TRAIN: set(), NOT_IN_TRAIN: set()}
    halves = Counter(seed_of(problem) for problem in train if problem.provenance.operation == DECOMPOSITION)
    for problem in test:
        subsets[IN_TRAIN if read(problem).mask in texts else NOT_IN_TRAIN].add(problem.id)
        composition = problem.composition
        if composition in COMPOSITIONS:
            subsets.setdefault(composition, set()).add(problem.id)
        if composition == STRUCTURAL:
            subsets.setdefault(f"{halves[problem.id]} halves in train", set()).add(problem.id)
    return dict(sorted(subsets.items(), key=lambda item: (item[0][0].isdigit(), item[0])))


def seed_of(product: Problem) -> str:
    """The id of the problem that a decomposition took apart."""
    return str(product.provenance.details.get("seed", ""))

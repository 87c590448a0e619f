"""The verbs about solvers: train, evaluate, solve, compare (§V)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from comdiv.claims import claimed_folder, owns
from comdiv.corpora import Corpus
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus, load_test
from comdiv.errors import ComdivError, shortened
from comdiv.evaluation import (
    Chain,
    Comparison,
    Evaluation,
    Prediction,
    compare_predictions,
    evaluate_predictions,
    gold_answer,
    read_chains,
    read_predictions,
    templates_of,
    write_result,
)
from comdiv.evaluation.accuracy import templates_hash
from comdiv.evaluation.chains import CHAINS, draw_chains
from comdiv.figures import write_figure
from comdiv.files import file_sha256, inside, path_part, refuse_to_overwrite
from comdiv.language import detect_language, get_language
from comdiv.loading import load_object
from comdiv.observer import SILENT, Observer
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.settings import Settings, first_difference
from comdiv.solver import Solution, SolvedStep, TrainingSummary, steps_of

SOLVING_BEAM = 5  # hypotheses to show of a single problem
_SHOWN = 10  # unreadable predictions that are named one by one


class SolvingSettings(Settings):
    """How a trained solver decodes."""

    beam: int | None = Field(
        default=None,
        ge=1,
        le=100,
        description="Number of hypotheses to follow; by default 5 to solve, the run's own to evaluate.",
    )
    cover: Literal["none", "soft", "hard"] = Field(
        default="none", description="Whether an expression should use every quantity of its text."
    )
    rerank: bool = Field(
        default=True, description="Re-rank the hypotheses by their values, if the run has learnt to (plausible)."
    )
    programs: bool = Field(default=False, description="Let the run of a command: solver run its program.")


class ComparisonSettings(Settings):
    """How two sets of predictions are compared."""

    seed: int = Field(default=0, ge=0, description="Seed of the bootstrap.")
    resamples: int = Field(default=10_000, ge=100, description="Number of resamples of the bootstrap.")


def train(
    solver: str,
    data: Path,
    out: Path,
    *,
    preset: str = "cpu",
    changes: Mapping[str, Any] | None = None,
    select: Literal["best", "last"] = "best",
    observer: Observer = SILENT,
) -> TrainingSummary:
    """Train a solver on a dataset folder into a run folder; an interrupted run there goes on by itself.

    `changes` are settings of the solver that differ from its preset's; `select` is the epoch that is kept.
    """
    from comdiv.solvers.runs import train_run

    with observer.progress(solver) as progress:
        summary = train_run(solver, data, out, preset=preset, changes=changes, select=select, progress=progress)
    if summary.left_out:
        observer.note(
            f"{summary.left_out} training problems were left out: the alphabet cannot spell their expressions"
        )
    return summary


@owns("out")
def evaluate(
    test: str | Path,
    *,
    run: Path | Sequence[Path] | None = None,
    predictions: Sequence[Path] = (),
    train: str | Path | None = None,
    out: Path | None = None,
    settings: SolvingSettings | None = None,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    observer: Observer = SILENT,
) -> Evaluation:
    """Evaluate a trained solver (`run`) on test problems, or score `predictions` from elsewhere (§V).

    Several runs solve together, as an ensemble. A run's evaluation is written into its folder (into the first of
    several), unless `out` names another; `train` gives the templates that count as seen.
    """
    runs = [] if run is None else [run] if isinstance(run, Path) else list(run)
    if bool(runs) == bool(predictions):
        raise ComdivError("name a run or predictions to evaluate, and not both")
    if not runs:
        return _evaluate_predictions(predictions, test, train, out, reading, force, observer)
    return _evaluate_runs(runs, test, train, out, settings or SolvingSettings(), reading, force, observer)


def _evaluate_runs(
    runs: Sequence[Path],
    source: str | Path,
    train: str | Path | None,
    out: Path | None,
    settings: SolvingSettings,
    reading: CorpusOptions,
    force: bool,
    observer: Observer,
) -> Evaluation:
    """Solve the problems with trained solvers, then score the solutions like anybody's predictions."""
    from comdiv.solvers.runs import data_of, evaluate_run, origins_of, own_beam, read_config

    test = load_test(source, reading, observer)
    run = runs[0]
    name = "-".join(
        [test.name]
        + [f"cover-{settings.cover}"] * (settings.cover != "none")
        + ["not-reranked"] * (not settings.rerank)
        + [f"with-{other.name}" for other in runs[1:]]
    )
    folder = out or inside(run, run / "evaluations" / path_part(name, "the corpus"))
    together = origins_of(runs) if len(runs) > 1 else None  # runs of one name share a folder
    beam = settings.beam or (1 if together else own_beam(run))
    refuse_other_evaluation(folder, test, beam, together, force=force)
    trained_on = data_of(run)
    if train is None and trained_on is None and read_config(run).get("data"):  # a program's run names none
        observer.note(
            f"what {run.name} was trained on is not there or has changed: --train tells templates seen from unseen"
        )
    training = training_problems(train or trained_on, source, reading, observer)
    with claimed_folder(folder):
        with observer.progress(run.name) as progress:
            evaluation = evaluate_run(
                runs, test.problems, folder, name=test.name, corpus_version=test.version, train=training,
                beam=settings.beam, cover=settings.cover, rerank=settings.rerank, chains=chains_of(source),
                programs=settings.programs, progress=progress,
            )  # fmt: skip
        note_written(folder, evaluation, observer)
    return evaluation


def _evaluate_predictions(
    paths: Sequence[Path],
    source: str | Path,
    train: str | Path | None,
    out: Path | None,
    reading: CorpusOptions,
    force: bool,
    observer: Observer,
) -> Evaluation:

    if out is not None:
        refuse_to_overwrite(out, force=force)
    predictions = tuple(prediction for path in paths for prediction in read_predictions(path))
    test = load_test(source, reading, observer)
    training = training_problems(train, source, reading, observer)
    _note_losses(predictions, test, ", ".join(path.name for path in paths), observer)
    templates = None if training is None else templates_of(training)
    evaluation = evaluate_predictions(test.problems, predictions, templates, chains=chains_of(source))
    if out is not None:
        files = [{"file": path.name, "sha256": file_sha256(path)} for path in paths]
        origin = {
            "test": {"name": test.name, "version": test.version},
            "predictions": files[0] if len(files) == 1 else files,
            "templates": None if templates is None else templates_hash(templates),
        }
        write_result(out, predictions, evaluation, origin)
        note_written(out, evaluation, observer)
    return evaluation


def note_written(folder: Path, evaluation: Evaluation, observer: Observer) -> None:
    """Say where an evaluation is; for composed problems, also draw expected and observed accuracy by length."""
    if evaluation.chains:
        write_figure(folder / "chains", lambda theme: draw_chains(evaluation.chains, theme), dark=True)
    observer.note(f"written to {folder}")


def chains_of(source: str | Path) -> tuple[Chain, ...] | None:
    """The compositional pairs of a folder that `comdiv export compositional-pairs` made."""
    path = Path(source) / CHAINS
    return read_chains(path) if path.is_file() else None


def training_problems(
    train: str | Path | None, test: str | Path, reading: CorpusOptions, observer: Observer
) -> tuple[Problem, ...] | None:
    """The training problems as far as they are known: those named, else the training side of the dataset tested on."""
    folder = Path(test if train is None else train)
    if train is not None and not folder.is_dir():
        return load_corpus(train, reading, observer).problems
    paths = [folder / name for name in ("train.jsonl", "validation.jsonl") if (folder / name).is_file()]
    if not paths:
        if train is not None:
            raise ComdivError(f"{train} has neither train.jsonl nor validation.jsonl")
        return None
    filled = [path for path in paths if path.stat().st_size]  # an empty validation.jsonl is part of a dataset, too
    # Columns are those of the test file: a dataset's parts are in our own format.
    ours = CorpusOptions(language=reading.language)
    return tuple(problem for path in filled for problem in load_corpus(path, ours, observer).problems)


def refuse_other_evaluation(
    folder: Path, test: Corpus, beam: int, runs: Sequence[Mapping[str, Any]] | None = None, *, force: bool
) -> None:
    """An evaluation may be repeated; one of other problems, another beam or other runs is not overwritten."""
    result = folder / "result.json"
    if not result.is_file():
        interrupted = folder.is_dir() and all(
            path.name == "predictions.jsonl" or path.suffix == ".part" for path in folder.iterdir()
        )
        if folder.exists() and not interrupted:
            raise ComdivError(f"{folder} exists and is no evaluation; choose another folder")
        return
    wanted: dict[str, Any] = {"test": {"name": test.name, "version": test.version}, "beam": beam}
    wanted |= {} if runs is None else {"run": list(runs)}
    there = {} if force else load_object(result)
    difference = first_difference({name: there.get(name) for name in wanted}, wanted)
    if difference and not force:
        raise ComdivError(f"{folder} has another evaluation: {difference}; use --out FOLDER or --force")


def _note_losses(predictions: Sequence[Prediction], test: Corpus, name: str, observer: Observer) -> None:
    """Say what was not judged as its author meant it: nothing is lost in silence."""
    unreadable = [prediction for prediction in predictions if prediction.unreadable]
    for prediction in unreadable[:_SHOWN]:
        observer.note(f"{name}: unreadable: id {prediction.id}: {prediction.reason}")
    if len(unreadable) > _SHOWN:
        observer.note(f"{name}: unreadable: … and {len(unreadable) - _SHOWN} more")
    predicted, known = {prediction.id for prediction in predictions}, {problem.id for problem in test.problems}
    if missing := len(known - predicted):
        observer.note(f"{name}: {missing} of {len(known)} problems have no prediction; they count as wrong")
    if unknown := len(predicted - known):
        observer.note(f"{name}: {unknown} predictions are for other problems; they are not counted")
    if without_gold := sum(gold_answer(problem) is None for problem in test.problems):
        observer.note(f"{test.name}: {without_gold} problems have neither answer nor expression; they count as wrong")


def solve(
    texts: str | Sequence[str],
    run: Path | Sequence[Path] | None = None,
    settings: SolvingSettings | None = None,
    *,
    runs: Path = Path("runs"),
    observer: Observer = SILENT,
) -> list[tuple[Problem, Solution]]:
    """Solve problems in words with a trained solver, or with several together.

    Without a run, the newest of the problems' language in `runs` solves them.
    """
    solutions = solve_with_steps(texts, run, settings, runs=runs, observer=observer)
    return [(problem, solution) for problem, solution, _ in solutions]


def solve_with_steps(
    texts: str | Sequence[str],
    run: Path | Sequence[Path] | None = None,
    settings: SolvingSettings | None = None,
    *,
    runs: Path = Path("runs"),
    observer: Observer = SILENT,
) -> list[tuple[Problem, Solution, tuple[SolvedStep, ...]]]:
    """As `solve`, with the steps of each solution; solvers that deduce also give the probability of each step."""
    from comdiv.solvers.runs import load_runs

    settings = settings or SolvingSettings()
    given = [texts] if isinstance(texts, str) else list(texts)
    if not given:
        raise ComdivError("there is no problem to solve: give one as an argument or on standard input")
    problems = [typed_problem(text, str(number)) for number, text in enumerate(given, start=1)]
    selection = [run] if isinstance(run, Path) else list(run or ())
    folders = selection or [newest_run(runs, problems[0].language)]
    solver = load_runs(folders, settings.cover, rerank=settings.rerank, programs=settings.programs)
    for folder in folders:
        _note_foreign(problems, folder, observer)
    observer.note(f"solved by {' and '.join(map(str, folders))}")
    solutions = solver.solve(problems, beam=settings.beam or SOLVING_BEAM)
    return [
        (problem, solution, solution_steps(solver, problem, solution))
        for problem, solution in zip(problems, solutions, strict=True)
    ]


def solution_steps(solver: Any, problem: Problem, solution: Solution) -> tuple[SolvedStep, ...]:
    """The steps of a solution's computation; none if it has no value."""
    if solution.expression is None or solution.answer is None:
        return ()
    if hasattr(solver, "steps"):
        return tuple(solver.steps(problem, solution.expression))
    return tuple(steps_of(solution.expression, read(problem).values))


def typed_problem(text: str, name: str = "typed") -> Problem:
    """A problem that somebody typed; number words count where there are no digits. Without any number, an error."""
    language = detect_language(text)
    for number_words in (False, True):
        problem = Problem(id=name, language=language, text=text, number_words=number_words)
        if read(problem).numbers:
            return problem
    raise ComdivError(f"there is no number in '{shortened(text)}': nothing can be computed")


def _note_foreign(problems: Sequence[Problem], run: Path, observer: Observer) -> None:
    """Warn where a text is in another language than those that the run has learnt."""
    known = _language_of(run)
    for problem in problems:
        if known is not None and problem.language != known:
            asked, learnt = get_language(problem.language).name, get_language(known).name
            observer.note(f"'{shortened(problem.text)}' is {asked}, but {run.name} was trained on {learnt}")


def _language_of(run: Path) -> str | None:
    """The language of the words that a run has learnt; None where it has none of its own, or is half written."""
    try:
        words = load_object(run / "vocabulary.json").get("words")
    except ComdivError:
        return None
    return detect_language("".join(map(str, words))) if isinstance(words, list) and words else None


def newest_run(folder: Path, language: str) -> Path:
    """The run that was written last among those whose vocabulary is of the language."""
    runs = sorted(folder.glob("*/model.safetensors"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in runs:
        if _language_of(path.parent) == language:
            return path.parent
    raise ComdivError(
        f"no run for language '{language}' in {folder}/: train one with `comdiv train`, or name it: --run"
    )


def compare(
    a: Path,
    b: Path,
    test: str | Path | Corpus,
    settings: ComparisonSettings | None = None,
    *,
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
) -> Comparison:
    """Compare two sets of predictions on the same problems: paired bootstrap over problems, McNemar's exact test."""
    settings = settings or ComparisonSettings()
    first, second = (read_predictions(path / "predictions.jsonl" if path.is_dir() else path) for path in (a, b))
    corpus = load_test(test, reading, observer)
    _note_losses(first, corpus, str(a), observer)
    _note_losses(second, corpus, str(b), observer)
    return compare_predictions(corpus.problems, first, second, settings.seed, settings.resamples)

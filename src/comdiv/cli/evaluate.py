"""`comdiv evaluate`: how good a trained solver is, or anybody's predictions are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_json, print_note, progress_of
from comdiv.cli.corpus import (
    AnswerColumn,
    CoverOption,
    EquationColumn,
    ForceOption,
    IdColumn,
    JsonOption,
    LanguageOption,
    TextColumn,
    load_corpus,
    load_test,
    named_columns,
)
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.corpora import Columns, Corpus
    from comdiv.evaluation import Evaluation, Prediction, Share, Triple
    from comdiv.problem import Problem
    from comdiv.solvers.hyperparameters import Cover

_SHOWN = 10  # unreadable predictions that are named one by one


def evaluate(
    target: Annotated[
        str, typer.Argument(metavar="RUN|TEST", help="A run's folder; with --predictions, the test problems.")
    ],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The problems to evaluate a run on: a corpus or a dataset.")
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            help="Anybody's predictions (JSON Lines, JSON, CSV): ids with answers, expressions or texts. "
            "Several files together: say it again."
        ),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(help="Training problems, for templates seen and unseen; a dataset folder knows its own."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for predictions.jsonl and result.json; of a run, its own by default.")
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, max=100, help="Hypotheses to follow; a run's own by default.")
    ] = None,
    cover: CoverOption = "none",
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Evaluate a trained solver on problems, or score predictions that somebody else made (§V)."""
    columns = named_columns(text, equation, answer, id_column)
    if not predictions:
        if file is None:
            raise ComdivError("name a run and the problems (comdiv evaluate RUN FILE), or say --predictions FILE TEST")
        _evaluate_run(Path(target), file, train, out, columns, language, beam, cover, json=json, force=force)
        return
    if file is not None:
        raise ComdivError(f"with --predictions there is one argument, the test problems: {target} or {file}?")
    _evaluate_predictions(predictions, target, train, out, columns, language, json=json, force=force)


def _evaluate_run(
    run: Path,
    file: str,
    train: str | None,
    out: Path | None,
    columns: "Columns | None",
    language: str | None,
    beam: int | None,
    cover: "Cover",
    *,
    json: bool,
    force: bool,
) -> None:
    """Solve the problems with a trained solver, then score them like anybody's predictions."""
    from comdiv.solvers.runs import data_of, evaluate_run, own_beam, read_config

    test = load_test(file, columns, language)
    folder = out or run / "evaluations" / (test.name if cover == "none" else f"{test.name}-cover-{cover}")
    _refuse_other_evaluation(folder, test, beam or own_beam(run), force=force)
    trained_on = data_of(run)
    if train is None and trained_on is None and read_config(run).get("data"):  # a program's run names none
        print_note(
            f"what {run.name} was trained on is not there or has changed: --train tells templates seen from unseen"
        )
    training = _training_problems(train or (None if trained_on is None else str(trained_on)), file, columns, language)
    with progress_of(run.name) as progress:
        evaluation = evaluate_run(
            run, test.problems, folder, name=test.name, corpus_version=test.version, train=training, beam=beam,
            cover=cover, triples=_triples(file), progress=progress,
        )  # fmt: skip
    if json:
        print_json(evaluation.to_json())
    else:
        print_evaluation(evaluation, f"{run.name} on {test.name}")
        print_note(f"written to {folder}")


def _evaluate_predictions(
    paths: list[Path],
    source: str,
    train: str | None,
    out: Path | None,
    columns: "Columns | None",
    language: str | None,
    *,
    json: bool,
    force: bool,
) -> None:
    from comdiv.evaluation import evaluate_predictions, read_predictions, templates_of, write_result
    from comdiv.files import file_sha256, refuse_to_overwrite

    if out is not None:
        refuse_to_overwrite(out, force=force)
    predictions = tuple(prediction for path in paths for prediction in read_predictions(path))
    name = ", ".join(path.name for path in paths)
    test = load_test(source, columns, language)
    training = _training_problems(train, source, columns, language)
    note_losses(predictions, test, name)
    evaluation = evaluate_predictions(
        test.problems, predictions, None if training is None else templates_of(training), triples=_triples(source)
    )
    if out is not None:
        files = [{"file": path.name, "sha256": file_sha256(path)} for path in paths]
        origin = {
            "test": {"name": test.name, "version": test.version},
            "predictions": files[0] if len(files) == 1 else files,
        }
        write_result(out, predictions, evaluation, origin)
    if json:
        print_json(evaluation.to_json())
    else:
        print_evaluation(evaluation, f"{name} on {test.name}")


def _triples(source: str) -> "tuple[Triple, ...] | None":
    """The compositional pairs of a folder that `comdiv export compositional-pairs` made."""
    from comdiv.evaluation.pairs import TRIPLES, read_triples

    path = Path(source) / TRIPLES
    return read_triples(path) if path.is_file() else None


def _training_problems(
    train: str | None, test: str, columns: "Columns | None", language: str | None
) -> "tuple[Problem, ...] | None":
    """The training problems as far as they are known: those named, else the training side of the dataset tested on."""
    folder = Path(test if train is None else train)
    if train is not None and not folder.is_dir():
        return load_corpus(train, columns, language).problems
    paths = [folder / name for name in ("train.jsonl", "validation.jsonl") if (folder / name).is_file()]
    if not paths:
        if train is not None:
            raise ComdivError(f"{train} has neither train.jsonl nor validation.jsonl")
        return None
    filled = [path for path in paths if path.stat().st_size]  # an empty validation.jsonl is part of a dataset, too
    # Columns are those of the test file: a dataset's parts are in our own format.
    return tuple(problem for path in filled for problem in load_corpus(str(path), None, language).problems)


def _refuse_other_evaluation(folder: Path, test: "Corpus", beam: int, *, force: bool) -> None:
    """An evaluation may be made again; one of other problems, or with another beam, is not written over."""
    from comdiv.loading import parse_json

    result = folder / "result.json"
    if not result.is_file():
        interrupted = folder.is_dir() and {path.name for path in folder.iterdir()} <= {"predictions.jsonl"}
        if folder.exists() and not interrupted:
            raise ComdivError(f"{folder} exists and is no evaluation; choose another folder")
        return
    try:
        there = parse_json(result.read_text(encoding="utf-8"))
        same = there["test"] == {"name": test.name, "version": test.version} and there["beam"] == beam
    except (OSError, ValueError, KeyError, TypeError):
        same = False
    if not same and not force:
        raise ComdivError(f"{folder} has an evaluation of other problems or another beam: say --out FOLDER, or --force")


def note_losses(predictions: "tuple[Prediction, ...]", test: "Corpus", name: str) -> None:
    """Say what was not judged as its author meant it: nothing is lost in silence."""
    from comdiv.evaluation import gold_answer

    unreadable = [prediction for prediction in predictions if prediction.unreadable]
    for prediction in unreadable[:_SHOWN]:
        print_note(f"{name}: unreadable: id {prediction.id}: {prediction.reason}")
    if len(unreadable) > _SHOWN:
        print_note(f"{name}: unreadable: … and {len(unreadable) - _SHOWN} more")
    predicted, known = {prediction.id for prediction in predictions}, {problem.id for problem in test.problems}
    if missing := len(known - predicted):
        print_note(f"{name}: {missing} of {len(known)} problems have no prediction; they count as wrong")
    if unknown := len(predicted - known):
        print_note(f"{name}: {unknown} predictions are for other problems; they are not counted")
    if without_gold := sum(gold_answer(problem) is None for problem in test.problems):
        print_note(f"{test.name}: {without_gold} problems have neither answer nor expression; they count as wrong")


def print_evaluation(evaluation: "Evaluation", title: str) -> None:
    """The result as a table: the whole, then its parts."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("", "accuracy", "95 % interval", "n", title=escape(title), title_justify="left", box=None)
    rows = {"answers": evaluation.answers}
    if evaluation.expressions is not None:
        rows["expressions"] = evaluation.expressions
    rows |= {_operators(name): share for name, share in evaluation.by_operator_count.items()}
    rows |= {f"template {name}": share for name, share in (evaluation.by_template_seen or {}).items()}
    rows |= evaluation.subsets
    for name, share in rows.items():
        table.add_row(escape(name), *share_cells(share), f"{share.n:,}")
    if (pairs := evaluation.pairs) is not None:
        for name, share in {"pairs: first, S1": pairs.first, "pairs: second, S2": pairs.second}.items():
            table.add_row(name, *share_cells(share), f"{share.n:,}")
        low, high = pairs.expected_interval
        table.add_row("expected, S1·S2", f"{pairs.expected:.1%}", f"{low:.1%} to {high:.1%}", f"{pairs.composed.n:,}")
        table.add_row("observed, composed", *share_cells(pairs.composed), f"{pairs.composed.n:,}")
        low, high = pairs.difference_interval
        table.add_row("observed − expected", f"{pairs.difference:+.1%}", f"{low:+.1%} to {high:+.1%}", "")
        table.add_row("observed after both", *share_cells(pairs.after_both), f"{pairs.after_both.n:,}")
    console = output_console()
    console.print(table)
    failures = ("ill_formed", "undefined", "unreadable", "missing")
    console.print("   ".join(f"{kind.replace('_', '-')}: {evaluation.counts[kind]:,}" for kind in failures))


def share_cells(share: "Share") -> tuple[str, str]:
    """A share and its interval in percent."""
    if share.accuracy is None or share.interval is None:
        return "–", ""
    low, high = share.interval
    return f"{share.accuracy:.1%}", f"{low:.1%} to {high:.1%}"


def _operators(count: str) -> str:
    return f"{count} operator{'' if count == '1' else 's'}" if count.isdigit() else "no gold expression"

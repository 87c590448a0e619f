"""The verb `ask`: a language model at any OpenAI-compatible endpoint, measured like any other solver (§V)."""

from pathlib import Path
from typing import Any

from comdiv.asking.ask_settings import AskSettings
from comdiv.claims import owns
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_test
from comdiv.errors import ComdivError
from comdiv.evaluation import Evaluation
from comdiv.files import file_sha256, inside, path_part
from comdiv.observer import SILENT, Observer
from comdiv.verbs.solving import chains_of, note_written, refuse_other_evaluation, training_problems


@owns("out")
def ask(
    source: str | Path,
    out: Path,
    settings: AskSettings,
    *,
    train: str | Path | None = None,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    observer: Observer = SILENT,
) -> Evaluation:
    """Ask a language model the test problems of a dataset or corpus, and evaluate its answers.

    `out` becomes an ordinary run folder. Every answer is stored as it arrives; the same call resumes, and asks
    nothing twice. Examples for the prompt come from the dataset's training side, or from `train`.
    """
    from comdiv.solvers.runs import ask_run, evaluate_run

    test = load_test(source, reading, observer)
    if not test.problems:
        raise ComdivError(f"{source} has no problems to ask")
    training = training_problems(train, source, reading, observer)
    if settings.shots and not training:
        observer.note(f"{test.name} has no training side, so the prompts have no examples; --train FILE gives some")
    folder = inside(out, out / "evaluations" / path_part(test.name, "the corpus"))
    refuse_other_evaluation(folder, test, 1, force=force)
    ask_run(settings, out, training or (), data=_training_side(source if train is None else train))
    with observer.progress(settings.model) as progress:
        evaluation = evaluate_run(
            out, test.problems, folder, name=test.name, corpus_version=test.version, train=training,
            chains=chains_of(source), programs=True, progress=progress,
        )  # fmt: skip
    note_written(folder, evaluation, observer)
    return evaluation


def _training_side(source: str | Path) -> dict[str, Any] | None:
    """The dataset that the examples come from, with hashes of its files; None if it has no training side."""
    folder = Path(source)
    paths = {part: folder / f"{part}.jsonl" for part in ("train", "validation")}
    hashes = {part: file_sha256(path) for part, path in paths.items() if path.is_file()}
    return {"folder": str(source), "sha256": hashes} if "train" in hashes else None

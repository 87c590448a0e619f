"""The verbs that make and measure benchmarks: split, measure, synthesize, augment (§III, §IV)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NoReturn

from comdiv.augmentation import AugmentationOptions, augment_dataset
from comdiv.augmentation.source import read_source
from comdiv.claims import owns
from comdiv.corpora import Corpus
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus
from comdiv.dataset import FACTS, is_intact, read_dataset, read_facts
from comdiv.engine import make_engine
from comdiv.errors import ComdivError, located
from comdiv.files import refuse_to_overwrite
from comdiv.observer import SILENT, Observer
from comdiv.problem import Problem
from comdiv.settings import first_difference
from comdiv.splitting.audit import audit_problems
from comdiv.splitting.choice import SplitSeries, best_k
from comdiv.splitting.encoding import Mask
from comdiv.splitting.extraction import Extraction, ExtractionSettings, extract, mean_vectors
from comdiv.splitting.id_lists import read_id_lists
from comdiv.splitting.measurement import Measurement, extract_sides, inexpressible_note
from comdiv.splitting.measurement import measure as measure_corpus
from comdiv.splitting.methods import SplitSettings, problems_to_split, split_problems
from comdiv.splitting.outputs import corpus_facts, notes, write_compounds, write_measurement, write_split
from comdiv.synthesis import SynthesisOptions, load_rules, synthesize_dataset
from comdiv.synthesis.release import find_release
from comdiv.synthesis.synthetic import in_force
from comdiv.word_vectors import weights_folder

NewSplit = Callable[[Path, Measurement], None]


@owns("out")
def split(
    source: str | Path | Corpus,
    out: Path,
    settings: SplitSettings | None = None,
    series: SplitSeries | None = None,
    *,
    ids: Path | None = None,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    observer: Observer = SILENT,
    each: NewSplit | None = None,
) -> dict[str, dict[str, Any]]:
    """Split a corpus into a dataset folder, or into several (§III-A); returns the facts of each, by its folder.

    A dataset that is there already, made with the same settings, is left as it is. `each` is called for every new one.
    With `ids`, a file that `comdiv export hub` wrote or a list of the ids of test, nothing is searched.
    """
    if ids is not None:
        if series is not None and series != SplitSeries():
            raise ComdivError("--ids gives the sides of one split: leave out --k, --target, --splits and --with-iid")
        return _split_by_ids(ids, source, out, settings, reading, force=force, observer=observer, each=each)
    settings = settings or SplitSettings()
    if series is None:
        series = SplitSeries(k=(settings.extraction.k,), target=() if settings.target is None else (settings.target,))
    series.check(settings)
    settings = settings.changed(k=series.k[0], target=next(iter(series.target), None))
    corpus = load_corpus(source, reading, observer, contradictions="drop")
    taken = problems_to_split(corpus.problems, settings)
    extraction = extract(
        taken,
        window=settings.extraction.window,
        track=lambda problems: observer.tracked(problems, "contexts", len(taken)),
    )
    if len(series.k) > 1:
        with observer.progress("choosing k") as progress:
            best, scores = best_k(
                extraction, settings, series.k, series.k_by, lambda done, total: progress("choosing k", done, total, "")
            )
        observer.note(f"k = {best} by {series.k_by}: " + ", ".join(f"{n}: {score:.3f}" for n, score in scores.items()))
        settings = settings.changed(k=best)
    origin = _corpus_origin(corpus)
    datasets: dict[str, dict[str, Any]] = {}
    for folder, planned, control in series.folders(settings, out):
        if force and control is not None and not series.with_iid and (control / FACTS).is_file():
            raise ComdivError(f"{control} is the control of an earlier split: add --with-iid, or remove it")
        facts = _one_split(extraction, planned, folder, origin, force=force, observer=observer, each=each)
        datasets[str(folder)] = facts
        if series.with_iid and control is not None:
            same_size = planned.changed(method="iid", target=None, test_size=facts["test_size"])
            datasets[str(control)] = _one_split(
                extraction, same_size, control, origin, force=force, observer=observer, each=each
            )
    return datasets


def _corpus_origin(corpus: Corpus) -> dict[str, Any]:
    left_out = len(corpus.report.contradicting)
    return {**corpus_facts(corpus), **({"contradicting_left_out": left_out} if left_out else {})}


def _split_by_ids(
    path: Path,
    source: str | Path | Corpus,
    out: Path,
    settings: SplitSettings | None,
    reading: CorpusOptions,
    *,
    force: bool,
    observer: Observer,
    each: NewSplit | None,
) -> dict[str, dict[str, Any]]:
    """The dataset whose sides a file of ids gives; if the file has the settings, too, the same dataset as before."""
    lists = read_id_lists(path)
    if lists.settings:
        if settings is not None:
            raise ComdivError(f"{path} has the options of the split: leave them out")
        with located(str(path)):
            settings = SplitSettings.checked(**lists.settings)
    else:
        settings = (settings or SplitSettings()).changed(test_size=len(lists.test))
    dropped = lists.is_bare or "contradicting_left_out" in lists.source
    corpus = load_corpus(source, reading, observer, contradictions="drop" if dropped else "keep")
    origin = _corpus_origin(corpus)
    if lists.source and lists.source.get("sha256") != origin["sha256"]:
        observer.note(f"{corpus.name} here differs from the corpus that {path.name} was made from")
    with located(str(path)):
        members = lists.members(problems_to_split(corpus.problems, settings) if lists.is_bare else corpus.problems)
    extraction = extract(
        members,
        window=settings.extraction.window,
        track=lambda problems: observer.tracked(problems, "contexts", len(members)),
    )
    sides = lists.sides(extraction.problems)
    facts = _one_split(extraction, settings, out, origin, force=force, observer=observer, each=each, sides=sides)
    return {str(out): facts}


def _one_split(
    extraction: Extraction,
    settings: SplitSettings,
    folder: Path,
    origin: dict[str, Any],
    *,
    force: bool,
    observer: Observer,
    each: NewSplit | None,
    sides: tuple[Mask, Mask | None] | None = None,
) -> dict[str, Any]:
    """Make one dataset, unless the same one is there already; `sides`, test and validation, need no search."""
    if (folder / FACTS).is_file() and not force:
        facts = read_facts(folder)
        difference = first_difference(_origin(facts), {"settings": settings.model_dump(), "source": origin})
        if difference is None and is_intact(folder, facts):
            observer.note(f"{folder}: is there already, made with the same settings")
            return facts
        _refuse_dataset(folder, difference or "its files have changed since")
    refuse_to_overwrite(folder, force=force)  # before the search, not after it
    what = f"searching {folder.name}"
    if sides is None:
        with observer.progress(what) as progress:
            test = split_problems(extraction, settings, lambda done, total: progress(what, done, total, ""))
        sides = test, None
    facts, measurement = write_split(folder, extraction, sides[0], settings, origin, validation=sides[1], force=force)
    for note in notes(measurement, settings, origin):
        observer.note(f"{folder}: {note}")
    if each is not None:
        each(folder, measurement)
    return facts


def _origin(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a dataset was made with and from."""
    return {name: facts.get(name, {}) for name in ("settings", "source")}


def _refuse_dataset(folder: Path, difference: str) -> NoReturn:
    raise ComdivError(f"{folder} exists already, but {difference}; choose another name, or use --force to replace it")


@owns("out")
def measure(
    train: str | Path,
    test: str | Path | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    alpha: str | None = None,
    vectors: str | None = None,
    out: Path | None = None,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    observer: Observer = SILENT,
) -> Measurement:
    """The divergences between two files, or between the sides of a dataset folder (§III-A, Table I).

    A dataset folder is measured with its own settings except for `changes`, fields of `ExtractionSettings`. With
    `vectors`, a file of word vectors, it is also measured by clusters of embeddings, a representation no search uses.
    """
    facts: Mapping[str, Any] = {}
    if out is not None:
        refuse_to_overwrite(out, force=force)
    if test is None:
        if not Path(train).is_dir():
            raise ComdivError(f"{train}: name the test problems, too, or a dataset folder")
        dataset = read_dataset(Path(train))
        training, testing = dataset.training_side, dataset.test
        facts = dataset.facts
    else:
        training, testing = (load_corpus(side, reading, observer).problems for side in (train, test))
    _note_languages(training, testing, observer)
    try:
        settings = ExtractionSettings.recorded(facts)
    except ComdivError as error:
        raise ComdivError(f"{train}: dataset.json has settings that this version does not know: {error}") from error
    settings = settings.changed(**(changes or {}))
    extraction, in_test = extract_sides(
        training,
        testing,
        window=settings.window,
        track=lambda problems: observer.tracked(problems, "contexts", len(training) + len(testing)),
    )
    if vectors:
        extraction = replace(extraction, embeddings=mean_vectors(vectors))
    measurement = measure_corpus(
        extraction,
        in_test,
        settings,
        alpha=alpha or facts.get("settings", {}).get("alpha", "paper"),
    )
    if note := inexpressible_note(measurement):
        observer.note(note)
    if out is not None:
        paths = write_measurement(measurement, out)
        paths.append(write_compounds(extraction, in_test, settings, out))
        with observer.progress("audit") as progress:
            progress("audit", 0, 1, "other clusterings, near-duplicates, adversarial validation")
            audit = audit_problems(extraction, in_test, settings, alpha=measurement.alpha)
        for path in (*paths, *audit.write(out, f"Audit of {Path(train).name}")):
            observer.note(str(path))
    return measurement


def _note_languages(training: Sequence[Problem], testing: Sequence[Problem], observer: Observer) -> None:
    """Warn if the sides are in different languages: they share no words, so a divergence means little."""
    sides = [
        " and ".join(sorted({problem.language for problem in problems})) or "none" for problems in (training, testing)
    ]
    if len({problem.language for problem in (*training, *testing)}) > 1:
        observer.note(
            f"the texts are in different languages (train: {sides[0]}; test: {sides[1]}): they share no words, so the "
            "divergences compare languages rather than compositions"
        )


@owns("out")
@owns("queue")
def synthesize(
    source: str | Path | Corpus,
    out: Path,
    options: SynthesisOptions | None = None,
    *,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    queue: Path | None = None,
    observer: Observer = SILENT,
) -> dict[str, Any]:
    """Synthesize a dataset whose test needs new structures, or known ones with new words (§III-B); its facts."""
    options = options or SynthesisOptions()
    there = _origin(read_facts(out)) if (out / FACTS).is_file() and not force else None
    if there is None:
        refuse_to_overwrite(out, force=force)  # before the corpus is read, and the rules with it
    load_rules(options.rules)
    if options.release is not None:
        find_release(options.release)
    corpus = load_corpus(source, reading, observer)
    if there is not None:
        origin = {**corpus_facts(corpus), "version": there["source"].get("version")}
        wanted = {"settings": {**there["settings"], **in_force(options, corpus.name).facts()}, "source": origin}
        _refuse_dataset(out, first_difference(there, wanted) or "is made from the same corpus in the same way")
    with observer.progress("synthesizing") as progress:
        return synthesize_dataset(
            corpus.problems, out, options, corpus=corpus.name, progress=progress, force=force, queue=queue
        )


def augment(
    source: str | Path,
    out: Path,
    options: AugmentationOptions | None = None,
    *,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    jobs: int = 0,
    programs: bool = False,
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
) -> dict[str, Any]:
    """Augment a training set with new compositions of its own problems (§IV); returns the report.

    Interrupted work goes on. `jobs` are processes, 0 as many as there are cores. Test problems are never read. A
    ranker that is a program (`command:…`) needs `programs`.
    """
    from comdiv.solvers import runs

    make_solver = partial(runs.make_solver, programs=programs)
    options = options or AugmentationOptions.preset()
    if options.ranker != "none":  # a wrong name, a wrong setting or a missing torch is told before the work
        make_solver(options.ranker, preset=options.ranker_preset, changes=options.ranker_settings)
    data = read_source(source, reading, observer)
    if jobs and engine == "ray":
        raise ComdivError("--jobs goes with --engine local: on a cluster, all cores take part")
    workers = make_engine(engine, jobs if engine == "local" else None, address, observer.note)
    try:
        with observer.progress("augmenting") as progress:
            return augment_dataset(
                data, out, options, make_solver=make_solver, ranker_files=_ranker_files(options), engine=workers,
                progress=progress,
            )  # fmt: skip
    finally:
        workers.close()


def _ranker_files(options: AugmentationOptions) -> dict[str, str]:
    """The program or the initial weights of a ranker, by their bytes."""
    from comdiv.solvers.command import PROGRAM, program_files
    from comdiv.solvers.hyperparameters import weights_files

    if options.ranker.startswith(PROGRAM):
        return program_files(options.ranker)
    weights = options.ranker_settings.get("weights")
    return weights_files(Path(weights_folder(weights))) if weights else {}

"""Checks of the folders that verbs write: datasets, evaluations, runs of solvers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from comdiv.corpora import Corpus
from comdiv.corpora.corpus_options import Contradictions, load_corpus, load_test
from comdiv.dataset import FACTS, PARTS, Dataset, read_dataset, read_facts
from comdiv.errors import ComdivError
from comdiv.evaluation import (
    Chain,
    Prediction,
    evaluate_predictions,
    read_chains,
    read_predictions,
    templates_of,
)
from comdiv.evaluation.accuracy import templates_hash
from comdiv.evaluation.chains import CHAINS
from comdiv.loading import load_object
from comdiv.problem import Problem
from comdiv.solvers.runs import read_config
from comdiv.splitting.extraction import ExtractionSettings
from comdiv.splitting.measurement import Measurement, measure_sides
from comdiv.splitting.outputs import corpus_facts
from comdiv.verification import ledger as kinds
from comdiv.verification.ledger import Ledger

RESULT, PREDICTIONS = "result.json", "predictions.jsonl"


# --- datasets ---


def check_dataset(ledger: Ledger, folder: Path, *, corpora: bool = True) -> Dataset | None:
    """Hashes, sizes and measures of a dataset folder; with `corpora`, also its corpus if that can be found."""
    with ledger.reading(folder / FACTS):
        facts = read_facts(folder)
        for name, entry in facts.get("files", {}).items():
            ledger.hashed(folder / name, entry["sha256"], f"{FACTS}: files.{name}.sha256")
    with ledger.reading(folder):
        dataset = read_dataset(folder)
        for part in PARTS:
            recorded = facts.get("files", {}).get(f"{part}.jsonl", {}).get("problems")
            ledger.same(kinds.COUNTS, folder / FACTS, f"files.{part}.jsonl", len(getattr(dataset, part)), recorded)
        _check_measures(ledger, folder / FACTS, dataset)
        _check_copies(ledger, folder, facts)
        if corpora and "corpus" in facts.get("source", {}):
            check_source(ledger, folder / FACTS, dataset)
        return dataset
    return None


def _check_measures(ledger: Ledger, file: Path, dataset: Dataset) -> None:
    recorded = Measurement.from_facts(dataset.facts)
    if recorded is None:
        return
    settings = dataset.facts["settings"]
    extraction = ExtractionSettings.checked(**settings.get("extraction", {}))
    measurement = measure_sides(dataset.training_side, dataset.test, extraction, alpha=settings.get("alpha", "paper"))
    ledger.same(kinds.DIVERGENCES, file, "", plain(measurement.to_json()), plain(recorded.to_json()))


def _check_copies(ledger: Ledger, folder: Path, facts: Mapping[str, Any]) -> None:
    """An augmentation never touches the test part: it must equal the source's, byte for byte."""
    recorded = facts.get("source", {}).get("test")
    if facts.get("made_by") == "comdiv augment" and recorded is not None:
        ledger.hashed(folder / "test.jsonl", recorded, f"{FACTS}: source.test")


def check_source(ledger: Ledger, file: Path, dataset: Dataset) -> None:
    """Whether the problems of a split are those of its corpus, if a corpus of that name and version is here."""
    source = dataset.facts["source"]
    left_out = {name: source[name] for name in ("contradicting_left_out",) if name in source}
    corpus, why = find_corpus(str(source["corpus"]), str(source.get("version", "")), "drop" if left_out else "keep")
    if corpus is None:
        ledger.skip(kinds.PARTS, why)
    elif dataset.facts.get("made_by") != "comdiv split" or source.get("problems") != len(corpus.problems):
        ledger.skip(kinds.PARTS, "it was not split from a whole corpus; only repeating its command can check it")
    else:
        ledger.same(kinds.PARTS, file, "source", {**corpus_facts(corpus), **left_out}, source)
        there = {problem.id: problem for problem in (*dataset.training_side, *dataset.test)}
        differing = [problem.id for problem in corpus.problems if there.get(problem.id) != problem]
        ledger.same(kinds.PARTS, file, "problems unlike those of the corpus", [], differing)


def find_corpus(name: str, version: str, contradictions: Contradictions = "keep") -> tuple[Corpus | None, str]:
    """A corpus by name and version, or the reason why it is not available."""
    try:
        corpus = load_corpus(name, contradictions=contradictions)
    except ComdivError as error:
        return None, str(error)
    if version and corpus.version != version:
        return None, f"the corpus {name} here is {corpus.version}, not {version}"
    return corpus, ""


def plain(value: Any) -> Any:
    """A value as JSON represents it: tuples become lists."""
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


# --- evaluations ---


def check_evaluation(
    ledger: Ledger,
    folder: Path,
    problems: Sequence[Problem],
    *,
    templates: Collection[str] | None = None,
    subsets: Mapping[str, Collection[str]] | None = None,
    chains: Sequence[Chain] | None = None,
    why: str = "the test problems are not here",
) -> dict[str, Any]:
    """Score `predictions.jsonl` again and compare with `result.json`; returns the recorded result.

    Without `problems`, the flags in the predictions are used, and `why` says what is missing.
    """
    with ledger.reading(folder / RESULT):
        result = load_object(folder / RESULT)
        ledger.hashed(folder / PREDICTIONS, result["files"][PREDICTIONS]["sha256"], f"{RESULT}: files")
        check_counts(ledger, folder / RESULT, "", result)
        predictions = read_predictions(folder / PREDICTIONS)
        if not problems:
            ledger.skip(kinds.NUMBERS, why)
            _check_flags(ledger, folder / RESULT, predictions, result)
            return result
        evaluation = evaluate_predictions(problems, predictions, templates, subsets, chains)
        expected = plain(evaluation.to_json())
        if templates is None and "by_template_seen" in result:
            ledger.skip(kinds.NUMBERS, "what a run's templates were compared with is not here")
            expected["by_template_seen"] = result["by_template_seen"]
        ledger.same(kinds.NUMBERS, folder / RESULT, "", expected, {name: result.get(name) for name in expected})
        for prediction in predictions:
            if prediction.right is not None and prediction.id in evaluation.right:
                flag = evaluation.right[prediction.id]
                ledger.same(kinds.NUMBERS, folder / PREDICTIONS, f"{prediction.id}: right", flag, prediction.right)
        return result
    return {}


def _check_flags(ledger: Ledger, file: Path, predictions: Sequence[Prediction], result: Mapping[str, Any]) -> None:
    flags = [prediction.right for prediction in predictions if prediction.right is not None]
    if flags:  # older versions did not write them
        ledger.same(kinds.NUMBERS, file, "correct", sum(flags), result["correct"])


def check_counts(ledger: Ledger, file: Path, key: str, part: Mapping[str, Any]) -> None:
    """Check that accuracies, intervals and sums of an evaluation follow from its counts."""
    from comdiv.experiments.packing import pack_part, unpack_part

    expected = plain(unpack_part(pack_part(part)))
    ledger.same(kinds.COUNTS, file, key, expected, {name: part.get(name) for name in expected})
    whole = {name: part[name] for name in ("correct", "n")}
    for name, members in disjoint_parts(part).items():
        total = {count: sum(member[count] for member in members) for count in whole}
        ledger.same(kinds.COUNTS, file, f"{key}: sum of {name}" if key else f"sum of {name}", whole, total)


def disjoint_parts(part: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Partitions of a test set: the parts of each must sum to the whole."""
    divisions = {name: part[name] for name in ("by_operator_count", "by_template_seen") if part.get(name)}
    subsets = part.get("subsets") or {}
    for name, members in {"texts": ("text in train", "text not in train")}.items():
        if all(member in subsets for member in members):
            divisions[name] = {member: subsets[member] for member in members}
    return {name: list(members.values()) for name, members in divisions.items()}


# --- runs of solvers ---


def check_run(ledger: Ledger, run: Path, data: Path | None = None) -> None:
    """A run's data, its weights and its evaluations; `data` is the dataset that it was trained on, if known."""
    with ledger.reading(run / "config.yaml"):
        config = read_config(run)
        recorded = (config.get("data") or {}).get("sha256", {})
        folder = data or _named_folder(run, str((config.get("data") or {}).get("folder", "")))
        if folder is None and recorded:
            ledger.skip(kinds.HASHES, f"what {run.name} was trained on is not here")
        elif folder is not None:
            for part, expected in recorded.items():
                ledger.hashed(folder / f"{part}.jsonl", expected, f"data of {ledger.name(run)}")
        for result in sorted(run.glob(f"evaluations/*/{RESULT}")):
            check_run_evaluation(ledger, result.parent, run, folder)


def check_runs(ledger: Ledger, runs: Iterable[Path]) -> None:
    """Several runs."""
    for run in runs:
        check_run(ledger, run)


def check_run_evaluation(ledger: Ledger, folder: Path, run: Path | None, data: Path | None) -> None:
    """An evaluation in a run's folder: its weights, and its numbers if its test problems can be found."""
    with ledger.reading(folder / RESULT):
        result = load_object(folder / RESULT)
        first, *others = origins if isinstance(origins := result.get("run") or {}, list) else [origins]
        if others:
            ledger.skip(kinds.HASHES, "the weights of an ensemble's other runs: where they are is not recorded")
        weights = first.get("sha256")
        if weights is not None and run is not None:
            ledger.hashed(run / "model.safetensors", weights, f"{ledger.name(folder / RESULT)}: run.sha256")
        test, source = _find_test(result, data)
        if test is None:
            why = f"the problems of {result.get('test', {}).get('name')} are not here in the version evaluated"
            check_evaluation(ledger, folder, (), why=why)
            return
        training = _training_templates(result.get("templates"), data, source)
        chains = read_chains(source / CHAINS) if source is not None and (source / CHAINS).is_file() else None
        check_evaluation(ledger, folder, test.problems, templates=training, chains=chains)


def _named_folder(run: Path, name: str) -> Path | None:
    """The folder of that name, relative to the current folder or one above the run."""
    places = (base / name for base in (Path(), *run.resolve().parents)) if name else ()
    return next((place for place in places if (place / "train.jsonl").is_file()), None)


def _find_test(result: Mapping[str, Any], data: Path | None) -> tuple[Corpus | None, Path | None]:
    """The problems of an evaluation: from the run's own dataset, or from the corpus of that name."""
    name, version = (str(result.get("test", {}).get(key, "")) for key in ("name", "version"))
    for source in (data, data and data / "validation.jsonl", Path(name)):
        try:
            test = None if source is None or not name else load_test(source)
        except ComdivError:
            continue
        if test is not None and test.version == version:
            return test, source if source is not None and source.is_dir() else None
    return None, None


def _training_templates(recorded: Any, *folders: Path | None) -> frozenset[str] | None:
    """The templates that an evaluation called seen, if one of the folders has them: it recorded their hash."""
    for folder in folders:
        if folder is not None and (folder / FACTS).is_file():
            templates = templates_of(read_dataset(folder).training_side)
            if templates_hash(templates) == recorded:
                return templates
    return None

"""What a split or a measurement writes: datasets with their cards, reports, and figures of the frequencies.

The only module of this package that writes files. Validation is drawn once, and every parameter is recorded.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from comdiv import groups
from comdiv.corpora import Corpus
from comdiv.dataset import Dataset, write_dataset
from comdiv.figures import Draw, Theme, write_figure
from comdiv.files import write_json_lines, write_text
from comdiv.problem import Problem
from comdiv.splitting.compounds import compounds_of
from comdiv.splitting.extraction import Extraction, ExtractionSettings
from comdiv.splitting.measurement import (
    Frequency,
    Measurement,
    counted_divergence,
    inexpressible_note,
    markdown_table,
    measure,
)
from comdiv.splitting.methods import SplitSettings, wanted_test_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Mask = npt.NDArray[np.bool_]
_VERSIONS_OF = ("comdiv", "numpy", "scikit-learn", "numba", "rjieba", "textblob")
SHOWN = 40  # bars: the number of clusters in the paper's figure


def corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """Which corpus a dataset is made from; the hash covers the problems as read, so other columns change it."""
    digest = hashlib.sha256()
    for problem in corpus.problems:
        digest.update(json.dumps(problem.to_json(), ensure_ascii=False).encode() + b"\n")
    return {
        "corpus": corpus.name,
        "version": corpus.version,
        "problems": len(corpus.problems),
        "sha256": digest.hexdigest(),
    }


def library_versions() -> dict[str, str]:
    """The versions of the libraries that a dataset depends on."""
    return {name: version(name) for name in _VERSIONS_OF}


def build_dataset(
    extraction: Extraction,
    test: Mask,
    settings: SplitSettings,
    source: Mapping[str, Any],
    validation: Mask | None = None,
) -> tuple[Dataset, Measurement]:
    """The dataset of a split and its measurement; `source` says which corpus it was made from.

    `validation` is drawn from the training side unless it is given.
    """
    measurement = measure(extraction, test, settings.extraction, alpha=settings.alpha)
    parts = cut_parts(
        extraction, test, settings.validation_share, seed=settings.seed, twins=settings.twins, validation=validation
    )
    facts = {
        "made_by": "comdiv split",
        "source": dict(source),
        "settings": settings.model_dump(),
        "wanted_test_size": wanted_test_size(settings, len(test)),
        **measurement.to_json(),
        "versions": library_versions(),
    }
    return Dataset(**parts, facts=facts), measurement


def write_split(
    folder: Path,
    extraction: Extraction,
    test: Mask,
    settings: SplitSettings,
    source: Mapping[str, Any],
    *,
    validation: Mask | None = None,
    force: bool = False,
) -> tuple[dict[str, Any], Measurement]:
    """The dataset of a split as a folder, with its card and its two figures; returns its facts and measurement."""
    dataset, measurement = build_dataset(extraction, test, settings, source, validation)
    facts = write_dataset(
        folder,
        dataset,
        title=f"{source['corpus']}, {settings.method} split",
        paragraphs=card_paragraphs(measurement, settings, source),
        more=lambda staging: draw_frequencies(measurement, staging),
        force=force,
    )
    return facts, measurement


def cut_parts(
    extraction: Extraction,
    test: Mask,
    validation_share: float,
    *,
    seed: int,
    twins: bool = True,
    validation: Mask | None = None,
) -> dict[str, tuple[Problem, ...]]:
    """Train, validation and test for a given test side; validation is drawn unless it is given."""
    if validation is None:
        validation = draw_validation(extraction, test, validation_share, seed=seed, twins=twins)
    sides = {"train": ~test & ~validation, "validation": validation, "test": test}
    return {name: tuple(extraction.problems[i] for i in np.flatnonzero(side)) for name, side in sides.items()}


def draw_validation(extraction: Extraction, test: Mask, share: float, *, seed: int, twins: bool = True) -> Mask:
    """A random share of the training side, twins together; empty if every group of twins is too large."""
    training = np.flatnonzero(~test)
    keys = (extraction.twin_groups[training] if twins else training).tolist()
    validation = np.zeros(len(test), dtype=np.bool_)
    validation[training[groups.draw_validation(keys, share, seed)]] = True
    return validation


def card_paragraphs(measurement: Measurement, settings: SplitSettings, source: Mapping[str, Any]) -> list[str]:
    """What a dataset's card says about how it was made."""
    version = f" ({source['version']})" if source.get("version") else ""
    said = [
        f"Split of {source.get('corpus', 'a corpus')}{version} by method `{settings.method}`, "
        f"seed {settings.seed}, k = {settings.extraction.k} clusters of quantities, "
        f"{settings.extraction.clusterings} clustering{'s' * (settings.extraction.clusterings > 1)}."
    ]
    said += notes(measurement, settings, source)
    return [*said, markdown_table(measurement)]


def notes(measurement: Measurement, settings: SplitSettings, source: Mapping[str, Any]) -> list[str]:
    """What users of a split should know."""
    dropped = source.get("problems", 0) - measurement.train_size - measurement.test_size
    if dropped and settings.without_expression != "drop":  # made from a list of ids that does not have them
        return list(filter(None, [f"{dropped:,} problems are in no part of it.", inexpressible_note(measurement)]))
    left_out = f"{dropped:,} problems without an operator were left out." if dropped else ""
    warnings = [inexpressible_note(measurement), small_corpus_note(measurement, settings)]
    return list(filter(None, [left_out, *warnings, smaller_test_note(measurement, settings)]))


def small_corpus_note(measurement: Measurement, settings: SplitSettings) -> str:
    """The bounds that a search could not keep because chance alone exceeds them; empty if it kept them all."""
    if settings.method != "dbca":
        return ""
    values = [
        ("atom", measurement.atom_divergence[settings.alpha], settings.atom_bound),
        ("operator", measurement.operator_divergence, settings.operator_bound),
        ("operator-count", measurement.operator_count_divergence or 0.0, settings.operator_bound),
    ]
    missed = [f"{what} divergence {value:.3f}" for what, value, bound in values if bound is not None and value > bound]
    if not missed:
        return ""
    size = measurement.train_size + measurement.test_size
    return f"WARNING: {size:,} problems are too few for the bounds asked for: {', '.join(missed)}"


def smaller_test_note(measurement: Measurement, settings: SplitSettings) -> str:
    """Why the test side has fewer problems than requested; empty if it has not."""
    wanted = wanted_test_size(settings, measurement.train_size + measurement.test_size)
    if measurement.test_size == wanted:
        return ""
    together = "templates and twins" if settings.method == "template" else "twins"
    return f"The test side has {measurement.test_size} problems instead of {wanted}: {together} stay together."


def write_measurement(measurement: Measurement, folder: Path) -> list[Path]:
    """`report.json` with all frequencies, `report.md`, and the two figures; returns the figures' paths."""
    record = measurement.to_json(frequencies=True)
    write_text(folder / "report.json", json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    write_text(folder / "report.md", markdown_table(measurement) + "\n")
    return draw_frequencies(measurement, folder)


def write_compounds(extraction: Extraction, test: Mask, settings: ExtractionSettings, folder: Path) -> Path:
    """`compounds.jsonl`: for each problem its side and, by the seed of each clustering, its clusters and compounds."""
    extraction.prepare(settings.k, settings.seeds())
    clusters = {seed: extraction.clusters_by_problem(settings.k, seed) for seed in settings.seeds()}

    def record(place: int, problem: Problem) -> dict[str, Any]:
        tree = problem.expression
        own = {str(seed): labels[place].tolist() for seed, labels in clusters.items()}
        spelled = {
            seed: [] if tree is None else compounds_of(tree, row, settings.compounds, commutative=settings.commutative)
            for seed, row in own.items()
        }
        side = "test" if test[place] else "train"
        return {"id": problem.id, "side": side, "clusters": own, "compounds": spelled}

    path = folder / "compounds.jsonl"
    write_json_lines(path, (record(place, problem) for place, problem in enumerate(extraction.problems)))
    return path


def draw_frequencies(measurement: Measurement, folder: Path) -> list[Path]:
    """Write `atoms` and `compounds` as SVG and PNG into a folder; the same measurement gives the same bytes."""
    paths = []
    facts = measurement.to_json()
    for name, frequencies in (("atoms", measurement.atoms), ("compounds", measurement.compounds)):
        if frequencies:  # expressions may have no quantities
            divergence = counted_divergence(facts, name, measurement.alpha)
            paths += write_figure(folder / f"frequencies-{name}", frequency_figure(name, frequencies, divergence))
    return paths


def frequency_figure(name: str, frequencies: Sequence[Frequency], divergence: float) -> Draw:
    """The figure for `atoms` or `compounds`, as a function that draws it in a theme."""
    shown = frequencies[:SHOWN]
    train_total = max(1, sum(frequency.train for frequency in frequencies))
    test_total = max(1, sum(frequency.test for frequency in frequencies))

    def draw(theme: Theme) -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.6, 3.4), layout="constrained")
        axes = figure.add_subplot()
        positions, width = range(len(shown)), 0.42
        train = [frequency.train / train_total for frequency in shown]
        test = [frequency.test / test_total for frequency in shown]
        for shift, shares, colour, label in (
            (-width / 2, train, theme.train, f"train (n = {train_total:,})"),
            (width / 2, test, theme.test, f"test (n = {test_total:,})"),
        ):
            axes.bar([position + shift for position in positions], shares, width, color=colour, label=label)
        axes.set_xticks(list(positions), [frequency.name for frequency in shown], rotation=70, ha="right", fontsize=7)
        axes.set_xlabel(f"{name[:-1]}, most frequent first")
        axes.set_ylabel("share of occurrences")
        title = f"{name.capitalize()}: divergence {divergence:.3f}"
        axes.set_title(f"{title} (the {len(shown)} most frequent of {len(frequencies):,})", loc="left")
        axes.legend()
        return figure

    return draw

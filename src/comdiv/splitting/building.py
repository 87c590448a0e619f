"""From a test mask to a dataset: validation drawn once, everything measured, every parameter written down."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from comdiv import groups
from comdiv.corpora import Corpus
from comdiv.dataset import Dataset, write_dataset
from comdiv.splitting.extraction import Extraction
from comdiv.splitting.figures import draw_frequencies
from comdiv.splitting.measurement import Measurement, measure
from comdiv.splitting.methods import SplitSettings, wanted_test_size

Mask = npt.NDArray[np.bool_]
_VERSIONS_OF = ("comdiv", "numpy", "scikit-learn", "numba", "rjieba", "textblob")


def corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """Which corpus a dataset is made from; the hash is of the problems as read, so other columns are another corpus."""
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
    """The versions of what a dataset depends on."""
    return {name: version(name) for name in _VERSIONS_OF}


def build_dataset(
    extraction: Extraction,
    test: Mask,
    settings: SplitSettings,
    source: Mapping[str, Any],
) -> tuple[Dataset, Measurement]:
    """The dataset of a split and its measurement; `source` says which corpus it was made from."""
    measurement = measure(extraction, test, settings.extraction, alpha=settings.alpha)
    validation = draw_validation(extraction, test, settings.validation_share, seed=settings.seed, twins=settings.twins)
    parts = {
        name: tuple(problem for problem, chosen in zip(extraction.problems, mask, strict=True) if chosen)
        for name, mask in (("train", ~test & ~validation), ("validation", validation), ("test", test))
    }
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
    force: bool = False,
) -> tuple[dict[str, Any], Measurement]:
    """The dataset of a split as a folder, with its card and its two figures; returns its facts and measurement."""
    dataset, measurement = build_dataset(extraction, test, settings, source)
    facts = write_dataset(
        folder,
        dataset,
        title=f"{source['corpus']}, {settings.method} split",
        paragraphs=card_paragraphs(measurement, settings, source),
        more=lambda staging: draw_frequencies(measurement, staging),
        force=force,
    )
    return facts, measurement


def draw_validation(extraction: Extraction, test: Mask, share: float, *, seed: int, twins: bool = True) -> Mask:
    """A random share of the training side, twins together; none where no group of twins is as small as that."""
    training = np.flatnonzero(~test)
    keys = [extraction.features[position].masked_text if twins else int(position) for position in training]
    validation = np.zeros(len(test), dtype=np.bool_)
    validation[training[groups.draw_validation(keys, share, seed)]] = True
    return validation


def card_paragraphs(measurement: Measurement, settings: SplitSettings, source: Mapping[str, Any]) -> list[str]:
    """What a dataset's card says about how it was made."""
    version = f" ({source['version']})" if source.get("version") else ""
    said = [
        f"Split of {source.get('corpus', 'a corpus')}{version} by method `{settings.method}`, "
        f"seed {settings.seed}, k = {settings.extraction.k} clusters of quantities."
    ]
    said += [smaller] if (smaller := smaller_test_note(measurement, settings)) else []
    return [*said, markdown_table(measurement)]


def smaller_test_note(measurement: Measurement, settings: SplitSettings) -> str:
    """Why test has fewer problems than were asked for; empty where it has as many."""
    wanted = wanted_test_size(settings, measurement.train_size + measurement.test_size)
    if measurement.test_size == wanted:
        return ""
    together = "templates and twins" if settings.method == "template" else "twins"
    return f"The test side has {measurement.test_size} problems instead of {wanted}: {together} stay together."


def markdown_table(measurement: Measurement) -> str:
    """The measurement as a Markdown table."""
    rows = ["| measure | value |", "| --- | --- |"]
    return "\n".join(rows + [f"| {name} | {value} |" for name, value in table_rows(measurement)])


def table_rows(measurement: Measurement) -> list[tuple[str, str]]:
    """The measurement as lines for people: in the terminal, in cards."""
    m = measurement
    compound, atom = m.compound_divergence, m.atom_divergence
    return [
        ("training / test problems", f"{m.train_size:,} / {m.test_size:,}"),
        ("compound divergence (paper, α = 0.5)", f"{compound['paper']:.3f}"),
        ("compound divergence (Keysers et al., α = 0.1)", f"{compound['keysers2020']:.3f}"),
        ("atom divergence (paper, α = 0.1)", f"{atom['paper']:.4f}"),
        ("atom divergence (Keysers et al., α = 0.5)", f"{atom['keysers2020']:.4f}"),
        (
            f"the same with other clusterings of quantities ({m.alpha})",
            f"{m.compound_divergence_other_clusterings:.3f}",
        ),
        (f"i.i.d. compound divergence, same k ({m.alpha})", f"{m.iid_compound_divergence:.3f}"),
        ("length ratio of the texts, train / test", f"{m.length_ratio:.3f}"),
        ("length ratio of the expressions", f"{m.expression_length_ratio:.3f}"),
        ("operator divergence (α = 0.5)", f"{m.operator_divergence:.4f}"),
        ("test problems with an unseen compound", f"{m.unseen_compound_share:.1%}"),
        ("test problems with an unseen template", f"{m.unseen_template_share:.1%}"),
        ("test problems with a twin in train", f"{m.twins} ({m.twin_share:.1%})"),
        ("problems without an expression", f"{m.without_expression}"),
    ]

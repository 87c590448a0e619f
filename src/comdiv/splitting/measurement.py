"""How compositional a train/test pair is: everything in the paper's Table I, and more (§III-A)."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.splitting.divergence import ALPHA_PRESETS, alphas_named, count_divergence
from comdiv.splitting.encoding import Encoded, Incidence
from comdiv.splitting.extraction import Extraction, ExtractionSettings, Track, extract
from comdiv.splitting.sides import random_split

IID_SEEDS = 5  # random splits over which the i.i.d. divergence is averaged
HELD_OUT_CLUSTERINGS = 3  # with seeds that follow those of the split's own
BALANCE_ALPHA = 0.5  # for operators and their numbers: symmetric between the sides
LOUD_SHARE = 0.05  # share of problems without an operator above which reports have a warning
SHOWN_COMPOUNDS = 20
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often an atom or compound occurs on each side."""

    name: str
    train: int
    test: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """The report on a split; divergences are given at both presets of α.

    Unseen shares refer to the test problems with an expression, `twin_share` to all test problems.
    """

    train_size: int
    test_size: int
    k: int
    window: int
    cluster_seed: int
    alpha: str
    compound_divergence: dict[str, float]  # under the clusterings of the split: the mean
    atom_divergence: dict[str, float]  # the highest
    compound_divergence_other_clusterings: float  # held-out: under clusterings that no search has seen
    iid_compound_divergence: float
    length_ratio: float
    expression_length_ratio: float
    operator_divergence: float
    unseen_compound_share: float
    unseen_template_share: float
    twins: int
    twin_share: float
    without_expression: int
    differing_compounds: tuple[Frequency, ...]
    atoms: tuple[Frequency, ...]
    compounds: tuple[Frequency, ...]
    # Newer than the first datasets, whose files do not have them.
    clusterings: int = 1
    atom_divergence_other_clusterings: float | None = None
    compound_divergence_other_representations: dict[str, float] | None = None
    operator_count_divergence: float | None = None
    without_operator_share: dict[str, float] | None = None  # by side: problems that have no compound
    # By preset of alpha, one divergence per clustering of the split; `atoms` and `compounds` count the first one's.
    compound_divergence_by_clustering: dict[str, list[float]] | None = None
    atom_divergence_by_clustering: dict[str, list[float]] | None = None

    @classmethod
    def always_told(cls) -> frozenset[str]:
        """What every `dataset.json` tells of a measurement, also those of older versions."""
        required = {entry.name for entry in fields(cls) if entry.default is MISSING}
        return frozenset(required - {"atoms", "compounds"})

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Measurement | None":
        """The measurement recorded in a `dataset.json`, without its frequencies; None if there is none."""
        own = [entry for entry in fields(cls) if entry.name not in ("atoms", "compounds")]
        if not cls.always_told() <= facts.keys():
            return None
        differing = tuple(Frequency(**frequency) for frequency in facts["differing_compounds"])
        recorded = {entry.name: facts[entry.name] for entry in own if entry.name in facts}
        recorded["differing_compounds"] = differing
        return cls(**recorded, atoms=(), compounds=())

    def to_json(self, *, frequencies: bool = False) -> dict[str, Any]:
        """For files and programs; with the full frequency tables only on request."""
        record = asdict(self)
        if not frequencies:
            del record["atoms"], record["compounds"]
        return record


def measure(
    extraction: Extraction, test: Mask, settings: ExtractionSettings, *, alpha: str = "paper", iid: float | None = None
) -> Measurement:
    """Measure the split that puts the masked problems into test. `iid` saves computing the i.i.d. divergence again."""
    alphas_named(alpha)  # refuses an unknown preset
    if not test.any() or test.all():
        raise ComdivError(f"the {'test' if not test.any() else 'training'} side is empty: there is nothing to measure")
    operators = extraction.operators()
    if not operators.any():
        raise ComdivError("no problem has an expression with an operator: there are no compounds to measure")
    for side, mask in (("training", ~test), ("test", test)):
        if not operators[mask].any():
            raise ComdivError(f"the {side} side has no expression with an operator: there is nothing to compare")
    extraction.prepare(settings.k, [*settings.seeds(), *held_out_seeds(settings)])
    views = extraction.views(settings)
    encoded = views[0]
    unseen = held_out(extraction, test, settings, alpha)
    with_expression = np.array([name is not None for name in extraction.templates])
    compounds, atoms = _frequencies(encoded.compounds, test), _frequencies(encoded.atoms, test)
    twins = seen_elsewhere(extraction.twin_groups.tolist(), test)
    compounds_by_view = {
        name: [side_divergence(view.compounds, test, a.compounds) for view in views]
        for name, a in ALPHA_PRESETS.items()
    }
    atoms_by_view = {
        name: [side_divergence(view.atoms, test, a.atoms) for view in views] for name, a in ALPHA_PRESETS.items()
    }
    return Measurement(
        train_size=int((~test).sum()),
        test_size=int(test.sum()),
        k=settings.k,
        window=settings.window,
        cluster_seed=settings.seed,
        alpha=alpha,
        compound_divergence={name: mean_divergence(values) for name, values in compounds_by_view.items()},
        atom_divergence={name: max(values) for name, values in atoms_by_view.items()},
        compound_divergence_other_clusterings=unseen.compounds,
        iid_compound_divergence=iid_divergence(encoded, int(test.sum()), alpha) if iid is None else iid,
        length_ratio=_ratio(encoded.lengths, test),
        expression_length_ratio=_ratio(
            2.0 * operators[with_expression] + 1,  # operators and leaves: an expression's length without brackets
            test[with_expression],
        ),
        operator_divergence=side_divergence(extraction.nodes.operators(), test, BALANCE_ALPHA),
        unseen_compound_share=float(
            np.mean([unseen_compound_share(view.compounds, test, with_expression) for view in views])
        ),
        unseen_template_share=_unseen_template_share(extraction.templates, test, with_expression),
        twins=twins,
        twin_share=twins / int(test.sum()),
        without_expression=sum(problem.expression is None for problem in extraction.problems),
        differing_compounds=_differing(compounds),
        atoms=atoms,
        compounds=compounds,
        clusterings=settings.clusterings,
        atom_divergence_other_clusterings=unseen.atoms,
        compound_divergence_other_representations=_other_representations(extraction, test, settings, alpha),
        operator_count_divergence=side_divergence(extraction.nodes.sizes(), test, BALANCE_ALPHA),
        without_operator_share={
            side: round(float((operators[mask] == 0).mean()), 6) for side, mask in (("train", ~test), ("test", test))
        },
        compound_divergence_by_clustering=compounds_by_view,
        atom_divergence_by_clustering=atoms_by_view,
    )


def measure_sides(
    training: Sequence[Problem],
    test: Sequence[Problem],
    settings: ExtractionSettings,
    *,
    alpha: str = "paper",
    track: Track = lambda items: items,
) -> Measurement:
    """The measurement of a train/test pair that comdiv did not split."""
    extraction, mask = extract_sides(training, test, window=settings.window, track=track)
    return measure(extraction, mask, settings, alpha=alpha)


def extract_sides(
    training: Sequence[Problem], test: Sequence[Problem], *, window: int, track: Track = lambda items: items
) -> tuple[Extraction, Mask]:
    """Both sides in one extraction, and which of its problems are test."""
    for side, problems in (("training", training), ("test", test)):
        if not problems:
            raise ComdivError(f"the {side} side has no problems")
    extraction = extract([*training, *test], window=window, track=track)
    in_test = {id(problem) for problem in test}  # ids of two files may clash, objects do not
    return extraction, np.array([id(problem) in in_test for problem in extraction.problems])


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The divergences of a split under clusterings that no search has seen: the means."""

    compounds: float
    atoms: float


def held_out_seeds(settings: ExtractionSettings) -> range:
    """The seeds of the clusterings that follow those of the settings."""
    return range(settings.seeds().stop, settings.seeds().stop + HELD_OUT_CLUSTERINGS)


def held_out(extraction: Extraction, test: Mask, settings: ExtractionSettings, alpha: str) -> HeldOut:
    """The divergences when quantities are clustered with other seeds.

    A search overfits the clusterings that it is given; what remains under others comes from the texts.
    """
    extraction.prepare(settings.k, held_out_seeds(settings))
    alphas = alphas_named(alpha)
    compounds, atoms = [], []
    for seed in held_out_seeds(settings):
        view = extraction.encode(extraction.clusters(settings.k, seed), settings)  # looked at once, so not kept
        compounds.append(side_divergence(view.compounds, test, alphas.compounds))
        atoms.append(side_divergence(view.atoms, test, alphas.atoms))
    return HeldOut(compounds=float(np.mean(compounds)), atoms=float(np.mean(atoms)))


def divergence_to_report(extraction: Extraction, test: Mask, settings: ExtractionSettings, alpha: str) -> float:
    """The divergence to judge a split by: held-out or, with one clustering as in the paper, that clustering's."""
    if settings.clusterings > 1:
        return held_out(extraction, test, settings, alpha).compounds
    return side_divergence(extraction.encoded(settings).compounds, test, alphas_named(alpha).compounds)


def _other_representations(
    extraction: Extraction, test: Mask, settings: ExtractionSettings, alpha: str
) -> dict[str, float]:
    """The compound divergence when quantities are grouped by something other than TF-IDF clusters."""
    exponent = alphas_named(alpha).compounds
    return {
        name: side_divergence(extraction.encode(labels, settings).compounds, test, exponent)
        for name, labels in extraction.other_labels(settings.k).items()
    }


def iid_divergence(encoded: Encoded, test_size: int, alpha: str = "paper", seeds: int = IID_SEEDS) -> float:
    """The mean compound divergence of random splits of that size: the part due to sparsity alone."""
    masks = (random_split(encoded, test_size, seed) for seed in range(seeds))
    found = [side_divergence(encoded.compounds, mask, alphas_named(alpha).compounds) for mask in masks]
    return round(float(np.mean(found)), 6)


def side_divergence(incidence: Incidence, test: Mask, alpha: float) -> float:
    """The divergence between the sides of a split, of whatever the table counts."""
    train_counts, test_counts = incidence.totals(~test), incidence.totals(test)
    if not train_counts.any() or not test_counts.any():
        return 1.0  # a side without any expression shares nothing with the other
    return round(count_divergence(train_counts, test_counts, alpha), 6)


def mean_divergence(values: Sequence[float]) -> float:
    """The compound divergence under several clusterings, with the digits of a single one."""
    return round(float(np.mean(values)), 6)


def counted_divergence(facts: Mapping[str, Any], kind: str, alpha: str) -> float:
    """The divergence of the atoms or compounds whose frequencies are given: the first clustering's."""
    name = f"{kind.removesuffix('s')}_divergence"
    by_clustering = facts.get(f"{name}_by_clustering")
    return float(by_clustering[alpha][0] if by_clustering else facts[name][alpha])


def _frequencies(incidence: Incidence, test: Mask) -> tuple[Frequency, ...]:
    """Every atom or compound with its counts, the most frequent first."""
    rows = zip(incidence.names, incidence.totals(~test).tolist(), incidence.totals(test).tolist(), strict=True)
    return tuple(sorted((Frequency(str(n), a, b) for n, a, b in rows), key=lambda f: (-f.train - f.test, f.name)))


def _differing(frequencies: Sequence[Frequency]) -> tuple[Frequency, ...]:
    """Those whose shares on the two sides lie furthest apart."""
    train_total = max(1, sum(frequency.train for frequency in frequencies))
    test_total = max(1, sum(frequency.test for frequency in frequencies))
    return tuple(
        sorted(frequencies, key=lambda f: (-abs(f.train / train_total - f.test / test_total), f.name))[:SHOWN_COMPOUNDS]
    )


def _ratio(values: npt.NDArray[np.float64], test: Mask) -> float:
    return round(float(values[~test].mean() / values[test].mean()), 4)


def seen_elsewhere(names: Sequence[str | int | None], test: Mask) -> int:
    """How many test problems share their name (template, masked text, number of twins) with a training problem."""
    train = {name for name, is_test in zip(names, test, strict=True) if not is_test and name is not None}
    return sum(bool(is_test) and name in train for name, is_test in zip(names, test, strict=True))


def _unseen_template_share(templates: Sequence[str | None], test: Mask, with_expression: Mask) -> float:
    """The share of test problems with an expression whose template no training problem has."""
    total = int((test & with_expression).sum())
    return (total - seen_elsewhere(templates, test)) / total


def unseen_compound_share(compounds: Incidence, test: Mask, with_expression: Mask) -> float:
    """The share of test problems with an expression that contain a compound unseen in training."""
    unseen = compounds.totals(~test) == 0
    rows = compounds.row_of_entry()[unseen[compounds.ids]]
    return len(np.unique(rows[test[rows]])) / int((test & with_expression).sum())


def markdown_table(measurement: Measurement) -> str:
    """The measurement as a Markdown table."""
    rows = ["| measure | value |", "| --- | --- |"]
    return "\n".join(rows + [f"| {name} | {value} |" for name, value in table_rows(measurement)])


def table_rows(measurement: Measurement) -> list[tuple[str, str]]:
    """The measurement as lines for people: in the terminal, in cards."""
    m = measurement
    compound, atom = m.compound_divergence, m.atom_divergence
    own = "own clustering" if m.clusterings == 1 else f"own {m.clusterings} clusterings"
    rows = [
        ("training / test problems", f"{m.train_size:,} / {m.test_size:,}"),
        (f"compound divergence, held-out clusterings ({m.alpha})", f"{m.compound_divergence_other_clusterings:.3f}"),
        *(
            (f"compound divergence, by {name} ({m.alpha})", f"{value:.3f}")
            for name, value in (m.compound_divergence_other_representations or {}).items()
        ),
        (f"i.i.d. compound divergence, same k ({m.alpha})", f"{m.iid_compound_divergence:.3f}"),
        (f"compound divergence, {own} (paper, α = 0.5)", f"{compound['paper']:.3f}"),
        (f"compound divergence, {own} (Keysers et al., α = 0.1)", f"{compound['keysers2020']:.3f}"),
        (f"atom divergence, {own} (paper, α = 0.1)", f"{atom['paper']:.4f}"),
        (f"atom divergence, {own} (Keysers et al., α = 0.5)", f"{atom['keysers2020']:.4f}"),
        (f"atom divergence, held-out clusterings ({m.alpha})", _four_digits(m.atom_divergence_other_clusterings)),
        ("operator divergence (α = 0.5)", f"{m.operator_divergence:.4f}"),
        ("divergence of the numbers of operators (α = 0.5)", _four_digits(m.operator_count_divergence)),
        ("length ratio of the texts, train / test", f"{m.length_ratio:.3f}"),
        ("length ratio of the expressions", f"{m.expression_length_ratio:.3f}"),
        ("test problems with an unseen compound", f"{m.unseen_compound_share:.1%}"),
        ("test problems with an unseen template", f"{m.unseen_template_share:.1%}"),
        ("test problems with a twin in train", f"{m.twins} ({m.twin_share:.1%})"),
        ("problems without an expression", f"{m.without_expression}"),
    ]
    if m.without_operator_share is not None:
        train, test = m.without_operator_share["train"], m.without_operator_share["test"]
        rows.append(("problems without an operator, train / test", f"{train:.1%} / {test:.1%}"))
    return rows


def _four_digits(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f}"


def inexpressible_note(measurement: Measurement) -> str:
    """A warning if many problems of a corpus have no compound; empty if few do."""
    shares = measurement.without_operator_share
    if shares is None:
        return ""
    count = round(shares["train"] * measurement.train_size + shares["test"] * measurement.test_size)
    share = count / (measurement.train_size + measurement.test_size)
    if share <= LOUD_SHARE:
        return ""
    return (
        f"WARNING: {count:,} problems ({share:.1%}) have no expression with an operator: no divergence says anything "
        f"about them ({shares['train']:.1%} of the training side, {shares['test']:.1%} of test)"
    )

"""Audit of a split from any source: divergences under other views, twins, near-duplicates, lengths.

Adversarial validation asks whether a linear classifier can tell test from train: by compounds it should, by atoms it
should not (an area under the curve of 0.5 is a guess).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from comdiv.errors import ComdivError
from comdiv.files import write_text
from comdiv.groups import group_numbers
from comdiv.splitting.divergence import alphas_named
from comdiv.splitting.encoding import Encoded, Floats, Incidence, Integers, Mask
from comdiv.splitting.extraction import Extraction, ExtractionSettings
from comdiv.splitting.measurement import (
    held_out_seeds,
    iid_divergence,
    mean_divergence,
    seen_elsewhere,
    side_divergence,
    unseen_compound_share,
)
from comdiv.splitting.sides import length_ratio

NEAR = 0.8  # least Jaccard similarity of near-duplicates, between their sets of five-character sequences
SHOWN_PAIRS = 10
FOLDS = 5
MOST_COMPARED = 5_000  # test items to compare with every training item; of more, a sample is drawn
MOST_CLASSIFIED = 20_000  # items in the adversarial validation; of more, a sample is drawn
_GRAM = 5
_LARGEST_TABLE = 4_000_000  # similarities in memory at a time
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class NearPair:
    """A test item and the training item most similar to it."""

    test: str
    train: str
    similarity: float
    test_text: str
    train_text: str


@dataclass(frozen=True, slots=True)
class SplitAudit:
    """The audit of a split. Without texts there are neither twins nor near-duplicates."""

    train_size: int
    test_size: int
    alpha: str
    compound_divergence: float  # with several views of its own, the mean
    atom_divergence: float  # with several views of its own, the highest
    iid_compound_divergence: float
    other_views: dict[str, dict[str, float]]  # name → compound_divergence, atom_divergence
    unseen_compound_share: float
    length_ratio: float
    mean_length: dict[str, float]  # by side
    adversarial_auc: dict[str, float | None]  # by what the classifier sees; None: too few items
    twins: int | None = None
    compared: int = 0  # test items that were compared with every training item
    near_duplicates: int | None = None
    nearest: tuple[NearPair, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For files and programs."""
        return {**asdict(self), "near": NEAR}

    def rows(self) -> list[tuple[str, str, str]]:
        """The audit for people: the measure, its value, and which values are good."""
        rows = [
            ("training / test items", f"{self.train_size:,} / {self.test_size:,}", ""),
            (
                f"compound divergence ({self.alpha})",
                f"{self.compound_divergence:.3f}",
                "high: test needs new compounds",
            ),
            ("i.i.d. compound divergence", f"{self.iid_compound_divergence:.3f}", "a random split of this size"),
            (f"atom divergence ({self.alpha})", f"{self.atom_divergence:.4f}", "low: train has all atoms"),
        ]
        for name, view in self.other_views.items():
            values = f"{view['compound_divergence']:.3f} / {view['atom_divergence']:.4f}"
            rows.append((f"under {name}: compounds / atoms", values, "high / low"))
        rows += [
            ("test items with an unseen compound", f"{self.unseen_compound_share:.1%}", ""),
            ("length ratio, train / test", f"{self.length_ratio:.3f}", "1: texts of equal length"),
        ]
        for seen, auc in self.adversarial_auc.items():
            good = "0.5: the sides look alike" if seen != "compounds" else "high: the sides differ in this"
            rows.append(
                (f"adversarial validation by {seen} (AUC)", "too few items" if auc is None else f"{auc:.3f}", good)
            )
        if self.twins is not None:
            rows.append(
                (
                    "test items with a twin in train",
                    f"{self.twins:,}",
                    "0: twins differ only in their numbers",
                )
            )
        if self.near_duplicates is not None:
            share = f"{self.near_duplicates:,} of {self.compared:,}"
            rows.append((f"test items with a near-duplicate in train (similarity {NEAR} or more)", share, "few"))
        return rows

    def to_html(self, title: str = "Audit of a split") -> str:
        """The audit as a page of its own; every text in it is escaped."""
        from jinja2 import Environment, StrictUndefined

        template = files("comdiv.splitting").joinpath("audit.html").read_text(encoding="utf-8")
        page = Environment(autoescape=True, undefined=StrictUndefined).from_string(template)
        return page.render(title=title, rows=self.rows(), nearest=self.nearest)

    def write(self, folder: Path, title: str = "Audit of a split") -> list[Path]:
        """Write `audit.json` and `audit.html` into a folder; returns their paths."""
        texts = {
            "audit.json": json.dumps(self.to_json(), ensure_ascii=False, indent=2) + "\n",
            "audit.html": self.to_html(title),
        }
        for name, text in texts.items():
            write_text(folder / name, text)
        return [folder / name for name in texts]


def audit_problems(extraction: Extraction, test: Mask, settings: ExtractionSettings, *, alpha: str) -> SplitAudit:
    """The audit of a split of word problems, also under clusterings that no search has seen, and by their units."""
    extraction.prepare(settings.k, [*settings.seeds(), *held_out_seeds(settings)])
    others = {
        f"held-out clustering {seed}": extraction.encoded(settings.changed(seed=seed))
        for seed in held_out_seeds(settings)
    }
    for name, labels in extraction.other_labels(settings.k).items():
        others[name] = extraction.encode(labels, settings)
    return audit_sides(
        extraction.views(settings),
        test,
        others=others,
        texts=[problem.text for problem in extraction.problems],
        masks=extraction.masks,
        names=[problem.id for problem in extraction.problems],
        alpha=alpha,
    )


def audit_sides(
    own: Sequence[Encoded],
    test: Mask,
    *,
    others: Mapping[str, Encoded],
    names: Sequence[str],
    texts: Sequence[str] | None = None,
    masks: Sequence[str] | None = None,
    alpha: str = "paper",
) -> SplitAudit:
    """The audit of the split that puts the masked items into test; `masks` are texts without their numbers."""
    if not test.any() or test.all():
        raise ComdivError(f"the {'test' if not test.any() else 'training'} side is empty: there is nothing to audit")
    alphas = alphas_named(alpha)
    if masks is None and texts is not None:
        masks = [masked(text) for text in texts]
    encoded = own[0]
    features = {"atoms": _counts(encoded.atoms), "compounds": _counts(encoded.compounds)}
    if masks is not None:
        features["texts"] = _text_features(masks)
    twins = None if masks is None else group_numbers(masks)
    pairs = None if masks is None or texts is None else list(_nearest(texts, masks, names, test))
    return SplitAudit(
        train_size=int((~test).sum()),
        test_size=int(test.sum()),
        alpha=alpha,
        compound_divergence=mean_divergence([side_divergence(v.compounds, test, alphas.compounds) for v in own]),
        atom_divergence=max(side_divergence(view.atoms, test, alphas.atoms) for view in own),
        iid_compound_divergence=iid_divergence(encoded, int(test.sum()), alpha),
        other_views={
            name: {
                "compound_divergence": side_divergence(view.compounds, test, alphas.compounds),
                "atom_divergence": side_divergence(view.atoms, test, alphas.atoms),
            }
            for name, view in others.items()
        },
        unseen_compound_share=round(
            float(np.mean([unseen_compound_share(view.compounds, test, np.ones_like(test)) for view in own])), 6
        ),
        length_ratio=round(length_ratio(encoded, test), 4),
        mean_length={
            side: round(float(encoded.lengths[rows].mean()), 4) for side, rows in (("train", ~test), ("test", test))
        },
        adversarial_auc={
            name: adversarial_auc(matrix, test, encoded.groups if twins is None else twins)
            for name, matrix in features.items()
        },
        twins=None if masks is None else seen_elsewhere(masks, test),
        compared=0 if pairs is None else len(pairs),
        near_duplicates=None if pairs is None else sum(pair.similarity >= NEAR for pair in pairs),
        nearest=tuple(sorted(pairs or (), key=lambda pair: (-pair.similarity, pair.test))[:SHOWN_PAIRS]),
    )


def masked(text: str) -> str:
    """A text of any kind without its numbers, capitals and spacing: the same for twins."""
    return _NUMBER.sub("0", " ".join(text.casefold().split()))


def adversarial_auc(features: Any, test: Mask, groups: Integers) -> float | None:
    """How well a logistic regression tells test from train on items it has not seen; groups are never in two folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from threadpoolctl import threadpool_limits

    rows = _drawn(np.arange(len(test)), MOST_CLASSIFIED)
    features, test, groups = features[rows], test[rows], np.unique(groups[rows], return_inverse=True)[1]
    first = np.unique(groups, return_index=True)[1]
    order = np.random.default_rng(0).permutation(len(first))
    order = order[np.argsort(test[first][order], kind="stable")]  # each fold gets its share of both sides
    folds = min(FOLDS, int(test[first].sum()), int((~test[first]).sum()))
    if folds < 2 or features.shape[1] == 0:
        return None
    fold_of_group = np.empty(len(first), dtype=np.int64)
    fold_of_group[order] = np.arange(len(first)) % folds
    fold = fold_of_group[groups]  # (items)
    scores = np.zeros(len(test))
    with threadpool_limits(limits=1):  # sums depend on their order
        for number in range(folds):
            learner = LogisticRegression(solver="liblinear", class_weight="balanced", random_state=0)
            learner.fit(features[fold != number], test[fold != number])
            scores[fold == number] = learner.decision_function(features[fold == number])
    return round(float(roc_auc_score(test, scores.round(9))), 4)


def _counts(incidence: Incidence) -> Any:
    """The relative frequencies within each item, as a sparse matrix."""
    from scipy.sparse import csr_matrix
    from sklearn.preprocessing import normalize

    shape = (incidence.rows, incidence.width)
    return normalize(csr_matrix((incidence.counts.astype(np.float64), incidence.ids, incidence.offsets), shape))


def _text_features(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not any(text.strip() for text in texts):
        return np.zeros((len(texts), 0))
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=20_000).fit_transform(texts)


def _nearest(texts: Sequence[str], masks: Sequence[str], names: Sequence[str], test: Mask) -> Iterator[NearPair]:
    """For each test item the training item whose five-character sequences are most similar (Jaccard)."""
    from sklearn.feature_extraction.text import CountVectorizer

    padded = ["·" * (_GRAM - 1) + (mask or "·") for mask in masks]  # the shortest text has a gram, too
    grams = CountVectorizer(analyzer="char", ngram_range=(_GRAM, _GRAM), binary=True, dtype=np.int32)
    table = grams.fit_transform(padded)  # (items, grams)
    sizes = np.asarray(table.sum(axis=1)).ravel()
    training, testing = np.flatnonzero(~test), _drawn(np.flatnonzero(test), MOST_COMPARED)
    known = table[training].T.tocsr()  # (grams, training items)
    at_once = max(1, _LARGEST_TABLE // len(training))
    for start in range(0, len(testing), at_once):
        rows = testing[start : start + at_once]
        shared: Floats = (table[rows] @ known).toarray().astype(np.float64)  # (rows, training items)
        similarity = shared / np.maximum(sizes[rows, None] + sizes[None, training] - shared, 1)
        best = similarity.argmax(axis=1)
        for row, place, value in zip(rows, best, similarity[np.arange(len(rows)), best].tolist(), strict=True):
            near = training[place]
            yield NearPair(names[row], names[near], round(value, 4), texts[row], texts[near])


def _drawn(rows: Integers, most: int) -> Integers:
    """The rows, or a sample of the given size that is the same in every call."""
    return rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, most, replace=False))

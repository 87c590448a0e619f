"""Which number of clusters to split with."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from comdiv.splitting.divergence import alphas_named, count_divergence
from comdiv.splitting.extraction import Extraction
from comdiv.splitting.measurement import iid_divergence
from comdiv.splitting.methods import SearchProgress, SplitSettings, split_problems

Criterion = Literal["lift", "divergence"]


def best_k(
    extraction: Extraction,
    settings: SplitSettings,
    candidates: Sequence[int],
    by: Criterion = "lift",
    progress: SearchProgress | None = None,
) -> tuple[int, dict[int, float]]:
    """The k whose split lies furthest above the i.i.d. divergence at the same k, and every candidate's score.

    The paper takes the k with the greatest divergence (`by="divergence"`, §V-A), which is degenerate: the divergence
    grows with k by sparsity alone. A target plays no part: every k would reach it.
    """
    scores: dict[int, float] = {}
    alpha = alphas_named(settings.alpha).compounds
    for k in candidates:
        tried = replace(settings, target=None, extraction=replace(settings.extraction, k=k))
        test = split_problems(extraction, tried, progress)
        encoded = extraction.encoded(tried.extraction, twins=tried.twins)
        scores[k] = count_divergence(encoded.compounds.totals(~test), encoded.compounds.totals(test), alpha)
        if by == "lift":
            scores[k] -= iid_divergence(encoded, int(test.sum()), settings.alpha)
    return max(candidates, key=lambda k: scores[k]), scores

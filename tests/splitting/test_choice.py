"""Which number of clusters is taken, by lift over chance or, as in the paper, by divergence."""

import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.splitting.choice import best_k
from comdiv.splitting.extraction import extract
from comdiv.splitting.measurement import measure
from comdiv.splitting.methods import preset_settings, split_problems

EXTRACTION = extract(list(generate("en", 300)))
SETTINGS = preset_settings("paper", test_size=60, atom_bound=0.1, search="greedy")
CANDIDATES = (2, 4, 12)


def measured(k: int) -> tuple[float, float]:
    """Compound divergence of the split at that k, and that of chance."""
    settings = SETTINGS.changed(k=k)
    found = measure(EXTRACTION, split_problems(EXTRACTION, settings), settings.extraction)
    return found.compound_divergence["paper"], found.iid_compound_divergence


def test_by_divergence_the_scores_are_the_divergences_and_the_greatest_wins() -> None:
    best, scores = best_k(EXTRACTION, SETTINGS, CANDIDATES, by="divergence")
    assert scores == {k: pytest.approx(measured(k)[0], abs=1e-6) for k in CANDIDATES}
    assert best == max(scores, key=lambda k: scores[k])


def test_by_lift_the_scores_are_differences_from_chance_and_the_greatest_wins() -> None:
    best, scores = best_k(EXTRACTION, SETTINGS, CANDIDATES)
    assert scores == {k: pytest.approx(measured(k)[0] - measured(k)[1], abs=1e-5) for k in CANDIDATES}
    assert best == max(scores, key=lambda k: scores[k])


def test_the_papers_criterion_prefers_more_clusters_than_the_lift_does() -> None:
    """Divergence grows with k by sparsity alone: the trap that the lift avoids."""
    by_lift, _ = best_k(EXTRACTION, SETTINGS, CANDIDATES)
    by_divergence, _ = best_k(EXTRACTION, SETTINGS, CANDIDATES, by="divergence")
    assert by_lift < by_divergence == 12


def test_a_target_plays_no_part_in_the_choice() -> None:
    assert best_k(EXTRACTION, SETTINGS.changed(target=0.9), (2, 4)) == best_k(EXTRACTION, SETTINGS, (2, 4))


def test_a_candidate_that_the_corpus_is_too_small_for_is_one_clear_line() -> None:
    with pytest.raises(ComdivError, match="too few for k = 5000 clusters"):
        best_k(EXTRACTION, SETTINGS, (2, 5000))


def test_with_several_clusterings_the_scores_are_held_out() -> None:
    settings = SETTINGS.changed(clusterings=2, search="anneal", steps_per_item=20)
    test = split_problems(EXTRACTION, settings.changed(k=4))
    held_out = measure(EXTRACTION, test, settings.changed(k=4).extraction).compound_divergence_other_clusterings
    assert best_k(EXTRACTION, settings, (4,), by="divergence") == (4, {4: pytest.approx(held_out, abs=1e-6)})

"""Scorers of `--rank coherence`: what hangs together scores higher than what was put together."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from comdiv.augmentation import AugmentationOptions, coherence_scorer
from comdiv.augmentation.algorithm import augment_dataset
from comdiv.augmentation.coherence_scorer import CoherenceScorer, Narrative, PairScorer, spoil, words_of
from comdiv.corpora import read_corpus
from comdiv.errors import ComdivError
from comdiv.problem import Problem, read_problems, write_problems
from comdiv.reading import read
from comdiv.registry import SCORERS


@pytest.fixture(scope="module")
def demo() -> list[Problem]:
    return list(read_corpus("demo-en").problems[:240])


def test_names_and_numbers_are_no_words_that_go_together() -> None:
    assert words_of(read(Problem("p", "en", "Tom has 3 pears. How many?"))) == (("has", "pears"), ("many",))


def test_a_spoiled_narrative_has_a_strange_clause_question_or_thing() -> None:
    own = Narrative((("a", "b"), ("b", "c"), ("b", "q")), ("own",))
    other = Narrative((("x",), ("y",), ("z",)), ("other",))
    copies = list(spoil(own, [other], random.Random(0)))
    assert len(copies) == 3
    assert all(copy.sources == ("own", "other") for copy in copies)
    assert all({"x", "y", "z"} & {word for clause in copy.clauses for word in clause} for copy in copies)
    assert copies[1].clauses == (("a", "b"), ("b", "c"), ("z",))


def test_real_questions_score_higher_than_those_of_other_problems(demo: list[Problem]) -> None:
    scorer = PairScorer()
    scorer.fit(demo[:200], seed=1)
    real = demo[200:]
    swapped = [
        Problem(one.id, "en", one.text[: read(one).question.start] + read(two).question.text)
        for one, two in zip(real, [*real[7:], *real[:7]], strict=True)
    ]
    pairs = list(zip(scorer.score(real), scorer.score(swapped), strict=True))
    assert sum(own > strange for own, strange in pairs) > 0.8 * len(pairs)


def test_the_same_seed_gives_the_same_scores(demo: list[Problem]) -> None:
    def scores() -> list[float]:
        scorer = PairScorer()
        scorer.fit(demo[:60], seed=3)
        return scorer.score(demo[60:80])

    assert scores() == scores()


@pytest.mark.parametrize("at_once", [1, 3])
def test_how_many_narratives_are_looked_up_together_changes_nothing(
    at_once: int, demo: list[Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores() -> list[float]:
        scorer = PairScorer()
        scorer.fit(demo[:60], seed=3)
        return scorer.score(demo[50:80])

    together = scores()
    monkeypatch.setattr(coherence_scorer, "AT_ONCE", at_once)
    assert scores() == together


def test_shares_of_pairs_are_those_that_counting_by_hand_gives(demo: list[Problem]) -> None:
    """Each clause with the words of all others; a pair counts if a problem that is no source of the text has it."""
    scorer = PairScorer()
    scorer.fit(demo[:80], seed=3)
    told = {problem.id: words_of(read(problem)) for problem in demo[:80]}
    known = set(scorer._words)

    def pairs(clauses: Sequence[Sequence[str]], place: int) -> set[frozenset[str]]:
        others = {word for number, clause in enumerate(clauses) if number != place for word in clause}
        return {frozenset([one, two]) for one in {*clauses[place]} & known for two in others & known if one != two}

    seen = {
        name: {pair for place in range(len(clauses)) for pair in pairs(clauses, place)}
        for name, clauses in told.items()
    }
    narratives = [
        Narrative((told[one.id][0], *told[two.id][1:]), (one.id, two.id))
        for one, two in zip(demo[:80], demo[3:80], strict=False)
    ]
    shares = iter(scorer._shares(narratives, [scorer._known(narrative) for narrative in narratives]))
    for narrative in narratives:
        elsewhere = set().union(*(those for name, those in seen.items() if name not in narrative.sources))
        for place, clause in enumerate(narrative.clauses):
            # A pair is looked at from each of its words in the clause.
            rows = [
                (one, two)
                for one in {*clause} & known
                for two in known & {w for n, c in enumerate(narrative.clauses) if n != place for w in c}
                if one != two
            ]
            expected = sum(frozenset(row) in elsewhere for row in rows) / len(rows) if rows else 1.0
            assert next(shares) == pytest.approx(expected)


def test_nothing_to_learn_from_gives_equal_scores() -> None:
    scorer = PairScorer()
    scorer.fit([], seed=0)
    assert scorer.score([Problem("p", "en", "Tom has 3 pears. How many?")]) == [0.0]


class Shortest(CoherenceScorer):
    """Prefers short texts; remembers what it learnt from."""

    seen: ClassVar[list[list[str]]] = []

    def fit(self, problems: object, seed: int) -> None:
        self.seen.append([problem.provenance.operation or "" for problem in problems])  # type: ignore[attr-defined]

    def score(self, problems: object) -> list[float]:
        return [-float(len(problem.text)) for problem in problems]  # type: ignore[attr-defined]


def test_any_scorer_ranks_within_operation_and_template_and_sees_originals_alone(
    demo: list[Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCORERS._ours, "shortest", f"{__name__}:Shortest")
    write_problems(tmp_path / "train.jsonl", demo[:80])
    options = AugmentationOptions.preset("sense", rank="coherence", scorer="shortest", keep=0.5, rounds=2)
    report = augment_dataset(tmp_path / "train.jsonl", tmp_path / "out", options)
    assert Shortest.seen
    assert all(not any(operations) for operations in Shortest.seen)
    candidates = list(read_problems(tmp_path / "out" / "rounds" / "1" / "candidates.jsonl"))
    kept = list(read_problems(tmp_path / "out" / "rounds" / "1" / "kept.jsonl"))
    assert len(kept) == len(candidates) // 2
    assert report["options"]["scorer"] == "shortest"
    assert "ranked by shortest (coherence)" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": "coherence", "ranker": "gts"}, "option rank: coherence is ranked by the scorer 'pairs'"),
        ({"rank": "coherence", "warm_start": True}, "option warm_start: there is no ranker"),
        ({"scorer": "pairs"}, "only --rank coherence uses one"),
        ({"keep": 0.5}, "option keep: there is no ranker"),
        ({"rank": "coherence", "scorer": "pair"}, "pairs"),
    ],
)
def test_options_that_nothing_would_use_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ComdivError, match=message):
        AugmentationOptions.preset("sense", **changes)

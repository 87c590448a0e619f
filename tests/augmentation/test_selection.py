"""Which new problems stay: drawn by seed, uniformly or with kinds balanced, and how often originals are repeated."""

from collections import Counter

import pytest

from comdiv.augmentation.selection import repetitions, selected, selected_evenly

KINDS = {f"p{number}": "rare" if number % 10 == 0 else "common" for number in range(1_000)}


def shares(balance: float, seed: int = 0) -> Counter[str]:
    return Counter(KINDS[name] for name in selected_evenly(KINDS, 100, seed, balance))


def test_ids_are_drawn_by_seed_and_stay_in_their_order() -> None:
    chosen = selected(list(KINDS), 100, 0)
    assert len(chosen) == 100
    assert chosen == [name for name in KINDS if name in set(chosen)]
    assert chosen == selected(list(KINDS), 100, 0) != selected(list(KINDS), 100, 1)
    assert selected(list(KINDS), None, 0) == selected(list(KINDS), 5_000, 0) == list(KINDS)


def test_the_order_of_the_ids_changes_nothing() -> None:
    backwards = dict(reversed(KINDS.items()))
    assert set(selected(list(backwards), 100, 3)) == set(selected(list(KINDS), 100, 3))
    assert set(selected_evenly(backwards, 100, 3, 0.5)) == set(selected_evenly(KINDS, 100, 3, 0.5))


def test_without_balance_the_draw_is_uniform() -> None:
    assert selected_evenly(KINDS, 100, 0, 0.0) == selected(list(KINDS), 100, 0)


def test_balance_gives_the_rare_kind_its_share() -> None:
    """Of 100 rare and 900 common ones a tenth, a quarter (√100 : √900), nearly a half of what is drawn."""
    drawn = {balance: sum(shares(balance, seed)["rare"] for seed in range(20)) / 20 for balance in (0.0, 0.5, 1.0)}
    assert drawn[0.0] == pytest.approx(10, abs=2)
    assert drawn[0.5] == pytest.approx(25, abs=3)
    assert 38 <= drawn[1.0] <= 50  # a sample without return: the rare ones run out


def test_originals_are_repeated_alike_without_balance() -> None:
    assert repetitions(["a"] * 9 + ["b"], 6, 0.0) == [6] * 10
    assert repetitions([], 6, 0.5) == []


def test_with_balance_rare_kinds_are_repeated_oftener_and_nothing_is_lost() -> None:
    often = repetitions(["a"] * 9 + ["b"], 6, 1.0)
    assert often[-1] == 30
    assert sum(often[:9]) == 30
    assert set(often[:9]) == {3, 4}
    assert min(repetitions(["a"] * 99 + ["b"], 1, 1.0)) == 1

"""Drawing one number at a time gives the sample that would have been drawn at once; ids are drawn by seed alone."""

import random
from itertools import islice

import pytest

from comdiv.augmentation.drawing import drawn, selected


@pytest.mark.parametrize("total", [0, 1, 5, 21, 22, 276, 277, 278, 1_045, 1_046, 100_000])
@pytest.mark.parametrize("most", [0, 1, 5, 6, 60, 150])
def test_the_numbers_are_those_of_a_sample(total: int, most: int) -> None:
    wanted = random.Random("seed").sample(range(total), min(total, most))
    assert list(drawn(random.Random("seed"), total, most)) == wanted


def test_who_stops_early_has_drawn_no_more() -> None:
    source, once = random.Random(3), random.Random(3)
    first = list(islice(drawn(source, 1_000_000, 500), 1))
    assert first == [once.randrange(1_000_000)]
    assert source.getstate() == once.getstate()


def test_ids_are_drawn_by_seed_and_stay_in_their_order() -> None:
    ids = [f"p{number}" for number in range(1_000)]
    chosen = selected(ids, 100, 0)
    assert len(chosen) == 100
    assert chosen == [name for name in ids if name in set(chosen)]
    assert chosen == selected(ids, 100, 0) != selected(ids, 100, 1)
    assert set(selected(ids[::-1], 100, 0)) == set(chosen)
    assert selected(ids, None, 0) == selected(ids, 5_000, 0) == ids

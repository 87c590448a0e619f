"""Grids of hyper-parameters."""

from comdiv.experiments.planning import grid

RANGES = {"batch": (16, 32), "layers": (1, 2, 4)}


def test_the_whole_grid_has_every_combination_once() -> None:
    assert grid(RANGES) == [
        {"batch": 16, "layers": 1},
        {"batch": 16, "layers": 2},
        {"batch": 16, "layers": 4},
        {"batch": 32, "layers": 1},
        {"batch": 32, "layers": 2},
        {"batch": 32, "layers": 4},
    ]


def test_a_sample_is_part_of_the_grid_and_depends_on_the_seed_alone() -> None:
    ranges = {name: tuple(range(10)) for name in "abcdefgh"}  # a hundred million
    drawn = grid(ranges, 50, seed=1)
    assert drawn == grid(ranges, 50, seed=1)
    assert drawn != grid(ranges, 50, seed=2)
    assert len({tuple(one.items()) for one in drawn}) == 50
    assert all(list(one) == list(ranges) for one in drawn)


def test_more_samples_than_there_are_is_all() -> None:
    assert grid(RANGES, 100) == grid(RANGES)


def test_no_ranges_are_one_empty_combination() -> None:
    assert grid({}) == [{}]

"""Forked processes give what one process gives; what goes wrong in one of them is told."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from augmentation.small import bytes_of, options, write_small_dataset
from comdiv.augmentation import augment_dataset
from comdiv.engine import LocalEngine, can_fork, forked_map
from comdiv.errors import ComdivError

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes are forked on Linux only")


def times(factor: int, item: int) -> str:
    return f"{os.getpid()} {factor * item}"


def slowly(factor: int, item: int) -> str:
    time.sleep(0.05)  # long enough for the other process to take the next item
    return times(factor, item)


def process(result: str) -> int:
    return int(result.split()[0])


def test_results_come_in_the_order_of_the_items_and_several_processes_work() -> None:
    found = list(forked_map(slowly, 3, range(20), 2))
    assert [int(result.split()[1]) for result in found] == [3 * item for item in range(20)]
    workers = {process(result) for result in found}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_results_larger_than_a_pipe_come_through() -> None:
    found = list(forked_map(lambda size, item: "x" * size, 300_000, range(5), 2))
    assert [len(result) for result in found] == [300_000] * 5


def failing(error: Exception, item: int) -> str:
    if item == 3:
        raise error
    return str(item)


def test_an_error_of_ours_comes_as_it_is_and_another_one_with_its_traceback() -> None:
    with pytest.raises(ComdivError, match="no such thing"):
        list(forked_map(failing, ComdivError("no such thing"), range(6), 2))
    with pytest.raises(ComdivError, match="half a character"):
        list(forked_map(failing, ComdivError("half a character: \ud800"), range(6), 2))
    with pytest.raises(RuntimeError, match="in failing"):
        list(forked_map(failing, ValueError("surprise"), range(6), 2))


def deadly(_: None, item: int) -> str:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return str(item)


def test_a_process_that_dies_is_told_in_one_line() -> None:
    with pytest.raises(ComdivError, match="a process that made new problems died"):
        list(forked_map(deadly, None, range(6), 2))


def test_who_stops_early_leaves_no_process_behind() -> None:
    results = forked_map(times, 1, range(100_000), 2)
    workers = [process(next(results)), process(next(results))]
    results.close()
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def test_few_items_are_worked_on_here() -> None:
    assert {process(found) for found in LocalEngine(2).map_texts(times, 1, range(2))} == {os.getpid()}
    assert os.getpid() not in {process(found) for found in LocalEngine(2).map_texts(times, 1, range(3))}


@pytest.mark.parametrize("checks", ["full", "paper"])
def test_an_augmentation_by_three_processes_has_the_same_bytes(
    checks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from comdiv import engine
    from comdiv.augmentation import rounds

    forked: list[int] = []

    def seen(function: Any, shared: Any, items: Sequence[Any], processes: int) -> Any:
        forked.append(processes)
        return forked_map(function, shared, items, processes)

    monkeypatch.setattr(rounds, "SHARD", 4)
    monkeypatch.setattr(engine, "forked_map", seen)
    data = write_small_dataset(tmp_path / "small")
    chosen = options(checks=checks, rounds=2, ranker="none")
    alone, together = tmp_path / "alone" / "out", tmp_path / "together" / "out"
    augment_dataset(data, alone, chosen)
    assert not forked
    augment_dataset(data, together, chosen, engine=LocalEngine(3))
    assert forked == [3, 3]
    assert bytes_of(together) == bytes_of(alone)

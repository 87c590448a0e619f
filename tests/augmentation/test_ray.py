"""The same bytes from a Ray cluster of two nodes, also when one is lost, and quick words where there is none."""

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from augmentation.small import bytes_of, options, write_small_dataset
from comdiv.augmentation import augment_dataset
from comdiv.engine import RayEngine
from comdiv.errors import ComdivError
from comdiv.solvers.runs import make_solver

SMALL: dict[str, Any] = {"hidden": 8, "embedding": 8, "layers": 1, "epochs": 1, "threads": 1}


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """Two nodes with a processor each, on this machine."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    import ray

    cluster = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 10**8, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1, object_store_memory=10**8)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.slow
def test_a_cluster_of_two_nodes_gives_the_same_bytes_and_both_nodes_work(
    two_nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from comdiv.augmentation import rounds

    monkeypatch.setattr(rounds, "SHARD", 4)  # many tasks of a small set
    monkeypatch.setattr(rounds, "RANKED_AT_ONCE", 8)
    data = write_small_dataset(tmp_path / "small")
    chosen = options(checks="paper", match="environment", rounds=2, ranker="gts", ranker_settings=SMALL, growth=4.0)
    local, remote = tmp_path / "local" / "out", tmp_path / "remote" / "out"
    augment_dataset(data, local, chosen, make_solver=make_solver)
    engine = RayEngine(two_nodes.address)
    try:
        assert engine.partitions == 2
        augment_dataset(data, remote, chosen, make_solver=make_solver, engine=engine)
    finally:
        engine.close()
    assert bytes_of(remote) == bytes_of(local)
    for step in ("candidates", "ranking"):
        work = json.loads((remote / "rounds" / "1" / "timings.json").read_text())["work"][step]
        assert len(work["nodes"]) == 2, work
        assert sum(work["nodes"].values()) == work["tasks"] > 2


@pytest.mark.slow
def test_the_items_of_a_lost_node_are_repeated_elsewhere_and_the_user_is_told(two_nodes: Any) -> None:
    third = two_nodes.add_node(num_cpus=1, object_store_memory=10**8)
    two_nodes.wait_for_nodes()
    notes: list[str] = []
    engine = RayEngine(two_nodes.address, note=notes.append)

    def slowly(shared: int, item: int) -> int:  # in here: sent as it is, not by the name of a test's module
        import time

        time.sleep(0.5)
        return shared * item

    try:
        results = engine.map(slowly, 10, range(30))
        first = [next(results) for _ in range(4)]
        two_nodes.remove_node(third, allow_graceful=False)
        assert [*first, *results] == [10 * item for item in range(30)]
    finally:
        engine.close()
    assert notes == [f"Ray node {third.node_id[:12]} was lost; its work is repeated elsewhere"]


def test_a_dead_address_is_one_line_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ComdivError, match=f"127.0.0.1:{port}: no Ray cluster there"):
        RayEngine(f"127.0.0.1:{port}")


@pytest.mark.parametrize("address", ["nowhere", "host:port", ":1"])
def test_an_address_that_is_none_is_one_line(address: str) -> None:
    with pytest.raises(ComdivError, match="HOST:PORT"):
        RayEngine(address)


def test_without_ray_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ComdivError, match=r"pip install 'comdiv\[ray\]'"):
        RayEngine()

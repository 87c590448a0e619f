"""The Ray engine: a dead address, and a cluster of two nodes of which one is lost."""

import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from comdiv.engine import RayEngine
from comdiv.errors import ComdivError
from comdiv.experiments.plan import make_plan
from comdiv.experiments.runner import State, run_plan
from experiments.tiny import SETTINGS, results_of, times_done, tiny_corpus, tiny_plan

EPOCHS = 30
NOTICED = 300  # seconds: it takes one or two; whoever waits longer waits for nothing
PLAN = tiny_plan(
    datasets={"comdiv": tiny_plan()["datasets"]["comdiv"]},
    training={"seeds": list(range(5)), "settings": {**SETTINGS, "epochs": EPOCHS}},
)


def closed_port() -> int:
    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))
        return int(stream.getsockname()[1])


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_an_address_at_which_nobody_answers_is_one_line(prefix: str) -> None:
    with pytest.raises(ComdivError, match="no Ray cluster there: Connection refused") as caught:
        RayEngine(f"{prefix}127.0.0.1:{closed_port()}", None)
    assert "\n" not in str(caught.value)


class NodeThief:
    """Removes a node as soon as a cell was finished there and a training is running on it, past its first epochs."""

    def __init__(self, cluster: Any, node: Any, root: Path) -> None:
        self.cluster, self.node, self.root = cluster, node, root
        self.victim = ""
        self.stolen = 0.0
        self.news: list[str] = []

    def __call__(self, state: State) -> None:
        self.news += state.news
        waiting = self.victim and not any(line.startswith("again: ") for line in self.news)
        assert not waiting or time.monotonic() < self.stolen + NOTICED, "the loss of the node was not noticed"
        for running in state.running:
            log = self.root / "cells" / running.cell.key / "log.txt"
            text = log.read_text(encoding="utf-8") if log.is_file() else ""
            here = f"node {self.node.node_id}" in text and " done in " not in text and f"epoch 5/{EPOCHS}" in text
            if not self.victim and here and self._has_finished_one():
                self.victim, self.stolen = running.cell.key, time.monotonic()
                self.cluster.remove_node(self.node, allow_graceful=False)

    def _has_finished_one(self) -> bool:
        markers = (json.loads(path.read_text()) for path in self.root.glob("cells/*/done.json"))
        return any(marker["node"] == self.node.node_id for marker in markers)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster on this machine; its first node has one core."""
    import ray
    from ray.cluster_utils import Cluster

    made = Cluster()
    for last in (False, False, True):
        try:
            made.add_node(num_cpus=1, include_dashboard=False)
            break
        except Exception as error:
            if last or "timed out during startup" not in str(error):
                raise
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.mark.slow
def test_a_lost_node_costs_nothing_and_the_results_are_those_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    plan = make_plan(PLAN)
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    thief = NodeThief(cluster, node, tmp_path / "ray")
    notes: list[str] = []
    engine = RayEngine(cluster.address, None, notes.append)
    results = run_plan(plan, tmp_path / "ray", engine, base=tmp_path, watch=thief)
    assert {cell.status for cell in results.cells} == {"done"}
    assert thief.victim
    assert any(line.startswith("again: ") for line in thief.news)
    assert notes == [f"Ray node {node.node_id[:12]} was lost; its work is repeated elsewhere"]
    assert set(times_done(tmp_path / "ray").values()) == {1}
    victim = next(cell for cell in results.cells if cell.key == thief.victim)
    path = victim.file("log.txt")
    assert path is not None
    log = path.read_text(encoding="utf-8")
    assert len(set(re.findall(r"node (\w+)", log))) == 2  # began on one node, ended on the other
    assert log.count(f"epoch 1/{EPOCHS} ") == 1  # and went on where it was
    finished_there = next(cell for cell in results.cells if cell.kind == "training" and cell.node == node.node_id)
    seeds = [victim.facts.seed, finished_there.facts.seed]  # the others would only take time
    run_plan(plan, tmp_path / "local", base=tmp_path, seeds=seeds)
    local, remote = results_of(tmp_path / "local"), results_of(tmp_path / "ray")
    assert len(local) > 2 * len(seeds)
    assert {name: remote[name] for name in local} == local


@pytest.mark.slow
@pytest.mark.flaky(reruns=1)  # as with a cluster: on a busy machine Ray may fail to start
def test_without_an_address_ray_starts_on_this_machine(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    record = tiny_plan(datasets={"iid": tiny_plan()["datasets"]["iid"]}, methods={}, measure={"k": [3]})
    results = run_plan(make_plan(record), tmp_path / "runs", RayEngine(None, 1), base=tmp_path)
    assert {cell.status for cell in results.cells} == {"done"}
    done = json.loads((tmp_path / "runs" / "cells" / results.cells[0].key / "done.json").read_text())
    assert done["node"]

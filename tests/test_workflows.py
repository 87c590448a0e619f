"""The workflows: both commands on both systems, no rights beyond reading, nothing that can change under its name."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PATHS = sorted((Path(__file__).resolve().parents[1] / ".github" / "workflows").glob("*.yml"))


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def workflow(request: pytest.FixtureRequest) -> Any:
    return yaml.safe_load(request.param.read_text(encoding="utf-8"))


def test_both_commands_run_on_both_systems() -> None:
    jobs = yaml.safe_load(next(path for path in PATHS if path.stem == "test").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["make"]["strategy"]["matrix"]
    assert matrix["goal"] == ["demo", "test"]
    assert [system.partition("-")[0] for system in matrix["system"]] == ["ubuntu", "macos"]
    assert matrix["python"] == ["3.11", "3.12"]


def test_actions_are_pinned_by_commit_and_systems_by_version(workflow: dict[str, Any]) -> None:
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
    systems = [job["strategy"]["matrix"]["system"] for job in workflow["jobs"].values()]
    assert [name for names in systems for name in names if name.endswith("latest")] == []


def test_a_workflow_may_read_and_nothing_else(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in workflow["jobs"].values())
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_from_outside_is_written_into_a_command(workflow: dict[str, Any]) -> None:
    assert [step["run"] for step in steps(workflow) if "${{" in step.get("run", "")] == []

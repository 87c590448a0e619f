"""`make paper`: what it runs, how long that takes, and the architectures of its plans."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from comdiv.experiments.archive import read_results
from comdiv.experiments.estimates import Estimate

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
HOURS = 12


def load(name: str) -> ModuleType:
    spec = spec_from_file_location(f"experiments_{Path(name).name}", EXPERIMENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def paper() -> ModuleType:
    return load("paper")


@pytest.mark.real_data
def test_the_night_is_at_most_twelve_hours_of_two_cores_and_everything_in_it_has_a_like(
    paper: ModuleType, tmp_path: Path
) -> None:
    counted: set[str] = set()
    whole = sum((paper.left(part, tmp_path, counted)[1] for part in paper.NIGHT), Estimate(0, 0))
    assert whole.unknown == 0
    assert whole.seconds / 2 / 3600 <= HOURS


def test_the_rest_is_whole_plans_so_that_nothing_of_the_night_is_left_out(paper: ModuleType) -> None:
    whole = {part.plan for part in paper.FULL if not (part.datasets or part.methods or part.seeds)}
    named = {part.plan for part in paper.NIGHT if part.datasets or part.methods or part.seeds}
    assert named <= whole


def test_a_part_is_a_command_that_anybody_can_type(paper: ModuleType, tmp_path: Path) -> None:
    part = paper.Part("ablation", datasets=("sd-1.0",), seeds=(0,))
    words = part.command(tmp_path, 2)
    assert words[1:4] == ["-m", "comdiv", "run"]
    assert words[5:] == ["--out", str(tmp_path), "--jobs", "2", "--dataset", "sd-1.0", "--seed", "0"]
    assert str(part) == "ablation (sd-1.0, seed 0)"


def test_every_published_plan_of_the_page_is_run_by_it(paper: ModuleType) -> None:
    run = {part.plan for part in (*paper.NIGHT, *paper.FULL)}
    on_the_page = {"datasets", "main-results", "length-split", "composition-types", "ablation", "divergence-curve",
                   "rounds-curve", "robust-splits", "deduction"}  # fmt: skip
    published = {plan.name.partition("@")[0] for plan in read_results(EXPERIMENTS / "results")}
    assert on_the_page <= run & published


def test_the_architectures_are_what_their_script_writes() -> None:
    for name, text in load("architectures/make").files().items():
        assert (EXPERIMENTS / "architectures" / name).read_text(encoding="utf-8") == text

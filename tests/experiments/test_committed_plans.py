"""The plans in `experiments/`: all are valid, and their presets, too; the smoke presets run (slow)."""

from pathlib import Path

import pytest

from comdiv.experiments.plan import read_plan
from comdiv.experiments.planning import check_names, plan_cells
from comdiv.experiments.runner import run_plan

FOLDER = Path(__file__).parents[2] / "experiments"
PLANS = sorted(path.name for path in FOLDER.glob("*.yaml"))
OF_THE_PAPER = {
    "ablation.yaml", "composition-types.yaml", "datasets.yaml", "distributions.yaml", "divergence-curve.yaml",
    "length-split.yaml", "main-results.yaml", "rounds-curve.yaml", "tuning.yaml",
}  # fmt: skip


def test_every_table_and_figure_has_its_plan() -> None:
    assert set(PLANS) >= OF_THE_PAPER


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_valid_and_named_like_its_file(name: str) -> None:
    plan = read_plan(FOLDER / name)
    check_names(plan)
    assert f"{plan.name}.yaml" == name
    assert plan.title
    assert plan.reproduces


@pytest.mark.parametrize("name", sorted(OF_THE_PAPER - {"datasets.yaml", "distributions.yaml", "tuning.yaml"}))
def test_the_papers_own_setting_is_a_preset(name: str) -> None:
    plan = read_plan(FOLDER / name, "paper")
    check_names(plan)
    assert (plan.training.preset, plan.training.steps) == ("paper", "epochs")
    assert {augmentation.preset for augmentation in plan.augmentations.values()} <= {"paper"}


@pytest.mark.parametrize("name", PLANS)
def test_the_smoke_preset_uses_demo_corpora_only(name: str) -> None:
    cells = plan_cells(read_plan(FOLDER / name, "smoke"), FOLDER)
    corpora = {cell.recipe["corpus"]["name"] for cell in cells if cell.kind == "dataset" and "corpus" in cell.recipe}
    assert corpora <= {"demo-en", "demo-zh"}
    full = {cell.kind for cell in cells}
    assert "measurement" in full or {"training", "evaluation"} <= full


def test_the_tuning_has_the_papers_ranges() -> None:
    tuning = read_plan(FOLDER / "tuning.yaml").tuning
    assert tuning is not None
    assert tuning.ranges == {
        "learning_rate": (0.0001, 0.0003, 0.0005, 0.001, 0.003, 0.01),
        "batch": (16, 32, 64, 128),
        "embedding": (128, 256, 512),
        "hidden": (128, 256, 512),
        "dropout": (0.05, 0.1, 0.15, 0.2),
        "layers": (1, 2, 4, 8),
    }
    assert tuning.also == {"Transformer": {"heads": (2, 4, 8)}}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_the_smoke_preset_runs(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    runs = tmp_path_factory.getbasetemp() / "smoke-runs"  # one for all: the plans share cells
    results = run_plan(read_plan(FOLDER / name, "smoke"), runs, base=FOLDER, preset="smoke")
    assert [(cell.label, cell.reason) for cell in results.cells if cell.status != "done"] == []

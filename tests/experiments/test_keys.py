"""Keys of cells: a release, another default or a new setting renames nothing; old folders are taken over."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from comdiv.augmentation import AugmentationOptions
from comdiv.experiments import keys
from comdiv.experiments.archive import read_results
from comdiv.experiments.keys import adopt_cells, baseline, cell_key, differences
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.runner import run_plan
from comdiv.solvers.hyperparameters import SolverSettings
from comdiv.splitting import methods
from comdiv.splitting.methods import PRESETS, SplitSettings, preset_settings
from comdiv.synthesis import SynthesisOptions
from experiments.tiny import tiny_corpus, tiny_plan

SPLIT = {"corpus": {"name": "mawps", "version": "1"}, "split": preset_settings("paper", test_size=474).model_dump()}


def test_a_key_is_made_of_what_differs_from_the_baseline() -> None:
    assert differences("dataset", SPLIT) == {"corpus": SPLIT["corpus"], "split": {"test_size": 474.0}}
    assert differences("evaluation", {"parts": ["validation", "test"], "cover": "hard", "beam": None}) == {
        "cover": "hard"
    }
    usual = {"split": preset_settings("paper").model_dump()}
    assert differences("dataset", usual) == {"split": {}}  # a split it is, and no synthesis
    assert cell_key("dataset", SPLIT, ()) != cell_key("dataset", {**SPLIT, **usual}, ())
    assert cell_key("dataset", SPLIT, ()) != cell_key("dataset", SPLIT, ("dataset-1",))


def test_a_release_renames_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cell_key("dataset", SPLIT, ())
    monkeypatch.setattr("comdiv.__version__", "9.9.9")
    assert cell_key("dataset", SPLIT, ()) == before


def test_what_a_kind_computes_may_be_renamed_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cell_key("dataset", SPLIT, ())
    monkeypatch.setattr(keys, "SCHEMAS", {**keys.SCHEMAS, "dataset": 2})
    assert cell_key("dataset", SPLIT, ()) != before


def test_another_default_renames_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed(SplitSettings):
        length_weight: float = Field(default=0.9, description="another default")

    before = cell_key("dataset", SPLIT, ())
    monkeypatch.setattr(methods, "SplitSettings", Changed)
    assert cell_key("dataset", SPLIT, ()) == before  # the same settings, the same cell
    changed = {**SPLIT, "split": Changed(test_size=474, **PRESETS["paper"]).model_dump()}
    assert cell_key("dataset", changed, ()) != before  # whoever takes the new default has another


def test_a_new_setting_renames_no_cell_until_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Grown(SplitSettings):
        patience: int = Field(default=7, description="a new one")

    before = cell_key("dataset", SPLIT, ())
    monkeypatch.setattr(methods, "SplitSettings", Grown)
    assert cell_key("dataset", {**SPLIT, "split": Grown(test_size=474, **PRESETS["paper"]).model_dump()}, ()) == before
    assert (
        cell_key("dataset", {**SPLIT, "split": Grown(test_size=474, patience=8, **PRESETS["paper"]).model_dump()}, ())
        != before
    )


@pytest.mark.parametrize(
    ("place", "present"),
    [
        (("dataset", "split"), SplitSettings()),
        (("dataset", "synthesize"), SynthesisOptions()),
        (("augmentation", "options"), AugmentationOptions()),
        (("training", "settings"), SolverSettings()),
    ],
)
def test_the_baseline_is_what_it_was(place: tuple[str, str], present: Any) -> None:
    """It never changes: this hash is of the file as it was committed first."""
    assert set(baseline()[place[0]][place[1]]) & set(present.model_dump())
    written = json.dumps(baseline(), sort_keys=True)
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == "1be162147cc161ee"


def old_key(kind: str, recipe: Any, needs: list[str]) -> str:
    """As version 0.1.0 made them."""
    written = json.dumps(["0.1.0", kind, recipe, needs], ensure_ascii=False, sort_keys=True)
    return f"{kind}-{hashlib.sha256(written.encode()).hexdigest()[:16]}"


def as_before(root: Path) -> None:
    """Rename the cells of a folder as an earlier version did."""
    records = {path.parent.name: json.loads(path.read_text()) for path in (root / "cells").glob("*/cell.json")}
    names: dict[str, str] = {}

    def renamed(key: str) -> str:
        record = records[key]
        names[key] = old_key(record["kind"], record["recipe"], [renamed(need) for need in record["needs"]])
        return names[key]

    for key in records:
        renamed(key)
    for key, record in records.items():
        changed = {**record, "key": names[key], "needs": [names[need] for need in record["needs"]]}
        (root / "cells" / key / "cell.json").write_text(json.dumps(changed))
        (root / "cells" / key).rename(root / "cells" / names[key])
    for path in (root / "plans").glob("*.json"):
        text = path.read_text()
        for key, name in names.items():
            text = text.replace(key, name)
        path.write_text(text)


def test_a_folder_of_an_earlier_version_is_read_and_its_cells_are_found(tmp_path: Path) -> None:
    tiny_corpus(tmp_path)
    plan = make_plan(tiny_plan(methods={}, measure={"k": [3]}))
    runs = tmp_path / "runs"
    first = run_plan(plan, runs, base=tmp_path)
    as_before(runs)
    old = read_results(runs)[0]
    assert {cell.status for cell in old.cells} == {"done"}  # a report needs no new names
    assert {cell.key for cell in old.cells}.isdisjoint(cell.key for cell in first.cells)
    finished = [cell.origin["finished"] for cell in old.cells]
    news: list[str] = []
    again = run_plan(plan, runs, base=tmp_path, watch=lambda state: news.extend(state.news))
    assert [cell.key for cell in again.cells] == [cell.key for cell in plan_cells(plan, tmp_path)]
    assert [cell.origin["finished"] for cell in again.cells] == finished  # nothing was run again
    assert news[0] == f"{len(again.cells)} cells of an earlier version were renamed to their present keys"
    assert adopt_cells(runs) == 0

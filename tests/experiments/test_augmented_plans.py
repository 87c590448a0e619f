"""Plans with augmentation: who shares what, equal steps, rounds, bans, and what a result says about repeated texts."""

from pathlib import Path
from typing import Any

import pytest

from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.runner import run_plan
from experiments.tiny import SETTINGS, tiny_corpus, tiny_plan

METHODS = {
    "GTS": {"solver": "gts"},
    "MathEN": {"solver": "mathen"},
    "GTS+DA": {"solver": "gts", "augmentation": "DA"},
    "MathEN+DA": {"solver": "mathen", "augmentation": "DA"},
}
EQUAL = {"seeds": [0], "settings": SETTINGS, "steps": "equal"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    tiny_corpus(folder, 72)
    return folder


def planned(base: Path, **changes: Any) -> tuple[Cell, ...]:
    record = {"datasets": {"iid": tiny_plan()["datasets"]["iid"]}, "methods": METHODS, "augmentations": {"DA": {}}}
    return plan_cells(make_plan(tiny_plan(**{**record, **changes})), base)


def of_kind(cells: tuple[Cell, ...], kind: str) -> list[Cell]:
    return [cell for cell in cells if cell.kind == kind]


def training(cells: tuple[Cell, ...], method: str) -> Cell:
    return next(cell for cell in of_kind(cells, "training") if cell.facts.method == method)


def test_without_a_ranker_methods_share_the_augmented_set(base: Path) -> None:
    cells = planned(base)
    (augmentation,) = of_kind(cells, "augmentation")
    assert augmentation.label == "DA on iid, seed 0"
    assert training(cells, "GTS+DA").needs == training(cells, "MathEN+DA").needs == (augmentation.key,)
    assert training(cells, "GTS+DA").facts.plain == "GTS"


def test_a_ranker_is_the_methods_own_solver_trained_like_the_method(base: Path) -> None:
    augmentations = of_kind(planned(base, augmentations={"DA": {"preset": "paper"}}), "augmentation")
    assert [cell.facts.solver for cell in augmentations] == ["gts", "mathen"]
    options = augmentations[1].recipe["options"]
    assert (options["ranker"], options["ranker_settings"]["hidden"], options["ranker_settings"]["threads"]) == (
        "mathen", 8, 1,
    )  # fmt: skip
    named = planned(base, augmentations={"DA": {"preset": "paper", "options": {"ranker": "lstm"}}})
    assert {cell.recipe["options"]["ranker"] for cell in of_kind(named, "augmentation")} == {"lstm"}


def test_a_datasets_settings_hold_for_all_that_is_trained_on_it_and_a_methods_and_a_rankers_own_are_stronger(
    base: Path,
) -> None:
    iid = tiny_plan()["datasets"]["iid"]
    cells = planned(
        base,
        datasets={"iid": {**iid, "settings": {"hidden": 24, "epochs": 7, "batch": 3}}},
        methods={**METHODS, "GTS": {"solver": "gts", "settings": {"epochs": 9}}},
        augmentations={"DA": {"preset": "paper", "options": {"ranker_settings": {"batch": 5}}}},
    )
    settings = {cell.facts.method: cell.recipe["settings"] for cell in of_kind(cells, "training")}
    assert [settings["MathEN+DA"][name] for name in ("hidden", "epochs", "batch")] == [24, 7, 3]
    assert [settings["GTS"][name] for name in ("hidden", "epochs", "batch")] == [24, 9, 3]
    ranker = of_kind(cells, "augmentation")[0].recipe["options"]["ranker_settings"]
    assert [ranker[name] for name in ("hidden", "epochs", "batch")] == [24, 7, 5]
    with pytest.raises(ComdivError, match=r"datasets\.iid: unknown setting 'hiden'\. Did you mean 'hidden'\?"):
        planned(base, datasets={"iid": {**iid, "settings": {"hiden": 24}}})


def test_a_datasets_own_options_of_the_augmentation_are_laid_over_the_plans(base: Path) -> None:
    iid = tiny_plan()["datasets"]["iid"]
    datasets = {"iid": {**iid, "augmentation": {"growth": 2}}, "other": iid}
    cells = planned(base, datasets=datasets, augmentations={"DA": {"options": {"growth": 3, "rounds": 2}}})
    options = {cell.facts.dataset: cell.recipe["options"] for cell in of_kind(cells, "augmentation")}
    assert {name: (found["growth"], found["rounds"]) for name, found in options.items()} == {
        "iid": (2, 2), "other": (3, 2),
    }  # fmt: skip
    with pytest.raises(ComdivError, match=r"datasets\.iid\.augmentation: unknown key 'grow'\. Did you mean 'growth'\?"):
        planned(base, datasets={"iid": {**iid, "augmentation": {"grow": 2}}})


def test_more_seeds_of_the_augmentation_are_trained_on_with_every_seed(base: Path) -> None:
    cells = planned(base, augmentations={"DA": {"more_seeds": {"iid": [4]}}})
    assert [cell.facts.augmentation_seed for cell in of_kind(cells, "augmentation")] == [0, 4]
    assert [c.label for c in of_kind(cells, "training") if c.facts.method == "GTS+DA"] == [
        "GTS+DA on iid, seed 0",
        "GTS+DA on iid, seed 0, augmentation seed 4",
    ]


def test_a_dataset_may_have_another_preset_and_seeds_of_its_own(base: Path) -> None:
    datasets = {"iid": tiny_plan()["datasets"]["iid"], "comdiv": {**tiny_plan()["datasets"]["comdiv"], "seeds": [1]}}
    augmentations = {"DA": {"preset": "comdiv", "presets": {"comdiv": "sense"}}}
    cells = planned(base, datasets=datasets, augmentations=augmentations, training={**EQUAL, "seeds": [0, 1]})
    composed = {c.facts.dataset: c.recipe["options"]["compose"] for c in of_kind(cells, "augmentation")}
    assert composed == {"iid": "paste", "comdiv": "unify"}
    seeds = {(c.facts.dataset, c.facts.seed) for c in of_kind(cells, "training")}
    assert seeds == {("iid", 0), ("iid", 1), ("comdiv", 1)}


def test_evaluations_use_the_datasets_own_parts(base: Path) -> None:
    cells = planned(base)
    data, augmentation = of_kind(cells, "dataset")[0], of_kind(cells, "augmentation")[0]
    evaluation = next(cell for cell in of_kind(cells, "evaluation") if cell.facts.method == "GTS+DA")
    assert evaluation.needs == (training(cells, "GTS+DA").key, augmentation.key, data.key)


def test_equal_steps_like_the_plain_method_change_the_augmented_one(base: Path) -> None:
    cells = planned(base, training=EQUAL)
    data = of_kind(cells, "dataset")[0]
    plain, augmented = training(cells, "GTS"), training(cells, "GTS+DA")
    assert (plain.recipe["steps"], plain.facts.steps_like) == ("epochs", None)
    assert (augmented.recipe["steps"], augmented.facts.steps_like) == ("equal", "GTS")
    assert augmented.needs[1] == data.key


def test_equal_steps_like_the_augmented_method_change_the_plain_one(base: Path) -> None:
    for changes in (
        {"training": {**EQUAL, "steps_like": "augmented"}},
        {"training": EQUAL, "datasets": {"iid": {**tiny_plan()["datasets"]["iid"], "steps_like": "augmented"}}},
    ):
        cells = planned(base, **changes)
        augmentation = of_kind(cells, "augmentation")[0]
        plain, augmented = training(cells, "GTS"), training(cells, "GTS+DA")
        assert (plain.recipe["steps"], plain.facts.steps_like) == ("equal", "GTS+DA")
        assert plain.needs[1] == augmentation.key
        assert plain.label == "GTS on iid, seed 0, steps of GTS+DA"
        assert augmented.recipe["steps"] == "epochs"


def test_rounds_are_a_training_set_each_and_none_is_the_dataset_itself(base: Path) -> None:
    methods = {"GTS+DA": {"solver": "gts", "augmentation": "DA", "rounds": [0, 1, 2]}}
    cells = planned(base, methods=methods, augmentations={"DA": {"options": {"rounds": 2}}})
    data, rounds = of_kind(cells, "dataset")[0], of_kind(cells, "rounds")
    assert [cell.facts.rounds for cell in rounds] == [1, 2]
    assert [c.needs[0] for c in of_kind(cells, "training")] == [data.key, *(cell.key for cell in rounds)]
    with pytest.raises(ComdivError, match="2 rounds of DA on iid, seed 0: the augmentation has 1"):
        planned(base, methods=methods)


def test_an_unknown_option_is_answered_with_the_nearest(base: Path) -> None:
    with pytest.raises(ComdivError, match=r"augmentations\.DA\.options: unknown key 'round'\. Did you mean 'rounds'\?"):
        planned(base, augmentations={"DA": {"options": {"round": 3}}})


def test_a_method_with_and_without_augmentation_from_corpus_to_numbers(base: Path, tmp_path: Path) -> None:
    record = tiny_plan(
        datasets={"iid": tiny_plan()["datasets"]["iid"]},
        methods={"GTS": {"solver": "gts"}, "GTS+DA": {"solver": "gts", "augmentation": "DA", "rounds": [1, 2]}},
        augmentations={"DA": {"options": {"rounds": 2, "growth": 1}, "ban": "test"}},
        training={**EQUAL, "settings": {**SETTINGS, "epochs": 4}},
    )
    results = run_plan(make_plan(record), tmp_path, base=base)
    assert [(cell.label, cell.reason) for cell in results.cells if cell.status != "done"] == []
    (augmentation,) = results.of_kind("augmentation")
    assert augmentation.file("dataset/report.json") is not None
    sizes = [cell.summary["problems"]["train"] for cell in results.of_kind("rounds")]
    plain = results.of_kind("dataset")[0].summary["problems"]
    assert plain["train"] < sizes[0] < sizes[1] == augmentation.summary["problems"]["train"]
    assert augmentation.summary["problems"]["test"] == plain["test"]
    steps = [cell.summary["planned_steps"] for cell in results.of_kind("training")]
    epoch = max(-(-size // SETTINGS["batch"]) for size in sizes)
    assert max(steps) - min(steps) <= epoch
    for cell in results.of_kind("evaluation"):
        subsets = cell.summary["test"]["subsets"]
        assert (subsets["text in train"]["n"], subsets["text not in train"]["n"]) == (0, plain["test"])

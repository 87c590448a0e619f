"""Plans: what they may say, and how a mistake in one is answered."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from comdiv.errors import ComdivError
from comdiv.experiments.plan import make_plan, read_plan
from experiments.tiny import tiny_plan, write_yaml


def changed(*path: str, value: Any) -> dict[str, Any]:
    """The tiny plan with one value set."""
    record = tiny_plan(augmentations={"DA": {}})
    place = record
    for step in path[:-1]:
        place = place.setdefault(step, {})
    place[path[-1]] = value
    return record


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("metods",), {}, "unknown key 'metods'. Did you mean 'methods'?"),
        (("methods", "GTS", "solvr"), "gts", "methods.GTS: unknown key 'solvr'. Did you mean 'solver'?"),
        (("methods", "GTS", "augmentation"), "DAA", "methods.GTS: unknown augmentation 'DAA'. Did you mean 'DA'?"),
        (("methods", "GTS", "datasets"), ["idd"], "methods.GTS: unknown dataset 'idd'. Did you mean 'iid'?"),
        (("methods", "GTS", "rounds"), [1], "methods.GTS: rounds need an augmentation"),
        (("training", "step"), "equal", "training: unknown key 'step'. Did you mean 'steps'?"),
        (("training", "steps"), "equall", "training: unknown steps 'equall'. Did you mean 'equal'?"),
        (("training", "seeds"), [], "training.seeds: give at least one seed"),
        (("training", "seeds"), [1, 1], "training.seeds: give at least one seed, none of them twice"),
        (("training", "threads"), 0, "training.threads: "),
        (
            ("datasets", "iid", "split", "method"),
            "dbcaa",
            "datasets.iid.split.method: unknown split method 'dbcaa'. Did",
        ),
        (("datasets", "iid", "split", "targets"), [0.5], "datasets.iid.split: targets go with the method dbca"),
        (
            ("datasets", "iid", "folder"),
            "x",
            "datasets.iid: give exactly one of split, synthesize and folder, not split and",
        ),
        (("datasets", "iid", "corpus"), None, "datasets.iid: a split or a synthesis needs either a corpus"),
        (("datasets", "a\nb"), {"folder": "x"}, "datasets: 'a b' is not a name"),
        (("evaluate", "cover"), ["none", "sofft"], "evaluate.cover: unknown cover 'sofft'. Did you mean 'soft'?"),
        (("name",), "../up", "name: '../up' is not a name for a plan"),
        (("name",), None, "name: "),
        (("methods",), {}, "the plan does nothing"),
        (("tuning",), {"ranges": {}, "also": {"GST": {}}}, "tuning.also: unknown method 'GST'. Did you mean 'GTS'?"),
        (
            ("datasets", "iid"),
            {"corpus": "demo-en", "synthesize": {"sise": "1/1"}},
            "datasets.iid.synthesize: unknown key 'sise'. Did you mean 'size'?",
        ),
        (
            ("datasets", "iid"),
            {"corpus": "demo-en", "synthesize": {"size": "1"}},
            "datasets.iid.synthesize.size: the size must be TRAIN/TEST",
        ),
        (("augmentations", "DA", "options"), {"keep": 2}, "augmentations.DA.options.keep: "),
        (("augmentations", "DA", "presets"), {"sd": "mixed"}, "augmentations.DA.presets: unknown dataset 'sd'"),
        (("augmentations", "DA", "more_seeds"), {"sd": [1]}, "augmentations.DA.more_seeds: unknown dataset 'sd'"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_known(
    path: tuple[str, ...], value: Any, message: str
) -> None:
    with pytest.raises(ComdivError, match=re.escape(message)):
        make_plan(changed(*path, value=value))


def test_an_option_is_written_as_given_even_if_it_is_the_usual_default() -> None:
    plan = make_plan(tiny_plan(augmentations={"DA": {"preset": "paper", "options": {"ranker": "none"}}}))
    written = plan.model_dump(mode="json", exclude_defaults=True)
    assert written["augmentations"] == {"DA": {"preset": "paper", "options": {"ranker": "none"}}}
    assert make_plan(written) == plan


def test_numbers_per_operation_may_stand_apart_from_the_operations() -> None:
    """A dataset's one number is for all operations, however many the plan's augmentation names."""
    plan = make_plan(changed("datasets", "iid", "augmentation", value={"per_problem": [5]}))
    assert plan.datasets["iid"].augmentation.model_dump() == {"per_problem": (5,)}


def test_what_is_missing_is_named() -> None:
    with pytest.raises(
        ComdivError, match=r"methods\.GTS: give either a solver, or `of`, the methods that solve together"
    ):
        make_plan(tiny_plan(methods={"GTS": {}}))


def test_a_preset_is_laid_over_the_plan_key_by_key(tmp_path: Path) -> None:
    changes = {"training": {"seeds": [7], "settings": {"epochs": 9}}, "datasets": {"comdiv": None}}
    path = write_yaml(tmp_path / "p.yaml", tiny_plan(presets={"smoke": changes}))
    plain, smoke = read_plan(path), read_plan(path, "smoke")
    assert (plain.training.seeds, smoke.training.seeds) == ((0,), (7,))
    assert smoke.training.settings == {**plain.training.settings, "epochs": 9}
    assert (list(plain.datasets), list(smoke.datasets)) == (["iid", "comdiv"], ["iid"])


def test_an_unknown_preset_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    path = write_yaml(tmp_path / "p.yaml", tiny_plan(presets={"smoke": {}}))
    with pytest.raises(ComdivError, match=r"p\.yaml: unknown preset of this plan 'smok'\. Did you mean 'smoke'\?"):
        read_plan(path, "smok")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("presets: {../up: {}}", "presets: '../up' is not a name for a preset"),
        ("presets: [smoke]", "presets must be a mapping of names"),
        ("- a\n- b", "not a plan: a mapping of names to values is expected"),
        ("a: [", "p.yaml: not a plan: while parsing"),
        ("name: a\nname: b", "the key 'name' occurs twice"),
        ("!!python/object/apply:os.getcwd []", "could not determine a constructor"),
        (b"\xff\xfe\xff".decode("latin-1"), "p.yaml: "),
    ],
)
def test_a_file_that_is_no_plan_is_one_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(text, encoding="latin-1")
    with pytest.raises(ComdivError, match=re.escape(message)) as caught:
        read_plan(tmp_path / "p.yaml")
    assert "\n" not in str(caught.value)


def test_the_plan_in_the_documentation_is_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "run-experiments.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    record, more = map(yaml.safe_load, blocks)
    presets = record.pop("presets")
    assert make_plan(record).methods["GTS+DA"].augmentation == "DA"
    assert (
        make_plan({**record, "methods": {**record["methods"], **more["methods"]}}).methods.keys()
        >= more["methods"].keys()
    )
    assert set(presets) == {"smoke"}


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="no such plan"):
        read_plan(tmp_path / "none.yaml")


def test_samples_are_for_a_tuning(tmp_path: Path) -> None:
    path = write_yaml(tmp_path / "p.yaml", tiny_plan())
    with pytest.raises(ComdivError, match="--samples needs a plan with `tuning`"):
        read_plan(path, samples=3)
    path = write_yaml(tmp_path / "t.yaml", tiny_plan(tuning={"ranges": {"batch": [4, 8]}}))
    plan = read_plan(path, samples=1)
    assert plan.tuning is not None
    assert plan.tuning.samples == 1

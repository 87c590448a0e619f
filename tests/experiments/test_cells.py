"""From plans to cells: what determines a key, and what does not."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from comdiv.dataset import Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell
from comdiv.experiments.plan import make_plan
from comdiv.experiments.planning import plan_cells
from comdiv.experiments.work import Workplace, work
from experiments.tiny import SETTINGS, tiny_corpus, tiny_plan
from solvers.tiny import EIGHT, UNSEEN

MORE = {"measure": {"k": [3, 4]}, "evaluate": {"cover": ["none", "hard"]}}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plan")
    tiny_corpus(folder)
    return folder


def cells_of(base: Path, **changes: Any) -> tuple[Cell, ...]:
    return plan_cells(make_plan(tiny_plan(**changes)), base)


def keys(cells: tuple[Cell, ...], kind: str) -> list[str]:
    return [cell.key for cell in cells if cell.kind == kind]


def test_every_cell_comes_after_those_it_needs(base: Path) -> None:
    cells = cells_of(base, **MORE)
    assert Counter(cell.kind for cell in cells) == {"dataset": 2, "measurement": 4, "training": 2, "evaluation": 4}
    seen: set[str] = set()
    for cell in cells:
        assert set(cell.needs) <= seen
        seen.add(cell.key)


def test_the_same_plan_gives_the_same_keys(base: Path) -> None:
    assert cells_of(base, **MORE) == cells_of(base, **MORE)


def test_names_and_titles_are_no_part_of_a_key(base: Path) -> None:
    renamed = tiny_plan()["datasets"]
    renamed = {f"other {name}": dataset for name, dataset in renamed.items()}
    other = cells_of(base, name="other", title="x", datasets=renamed, methods={"mine": {"solver": "gts"}})
    assert [cell.key for cell in other] == [cell.key for cell in cells_of(base)]
    assert other[-1].facts.method == "mine"


def test_a_setting_changes_the_trainings_and_what_follows_them_only(base: Path) -> None:
    before, after = cells_of(base), cells_of(base, training={"settings": {**SETTINGS, "hidden": 4}})
    assert keys(before, "dataset") == keys(after, "dataset")
    assert not set(keys(before, "training")) & set(keys(after, "training"))
    assert not set(keys(before, "evaluation")) & set(keys(after, "evaluation"))


def test_which_epoch_is_kept_changes_the_trainings_of_that_dataset_only(base: Path) -> None:
    (first, *others), last = tiny_plan()["datasets"].items(), {"select": "last"}
    before = cells_of(base, datasets=dict([first, *others]))
    after = cells_of(base, datasets=dict([(first[0], {**first[1], **last}), *others]))
    assert keys(before, "dataset") == keys(after, "dataset")
    assert len(set(keys(before, "training")) & set(keys(after, "training"))) == len(others) == 1
    changed = next(cell for cell in after if cell.kind == "training" and cell.key not in keys(before, "training"))
    assert changed.recipe["select"] == "last"


def test_another_way_to_decode_trains_nothing_anew(base: Path) -> None:
    before, after = cells_of(base), cells_of(base, evaluate={"cover": ["none", "hard"]})
    assert keys(before, "training") == keys(after, "training")
    assert set(keys(before, "evaluation")) < set(keys(after, "evaluation"))


def test_a_corpus_that_changed_by_a_byte_is_another(base: Path, tmp_path: Path) -> None:
    path = tiny_corpus(tmp_path)
    same = cells_of(tmp_path)
    path.write_text(path.read_text() + "\n")
    assert [cell.key for cell in same] == [cell.key for cell in cells_of(base)]
    assert not {cell.key for cell in cells_of(tmp_path)} & {cell.key for cell in same}


def test_equal_steps_without_an_augmentation_are_the_same_cells(base: Path) -> None:
    equal = {"seeds": [0], "settings": SETTINGS, "steps": "equal"}
    assert [cell.key for cell in cells_of(base, training=equal)] == [cell.key for cell in cells_of(base)]


def test_targets_are_a_dataset_each(base: Path) -> None:
    curve = {"curve": {"corpus": "mine.jsonl", "split": {"test_size": 10, "targets": [0.3, 0.45]}}}
    cells = cells_of(base, datasets=curve, methods={"GTS": {"solver": "gts", "datasets": ["curve"]}})
    datasets = [cell for cell in cells if cell.kind == "dataset"]
    assert [(cell.label, cell.facts.target) for cell in datasets] == [("curve-0.30", 0.3), ("curve-0.45", 0.45)]
    assert len(keys(cells, "training")) == 2


def test_a_tuning_tries_every_combination_and_says_which(base: Path) -> None:
    tuning = {"ranges": {"batch": [4, 8], "hidden": [4, 8, 16]}, "also": {"Transformer": {"heads": [1, 2]}}}
    methods = {"GTS": {"solver": "gts", "datasets": ["iid"]}, "Transformer": {"solver": "transformer"}}
    cells = cells_of(base, tuning=tuning, methods=methods)
    tried = [cell.facts.settings for cell in cells if cell.kind == "training" and cell.facts.method == "GTS"]
    assert len(tried) == 6
    assert {"batch": 4, "hidden": 16} in tried
    assert len(keys(cells, "training")) == 6 + 2 * 12
    sampled = cells_of(base, tuning={**tuning, "samples": 2}, methods=methods)
    assert len(keys(sampled, "training")) == 2 + 2 * 2
    assert set(keys(sampled, "training")) < set(keys(cells, "training"))


def test_a_dataset_folder_is_known_by_its_files(tmp_path: Path) -> None:
    write_dataset(tmp_path / "mine", Dataset(EIGHT, UNSEEN, UNSEEN), title="mine")
    cells = cells_of(tmp_path, datasets={"mine": {"folder": "mine"}})
    assert cells[0].inputs == {"folder": str((tmp_path / "mine").resolve())}
    (tmp_path / "mine" / "test.jsonl").write_text("")
    with pytest.raises(ComdivError, match=r"datasets\.mine: .* a part is missing or is not what dataset\.json says"):
        cells_of(tmp_path, datasets={"mine": {"folder": "mine"}})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {"A": {"solver": "gst"}}}, "methods.A: unknown solver 'gst'. Did you mean 'gts'?"),
        (
            {"methods": {"A": {"solver": "gts", "settings": {"hiden": 3}}}},
            "methods.A: unknown setting 'hiden'. Did you mean 'hidden'?",
        ),
        ({"training": {"settings": {"hidden": 0}}}, "methods.GTS: setting hidden: "),
        (
            {"tuning": {"ranges": {"batches": [3]}}},
            "methods.GTS: unknown setting 'batches'. Did you mean 'batch'?",
        ),
        ({"datasets": {"a": {"corpus": "mwaps", "split": {}}}}, "mwaps"),
        ({"datasets": {"a": {"folder": "nowhere"}}}, "nowhere"),
    ],
)
def test_what_does_not_exist_is_found_before_anything_runs(changes: dict[str, Any], message: str, base: Path) -> None:
    with pytest.raises(ComdivError, match=re.escape(message)):
        cells_of(base, **changes)


def test_a_program_of_the_users_own_is_a_solver(base: Path) -> None:
    cells = cells_of(base, methods={"mine": {"solver": "command:./solve.sh"}})
    assert (cells[-2].recipe["solver"], cells[-2].recipe["settings"]) == ("command:./solve.sh", None)


def test_a_changed_program_is_another_cell_and_it_decodes_by_itself(base: Path, tmp_path: Path) -> None:
    program = tmp_path / "solve.py"
    methods = {"mine": {"solver": f"command:python {program}"}}
    program.write_text("first")
    first = cells_of(base, methods=methods, evaluate={"cover": ["none", "hard"]})
    assert [cell.facts.cover for cell in first if cell.kind == "evaluation"] == ["none", "none"]  # two datasets
    program.write_text("second")
    assert set(keys(first, "training")).isdisjoint(keys(cells_of(base, methods=methods), "training"))


def test_columns_of_a_file_of_ones_own_are_part_of_the_recipe(base: Path) -> None:
    mine = {"corpus": "mine.jsonl", "columns": {"text": "question", "answer": "result"}, "split": {"test_size": 10}}
    cell = cells_of(base, datasets={"mine": mine})[0]
    assert cell.recipe["columns"] == {"text": "question", "equation": None, "answer": "result", "id": None}


def test_a_synthesis_may_leave_out_the_seeds_of_another(base: Path) -> None:
    datasets = {
        "sd": {"corpus": "mine.jsonl", "synthesize": {"seed": 3}},
        "sd-dev": {"corpus": "mine.jsonl", "synthesize": {"exclude": "sd"}},
    }
    cells = cells_of(base, datasets=datasets)
    assert (cells[0].facts.split, cells[0].facts.split_seed) == ("synthesis", 3)
    assert cells[1].needs == (cells[0].key,)
    with pytest.raises(ComdivError, match=r"datasets\.sd\.synthesize\.exclude: unknown dataset 'sd-dev'"):
        cells_of(base, datasets={"sd": {"corpus": "mine.jsonl", "synthesize": {"exclude": "sd-dev"}}})


def test_the_training_side_of_a_dataset_may_be_split_again(base: Path, tmp_path: Path) -> None:
    datasets = {
        "comdiv": {"corpus": "mine.jsonl", "split": {"method": "iid", "test_size": 10}},
        "dev": {"within": "comdiv", "split": {"method": "iid", "test_size": 8}},
    }
    outer, inner = cells_of(base, datasets=datasets)[:2]
    assert inner.needs == (outer.key,)
    assert (inner.facts.dataset, inner.facts.corpus, inner.inputs) == ("dev", outer.facts.corpus, {})
    assert (outer.facts.split, inner.facts.split) == ("iid", "iid within")  # what the paper has is not for comparison
    made = {}
    for cell, needs in ((outer, ()), (inner, (tmp_path / outer.key,))):
        folder = tmp_path / cell.key
        work("dataset", cell.recipe, Workplace(folder, needs, cell.inputs, lambda *_: None))
        made[cell.facts.dataset] = read_dataset(folder / "dataset")
    development = {problem.id for problem in (*made["dev"].training_side, *made["dev"].test)}
    assert development == {problem.id for problem in made["comdiv"].training_side}
    assert len(made["dev"].test) == 8
    with pytest.raises(ComdivError, match=r"datasets\.dev\.within: unknown dataset 'comdv'\. Did you mean 'comdiv'\?"):
        cells_of(base, datasets={**datasets, "dev": {**datasets["dev"], "within": "comdv"}})
    for wrong in ({"corpus": "mine.jsonl"}, {"limit": 20}, {"split": None, "synthesize": {}}):
        with pytest.raises(ComdivError, match=r"datasets\.dev: .*within"):
            cells_of(base, datasets={**datasets, "dev": {**datasets["dev"], **wrong}})


def test_a_rule_table_is_known_by_its_bytes(base: Path, tmp_path: Path) -> None:
    def key(text: str) -> str:
        (tmp_path / "rules.yaml").write_text(text)
        options = {"rules": str(tmp_path / "rules.yaml")}
        return cells_of(base, datasets={"sd": {"corpus": "mine.jsonl", "synthesize": options}})[0].key

    assert key("a") == key("a") != key("b")


@pytest.mark.parametrize(("solver", "setting"), [("bertgen", "weights"), ("deductive", "encoder")])
def test_pretrained_weights_are_known_by_their_bytes(base: Path, tmp_path: Path, solver: str, setting: str) -> None:
    def training(place: str, text: str) -> Cell:
        folder = tmp_path / place / "bert"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(text)
        methods = {"Pre-trained": {"solver": solver, "settings": {setting: str(folder)}}}
        return next(c for c in cells_of(base, methods=methods) if c.kind == "training")

    first = training("a", "{}")
    assert first.key != training("a", "[]").key
    assert first.key == training("b", "{}").key  # wherever they lie
    assert first.recipe["settings"][setting] == "bert"
    assert list(first.recipe["weights"]) == ["config.json"]
    assert first.inputs == {"weights": str(tmp_path / "a" / "bert")}
    assert first.label.startswith("Pre-trained on ")


def test_word_vectors_are_known_by_their_bytes(base: Path, tmp_path: Path) -> None:
    def training(place: str, content: bytes, **settings: Any) -> Cell:
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "words.vector").write_bytes(content)
        settings |= {"vectors": str(tmp_path / place / "words.vector")}
        methods = {"GTS": {"solver": "gts", "settings": settings}}
        return next(c for c in cells_of(base, methods=methods) if c.kind == "training")

    first = training("a", b"1 1")
    assert first.key != training("a", b"2 2").key
    assert first.key == training("b", b"1 1").key  # wherever they lie
    assert first.recipe["settings"]["vectors"] == "words.vector"
    assert list(first.recipe["vectors"]) == ["words.vector"]
    assert first.inputs == {"vectors": str(tmp_path / "a" / "words.vector")}
    assert first.label.startswith("GTS on ")


def test_vectors_beside_the_plan_are_those_that_a_training_reads(base: Path, tmp_path: Path) -> None:
    (base / "words.vector").write_bytes(b"1 3\nhow " + bytes(11))  # a byte too few: whoever reads it says so
    methods = {"GTS": {"solver": "gts", "settings": {"vectors": "words.vector"}}}
    cells = {cell.key: cell for cell in cells_of(base, methods=methods)}
    training = next(cell for cell in cells.values() if cell.kind == "training")
    data = cells[training.needs[0]]
    work("dataset", data.recipe, Workplace(tmp_path / data.key, (), data.inputs, lambda *_: None))
    place = Workplace(tmp_path / training.key, (tmp_path / data.key,), training.inputs, lambda *_: None)
    with pytest.raises(ComdivError, match=r"words\.vector' cannot be read: it ends in the middle of a vector"):
        work("training", training.recipe, place)


def test_weights_in_a_package_are_found_on_every_machine(base: Path, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "tiny_bert" / "model").mkdir(parents=True)
    (tmp_path / "tiny_bert" / "__init__.py").write_text("raise RuntimeError('nobody imports a package of weights')")
    (tmp_path / "tiny_bert" / "model" / "config.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    methods = {"BERTGen": {"solver": "bertgen", "settings": {"weights": "package:tiny_bert/model"}}}
    cell = next(c for c in cells_of(base, methods=methods) if c.kind == "training")
    assert cell.recipe["settings"]["weights"] == "package:tiny_bert/model"
    assert list(cell.recipe["weights"]) == ["config.json"]
    assert not cell.inputs


BOTH = {"GTS": {"solver": "gts"}, "MathEN": {"solver": "mathen"}, "Both": {"of": ["GTS", "MathEN"]}}


def test_methods_together_use_the_trainings_of_their_members(base: Path) -> None:
    alone = cells_of(base, methods={name: BOTH[name] for name in ("GTS", "MathEN")})
    cells = cells_of(base, methods=BOTH)
    assert {cell.key for cell in alone} < {cell.key for cell in cells}  # whatever was there keeps its key
    by_key = {cell.key: cell for cell in cells}
    new = [cell for cell in cells if cell.key not in {one.key for one in alone}]
    assert {(cell.kind, cell.facts.method, cell.facts.solver) for cell in new} == {
        ("evaluation", "Both", "gts + mathen")
    }
    for cell in new:
        first, data, second, last = (by_key[key] for key in cell.needs)
        assert (first.facts.method, second.facts.method) == ("GTS", "MathEN")
        assert first.facts.seed == second.facts.seed == cell.facts.seed
        assert data.key == last.key
        assert data.facts.dataset == cell.facts.dataset


def test_nested_weights_are_learnt_on_a_split_of_the_training_side(base: Path) -> None:
    method = {"of": ["GTS"], "plausible": "nested", "without": ["even division"]}
    cells = cells_of(base, methods={"GTS": {"solver": "gts"}, "Re-ranked": method})
    by_key = {cell.key: cell for cell in cells}
    evaluation = next(cell for cell in cells if cell.facts.method == "Re-ranked" and cell.kind == "evaluation")
    training, data, again, inner, _ = (by_key[key] for key in evaluation.needs)
    assert inner.recipe["within"] == "training side"
    assert inner.needs == (data.key,)
    assert again.recipe == training.recipe
    assert again.needs == (inner.key,)
    assert evaluation.recipe["without"] == ["even division"]


def test_pooled_seeds_solve_together_in_one_evaluation(base: Path) -> None:
    together = {"of": ["GTS"], "pool_seeds": True, "datasets": ["iid"]}
    methods = {"GTS": {"solver": "gts"}, "All": together, "Re-ranked": {**together, "plausible": "nested"}}
    cells = cells_of(base, methods=methods, training={"seeds": [3, 4]})
    by_key = {cell.key: cell for cell in cells}
    (pooled,) = (cell for cell in cells if cell.facts.method == "All")
    assert pooled.label == "All on iid, seeds 3, 4: evaluation"
    assert [by_key[key].facts.seed for key in pooled.needs] == [3, None, 4, None]
    (reranked,) = (cell for cell in cells if cell.facts.method == "Re-ranked" and cell.kind == "evaluation")
    assert [by_key[key].facts.seed for key in reranked.needs] == [3, None, 4, 3, None, None]
    assert reranked.recipe["members"] == 2


@pytest.mark.parametrize(
    ("method", "complaint"),
    [
        ({"of": ["GST"]}, "Did you mean 'GTS'"),
        ({"solver": "gts", "of": ["GTS"]}, "either a solver, or `of`"),
        ({"solver": "gts", "plausible": "nested"}, "need `of`"),
        ({"solver": "gts", "pool_seeds": True}, "`pool_seeds` needs `of`"),
        ({"of": ["GTS"], "without": ["zero"]}, "`without` needs `plausible`"),
        ({"of": ["GTS"], "plausible": "validation", "without": ["even divison"]}, "Did you mean 'even division'"),
        ({"of": ["GTS"], "settings": {"hidden": 8}}, "have their own augmentation"),
        ({"of": ["Other"]}, "is not a plain method"),
    ],
)
def test_methods_together_are_checked_before_anything_runs(base: Path, method: dict[str, Any], complaint: str) -> None:
    methods = {"GTS": {"solver": "gts"}, "Other": {"of": ["GTS"]}, "Together": method}
    with pytest.raises(ComdivError, match=complaint):
        cells_of(base, methods=methods)

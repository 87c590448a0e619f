"""The name of a cell: its kind and a hash of what determines it. Neither a release nor a new default changes it.

A key covers the schema version of its kind, the settings that differ from the *baseline* (`baseline.json`: the defaults
when keys were introduced, which never change), and the keys of the cells that it needs. Therefore

- a release changes no key; whoever changes what a kind computes raises its number in `SCHEMAS`;
- a new default changes no key: plans that relied on the old one now have other settings, and so other cells;
- a new setting changes no key while it keeps the earlier behaviour, by its default or by `_EARLIER_BEHAVIOUR`.

Results from before baselines have keys of another form; `adopt_cells` renames their cells.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from comdiv.experiments.cell import Kind, Record
from comdiv.experiments.shapes import EarlierCell, PlanRecord
from comdiv.experiments.store import CELL, CELLS, PLANS, cell_folder, write_json
from comdiv.loading import load_object, validate
from comdiv.registry import SOLVERS

# Raised when the same recipe gives a different result from before.
SCHEMAS: Mapping[str, int] = {
    "dataset": 1, "measurement": 1, "augmentation": 1, "rounds": 1, "training": 1, "evaluation": 1,
}  # fmt: skip


def cell_key(kind: Kind, recipe: Record, needs: Sequence[str]) -> str:
    """The name of a cell: its kind and a prefix of the hash."""
    written = json.dumps([SCHEMAS[kind], kind, differences(kind, recipe), list(needs)], sort_keys=True)
    return f"{kind}-{hashlib.sha256(written.encode()).hexdigest()[:16]}"


def differences(kind: Kind, recipe: Record) -> dict[str, Any]:
    """A recipe without the values that equal the baseline, and without newer settings at their defaults."""
    return _differences(recipe, _reference(kind, recipe))


def _differences(record: Record, reference: Record) -> dict[str, Any]:
    different = {}
    for name, value in record.items():
        usual = reference.get(name, _MISSING)
        if isinstance(value, Mapping) and isinstance(usual, Mapping):
            if inner := _differences(value, usual):
                different[name] = inner
            elif name in _ORIGINS:  # its presence says what the cell does
                different[name] = {}
        elif _plain(value) != usual:
            different[name] = value
    return different


_MISSING = object()
_ORIGINS = ("split", "synthesize")


def _plain(value: Any) -> Any:
    """A value as JSON stores it: tuples become lists."""
    return json.loads(json.dumps(value))


def _reference(kind: Kind, recipe: Record) -> Record:
    """The baseline of a kind, with the defaults of settings that are newer than it."""
    newer = _laid_over(_present_defaults(kind, recipe), _EARLIER_BEHAVIOUR.get(kind, {}))
    return _laid_over(newer, baseline()[kind])


# For settings newer than the baseline whose defaults change behaviour: the values that keep the earlier one.
_EARLIER_BEHAVIOUR: Mapping[str, Record] = {
    "dataset": {"split": {"operator_bound": None, "without_expression": "anywhere", "extraction": {"clusterings": 1}}}
}


def _laid_over(record: Record, other: Record) -> dict[str, Any]:
    inner = {
        name: _laid_over(record[name], value)
        for name, value in other.items()
        if isinstance(value, Mapping) and isinstance(record.get(name), Mapping)
    }
    return {**record, **other, **inner}


def _present_defaults(kind: Kind, recipe: Record) -> dict[str, Record]:
    """The present defaults of a recipe's settings."""
    if kind == "dataset" and "split" in recipe:
        from comdiv.splitting.methods import SplitSettings

        return {"split": SplitSettings().model_dump(mode="json")}
    if kind == "dataset" and "synthesize" in recipe:
        from comdiv.synthesis import SynthesisOptions

        return {"synthesize": SynthesisOptions().model_dump(mode="json")}
    if kind == "augmentation":
        from comdiv.augmentation import AugmentationOptions

        return {"options": AugmentationOptions().model_dump(mode="json")}
    if kind == "training" and recipe.get("settings") is not None and recipe.get("solver") in SOLVERS:
        from comdiv.solvers.hyperparameters import settings_for

        return {"settings": settings_for(recipe["solver"], recipe.get("preset", "cpu")).model_dump(mode="json")}
    return {}


@cache
def baseline() -> Mapping[str, Record]:
    """The defaults that keys are based on, by kind."""
    text = files(__package__).joinpath("baseline.json").read_text(encoding="utf-8")
    record: dict[str, Record] = json.loads(text)
    return record


# --- results of earlier versions ---


def adopt_cells(root: Path) -> int:
    """Rename the cells of a folder to their present keys; return how many were renamed.

    Before baselines, a key covered comdiv's version and every default. A cell stores its whole recipe, from which its
    present key follows; an existing folder of that name is never overwritten.
    """
    records = {path.parent.name: _earlier_cell(path) for path in sorted((root / CELLS).glob(f"*/{CELL}"))}
    names: dict[str, str] = {}
    for key in records:
        _present_key(key, records, names)
    renamed = {old: new for old, new in names.items() if old != new and not cell_folder(root, new).exists()}
    for old, new in renamed.items():
        needs = [names.get(need, need) for need in records[old]["needs"]]
        write_json(cell_folder(root, old) / CELL, {**records[old], "key": new, "needs": needs})
        cell_folder(root, old).rename(cell_folder(root, new))
    if renamed:
        for path in (root / PLANS).glob("*.json"):
            _rename_in_plan(path, names)
    return len(renamed)


def _earlier_cell(path: Path) -> Record:
    record = load_object(path)
    validate(record, EarlierCell, str(path))
    return record


def _present_key(key: str, records: Mapping[str, Record], names: dict[str, str]) -> str:
    if key not in names:
        record = records.get(key)
        if record is None or not {"kind", "recipe", "needs"} <= record.keys() or record["kind"] not in SCHEMAS:
            names[key] = key
        else:
            needs = [_present_key(need, records, names) for need in record["needs"]]
            names[key] = cell_key(record["kind"], record["recipe"], needs)
    return names[key]


def _rename_in_plan(path: Path, names: Mapping[str, str]) -> None:
    record = load_object(path)
    validate(record, PlanRecord, str(path))
    for cell in record.get("cells", ()):
        cell["key"] = names.get(cell["key"], cell["key"])
        cell["needs"] = [names.get(need, need) for need in cell["needs"]]
    write_json(path, record)

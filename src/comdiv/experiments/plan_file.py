"""A plan's file: YAML without equal keys, and its presets.

A preset is laid over the plan: mappings key by key, anything else replaces what was there, `null` takes a key out.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from comdiv.errors import ComdivError, unknown_name
from comdiv.experiments.plan import FILE_NAME, Plan, make_plan


def read_plan(path: Path, preset: str | None = None, samples: int | None = None) -> Plan:
    """The plan of a YAML file, with one of its presets laid over it; `samples` is that of its tuning."""
    record = _read_yaml(path)
    try:
        presets = _presets(record.pop("presets", None) or {})
        if preset is not None:
            if preset not in presets:
                raise unknown_name("preset of this plan", preset, presets)
            record = _laid_over(record, presets[preset])
        if samples is not None:
            if not isinstance(record.get("tuning"), dict):
                raise ComdivError("--samples goes with a plan that has `tuning`")
            record["tuning"]["samples"] = samples
        return make_plan(record)
    except ComdivError as error:
        raise ComdivError(f"{path}: {error}") from error


def _presets(presets: Any) -> dict[str, Any]:
    """The presets by name; a name becomes part of a file's name."""
    if not isinstance(presets, dict):
        raise ComdivError("presets: a mapping of names to changes of the plan")
    for name in presets:
        if not FILE_NAME.fullmatch(str(name)):
            raise ComdivError(f"presets: '{name}' is no name for a preset: small letters, digits and hyphens")
    return presets


class _UniqueKeys(yaml.SafeLoader):
    """YAML without the trap that the second of two equal keys silently wins."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key '{key}' is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        record = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError as error:
        raise ComdivError(f"{path}: no such plan") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ComdivError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(record, dict):
        raise ComdivError(f"{path}: a plan is a mapping of keys to values")
    return record


def _laid_over(record: Mapping[str, Any], changes: Any) -> dict[str, Any]:
    if not isinstance(changes, dict):
        raise ComdivError("a preset is a mapping of keys to values")
    result = dict(record)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = _laid_over(result[key], value)
        else:
            result[key] = value
    return result

"""As many optimiser steps on a larger training set: fewer epochs, and whatever is counted in epochs with them."""

import math
from collections.abc import Mapping
from typing import Any

from comdiv.dataset import read_facts
from comdiv.errors import ComdivError

COUNTED_IN_EPOCHS = ("epochs", "patience", "halve_every")


def steps_of(problems: int, batch: int, epochs: int) -> int:
    """The optimiser steps of a training."""
    return math.ceil(problems / batch) * epochs


def equal_steps(settings: Mapping[str, Any], problems: int, like: int) -> dict[str, Any]:
    """The settings with which `problems` are trained for as many steps as `like` problems are with the given ones.

    Whole epochs, at least one: the numbers agree up to one epoch, and every result says how many steps were taken.
    """
    batch = settings["batch"]
    factor = math.ceil(like / batch) / math.ceil(problems / batch)
    scaled = {name: max(1, round(settings[name] * factor)) for name in COUNTED_IN_EPOCHS if settings.get(name)}
    return {**settings, **scaled}


def training_problems(data: Any) -> int:
    """How many problems the training part of a dataset folder has."""
    try:
        return int(read_facts(data)["files"]["train.jsonl"]["problems"])
    except (KeyError, TypeError, ValueError) as error:
        raise ComdivError(f"{data}: dataset.json does not say how many training problems there are") from error

"""Averaged weights: the mean over a training's last steps varies less between seeds than the last step does."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from comdiv.solvers.model import Model

_WARM_UP = 10  # steps: the average of the first steps forgets the random initial weights


class WeightAverage:
    """An exponential average of a model's weights over about its last `epochs` epochs; 0: none."""

    def __init__(self, model: Model, epochs: float, steps_per_epoch: int) -> None:
        self.model = model
        self.kept = math.exp(-1 / (epochs * steps_per_epoch)) if epochs else 0.0
        self.tensors: dict[str, Tensor] = {}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Resume from the average in a checkpoint."""
        device = next(self.model.parameters()).device
        self.tensors = {name: tensor.to(device) for name, tensor in tensors.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Add the weights after a step; steps count from 1."""
        if not self.kept:
            return
        share = 1 - min(self.kept, step / (step + _WARM_UP))
        for name, parameter in self._weights().items():
            if name in self.tensors:
                self.tensors[name].lerp_(parameter, share)
            else:
                self.tensors[name] = parameter.detach().clone()

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The model with its averaged weights, for the duration of the block."""
        own = {name: parameter.detach().clone() for name, parameter in self._weights().items() if self.tensors}
        self._load(self.tensors)
        try:
            yield
        finally:
            self._load(own)

    def _weights(self) -> dict[str, Tensor]:
        return {name: weights for name, weights in self.model.named_parameters() if weights.requires_grad}

    @torch.no_grad()
    def _load(self, tensors: Mapping[str, Tensor]) -> None:
        for name, parameter in self._weights().items():
            if name in tensors:
                parameter.copy_(tensors[name])

"""The learning rate as a pure function of the step, so that a resumed training needs no scheduler's state."""

import math

from comdiv.solvers.settings import SolverSettings

WARM_SHARE = 0.15  # of a one-cycle schedule
LEAST = 0.01  # of the peak: where a one-cycle schedule begins and ends


def learning_rate(settings: SolverSettings, step: int, steps_per_epoch: int) -> float:
    """The rate for a step, counted from 0."""
    peak = settings.learning_rate
    match settings.schedule:
        case "halving":
            return float(peak * 0.5 ** (step // steps_per_epoch // settings.halve_every))
        case "warm-up":  # linear, then the inverse square root
            return peak * min((step + 1) / settings.warm_up, math.sqrt(settings.warm_up / (step + 1)))
        case "one-cycle":
            total = max(1, settings.epochs * steps_per_epoch)
            warm = max(1, int(WARM_SHARE * total))
            if step < warm:
                return peak * (LEAST + (1 - LEAST) * (step + 1) / warm)
            progress = (step - warm) / max(1, total - warm)
            return peak * (LEAST + (1 - LEAST) * (1 + math.cos(math.pi * progress)) / 2)
        case _:
            return peak

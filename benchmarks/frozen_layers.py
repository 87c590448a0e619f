"""What frozen lower layers save in a training step: `python benchmarks/frozen_layers.py`.

For solvers that start from pre-trained weights: processor seconds of a step of the preset `cpu`, with and without
frozen layers, on the same batches of MAWPS, or without it of the English demo. The first step is not counted. What the
frozen layers of an encoder compute is cached before that, as in every epoch but the first.

    python benchmarks/frozen_layers.py --only gpt2 --batch 8 --steps 1
"""

import argparse
import time

import torch

from comdiv.solvers.batches import epoch_batches
from comdiv.solvers.training import train_step
from solvers import MINILM, SMOLLM2, corpus, prepared

MODELS = {  # the setting that names the weights, the weights, and how many layers are frozen, of how many
    "bertgen": ("weights", MINILM, (0, 3, 5), 6),
    "deductive": ("encoder", MINILM, (0, 3, 5), 6),
    "gpt2": ("weights", SMOLLM2, (0, 15, 25), 30),
}


def seconds_of_a_step(name: str, frozen: int, batch: int | None, steps: int) -> float:
    """Processor seconds of a training step."""
    setting, weights, _, _ = MODELS[name]
    changes = {setting: weights, "frozen_layers": frozen, "threads": 1} | ({"batch": batch} if batch else {})
    _, problems = corpus(400)
    solver, examples, optimiser = prepared(name, problems, "cpu", **changes)
    model, size = solver.model, solver.settings.batch
    assert model is not None
    batches = list(epoch_batches(examples, size, 0, 0, torch.device("cpu")))[:steps]
    first = list(epoch_batches(examples[:1], 1, 0, 0, torch.device("cpu")))
    with torch.no_grad():
        for one in batches if name != "gpt2" else ():
            model.encode(one)
    model.train()
    train_step(model, optimiser, first[0], 1e-5, 0)
    begun = time.process_time()
    for one in batches:
        train_step(model, optimiser, one, 1e-5, 0)
    return (time.process_time() - begun) / len(batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(MODELS), choices=list(MODELS), help="solvers to measure")
    parser.add_argument("--frozen", nargs="*", type=int, help="numbers of frozen layers to measure")
    parser.add_argument("--batch", type=int, help="problems in a step; the preset's by default")
    parser.add_argument("--steps", type=int, default=3, help="steps to measure")
    arguments = parser.parse_args()
    print(f"{'solver':12} {'frozen':>10} {'processor s a step':>20}")
    for name in arguments.only:
        _, _, counts, layers = MODELS[name]
        for frozen in arguments.frozen or counts:
            taken = seconds_of_a_step(name, frozen, arguments.batch, arguments.steps)
            print(f"{name:12} {f'{frozen} of {layers}':>10} {taken:20.2f}", flush=True)


if __name__ == "__main__":
    main()

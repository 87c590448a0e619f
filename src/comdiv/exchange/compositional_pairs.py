"""The paper's operation 1 as a benchmark for any model: problems and their compositions (§IV).

A model with accuracies S1, S2… on the parts should solve S1·S2·…·Sn of the compositions; `comdiv ask` and `comdiv
evaluate` report how far it falls short. The problems are for measuring, never for training: they may come from a test
set.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from comdiv.augmentation.proposals import PASSED
from comdiv.errors import ComdivError
from comdiv.evaluation.chains import CHAINS, write_chains
from comdiv.exchange.composing import ComposedChain, compose_chains, distract, renumber_chains
from comdiv.exchange.exports import Export, ExportSource, Facts, Part, check_target, task_name, write_export
from comdiv.exchange.lm_eval import write_tasks
from comdiv.exchange.task_data import DEFAULT_SHOTS
from comdiv.files import write_text
from comdiv.observer import Observer
from comdiv.problem import Problem, write_problems
from comdiv.settings import Settings
from comdiv.solver import Progress


def export_compositional_pairs(
    problems: Sequence[Problem],
    out: Path,
    *,
    name: str,
    train: Sequence[Problem] | None = None,
    longest: int = 2,
    compose: Literal["unify", "paste"] = "unify",
    distractors: bool = True,
    renumber: bool = True,
    sample: int | None = None,
    seed: int = 0,
    match: Literal["unit", "environment"] = "unit",
    checks: Literal["full", "paper"] = "full",
    shots: int = DEFAULT_SHOTS,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the chains: `test.jsonl` and `pairs.jsonl` for comdiv's verbs, and tasks for lm-evaluation-harness.

    Examples for the prompts come from `train` or, without it, from the problems outside all chains.
    """
    check_target(out, force=force)
    settings: dict[str, Any] = {"longest": longest, "compose": compose, "match": match, "checks": checks, "seed": seed}
    composed, drafts = compose_chains(problems, sample=sample, progress=progress, **settings)
    if not composed:
        raise ComdivError(f"operation 1 makes nothing of these {len(problems):,} problems: {_fates(drafts)}")
    parents = [problem for chain in composed for problem in chain.parts]
    used = {problem.id for problem in parents}
    others = sorted((problem for problem in problems if problem.id not in used), key=lambda problem: problem.id)
    chains = [record for chain in composed for record in chain.chains]
    tests = {"parents": parents, "composed": [problem for chain in composed for problem in chain.composed]}
    if distractors and (made := distract(composed, others or problems, seed)):
        chains += [record for record, _ in made]
        tests["distractor"] = [problem for _, problem in made]
    left_out: dict[str, int] = {}
    if renumber:
        twins, parts, left_out = renumber_chains(composed, seed)
        chains += [record for record, _ in twins]
        tests |= {"renumbered": [*parts, *(problem for _, problem in twins)]} if twins else {}
    examples = others if train is None else list(train)
    title = task_name(name)

    def make(staging: Path) -> dict[str, Any]:
        parts = [Part(kind, test, "examples", examples) for kind, test in tests.items()]
        facts = write_tasks(staging, title, parts, shots)
        write_problems(staging / "test.jsonl", [problem for test in tests.values() for problem in test])
        write_problems(staging / "train.jsonl", examples)
        write_chains(staging / CHAINS, chains)
        tasks = (staging / "README.md").read_text(encoding="utf-8")
        write_text(staging / "README.md", f"{tasks}\n{_readme(title, composed)}")
        return {
            **facts,
            "target": "compositional-pairs",
            "pairs": len(composed),
            "lengths": _lengths(composed),
            "settings": {**settings, "sample": sample, "distractors": distractors, "renumber": renumber},
            "drafts": drafts,
            "not_renumbered": left_out,
        }

    return write_export(out, make, force=force)


def _lengths(chains: Sequence[ComposedChain]) -> dict[str, int]:
    """The number of compositions of each length."""
    longest = max(len(chain.parts) for chain in chains)
    return {str(length): sum(len(chain.parts) >= length for chain in chains) for length in range(2, longest + 1)}


def _fates(drafts: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in drafts.items() if reason != PASSED) or "no pair fits"


def _readme(title: str, chains: Sequence[ComposedChain]) -> str:
    counts = ", ".join(f"{count:,} of {length} problems" for length, count in _lengths(chains).items())
    return f"""## Compositional pairs and longer chains

Compositions: {counts}. `{CHAINS}` has one line for each: `id` is the composition of its `parts` by operation 1. No
problem is in two chains. `test.jsonl` has all problems, `train.jsonl` those for examples. The `condition` of a line is
`composed`, `distractor` (the first part after unrelated stories) or `renumbered` (other numbers throughout).

```
comdiv ask THIS_FOLDER --base-url URL --model NAME --out RUN
```

This reports the accuracies S1, S2… on the parts, and the expected S1·S2·…·Sn beside the observed accuracy on the
composed problems, with intervals and a figure. With the harness, log one style's samples and score them together:

```
lm_eval … --tasks comdiv_{title}_steps --log_samples --output_path results
comdiv evaluate --predictions results/…/samples_…_parents_….jsonl --predictions … THIS_FOLDER
```
"""


class PairsSettings(Settings):
    """How problems are composed and asked."""

    longest: int = Field(
        2, ge=2, le=5, description="Most problems in a chain: 2 gives pairs, 5 gives chains of 2 to 5."
    )
    compose: Literal["unify", "paste"] = Field("unify", description="One story, or one problem pasted into another.")
    distractors: bool = Field(True, description="Add the first problem of each chain after unrelated stories.")
    renumber: bool = Field(True, description="Add each chain with new numbers.")
    sample: int | None = Field(None, ge=1, description="Number of chains, the longest first; all by default.")
    seed: int = Field(0, ge=0, description="Seed of the choice and order of problems.")
    match: Literal["unit", "environment"] = Field(
        "unit", description="With paste: what a question and the clause that it replaces must have in common."
    )
    checks: Literal["full", "paper"] = Field("full", description="paper: only that the composition has a value.")
    name: str | None = Field(None, description="The tasks are called comdiv_NAME_…; the corpus's name by default.")
    shots: int = Field(DEFAULT_SHOTS, ge=0, description="Examples in the prompts of the tasks.")


class PairsExport(Export):
    """Problems and their compositions by operation 1 (§IV), as a benchmark: is a model worse than S1·S2 on them?

    For a dataset folder, the test problems are composed; examples come from the training problems.
    """

    reads = "test"
    settings = PairsSettings
    example = (
        "comdiv export compositional-pairs svamp --longest 5 --out pairs; then "
        "comdiv ask pairs --base-url URL --model NAME --out run"
    )

    def write(
        self, source: ExportSource, out: Path, settings: PairsSettings, *, force: bool, observer: Observer
    ) -> Facts:
        options = {**settings.model_dump(), "name": settings.name or source.name, "force": force}
        with observer.progress("exporting") as progress:
            return export_compositional_pairs(source.problems, out, train=source.train, **options, progress=progress)

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        lengths = [f"{count:,} of {length}" for length, count in facts["lengths"].items() if length != "2"]
        return [f"{facts['pairs']:,} pairs of {len(source.problems):,} problems", *lengths]

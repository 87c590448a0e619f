"""The paper's operation 1 as a benchmark: two problems and their composition (§IV), for any model to solve.

From a model's accuracies on the parts, S1·S2 is expected on the composed problems; `comdiv evaluate --predictions` says
how far below it stays. The problems are for measuring, never for training: they may come from a test set.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from comdiv.asking.prompting import has_worked_solution
from comdiv.augmentation.options import AugmentationOptions
from comdiv.augmentation.proposals import PASSED, index_round
from comdiv.errors import ComdivError
from comdiv.evaluation.pairs import TRIPLES, Triple, write_triples
from comdiv.exchange.exports import Export, ExportSource, Facts, Note, Part, check_target, write_export
from comdiv.exchange.lm_eval import DEFAULT_SHOTS, task_name, write_tasks
from comdiv.files import write_text
from comdiv.problem import Problem, write_problems
from comdiv.reading import read
from comdiv.settings import Settings
from comdiv.solver import Progress

_SHARD = 200  # problems between two progress reports
_TRIED = 20  # compositions of each problem, from which the pairs are chosen


@dataclass(frozen=True, slots=True)
class ComposedPair:
    """Two problems and their composition by operation 1."""

    first: Problem  # asks for what a clause of the second problem states
    second: Problem
    composed: Problem

    @property
    def triple(self) -> Triple:
        """The three ids."""
        return Triple(self.first.id, self.second.id, self.composed.id)


def compose_pairs(
    problems: Sequence[Problem],
    *,
    sample: int | None = None,
    seed: int = 0,
    match: Literal["unit", "environment"] = "unit",
    checks: Literal["full", "paper"] = "full",
    progress: Progress | None = None,
) -> tuple[list[ComposedPair], dict[str, int]]:
    """Compositions in which every problem occurs at most once, and the fates of all drafts.

    Only problems whose expression gives their answer take part. Problems with the fewest partners choose first, so that
    there are many pairs; the same seed gives the same pairs.
    """
    usable = {problem.id: problem for problem in problems if has_worked_solution(problem)}
    tell: Progress = progress or (lambda what, done, total, note: None)
    readings = []
    for number, problem in enumerate(usable.values(), start=1):
        if (reading := read(problem)).is_grounded:
            readings.append(reading)
        if number % _SHARD == 0 or number == len(usable):
            tell("reading clauses", number, len(usable), "")
    options = AugmentationOptions.preset(
        operations=(1,), per_problem=(_TRIED, 0), match=match, checks=checks, seed=seed
    )
    known = frozenset(read(problem).mask_hash for problem in problems)
    proposer = index_round(readings, known, options, 1)
    compositions: list[Problem] = []
    drafts: Counter[str] = Counter()
    for start in range(0, len(readings), _SHARD):
        proposals, fates = proposer.propose(range(start, min(start + _SHARD, len(readings))))
        compositions += [proposal.problem for proposal in proposals]
        drafts.update(fates.counts.get("1", {}))
        tell("composing", min(start + _SHARD, len(readings)), len(readings), f"{len(compositions):,} compositions")
    partners = Counter(parent for problem in compositions for parent in problem.provenance.parents)

    def choice(problem: Problem) -> tuple[int, bytes]:
        fewest = min(partners[parent] for parent in problem.provenance.parents)
        return fewest, hashlib.sha256(f"{seed} {problem.id}".encode()).digest()

    members: set[str] = set()
    pairs = []
    for problem in sorted(compositions, key=choice):
        first, second = problem.provenance.parents
        if first != second and members.isdisjoint((first, second)):
            members |= {first, second}
            pairs.append(ComposedPair(usable[first], usable[second], problem))
    if sample is not None:
        if sample > len(pairs):
            raise ComdivError(
                f"{sample} pairs were asked for, but these {len(problems):,} problems give only {len(pairs):,}"
            )
        pairs = sorted(pairs, key=lambda pair: choice(pair.composed)[1])[:sample]
    return sorted(pairs, key=lambda pair: pair.composed.id), dict(drafts.most_common())


def export_compositional_pairs(
    problems: Sequence[Problem],
    out: Path,
    *,
    name: str,
    train: Sequence[Problem] | None = None,
    sample: int | None = None,
    seed: int = 0,
    match: Literal["unit", "environment"] = "unit",
    checks: Literal["full", "paper"] = "full",
    shots: int = DEFAULT_SHOTS,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the pairs: `test.jsonl` and `pairs.jsonl` for `comdiv evaluate`, and tasks for lm-evaluation-harness.

    Examples for the prompts come from `train` or, without it, from the problems that are in no pair.
    """
    check_target(out, force=force)
    pairs, drafts = compose_pairs(problems, sample=sample, seed=seed, match=match, checks=checks, progress=progress)
    if not pairs:
        raise ComdivError(f"operation 1 makes nothing of these {len(problems):,} problems: {_fates(drafts)}")
    parents = [problem for pair in pairs for problem in (pair.first, pair.second)]
    tests = {"parents": parents, "composed": [pair.composed for pair in pairs]}
    used = {problem.id for problem in parents}
    examples = [problem for problem in problems if problem.id not in used] if train is None else list(train)
    title = task_name(name)

    def make(staging: Path) -> dict[str, Any]:
        parts = [Part(kind, test, "examples", examples) for kind, test in tests.items()]
        facts = write_tasks(staging, title, parts, shots)
        write_problems(staging / "test.jsonl", [*parents, *tests["composed"]])
        write_triples(staging / TRIPLES, (pair.triple for pair in pairs))
        tasks = (staging / "README.md").read_text(encoding="utf-8")
        write_text(staging / "README.md", f"{tasks}\n{_readme(title, len(pairs))}")
        settings = {"seed": seed, "sample": sample, "match": match, "checks": checks}
        return {**facts, "target": "compositional-pairs", "pairs": len(pairs), "settings": settings, "drafts": drafts}

    return write_export(out, make, force=force)


def _fates(drafts: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in drafts.items() if reason != PASSED) or "no pair fits"


def _readme(title: str, pairs: int) -> str:
    samples = "--predictions results/…/samples_…_parents_….jsonl --predictions results/…/samples_…_composed_….jsonl"
    return f"""## Compositional pairs

{pairs:,} triples in `{TRIPLES}`: `first` and `second` are problems, `id` is what operation 1 makes of them; no
problem is in two triples. `test.jsonl` has all of them. Log the samples of one style's tasks and score them together:

```
lm_eval … --tasks comdiv_{title}_steps --log_samples --output_path results
comdiv evaluate {samples} THIS_FOLDER
```

It gives the accuracies S1 and S2 of the parts, the S1·S2 that they promise for the composed problems, and what was
observed, with intervals.
"""


class PairsSettings(Settings):
    """Which pairs are composed, and how the tasks ask them."""

    sample: int | None = Field(None, ge=1, description="How many pairs; all by default.")
    seed: int = Field(0, ge=0, description="Seed of the choice and order of problems.")
    match: Literal["unit", "environment"] = Field(
        "unit", description="What the question and the clause that it replaces share."
    )
    checks: Literal["full", "paper"] = Field("full", description="paper: only that the composition has a value.")
    name: str | None = Field(None, description="The tasks are called comdiv_NAME_…; the corpus's name by default.")
    shots: int = Field(DEFAULT_SHOTS, ge=0, description="Examples in the prompts of the tasks.")


class PairsExport(Export):
    """Two problems and their composition by operation 1 (§IV), as a benchmark: is a model worse than S1·S2 on it?

    For a dataset folder, the test problems are paired; examples come from the training problems.
    """

    reads = "test"
    settings = PairsSettings
    example = (
        "comdiv export compositional-pairs svamp --out pairs; then "
        "comdiv evaluate --predictions what-my-llm-said.jsonl pairs"
    )

    def write(
        self, source: ExportSource, out: Path, settings: PairsSettings, *, force: bool, progress: Progress, note: Note
    ) -> Facts:
        options = {**settings.model_dump(), "name": settings.name or source.name}
        return export_compositional_pairs(
            source.problems, out, train=source.train, **options, force=force, progress=progress
        )

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        return [f"{facts['pairs']:,} pairs of {len(source.problems):,} problems"]

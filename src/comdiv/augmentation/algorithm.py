"""Algorithm 1 (§IV): rounds of new problems, checked and ranked; the result is an ordinary dataset."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.growth_report import REPORT, card_paragraphs, make_report, report_markdown, round_facts
from comdiv.augmentation.proposals import draw_ids, index_round, make_operations, usable_readings
from comdiv.augmentation.rounds import MakeSolver, Round
from comdiv.augmentation.source import AugmentationSource, read_source
from comdiv.claims import owns, sweep_parts
from comdiv.dataset import FACTS, Dataset, is_intact, read_facts, write_dataset
from comdiv.engine import Engine, LocalEngine
from comdiv.errors import ComdivError
from comdiv.files import write_text
from comdiv.loading import load_object
from comdiv.problem import REPETITION, Problem
from comdiv.reading import Reading, read
from comdiv.settings import first_difference
from comdiv.solver import Progress

READ_AT_ONCE = 500  # problems between two progress reports
BEFORE_ROUNDS = 0  # round number of validation compounds, which are made before the first round
PLAN = "augmentation.json"  # records what an incomplete folder is made from
_VERSIONS_OF = ("comdiv", "numpy", "rjieba", "textblob")


@owns("folder")
def augment_dataset(
    source: Path | str | AugmentationSource,
    folder: Path,
    options: AugmentationOptions,
    *,
    make_solver: MakeSolver | None = None,
    ranker_files: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Augment a dataset folder's training set, or a whole corpus, into a new dataset folder; returns its report.

    Interrupted work resumes where it stopped. `make_solver` makes the ranker, like `comdiv.solvers.runs.make_solver`;
    without it, `options.ranker` must be `none`. `ranker_files` are hashes of a ranker's program or initial weights:
    scores of a different one are never reused. Test problems are never read.
    """
    report_progress: Progress = progress or (lambda what, done, total, note: None)
    data = source if isinstance(source, AugmentationSource) else read_source(source)
    plan = {"source": data.facts, "options": options.facts(), **({"ranker": ranker_files} if ranker_files else {})}
    if _is_made(folder, plan):
        return load_object(folder / REPORT)
    if options.compositional_validation and not data.validation:
        raise ComdivError(f"option compositional_validation: {data.name} has no validation problems to compose from")
    _begin(folder, plan)
    known = {read(problem).mask_hash for problem in (*data.train, *data.validation)} | set(options.ban)
    compounds = compositional_validation(data.validation, frozenset(known), options)
    known |= {read(problem).mask_hash for problem in compounds}
    validation = (*data.validation, *compounds)
    readings = _readings(data.train, report_progress)
    operations = make_operations(options)
    new: list[Problem] = []
    rounds: list[dict[str, Any]] = []
    sizes: list[int] = []
    before: Path | None = None
    for number in range(1, options.rounds + 1):
        room = _room(options, len(data.train), len(new))
        if not room:  # otherwise a ranker would be trained for nothing
            break
        place = folder / "rounds" / str(number)
        sweep_parts(place)
        this = Round(number, place, len(data.train), options, engine or LocalEngine(), report_progress)
        sizes.append(len(readings))
        candidates, checks = this.candidates(readings, frozenset(known), operations, sizes)
        scores = this.scores(candidates, [*data.train, *new], validation, make_solver, before)
        additions = this.keep(candidates, scores, room)
        this.write_timings()
        rounds.append(round_facts(number, checks, candidates, additions, [*data.train, *new], scores))
        new += additions
        known |= {read(problem).mask_hash for problem in additions}
        readings += usable_readings(additions)
        before = this.folder / "ranker"
    return _finish(folder, data, options, plan, new, rounds, compounds)


def _is_made(folder: Path, plan: dict[str, Any]) -> bool:
    """Whether the folder is complete, unchanged, and made from the same data with the same options."""
    if not (folder / FACTS).is_file():
        return False
    facts = read_facts(folder)
    same = {name: facts.get(name) for name in plan} == plan
    return same and is_intact(folder, facts) and (folder / REPORT).is_file()


def _begin(folder: Path, plan: dict[str, Any]) -> None:
    """Record what the folder is made from; refuse a folder that is being made from something else."""
    path = folder / PLAN
    if path.is_file():
        there = load_object(path)
        if there != plan:
            difference = first_difference(there, plan)
            raise ComdivError(f"{folder} is another augmentation: {difference}; choose another folder")
        return
    if folder.exists() and (not folder.is_dir() or any(not p.name.endswith(".part") for p in folder.iterdir())):
        raise ComdivError(f"{folder} exists and is not an augmentation; choose another folder")
    write_text(path, json.dumps(plan, ensure_ascii=False, indent=2) + "\n")


def _readings(problems: Sequence[Problem], progress: Progress) -> list[Reading]:
    """The problems that operations can use."""
    readings: list[Reading] = []
    for first in range(0, len(problems), READ_AT_ONCE):
        readings += usable_readings(problems[first : first + READ_AT_ONCE])
        progress("reading clauses", min(first + READ_AT_ONCE, len(problems)), len(problems), "")
    return readings


def compositional_validation(
    validation: Sequence[Problem], known: frozenset[str], options: AugmentationOptions
) -> list[Problem]:
    """Compounds made by operation 1 from validation problems alone, up to the requested number, without `known` texts.

    An ordinary validation set lacks the structures that augmentation teaches, so the checkpoint that is best on it
    need not compose best. Training and test problems are not used.
    """
    if not options.compositional_validation:
        return []
    readings = usable_readings(validation)
    alone = options.model_copy(update={"operations": (1,), "per_problem": (max(1, options.per_problem[0]), 0)})
    proposals, _ = index_round(readings, known, alone, BEFORE_ROUNDS).propose(range(len(readings)))
    of_text: dict[str, Problem] = {}
    for proposal in proposals:
        of_text.setdefault(proposal.text_hash, proposal.problem)
    compounds = {problem.id: problem for problem in of_text.values()}
    ids = draw_ids(list(compounds), options.compositional_validation, options.seed)
    return [_with_part(compounds[name], "validation") for name in ids]


def _with_part(problem: Problem, part: str) -> Problem:
    details = {**problem.provenance.details, "part": part}
    return replace(problem, provenance=replace(problem.provenance, details=details))


def _room(options: AugmentationOptions, originals: int, new: int) -> int:
    """How many new problems fit under `max_growth`."""
    return max(0, int(options.max_growth * originals) - originals - new)


def _repeat(problems: Sequence[Problem], times: int) -> list[Problem]:
    """The originals, and each of them again under new ids."""
    result = list(problems)
    for number in range(2, times + 1):
        for problem in problems:
            origin = replace(problem.provenance, operation=REPETITION, parents=(problem.id,))
            result.append(replace(problem, id=f"{problem.id}~{number}", provenance=origin))
    return result


def _finish(
    folder: Path,
    data: AugmentationSource,
    options: AugmentationOptions,
    plan: dict[str, Any],
    new: Sequence[Problem],
    rounds: Sequence[dict[str, Any]],
    compounds: Sequence[Problem],
) -> dict[str, Any]:
    """Write the dataset and the report; `dataset.json` comes last."""
    train = (*_repeat(data.train, options.repeat_originals), *new)
    report = make_report(data, options, rounds, new, len(train), compounds)
    facts = {"made_by": "comdiv augment", **plan, "versions": {name: version(name) for name in _VERSIONS_OF}}

    def more(staging: Path) -> None:
        write_text(staging / REPORT, json.dumps(report, ensure_ascii=False, indent=2) + "\n")
        write_text(staging / "report.md", report_markdown(report))

    write_dataset(
        folder,
        Dataset(train, (*data.validation, *compounds), (), facts),
        title=f"{folder.resolve().name}: an augmented training set",
        paragraphs=card_paragraphs(report),
        more=more,
        copies={part: path for part, path in data.copies.items() if part == "test" or not compounds},
        force=True,
    )
    return report

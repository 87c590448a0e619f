"""Chains of problems and their compositions by operation 1 (§IV), with two controls; for measuring, never training.

`unify` tells one story: the first problem's narrative is continued with the steps of the other problems. `paste` puts
one problem in place of a number of another.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from comdiv.asking.prompting import has_worked_solution
from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.operations import CurrentSet
from comdiv.augmentation.operations.structural import Structural
from comdiv.augmentation.operations.unification import Unifier
from comdiv.augmentation.proposals import index_round
from comdiv.errors import ComdivError
from comdiv.evaluation.chains import Chain
from comdiv.exchange.renumbering import renumber_problem
from comdiv.expression import renumber
from comdiv.language import get_language, sequels_of
from comdiv.language.sequels import Sequels
from comdiv.problem import Problem, Provenance
from comdiv.reading import Reading, read
from comdiv.solver import Progress

_SHARD = 200  # problems between two progress reports
_TRIED = 20  # compositions of each problem, from which the chains are chosen
_TRIED_FURTHER = 4  # continuations of each composition
_MOST_DONORS = 1_500  # compositions of one length that are continued
_LIMITS: dict[str, Any] = {"most_quantities": 16, "most_tokens": 600, "more_operators": None}
_ENDS = (".", "!", "。", "！", "．")
_COMMAS = ("，", "；", ",", ";")


@dataclass(frozen=True, slots=True)
class ComposedChain:
    """Problems, and the compositions of the first two, the first three…"""

    parts: tuple[Problem, ...]
    composed: tuple[Problem, ...]  # of the first 2, of the first 3…

    @property
    def chains(self) -> list[Chain]:
        """One record per length."""
        ids = [problem.id for problem in self.parts]
        return [Chain(tuple(ids[: length + 2]), problem.id) for length, problem in enumerate(self.composed)]


class _Continuing(Structural):
    """Operation 1 that continues compositions: hosts, and what is learnt, come from the original problems only."""

    taught_by = 0  # number of original problems, which come first in the current set

    def index(self, current: CurrentSet) -> None:
        if self.options.compose != "unify":
            super().index(current)
            return
        self._readings = current.readings
        self._unifiers = {}
        for code in {reading.problem.language for reading in current.readings}:
            own = [place for place, one in enumerate(current.readings) if one.problem.language == code]
            taught = Unifier.learn(
                current.readings, [place for place in own if place < self.taught_by], sequels_of(code)
            )
            topics = sequels_of(code).topics([current.readings[place] for place in own])
            known = {place: topic for place, topic in zip(own, topics, strict=True) if topic is not None}
            self._unifiers[code] = replace(taught, topics=known)


def compose_chains(
    problems: Sequence[Problem],
    *,
    longest: int = 2,
    sample: int | None = None,
    seed: int = 0,
    compose: Literal["unify", "paste"] = "unify",
    match: Literal["unit", "environment"] = "unit",
    checks: Literal["full", "paper"] = "full",
    progress: Progress | None = None,
) -> tuple[list[ComposedChain], dict[str, int]]:
    """Chains in which every problem occurs at most once, and the fates of all drafts.

    Only problems whose expression gives their answer take part. Longer chains choose first, then those whose
    problems have the fewest partners. The same seed gives the same chains.
    """
    usable = {problem.id: problem for problem in problems if has_worked_solution(problem)}
    tell: Progress = progress or (lambda what, done, total, note: None)
    base = _grounded(tuple(usable.values()), tell)
    known = frozenset(read(problem).mask_hash for problem in problems)
    drafts: Counter[str] = Counter()
    compositions_by_id: dict[str, ComposedChain] = {}  # by the id of the longest composition
    donors: dict[str, ComposedChain] = {one.problem.id: ComposedChain((one.problem,), ()) for one in base}
    for length in range(2, longest + 1):
        limits: dict[str, Any] = {} if longest == 2 else _LIMITS
        attempts = _TRIED if length == 2 else _TRIED_FURTHER
        options = AugmentationOptions.preset(
            operations=(1,), per_problem=(attempts, 0), compose=compose, match=match, checks=checks, seed=seed, **limits
        )
        further = [] if length == 2 else [read(chain.composed[-1]) for chain in donors.values()]
        compositions = _compositions(base, further, known, options, length, drafts, tell)
        extended = {}
        for problem in compositions:
            first, host = problem.provenance.parents
            if first in donors and host in usable and host not in {part.id for part in donors[first].parts}:
                chain = donors[first]
                extended[problem.id] = ComposedChain((*chain.parts, usable[host]), (*chain.composed, problem))
        compositions_by_id |= extended
        donors = {name: extended[name] for name in sorted(extended, key=lambda name: _hash(seed, name))[:_MOST_DONORS]}
        if not donors:
            break
    chains = _disjoint(compositions_by_id, seed)
    if sample is not None:
        if sample > len(chains):
            raise ComdivError(
                f"{sample} chains were asked for, but these {len(problems):,} problems give only {len(chains):,}"
            )
        chains = chains[:sample]
    return sorted(chains, key=lambda chain: chain.composed[0].id), dict(drafts.most_common())


def _grounded(problems: Sequence[Problem], tell: Progress) -> list[Reading]:
    readings = []
    for number, problem in enumerate(problems, start=1):
        if (reading := read(problem)).is_grounded:
            readings.append(reading)
        if number % _SHARD == 0 or number == len(problems):
            tell("reading clauses", number, len(problems), "")
    return readings


def _compositions(
    base: Sequence[Reading],
    further: Sequence[Reading],
    known: frozenset[str],
    options: AugmentationOptions,
    length: int,
    drafts: Counter[str],
    tell: Progress,
) -> list[Problem]:
    """What operation 1 makes of every problem, or of every composition that is to be continued."""
    operation = _Continuing(options)
    operation.taught_by = len(base)
    readings = [*base, *further]
    proposer = index_round(readings, known, options, length - 1, {"1": operation})
    start, end = (len(base), len(readings)) if further else (0, len(base))
    compositions: list[Problem] = []
    for shard in range(start, end, _SHARD):
        proposals, fates = proposer.propose(range(shard, min(shard + _SHARD, end)))
        compositions += [proposal.problem for proposal in proposals]
        drafts.update(fates.counts.get("1", {}))
        done = min(shard + _SHARD, end) - start
        tell(f"composing {length}", done, end - start, f"{len(compositions):,} compositions")
    return compositions


def _disjoint(found: Mapping[str, ComposedChain], seed: int) -> list[ComposedChain]:
    """Chains that share no problem, longest first."""
    partners = Counter(part.id for chain in found.values() for part in chain.parts)

    def choice(name: str) -> tuple[int, int, bytes]:
        chain = found[name]
        return -len(chain.parts), min(partners[part.id] for part in chain.parts), _hash(seed, name)

    members: set[str] = set()
    chains = []
    for name in sorted(found, key=choice):
        parts = {part.id for part in found[name].parts}
        if members.isdisjoint(parts):
            members |= parts
            chains.append(found[name])
    return sorted(chains, key=lambda chain: (-len(chain.parts), _hash(seed, chain.composed[-1].id)))


def _hash(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


# --- controls ---


def distract(
    chains: Sequence[ComposedChain], problems: Sequence[Problem], seed: int = 0
) -> list[tuple[Chain, Problem]]:
    """The first problem of each chain after as many unrelated stories as the chain has further problems."""
    sequels = {code: get_language(code).sequels for code in {problem.language for problem in problems}}
    stories = [story for one in problems if (story := _story(read(one), sequels[one.language])) is not None]
    stories.sort(key=lambda story: _hash(seed, story.problem.id))
    results = []
    for number, chain in enumerate(chains):
        first = read(chain.parts[0])
        intro: list[_Story] = []
        scene = _scene(first)
        for story in stories[number:] + stories[:number]:
            fits = story.problem.language == first.problem.language and scene.isdisjoint(story.scene)
            if fits and story.problem.number_words == first.problem.number_words:
                intro.append(story)
                scene = scene | story.scene
                if (problem := _told(first, intro)) is not None:
                    parts = (first.problem.id, *(one.problem.id for one in intro))
                    results.append((Chain(parts, problem.id, "distractor"), problem))
            if len(intro) == len(chain.composed):
                break
    return results


@dataclass(frozen=True, slots=True)
class _Story:
    problem: Problem
    text: str
    quantities: int
    scene: frozenset[str]


def _scene(reading: Reading) -> frozenset[str]:
    """What a problem is about: its nouns, and the unit that it asks for."""
    return frozenset(reading.content_words.nouns) | frozenset(filter(None, [reading.asked_unit]))


def _story(reading: Reading, sequels: Sequels | None) -> _Story | None:
    """A problem without its question, as whole sentences; None if it stops in the middle of one."""
    if not reading.narrative:
        return None
    text = reading.text[: reading.narrative[-1].end].strip()
    if sequels is not None and sequels.hangs(text.rstrip("".join((*_ENDS, *_COMMAS)))):
        return None
    if text.endswith(_COMMAS) and reading.problem.language == "zh":
        text = f"{text[:-1]}。"
    quantities = sum(len(clause.quantities) for clause in reading.narrative)
    return _Story(reading.problem, text, quantities, _scene(reading)) if text.endswith(_ENDS) else None


def _told(first: Reading, stories: Sequence[_Story]) -> Problem | None:
    """The stories, then the problem; None if its numbers would be read differently."""
    space = "" if first.problem.language == "zh" else " "
    text = space.join([*(story.text for story in stories), first.text])
    before = sum(story.quantities for story in stories)
    expression = None if first.expression is None else renumber(first.expression, lambda index: index + before)
    details = {"stories": [story.problem.id for story in stories]}
    provenance = Provenance(
        first.problem.provenance.corpus, first.problem.provenance.version, "distractor",
        parents=(first.problem.id,), details=details,
    )  # fmt: skip
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    composed = replace(
        first.problem, id=f"distractor-{digest}", text=text, expression=expression, provenance=provenance
    )
    return composed if read(composed).values[before:] == first.values else None


def renumber_chains(
    chains: Sequence[ComposedChain], seed: int = 0
) -> tuple[list[tuple[Chain, Problem]], list[Problem], dict[str, int]]:
    """The chains whose problems all get new numbers: records and parts, and the reasons for leaving others out."""
    composed: list[tuple[Chain, Problem]] = []
    parts: list[Problem] = []
    reasons: Counter[str] = Counter()
    for chain in chains:
        twins: list[Problem] = []
        for length, problem in enumerate((chain.parts[0], *chain.composed), start=1):
            own = [renumber_problem(one, seed) for one in [chain.parts[length - 1], problem][: min(length, 2)]]
            if refusals := [one for one in own if isinstance(one, str)]:
                reasons[refusals[0]] += len(chain.parts) - max(1, length - 1)
                break
            renamed = [replace(one, id=f"{one.id}-renumbered") for one in own if isinstance(one, Problem)]
            twins.append(renamed[0])
            if length > 1:
                composed.append((Chain(tuple(one.id for one in twins), renamed[-1].id, "renumbered"), renamed[-1]))
        parts += twins if len(twins) > 1 else []
    return composed, parts, dict(reasons.most_common())

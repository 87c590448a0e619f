"""A compositional validation set: operation 1 on validation problems alone, so that early stopping sees compounds, too.

An ordinary validation set holds none of the new structures that augmentation teaches: the checkpoint that is best on it
need not be the one that composes best. Training and test problems have no part in these.
"""

from collections.abc import Sequence
from dataclasses import replace

from comdiv.augmentation.drawing import selected
from comdiv.augmentation.options import AugmentationOptions
from comdiv.augmentation.proposals import Indexes, build_workshop
from comdiv.augmentation.view import views_of
from comdiv.problem import Problem

ROUND = 0  # before the first: nothing of a round went into them


def compositional_validation(
    validation: Sequence[Problem], known: frozenset[str], options: AugmentationOptions
) -> list[Problem]:
    """At most so many new problems as the options want, from validation parents only; none of the `known` texts."""
    if not options.compositional_validation:
        return []
    views = views_of(validation)
    wanted = max(1, options.per_problem[0])
    alone = options.model_copy(update={"operations": (1,), "per_problem": (wanted, 0)})
    proposals, _ = build_workshop(views, known, alone, ROUND, Indexes()).propose(range(len(views)))
    of_text: dict[str, Problem] = {}
    for proposal in proposals:
        of_text.setdefault(proposal.text_hash, proposal.problem)
    found = {problem.id: problem for problem in of_text.values()}
    return [_marked(found[name]) for name in selected(list(found), options.compositional_validation, options.seed)]


def _marked(problem: Problem) -> Problem:
    details = {**problem.provenance.details, "part": "validation"}
    return replace(problem, provenance=replace(problem.provenance, details=details))

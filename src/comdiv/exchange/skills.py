"""The skill that a test problem tests, given the problems of its training side.

A *local structure* is an operator with its two operands, each a quantity, a constant or an operator: `n*(-)`. Solvers
fail mostly on local structures absent from training (Bogin, Gupta and Berant 2022), less on new templates made of known
ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from comdiv.expression import Constant, Expression, Operation, Reference, template
from comdiv.expression.tree import COMMUTATIVE
from comdiv.problem import Problem

# name → type, as Hugging Face calls them; all but `rule` are empty on the training side
SKILL_COLUMNS: Mapping[str, str] = {
    "skill": "string",
    "rule": "string",
    "template_seen": "bool",
    "unseen_structures": "string",
}


@dataclass(frozen=True, slots=True)
class TrainingKnowledge:
    """The templates and local structures of a split's training side."""

    templates: frozenset[str]
    structures: frozenset[str]

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> "TrainingKnowledge":
        """The knowledge of these problems; those without an expression add nothing."""
        trees = [problem.expression for problem in problems if problem.expression is not None]
        return cls(
            frozenset(template(tree) for tree in trees),
            frozenset(structure for tree in trees for structure in local_structures(tree)),
        )

    def columns(self, problem: Problem) -> dict[str, Any]:
        """The skill that a test problem tests; half of a synthesised set says it by itself (§III-B)."""
        row: dict[str, Any] = {**dict.fromkeys(SKILL_COLUMNS), "rule": problem.rule or None}
        if problem.expression is None:
            return {**row, "skill": problem.composition or None}
        seen = template(problem.expression) in self.templates
        unseen = sorted(set(local_structures(problem.expression)) - self.structures)
        kind = "unseen structure" if unseen else "seen template" if seen else "unseen template"
        return {
            **row,
            "skill": problem.composition or kind,
            "template_seen": seen,
            "unseen_structures": " ".join(unseen),
        }


def local_structures(expression: Expression) -> Iterator[str]:
    """The local structures of an expression, from the root down; operands of `+` and `*` are sorted."""
    if not isinstance(expression, Operation):
        return
    operands = [_label(expression.left), _label(expression.right)]
    if expression.operator in COMMUTATIVE:
        operands.sort()
    yield expression.operator.join(operands)
    yield from local_structures(expression.left)
    yield from local_structures(expression.right)


def _label(node: Expression) -> str:
    if isinstance(node, Reference):
        return "n"
    return "C" if isinstance(node, Constant) else f"({node.operator})"

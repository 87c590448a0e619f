"""What every new problem must be, whatever the ranker thinks: sound in value, new in text, bounded in size.

These hold in both settings of `--checks`, but for one: `full` also refuses a story that spends more than there is.
Whether a text is coherent is the wordings' matter, with `full` only.
"""

import hashlib
from collections.abc import Sequence, Set
from fractions import Fraction

from comdiv.augmentation.composition import Composition, Draft, identity
from comdiv.augmentation.options import AugmentationOptions
from comdiv.augmentation.view import positive_value
from comdiv.expression import Constant, Expression, ExpressionError, Operation, subtrees, value_of
from comdiv.expression.normalisation import chain, order_key
from comdiv.language import get_language
from comdiv.language.base import mask_numbers
from comdiv.problem import Problem, Provenance

ONE = Constant(Fraction(1))


class Rejected(Exception):  # noqa: N818  (no error: the ordinary fate of a draft)
    """A draft that a check refused; the message is the check's name."""


def text_hash(masked_text: str) -> str:
    """What stands for a number-masked text in the set of known ones and in a list of bans."""
    return hashlib.sha256(masked_text.encode()).hexdigest()


def checked(draft: Draft, options: AugmentationOptions, known: Set[str], round_number: int) -> tuple[Problem, str]:
    """The new problem and its text's hash; raises `Rejected` with the name of the first check that refused it.

    `known` are the hashes of texts that must not come again: train, validation, banned ones.
    """
    if len(draft.values) > max(options.most_quantities, len(draft.parents[-1].plain_quantities)):
        raise Rejected("too many quantities")
    if draft.tokens > options.most_tokens:
        raise Rejected("text too long")
    first, second = draft.parents[0].problem, draft.parents[1].problem
    if isinstance(draft, Composition):
        answer = check_values(draft)
        expression = draft.expression
        if _may_be_degenerate(draft) and is_degenerate(expression):
            raise Rejected("degenerate expression")
        if options.checks == "full" and is_overdrawn(expression, draft.values):
            raise Rejected("more is taken than there is")
        if _repeats_a_clause(draft):
            raise Rejected("a clause twice")
    elif (value := draft.parents[0].value) is None:
        raise Rejected("no positive value")
    else:
        answer = value  # and no clause is there twice: the fragment's content is new, or was exchanged everywhere
        expression = draft.expression
    text = draft.text
    number_words = first.number_words or second.number_words
    language = get_language(first.language)
    numbers = language.numbers(text, number_words=number_words)
    if tuple([number.value for number in numbers]) != draft.values:
        raise Rejected("quantities do not re-parse")
    masked = text_hash(mask_numbers(text, numbers))
    if masked in known:
        raise Rejected("text is there already")
    provenance = Provenance(
        corpus=first.provenance.corpus,
        version=first.provenance.version,
        operation=f"operation {draft.operation}",
        round=round_number,
        parents=(first.id, second.id),
        details=draft.details,
    )
    name = identity(draft, text, round_number)
    return Problem(name, first.language, text, expression, answer, provenance, number_words), masked


def check_values(draft: Composition) -> Fraction:
    """The value of a composed expression: nothing negative or undefined on the way, whole numbers stay whole, shares
    shares. All of it is known from the parents.
    """
    asking, stating = draft.parents
    before, after = stating.magnitudes[draft.quantity], asking.magnitude
    if before.whole and not after.whole:
        raise Rejected("a whole number became a fraction")
    if before.below_one != after.below_one:
        raise Rejected("a share became a number")
    if asking.positive_value is None:
        raise Rejected("no positive value")
    around = (*stating.values[: draft.quantity], asking.amount, *stating.values[draft.quantity + 1 :])
    value = positive_value(stating.expression, around)
    if value is None:
        raise Rejected("no positive value")
    if stating.magnitude.whole and value.denominator != 1:
        raise Rejected("a whole number became a fraction")
    return value


def _may_be_degenerate(draft: Composition) -> bool:
    """Whether a leaf is there twice, or a 1: else nothing can undo anything."""
    asking, stating = draft.parents
    return (
        asking.repeats_a_leaf
        or stating.repeats_a_leaf
        or ONE in asking.constants
        or ONE in stating.constants
        or not asking.constants.isdisjoint(stating.constants)
    )


def is_degenerate(expression: Expression) -> bool:
    """Whether a node undoes its operand: n-n, n/n, 1*n, a-(a-n), a/(a/n)."""
    return any(isinstance(tree, Operation) and _undoes(tree) for tree in subtrees(expression))


def _undoes(tree: Operation) -> bool:
    if tree.operator == "^":
        return False
    members = chain(tree)
    above = {member.expression for member in members if not member.inverse}
    taken_back = any(member.inverse and member.expression in above for member in members)  # n*12/12, 1-(1-n)
    return taken_back or (tree.operator == "*" and ONE in (tree.left, tree.right))


def is_overdrawn(expression: Expression, values: Sequence[Fraction]) -> bool:
    """Whether a sum falls below nothing on the way, told in the order of the text: N0+N2-N1 begins with N0-N1.

    A sum whose first term is taken away (N1-N0) tells of something else than a stock.
    """
    if not isinstance(expression, Operation):
        return False
    if expression.operator not in ("+", "-"):
        return is_overdrawn(expression.left, values) or is_overdrawn(expression.right, values)
    members = sorted(chain(expression), key=lambda member: order_key(member.expression))
    total = Fraction(0)
    for member in members:
        value = _value(member.expression, values)
        total += -value if member.inverse else value
        if total < 0:
            return not members[0].inverse
    return any(is_overdrawn(member.expression, values) for member in members)


def _value(expression: Expression, values: Sequence[Fraction]) -> Fraction:
    try:
        return value_of(expression, values)
    except ExpressionError:
        raise Rejected("no positive value") from None


def _repeats_a_clause(draft: Composition) -> bool:
    """Whether two clauses say the same, numbers included."""
    asking, stating = draft.parents
    others = stating.bare_clauses
    texts = [*asking.bare_clauses[:-1], *others[: draft.clause], *others[draft.clause + 1 :]]
    return len(set(texts)) != len(texts)

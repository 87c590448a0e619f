"""From trees to text: infix, prefix, postfix and LaTeX. The first three parse back to the same tree."""

from collections.abc import Callable
from fractions import Fraction

from comdiv.expression.evaluation import format_number
from comdiv.expression.tree import Constant, Expression, Leaf, Operation, Reference

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
_FRACTION_BAR = 3
_LEAF = 4
_LATEX_SIGN = {"+": "+", "-": "-", "*": r"\times"}

Naming = Callable[[int], str]


def quantity_name(index: int) -> str:
    """`N3` for index 3."""
    return f"N{index}"


def constant_text(value: Fraction) -> str:
    """A constant that parses back to itself: `3.14`, or `0(1/3)` if it has infinitely or too many decimals."""
    text = format_number(value)
    if "/" not in text:
        return text
    whole, rest = divmod(abs(value), 1)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}({rest.numerator}/{rest.denominator})"


def leaf_text(leaf: Leaf, name: Naming = quantity_name) -> str:
    """A leaf as a single token."""
    return name(leaf.index) if isinstance(leaf, Reference) else constant_text(leaf.value)


def to_infix(expression: Expression, name: Naming = quantity_name) -> str:
    """Infix with the fewest brackets that preserve the tree."""
    if isinstance(expression, Constant):
        return constant_text(expression.value)  # a lone negative constant needs no brackets
    return _infix(expression, name, 0)


def _infix(expression: Expression, name: Naming, least: int) -> str:
    """Infix, in brackets if its operator binds less tightly than `least`."""
    if not isinstance(expression, Operation):
        text = leaf_text(expression, name)
        return f"({text})" if text.startswith("-") else text
    operator = expression.operator
    level = _PRECEDENCE[operator]
    right_associative = operator == "^"
    left = _infix(expression.left, name, level + right_associative)
    right = _infix(expression.right, name, level + (not right_associative))
    return f"{left}{operator}{right}" if level >= least else f"({left}{operator}{right})"


def bracketed(written: str) -> str:
    """A number as it stands in a text; one with a fraction bar or a blank gets brackets, to be read within infix."""
    written = written.replace(" %", "%")
    is_plain = all(character.isdigit() or character in ".,%" for character in written)
    return written if is_plain or written.startswith("(") else f"({written})"


def prefix_tokens(expression: Expression, name: Naming = quantity_name) -> list[str]:
    """The tokens in prefix order, operator first."""
    if isinstance(expression, Operation):
        return [expression.operator, *prefix_tokens(expression.left, name), *prefix_tokens(expression.right, name)]
    return [leaf_text(expression, name)]


def postfix_tokens(expression: Expression, name: Naming = quantity_name) -> list[str]:
    """The tokens in postfix order, operator last."""
    if isinstance(expression, Operation):
        return [*postfix_tokens(expression.left, name), *postfix_tokens(expression.right, name), expression.operator]
    return [leaf_text(expression, name)]


def to_prefix(expression: Expression, name: Naming = quantity_name) -> str:
    """Prefix notation with spaces: `* N0 - 1 N1`."""
    return " ".join(prefix_tokens(expression, name))


def to_postfix(expression: Expression, name: Naming = quantity_name) -> str:
    """Postfix notation with spaces: `N0 1 N1 - *`."""
    return " ".join(postfix_tokens(expression, name))


def to_latex(expression: Expression, name: Naming | None = None) -> str:
    r"""LaTeX for display: divisions as `\frac`, quantities as `N_{0}` unless named otherwise."""
    naming = name or (lambda index: f"N_{{{index}}}")
    if isinstance(expression, Reference):
        return naming(expression.index)
    if isinstance(expression, Constant):
        return _latex_constant(expression.value)
    left, right = to_latex(expression.left, name), to_latex(expression.right, name)
    if expression.operator == "/":
        return rf"\frac{{{left}}}{{{right}}}"
    level = _PRECEDENCE[expression.operator]
    if _latex_level(expression.left) < level + (expression.operator == "^"):
        left = rf"\left({left}\right)"
    if expression.operator == "^":
        return f"{left}^{{{right}}}"
    if _latex_level(expression.right) < level + 1:
        right = rf"\left({right}\right)"
    return f"{left} {_LATEX_SIGN[expression.operator]} {right}"


def _latex_constant(value: Fraction) -> str:
    text = format_number(value)
    if "/" not in text:
        return text
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _latex_level(operand: Expression) -> int:
    """How tightly an operand binds in print: a fraction bar groups, but as the base of a power it needs brackets."""
    if isinstance(operand, Operation):
        return _FRACTION_BAR if operand.operator == "/" else _PRECEDENCE[operand.operator]
    if isinstance(operand, Constant) and operand.value < 0:
        return 0
    if isinstance(operand, Constant) and "/" in format_number(operand.value):
        return _FRACTION_BAR
    return _LEAF

"""From text to trees: infix, prefix and postfix.

Infix is parsed by the shunting-yard algorithm: two stacks and no recursion, so brackets may be nested to any depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from comdiv.expression.scanning import MAX_LENGTH, Lexeme, scan
from comdiv.expression.tree import (
    HUNDRED,
    MAX_NODES,
    OPERATORS,
    ZERO,
    Constant,
    Expression,
    ExpressionError,
    Operation,
    Reference,
)

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "^": 4}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def parse(text: str, *, fractions_are_leaves: bool = False) -> Expression:
    """The tree of an infix expression such as `N0*(1-N1)`."""
    return parse_tokens(scan(text, fractions_are_leaves=fractions_are_leaves), len(text))


def parse_tokens(tokens: Sequence[Lexeme], end: int, *, unknown: tuple[str, Expression] | None = None) -> Expression:
    """The tree of scanned tokens; `unknown` gives a name, such as `x`, and the leaf that it stands for."""
    parser = _InfixParser(unknown)
    for token in tokens:
        parser.take(token)
    return parser.finish(end)


def parse_prefix(text: str | Sequence[str]) -> Expression:
    """The tree of a prefix expression, given as a text with spaces or a list of tokens: `* N0 - 1 N1`."""
    tokens = _split(text)
    stack: list[Expression] = []
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        if token in OPERATORS:
            if len(stack) < 2:
                raise ExpressionError(f"operator '{token}' lacks an operand", position)
            left = stack.pop()
            stack.append(Operation(token, left, stack.pop()))
        else:
            stack.append(_leaf(token, position))
    return _only(stack)


def parse_postfix(text: str | Sequence[str]) -> Expression:
    """The tree of a postfix expression, given as a text with spaces or a list of tokens: `N0 1 N1 - *`."""
    stack: list[Expression] = []
    for position, token in enumerate(_split(text)):
        if token in OPERATORS:
            if len(stack) < 2:
                raise ExpressionError(f"operator '{token}' lacks an operand", position)
            right = stack.pop()
            stack.append(Operation(token, stack.pop(), right))
        else:
            stack.append(_leaf(token, position))
    return _only(stack)


def _split(text: str | Sequence[str]) -> Sequence[str]:
    if isinstance(text, str):
        if len(text) > MAX_LENGTH:
            raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters, this one has {len(text)}")
        text = text.replace("**", "^").split()
    if len(text) > MAX_NODES:
        raise ExpressionError(f"an expression has at most {MAX_NODES} nodes")
    return text


def _leaf(text: str, position: int) -> Expression:
    """One operand: a quantity or a number, possibly negative."""
    negative = text.startswith("-")
    try:
        tokens = scan(text[1:] if negative else text)
    except ExpressionError as error:
        raise ExpressionError(f"{text[:40]!r} is not an operand", position) from error
    if len(tokens) != 1 or tokens[0].kind not in ("number", "quantity") or (negative and tokens[0].kind == "quantity"):
        raise ExpressionError(f"{text[:40]!r} is not an operand", position)
    leaf = _operand(tokens[0])
    return Constant(-leaf.value) if negative and isinstance(leaf, Constant) else leaf


def _operand(token: Lexeme) -> Expression:
    if token.kind == "quantity":
        return Reference(int(token.value))
    return Constant(token.value, token.written)


def _only(stack: list[Expression]) -> Expression:
    if not stack:
        raise ExpressionError("an expression is missing", 0)
    if len(stack) > 1:
        raise ExpressionError(f"{len(stack)} expressions where one is expected: an operator is missing", 0)
    return stack[0]


@dataclass(slots=True)
class _InfixParser:
    """Shunting-yard: operands on one stack, waiting operators and brackets on the other."""

    unknown: tuple[str, Expression] | None
    operands: list[Expression] = field(default_factory=list)
    waiting: list[Lexeme] = field(default_factory=list)
    after_operand: bool = False

    def take(self, token: Lexeme) -> None:
        match token.kind:
            case "number" | "quantity":
                self._take_operand(token, _operand(token))
            case "name":
                self._take_name(token)
            case "open":
                if self.after_operand:  # `2(3+4)`: a product
                    self._wait(Lexeme("operator", "*", token.position))
                self.waiting.append(token)
                self.after_operand = False
            case "close":
                self._close(token)
            case "percent":
                if not self.after_operand:
                    raise ExpressionError("a percent sign without a number", token.position)
                self.operands.append(Operation("/", self.operands.pop(), HUNDRED))
            case "operator":
                self._take_operator(token)

    def finish(self, end: int) -> Expression:
        if not self.after_operand:
            raise ExpressionError("an operand is missing", end)
        while self.waiting:
            token = self.waiting.pop()
            if token.kind == "open":
                raise ExpressionError(f"'{token.text}' is never closed", token.position)
            self._apply(token)
        return _only(self.operands)

    def _take_operand(self, token: Lexeme, operand: Expression) -> None:
        if self.after_operand:
            raise ExpressionError(f"an operator is missing before '{token.text[:40]}'", token.position)
        self.operands.append(operand)
        self.after_operand = True

    def _take_name(self, token: Lexeme) -> None:
        if self.unknown is None or token.text != self.unknown[0]:
            raise ExpressionError(f"unknown name '{token.text[:40]}'", token.position)
        if self.after_operand:  # `2x`: a product
            self._wait(Lexeme("operator", "*", token.position))
        self._take_operand(token, self.unknown[1])

    def _take_operator(self, token: Lexeme) -> None:
        if self.after_operand:
            self._wait(token)
        elif token.text == "-":
            self.waiting.append(Lexeme("operator", "negate", token.position))
        elif token.text != "+":  # a leading plus has no effect
            raise ExpressionError(f"operator '{token.text}' lacks its left operand", token.position)

    def _wait(self, token: Lexeme) -> None:
        """Apply the waiting operators that bind at least as tightly, then let this one wait."""
        precedence = _PRECEDENCE[token.text]
        while self.waiting and self.waiting[-1].kind == "operator":
            other = _PRECEDENCE[self.waiting[-1].text]
            if other < precedence or (other == precedence and token.text == "^"):
                break
            self._apply(self.waiting.pop())
        self.waiting.append(token)
        self.after_operand = False

    def _close(self, token: Lexeme) -> None:
        if not self.after_operand:
            raise ExpressionError(f"an operand is missing before '{token.text}'", token.position)
        while self.waiting and self.waiting[-1].kind == "operator":
            self._apply(self.waiting.pop())
        if not self.waiting:
            raise ExpressionError(f"'{token.text}' closes nothing", token.position)
        opened = self.waiting.pop()
        if _CLOSING[opened.text] != token.text:
            raise ExpressionError(f"'{token.text}' closes '{opened.text}'", token.position)

    def _apply(self, token: Lexeme) -> None:
        right = self.operands.pop()
        if token.text != "negate":
            self.operands.append(Operation(token.text, self.operands.pop(), right))
        elif isinstance(right, Constant):
            self.operands.append(Constant(-right.value))
        else:
            self.operands.append(Operation("-", ZERO, right))

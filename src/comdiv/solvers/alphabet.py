"""What a solver writes: the tokens of expressions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from comdiv.expression import (
    OPERATORS,
    Constant,
    Expression,
    ExpressionError,
    Reference,
    leaves,
    mathen_normal_form,
    parse,
    parse_postfix,
    parse_prefix,
    postfix_tokens,
    prefix_tokens,
    to_infix,
)
from comdiv.expression.printing import constant_text
from comdiv.expression.scanning import scan
from comdiv.reading import Reading

Notation = Literal["infix", "prefix", "postfix"]
END, OPEN, CLOSE = "<end>", "(", ")"
RARE_BELOW = 5  # constants in fewer training expressions get no token


@dataclass(frozen=True)
class Alphabet:
    """The tokens of expressions: end, operators, brackets, constants; then one token for each quantity, N0, N1…

    `copies` is the number of quantity tokens of a sequence decoder; a pointer decoder needs no limit.
    """

    constants: tuple[str, ...]
    copies: int
    base: tuple[str, ...] = field(init=False)
    index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", (END, *OPERATORS, OPEN, CLOSE, *self.constants))
        object.__setattr__(self, "index", {token: position for position, token in enumerate(self.base)})

    @property
    def first_copy(self) -> int:
        """The index of N0."""
        return len(self.base)

    @property
    def first_operator(self) -> int:
        return 1

    @property
    def last_operator(self) -> int:
        return len(OPERATORS)

    @property
    def size(self) -> int:
        return self.first_copy + self.copies

    @classmethod
    def learn(cls, readings: Sequence[Reading]) -> "Alphabet":
        """Constants that are frequent in training expressions, and as many copies as a training text has quantities.

        The constants of the texts' languages are always included.
        """
        counts = Counter(constant.value for reading in readings for constant in reading.constants)
        languages = {reading.language.code: reading.language for reading in readings}
        always = [text for _, language in sorted(languages.items()) for text in language.constants]
        frequent = [constant_text(v) for v, n in sorted(counts.items()) if n >= RARE_BELOW and v >= 0]
        return cls(tuple(dict.fromkeys([*always, *frequent])), max([2, *(len(r.numbers) for r in readings)]))

    def spell(self, expression: Expression, notation: Notation, quantities: int) -> list[int] | None:
        """The expression's tokens as indices, or None if it needs something outside the alphabet."""
        for leaf in leaves(expression):
            if isinstance(leaf, Reference) and leaf.index >= quantities:
                return None
            if isinstance(leaf, Constant) and constant_text(leaf.value) not in self.index:
                return None
        tokens = [self._token(text) for text in expression_tokens(expression, notation)]
        return tokens if notation == "prefix" else [*tokens, self.index[END]]

    def _token(self, text: str) -> int:
        return self.index[text] if text in self.index else self.first_copy + int(text[1:])

    def read(self, tokens: Sequence[int], notation: Notation) -> Expression | None:
        """The expression spelled by tokens, up to the end token; None if they do not form one."""
        texts = [self.base[t] if t < self.first_copy else f"N{t - self.first_copy}" for t in tokens]
        texts = texts[: texts.index(END)] if END in texts else texts
        try:
            if notation == "infix":
                return parse(" ".join(texts))
            return parse_prefix(texts) if notation == "prefix" else parse_postfix(texts)
        except ExpressionError:
            return None

    def to_json(self) -> dict[str, Any]:
        return {"constants": list(self.constants), "copies": self.copies}


def expression_tokens(expression: Expression, notation: Notation) -> list[str]:
    """The tokens of an expression in a notation; postfix uses MathEN's normal form (Wang et al. 2018)."""
    if notation == "prefix":
        return prefix_tokens(expression)
    if notation == "postfix":
        return postfix_tokens(mathen_normal_form(expression))
    return [token.text for token in scan(to_infix(expression))]

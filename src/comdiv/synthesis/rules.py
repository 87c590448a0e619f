"""The rule table (§III-B, appendix) as data: read, and checked so that every product's template follows from its rule.

The error for a wrong table is one line that names the rule and the field.
"""

import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from comdiv.errors import ComdivError
from comdiv.expression import (
    Expression,
    ExpressionError,
    Leaf,
    Reference,
    equivalent,
    map_leaves,
    operator_count,
    parse,
    template,
    to_infix,
    used_quantities,
)
from comdiv.loading import load_mapping

DELTA = "delta"
_NAME = re.compile(r"\bn(\d+)\b")


class _RuleRecord(BaseModel):
    """A part of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(_RuleRecord):
    """One clause or several neighbouring ones, and the quantities they contain, in any arrangement."""

    clauses: tuple[str, ...] = Field(min_length=1)
    quantities: tuple[str, ...] = Field(min_length=1)

    @cached_property
    def ranks(self) -> list[int]:
        """The quantities by their places in the template, from 0."""
        return sorted(map(_rank, self.quantities))


class _StoryRule(_RuleRecord):
    """Clauses with a template."""

    clauses: tuple[str, ...] = Field(min_length=2)
    template: str

    @cached_property
    def tree(self) -> Expression:
        """The template as a tree; Reference(0) is n1."""
        return parse_template(self.template)


class ProductRule(_StoryRule):
    """A product: clauses of the seed in order, one of them new; `role` is the quantity that a new narrative states."""

    delta: Literal["question", "narrative"]
    role: str | None = None

    @property
    def seed_clauses(self) -> tuple[str, ...]:
        """The clauses that come from the seed."""
        return tuple(clause for clause in self.clauses if clause != DELTA)

    @property
    def rank(self) -> int | None:
        """Which of the product's quantities the new clause states: 0 for n1; None for a question."""
        return None if self.role is None else _rank(self.role)


class Rule(_StoryRule):
    """One entry of the table: a seed's clauses and template, where its quantities lie, and its products."""

    id: str
    kind: Literal["decomposition", "reformulation"]
    places: tuple[Place, ...] = Field(min_length=1)
    products: tuple[ProductRule, ...] = Field(min_length=1, max_length=2)

    @cached_property
    def asking(self) -> int:
        """The position of the product that asks for x."""
        return next(i for i, product in enumerate(self.products) if product.delta == "question")

    @cached_property
    def x(self) -> Expression:
        """The value that two products share, over the seed's quantities: the answer of one, and given in the other."""
        product = self.products[self.asking]
        return _over_seed(product.tree, self.quantities_of(product))

    def quantities_of(self, product: ProductRule) -> list[int | None]:
        """The seed's quantities in a product, in text order; None stands for the quantity of the new clause."""
        ranks: list[int | None] = []
        places = {clause: place for place in self.places for clause in place.clauses}
        visited: list[Place] = []
        for clause in product.clauses:
            if clause == DELTA:
                ranks += [None] if product.delta == "narrative" else []
            elif (place := places.get(clause)) is not None and place not in visited:
                visited.append(place)
                ranks += place.ranks
        return ranks

    @model_validator(mode="after")
    def _check(self) -> "Rule":
        _check_seed(self)
        for number, product in enumerate(self.products):
            _check_product(self, product, f"products.{number}")
        if self.kind == "decomposition":
            _check_decomposition(self)
        elif len(self.products) != 1 or self.products[0].delta != "question":
            raise ValueError("products: a reformulation has one product, whose delta is a question")
        elif self.products[0].template == self.template:
            raise ValueError("products.0.template: a reformulation asks for something other than its seed")
        return self


class RuleTable(_RuleRecord):
    """All rules; ids are unique, and so are the seeds' templates within a kind."""

    rules: tuple[Rule, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> "RuleTable":
        ids = [rule.id for rule in self.rules]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"the id '{twice[0]}' occurs twice")
        return self


def load_rules(path: Path | None = None) -> RuleTable:
    """The paper's table, or a user's own in the same format."""
    record = load_mapping(path or Path(__file__).with_name("rules.yaml"), "a rule table")
    try:
        return RuleTable.model_validate(record)
    except ValidationError as error:
        raise ComdivError(f"{path or 'the rule table'}: {_explain(error, record)}") from error


def parse_template(text: str) -> Expression:
    """The tree of a template such as `n1*(1-n2)`."""
    return parse(_NAME.sub(lambda match: f"N{int(match[1]) - 1}", text))


def _rank(name: str) -> int:
    match = _NAME.fullmatch(name)
    if match is None or int(match[1]) < 1:
        raise ValueError(f"'{name}' is not a quantity: they are called n1, n2…")
    return int(match[1]) - 1


def _over_seed(tree: Expression, quantities: list[int | None], x: Expression | None = None) -> Expression:
    """A product's template over the seed's quantities; the new clause's quantity is `x`."""

    def of_seed(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Reference):
            return leaf
        index = quantities[leaf.index]
        return Reference(index) if index is not None else x or leaf

    return map_leaves(tree, of_seed)


def _parse(text: str, field: str) -> Expression:
    try:
        tree = parse_template(text)
    except ExpressionError as error:
        raise ValueError(f"{field}: '{text}' is not a template: {error}") from error
    if template(tree) != text:
        raise ValueError(f"{field}: '{text}' must be written {template(tree)}: quantities and operands in text order")
    return tree


def _check_seed(rule: Rule) -> None:
    tree = _parse(rule.template, "template")
    if len(set(rule.clauses)) != len(rule.clauses) or DELTA in rule.clauses:
        raise ValueError(f"clauses: names must be unique, and none may be {DELTA}")
    clauses = [clause for place in rule.places for clause in place.clauses]
    if unknown := [clause for clause in clauses if clause not in rule.clauses]:
        raise ValueError(f"places: there is no clause '{unknown[0]}'; clauses: {', '.join(rule.clauses)}")
    if rule.clauses[-1] in clauses:
        raise ValueError(f"places: {rule.clauses[-1]} is the question, which carries no quantity")
    if clauses != [clause for clause in rule.clauses if clause in clauses]:
        raise ValueError("places: a clause belongs to one place, and they stand in the order of the clauses")
    ranks = [_rank(name) for place in rule.places for name in sorted(place.quantities)]
    if ranks != used_quantities(tree):
        wanted = ", ".join(f"n{index + 1}" for index in used_quantities(tree))
        raise ValueError(f"places: their quantities, in the order of the clauses, must be {wanted} as in the template")


def _check_product(rule: Rule, product: ProductRule, field: str) -> None:
    tree = _parse(product.template, f"{field}.template")
    own = product.seed_clauses
    if len(own) != len(product.clauses) - 1:
        raise ValueError(f"{field}.clauses: exactly one of them is {DELTA}")
    if unknown := [clause for clause in own if clause not in rule.clauses]:
        raise ValueError(f"{field}.clauses: the seed has no clause '{unknown[0]}'")
    if list(own) != [clause for clause in rule.clauses if clause in own]:
        raise ValueError(f"{field}.clauses: they stand in the seed's order, each once")
    question = DELTA if product.delta == "question" else rule.clauses[-1]
    if product.clauses[-1] != question or (product.delta == "question" and rule.clauses[-1] in own):
        raise ValueError(f"{field}.clauses: a problem has one question, its last clause: here {question}")
    for place in rule.places:
        if 0 < len(set(place.clauses) & set(own)) < len(place.clauses):
            raise ValueError(f"{field}.clauses: {' and '.join(place.clauses)} are one place and stay together")
    quantities = rule.quantities_of(product)
    if len(quantities) != len(used_quantities(tree)):
        raise ValueError(
            f"{field}.template: {product.template} has {len(used_quantities(tree))} quantities, "
            f"the product's clauses have {len(quantities)}"
        )
    stated = quantities.index(None) if None in quantities else None
    try:
        role = product.rank
    except ValueError as error:
        raise ValueError(f"{field}.role: {error}") from error
    if role != stated:
        role_text = "no role: its delta is a question" if stated is None else f"the role n{stated + 1}"
        raise ValueError(f"{field}.role: by the order of its clauses the product has {role_text}")


def _check_decomposition(rule: Rule) -> None:
    if sorted(product.delta for product in rule.products) != ["narrative", "question"]:
        raise ValueError("products: a decomposition has two; one delta is a question, the other a narrative")
    stating = rule.products[1 - rule.asking]
    whole = _over_seed(stating.tree, rule.quantities_of(stating), rule.x)
    if not equivalent(whole, rule.tree):
        raise ValueError(
            f"products: with {_infix(rule.x)} for {stating.role}, {stating.template} becomes {_infix(whole)}, "
            f"not the seed's {rule.template}"
        )
    if operator_count(rule.tree) <= max(operator_count(product.tree) for product in rule.products):
        raise ValueError("products: a decomposition's products have fewer operators than its seed")
    if (operators := operator_count(rule.x)) != 1:  # the unit of x follows from its one operator
        raise ValueError(
            f"products.{rule.asking}.template: the question asks for x = {_infix(rule.x)}, which has {operators} "
            "operators; x must have exactly one, as in n1*n2 or 1-n1"
        )


def _infix(tree: Expression) -> str:
    return to_infix(tree, lambda index: f"n{index + 1}")


def _explain(error: ValidationError, record: dict[str, Any]) -> str:
    """One line about the first error: the rule's id, the field, what is wrong."""
    first = error.errors()[0]
    place = list(first["loc"])
    message = str(first["msg"]).removeprefix("Value error, ")
    if place[:1] == ["rules"] and len(place) > 1 and isinstance(place[1], int):
        entry = record["rules"][place[1]] if isinstance(record.get("rules"), list) else None
        name = entry.get("id", f"number {place[1] + 1}") if isinstance(entry, dict) else f"number {place[1] + 1}"
        field = ".".join(str(part) for part in place[2:])
        return f"rule {name}: {field}{': ' if field else ''}{message}"
    return f"{'.'.join(str(part) for part in place)}{': ' if place else ''}{message}"

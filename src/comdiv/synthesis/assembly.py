"""Assembling the set: which seeds, which of their products, and which side they go to (§III-B).

Decompositions come first; reformulations are then added from the most novel on, novelty being measured against the
training side so far.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from comdiv.dataset import VALIDATION_SHARE
from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.settings import Settings
from comdiv.synthesis.products import Family, Product, draw_of
from comdiv.synthesis.seeds import Tale

PAPER_SIZE = "1078/745"
PAPER_STRUCTURAL, PAPER_LEXICAL = 668, 77  # of the paper's 745 test problems, derived from its tables
_GIVE = {"structural": "decompose", "lexical": "can be reformulated"}
_SIZE = re.compile(r"(\d{1,7})/(\d{1,7})")


class SynthesisOptions(Settings):
    """How to build the set. By default, all that the rules give; `size` is "TRAIN/TEST", in the paper 1078/745."""

    noun: ClassVar[str] = "option"
    FILES: ClassVar[tuple[str, ...]] = ("rules", "review", "verdicts")

    size: str | None = Field(
        default=None, description=f"TRAIN/TEST problems, in the paper {PAPER_SIZE}; without it, all there are."
    )
    seed: int = Field(default=0, ge=0, description="Seed of the draw of the validation part.")
    rules: Path | None = Field(default=None, description="A rule table of your own (YAML).")
    disjoint: bool = Field(
        default=False, description="Put only one of a seed's two products into train: a harder control."
    )
    exclude: Path | None = Field(
        default=None, description="Another synthetic dataset whose seeds are left out, to make SD-dev beside SD."
    )
    novelty: int | None = Field(
        default=None, ge=0, description="Greatest similarity of a lexical test problem to train; the paper says 0."
    )
    review: Path | None = Field(
        default=None, description="File with reviewers' decisions; by default review.jsonl in the output folder."
    )
    verdicts: Path | None = Field(
        default=None,
        description="File with readers' verdicts, from `comdiv import verdicts`: only products that most find good.",
    )
    only: Literal["accepted"] | None = Field(default=None, description="Take only what the review accepts or edits.")
    release: str | None = Field(
        default=None,
        description="A published set such as sd, with its readers' verdicts; only the validation part may differ.",
    )
    validation: float = Field(
        default=VALIDATION_SHARE, ge=0, le=0.9, description="Share of the training side held out for validation."
    )

    @field_validator("size")
    @classmethod
    def _has_two_numbers(cls, size: str | None) -> str | None:
        if size is not None and (not (match := _SIZE.fullmatch(size)) or "0" in match.groups()):
            raise ValueError(f"the size must be TRAIN/TEST such as {PAPER_SIZE}, not '{size}'")
        return size

    def facts(self) -> dict[str, Any]:
        """The options as a record; files by their names."""
        paths = {name: getattr(self, name) for name in ("exclude", *self.FILES)}
        return {**self.model_dump(mode="json"), **{name: path and path.name for name, path in paths.items()}}

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """Numbers of training, structural test and lexical test problems; the last two in the paper's proportion."""
        if self.size is None:
            return None
        train, test = (int(part) for part in self.size.split("/"))
        lexical = round(test * PAPER_LEXICAL / (PAPER_STRUCTURAL + PAPER_LEXICAL))
        return train, test - lexical, lexical


@dataclass(frozen=True, slots=True)
class Assembly:
    """The two sides, and the novelty of each lexical test problem against the final training side."""

    training: tuple[Problem, ...]
    structural: tuple[Problem, ...]
    lexical: tuple[Problem, ...]
    novelty: dict[str, int]

    @property
    def test(self) -> tuple[Problem, ...]:
        """Both kinds of test problems."""
        return self.structural + self.lexical


def assemble(families: Iterable[Family], options: SynthesisOptions) -> Assembly:
    """The set that the options describe; if there are too few candidates, the error says how many."""
    train, _, lexical = options.sizes or (None, None, None)
    decompositions, products, reformulations = _choose(list(families), options)
    reformulations = _in_proportion(reformulations, lexical, "lexical")
    if train is not None:
        products = _trimmed(products, len(reformulations), train, options)
    company = _Company([*(product.tale for product in products), *(family.seed.tale for family in reformulations)])
    seeds = [family.seed.entry.problem for family in reformulations]
    return Assembly(
        training=tuple([product.tale.problem for product in products] + seeds),
        structural=tuple(_labelled(f.seed.entry.problem, "structural", f) for f in decompositions),
        lexical=tuple(_labelled(f.product.tale.problem, "lexical", f) for f in reformulations),
        novelty={f.product.id: company.novelty(f.product) for f in reformulations},
    )


def candidates(families: Iterable[Family], options: SynthesisOptions) -> list[Product]:
    """The products that may enter the set: both of every chosen decomposition, and all reformulations."""
    _, products, reformulations = _choose(list(families), options)
    return [*products, *(family.product for family in reformulations)]


def _choose(families: Sequence[Family], options: SynthesisOptions) -> tuple[list[Family], list[Product], list[Family]]:
    """The decompositions for test, their products, and the reformulations beside them, the most novel first."""
    structural = None if options.sizes is None else options.sizes[1]
    decompositions = _distinct(family for family in families if family.seed.rule.kind == "decomposition")
    decompositions = _in_proportion(decompositions, structural, "structural")
    products = _training_products(decompositions, options.disjoint)
    taken = {family.seed.entry.mask for family in decompositions} | {product.tale.mask for product in products}
    reformulations = [family for family in families if family.seed.rule.kind == "reformulation"]
    company = _Company(product.tale for product in products)
    return decompositions, products, _novel(reformulations, taken, company, options.novelty)


def _labelled(problem: Problem, composition: str, family: Family) -> Problem:
    return replace(problem, composition=composition, rule=family.seed.rule.id)


def _distinct(decompositions: Iterable[Family]) -> list[Family]:
    """One seed per masked text, in the order of their draw."""
    by_text: dict[str, Family] = {}
    for family in sorted(decompositions, key=lambda family: (family.draw, family.seed.id)):
        by_text.setdefault(family.seed.entry.mask, family)
    return list(by_text.values())


def _in_proportion(families: Sequence[Family], wanted: int | None, kind: str) -> list[Family]:
    """The first families of each rule, with rules in proportion to what they have (largest remainder)."""
    if wanted is None:
        return list(families)
    if len(families) < wanted:
        raise ComdivError(f"{wanted} {kind} test problems are wanted, but only {len(families)} seeds {_GIVE[kind]}")
    by_rule = _by_rule(families)
    shares = largest_remainder({rule: len(own) for rule, own in by_rule.items()}, wanted)
    return [family for rule, own in by_rule.items() for family in own[: shares[rule]]]


def _by_rule(families: Iterable[Family]) -> dict[str, list[Family]]:
    by_rule: dict[str, list[Family]] = {}
    for family in families:
        by_rule.setdefault(family.seed.rule.id, []).append(family)
    return by_rule


def largest_remainder(counts: dict[str, int], wanted: int) -> dict[str, int]:
    """`wanted` places in the proportion of the counts; ties by name. No name gets more than its count."""
    total = sum(counts.values())
    exact = {name: count * wanted / total for name, count in counts.items()}
    places = {name: int(share) for name, share in exact.items()}
    rest = wanted - sum(places.values())
    for name in sorted(exact, key=lambda name: (places[name] - exact[name], name))[:rest]:
        places[name] += 1
    return places


def _training_products(decompositions: Sequence[Family], disjoint: bool) -> list[Product]:
    """The products of these seeds, without duplicate texts and without test texts."""
    test_texts = {family.seed.entry.mask for family in decompositions}
    by_text: dict[str, Product] = {}
    for product in _halves(decompositions) if disjoint else (p for f in decompositions for p in f.products):
        by_text.setdefault(product.tale.mask, product)
    return [product for text, product in by_text.items() if text not in test_texts]


def _halves(decompositions: Sequence[Family]) -> Iterable[Product]:
    """One product per seed: half of every rule's seeds give their first product, the other half their second."""
    for families in _by_rule(decompositions).values():
        families.sort(key=lambda family: (len(family.products), family.draw))
        for number, family in enumerate(families):
            yield family.products[0 if 2 * number < len(families) else -1]


def _trimmed(products: Sequence[Product], seeds: int, train: int, options: SynthesisOptions) -> list[Product]:
    """As many products as fit beside `seeds` seeds: some are dropped by draw, but never both of one seed."""
    wanted = max(train - seeds, 0)
    if len(products) < wanted:
        each = " (one per seed)" if options.disjoint else ""
        raise ComdivError(
            f"{options.size}: the chosen seeds have {len(products)} different products{each}, which with {seeds} "
            f"seeds of reformulations make a train of at most {seeds + len(products)}"
        )
    left = Counter(product.seed for product in products)
    leaving: set[str] = set()
    for product in sorted(products, key=lambda product: draw_of(product.id)):
        if len(products) - len(leaving) == wanted:
            break
        if left[product.seed] > 1:
            left[product.seed] -= 1
            leaving.add(product.id)
    if len(products) - len(leaving) > wanted:
        raise ComdivError(
            f"{options.size}: {len(left)} seeds leave at least one product each, which is more than {wanted}: "
            "ask for fewer test problems or more training problems"
        )
    return [product for product in products if product.id not in leaving]


class _Company:
    """The training problems by template, as sets of words for measuring novelty."""

    def __init__(self, tales: Iterable[Tale]) -> None:
        self._words: dict[str | None, list[frozenset[str]]] = {}
        for tale in tales:
            self._words.setdefault(tale.template, []).append(tale.words)

    def novelty(self, product: Product) -> int:
        """The greatest similarity of a product to a training problem with the same template; 0 is entirely new."""
        company = self._words.get(product.tale.template, ())
        return max((len(product.tale.words & words) for words in company), default=0)


def _novel(candidates: Sequence[Family], taken: Set[str], company: _Company, bound: int | None) -> list[Family]:
    """Reformulations, the most novel first; every seed that enters train may change the order.

    Neither the seed nor the product may be a twin of a problem in the set (`taken`: masked texts).
    """
    waiting = {family.seed.id: family for family in sorted(candidates, key=lambda family: family.seed.id)}
    novelty = {name: company.novelty(family.product) for name, family in waiting.items()}
    selection: list[Family] = []
    texts = set(taken)
    while waiting:
        name = min(waiting, key=lambda name: (novelty[name], name))
        family = waiting.pop(name)
        if bound is not None and novelty[name] > bound:
            break
        own = {family.seed.entry.mask, family.product.tale.mask}
        if own & texts or (bound is not None and any(_similarity(other, family) > bound for other in selection)):
            continue
        texts |= own
        selection.append(family)
        for other, candidate in waiting.items():
            novelty[other] = max(novelty[other], _similarity(candidate, family))
    return selection


def _similarity(family: Family, other: Family) -> int:
    """How many words a reformulation's product shares with another's seed in train; 0 if the templates differ."""
    tale = other.seed.tale
    return len(family.product.tale.words & tale.words) if family.product.tale.template == tale.template else 0

"""Building the set from the candidates: which seeds, which of their products, and what goes where (§III-B).

Decomposition comes first; reformulations are then taken in the order of rising novelty, which is measured against what
is in train by then.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from comdiv.errors import ComdivError
from comdiv.problem import Problem
from comdiv.synthesis.decomposition import Decomposition
from comdiv.synthesis.filling import Product
from comdiv.synthesis.options import SynthesisOptions
from comdiv.synthesis.reading import Reading
from comdiv.synthesis.reformulation import Reformulation

Masked = Callable[[Problem], str]
Read = Callable[[Problem], Reading | None]


@dataclass(frozen=True, slots=True)
class Selection:
    """The two sides, and the novelty of each lexical test problem in its final company."""

    training: tuple[Problem, ...]
    structural: tuple[Problem, ...]
    lexical: tuple[Problem, ...]
    novelty: dict[str, int]


def select(
    decompositions: Sequence[Decomposition],
    reformulations: Sequence[Reformulation],
    options: SynthesisOptions,
    masked: Masked,
    read: Read,
) -> Selection:
    """The set that the options ask for; too few candidates are an error that says how many there are."""
    wanted = options.sizes
    chosen = _fittest(_distinct(decompositions, masked), None if wanted is None else wanted[1])
    products = _training_products(chosen, options.disjoint, masked)
    company = _Company(products, read)
    taken = _novel(reformulations, company, options.novelty, None if wanted is None else wanted[2], masked, chosen)
    seeds = [reformulation.seed.reading.problem for reformulation in taken]
    if wanted is not None:
        products = _trimmed(products, len(seeds), options)
        company = _Company(products, read)
        for reformulation in taken:
            company.enter(reformulation.seed.reading)
    training = [*(product.problem for product in products), *seeds]
    return Selection(
        training=tuple(training),
        structural=tuple(_marked(d.seed.reading.problem, "structural", d.seed.rule.id) for d in chosen),
        lexical=tuple(_marked(r.product.problem, "lexical", r.seed.rule.id) for r in taken),
        novelty={r.product.problem.id: company.novelty(r) for r in taken},
    )


def _marked(problem: Problem, composition: str, rule: str) -> Problem:
    return replace(problem, composition=composition, rule=rule)


def _distinct(decompositions: Iterable[Decomposition], masked: Masked) -> list[Decomposition]:
    """One seed of each text and template: the fittest of twins. Fittest first, ties by id."""
    seen: set[str] = set()
    result = []
    for decomposition in sorted(decompositions, key=lambda d: (-d.fit, d.seed.id, d.seed.rule.id)):
        text = masked(decomposition.seed.reading.problem)
        if text not in seen:
            seen.add(text)
            result.append(decomposition)
    return result


def _fittest(decompositions: Sequence[Decomposition], wanted: int | None) -> list[Decomposition]:
    """Rules in the proportion of their seeds (largest remainder), within a rule the fittest."""
    if wanted is None:
        return list(decompositions)
    if len(decompositions) < wanted:
        raise ComdivError(
            f"{wanted} structural test problems are wanted, but only {len(decompositions)} seeds decompose"
        )
    by_rule: dict[str, list[Decomposition]] = {}
    for decomposition in decompositions:
        by_rule.setdefault(decomposition.seed.rule.id, []).append(decomposition)
    shares = largest_remainder({rule: len(found) for rule, found in by_rule.items()}, wanted)
    return [decomposition for rule, found in by_rule.items() for decomposition in found[: shares[rule]]]


def largest_remainder(counts: dict[str, int], wanted: int) -> dict[str, int]:
    """`wanted` places in the proportion of the counts; ties by name. No name gets more than its count."""
    total = sum(counts.values())
    exact = {name: count * wanted / total for name, count in counts.items()}
    places = {name: int(share) for name, share in exact.items()}
    rest = wanted - sum(places.values())
    for name in sorted(exact, key=lambda name: (places[name] - exact[name], name))[:rest]:
        places[name] += 1
    return places


def _training_products(chosen: Sequence[Decomposition], disjoint: bool, masked: Masked) -> list[Product]:
    """The products of exactly these seeds, identical texts once and none that is a test text."""
    seen = {masked(decomposition.seed.reading.problem) for decomposition in chosen}
    result = []
    for product in _halves(chosen) if disjoint else (p for d in chosen for p in d.products):
        text = masked(product.problem)
        if text not in seen:
            seen.add(text)
            result.append(product)
    return result


def _halves(chosen: Sequence[Decomposition]) -> Iterable[Product]:
    """One product of each seed; of every rule's seeds one half gives the first, the other half the second product."""
    by_rule: dict[str, list[Decomposition]] = {}
    for decomposition in chosen:
        by_rule.setdefault(decomposition.seed.rule.id, []).append(decomposition)
    for found in by_rule.values():
        found.sort(key=lambda d: (d.products[-1].fit - d.products[0].fit, d.seed.id))
        for number, decomposition in enumerate(found):
            yield decomposition.products[0 if 2 * number < len(found) else -1]


def _trimmed(products: Sequence[Product], seeds: int, options: SynthesisOptions) -> list[Product]:
    """As many products as there is room for beside so many seeds: the least fit leave, never both of one seed."""
    wanted = max(options.sizes[0] - seeds, 0) if options.sizes else len(products)
    if len(products) < wanted:
        each = " (one a seed)" if options.disjoint else ""
        raise ComdivError(
            f"{options.size}: the chosen seeds have {len(products)} different products{each}, which with {seeds} "
            f"seeds of reformulations make a train of at most {seeds + len(products)}"
        )
    left = {product.seed: 0 for product in products}
    for product in products:
        left[product.seed] += 1
    leaving: set[str] = set()
    for product in sorted(products, key=lambda p: (p.fit, p.problem.id)):
        if len(products) - len(leaving) == wanted:
            break
        if left[product.seed] > 1:
            left[product.seed] -= 1
            leaving.add(product.problem.id)
    if len(products) - len(leaving) > wanted:
        raise ComdivError(
            f"{options.size}: {len(left)} seeds leave at least one product each, which is more than {wanted}: "
            "ask for fewer test problems or more training problems"
        )
    return [product for product in products if product.problem.id not in leaving]


class _Company:
    """The training problems by template, as the sets of words that novelty is measured with."""

    def __init__(self, products: Iterable[Product], read: Read) -> None:
        self._words: dict[str, list[frozenset[str]]] = {}
        for product in products:
            reading = read(product.problem)
            if reading is not None:
                self.enter(reading)

    def enter(self, reading: Reading) -> None:
        """A training problem more."""
        self._words.setdefault(reading.template, []).append(reading.words)

    def novelty(self, reformulation: Reformulation) -> int:
        """The greatest similarity of a product to a training problem with its template; 0 is entirely new."""
        company = self._words.get(reformulation.product.template, ())
        return max((len(reformulation.words & words) for words in company), default=0)


def _novel(
    reformulations: Sequence[Reformulation],
    company: _Company,
    bound: int | None,
    wanted: int | None,
    masked: Masked,
    chosen: Sequence[Decomposition],
) -> list[Reformulation]:
    """Reformulations in the order of rising novelty, which every seed that enters train may change."""
    used = {masked(decomposition.seed.reading.problem) for decomposition in chosen}
    candidates = sorted(reformulations, key=lambda r: r.seed.id)
    waiting = {r.seed.id: r for r in candidates if masked(r.product.problem) not in used}
    novelty = {name: company.novelty(reformulation) for name, reformulation in waiting.items()}
    taken: list[Reformulation] = []
    texts: set[str] = set()
    while waiting and (wanted is None or len(taken) < wanted):
        name = min(waiting, key=lambda name: (novelty[name], name))
        candidate, found = waiting.pop(name), novelty.pop(name)
        if bound is not None and found > bound:
            break
        seed = candidate.seed.reading
        own = {masked(seed.problem), masked(candidate.product.problem)}
        if own & texts or (bound is not None and _spoils(seed, taken, bound)):
            continue
        texts |= own
        taken.append(candidate)
        company.enter(seed)
        for other, reformulation in waiting.items():
            if reformulation.product.template == seed.template:
                novelty[other] = max(novelty[other], len(reformulation.words & seed.words))
    if wanted is not None and len(taken) < wanted:
        limit = "" if bound is None else f" with novelty {bound} or less"
        raise ComdivError(
            f"{wanted} lexical test problems are wanted, but only {len(taken)} reformulations{limit} are there"
        )
    return taken


def _spoils(seed: Reading, taken: Iterable[Reformulation], bound: int) -> bool:
    """Whether a seed in train would make a test problem that was taken before it less new than the bound allows."""
    return any(r.product.template == seed.template and len(r.words & seed.words) > bound for r in taken)

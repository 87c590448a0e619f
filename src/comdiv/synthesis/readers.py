"""What readers say of products: the queue they get, blind; their verdicts; what most of them find good.

The paper's SD was proofread by hand (§V-A). Here, two readers mark every product without seeing its rule, its seed or
each other's marks; a third decides where they differ.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError
from comdiv.evaluation.kappa import cohen_kappa
from comdiv.expression import bracketed, format_number, to_infix
from comdiv.files import write_json_lines
from comdiv.loading import read_json_objects
from comdiv.problem import Quantity
from comdiv.review import Decision, latest
from comdiv.synthesis.products import Product, draw_of
from comdiv.synthesis.seeds import Tale

MARKS = ("valid", "qualified", "label")
_KEY = 12  # characters
_RULE = re.compile(r".*-r(\w+?)[ab]?-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader says of a product: whether it can be understood and solved, reads well, and asks for its label."""

    id: str
    reader: str
    valid: bool
    qualified: bool
    label: bool
    reason: str = ""

    @property
    def good(self) -> bool:
        """Whether the product may stand in a set."""
        return self.valid and self.qualified and self.label

    def to_json(self) -> dict[str, Any]:
        """The line of a file."""
        marks = {mark: getattr(self, mark) for mark in MARKS}
        return {"id": self.id, **marks, "reason": self.reason, "reader": self.reader}


def read_verdicts(path: Path) -> tuple[Verdict, ...]:
    """The verdicts of a JSON Lines file, or the decisions of a reader in `comdiv studio`.

    Any other line, or a second verdict of the same reader on a product, is an error. If a file names no reader, its own
    name is the reader's. A product that the studio's reader did not accept counts against every mark.
    """
    verdicts: dict[tuple[str, str], Verdict] = {}
    decisions: list[Decision] = []
    for number, record in read_json_objects(path):
        where = f"{path}, line {number}"
        if "status" in record:
            try:
                decisions.append(Decision.from_json(record))
            except ComdivError as error:
                raise ComdivError(f"{where}: {error}") from error
            continue
        if missing := [mark for mark in MARKS if mark not in record]:
            raise ComdivError(f"{where}: not a verdict: '{missing[0]}' is missing")
        marks = {name: record[name] for name in MARKS}
        if not all(isinstance(mark, bool) for mark in marks.values()):
            raise ComdivError(f"{where}: valid, qualified and label are true or false")
        name = str(record.get("id", record.get("key", "")))
        if not name:
            raise ComdivError(f"{where}: not a verdict: 'id' is missing")
        verdict = Verdict(name, str(record.get("reader") or path.stem), **marks, reason=str(record.get("reason", "")))
        if (verdict.id, verdict.reader) in verdicts:
            raise ComdivError(f"{where}: {verdict.reader} already has a verdict on '{verdict.id}'")
        verdicts[verdict.id, verdict.reader] = verdict
    return (*verdicts.values(), *_as_verdicts(decisions))


def _as_verdicts(decisions: Iterable[Decision]) -> Iterable[Verdict]:
    for name, decision in latest(decisions).items():
        if decision.status != "open":
            good = decision.status == "accepted"
            yield Verdict(name, decision.by, good, good, good, "" if good else f"{decision.status} in the studio")


def decide(verdicts: Iterable[Verdict], fewest: int = 2) -> dict[str, bool]:
    """Whether each product is good, as most of its readers say; with fewer than `fewest` or a tie: no decision."""
    return {
        name: most
        for name, own in by_product(verdicts).items()
        if len(own) >= fewest and (most := _most(verdict.good for verdict in own)) is not None
    }


def by_product(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """The verdicts on each product."""
    by_id: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_id[verdict.id].append(verdict)
    return by_id


def of_all(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts of those who read every product: not of a third who decides where the others differ."""
    readers = Counter(verdict.reader for verdict in verdicts)
    products = len(by_product(verdicts))
    return [verdict for verdict in verdicts if readers[verdict.reader] == products]


def _most(marks: Iterable[bool]) -> bool | None:
    """What most of the marks say; None with a tie."""
    balance = sum(1 if mark else -1 for mark in marks)
    return None if balance == 0 else balance > 0


# --- the queue, and back from it ---


def key_of(product: str) -> str:
    """What readers see in place of a product's id, which tells its seed and rule."""
    return draw_of(product)[:_KEY]


def write_queue(path: Path, products: Iterable[Product]) -> int:
    """Write what readers get, shuffled and blind: a key, the text, the expression in numbers, the answer.

    A key reveals neither the rule nor the seed; `FILE.keys` beside it, for the organiser, maps it to the product's id.
    """
    entries = sorted(((key_of(product.id), product) for product in products), key=lambda entry: entry[0])
    write_json_lines(keys_of(path), ({"key": key, "id": each.id} for key, each in entries))
    return write_json_lines(path, (_queued(key, product.tale) for key, product in entries))


def keys_of(queue: Path) -> Path:
    """The file beside a queue that maps each key to the id of a product."""
    return queue.with_name(f"{queue.name}.keys")


def _queued(key: str, tale: Tale) -> dict[str, str]:
    problem = tale.problem
    assert problem.expression is not None  # a product has both
    assert problem.answer is not None
    expression = to_infix(problem.expression, lambda index: _written(tale.quantities[index]))
    return {"id": key, "text": tale.text, "expression": expression, "answer": format_number(problem.answer)}


def _written(quantity: Quantity) -> str:
    """A number as the text has it; one in words by its value, for the expression to be read by machines, too."""
    has_digits = any(character.isdigit() for character in quantity.text)
    return bracketed(quantity.text if has_digits else format_number(quantity.value))


def collect_verdicts(files: Sequence[Path], queue: Path | None) -> tuple[Verdict, ...]:
    """The verdicts of several files, by the ids of the products: the keys of a queue are replaced by them."""
    ids = {} if queue is None else _ids(keys_of(queue))
    verdicts: dict[tuple[str, str], Verdict] = {}
    for path in files:
        for verdict in read_verdicts(path):
            if queue is not None and verdict.id not in ids:
                raise ComdivError(f"{path}: {keys_of(queue)} has no key '{verdict.id}'")
            known = replace(verdict, id=ids.get(verdict.id, verdict.id))
            if (known.id, known.reader) in verdicts:
                raise ComdivError(f"{path}: {known.reader} has a verdict on '{verdict.id}' in another file, too")
            verdicts[known.id, known.reader] = known
    if not verdicts:
        raise ComdivError(f"{files[0]}: there are no verdicts in it")
    return tuple(sorted(verdicts.values(), key=lambda verdict: (verdict.id, verdict.reader)))


def _ids(keys: Path) -> dict[str, str]:
    """The ids behind the keys."""
    ids: dict[str, str] = {}
    for number, record in read_json_objects(keys):
        if not isinstance(record.get("key"), str) or not isinstance(record.get("id"), str):
            raise ComdivError(f"{keys}, line {number}: a line has a 'key' and an 'id'")
        ids[record["key"]] = record["id"]
    return ids


def write_disputed(path: Path, queue: Path, verdicts: Iterable[Verdict]) -> int:
    """Write the products of a queue on which the readers so far are divided, for another reader, blind as before."""
    ids = _ids(keys_of(queue))
    divided = {name for name, own in by_product(verdicts).items() if _most(each.good for each in own) is None}
    return write_json_lines(
        path, (record for _, record in read_json_objects(queue) if ids.get(str(record.get("id"))) in divided)
    )


# --- what readers said of each rule ---

READING_COLUMNS = ("rule", "read", "valid", "qualified", "label", "κ valid", "κ qualified")


def reading_facts(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Who read how many products, and for each rule what most of its readers say and how far the two who read most
    agree (Cohen's κ; None where every mark is the same).
    """
    verdicts = list(verdicts)
    readers = Counter(verdict.reader for verdict in verdicts)
    two = sorted(readers, key=lambda reader: (-readers[reader], reader))[:2]
    rules: dict[str, list[list[Verdict]]] = defaultdict(list)
    for name, own in sorted(by_product(verdicts).items()):
        rule = _RULE.fullmatch(name)
        rules["other" if rule is None else rule[1]].append(own)
    ordered = dict(sorted(rules.items(), key=lambda item: (not item[0].isdigit(), item[0].zfill(9))))
    everything = [own for products in rules.values() for own in products]
    return {
        "readers": dict(sorted(readers.items())),
        "rules": {rule: _facts(products, two) for rule, products in {**ordered, "all": everything}.items()},
    }


def _facts(products: Sequence[Sequence[Verdict]], two: Sequence[str]) -> dict[str, Any]:
    def share(mark: Callable[[Verdict], bool]) -> float:
        return sum(_most(map(mark, own)) is True for own in products) / len(products)

    def kappa(mark: Callable[[Verdict], bool]) -> float | None:
        table = [[0, 0], [0, 0]]
        for own in products:
            marks = {verdict.reader: mark(verdict) for verdict in own if verdict.reader in two}
            if len(marks) == 2:
                table[marks[two[0]]][marks[two[1]]] += 1
        return cohen_kappa(table).value if any(map(any, table)) else None

    return {
        "read": len(products),
        "valid": share(lambda verdict: verdict.valid),
        "qualified": share(lambda verdict: verdict.qualified),
        "label": share(lambda verdict: verdict.label),
        "kappa_valid": kappa(lambda verdict: verdict.valid),
        "kappa_qualified": kappa(lambda verdict: verdict.qualified),
    }


def reading_rows(facts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """One row per rule as in `READING_COLUMNS`, and one of all."""
    rows = []
    for rule, entry in facts["rules"].items():
        shares = (f"{entry[mark]:.1%}" for mark in MARKS)
        kappas = (entry["kappa_valid"], entry["kappa_qualified"])
        rows.append((rule, f"{entry['read']:,}", *shares, *("–" if k is None else f"{k:.2f}" for k in kappas)))
    return rows

"""Published synthetic sets: a corpus, options, what readers said of each product, and the bytes that come out.

The paper's SD was proofread by hand (§V-A). The verdicts of our readers are shipped, without any text, so that
everybody who has the corpus can build exactly the same set.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from comdiv.errors import ComdivError, unknown_name
from comdiv.expression import format_number, to_infix
from comdiv.files import file_sha256, write_json_lines
from comdiv.loading import read_json_lines
from comdiv.problem import Problem, write_problems
from comdiv.reading import read
from comdiv.synthesis.assembly import Assembly, SynthesisOptions, assemble
from comdiv.synthesis.products import Family, Product, draw_of
from comdiv.synthesis.seeds import Tale

_FOLDER = "verdicts"
_SHOWN = 3
_KEY = 12  # characters


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


def read_verdicts(path: Path) -> tuple[Verdict, ...]:
    """The verdicts of a JSON Lines file; a line that is none, or a second one of the same reader, is an error."""
    verdicts: dict[tuple[str, str], Verdict] = {}
    for number, record in read_json_lines(path):
        try:
            marks = {name: record[name] for name in ("valid", "qualified", "label")}
            verdict = Verdict(str(record["id"]), str(record["reader"]), **marks, reason=str(record.get("reason", "")))
        except (KeyError, TypeError) as error:
            raise ComdivError(f"{path}, line {number}: not a verdict: {error} is missing") from error
        if not all(isinstance(mark, bool) for mark in marks.values()):
            raise ComdivError(f"{path}, line {number}: valid, qualified and label are true or false")
        if (verdict.id, verdict.reader) in verdicts:
            raise ComdivError(f"{path}, line {number}: {verdict.reader} has said something of '{verdict.id}' before")
        verdicts[verdict.id, verdict.reader] = verdict
    return tuple(verdicts.values())


def decide(verdicts: Iterable[Verdict], fewest: int = 2) -> dict[str, bool]:
    """Whether each product is good, as most of its readers say; with fewer than `fewest` or a tie: no decision."""
    by_id: dict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts:
        by_id[verdict.id].append(verdict.good)
    return {
        name: 2 * sum(marks) > len(marks)
        for name, marks in by_id.items()
        if len(marks) >= fewest and 2 * sum(marks) != len(marks)
    }


def write_queue(path: Path, products: Iterable[Product]) -> int:
    """Write what readers get, shuffled and blind: a key, the text, the expression in numbers, the answer.

    A key tells nothing of the rule or the seed; `FILE.keys` beside it, for the organiser, says whose id it stands for.
    """
    entries = sorted(((draw_of(product.id)[:_KEY], product) for product in products), key=lambda entry: entry[0])
    write_json_lines(path.with_name(f"{path.name}.keys"), ({"key": key, "id": each.id} for key, each in entries))
    return write_json_lines(path, (_queued(key, product.tale) for key, product in entries))


def _queued(key: str, tale: Tale) -> dict[str, str]:
    problem = tale.problem
    assert problem.expression is not None  # a product has both
    assert problem.answer is not None
    expression = to_infix(problem.expression, lambda index: tale.quantities[index].text)
    return {"id": key, "text": tale.text, "expression": expression, "answer": format_number(problem.answer)}


class Release(BaseModel):
    """A set that has a name and a version. `read`: only what readers found good stands in it; else only what they
    rejected is left out. `unread`: with frames whose products nobody has read. `beside`: another set whose seeds are
    left to it. `files` are the hashes of its parts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    version: str
    corpus: str
    language: str
    verdicts: str
    read: bool
    unread: bool = False
    beside: str | None = None
    settings: dict[str, Any] = {}
    files: dict[str, str] = {}

    @cached_property
    def options(self) -> SynthesisOptions:
        """How the set is assembled."""
        return SynthesisOptions.checked(**self.settings)

    @cached_property
    def decisions(self) -> dict[str, bool]:
        """Whether each product that was read is good."""
        with as_file(files("comdiv.synthesis").joinpath(_FOLDER, self.verdicts)) as path:
            return decide(read_verdicts(path))

    def standing(self, family: Family) -> Family | None:
        """The family with the products that may stand in the set; None without any."""
        products = tuple(p for p in family.products if self.decisions.get(p.id, not self.read))
        return replace(family, products=products) if products else None

    def select(self, families: Iterable[Family]) -> list[Family]:
        """The families that may stand in the set."""
        families = list(families)
        self._check_complete(families)
        taken: set[str] = set()
        if self.beside is not None:
            other = find_release(self.beside)
            taken = _seeds(assemble(other.select(families), other.options))
        standing = (self.standing(family) for family in families)
        return [f for f in standing if f is not None and not {f.seed.id, f.seed.entry.mask} & taken]

    def _check_complete(self, families: Iterable[Family]) -> None:
        """Refuse a corpus from which not everything that was read can be made: it is another version."""
        there = {product.id for family in families for product in family.products}
        missing = sorted(name for name, good in self.decisions.items() if good and name not in there)
        if missing:
            shown = ", ".join(missing[:_SHOWN]) + (" …" if len(missing) > _SHOWN else "")
            raise ComdivError(
                f"{self.name} {self.version} needs the version of {self.corpus} that it was read on: of its "
                f"{len(self.decisions):,} products, {len(missing):,} cannot be made from this one ({shown}); an id "
                "begins with that of the problem whose text differs or is missing"
            )

    def check_parts(self, parts: Mapping[str, Iterable[Problem]]) -> None:
        """Refuse parts whose bytes would not be the published ones."""
        with tempfile.TemporaryDirectory() as name:
            paths = {f"{part}.jsonl": Path(name) / f"{part}.jsonl" for part in parts}
            for path, problems in zip(paths.values(), parts.values(), strict=True):
                write_problems(path, problems)
            different = [part for part, known in self.files.items() if file_sha256(paths[part]) != known]
        if different:
            raise ComdivError(
                f"{self.name} {self.version}: {' and '.join(different)} would differ from the published files: this "
                f"is another version of {self.corpus} or of comdiv"
            )


def _seeds(assembly: Assembly) -> set[str]:
    """The ids and masked texts of the seeds of a set."""
    problems = (*assembly.training, *assembly.test)
    ids = {str(problem.provenance.details.get("seed", problem.id)) for problem in problems}
    return ids | {read(problem).mask for problem in problems}


@cache
def releases() -> Mapping[str, Release]:
    """The published sets by name."""
    text = files("comdiv.synthesis").joinpath("releases.yaml").read_text(encoding="utf-8")
    return {name: Release(name=name, **record) for name, record in yaml.safe_load(text).items()}


def find_release(name: str) -> Release:
    """The published set of that name, or an error that suggests the nearest."""
    if name not in releases():
        raise unknown_name("published set", name, releases())
    return releases()[name]

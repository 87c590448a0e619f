"""Published synthetic sets: a corpus, options, readers' verdicts on each product, and hashes of the result.

The paper's SD was proofread by hand (§V-A). Our readers' verdicts are shipped without any text, so that everybody who
has the corpus can build exactly the same set.
"""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from comdiv.errors import ComdivError, unknown_name
from comdiv.files import file_sha256
from comdiv.problem import Problem, write_problems
from comdiv.reading import read
from comdiv.synthesis.assembly import Assembly, SynthesisOptions, assemble
from comdiv.synthesis.products import Family
from comdiv.synthesis.readers import Verdict, decide, read_verdicts

_FOLDER = "verdicts"
_SHOWN = 3


def standing(family: Family, decisions: Mapping[str, bool], *, unread: bool) -> Family | None:
    """The family with the products that readers found good, and with those that they did not read if `unread`; None
    without any.
    """
    products = tuple(product for product in family.products if decisions.get(product.id, unread))
    return replace(family, products=products) if products else None


class Release(BaseModel):
    """A set with a name and a version. `read`: it has only products that readers approved; otherwise only rejected ones
    are left out. `unread`: frames whose products two readers have not read are used, too. `screen`: a single reader's
    verdicts on more products; what is not valid to it, or asks for something else than its label, is left out, however
    well it reads. `beside`: another set, whose seeds this one does not use. `files` are the hashes of its parts.
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
    screen: str | None = None
    beside: str | None = None
    settings: dict[str, Any] = {}
    files: dict[str, str] = {}

    @cached_property
    def options(self) -> SynthesisOptions:
        """How the set is assembled."""
        return SynthesisOptions.checked(**self.settings)

    @cached_property
    def said(self) -> tuple[Verdict, ...]:
        """Its readers' verdicts, without the screen's."""
        return _shipped(self.verdicts)

    @cached_property
    def decisions(self) -> dict[str, bool]:
        """Whether each product that was read may stand: good to most of its readers, or not rejected by the screen."""
        screened = () if self.screen is None else _shipped(self.screen)
        return {**{verdict.id: verdict.valid and verdict.label for verdict in screened}, **decide(self.said)}

    def select(self, families: Iterable[Family]) -> list[Family]:
        """The families that may enter the set."""
        families = list(families)
        self._check_complete(families)
        taken: set[str] = set()
        if self.beside is not None:
            other = find_release(self.beside)
            taken = _seeds(assemble(other.select(families), other.options))
        allowed = (standing(family, self.decisions, unread=not self.read) for family in families)
        return [f for f in allowed if f is not None and not {f.seed.id, f.seed.entry.mask} & taken]

    def _check_complete(self, families: Iterable[Family]) -> None:
        """Refuse a corpus that does not give every product with verdicts: it is another version."""
        there = {product.id for family in families for product in family.products}
        missing = sorted(name for name, good in self.decisions.items() if good and name not in there)
        if missing:
            examples = ", ".join(missing[:_SHOWN]) + (" …" if len(missing) > _SHOWN else "")
            raise ComdivError(
                f"{self.name} {self.version} needs the version of {self.corpus} that its readers had: of its "
                f"{len(self.decisions):,} products, {len(missing):,} cannot be made from this one ({examples}); an id "
                "begins with that of the problem whose text differs or is missing"
            )

    def check_parts(self, parts: Mapping[str, Iterable[Problem]]) -> None:
        """Refuse parts whose bytes differ from the published ones."""
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


def _shipped(name: str) -> tuple[Verdict, ...]:
    """The verdicts of a file beside this module."""
    with as_file(files("comdiv.synthesis").joinpath(_FOLDER, name)) as path:
        return read_verdicts(path)


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

"""Under which terms an export may be passed on: the licence of the corpus that its problems came from."""

from collections.abc import Iterable
from dataclasses import dataclass

from comdiv.corpora import DEMO_CORPORA
from comdiv.corpora.published import PUBLISHED_CORPORA
from comdiv.problem import Problem

# What the registry writes → what the Hugging Face hub calls it
_HUB_NAMES = {"Apache-2.0": "apache-2.0", "MIT": "mit", "CC BY-NC 4.0": "cc-by-nc-4.0", "CC BY 4.0": "cc-by-4.0"}


@dataclass(frozen=True, slots=True)
class Source:
    """A corpus that problems came from: `licence` is empty where its authors state none, or we do not know it."""

    corpus: str
    licence: str
    citation: str

    def __str__(self) -> str:
        licence = f"licence: {self.licence}" if self.licence else "no licence known"
        return ". ".join(filter(None, [f"{self.corpus} ({licence})", self.citation]))


def find_sources(problems: Iterable[Problem], named: Iterable[str] = ()) -> list[Source]:
    """The corpora named in the problems' provenance (and besides), by name, without repetition."""
    names = {problem.provenance.corpus for problem in problems} | set(named)
    return [_source(name) for name in sorted(names - {""})]


def _source(name: str) -> Source:
    if name in DEMO_CORPORA:
        return Source(name, "Apache-2.0", "bundled with comdiv, made by code from original scenarios")
    published = PUBLISHED_CORPORA.get(name)
    if published is None:
        return Source(name, "", "")
    stated = "" if published.licence.startswith("none stated") else published.licence
    return Source(name, stated, published.citation)


def hub_licence(sources: Iterable[Source], said: str | None = None) -> str | None:
    """The licence as the hub writes it: the user's word, else the sources' one; None where they differ or say none."""
    if said is not None:
        return _HUB_NAMES.get(said, said)
    licences = {source.licence.partition(" (")[0] for source in sources}
    return _HUB_NAMES.get(licences.pop()) if len(licences) == 1 else None

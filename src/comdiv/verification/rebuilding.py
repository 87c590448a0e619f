"""Published datasets rebuilt from the user's corpora: a split from the ids of its test problems, without a search.

Texts of corpora are not published, so that hashes and divergences can be checked only where the corpus is.
"""

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from comdiv.corpora import Corpus
from comdiv.dataset import FACTS, read_dataset, read_facts, write_dataset
from comdiv.errors import ComdivError
from comdiv.experiments.cell import Cell, PlanResults
from comdiv.experiments.keys import baseline
from comdiv.experiments.work import Workplace, within_corpus, work
from comdiv.files import path_part
from comdiv.solver import Progress
from comdiv.splitting.extraction import ExtractionSettings, extract
from comdiv.splitting.id_lists import membership
from comdiv.splitting.measurement import Measurement
from comdiv.splitting.methods import SplitSettings
from comdiv.splitting.outputs import build_dataset, corpus_facts
from comdiv.synthesis import SynthesisOptions
from comdiv.verification import ledger as kinds
from comdiv.verification.folders import find_corpus
from comdiv.verification.ledger import Ledger

_NOT_MEASURED = ("versions", "files", "source", "settings", "made_by")


def check_rebuilt(ledger: Ledger, plans: Sequence[PlanResults], progress: Progress) -> None:
    """Every published dataset whose corpus is here: its source, the hashes of its parts, its divergences."""
    cells = {cell.key: (plan, cell) for plan in plans for cell in plan.of_kind("dataset") if cell.status == "done"}
    with tempfile.TemporaryDirectory() as temporary:
        for number, (plan, cell) in enumerate(_needs_first(cells)):
            progress("rebuilding datasets", number, len(cells), cell.label)
            try:
                folder = Path(temporary) / path_part(cell.key, "the cell key")
                why = _rebuild(cell, folder, progress)
            except ComdivError as error:
                why = str(error)
            if why:
                ledger.skip(kinds.PARTS, f"{cell.label}: {why}")
            else:
                _compare(ledger, plan.path, cell, folder / "dataset")


def _needs_first(cells: dict[str, tuple[PlanResults, Cell]]) -> list[tuple[PlanResults, Cell]]:
    return sorted(cells.values(), key=lambda entry: len(entry[1].needs))  # a dataset needs at most another one


def _rebuild(cell: Cell, folder: Path, progress: Progress) -> str:
    """Rebuild a dataset in a folder; returns why it cannot be rebuilt, or an empty text."""
    if unknown := sorted(cell.recipe.keys() - {"corpus", "split", "synthesize", "within"}):
        return f"its recipe has {', '.join(unknown)}"
    needs = tuple(folder.parent / path_part(key, "the cell key") for key in cell.needs)
    if any(not (need / "dataset" / FACTS).is_file() for need in needs):
        return "the dataset that it is made from could not be rebuilt"
    if "corpus" in cell.recipe:
        corpus, why = _corpus(cell.recipe["corpus"]["name"], cell.recipe["corpus"]["version"])
        if corpus is None:
            return why
    else:
        corpus = within_corpus(read_dataset(needs[0] / "dataset"))
    published = {} if cell.details is None else cell.details.dataset()
    settings = published.get("settings", {})
    if "synthesize" in cell.recipe:
        if unknown := sorted(settings.keys() - {"extraction"} - SynthesisOptions.model_fields.keys()):
            return f"this version synthesizes differently: it has no option {', '.join(unknown)}"
        options = {**baseline()["dataset"]["synthesize"], **cell.recipe["synthesize"]}
        known = {name: value for name, value in options.items() if name in SynthesisOptions.model_fields}
        recipe = {**cell.recipe, "synthesize": known, "files": {}}
        work("dataset", recipe, Workplace(folder, needs, {"corpus": corpus.name}, progress))
        return ""
    ids = frozenset() if cell.details is None else frozenset(cell.details.test_ids())
    if not ids:
        return "the ids of its test problems are not published"
    known = {**settings, "extraction": ExtractionSettings.recorded(published)}
    _split(corpus, ids, SplitSettings.checked(**known), folder / "dataset")
    return ""


@lru_cache(maxsize=1)
def _corpus(name: str, version: str) -> tuple[Corpus | None, str]:
    return find_corpus(name, version)


def _split(corpus: Corpus, ids: frozenset[str], settings: SplitSettings, folder: Path) -> None:
    extraction = extract(corpus.problems, window=settings.extraction.window)
    dataset, _ = build_dataset(extraction, membership(extraction.problems, ids), settings, corpus_facts(corpus))
    write_dataset(folder, dataset, title=corpus.name)


def _compare(ledger: Ledger, file: Path, cell: Cell, folder: Path) -> None:
    facts, published = read_facts(folder), {} if cell.details is None else dict(cell.details.dataset())
    ledger.same(kinds.PARTS, file, f"{cell.label}: source", facts["source"], published["source"])
    for part, entry in facts["files"].items():
        recorded = cell.origin["originals"].get(f"dataset/{part}")
        ledger.same(kinds.PARTS, file, f"{cell.label}: {part}", entry["sha256"], recorded)
    recorded = {name: value for name, value in published.items() if name not in _NOT_MEASURED}
    comparable = {name: value for name, value in facts.items() if name in recorded or name in Measurement.always_told()}
    ledger.same(kinds.DIVERGENCES, file, cell.label, comparable, recorded)

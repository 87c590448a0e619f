"""The studio on one dataset: Explore, Dataset, Solve and Proofread as one application."""

import getpass
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import RedirectResponse

from comdiv.corpora import Corpus
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus
from comdiv.errors import ComdivError
from comdiv.observer import SILENT, Observer
from comdiv.review import ReviewLog
from comdiv.studio.clusters import ClusterMap, map_clusters
from comdiv.studio.library import Library, LibraryEntry
from comdiv.studio.pages import new_application
from comdiv.studio.shelf import Shelf
from comdiv.synthesis.readers import key_of


@dataclass(frozen=True)
class Studio:
    """What the pages share: the problems, their clusters, people's decisions and the trained solvers."""

    library: Library
    cluster_map: ClusterMap | None
    review: ReviewLog
    shelf: Shelf = field(default_factory=Shelf)
    reviewer: str = ""
    blind: bool = False  # readers see neither each other's decisions nor where a problem comes from

    def names(self, entry: LibraryEntry) -> dict[str, str]:
        """How addresses and forms name a problem: to a blind reader by a key, since id and part tell its origin."""
        if self.blind:
            return {"id": key_of(entry.problem.id)}
        return {"id": entry.problem.id, "part": entry.part}

    def find(self, name: str, part: str = "") -> LibraryEntry | None:
        """The problem that `names` names so."""
        return self._by_key.get(name) if self.blind else self.library.find(name, part)

    @cached_property
    def _by_key(self) -> Mapping[str, LibraryEntry]:
        return {key_of(entry.problem.id): entry for entry in self.library.entries}


def open_studio(
    source: str,
    runs: Path,
    sources: Sequence[str] = (),
    reviewer: str = "",
    *,
    reader: str = "",
    programs: bool = False,
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
) -> Studio:
    """Read the problems and the corpora of their parents, and cluster the quantities.

    A `reader` proofreads blind, in a file of their own beside the dataset; the halves of a seed are apart.
    `reading` says how to read the user's own table; the corpora of parents are read with the defaults.
    """

    def read_part(path: str | Path) -> Corpus:
        corpus = load_corpus(path, reading if str(path) == source else AS_IT_COMES, observer)
        return _shuffled(corpus) if reader else corpus

    library = Library.read(source, sources, read_part)
    observer.note(f"clustering the quantities of {len(library.entries):,} problems")
    cluster_map = map_clusters(library, lambda items: observer.tracked(items, "contexts", len(library.entries)))
    shelf = Shelf(runs, programs=programs)
    path = library.review.with_name(f"{library.review.stem}-{_file_name(reader)}.jsonl") if reader else library.review
    return Studio(library, cluster_map, ReviewLog(path), shelf, reader or reviewer or getpass.getuser(), bool(reader))


def _shuffled(corpus: Corpus) -> Corpus:
    """The problems in an order that tells nothing, the same for every reader."""
    return replace(corpus, problems=tuple(sorted(corpus.problems, key=lambda problem: key_of(problem.id))))


def _file_name(reader: str) -> str:
    """The reader's name where it becomes part of a file's name."""
    if not re.fullmatch(r"\w[\w.-]{0,40}", reader):
        raise ComdivError(f"the reader's name '{reader}' must consist of letters, digits, dots and hyphens")
    return reader


def studio_app(studio: Studio) -> FastAPI:
    """The application; whoever serves it must wrap it in a `security.Guard`. A blind reader gets Proofread alone: the
    other pages tell where a problem comes from.
    """
    from comdiv.studio.dataset_page import add_dataset
    from comdiv.studio.explore import add_explore
    from comdiv.studio.proofread import add_proofread
    from comdiv.studio.solve_page import add_solve

    app = new_application()
    add_proofread(app, studio)
    if studio.blind:
        app.add_api_route("/", lambda: RedirectResponse("/proofread"), response_class=RedirectResponse)
        return app
    add_explore(app, studio)
    add_dataset(app, studio)
    add_solve(app, studio)
    return app

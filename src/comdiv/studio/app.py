"""The studio on one dataset: Explore, Dataset, Solve and Proofread as one application."""

import getpass
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import RedirectResponse

from comdiv.corpora import Corpus
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus
from comdiv.errors import ComdivError
from comdiv.observer import SILENT, Observer
from comdiv.review import ReviewLog
from comdiv.studio.clusters import ClusterMap, map_clusters
from comdiv.studio.library import Library
from comdiv.studio.pages import new_application
from comdiv.studio.shelf import Shelf


@dataclass(frozen=True)
class Studio:
    """What the pages share: the problems, their clusters, people's decisions and the trained solvers."""

    library: Library
    cluster_map: ClusterMap | None
    review: ReviewLog
    shelf: Shelf = field(default_factory=Shelf)
    reviewer: str = ""
    blind: bool = False  # readers see neither each other's decisions nor where a problem comes from


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
    order = sorted(corpus.problems, key=lambda problem: hashlib.sha256(problem.id.encode()).digest())
    return replace(corpus, problems=tuple(order))


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

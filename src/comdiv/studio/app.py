"""The studio on one dataset: Explore, Dataset, Solve and Proofread as one application."""

from dataclasses import dataclass, field

from fastapi import FastAPI

from comdiv.review import ReviewLog
from comdiv.studio.clusters import ClusterMap
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


def studio_app(studio: Studio) -> FastAPI:
    """The application; whoever serves it puts a `security.Guard` around it."""
    from comdiv.studio.dataset_page import add_dataset
    from comdiv.studio.explore import add_explore
    from comdiv.studio.proofread import add_proofread
    from comdiv.studio.solve_page import add_solve

    app = new_application()
    add_explore(app, studio)
    add_dataset(app, studio)
    add_solve(app, studio)
    add_proofread(app, studio)
    return app

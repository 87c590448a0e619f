"""`comdiv studio`: a dataset in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_note, tracked
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.studio.app import Studio

USUAL_PORT = 8421

HostOption = Annotated[
    str, typer.Option(help="Address to listen on; anything but this machine needs the link that is printed.")
]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]


def studio(
    source: Annotated[
        str, typer.Argument(metavar="FOLDER", help="A dataset folder; a file or a corpus's name does, too.")
    ],
    runs: Annotated[Path, typer.Option(help="Folder with trained solvers for the Solve page.")] = Path("runs"),
    sources: Annotated[
        list[str] | None, typer.Option("--source", help="Corpus that parents and donors come from; may be repeated.")
    ] = None,
    reviewer: Annotated[str, typer.Option(help="Your name in review.jsonl; your user name otherwise.")] = "",
    programs: Annotated[
        bool, typer.Option("--programs", help="Offer runs of command: solvers, too: solving runs their programs.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"Port; {USUAL_PORT} or the next free one otherwise.")
    ] = None,
    open_page: OpenOption = False,
) -> None:
    """Look at a dataset's problems, solve and proofread them, in the browser."""
    need_studio()
    from comdiv.studio import server
    from comdiv.studio.app import studio_app

    made = load_studio(source, runs, sources or [], reviewer, programs=programs)
    listener = server.listen(host, port, USUAL_PORT)
    token = None if listener.is_local else server.new_token()
    address = server.with_token(listener.address, token)
    app = server.guarded(studio_app(made), listener, token)

    def ready() -> None:
        output_console().print(f"{made.library.name} is open at {address}", soft_wrap=True, markup=False)
        print_note("Ctrl+C stops it.")

    server.serve(app, listener, open_at=address if open_page else None, ready=ready)


def need_studio() -> None:
    """Say in one line what to install, before anything is read."""
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "uvicorn", "python_multipart") if find_spec(name) is None]
    if missing:
        raise ComdivError(f"the pages need {' and '.join(missing)}: pip install 'comdiv[studio]'")


def load_studio(source: str, runs: Path, sources: list[str], reviewer: str, *, programs: bool) -> "Studio":
    """Read the problems and cluster their quantities, with progress."""
    import getpass

    from comdiv.cli.corpus import load_corpus
    from comdiv.review import ReviewLog
    from comdiv.studio.app import Studio
    from comdiv.studio.clusters import map_clusters
    from comdiv.studio.library import Library
    from comdiv.studio.shelf import Shelf

    library = Library.read(source, sources, lambda path: load_corpus(str(path)))
    print_note(f"clustering the quantities of {len(library.entries):,} problems")
    cluster_map = map_clusters(library, lambda items: tracked(items, "contexts", len(library.entries)))
    return Studio(
        library, cluster_map, ReviewLog(library.review), Shelf(runs, programs=programs), reviewer or getpass.getuser()
    )

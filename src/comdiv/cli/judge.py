"""`comdiv judge`: two or more people mark the same sample, blind to each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import output_console, print_note
from comdiv.cli.corpus import load_corpus
from comdiv.cli.studio import HostOption, need_studio
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.problem import Problem
    from comdiv.studio.session import JudgingSession

USUAL_PORT = 8431


def judge(
    source: Annotated[str, typer.Argument(metavar="FILE", help="The problems: a file, a dataset folder, a corpus.")],
    judges: Annotated[
        list[str] | None, typer.Option("--judge", help="A judge's name; at least two, one option each.")
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="How many problems, drawn at random.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the session; judging-NAME otherwise. The same folder goes on.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw from all problems, not only from those that a rule or operation made.")
    ] = False,
    text_only: Annotated[
        bool, typer.Option("--text-only", help="Hide expressions and answers from the judges.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"Port; {USUAL_PORT} or the next free one otherwise.")
    ] = None,
) -> None:
    """Have people mark problems on grammar, fluency and logic (§V-D); afterwards: shares, κ, disagreements."""
    need_studio()
    from comdiv.studio import server
    from comdiv.studio.judge_pages import judging_app, write_results

    session = open_session(source, judges or [], sample, seed, out, everything=everything)
    listener = server.listen(host, port, USUAL_PORT)
    app = server.guarded(judging_app(session, with_solution=not text_only), listener, secret_links=True)
    if session.is_over:
        write_results(session)

    def ready() -> None:
        console = output_console()
        for one in session.judges():
            state = "finished" if one.finished else f"{one.marked} of {session.size} marked"
            console.print(f"{one.name} ({state}): {listener.address}/judge/{one.secret}", soft_wrap=True, markup=False)
        overview = f"progress and results: {listener.address}/overview/{session.organiser}"
        console.print(overview, soft_wrap=True, markup=False)
        print_note(f"Every mark is kept in {session.path}; Ctrl+C stops, the same command goes on.")

    server.serve(app, listener, ready=ready)


def open_session(
    source: str, judges: list[str], sample: int, seed: int, out: Path | None, *, everything: bool
) -> "JudgingSession":
    """The session of a folder: a new one, or the one that is there if it is about the same sample."""
    from comdiv.studio.session import DATABASE, JudgingSession, sample_problems

    corpus = load_corpus(source)
    path = (out or Path(f"judging-{corpus.name}")) / DATABASE
    problems = _products(corpus.problems, everything)
    wanted = {"corpus": corpus.name, "version": corpus.version, "sample": sample, "seed": seed, "of": len(problems)}
    if not path.exists():
        return JudgingSession.create(path, sample_problems(problems, sample, seed), judges, wanted)
    session = JudgingSession(path)
    for key, value in wanted.items():
        if session.facts.get(key) != value:
            raise ComdivError(
                f"{path.parent} is a session with {key} {session.facts.get(key)}, not {value}: choose another --out"
            )
    known = [one.name for one in session.judges()]
    for name in judges:
        if name not in known:
            session.add_judge(name)
            print_note(f"{name} joins the session")
    return session


def _products(problems: "tuple[Problem, ...]", everything: bool) -> "list[Problem]":
    """What a rule or operation made, where there is any: the paper judges augmented problems, not their originals."""
    made = [problem for problem in problems if problem.provenance.is_product]
    if not made or everything:
        return list(problems)
    print_note(f"drawing from {len(made):,} products of rules and operations; --all draws from all {len(problems):,}")
    return made

"""The verbs for people: `comdiv studio`, `comdiv judge`, `comdiv agreement`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json, print_note
from comdiv.cli.options import READING, JsonOption, takes
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from rich.table import Table

    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.evaluation.judgements import Judgement
    from comdiv.evaluation.kappa import Agreement, Kappa

STUDIO_PORT, JUDGING_PORT = 8421, 8431

HostOption = Annotated[str, typer.Option(help="Address to listen on; other machines need the link that is printed.")]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]


def _port_option(usual: int) -> Any:
    return typer.Option(min=0, max=65535, help=f"Port; by default {usual} or the next free one.")


@takes(reading=READING)
def studio(
    source: Annotated[str, typer.Argument(metavar="FOLDER", help="A dataset folder, a file or a corpus's name.")],
    reading: "CorpusOptions",
    runs: Annotated[Path, typer.Option(help="Folder with trained solvers for the Solve page.")] = Path("runs"),
    sources: Annotated[
        list[str] | None, typer.Option("--source", help="Corpus from which parents come; may be repeated.")
    ] = None,
    reviewer: Annotated[str, typer.Option(help="Your name in review.jsonl; by default your user name.")] = "",
    reader: Annotated[
        str,
        typer.Option(help="Proofread blind under this name: decisions go to review-NAME.jsonl, origins are hidden."),
    ] = "",
    programs: Annotated[
        bool, typer.Option("--programs", help="Also offer runs of command: solvers; solving runs their programs.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[int | None, _port_option(STUDIO_PORT)] = None,
    open_page: OpenOption = False,
) -> None:
    """Look at a dataset's problems, solve and proofread them, in the browser."""
    _need_studio()
    from comdiv.studio import server
    from comdiv.studio.app import open_studio, studio_app

    pages = open_studio(
        source, runs, sources or [], reviewer, reader=reader, programs=programs, reading=reading, observer=TERMINAL
    )
    listener = server.listen(host, port, STUDIO_PORT)
    token = None if listener.is_local else server.new_token()
    address = server.with_token(listener.address, token)
    app = server.guarded(studio_app(pages), listener, token)

    def ready() -> None:
        output_console().print(f"{pages.library.name} is open at {address}", soft_wrap=True, markup=False)
        print_note("Ctrl+C stops it.")

    server.serve(app, listener, open_at=address if open_page else None, ready=ready)


def _need_studio() -> None:
    """If packages are missing, say in one line what to install, before anything is read."""
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "uvicorn", "python_multipart") if find_spec(name) is None]
    if missing:
        raise ComdivError(f"the pages need {' and '.join(missing)}: pip install 'comdiv[studio]'")


@takes(reading=READING)
def judge(
    source: Annotated[str, typer.Argument(metavar="FILE", help="The problems: a file, a dataset folder, a corpus.")],
    reading: "CorpusOptions",
    judges: Annotated[
        list[str] | None, typer.Option("--judge", help="A judge's name; repeat it for each of at least two.")
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="How many problems, drawn at random.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the session, judging-NAME by default; an existing session is continued."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Draw from all problems, not only from those that a rule or operation made.")
    ] = False,
    text_only: Annotated[
        bool, typer.Option("--text-only", help="Hide expressions and answers from the judges.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[int | None, _port_option(JUDGING_PORT)] = None,
) -> None:
    """Have people mark problems on grammar, fluency and logic (§V-D); afterwards: shares, κ, disagreements."""
    _need_studio()
    from comdiv.studio import server
    from comdiv.studio.judge_pages import judging_app, write_results
    from comdiv.studio.session import open_session

    session = open_session(
        source, judges or [], sample, seed, out, everything=everything, reading=reading, observer=TERMINAL
    )
    listener = server.listen(host, port, JUDGING_PORT)
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
        print_note(f"Every mark is kept in {session.path}. Ctrl+C stops; the same command continues.")

    server.serve(app, listener, ready=ready)


def agreement(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="The judges' marks: JSON Lines, CSV or a Label Studio export; one file may hold several. "
            "Or the name of a published set: what those said who read all of it.",
        ),
    ],
    mark: Annotated[
        str | None,
        typer.Option(
            help="The mark of readers' verdicts that counts as good: valid, qualified or label; else all three."
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge", help="Only this judge; may be repeated. Leave out a third who marked only disputed problems."
        ),
    ] = None,
    shown: Annotated[int, typer.Option(min=0, help="How many of the disagreements to list.")] = 20,
    json: JsonOption = False,
) -> None:
    """Shares of good problems with intervals, Cohen's κ (Fleiss' for more than two judges), disagreements (§V-D)."""
    from comdiv.evaluation.kappa import agreement as agreement_of

    result = agreement_of(_of_judges(judges, _judgements(files, mark)))
    if json:
        print_json(result.to_json())
    else:
        _print_agreement(result, shown)


def _judgements(files: list[Path], mark: str | None) -> "tuple[Judgement, ...]":
    """The judgements of files, and of those who read the whole of a published set."""
    from comdiv.evaluation.judgements import Judgement, read_judgement_files
    from comdiv.synthesis.readers import MARKS, of_all
    from comdiv.synthesis.release import releases

    if mark not in (None, *MARKS):
        raise ComdivError(f"--mark is {', '.join(MARKS[:-1])} or {MARKS[-1]}, not '{mark}'")
    published = [releases()[path.name] for path in files if not path.is_file() and str(path) in releases()]
    given = [path for path in files if path.is_file() or str(path) not in releases()]
    said = (verdict for release in published for verdict in of_all(release.said))
    marks = (Judgement(verdict.id, verdict.reader, getattr(verdict, mark or "good")) for verdict in said)
    return (*(read_judgement_files(given, mark) if given else ()), *marks)


def _of_judges(judges: list[str] | None, judgements: "tuple[Judgement, ...]") -> "tuple[Judgement, ...]":
    """Those of the judges that are asked for."""
    known = dict.fromkeys(judgement.judge for judgement in judgements)
    for judge in judges or ():
        if judge not in known:
            raise ComdivError(f"nobody is called '{judge}'; the judges are {', '.join(known)}")
    return tuple(judgement for judgement in judgements if not judges or judgement.judge in judges)


def _print_agreement(agreement: "Agreement", shown: int) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = output_console()
    judges = " and ".join(agreement.judges) if len(agreement.judges) == 2 else ", ".join(agreement.judges)
    console.print(escape(f"{len(agreement.problems):,} problems, judged by {judges}"))
    shares = Table("", *(escape(judge) for judge in agreement.judges), "κ", "95 % interval", "", box=None)
    for criterion in agreement.criteria:
        cells = [f"{share.share:.1%} good" for share in criterion.shares]
        shares.add_row(criterion.criterion, *cells, *_kappa_cells(criterion.kappa))
    console.print(shares)
    for share in agreement.good.shares:
        low, high = share.interval
        console.print(
            escape(f"{share.judge}: {share.good} of {share.n} good, 95 % interval {low:.1%} to {high:.1%}"),
            soft_wrap=True,
        )
    for pair in agreement.good.pairs:
        console.print(_pair_table(pair.judges, pair.table))
        if len(agreement.judges) > 2:
            value, interval, band = _kappa_cells(pair.kappa)
            console.print(f"Cohen's κ {value} ({interval}), {band}")
    _print_disagreements(agreement.disagreements, shown)


def _kappa_cells(kappa: "Kappa") -> tuple[str, str, str]:
    if kappa.value is None:
        return "–", "–", "undefined: all marks are the same"
    interval = "–" if kappa.interval is None else f"{kappa.interval[0]:.2f} to {kappa.interval[1]:.2f}"
    return f"{kappa.value:.3f}", interval, kappa.band


def _pair_table(judges: tuple[str, str], counts: tuple[tuple[int, int], tuple[int, int]]) -> "Table":
    from rich.markup import escape
    from rich.table import Table

    first, second = (escape(judge) for judge in judges)
    table = Table("", f"{second}: good", f"{second}: not good", box=None)
    for word, row in zip(("good", "not good"), counts, strict=True):
        table.add_row(f"{first}: {word}", *(f"{count:,}" for count in row))
    return table


def _print_disagreements(disagreements: "tuple[tuple[Judgement, ...], ...]", shown: int) -> None:
    from rich.markup import escape

    console = output_console()
    console.print(f"{len(disagreements):,} disagreements" + (":" if disagreements and shown else ""))
    for disputed in disagreements[:shown]:
        marks = ", ".join(f"{one.judge} {_verdict(one)}" for one in disputed)
        console.print(escape(f"  {disputed[0].id}: {marks}"), soft_wrap=True)
    if shown and len(disagreements) > shown:
        console.print(f"  … and {len(disagreements) - shown} more: --shown {len(disagreements)}")


def _verdict(judgement: "Judgement") -> str:
    """A judgement in words: good, or what is not."""
    from comdiv.evaluation.judgements import CRITERIA

    if judgement.good:
        return "good"
    wrong = [criterion for criterion in CRITERIA if judgement.mark(criterion) is False]
    return f"not good ({', '.join(wrong)})" if wrong else "not good"

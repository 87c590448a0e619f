"""`comdiv data`: list, download, convert, stats, show, demo."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.claims import owns
from comdiv.cli.console import (
    TERMINAL,
    SuggestingGroup,
    output_console,
    print_json,
    print_line,
    print_note,
    progress_bars,
)
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, Source, VerbCommand, takes
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from fractions import Fraction

    from comdiv.corpora.corpus_options import CorpusOptions

_ALL = Options("comdiv.corpora.corpus_options:CorpusOptions")

data_app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, help="Find, fetch, convert and look at corpora.")


@data_app.command(name="list", epilog="Example: comdiv data list")
def list_corpora(json: JsonOption = False) -> None:
    """List the corpora and published sets known by name, and which are available on this machine."""
    from comdiv.corpora.published import DEMO_CORPORA, PUBLISHED_CORPORA, data_folders, find_corpus_files
    from comdiv.synthesis.release import releases

    data_folders()  # a wrong COMDIV_DATA is an error, not an empty list
    rows = [
        {"name": name, "title": "bundled demo corpus", "language": code, "licence": "Apache-2.0", "here": True}
        for name, code in DEMO_CORPORA.items()
    ]
    for corpus in PUBLISHED_CORPORA.values():
        try:
            here = bool(find_corpus_files(corpus.name))
        except ComdivError:
            here = False
        rows.append(
            {
                "name": corpus.name,
                "title": corpus.title,
                "language": corpus.language,
                "licence": corpus.licence,
                "here": here,
            }
        )
    for release in releases().values():
        here = any(row["here"] for row in rows if row["name"] == release.corpus)
        title = f"{release.version}, {release.title}: comdiv synthesize {release.corpus} --release {release.name}"
        rows.append(
            {
                "name": release.name,
                "title": title,
                "language": release.language,
                "licence": f"that of {release.corpus}",
                "here": here,
            }
        )
    if json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table("name", "corpus", "language", "licence", "here", box=None, header_style="bold")
    for row in rows:
        table.add_row(
            *(str(row[key]) for key in ("name", "title", "language", "licence")), "yes" if row["here"] else "–"
        )
    output_console().print(table)
    print_note("Fetch one with: comdiv data download NAME. Set COMDIV_DATA to use a folder of your own.")


@data_app.command(epilog="Example: comdiv data download svamp mawps --mirror https://mirror.example.org/raw")
def download(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Corpora from `comdiv data list`.")],
    mirror: Annotated[
        str | None, typer.Option(help="A server with the same files, if the original one is blocked.")
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Folder; by default COMDIV_DATA or the user's data folder.")] = None,
) -> None:
    """Download published corpora, verified by hash; an interrupted download is resumed."""
    from comdiv.corpora.download import download as fetch
    from comdiv.corpora.published import PublishedFile, data_folders, published_corpus

    corpora = [published_corpus(name) for name in names]  # all names are checked before anything is fetched
    folder = to or data_folders()[0]
    with progress_bars() as progress:
        for corpus in corpora:
            print_note(corpus.notice)
            tasks = {file.path: progress.add_task(file.filename, total=None, note="bytes") for file in corpus.files}

            def show(file: PublishedFile, done: int, total: int | None, tasks: dict[str, int] = tasks) -> None:  # type: ignore[assignment]
                progress.update(tasks[file.path], completed=done, total=total)  # type: ignore[arg-type]

            paths = fetch(corpus, folder, mirror=mirror, progress=show)
            for path in paths:
                print_line(path)


@data_app.command(
    cls=VerbCommand,
    epilog="Examples: comdiv data convert mine.csv --text question --equation formula --answer result --to mine.jsonl; "
    "comdiv data convert hf:openai/gsm8k/main#test --to gsm8k-test.jsonl",
)
@takes(reading=_ALL)
@owns("to")
def convert(
    source: Source,
    to: Annotated[Path, typer.Option("--to", help="The JSON Lines file to write.")],
    reading: "CorpusOptions",
    force: ForceOption = False,
) -> None:
    """Convert a corpus in any format to comdiv's JSON Lines."""
    from comdiv.corpora.corpus_options import note_complaints, open_source
    from comdiv.files import refuse_to_overwrite
    from comdiv.problem import write_problems

    refuse_to_overwrite(to, force=force)
    _, _, problems, report = open_source(source, reading)
    count = write_problems(to, TERMINAL.tracked(problems, "converting"))
    note_complaints(report, TERMINAL)
    print_line(f"{to}: {count} problems of {report.records} records")


@data_app.command(
    cls=VerbCommand, epilog="Examples: comdiv data stats math23k --json; comdiv data stats mawps --tolerance 0.01"
)
@takes(reading=_ALL)
def stats(
    source: Source,
    reading: "CorpusOptions",
    tolerance: Annotated[
        str, typer.Option(help="Relative difference between an answer and its equation's value that still agrees.")
    ] = "0.0001",
    json: JsonOption = False,
) -> None:
    """Count what is in a corpus: problems, expressions that agree with their answers, templates, twins."""
    from comdiv.corpora import corpus_statistics
    from comdiv.corpora.corpus_options import note_complaints, open_source

    allowed = _tolerance(tolerance)
    name, version, problems, report = open_source(source, reading)
    statistics = corpus_statistics(TERMINAL.tracked(problems, "counting"), report, allowed).to_json()
    if json:
        complaints = [str(complaint) for complaint in (*report.not_expressible, *report.unreadable)]
        print_json({"corpus": name, "version": version, **statistics, "complaints": complaints})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"{name} ({version})"), show_header=False, box=None, title_justify="left")
    for key, value in statistics.items():
        if key in ("disagreeing", "contradicting"):
            shown = (
                f"{len(value)} problems{': ' + ', '.join(value[:8]) if value else ''}{' …' if len(value) > 8 else ''}"
            )
        elif key == "most_frequent_templates":
            shown = "   ".join(f"{template} ×{count}" for template, count in value)
        elif isinstance(value, dict):
            shown = "   ".join(f"{name}: {count}" for name, count in value.items())
        else:
            shown = ", ".join(value) if isinstance(value, tuple) else f"{value:,}"
        table.add_row(key.replace("_", " "), Text(shown))
    output_console().print(table)
    note_complaints(report, TERMINAL)


def _tolerance(text: str) -> "Fraction":
    from comdiv.expression import ExpressionError, parse_answer

    try:
        value = parse_answer(text)
    except ExpressionError as error:
        raise ComdivError(f"--tolerance {text}: {error}") from error
    if not 0 <= value < 1:
        raise ComdivError(f"--tolerance {text}: it must be a share of the answer, at least 0 and below 1")
    return value


@data_app.command(cls=VerbCommand, epilog="Example: comdiv data show demo-zh --limit 2")
@takes(reading=READING)
def show(
    source: Source,
    reading: "CorpusOptions",
    ids: Annotated[list[str] | None, typer.Option("--id", help="Only the problems with these ids.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, if no id is given.")] = 5,
    json: JsonOption = False,
) -> None:
    """Show problems: quantities in colour, the expression as a tree, and where they came from."""
    from itertools import islice

    from comdiv.cli.render import problem_view
    from comdiv.corpora.corpus_options import note_complaints, open_source

    _, _, problems, report = open_source(source, reading)
    if ids:
        wanted = set(ids)
        by_id = {problem.id: problem for problem in problems if problem.id in wanted}
        if missing := [name for name in ids if name not in by_id]:
            raise ComdivError(f"{source}: no problem with the id {', '.join(missing)}")
        sample = [by_id[name] for name in ids]
    else:
        sample = list(islice(problems, limit))
    note_complaints(report, TERMINAL, shown=2)
    if json:
        print_json([problem.to_json() for problem in sample])
        return
    console = output_console()
    for problem in sample:
        console.print(problem_view(problem))


@data_app.command(cls=VerbCommand, epilog="Example: comdiv data hashes sd/test.jsonl --out sd-test.hashes")
@takes(reading=READING)
@owns("out")
def hashes(
    source: Source,
    reading: "CorpusOptions",
    out: Annotated[Path, typer.Option(help="File to write: one hash per line.")],
    force: ForceOption = False,
) -> None:
    """Hash the number-masked texts of a corpus, so that `comdiv augment --ban` can exclude them unseen."""
    from comdiv.augmentation.source import ban_hashes
    from comdiv.corpora.corpus_options import load_corpus
    from comdiv.files import refuse_to_overwrite, write_text

    refuse_to_overwrite(out, force=force)
    corpus = load_corpus(source, reading, TERMINAL)
    banned_hashes = ban_hashes(corpus.problems)
    write_text(out, "".join(f"{line}\n" for line in banned_hashes))
    print_line(f"{out}: {len(banned_hashes):,} texts")


@data_app.command(epilog="Example: comdiv data demo zh --size 500 --out demo-zh.jsonl")
@owns("out")
def demo(
    language: Annotated[str, typer.Argument(help="en or zh.")],
    size: Annotated[int, typer.Option(min=1, help="How many problems.")] = 2_000,
    seed: Annotated[int, typer.Option(help="Seed of the corpus.")] = 0,
    out: Annotated[Path | None, typer.Option(help="The file to write; standard output by default.")] = None,
    force: ForceOption = False,
) -> None:
    """Generate a demo corpus of original everyday problems, free to share; the same seed gives the same corpus."""
    import json as json_module

    from comdiv.corpora.demo import generate
    from comdiv.files import refuse_to_overwrite
    from comdiv.problem import write_problems

    problems = generate(language, size, seed)
    if out is None:
        for problem in problems:
            typer.echo(json_module.dumps(problem.to_json(), ensure_ascii=False))
        return
    refuse_to_overwrite(out, force=force)
    count = write_problems(out, TERMINAL.tracked(problems, "generating", size))
    print_line(f"{out}: {count} problems")

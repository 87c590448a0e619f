"""`comdiv augment`: new compositions from a training set's own problems."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from comdiv.cli.console import print_json, print_note, progress_of
from comdiv.cli.corpus import JsonOption, Source
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.augmentation.engine import Engine
    from comdiv.augmentation.options import AugmentationOptions


def augment(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the new dataset; interrupted work there goes on by itself.")],
    preset: Annotated[str, typer.Option(help="comdiv, or paper: Algorithm 1 as printed.")] = "comdiv",
    solver: Annotated[
        str | None, typer.Option("--solver", "--ranker", help="Ranks new problems: a solver, command:PROGRAM, or none.")
    ] = None,
    solver_preset: Annotated[str | None, typer.Option(help="The ranker's sizes: cpu or paper.")] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the ranker: --set hidden=128 --set epochs=20.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="T of Algorithm 1.")] = None,
    keep: Annotated[float | None, typer.Option(help="Share of the ranked candidates that stays.")] = None,
    rank: Annotated[
        Literal["prediction", "given"] | None,
        typer.Option(help="By the ranker's own best expression (the paper), or by the problem's."),
    ] = None,
    keep_by: Annotated[
        Literal["joint", "stratum"] | None, typer.Option(help="One ranking, or one for each operation and template.")
    ] = None,
    checks: Annotated[
        Literal["full", "paper"] | None, typer.Option(help="full: coherence, too; paper: values and texts only.")
    ] = None,
    match: Annotated[
        Literal["unit", "environment"] | None,
        typer.Option(help="What question and clause share in operation 1; environment is the paper's."),
    ] = None,
    operations: Annotated[str | None, typer.Option(help="1 (structural), 2 (lexical) or 1,2.")] = None,
    per_problem: Annotated[
        str | None, typer.Option(help="New problems an original and round, of operation 1 and 2: 10,2.")
    ] = None,
    growth: Annotated[
        float | None, typer.Option(help="New problems of a round, as a multiple of the originals.")
    ] = None,
    max_growth: Annotated[
        float | None, typer.Option(help="Greatest final size, as a multiple of the originals.")
    ] = None,
    repeat_originals: Annotated[int | None, typer.Option(min=1, help="How often each original is in the set.")] = None,
    warm_start: Annotated[
        bool | None, typer.Option("--warm-start/--cold-start", help="Begin each ranker with the last round's weights.")
    ] = None,
    compositional_validation: Annotated[
        int | None,
        typer.Option(min=0, help="So many problems composed of validation problems alone, for early stopping."),
    ] = None,
    ban: Annotated[
        Path | None, typer.Option(help="Hashes of texts that must not come out, from `comdiv data hashes`.")
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="ray: on a cluster; the result is the same.")
    ] = "local",
    address: Annotated[str | None, typer.Option(help="Of a running Ray cluster: HOST:PORT or auto.")] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="Processes that make new problems; 0: as many as there are cores.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Augment a training set with new compositions of its own problems (§IV). Test problems are never read."""
    from comdiv.augmentation import AugmentationOptions, augment_dataset
    from comdiv.cli.train import parsed_changes
    from comdiv.solvers.registry import make_solver

    named = {
        "rounds": rounds, "keep": keep, "rank": rank, "keep_by": keep_by, "checks": checks, "match": match,
        "growth": growth, "max_growth": max_growth, "repeat_originals": repeat_originals, "warm_start": warm_start,
        "compositional_validation": compositional_validation, "ranker": solver, "ranker_preset": solver_preset,
        "operations": _numbers(operations, "--operations"),
        "per_problem": _pair(_numbers(per_problem, "--per-problem")),
        "ranker_settings": parsed_changes(changes) if changes else None,
        "ban": _read_ban(ban),
    }  # fmt: skip
    options = AugmentationOptions.preset(
        preset, seed=seed, **{name: value for name, value in named.items() if value is not None}
    )
    _check_ranker(options)
    workers = _engine(engine, address, jobs)
    try:
        with progress_of("augmenting") as progress:
            report = augment_dataset(source, out, options, make_solver=make_solver, engine=workers, progress=progress)
    finally:
        close = getattr(workers, "close", None)
        if close is not None:
            close()
    if json:
        print_json(report)
    else:
        _print_report(report, out)


def _check_ranker(options: "AugmentationOptions") -> None:
    """An unknown solver, a wrong setting or a missing torch is told before the work, not after an hour."""
    from comdiv.solvers.registry import make_solver

    if options.ranker != "none":
        make_solver(options.ranker, preset=options.ranker_preset, changes=options.ranker_settings)


def _engine(name: str, address: str | None, jobs: int) -> "Engine":
    if name == "ray":
        from comdiv.augmentation.ray_engine import RayEngine

        return RayEngine(address)
    if address is not None:
        raise ComdivError("--address goes with --engine ray")
    from comdiv.augmentation.engine import LocalEngine

    return LocalEngine(jobs)


def _numbers(text: str | None, option: str) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise ComdivError(f"{option} {text}: not whole numbers such as 1 or 1,2") from error


def _pair(numbers: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """One number stands for both operations."""
    return numbers * 2 if numbers is not None and len(numbers) == 1 else numbers


def _read_ban(path: Path | None) -> tuple[str, ...] | None:
    if path is None:
        return None
    try:
        return tuple(path.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise ComdivError(f"--ban {path}: {error}") from error


def _print_report(report: dict[str, Any], out: Path) -> None:
    from rich.table import Table

    from comdiv.augmentation.report import OPERATIONS, card_paragraphs
    from comdiv.cli.console import output_console

    table = Table("round", "operation", "drafts", "passed", "kept", "new templates", "new shapes")
    for entry in report["rounds"]:
        for operation in OPERATIONS:
            values = [entry[operation][key] for key in ("drafts", "passed", "kept", "new_templates", "new_shapes")]
            table.add_row(str(entry["round"]), operation[-1], *(f"{value:,}" for value in values))
    output_console().print(table)
    for paragraph in card_paragraphs(report):
        typer.echo(paragraph)
    print_note(f"{out / 'report.md'}: what each check refused, and samples")

"""`comdiv split`: compositional, i.i.d., length and template splits of any corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from comdiv.cli.console import print_json, print_note, progress_bars, tracked
from comdiv.cli.corpus import (
    AnswerColumn,
    EquationColumn,
    ForceOption,
    IdColumn,
    JsonOption,
    LanguageOption,
    Source,
    TextColumn,
    load_corpus,
    named_columns,
)
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.splitting.extraction import Extraction
    from comdiv.splitting.methods import SearchProgress, SplitSettings


def split(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the dataset; of several, one folder each in it.")],
    method: Annotated[str, typer.Option(help="dbca (compositional), iid, length or template.")] = "dbca",
    test_size: Annotated[float, typer.Option(help="Share of the problems (0.2), or their number (474).")] = 0.2,
    k: Annotated[
        str, typer.Option("--k", help="Clusters of quantities; of several (5,10,20) the best is taken.")
    ] = "10",
    k_by: Annotated[
        Literal["lift", "divergence"], typer.Option(help="Best k by lift over i.i.d., or by divergence (the paper).")
    ] = "lift",
    alpha: Annotated[str, typer.Option(help="Preset of the divergences' α: paper or keysers2020.")] = "paper",
    atom_bound: Annotated[float, typer.Option(min=0, max=1, help="Greatest atom divergence; 1 allows any.")] = 0.01,
    length_weight: Annotated[float, typer.Option(min=0, help="How much unequal text lengths count against it.")] = 0.5,
    target: Annotated[
        str | None, typer.Option(help="Compound divergence to reach; several (0.3,0.4) for curves.")
    ] = None,
    search: Annotated[
        Literal["anneal", "greedy"], typer.Option(help="greedy is the published swap search.")
    ] = "anneal",
    steps_per_item: Annotated[int, typer.Option(min=1, help="Length of the annealing, in steps a problem.")] = 150,
    seed: Annotated[int, typer.Option(min=0, help="Of the search; of several splits, the first.")] = 0,
    splits: Annotated[int, typer.Option(min=1, help="How many, with seeds one after the other.")] = 1,
    with_iid: Annotated[
        bool, typer.Option("--with-iid", help="Write an i.i.d. control of the same sizes, too.")
    ] = False,
    twins: Annotated[
        bool, typer.Option("--twins/--no-twins", help="Keep texts that differ in numbers only on one side.")
    ] = True,
    validation: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the training side for validation.")] = 0.2,
    window: Annotated[int, typer.Option(min=1, help="Tokens of context on each side of a quantity.")] = 3,
    atoms: Annotated[
        Literal["clusters", "clusters+operators"], typer.Option(help="What counts as an atom.")
    ] = "clusters",
    commutative: Annotated[
        bool, typer.Option("--commutative/--no-commutative", help="Whether a+b and b+a are one compound.")
    ] = True,
    cluster_seed: Annotated[int, typer.Option(min=0, help="Of the clustering.")] = 0,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Split a corpus so that test needs new compositions of what train has (§III-A), or by a control's method."""
    from comdiv.dataset import FACTS
    from comdiv.splitting.building import corpus_facts
    from comdiv.splitting.choice import best_k
    from comdiv.splitting.extraction import ExtractionSettings, extract
    from comdiv.splitting.methods import SplitSettings

    candidates = [int(value) for value in _numbers(k, "--k", "whole numbers such as 10 or 5,10,20", whole=True)]
    targets = [None] if target is None else _numbers(target, "--target", "numbers from 0 to 1 such as 0.5 or 0.3,0.4")
    _check_combination(method, candidates, targets, splits, with_iid)
    settings = SplitSettings(
        method=method, test_size=test_size, alpha=alpha, atom_bound=atom_bound, length_weight=length_weight,
        target=targets[0], search=search, steps_per_item=steps_per_item, twins=twins, seed=seed,
        extraction=ExtractionSettings(candidates[0], window, atoms, commutative, cluster_seed),
    )  # fmt: skip
    corpus = load_corpus(source, named_columns(text, equation, answer, id_column), language)
    origin = corpus_facts(corpus)
    extraction = extract(
        corpus.problems, window=window, track=lambda problems: tracked(problems, "contexts", len(corpus.problems))
    )
    if len(candidates) > 1:
        with _search_progress("choosing k") as progress:
            best, scores = best_k(extraction, settings, candidates, k_by, progress)
        print_note(f"k = {best} by {k_by}: " + ", ".join(f"{n}: {score:.3f}" for n, score in scores.items()))
        settings = replace(settings, extraction=replace(settings.extraction, k=best))
    made: dict[str, dict[str, Any]] = {}
    for folder, planned, control in _plan(settings, out, targets, splits):
        if force and control is not None and not with_iid and (control / FACTS).is_file():
            raise ComdivError(f"{control} is the control of an earlier split: say --with-iid, or remove it")
        facts = _make(extraction, planned, folder, origin, validation, force=force, table=not json)
        made[str(folder)] = facts
        if with_iid and control is not None:
            same_size = replace(planned, method="iid", target=None, test_size=float(facts["test_size"]))
            made[str(control)] = _make(extraction, same_size, control, origin, validation, force=force, table=not json)
    if json:
        print_json(made if len(made) > 1 else made[str(out)])


def _numbers(text: str, option: str, wanted: str, *, whole: bool = False) -> list[float]:
    try:
        values = [float(int(part) if whole else part) for part in text.split(",")]
    except ValueError as error:
        raise ComdivError(f"{option} {text}: not {wanted}") from error
    if len(set(values)) != len(values):
        raise ComdivError(f"{option} {text}: a value is there twice")
    return values


def _check_combination(
    method: str, candidates: Sequence[int], targets: Sequence[float | None], splits: int, with_iid: bool
) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if len(candidates) > 1 and method != "dbca":
        raise ComdivError(f"several --k to choose from go with --method dbca, not {method}: name one")
    if len(targets) > 1 and splits > 1:
        raise ComdivError("several --target and several --splits do not go together: one or the other")
    if method == "length" and splits > 1:
        raise ComdivError("--method length gives the same test side for every seed: leave --splits out")
    if method == "iid" and with_iid:
        raise ComdivError("--with-iid is a control for other methods: --method iid is one already")


def _plan(
    settings: "SplitSettings", out: Path, targets: Sequence[float | None], splits: int
) -> Iterator[tuple[Path, "SplitSettings", Path | None]]:
    """The folders to make, and where a control goes: a single split is the folder itself, several are in it."""
    if len(targets) > 1:
        for target in targets:  # one control for all: they have the same size
            control = out / "iid" if target == targets[-1] else None
            yield out / _target_name(target or 0.0), replace(settings, target=target), control
    elif splits > 1:
        for number in range(1, splits + 1):
            yield out / f"split-{number}", replace(settings, seed=settings.seed + number - 1), out / f"iid-{number}"
    else:
        yield out, settings, out / "iid"


def _target_name(target: float) -> str:
    """`target-0.30`, with more digits where two do not tell a target from its neighbours."""
    return f"target-{target:.2f}" if target == round(target, 2) else f"target-{target:g}"


def _make(
    extraction: "Extraction",
    settings: "SplitSettings",
    folder: Path,
    origin: dict[str, Any],
    validation: float,
    *,
    force: bool,
    table: bool,
) -> dict[str, Any]:
    """Make one dataset, unless the same one is there already."""
    from comdiv.cli.tables import print_measurement
    from comdiv.dataset import FACTS, is_intact, read_facts
    from comdiv.files import refuse_to_overwrite
    from comdiv.splitting.building import smaller_test_note, write_split
    from comdiv.splitting.methods import split_problems

    wanted = {**asdict(settings), "validation_share": validation}
    if (folder / FACTS).is_file() and not force:
        facts = read_facts(folder)
        if facts.get("settings") == wanted and facts.get("source") == origin and is_intact(folder, facts):
            print_note(f"{folder}: is there already, made with the same settings")
            return facts
    refuse_to_overwrite(folder, force=force)  # before the search, not after it
    with _search_progress(f"searching {folder.name}") as progress:
        test = split_problems(extraction, settings, progress)
    facts, measurement = write_split(folder, extraction, test, settings, origin, validation, force=force)
    if smaller := smaller_test_note(measurement, settings):
        print_note(f"{folder}: {smaller}")
    if table:
        print_measurement(measurement, str(folder))
    return facts


@contextmanager
def _search_progress(description: str) -> Iterator["SearchProgress"]:
    with progress_bars() as bars:
        task = bars.add_task(description, total=None, note="")
        yield lambda done, total: bars.update(task, completed=done, total=total)

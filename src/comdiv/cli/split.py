"""`comdiv split`: compositional, i.i.d., length and template splits of any corpus."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from comdiv.cli.options import Options, takes
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.splitting.choice import SplitSeries
    from comdiv.splitting.extraction import Extraction
    from comdiv.splitting.methods import SearchProgress, SplitSettings


@takes(
    settings=Options("comdiv.splitting.methods:SplitSettings", without=("k", "target")),
    series=Options("comdiv.splitting.choice:SplitSeries"),
)
def split(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the dataset; of several, one folder each in it.")],
    settings: "SplitSettings",
    series: "SplitSeries",
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
    from comdiv.splitting.choice import best_k
    from comdiv.splitting.extraction import extract
    from comdiv.splitting.outputs import corpus_facts

    series.check(settings)
    settings = settings.changed(k=series.k[0], target=next(iter(series.target), None))
    corpus = load_corpus(source, named_columns(text, equation, answer, id_column), language)
    origin = corpus_facts(corpus)
    extraction = extract(
        corpus.problems,
        window=settings.extraction.window,
        track=lambda problems: tracked(problems, "contexts", len(corpus.problems)),
    )
    if len(series.k) > 1:
        with _search_progress("choosing k") as progress:
            best, scores = best_k(extraction, settings, series.k, series.k_by, progress)
        print_note(f"k = {best} by {series.k_by}: " + ", ".join(f"{n}: {score:.3f}" for n, score in scores.items()))
        settings = settings.changed(k=best)
    made: dict[str, dict[str, Any]] = {}
    for folder, planned, control in series.folders(settings, out):
        if force and control is not None and not series.with_iid and (control / FACTS).is_file():
            raise ComdivError(f"{control} is the control of an earlier split: say --with-iid, or remove it")
        facts = _make(extraction, planned, folder, origin, force=force, table=not json)
        made[str(folder)] = facts
        if series.with_iid and control is not None:
            same_size = planned.changed(method="iid", target=None, test_size=facts["test_size"])
            made[str(control)] = _make(extraction, same_size, control, origin, force=force, table=not json)
    if json:
        print_json(made if len(made) > 1 else made[str(out)])


def _make(
    extraction: "Extraction",
    settings: "SplitSettings",
    folder: Path,
    origin: dict[str, Any],
    *,
    force: bool,
    table: bool,
) -> dict[str, Any]:
    """Make one dataset, unless the same one is there already."""
    from comdiv.cli.tables import print_measurement
    from comdiv.dataset import FACTS, is_intact, read_facts
    from comdiv.files import refuse_to_overwrite
    from comdiv.splitting.methods import split_problems
    from comdiv.splitting.outputs import smaller_test_note, write_split

    if (folder / FACTS).is_file() and not force:
        facts = read_facts(folder)
        if (
            facts.get("settings") == settings.model_dump()
            and facts.get("source") == origin
            and is_intact(folder, facts)
        ):
            print_note(f"{folder}: is there already, made with the same settings")
            return facts
    refuse_to_overwrite(folder, force=force)  # before the search, not after it
    with _search_progress(f"searching {folder.name}") as progress:
        test = split_problems(extraction, settings, progress)
    facts, measurement = write_split(folder, extraction, test, settings, origin, force=force)
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

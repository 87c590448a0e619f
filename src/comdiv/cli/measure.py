"""`comdiv measure`: how compositional a training and a test set are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comdiv.cli.console import print_json, print_note, tracked
from comdiv.cli.corpus import (
    AnswerColumn,
    EquationColumn,
    ForceOption,
    JsonOption,
    LanguageOption,
    TextColumn,
    load_corpus,
    named_columns,
)
from comdiv.errors import ComdivError

if TYPE_CHECKING:
    from comdiv.splitting.measurement import Measurement


def measure(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training problems; or a dataset folder, alone.")],
    test: Annotated[str | None, typer.Argument(metavar="[TEST]", help="Test problems.")] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Clusters of quantities; a dataset's own, or 10.")] = None,
    alpha: Annotated[str | None, typer.Option(help="Preset for the i.i.d. divergence: paper or keysers2020.")] = None,
    window: Annotated[int | None, typer.Option(min=1, help="Tokens of context; a dataset's own, or 3.")] = None,
    cluster_seed: Annotated[int | None, typer.Option(min=0, help="Of the clustering; a dataset's own, or 0.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json, report.md and the two figures.")] = None,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Measure the divergences between two files, or between the sides of a dataset folder (§III-A, Table I)."""
    import numpy as np

    from comdiv.dataset import FACTS, read_dataset, read_facts
    from comdiv.splitting.extraction import ExtractionSettings, extract
    from comdiv.splitting.measurement import measure as measure_split

    settings, preset = ExtractionSettings(), "paper"
    if test is None:
        folder = Path(train)
        if not folder.is_dir():
            raise ComdivError(f"{train}: name the test problems, too, or a dataset folder")
        dataset = read_dataset(folder)
        training, testing = dataset.training_side, dataset.test
        made_with = read_facts(folder).get("settings", {}) if (folder / FACTS).is_file() else {}
        settings = ExtractionSettings(**made_with.get("extraction", {}))
        preset = made_with.get("alpha", preset)
    else:
        columns = named_columns(text, equation, answer)
        training = load_corpus(train, columns, language).problems
        testing = load_corpus(test, columns, language).problems
    settings = ExtractionSettings(
        k=settings.k if k is None else k,
        window=settings.window if window is None else window,
        atoms=settings.atoms,
        commutative=settings.commutative,
        seed=settings.seed if cluster_seed is None else cluster_seed,
    )
    for side, problems in (("training", training), ("test", testing)):
        if not problems:
            raise ComdivError(f"the {side} side has no problems")
    total = len(training) + len(testing)
    extraction = extract(
        [*training, *testing], window=settings.window, track=lambda problems: tracked(problems, "contexts", total)
    )
    in_test = {id(problem) for problem in testing}  # ids of files may clash, objects do not
    mask = np.array([id(problem) in in_test for problem in extraction.problems])
    measurement = measure_split(extraction, mask, settings, alpha=alpha or preset)
    if out is not None:
        _write_report(measurement, out, force=force)
    if json:
        print_json(measurement.to_json())
    else:
        from comdiv.cli.report import print_measurement

        print_measurement(measurement, f"{train} {test or ''}")


def _write_report(measurement: "Measurement", out: Path, *, force: bool) -> None:
    import json

    from comdiv.files import refuse_to_overwrite, write_text
    from comdiv.splitting.building import markdown_table
    from comdiv.splitting.figures import draw_frequencies

    refuse_to_overwrite(out, force=force)
    write_text(
        out / "report.json", json.dumps(measurement.to_json(frequencies=True), ensure_ascii=False, indent=2) + "\n"
    )
    write_text(out / "report.md", markdown_table(measurement) + "\n")
    for path in draw_frequencies(measurement, out):
        print_note(str(path))

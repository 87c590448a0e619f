"""`comdiv measure`: how compositional a training and a test set are."""

from pathlib import Path
from typing import Annotated, Any

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
from comdiv.cli.options import Options, takes
from comdiv.errors import ComdivError


@takes(changes=Options("comdiv.splitting.extraction:ExtractionSettings", said_only=True))
def measure(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training problems; or a dataset folder, alone.")],
    changes: dict[str, Any],
    test: Annotated[str | None, typer.Argument(metavar="[TEST]", help="Test problems.")] = None,
    alpha: Annotated[
        str | None, typer.Option(help="Preset for the α of the i.i.d. divergence: paper or keysers2020.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json, report.md and the two figures.")] = None,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Measure the divergences between two files, or between the sides of a dataset folder (§III-A, Table I).

    A dataset folder is measured with its own settings, where no option says otherwise.
    """
    from comdiv.dataset import read_dataset
    from comdiv.files import refuse_to_overwrite
    from comdiv.splitting.extraction import ExtractionSettings
    from comdiv.splitting.measurement import measure_sides
    from comdiv.splitting.outputs import write_measurement

    made_with: dict[str, Any] = {}
    if out is not None:
        refuse_to_overwrite(out, force=force)
    if test is None:
        folder = Path(train)
        if not folder.is_dir():
            raise ComdivError(f"{train}: name the test problems, too, or a dataset folder")
        dataset = read_dataset(folder)
        training, testing = dataset.training_side, dataset.test
        made_with = dataset.facts.get("settings", {})
    else:
        columns = named_columns(text, equation, answer)
        training = load_corpus(train, columns, language).problems
        testing = load_corpus(test, columns, language).problems
    try:
        settings = ExtractionSettings.checked(**made_with.get("extraction", {}))
    except ComdivError as error:
        raise ComdivError(f"{train}: dataset.json has settings that this version does not know: {error}") from error
    settings = settings.changed(**changes)
    total = len(training) + len(testing)
    measurement = measure_sides(
        training,
        testing,
        settings,
        alpha=alpha or made_with.get("alpha", "paper"),
        track=lambda problems: tracked(problems, "contexts", total),
    )
    if out is not None:
        for path in write_measurement(measurement, out):
            print_note(str(path))
    if json:
        print_json(measurement.to_json())
    else:
        from comdiv.cli.tables import print_measurement

        print_measurement(measurement, f"{train}, {test}" if test else train)

"""`comdiv split`: compositional, i.i.d., length and template splits of any corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import TERMINAL, print_json
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, Source, takes

if TYPE_CHECKING:
    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.splitting.choice import SplitSeries
    from comdiv.splitting.measurement import Measurement


@takes(
    changes=Options(
        "comdiv.splitting.methods:SplitSettings", without=("k", "target"), said_only=True, show_defaults=True
    ),
    series=Options("comdiv.splitting.choice:SplitSeries"),
    reading=READING,
)
def split(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the dataset; for several datasets, one subfolder each.")],
    changes: dict[str, Any],
    series: "SplitSeries",
    reading: "CorpusOptions",
    preset: Annotated[
        str, typer.Option(help="comdiv, or paper: one clustering, and only its atoms are bounded (§III-A).")
    ] = "comdiv",
    ids: Annotated[
        Path | None,
        typer.Option(
            help="Rebuild a split without a search: a file of ids written by `export hub`, or the test ids, one per "
            "line."
        ),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Split a corpus so that test needs new compositions of what train has (§III-A), or by a control method."""
    from comdiv.cli.measure import print_measurement
    from comdiv.splitting.methods import preset_settings
    from comdiv.verbs import benchmarks

    def show(folder: Path, measurement: "Measurement") -> None:
        if not json:
            print_measurement(measurement, str(folder))

    from_file = ids is not None and not changes and preset == "comdiv"  # the settings, if the file has them
    facts = benchmarks.split(
        source, out, None if from_file else preset_settings(preset, **changes), series, ids=ids, reading=reading,
        force=force, observer=TERMINAL, each=show,
    )  # fmt: skip
    if json:
        print_json(facts if len(facts) > 1 else facts[str(out)])

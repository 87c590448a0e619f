"""`comdiv ask`: a language model, a dataset, a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import TERMINAL, print_json
from comdiv.cli.evaluate import print_evaluation
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, Source, takes

if TYPE_CHECKING:
    from comdiv.corpora.corpus_options import CorpusOptions


@takes(
    changes=Options(
        "comdiv.asking.ask_settings:AskSettings", without=("base_url", "model"), said_only=True, show_defaults=True
    ),
    reading=READING,
)
def ask(
    source: Source,
    base_url: Annotated[
        str, typer.Option(help="Address of an OpenAI-compatible endpoint, such as http://localhost:8080/v1.")
    ],
    model: Annotated[str, typer.Option(help="Name of the model, as the endpoint knows it.")],
    out: Annotated[Path, typer.Option(help="Run folder; questions answered there are not asked again.")],
    changes: dict[str, Any],
    reading: "CorpusOptions",
    train: Annotated[
        str | None, typer.Option(help="Training problems, for examples in the prompt; a dataset folder has its own.")
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Ask a language model the problems of a test set, and evaluate its answers (§V)."""
    from comdiv.asking.ask_settings import AskSettings
    from comdiv.verbs import asking

    settings = AskSettings.checked(base_url=base_url, model=model, **changes)
    evaluation = asking.ask(source, out, settings, train=train, reading=reading, force=force, observer=TERMINAL)
    if json:
        print_json(evaluation.to_json())
    else:
        print_evaluation(evaluation, f"{model} on {source}")

"""`comdiv export`: datasets for the hub and for language-model harnesses, problems for human judges."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from comdiv.cli.console import SuggestingGroup, print_json, print_note, progress_of
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

if TYPE_CHECKING:
    from collections.abc import Mapping

export_app = typer.Typer(cls=SuggestingGroup, no_args_is_help=True, help="Take datasets and problems elsewhere.")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A dataset folder, or one with several in it.")]
OutFolder = Annotated[Path, typer.Option("--out", help="The folder to write.")]
SampleOption = Annotated[int | None, typer.Option(min=1, help="So many problems, drawn by the seed; all without it.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Another seed, other problems and another order.")]


@export_app.command(epilog="Example: comdiv export hub mawps-comdiv --out hub/mawps-comdiv --push me/mawps-comdiv")
def hub(
    folder: Folder,
    out: OutFolder,
    push: Annotated[str | None, typer.Option(metavar="OWNER/NAME", help="Upload it to the Hugging Face hub.")] = None,
    private: Annotated[bool, typer.Option(help="With --push: a repository that only you can see.")] = False,
    licence: Annotated[
        str | None, typer.Option(help="The licence for the card, e.g. cc-by-4.0; that of the source corpus otherwise.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """A folder that Hugging Face `load_dataset` reads as it is: a configuration a split, a card, a canary."""
    from comdiv.exchange.hub import check_repository, export_hub, push_to_hub

    facts = export_hub(folder, out, licence=licence, force=force)
    if push is not None:
        check_repository(push, facts)
        print_note(f"uploading {out} to {push}")
        facts["pushed"] = push_to_hub(out, push, facts, private=private)
    elif facts["licence"] is None:
        print_note("no licence is known for these problems; the card says so. --licence names one")
    sizes = {name: "/".join(f"{size:,}" for size in parts.values()) for name, parts in facts["configurations"].items()}
    _say(out, facts, [f"{name}: {size}" for name, size in sizes.items()], json=json)


@export_app.command(
    name="lm-eval",
    epilog="Example: comdiv export lm-eval mawps-comdiv --out tasks --renumber; then "
    "lm_eval --model hf --model_args pretrained=MODEL --include_path tasks --tasks comdiv_mawps_comdiv",
)
def lm_eval(
    folder: Folder,
    out: OutFolder,
    name: Annotated[
        str | None, typer.Option(help="The tasks are called comdiv_NAME_…; the folder's by default.")
    ] = None,
    shots: Annotated[int, typer.Option(min=0, help="Examples from the training side of the same split.")] = 4,
    renumber: Annotated[
        bool, typer.Option("--renumber", help="Each part once more with new numbers: solved, or remembered?")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the new numbers.")] = 0,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Tasks for lm-evaluation-harness: every part of the test side, with and without step-by-step prompting."""
    from comdiv.exchange.lm_eval import export_lm_eval

    with progress_of("exporting") as progress:
        facts = export_lm_eval(
            folder, out, name=name, shots=shots, renumber=renumber, seed=seed, force=force, progress=progress
        )
    for part, reasons in facts.get("renumbered", {}).get("left_out", {}).items():
        for reason, count in reasons.items():
            print_note(f"{part}: {count} problems left out: {reason}")
    _say(out, facts, [f"{name}: {rows['test']:,}" for name, rows in facts["parts"].items()], json=json)


@export_app.command(
    name="compositional-pairs",
    epilog="Example: comdiv export compositional-pairs svamp --out pairs; then "
    "comdiv evaluate --predictions what-my-llm-said.jsonl pairs",
)
def compositional_pairs(
    source: Source,
    out: OutFolder,
    sample: Annotated[int | None, typer.Option(min=1, help="So many pairs; all that there are without it.")] = None,
    seed: SeedOption = 0,
    match: Annotated[
        Literal["unit", "environment"], typer.Option(help="What the question and the clause that it replaces share.")
    ] = "unit",
    checks: Annotated[
        Literal["full", "paper"], typer.Option(help="paper: only that the composed problem has a value.")
    ] = "full",
    name: Annotated[
        str | None, typer.Option(help="The tasks are called comdiv_NAME_…; the corpus's by default.")
    ] = None,
    shots: Annotated[int, typer.Option(min=0, help="Examples in the prompts of the tasks.")] = 4,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Two problems and what operation 1 (§IV) makes of them, as a benchmark: is what is composed worse than S1·S2?

    Of a dataset folder its test problems are paired; examples come from its training problems.
    """
    from comdiv.cli.evaluate import load_test
    from comdiv.exchange.pairs import export_compositional_pairs

    columns = named_columns(text, equation, answer, id_column)
    corpus = load_test(source, columns, language)
    training = Path(source) / "train.jsonl"
    train = load_corpus(str(training), columns, language).problems if training.is_file() else None
    with progress_of("composing") as progress:
        facts = export_compositional_pairs(
            corpus.problems, out, name=name or corpus.name, train=train, sample=sample, seed=seed, match=match,
            checks=checks, shots=shots, force=force, progress=progress,
        )  # fmt: skip
    _say(out, facts, [f"{facts['pairs']:,} pairs of {len(corpus.problems):,} problems"], json=json)


@export_app.command(
    name="label-studio", epilog="Example: comdiv export label-studio sd/train.jsonl --sample 100 --out ls"
)
def label_studio(
    source: Source,
    out: OutFolder,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Problems to judge in Label Studio: tasks.json to import there, labels.xml as the labelling interface."""
    from comdiv.exchange.label_studio import export_label_studio

    corpus = load_corpus(source, named_columns(text, equation, answer, id_column), language)
    facts = export_label_studio(corpus.problems, out, sample=sample, seed=seed, force=force)
    _say(out, facts, [f"{facts['problems']:,} problems"], json=json)


@export_app.command(epilog="Example: comdiv export csv sd/train.jsonl --sample 100 --judge ann --out ann.csv")
def csv(
    source: Source,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    sample: SampleOption = None,
    seed: SeedOption = 0,
    judge: Annotated[str, typer.Option(help="Who fills it in; the file's name says so otherwise.")] = "",
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Problems to judge in a spreadsheet: a row each, with empty columns for grammar, fluency, logic and a comment."""
    from comdiv.exchange.sheets import export_csv

    corpus = load_corpus(source, named_columns(text, equation, answer, id_column), language)
    facts = export_csv(corpus.problems, out, sample=sample, seed=seed, judge=judge, force=force)
    _say(out, facts, [f"{facts['problems']:,} problems"], json=json)


@export_app.command(
    epilog="Example: comdiv export results runs --out published; then comdiv report published --out page"
)
def results(
    runs: Annotated[Path, typer.Argument(help="Folder that `comdiv run` filled.")],
    out: OutFolder,
    force: Annotated[
        bool, typer.Option("--force", help="Take cells again that are published already; else they stay as they are.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """The numbers of your runs without texts and weights, to publish; what is there already stays, the rest is added.

    `comdiv report` reads the folder as it is.
    """
    from comdiv.experiments.published import export_results

    with progress_of("publishing") as progress:
        facts = export_results(runs, out, force=force, progress=progress)
    if facts["differing"] and not force:
        several = len(facts["differing"]) > 1
        print_note(
            f"{len(facts['differing'])} published cell{'s have' if several else ' has'} other numbers than these runs: "
            f"{facts['differing'][0]}{' and others' * several}; --force takes the new ones"
        )
    if facts["older_plans"]:
        print_note(
            f"{', '.join(facts['older_plans'])}: the plan of these runs, an older one perhaps, lacks cells that are "
            "published; the published plan stays, --force takes this one"
        )
    cells = facts["cells"]
    said = [f"{cells[state]:,} cells {state}" for state in ("added", "replaced", "kept") if cells[state]]
    _say(out, facts, [*said, f"{len(facts['plans'])} plan{'s' * (len(facts['plans']) != 1)}"], json=json)


def _say(out: Path, facts: "Mapping[str, Any]", sizes: list[str], *, json: bool) -> None:
    if json:
        print_json({"out": str(out), **facts})
        return
    typer.echo(f"{out}: {', '.join(sizes)}")
    if "pushed" in facts:
        typer.echo(facts["pushed"])

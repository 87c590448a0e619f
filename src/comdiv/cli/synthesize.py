"""`comdiv synthesize`: the SD benchmark, which isolates structural from lexical generalization."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import output_console, print_json, print_note, progress_of
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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from comdiv.synthesis import SynthesisOptions


@takes(options=Options("comdiv.synthesis:SynthesisOptions"))
def synthesize(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the dataset.")],
    options: "SynthesisOptions",
    text: TextColumn = None,
    equation: EquationColumn = None,
    answer: AnswerColumn = None,
    id_column: IdColumn = None,
    language: LanguageOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Synthesize problems by rules, so that test needs new structures, or known ones with new words (§III-B)."""
    from comdiv.files import refuse_to_overwrite
    from comdiv.synthesis import load_rules, synthesize_dataset

    refuse_to_overwrite(out, force=force)  # before the corpus is read, and the rules with it
    load_rules(options.rules)
    corpus = load_corpus(source, named_columns(text, equation, answer, id_column), language)
    with progress_of("synthesizing") as progress:
        facts = synthesize_dataset(corpus.problems, out, options, corpus=corpus.name, progress=progress, force=force)
    if json:
        print_json(facts)
    else:
        _print_report(facts, out)


def _print_report(facts: "Mapping[str, Any]", out: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from comdiv.synthesis.synthetic import PAPER_DIVERGENCES, RULE_COLUMNS, rule_rows

    table = Table(*RULE_COLUMNS, title=Text(str(out)), title_justify="left", box=None)
    for row in rule_rows(facts):
        table.add_row(*map(Text, row))
    console = output_console()
    console.print(table)
    sizes = [entry["problems"] for entry in facts["files"].values()]
    composition = facts["composition"]
    console.print(
        f"train / validation / test: {sizes[0]:,} / {sizes[1]:,} / {sizes[2]:,}; "
        f"test: {composition['structural']} structural, {composition['lexical']} lexical"
    )
    for name, published in PAPER_DIVERGENCES.items():
        console.print(f"{name} divergence {facts[f'{name}_divergence']['paper']:.3f} (the paper's SD: {published})")
    novelty = ", ".join(f"{value}: {count}" for value, count in facts["novelty"].items())
    if novelty:
        console.print(f"novelty of the lexical test problems: {novelty}", markup=False)
    print_note(f"written to {out}")

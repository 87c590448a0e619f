"""`comdiv synthesize`: the SD benchmark, which isolates structural from lexical generalization."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from comdiv.cli.console import TERMINAL, output_console, print_json, print_note
from comdiv.cli.options import READING, ForceOption, JsonOption, Options, Source, takes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from comdiv.corpora.corpus_options import CorpusOptions
    from comdiv.synthesis import SynthesisOptions


@takes(options=Options("comdiv.synthesis:SynthesisOptions"), reading=READING)
def synthesize(
    source: Source,
    out: Annotated[Path, typer.Option(help="Folder of the dataset.")],
    options: "SynthesisOptions",
    reading: "CorpusOptions",
    queue: Annotated[
        Path | None,
        typer.Option(help="Also write the products to this file for readers: shuffled, without rule or origin."),
    ] = None,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Synthesize problems by rules, so that test needs new structures or known structures with new words (§III-B)."""
    from comdiv.verbs import benchmarks

    facts = benchmarks.synthesize(source, out, options, reading=reading, force=force, queue=queue, observer=TERMINAL)
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

"""Makes the pictures of the pages, and the tutorial's CSV, from the demo corpora: `python docs/_tools/pictures.py`."""

import csv
import html
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from comdiv.corpora.demo import generate
from comdiv.experiments.reporting.examples import three_problems
from comdiv.expression import Constant, Reference, draw_svg, map_leaves, to_infix
from comdiv.figures import Theme, write_figure
from comdiv.language import get_language
from comdiv.problem import Problem
from comdiv.reading import read
from comdiv.splitting.divergence import divergence
from comdiv.splitting.extraction import Extraction, extract
from comdiv.splitting.measurement import Frequency, measure
from comdiv.splitting.methods import SplitSettings, split_problems

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1]
PICTURES = DOCS / "pictures"
COLOURS = ("#cfe1f7", "#fbdcc6", "#cdebdc", "#e5d6f3", "#f5e6bd", "#f8d0d8", "#d3e6eb", "#dcdfe3", "#e9e2d0", "#d5e8b8")
CSV_SIZE = 600
SHOWN = 80  # bars


def main() -> None:
    """Everything, in well under a minute."""
    problems = list(generate("en"))
    write_csv(problems[:CSV_SIZE], DOCS / "examples" / "problems.csv")
    draw_divergence(PICTURES / "divergence")
    extraction = extract(problems)
    for method in ("iid", "dbca"):
        settings = SplitSettings(method=method)
        test = split_problems(extraction, settings)
        measured = measure(extraction, test, settings.extraction)
        name = "comdiv" if method == "dbca" else "iid"
        draw_frequencies(
            PICTURES / f"frequencies-{name}", measured.atoms, measured.compounds,
            measured.atom_divergence["paper"], measured.compound_divergence["paper"],
        )  # fmt: skip
    (PICTURES / "clusters.svg").write_text(draw_clusters(extraction), encoding="utf-8")
    sys.stdout.write(f"written to {PICTURES}\n")


def write_csv(problems: Sequence[Problem], path: Path) -> None:
    """Problems as anybody would have them: the formula over the numbers of the text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["question", "formula", "result"])
        for problem in problems:
            record = problem.to_json()
            values = read(problem).values
            assert problem.expression is not None
            formula = map_leaves(
                problem.expression,
                lambda leaf, values=values: Constant(values[leaf.index]) if isinstance(leaf, Reference) else leaf,
            )
            writer.writerow([problem.text, to_infix(formula), record["answer"]])


def draw_divergence(path: Path) -> None:
    """Three pairs of distributions over three things."""
    pairs = {"the same": ((5, 3, 2), (5, 3, 2)), "shifted": ((6, 3, 1), (1, 3, 6)), "apart": ((6, 4, 0), (0, 0, 10))}

    def draw(theme: Theme) -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 2.4), layout="constrained")
        for axes, (name, (train, test)) in zip(figure.subplots(1, 3, sharey=True), pairs.items(), strict=True):
            places, things = np.arange(3), ("a", "b", "c")
            axes.bar(places - 0.2, np.array(train) / 10, 0.38, color=theme.train, label="train (n = 10)")
            axes.bar(places + 0.2, np.array(test) / 10, 0.38, color=theme.test, label="test (n = 10)")
            value = divergence(dict(zip(things, train, strict=True)), dict(zip(things, test, strict=True)), 0.5)
            axes.set_title(f"{name}: divergence {value:.2f}")
            axes.set_xticks(places, things)
            axes.set_xlabel("thing")
            axes.set_ylabel("share")
            axes.legend(fontsize=7)
        return figure

    write_figure(path, draw)


def draw_frequencies(
    path: Path, atoms: Sequence[Frequency], compounds: Sequence[Frequency], atom: float, compound: float
) -> None:
    """Atoms and compounds side by side, train above, test below the line."""

    def draw(theme: Theme) -> "Figure":
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 3))
        _mirror(left, atoms, f"Atoms: divergence {atom:.3f}", "atom", theme)
        _mirror(
            right, compounds, f"Compounds: divergence {compound:.3f}", f"compound (the {SHOWN} most frequent)", theme
        )
        return figure

    write_figure(path, draw)


def _mirror(axes: "Axes", found: Sequence[Frequency], title: str, label: str, theme: Theme) -> None:
    train, test = sum(f.train for f in found), sum(f.test for f in found)
    found = found[:SHOWN]
    places = range(len(found))
    axes.bar(places, [f.train / max(1, train) for f in found], 0.85, color=theme.train, label=f"train (n = {train:,})")
    axes.bar(places, [-f.test / max(1, test) for f in found], 0.85, color=theme.test, label=f"test (n = {test:,})")
    axes.axhline(0, color=theme.ink, linewidth=0.6)
    axes.set_xticks([])
    axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0%}")
    axes.set_xlabel(label)
    axes.set_ylabel("share of occurrences")
    axes.set_title(title)
    axes.legend(fontsize=7)


def draw_clusters(extraction: Extraction, k: int = 10) -> str:
    """The paper's Figure 2: one SVG with three problems, their trees beside them, clusters in colour."""
    rows, height = [], 20
    chosen = three_problems(extraction, k)
    assert chosen is not None
    for letter, position in zip("abc", chosen, strict=True):
        problem = extraction.problems[position]
        clusters = extraction.clusters_by_problem(k)[position].tolist()
        assert problem.expression is not None
        colour = {index: COLOURS[cluster % len(COLOURS)] for index, cluster in enumerate(clusters)}
        tree = draw_svg(
            problem.expression,
            lambda leaf, clusters=clusters: (
                f"c{clusters[leaf.index]}" if isinstance(leaf, Reference) else str(leaf.value)
            ),
            lambda leaf, colour=colour: colour.get(leaf.index, "none") if isinstance(leaf, Reference) else "none",
        )
        tree = tree.replace("<svg ", f'<svg x="600" y="{height}" ', 1).replace("currentColor", "#1f2933")
        lines = _wrapped(problem, colour)
        rows.append(f'<text x="16" y="{height + 18}" font-weight="bold">({letter})</text>')
        rows += [f'<text x="46" y="{height + 18 + 21 * n}">{line}</text>' for n, line in enumerate(lines)]
        rows.append(tree)
        height += 170
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}" width="860" height="{height}" '
        f'font-family="DejaVu Sans, sans-serif" font-size="14" fill="#1f2933">'
        f'<rect width="860" height="{height}" rx="10" fill="#ffffff"/>{"".join(rows)}</svg>\n'
    )


def _wrapped(problem: Problem, colour: dict[int, str], width: int = 68) -> list[str]:
    """The text in lines, each quantity on its colour."""
    quantities = {q.start: q for q in get_language(problem.language).quantities(problem.text)}
    lines: list[list[str]] = [[]]
    used, place = 0, 0
    for word in problem.text.split(" "):
        if used + len(word) > width:
            lines.append([])
            used = 0
        shown = html.escape(word)
        inside = [q for start, q in quantities.items() if place <= start < place + len(word)]
        if inside:
            quantity = inside[0]
            before, number = word[: quantity.start - place], word[quantity.start - place : quantity.end - place]
            rest = word[quantity.end - place :]
            fill = colour[quantity.index]
            halo = f'stroke="{fill}" stroke-width="7" stroke-linejoin="round" paint-order="stroke"'
            marked = f'<tspan font-weight="bold" {halo}>{number}</tspan>'
            shown = html.escape(before) + marked + html.escape(rest)
        lines[-1].append(shown)
        used += len(word) + 1
        place += len(word) + 1
    return [" ".join(line) for line in lines]


if __name__ == "__main__":
    main()

"""Problems in the terminal: quantities in colour, the same colours in the tree."""

from typing import TYPE_CHECKING

from comdiv.expression import Expression, Leaf, Reference, draw_text, format_number, template, to_infix
from comdiv.expression.printing import leaf_text
from comdiv.problem import Problem
from comdiv.reading import Reading, read

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

_COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red", "bright_cyan", "bright_magenta")


def quantity_colour(index: int) -> str:
    """The colour of the quantity with that index, everywhere in the terminal."""
    return _COLOURS[index % len(_COLOURS)]


def coloured_text(reading: Reading) -> "Text":
    """The problem's text with every quantity in its colour."""
    from rich.text import Text

    text = Text(reading.text)
    for quantity in reading.plain_quantities:
        text.stylize(f"bold {quantity_colour(quantity.index)}", quantity.start, quantity.end)
    return text


def problem_view(problem: Problem) -> "Group":
    """Everything about a problem: id, text, expression, template, tree, answer, provenance."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    reading = read(problem)
    lines: list[Rule | Text] = [Rule(Text(problem.id, style="bold"), align="left", style="dim"), coloured_text(reading)]
    if problem.expression is None:
        lines.append(Text(f"no expression: {problem.extra.get('equation', 'the corpus gives none')}", style="dim"))
    else:
        summary = Text.assemble(
            ("expression ", "dim"), to_infix(problem.expression), ("   template ", "dim"), template(problem.expression)
        )
        lines += [summary, *_tree_lines(problem.expression, reading)]
    if problem.answer is not None:
        lines.append(Text.assemble(("answer ", "dim"), (format_number(problem.answer), "bold")))
    if reading.contradicts:
        given = "no value" if reading.value is None else format_number(reading.value)
        lines.append(Text(f"contradiction: the expression gives {given}; `comdiv split` leaves it out", style="red"))
    origin = ", ".join(f"{key} {value}" for key, value in problem.provenance.to_json().items())
    if origin:
        lines.append(Text(origin, style="dim"))
    return Group(*lines)


def _tree_lines(expression: Expression, reading: Reading) -> list["Text"]:
    from rich.text import Text

    quantities = reading.plain_quantities

    def label(leaf: Leaf) -> str:
        if isinstance(leaf, Reference):
            return f"{leaf_text(leaf)} = {quantities[leaf.index].text}"
        return leaf_text(leaf)

    lines = []
    for line in draw_text(expression, label):
        text = Text("  " + line)
        for quantity in quantities:
            text.highlight_regex(rf"N{quantity.index} = .*$", f"bold {quantity_colour(quantity.index)}")
        lines.append(text)
    return lines

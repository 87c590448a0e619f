"""Pictures of trees: lines for the terminal, SVG for pages."""

import html
import re
from collections.abc import Callable

from comdiv.expression.printing import leaf_text
from comdiv.expression.tree import Expression, Leaf, Operation

_SIGNS = {"*": "×", "/": "÷", "-": "−"}
_COLUMN, _ROW, _RADIUS = 46, 58, 17  # pixels: between neighbouring leaves, between levels; radius of a node

_NO_XML = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")  # not representable in XML 1.0

Labelling = Callable[[Leaf], str]


def sign(operator: str) -> str:
    """The sign that people write for an operator."""
    return _SIGNS.get(operator, operator)


def draw_text(expression: Expression, label: Labelling = leaf_text) -> list[str]:
    """The tree as lines for a terminal, the root first, children below their parent."""
    if not isinstance(expression, Operation):
        return [label(expression)]
    left = draw_text(expression.left, label)
    right = draw_text(expression.right, label)
    lines = [sign(expression.operator), f"├─ {left[0]}"]
    lines += [f"│  {line}" for line in left[1:]]
    lines.append(f"└─ {right[0]}")
    lines += [f"   {line}" for line in right[1:]]
    return lines


def draw_svg(
    expression: Expression, label: Labelling = leaf_text, colour: Labelling | None = None, title: str = ""
) -> str:
    """The tree as an SVG picture that scales and follows the page's text colour.

    `colour` gives a leaf's fill, for instance by cluster as in the paper's Figure 2; `title` is the description for
    screen readers. All text is escaped.
    """
    shapes: list[str] = []
    columns = [0.0]

    def place(node: Expression, level: int) -> tuple[float, float]:
        y = _RADIUS + 6 + level * _ROW
        if not isinstance(node, Operation):
            text = label(node)
            width = max(2 * _RADIUS, 9 * len(text) + 14)
            x = columns[0] + width / 2
            columns[0] += max(_COLUMN, width + 12)
            _draw_leaf(shapes, x, y, width, text, colour(node) if colour else "none")
            return x, y
        left, right = place(node.left, level + 1), place(node.right, level + 1)
        x = (left[0] + right[0]) / 2
        for child_x, child_y in (left, right):
            shapes.append(
                f'<line x1="{x:.1f}" y1="{y + _RADIUS:.1f}" x2="{child_x:.1f}" y2="{child_y - _RADIUS:.1f}"/>'
            )
        shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>')
        shapes.append(_svg_text(x, y, sign(node.operator)))
        return x, y

    place(expression, 0)
    depth = expression.depth if isinstance(expression, Operation) else 0
    width, height = columns[0], 2 * (_RADIUS + 6) + depth * _ROW
    spoken = f' aria-label="{_escape(title)}"' if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" role="img"{spoken} fill="none" stroke="currentColor" font-family="sans-serif" '
        'font-size="15">'
        f"{''.join(shapes)}</svg>"
    )


def _draw_leaf(shapes: list[str], x: float, y: float, width: float, text: str, fill: str) -> None:
    shapes.append(
        f'<rect x="{x - width / 2:.1f}" y="{y - _RADIUS}" width="{width:.1f}" height="{2 * _RADIUS}" rx="8" '
        f'fill="{_escape(fill)}"/>'
    )
    shapes.append(_svg_text(x, y, text))


def _svg_text(x: float, y: float, text: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" fill="currentColor" '
        f'stroke="none">{_escape(text)}</text>'
    )


def _escape(text: str) -> str:
    return html.escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))

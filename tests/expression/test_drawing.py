"""Pictures of trees: lines for the terminal, well-formed SVG for pages."""

from fractions import Fraction
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from comdiv.expression import Expression, Leaf, Operation, Reference, draw_svg, draw_text, leaves, parse, subtrees
from comdiv.expression.drawing import sign
from comdiv.expression.printing import leaf_text
from strategies import trees

SVG = "{http://www.w3.org/2000/svg}"


def texts_of(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_operators_are_drawn_as_people_write_them() -> None:
    assert [sign(operator) for operator in "+-*/^"] == ["+", "−", "×", "÷", "^"]


def test_the_terminal_shows_the_root_first_and_children_below_it() -> None:
    assert draw_text(parse("(N0+2.5)*(1-N1)")) == [
        "×",
        "├─ +",
        "│  ├─ N0",
        "│  └─ 2.5",
        "└─ −",
        "   ├─ 1",
        "   └─ N1",
    ]
    assert draw_text(parse("N3")) == ["N3"]


@given(trees())
def test_the_terminal_has_one_line_a_node_in_prefix_order(tree: Expression) -> None:
    drawn = [line.lstrip("│├└─ ") for line in draw_text(tree)]
    assert drawn == [sign(node.operator) if isinstance(node, Operation) else leaf_text(node) for node in subtrees(tree)]


@given(trees())
def test_svg_has_a_circle_an_operator_a_box_a_leaf_and_a_line_a_branch(tree: Expression) -> None:
    picture = ElementTree.fromstring(draw_svg(tree))
    leaf_count = sum(1 for _ in leaves(tree))
    counts = {kind: len(list(picture.iter(f"{SVG}{kind}"))) for kind in ("rect", "circle", "line", "text")}
    assert counts == {
        "rect": leaf_count,
        "circle": leaf_count - 1,
        "line": 2 * (leaf_count - 1),
        "text": 2 * leaf_count - 1,
    }


@given(trees())
def test_svg_boxes_stand_side_by_side_inside_the_picture(tree: Expression) -> None:
    picture = ElementTree.fromstring(draw_svg(tree))
    left, top, width, height = map(float, picture.attrib["viewBox"].split())
    end = left
    for box in picture.iter(f"{SVG}rect"):
        assert float(box.attrib["x"]) > end
        end = float(box.attrib["x"]) + float(box.attrib["width"])
        assert top < float(box.attrib["y"]) < float(box.attrib["y"]) + float(box.attrib["height"]) < top + height
    assert end < left + width


def test_svg_says_what_the_tree_says() -> None:
    assert sorted(texts_of(draw_svg(parse("N0*(1-N1)")))) == sorted(["×", "N0", "−", "1", "N1"])


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", "a & b", '"quoted"', "it's", "&lt;", "苹果 🍎",
    ],
)  # fmt: skip
def test_svg_escapes_what_a_label_says(text: str) -> None:
    assert texts_of(draw_svg(Reference(0), label=lambda _: text)) == [text]


def test_svg_escapes_a_colour_too() -> None:
    colour = '"/><script>&'
    (box,) = ElementTree.fromstring(draw_svg(Reference(0), colour=lambda _: colour)).iter(f"{SVG}rect")
    assert box.attrib["fill"] == colour


@given(st.text(min_size=1))
@example("\x00\x08\ud800\uffff")
@example("a\r\nb")
def test_svg_is_well_formed_whatever_a_label_says(text: str) -> None:
    picture = draw_svg(parse("N0+1"), label=lambda _: text, colour=lambda _: text)
    first, second, _ = texts_of(picture)
    assert first == second
    assert len(first) == len(text.replace("\r\n", "\n"))  # XML has one kind of line end


def test_svg_shows_what_xml_cannot_hold_as_a_replacement_character() -> None:
    assert texts_of(draw_svg(Reference(0), label=lambda _: "a\x00b")) == ["a\ufffdb"]


def test_svg_fills_a_leaf_with_its_colour_and_nothing_without() -> None:
    def colour(leaf: Leaf) -> str:
        return "#fdd" if isinstance(leaf, Reference) else "#ddf"

    def fills(picture: str) -> list[str]:
        return [box.attrib["fill"] for box in ElementTree.fromstring(picture).iter(f"{SVG}rect")]

    assert fills(draw_svg(parse("N0+1"), colour=colour)) == ["#fdd", "#ddf"]
    assert fills(draw_svg(parse("N0+1"))) == ["none", "none"]


def test_pictures_label_leaves_as_asked() -> None:
    values = [Fraction(12), Fraction(3)]

    def label(leaf: Leaf) -> str:
        return str(values[leaf.index]) if isinstance(leaf, Reference) else leaf_text(leaf)

    assert draw_text(parse("N0/N1"), label) == ["÷", "├─ 12", "└─ 3"]
    assert texts_of(draw_svg(parse("N0/N1"), label)) == ["12", "3", "÷"]

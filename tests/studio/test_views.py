"""How problems look: pieces, colours, trees, numbers in the places of N0, N1…"""

from fractions import Fraction
from pathlib import Path

import pytest

from comdiv.expression import parse
from comdiv.problem import Problem, Provenance
from comdiv.reading import read, read_text
from comdiv.studio import views
from comdiv.studio.library import Library

BAGS = Problem("a", "en", "Tom has 3 bags of 12 apples.", parse("N0*N1"), Fraction(36))
READING = read(BAGS)


def test_pieces_make_up_the_text_and_colour_contexts_by_the_nearest_quantity() -> None:
    found = views.pieces(READING, [7, 2], window=2)
    assert "".join(piece.text for piece in found) == BAGS.text
    assert [(piece.text, piece.cluster) for piece in found if piece.text.strip()] == [
        ("Tom", 7), ("has", 7), ("3", 7), ("bags", 7), ("of", 2), ("12", 2), ("apples", 2), (".", 2),
    ]  # fmt: skip
    assert [piece.text for piece in found if piece.quantity is not None] == ["3", "12"]


@pytest.mark.parametrize(
    "text",
    [
        "3", "No number.", "小明有5个苹果，又买了2个。", " 4  and 5 ",
    ],
)  # fmt: skip
def test_without_a_window_only_quantities_are_set_apart(text: str) -> None:
    reading = read_text(text, "zh" if "小" in text else "en")
    plain = views.pieces(reading, None)
    assert "".join(piece.text for piece in plain) == text
    assert all(piece.cluster is None for piece in plain)
    assert len([piece for piece in plain if piece.quantity is not None]) == len(reading.numbers)


def test_more_clusters_than_colours_begin_again() -> None:
    assert views.Piece("3", 0, views.COLOURS + 2).colour == 2


def test_trees_have_the_texts_numbers_or_the_clusters_and_escape_both() -> None:
    assert BAGS.expression is not None
    numbers = views.tree(READING, BAGS.expression, [7, 2])
    assert ">12</text>" in numbers
    assert 'fill="var(--colour-7)"' in numbers
    clusters = views.cluster_tree(parse("N0*(1-N1)"), [7, 2])
    assert ">c7</text>" in clusters
    assert ">C</text>" in clusters
    beyond = views.tree(READING, parse("N5"))  # an expression that does not fit its text is still drawn
    assert ">N5</text>" in beyond


@pytest.mark.parametrize(
    ("text", "expression", "shown"),
    [
        ("3 bags of 12 apples", "N0*N1-1", "3×12−1"), ("4/5 of the book", "1-N0", "1−(4/5)"),
        ("20% of $2.50", "N0*N1", "20%×2.50"), ("1 2 3 4 5 6 7 8 9 10 11 12", "N11/N1", "12÷2"),
    ],
)  # fmt: skip
def test_numbers_stand_in_the_places_of_quantities(text: str, expression: str, shown: str) -> None:
    assert views.in_numbers(read_text(text, "en"), parse(expression)) == shown


def test_values_of_expressions() -> None:
    assert views.written_value(READING, parse("N0/N1")) == "0.25"
    assert views.written_value(READING, parse("N0/0")) == ""
    assert views.written_value(READING, None) == ""
    assert views.in_numbers(READING, None) == ""


def test_lineage_links_what_is_there_and_never_itself() -> None:
    details = {"donor": "a", "steps": {"x": 1}}
    child = Problem("b", "en", "3 cats.", provenance=Provenance(rule="3", parents=("a", "b", "gone"), details=details))
    library = Library("two", {"train": [BAGS, child]}, {}, Path("review.jsonl"))
    entry = library.find("b")
    assert entry is not None
    lines = {line.key: [(value, found and found.problem.id) for value, found in line.values]
             for line in views.lineage(entry, library)}  # fmt: skip
    assert lines == {
        "rule": [("3", None)],
        "parents": [("a", "a"), ("b", None), ("gone", None)],
        "donor": [("a", "a")],
        "steps": [("x 1", None)],
    }


def test_of_two_quantities_equally_near_the_one_before_a_word_colours_it() -> None:
    shown = views.pieces(read_text("2 or 3", "en"), [0, 1], window=1)
    assert [(piece.text, piece.cluster) for piece in shown if piece.text.strip()] == [("2", 0), ("or", 0), ("3", 1)]

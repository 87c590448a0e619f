"""Problems on the page: every character of a text once, quantities and new words marked, trees escaped."""

from fractions import Fraction

from comdiv.experiments.reporting.examples import new_parts, shown_problem
from comdiv.expression import parse
from comdiv.problem import Problem

PROBLEM = Problem("1", "en", "Tom has 3 bags of 12 apples. How many apples has he?", parse("N0*N1"), Fraction(36))


def test_the_spans_make_the_whole_text_and_mark_each_quantity() -> None:
    shown = shown_problem(PROBLEM, "a problem")
    assert "".join(span.text for span in shown.spans) == PROBLEM.text
    assert [(span.text, span.mark, span.hint) for span in shown.spans if span.mark] == [
        ("3", "q0", "N0"),
        ("12", "q1", "N1"),
    ]
    assert shown.facts == (("expression", "N0*N1"), ("template", "n1*n2"), ("answer", "36"))


def test_the_tree_has_the_numbers_of_the_text_in_the_same_colours() -> None:
    tree = shown_problem(PROBLEM, "a problem").tree
    assert tree is not None
    assert ">12</text>" in tree
    assert 'fill="var(--q1)"' in tree
    assert 'aria-label="Tree of N0*N1"' in tree


def test_clusters_give_colours_and_names() -> None:
    shown = shown_problem(PROBLEM, "a problem", clusters=[7, 13])
    assert [(span.mark, span.hint) for span in shown.spans if span.mark] == [("q7", "cluster 7"), ("q3", "cluster 13")]
    assert ">c13</text>" in str(shown.tree)


def test_new_words_are_marked_also_where_they_hold_a_quantity() -> None:
    old = "Tom has 3 bags. How many apples has he?"
    shown = shown_problem(PROBLEM, "a problem", compared_with=old)
    assert "".join(span.text for span in shown.spans) == PROBLEM.text
    marked = "".join(span.text for span in shown.spans if "new" in span.mark)
    assert marked == "of 12 apples"
    assert any(span.mark == "q1 new" for span in shown.spans)


def test_parts_are_new_only_if_the_older_text_lacks_them() -> None:
    assert new_parts("a b c", "a b c") == []
    assert new_parts("一共有多少个苹果？", "有多少个苹果？") == [(0, 2)]
    assert new_parts("x", "") == [(0, 1)]


def test_a_problem_without_expression_has_no_tree() -> None:
    shown = shown_problem(Problem("2", "en", "How many?"), "nothing")
    assert shown.tree is None
    assert shown.facts == ()

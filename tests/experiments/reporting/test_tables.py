"""Tables as Markdown, LaTeX and CSV: nothing that stands in them can break out of its place."""

import csv
import io

import pytest

from comdiv.experiments.reporting.tables import (
    EMPTY,
    WRITERS,
    Column,
    Entry,
    Table,
    file_name,
    latex_escape,
    to_csv,
    to_latex,
    to_markdown,
)

TABLE = Table(
    "plan/one-accuracy",
    "Accuracy of A & B",
    (Column("Method", number=False), Column("test", group="mawps"), Column("gap", group="mawps")),
    (
        (Entry("GTS|x", "GTS|x"), Entry("48.4 ± 1.2", 48.43, ("paper 51.2 · −2.8",)), Entry("0.59", 0.587)),
        (Entry("=1+1", "=1+1"), Entry("failed", None, tone="failed"), EMPTY),
    ),
    "Percent: 100 % is all_right.",
)


def test_markdown_has_a_header_an_alignment_and_a_line_for_each_row() -> None:
    lines = to_markdown(TABLE).splitlines()
    assert lines[2] == "| Method | mawps test | mawps gap |"
    assert lines[3] == "| --- | ---: | ---: |"
    assert lines[4] == r"| GTS\|x | 48.4 ± 1.2 (paper 51.2 · −2.8) | 0.59 |"
    assert lines[5] == "| =1+1 | failed | – |"


def test_with_breaks_the_small_print_stands_below_and_numbers_do_not_wrap() -> None:
    line = to_markdown(TABLE, breaks=True).splitlines()[4]
    assert line == r"| GTS\|x | 48.4 ± 1.2<br>paper 51.2 · −2.8 | 0.59 |".replace(" ± ", "\u00a0±\u00a0").replace(
        "paper 51.2 · −2.8", "paper\u00a051.2\u00a0·\u00a0−2.8"
    )


def test_latex_is_balanced_and_escaped() -> None:
    text = to_latex(TABLE)
    assert r"Accuracy of A \& B" in text
    assert r"100 \% is all\_right" in text
    assert r"48.4 $\pm$ 1.2 (paper 51.2 $\cdot$ $-$2.8) & 0.59 \\" in text
    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{mawps} \\" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    assert r"\label{tab:plan-one-accuracy}" in text


def test_csv_has_raw_values_and_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert rows[0] == ["Method", "mawps test", "mawps gap"]
    assert rows[1] == ["GTS|x", "48.43", "0.587"]
    assert rows[2] == ["'=1+1", "failed", ""]


@pytest.mark.parametrize("character", "\\&%$#_{}~^")
def test_no_special_sign_of_latex_is_left_bare(character: str) -> None:
    assert latex_escape(character) != character


@pytest.mark.parametrize(
    ("name", "expected"), [("../../etc/passwd", "etc-passwd"), ("a b@c", "a-b-c"), ("…", "unnamed")]
)
def test_file_names_stay_in_their_folder(name: str, expected: str) -> None:
    assert file_name(name) == expected


def test_columns_of_one_group_are_joined() -> None:
    assert TABLE.groups == [("", 1), ("mawps", 2)]
    assert set(WRITERS) == {"md", "tex", "csv"}

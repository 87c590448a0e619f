"""Tables as values, and writing them as Markdown, LaTeX and CSV. The page has its own template for them.

A table is declared, not built: a list of columns, each with the function that shows a record in it (`tabulate`).
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from comdiv.evaluation.significance import Interval

Tone = Literal["", "better", "worse", "failed", "missing"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a table: `value` for sorting and CSV, `text` for people, `lines` in small print below it."""

    text: str
    value: float | str | None = None
    lines: tuple[str, ...] = ()
    tone: Tone = ""
    hint: str = ""  # shown on demand
    link: str = ""  # an id on the page

    @classmethod
    def words(cls, text: str) -> "Entry":
        """A text that is also its value."""
        return cls(text, text)

    @classmethod
    def number(cls, value: float | None, form: str = ",", *lines: str) -> "Entry":
        """A number in a format, with small print; nothing to show if there is none."""
        return EMPTY if value is None else cls(format(value, form).replace("-", "−"), value, lines)

    @classmethod
    def share(cls, share: float | None, *lines: str) -> "Entry":
        """A share in percent."""
        return cls.number(None if share is None else 100 * share, ".1f", *lines)


EMPTY = Entry("–", None, tone="missing", hint="nothing to show here")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; those of one `group` stand side by side under its name. `show` makes its entry from a row's record."""

    title: str
    group: str = ""
    number: bool = True  # right-aligned, and sorted as numbers
    help: str = ""
    show: Callable[[Any], Entry] = lambda record: EMPTY

    @property
    def full_title(self) -> str:
        """Group and title in one line, for files with a single header."""
        return " ".join(part for part in (self.group, self.title) if part)

    @classmethod
    def words(cls, title: str, get: Callable[[Any], str], *, group: str = "", help: str = "") -> "Column":
        """A column of texts."""
        return cls(title, group, False, help, lambda record: Entry.words(get(record)))

    @classmethod
    def numbers(
        cls, title: str, get: Callable[[Any], float | None], form: str = ",", *, group: str = "", help: str = ""
    ) -> "Column":
        """A column of numbers in one format."""
        return cls(title, group, True, help, lambda record: Entry.number(get(record), form))

    @classmethod
    def shares(cls, title: str, get: Callable[[Any], float | None], *, group: str = "") -> "Column":
        """A column of shares in percent."""
        return cls(title, group, show=lambda record: Entry.share(get(record)))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of entries under columns; `notes` stand below."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    row_ids: tuple[str, ...] = ()  # targets of links on the page; may be empty
    long: bool = False  # many rows: the page offers to filter them
    detail: bool = False  # folded away on the page: for looking things up

    @property
    def file(self) -> str:
        """Its file name without the suffix; also its id on the page."""
        return file_name(self.name)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Groups of neighbouring columns with their sizes, for a second header line."""
        return [(name, len(list(columns))) for name, columns in groupby(self.columns, lambda column: column.group)]

    @property
    def grouped(self) -> bool:
        """Whether any column belongs to a group."""
        return any(column.group for column in self.columns)


def tabulate(
    name: str, title: str, columns: Sequence[Column], records: Iterable[Any], caption: str = "", **more: Any
) -> Table | None:
    """One row per record, shown by each column; None without a record. `more` are further fields of the table."""
    rows = tuple(tuple(column.show(record) for column in columns) for record in records)
    return Table(name, title, tuple(columns), rows, caption, **more) if rows else None


# --- writing tables ---


def file_name(name: str) -> str:
    """A name that is safe for files and as an id on the page: users choose the names of plans and datasets."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def to_markdown(table: Table, *, breaks: bool = False) -> str:
    """The table for README files and issues; with `breaks`, the small print is below instead of in brackets."""
    lines = [f"**{_md(table.title)}**", ""] if table.title else []
    lines.append(_md_row([column.full_title for column in table.columns]))
    lines.append(_md_row([("---:" if column.number else "---") for column in table.columns]))
    if breaks:
        numbers = [column.number for column in table.columns]
        lines += [f"| {' | '.join(map(_stacked, row, numbers))} |" for row in table.rows]
    else:
        lines += [_md_row([_flat(entry) for entry in row]) for row in table.rows]
    for text in (table.caption, *table.notes):
        lines += ["", _md(text)] if text else []
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """The table for a paper: booktabs, special characters escaped; Chinese names need XeLaTeX or LuaLaTeX."""
    layout = "".join("r" if column.number else "l" for column in table.columns)
    lines = [r"\begin{table}", r"\centering\small", rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    if table.grouped:
        spans = [rf"\multicolumn{{{count}}}{{c}}{{{latex_escape(name)}}}" for name, count in table.groups]
        lines.append(" & ".join(spans) + r" \\")
    lines.append(" & ".join(latex_escape(column.title) for column in table.columns) + r" \\")
    lines.append(r"\midrule")
    lines += [" & ".join(latex_escape(_flat(entry)) for entry in row) + r" \\" for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    caption = " ".join(text for text in (f"{table.title}.", table.caption) if text)
    lines += [rf"\caption{{{latex_escape(caption)}}}", rf"\label{{tab:{table.file}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table for programs: raw values in full precision where there are any."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.full_title for column in table.columns])
    for row in table.rows:
        writer.writerow([_raw(entry) for entry in row])
    return stream.getvalue()


def _raw(entry: Entry) -> str | float:
    if entry.value is not None:
        # A spreadsheet takes a text that begins with = + - @ for a formula.
        return f"'{entry.value}" if isinstance(entry.value, str) and entry.value[:1] in "=+-@\t" else entry.value
    return "" if entry.tone == "missing" and entry.text == EMPTY.text else entry.text


def _flat(entry: Entry) -> str:
    return f"{entry.text} ({'; '.join(entry.lines)})" if entry.lines else entry.text


def _stacked(entry: Entry, number: bool) -> str:
    """The text with its small print on lines below; a number never breaks, however narrow the page."""
    lines = [_md(line) for line in (entry.text, *entry.lines)]
    return "<br>".join(line.replace(" ", "\u00a0") if number else line for line in lines)


def _md_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell if set(cell) <= set('-:') else _md(cell) for cell in cells)} |"


def _md(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$",
    "÷": r"$\div$", "≤": r"$\leq$", "→": r"$\rightarrow$", "α": r"$\alpha$", "<": "$<$", ">": "$>$", "·": r"$\cdot$",
    "…": r"\ldots{}", "Δ": r"$\Delta$", "\u202f": r"\,", "\u00a0": "~",
}  # fmt: skip


def latex_escape(text: str) -> str:
    """The text escaped for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


WRITERS = {"md": to_markdown, "tex": to_latex, "csv": to_csv}


# --- numbers in words ---


def percent(share: float) -> str:
    """48.4 for 0.484: tables mention percent once, in their captions."""
    return f"{100 * share:.1f}"


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, using a real minus; one that rounds to zero has none."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def signed_percent(difference: float) -> str:
    """A difference of shares in points."""
    return signed(100 * difference)


def interval_text(interval: Interval) -> str:
    """An interval of shares in percent."""
    return f"{_minus(100 * interval[0])} to {_minus(100 * interval[1])}"


def p_text(p: float) -> str:
    """A p-value with three decimals, or "p < 0.001"."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def duration(seconds: float) -> str:
    """12 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _minus(value: float) -> str:
    return f"{value:.1f}".replace("-", "−")

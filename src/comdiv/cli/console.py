"""What all verbs share: consoles, progress, one-line errors, and suggestions for misspelled verbs."""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperGroup

from comdiv.observer import Observer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")
# What a terminal would obey or hide: control characters but for tab and line feed, and marks that turn the direction.
_CONTROLS = [*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_HARMLESS = dict.fromkeys(_CONTROLS, "\ufffd")


class SuggestingGroup(TyperGroup):
    """A group that suggests the nearest verb for an unknown one, and lists its verbs in the order of definition."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known = args[0] if args else "", self.list_commands(ctx)
        if name and not name.startswith("-") and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"No such verb '{name}'.{hint} Known: {', '.join(known)}")
        return super().resolve_command(ctx, args)


def output_console() -> "Console":
    """The console for results: standard output."""
    return _console()


def error_console() -> "Console":
    """The console for progress, notes and errors: standard error, so that results can be piped."""
    return _console(stderr=True)


def _console(*, stderr: bool = False) -> "Console":
    """A console that shows whatever texts and ids hold, but never obeys it: control characters come out as `\ufffd`."""
    from rich.console import Console
    from rich.segment import Segment

    class HarmlessConsole(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else text.translate(_HARMLESS), style, control)

    return HarmlessConsole(stderr=stderr, highlight=False)


def print_error(message: str) -> None:
    """One line, in red if the terminal has colours; brackets in file names are not taken for markup."""
    from rich.text import Text

    line = " ".join(message.splitlines())
    error_console().print(Text.assemble(("comdiv: ", "bold red"), line), soft_wrap=True)


def print_note(message: str) -> None:
    """Print a line on standard error, apart from the results."""
    error_console().print(message, markup=False, style="dim", soft_wrap=True)


def print_json(value: Any) -> None:
    """Print a result for programs."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


@contextmanager
def progress_bars() -> Iterator["Progress"]:
    """Progress bars on standard error, which disappear when the work is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    console = error_console()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield progress


class Terminal(Observer):
    """Shows bars and notes on standard error."""

    def note(self, message: str) -> None:
        print_note(message)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[str, int, int, str], None]]:
        """One bar for work that reports its own progress: what, how many done, how many in total, a note."""
        with progress_bars() as bars:
            task = bars.add_task(what, total=None, note="")

            def report(what: str, done: int, total: int, note: str) -> None:
                bars.update(task, description=what, completed=done, total=total, note=note)

            yield report

    def tracked(self, items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
        """The items with a progress bar."""
        with progress_bars() as progress:
            task = progress.add_task(what, total=total, note="")
            for count, item in enumerate(items, start=1):
                yield item
                if count % 100 == 0:
                    progress.update(task, completed=count)


TERMINAL = Terminal()

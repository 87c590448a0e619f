"""What all verbs share: consoles, progress, one-line errors, and suggestions for misspelled verbs."""

import difflib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperGroup

from comdiv.observer import Observer

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import Console
    from rich.progress import Progress, TaskID

T = TypeVar("T")
LINE_EVERY = 30.0  # seconds between two lines about long work where there is no terminal
SHOWN_EVERY = 0.1  # seconds between two steps of a bar
# What a stopped verb has kept. Verbs not listed write their output at the end, as a whole.
_KEPT = {
    "train": "finished epochs are kept: the same command continues",
    "ask": "every answer is kept: the same command continues",
    "augment": "finished steps are kept: the same command continues",
    "run": "finished cells and epochs are kept: the same command continues",
    "data download": "what has arrived is kept: the same command continues",
    "studio": "every decision is kept: the same command continues",
    "judge": "every mark is kept: the same command continues",
}
# What a terminal would obey or hide: control characters but for tab and line feed, and marks that turn the direction.
_CONTROLS = [*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_HARMLESS = dict.fromkeys(_CONTROLS, "\ufffd")
_ESCAPED = {code: f"\\u{code:04x}" for code in _CONTROLS if code > 126}  # JSON itself escapes the others


class Stop(BaseException):
    """The command was stopped: by Ctrl+C, or by SIGTERM from a scheduler or a container."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def stop_on_signals() -> None:
    """Let Ctrl+C and SIGTERM raise `Stop`, so that everything is closed; a second one ends the process at once."""

    def stop(number: int, frame: "FrameType | None") -> None:
        del frame
        for known in _SIGNALS:
            signal.signal(known, signal.SIG_DFL)
        raise Stop(number)

    for known in _SIGNALS:
        if signal.getsignal(known) is not signal.SIG_IGN:  # a shell lets its background jobs ignore Ctrl+C
            signal.signal(known, stop)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def print_stop(stop: Stop) -> None:
    """One line: that the command was stopped, what was kept, and how to go on."""
    words = [word for word in sys.argv[1:3] if not word.startswith("-")]
    verb = next((name for name in (" ".join(words), *words[:1]) if name in _KEPT), "")
    outcome = _KEPT.get(verb, "nothing was written: the same command starts again")
    print_error(f"stopped by {signal.Signals(stop.number).name}; {outcome}")


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
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str).translate(_ESCAPED))


def print_line(line: object) -> None:
    """Print one line of a result, however long, without markup."""
    typer.echo(str(line).translate(_HARMLESS))


@contextmanager
def progress_bars() -> Iterator["Progress"]:
    """Progress bars on standard error, which disappear when the work is done; without a terminal, lines."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    class Lines(Progress):
        """Progress without a terminal: a line now and then instead of a bar."""

        due = time.monotonic() + LINE_EVERY

        def update(self, task_id: "TaskID", **changes: Any) -> None:
            super().update(task_id, **changes)
            if self.disable and time.monotonic() >= self.due:
                self.due = time.monotonic() + LINE_EVERY
                task = self.tasks[self.task_ids.index(task_id)]
                of = "" if task.total is None else f" of {task.total:,.0f}"
                print_note(f"{task.description.strip()}: {task.completed:,.0f}{of} {task.fields['note']}".rstrip())

    columns = (
        TextColumn("{task.description}", markup=False),  # names of models and corpora are nobody's markup
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
        TimeRemainingColumn(),
    )
    console = error_console()
    with Lines(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
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
            shown = time.monotonic()
            for count, item in enumerate(items, start=1):
                yield item
                if time.monotonic() - shown > SHOWN_EVERY:
                    shown = time.monotonic()
                    progress.update(task, completed=count)


TERMINAL = Terminal()

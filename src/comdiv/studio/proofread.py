"""Proofread: products one by one, one key per decision, which is in `review.jsonl` before the next one appears."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from comdiv.errors import ComdivError
from comdiv.expression import to_infix
from comdiv.reading import read
from comdiv.review import STATUSES, Decision, checked_edit, doubts
from comdiv.studio import views
from comdiv.studio.explore import decision_on, problem_values
from comdiv.studio.library import LibraryEntry
from comdiv.studio.pages import is_partial, link, render

if TYPE_CHECKING:
    from comdiv.studio.app import Studio

Which = Literal["seeds", "products", "all"]


def add_proofread(app: FastAPI, studio: "Studio") -> None:
    """The queue at `/proofread`; decisions, undo and the live check of an edit."""

    @app.get("/proofread")
    def queue(
        request: Request, which: str = "", of: str = "", id: str = "", part: str = "", edit: bool = False
    ) -> HTMLResponse:
        candidates = _candidates(studio, which, of)
        entry = studio.find(id, part) if id else _next_open(studio, candidates, -1)
        if id and entry is None:
            raise HTTPException(404, f"There is no problem '{id[:200]}' here.")
        return _shown(request, studio, which, of, entry, editing=edit)

    @app.post("/proofread/decide")
    def decide(
        request: Request,
        id: Annotated[str, Form()],
        status: Annotated[str, Form()],
        part: Annotated[str, Form()] = "",
        which: Annotated[str, Form()] = "",
        of: Annotated[str, Form()] = "",
        text: Annotated[str, Form()] = "",
        expression: Annotated[str, Form()] = "",
    ) -> Response:
        entry = _entry(studio, id, part)
        decision = _decision(entry, status, text, expression)
        studio.review.decide(replace(decision, by=studio.reviewer))
        following = _next_open(studio, _candidates(studio, which, of), entry.number)
        return _after(request, studio, which, of, following)

    @app.post("/proofread/undo")
    def undo(request: Request, which: Annotated[str, Form()] = "", of: Annotated[str, Form()] = "") -> Response:
        undone = studio.review.undo(by=studio.reviewer)
        if undone is None:
            raise ComdivError("there is nothing to undo")
        return _after(request, studio, which, of, studio.library.find(undone.id))

    @app.post("/proofread/check")
    def check(
        id: Annotated[str, Form()],
        part: Annotated[str, Form()] = "",
        text: Annotated[str, Form()] = "",
        expression: Annotated[str, Form()] = "",
    ) -> HTMLResponse:
        entry = _entry(studio, id, part)
        return render("check.html", **_checked(entry, text, expression))


def _decision(entry: LibraryEntry, status: str, text: str, expression: str) -> Decision:
    if status not in STATUSES:
        raise ComdivError(f"unknown status '{status[:40]}'; known: {', '.join(STATUSES)}")
    if status != "edited":
        return Decision(entry.problem.id, status)
    edited = checked_edit(entry.problem, text, expression)
    assert edited.expression is not None  # an edit has one
    return Decision(entry.problem.id, "edited", edited.text, to_infix(edited.expression))


def _entry(studio: "Studio", id: str, part: str) -> LibraryEntry:
    entry = studio.find(id, part)
    if entry is None:
        raise ComdivError(f"there is no problem '{id[:200]}' here")
    return entry


def _candidates(studio: "Studio", which: str, part: str) -> tuple[LibraryEntry, ...]:
    """The problems to proofread: the seeds, the products or everything, of one part or of all."""
    chosen = _which(studio, which)
    if chosen == "seeds":
        return tuple(entry for entry in studio.library.seeds if not part or entry.part == part)
    return studio.library.queue(chosen == "products", part)


def _which(studio: "Studio", which: str) -> Which:
    """The requested queue. By default the seeds of a synthesised dataset, since `--only accepted` takes a product only
    if its seed is accepted; otherwise the products, if there are any. A blind reader has no choice of queues.
    """
    if which in ("seeds", "products", "all") and not studio.blind:
        return which  # type: ignore[return-value]  # mypy does not narrow a str by `in`
    if studio.library.facts.get("made_by") == "comdiv synthesize" and not studio.blind:
        seeds = tuple(studio.library.seeds)
        if seeds and _next_open(studio, seeds, -1) is not None:
            return "seeds"
    return "products" if studio.library.products else "all"


def _next_open(studio: "Studio", candidates: Sequence[LibraryEntry], after: int) -> LibraryEntry | None:
    """The next undecided problem after a place; at the end, the search continues from the beginning."""
    decided = {name for name, decision in studio.review.latest.items() if decision.status != "open"}
    begin = bisect_right(candidates, after, key=lambda entry: entry.number)
    undecided = (entry for entry in chain(candidates[begin:], candidates[:begin]) if entry.problem.id not in decided)
    return next(undecided, None)


def _statuses(studio: "Studio", candidates: Sequence[LibraryEntry]) -> dict[str, int]:
    """How many of the candidates are accepted, edited, rejected, and still open."""
    latest = studio.review.latest
    counted = Counter(latest[entry.problem.id].status for entry in candidates if entry.problem.id in latest)
    counted["open"] = len(candidates) - sum(count for status, count in counted.items() if status != "open")
    return {status: counted[status] for status in STATUSES}


def _after(request: Request, studio: "Studio", which: str, of: str, entry: LibraryEntry | None) -> Response:
    """The response to a write: the next problem for htmx, or its page for a browser without scripts."""
    address = _address(studio, which, of, entry)
    if not is_partial(request):
        return RedirectResponse(address, 303)
    response = _shown(request, studio, which, of, entry)
    response.headers["HX-Push-Url"] = address
    return response


def _address(studio: "Studio", which: str, of: str, entry: LibraryEntry | None, **more: Any) -> str:
    named = studio.names(entry) if entry else {}
    return link("/proofread", which=which, of=of, **named, **more)


def _shown(
    request: Request, studio: "Studio", which: str, of: str, entry: LibraryEntry | None, *, editing: bool = False
) -> HTMLResponse:
    candidates = _candidates(studio, which, of)
    place = None
    if entry is not None:
        begin = bisect_left(candidates, entry.number, key=lambda candidate: candidate.number)
        place = begin if begin < len(candidates) and candidates[begin] is entry else None
    beside = [candidates[place - 1] if place else None, None]
    if place is not None and place + 1 < len(candidates):
        beside[1] = candidates[place + 1]
    values: dict[str, Any] = {
        "studio": studio,
        "here": "proofread",
        "which": _which(studio, which),
        "of": of,
        "item": entry,
        "place": place,
        "total": len(candidates),
        "statuses": _statuses(studio, candidates),
        "earlier": _address(studio, which, of, beside[0]) if beside[0] else None,
        "later": _address(studio, which, of, beside[1]) if beside[1] else None,
        "named": studio.names(entry) if entry else {},
        "edit_link": _address(studio, which, of, entry, edit=1) if entry else None,
        "view_link": _address(studio, which, of, entry) if entry else None,
        "editing": editing,
        "undoable": studio.review.last_done() is not None,
    }
    if entry is not None:
        values |= _item(studio, entry)
    return render("proofread_item.html" if is_partial(request) else "proofread.html", **values)


def _item(studio: "Studio", entry: LibraryEntry) -> dict[str, Any]:
    """A problem in its current form: with its edit, if somebody edited it."""
    decision = decision_on(studio, entry)
    values = problem_values(studio, entry)
    written = "" if entry.problem.expression is None else to_infix(entry.problem.expression)
    text, expression = decision.text or entry.problem.text, decision.expression or written
    reading = read(replace(entry.problem, text=text))
    return {
        **values,
        "text": text,
        # Coloured by quantity, not by cluster, like the tree beside it.
        "pieces": views.pieces(reading, range(len(reading.numbers))),
        "expression": expression,
        "check": _checked(entry, text, expression),
    }


def _checked(entry: LibraryEntry, text: str, expression: str) -> dict[str, Any]:
    """What the live check says about an edit: its quantities, tree and value, or what is wrong."""
    try:
        edited = checked_edit(entry.problem, text, expression)
    except ComdivError as error:
        typed = replace(entry.problem, text=" ".join(text.split())[:10_000])
        return {
            "wrong": str(error),
            "quantities": read(typed).plain_quantities,
            "doubts": [],
            "tree": None,
            "value": "",
        }
    assert edited.expression is not None  # an edit has one
    reading = read(edited)
    return {
        "wrong": "",
        "quantities": reading.plain_quantities,
        "doubts": doubts(edited, edited.expression),
        "tree": views.tree(reading, edited.expression),
        "in_numbers": views.in_numbers(reading, edited.expression),
        "value": views.number(edited.answer),
    }

"""Explore: search and filter problems, and see everything about one of them on a page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from comdiv.reading import read
from comdiv.review import Decision
from comdiv.studio import views
from comdiv.studio.library import PAGE_SIZE, LibraryEntry, Query
from comdiv.studio.pages import is_partial, link, render

if TYPE_CHECKING:
    from comdiv.studio.app import Studio


def add_explore(app: FastAPI, studio: "Studio") -> None:
    """The list of problems at `/`, a problem at `/problem`."""

    @app.get("/")
    def explore(request: Request) -> HTMLResponse:
        query = Query.of(request.query_params)
        entries = studio.library.search(query)
        pages = max(1, -(-len(entries) // PAGE_SIZE))
        page = min(_page(request.query_params.get("page", "")), pages)
        shown = entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        values: dict[str, Any] = {
            "studio": studio,
            "here": "explore",
            "query": query,
            "facets": studio.library.facets,
            "total": len(entries),
            "first": (page - 1) * PAGE_SIZE + 1,
            "rows": _rows(studio, shown),
            "page": page,
            "pages": pages,
            "page_link": lambda number: link("/", **query.parameters(), page=number if number > 1 else None),
        }
        if not is_partial(request):
            return render("explore.html", **values)
        answer = render("results.html", **values)
        answer.headers["HX-Push-Url"] = values["page_link"](page)
        return answer

    @app.get("/problem")
    def problem(id: str, part: str = "") -> HTMLResponse:
        entry = studio.library.find(id, part)
        if entry is None:
            raise HTTPException(404, f"There is no problem '{id[:200]}' here.")
        return render("problem.html", studio=studio, here="explore", **problem_values(studio, entry))


def problem_values(studio: "Studio", entry: LibraryEntry) -> dict[str, Any]:
    """Everything that a problem's page shows."""
    cluster_map, reading = studio.cluster_map, read(entry.problem)
    clusters = cluster_map.clusters.get(entry.number) if cluster_map else None
    expression = reading.expression
    before, after = studio.library.neighbours(entry)
    return {
        "entry": entry,
        "pieces": views.pieces(reading, clusters, cluster_map.settings.window if cluster_map else 0),
        "legend": _legend(studio, clusters),
        "tree": None if expression is None else views.tree(reading, expression, clusters),
        "cluster_tree": None if expression is None or clusters is None else views.cluster_tree(expression, clusters),
        "in_numbers": views.in_numbers(reading, expression),
        "quantities": reading.plain_quantities,
        "atoms": cluster_map.atoms(entry) if cluster_map else [],
        "compounds": cluster_map.compounds(entry) if cluster_map else [],
        "lineage": views.lineage(entry, studio.library),
        "children": studio.library.children(entry.problem.id),
        "decision": decision_on(studio, entry),
        "before": before,
        "after": after,
    }


def decision_on(studio: "Studio", entry: LibraryEntry) -> Decision:
    """What people have decided about a problem so far."""
    return studio.review.latest.get(entry.problem.id) or Decision(entry.problem.id, "open")


def _rows(studio: "Studio", shown: Sequence[LibraryEntry]) -> list[dict[str, Any]]:
    clusters = studio.cluster_map.clusters if studio.cluster_map else {}
    decided = studio.review.latest
    return [
        {
            "entry": entry,
            "pieces": views.pieces(read(entry.problem), clusters.get(entry.number)),
            "status": decided[entry.problem.id].status if entry.problem.id in decided else "open",
        }
        for entry in shown
    ]


def _legend(studio: "Studio", clusters: Any) -> list[tuple[int, int, str]]:
    """The clusters of a problem with their colours and typical words."""
    if studio.cluster_map is None or clusters is None:
        return []
    words = studio.cluster_map.words
    return [(cluster, cluster % views.COLOURS, ", ".join(words.get(cluster, ()))) for cluster in sorted(set(clusters))]


def _page(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 and int(text) else 1

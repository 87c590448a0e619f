"""From values to pages: one Jinja environment in which all text is escaped, and pages for errors."""

from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException

from comdiv import __version__
from comdiv.errors import ComdivError
from comdiv.studio import views

_FOLDER = files("comdiv.studio")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("comdiv.studio"), auto_reload=False, autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["percent"] = lambda share, digits=1: f"{100 * share:.{digits}f} %"
    environment.filters["thousands"] = lambda count: f"{count:,}"
    environment.filters["number"] = views.number
    environment.filters["spoken"] = views.spoken
    environment.filters["signs"] = views.signs
    environment.globals["version"] = __version__
    environment.globals["link"] = link
    environment.globals["problem_link"] = lambda entry: link("/problem", id=entry.problem.id, part=entry.part)
    return environment


def link(path: str, **parameters: Any) -> str:
    """An address with its parameters; ids may contain any character, so they are never part of a path."""
    given = {key: value for key, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


_ENVIRONMENT = _environment()


def render(template: str, /, **values: Any) -> HTMLResponse:
    """A page, or a part of one."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**values))


def is_partial(request: Request) -> bool:
    """Whether htmx asks for a part of a page, rather than the browser for a whole one."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-history-restore-request") != "true"


def new_application() -> FastAPI:
    """A basic application with only static files and error pages."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/static", _Static(directory=str(_FOLDER / "static")))

    @app.exception_handler(ComdivError)
    async def mistake(request: Request, error: Exception) -> Response:
        return _error(request, 400, str(error))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = error.detail if error.status_code != 404 or error.detail != "Not Found" else "There is no such page."
        return _error(request, error.status_code, said)

    @app.exception_handler(RequestValidationError)
    async def incomplete(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        missing = ", ".join(str(detail["loc"][-1]) for detail in error.errors())
        return _error(request, 400, f"The request cannot be understood: {missing[:200]}")

    return app


def _error(request: Request, status: int, said: str) -> Response:
    if is_partial(request):  # the script shows it next to what the user was doing
        return PlainTextResponse(said, status)
    page = render("error.html", status=status, said=said)
    page.status_code = status
    return page


class _Static(StaticFiles):
    """Static files that browsers always revalidate: a new version of comdiv must not run with an old script."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response

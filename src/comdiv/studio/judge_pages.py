"""Judge: the pages of a session. Private pages need a secret in the path: the judge's own link."""

import json
import secrets
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Form, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA, GOOD, NOT_GOOD, Judgement, write_judgements
from comdiv.evaluation.kappa import Agreement, agreement
from comdiv.files import write_text
from comdiv.reading import read
from comdiv.studio import views
from comdiv.studio.pages import is_partial, new_application, render
from comdiv.studio.session import Judge, JudgingSession

SHOWN_PROBLEMS = 1000  # whose texts are kept as they are shown
EXPLAINED = {
    "grammar": "The sentences are grammatical.",
    "fluency": "It reads like something a person would write.",
    "logic": "The story is consistent, and the question can be answered from it.",
}


def judging_app(session: JudgingSession, *, with_solution: bool = True) -> FastAPI:
    """The application; `with_solution`: whether judges also see a problem's expression and answer."""
    app = new_application()

    def known(secret: str) -> Judge:
        judge = session.judge(secret)
        if judge is None:
            raise HTTPException(404, "This link belongs to no judge. Ask whoever invited you for yours.")
        return judge

    @lru_cache(maxsize=SHOWN_PROBLEMS)
    def shown(place: int) -> dict[str, Any]:
        """What every judge sees of a problem."""
        problem = session.problem(place)
        reading = read(problem)
        solution = views.in_numbers(reading, problem.expression) if with_solution else ""
        return {"problem": problem, "pieces": views.pieces(reading, None), "solution": solution}

    @app.get("/")
    def entrance() -> HTMLResponse:
        return render("judge_entrance.html")

    @app.get("/judge/{secret}")
    def welcome(secret: str) -> HTMLResponse:
        judge = known(secret)
        following = session.next_unmarked(judge.name)
        return render("judge_welcome.html", explained=EXPLAINED, following=following, **_common(session, judge))

    @app.get("/judge/{secret}/problem/{place}")
    def problem(secret: str, place: int, request: Request) -> HTMLResponse:
        return _item(request, session, known(secret), place, shown(place))

    @app.post("/judge/{secret}/problem/{place}")
    def mark(
        request: Request,
        secret: str,
        place: int,
        grammar: Annotated[str, Form()] = "",
        fluency: Annotated[str, Form()] = "",
        logic: Annotated[str, Form()] = "",
        comment: Annotated[str, Form()] = "",
    ) -> Response:
        judge = known(secret)
        session.mark(judge.name, place, _marks({"grammar": grammar, "fluency": fluency, "logic": logic}), comment)
        following = session.next_unmarked(judge.name, place)
        address = f"/judge/{secret}/problem/{following}" if following else f"/judge/{secret}/summary"
        if not is_partial(request):
            return RedirectResponse(address, 303)
        judge = known(secret)
        response = (
            _item(request, session, judge, following, shown(following))
            if following
            else _summary(request, session, judge)
        )
        response.headers["HX-Push-Url"] = address
        return response

    @app.get("/judge/{secret}/summary")
    def summary(secret: str, request: Request) -> HTMLResponse:
        return _summary(request, session, known(secret))

    @app.post("/judge/{secret}/finish")
    def finish(secret: str) -> Response:
        judge = known(secret)
        session.finish(judge.name)
        if session.is_over:
            write_results(session)
        return RedirectResponse(f"/judge/{secret}/results", 303)

    @app.get("/judge/{secret}/results")
    def results(secret: str, request: Request) -> HTMLResponse:
        return _results(request, session, known(secret))

    @app.get("/judge/{secret}/judgements.jsonl")
    def own_judgements(secret: str) -> Response:
        return _download(list(session.own_marks(known(secret).name).values()))

    @app.get("/overview/{secret}")
    def overview(secret: str, request: Request) -> HTMLResponse:
        _check_organiser(session, secret)
        return _results(request, session, None)

    @app.get("/overview/{secret}/judgements.jsonl")
    def everybodys_judgements(secret: str) -> Response:
        _check_organiser(session, secret)
        return _download(session.all_judgements())

    return app


def write_results(session: JudgingSession) -> list[Path]:
    """Write everybody's marks and their agreement beside the session's file, once all have finished."""
    judgements = session.all_judgements()
    marks, report = session.path.with_name("judgements.jsonl"), session.path.with_name("agreement.json")
    write_judgements(marks, judgements)
    facts = {key: value for key, value in session.facts.items() if key != "organiser"}
    record = {"session": facts, **agreement(judgements).to_json()}
    write_text(report, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    return [marks, report]


def _check_organiser(session: JudgingSession, secret: str) -> None:
    if not secrets.compare_digest(secret.encode(), session.organiser.encode()):
        raise HTTPException(404, "There is no such page.")


def _common(session: JudgingSession, judge: Judge) -> dict[str, Any]:
    return {"session": session, "judge": judge, "base": f"/judge/{judge.secret}"}


def _item(
    request: Request, session: JudgingSession, judge: Judge, place: int, shown: Mapping[str, Any]
) -> HTMLResponse:
    values = _common(session, judge) | {
        "place": place,
        "criteria": CRITERIA,
        "explained": EXPLAINED,
        "given": session.own_mark(judge.name, place),
    }
    return render("judge_item.html" if is_partial(request) else "judge_page.html", summary=False, **values, **shown)


def _summary(request: Request, session: JudgingSession, judge: Judge) -> HTMLResponse:
    values = _common(session, judge) | {"own": session.own_marks(judge.name), "criteria": CRITERIA}
    return render("judge_summary.html" if is_partial(request) else "judge_page.html", summary=True, **values)


def _results(request: Request, session: JudgingSession, judge: Judge | None) -> HTMLResponse:
    """Progress while somebody is still judging; shares, κ and disagreements afterwards."""
    judges = session.judges()
    found: Agreement | None = None
    texts: dict[str, str] = {}
    if all(one.finished for one in judges):
        found = agreement(session.all_judgements())
        problems = {problem.id: problem.text for problem in session.problems}
        texts = {disputed[0].id: problems[disputed[0].id] for disputed in found.disagreements}
    values: dict[str, Any] = {"session": session, "judge": judge, "judges": judges, "found": found, "texts": texts}
    values |= {"criteria": CRITERIA, "here": request.url.path, "base": f"/judge/{judge.secret}" if judge else ""}
    return render("judge_progress.html" if is_partial(request) else "judge_results.html", **values)


def _marks(given: dict[str, str]) -> dict[str, bool]:
    """The marks of a form; criteria without a choice are absent, and invalid marks are refused."""
    for criterion, mark in given.items():
        if mark not in ("", GOOD, NOT_GOOD):
            raise ComdivError(f"{criterion} must be '{GOOD}' or '{NOT_GOOD}', not '{mark[:40]}'")
    return {criterion: mark == GOOD for criterion, mark in given.items() if mark}


def _download(judgements: list[Judgement]) -> Response:
    lines = (json.dumps(judgement.to_json(), ensure_ascii=False) + "\n" for judgement in judgements)
    return PlainTextResponse("".join(lines), headers={"content-disposition": 'attachment; filename="judgements.jsonl"'})

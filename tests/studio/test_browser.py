"""The four flows in Chromium, from end to end: what people do, with the keys and the mouse that they use."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Complaints, open_browser
from comdiv.evaluation.judgements import read_judgements
from comdiv.problem import write_problems
from comdiv.review import read_review
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.judge_pages import judging_app
from comdiv.studio.security import Guard
from comdiv.studio.server import in_background
from comdiv.studio.session import JudgingSession
from comdiv.studio.shelf import Shelf
from solvers.tiny import trained_solver
from studio.serving import Process, free_port, links_of
from studio.small import hostile, products

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE = 60_000  # milliseconds until a condition counts as failed: the machine may be busy
DESKTOP, PHONE, ZOOMED = (1280, 800), (360, 740), (640, 400)  # 200 % zoom halves the pixels of a page
OpenPage = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as chromium:
        yield chromium


@pytest.fixture
def open_page(browser: "Browser") -> Iterator[OpenPage]:
    """Opens pages, each in a browser profile of its own; at the end none of them may have complained."""
    complaints: list[Complaints] = []
    with ExitStack() as contexts:

        def open_at(
            address: str, size: tuple[int, int] = DESKTOP, *, dark: bool = False, complaining: bool = False
        ) -> "Page":
            scheme = "dark" if dark else "light"
            context: BrowserContext = browser.new_context(
                viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
            )
            contexts.callback(context.close)
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            if not complaining:
                complaints.append(Complaints(page, "http://127.0.0.1:"))
            visit(page, address)
            return page

        yield open_at
    assert [complaint for page in complaints for complaint in page.found] == []


def visit(page: "Page", address: str) -> None:
    """Go there and wait for the scripts: a key that is pressed before them is lost."""
    page.goto(address, timeout=PATIENCE)
    ready(page)


def ready(page: "Page") -> None:
    page.wait_for_selector("html.ready", state="attached")


def press_to(page: "Page", key: str, arrives: str) -> None:
    """Press a key and wait for what it leads to."""
    page.keyboard.press(key)
    page.wait_for_selector(arrives)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    trained_solver("gts").save(folder / "gts")
    trained_solver("lstm").save(folder / "lstm")
    return folder


@pytest.fixture(scope="module")
def looking(dataset: Path, made: Callable[..., Studio], runs: Path) -> Iterator[str]:
    """A studio for tests that write nothing."""
    with in_background(Guard(studio_app(made(dataset, Shelf(runs))))) as address:
        yield address


@pytest.fixture
def writing(own_dataset: Path, made: Callable[..., Studio]) -> Iterator[str]:
    """A studio with a dataset of its own."""
    with in_background(Guard(studio_app(made(own_dataset)))) as address:
        yield address


@pytest.fixture
def session(tmp_path: Path) -> JudgingSession:
    return JudgingSession.create(tmp_path / "judging.sqlite", [*products(), *hostile()], ["Ann", "Ben"], {"seed": 0})


@pytest.fixture
def judging(session: JudgingSession) -> Iterator[dict[str, str]]:
    """The judges' links."""
    with in_background(Guard(judging_app(session), secret_links=True)) as address:
        yield {judge.name: f"{address}/judge/{judge.secret}" for judge in session.judges()}


# --- explore ---


def test_explore_search_filter_open_and_go_back(open_page: OpenPage, looking: str) -> None:
    page = open_page(f"{looking}/")
    page.wait_for_selector("text=165 problems")
    page.keyboard.press("/")
    page.keyboard.type("bags apples")
    page.wait_for_selector("#results >> text=1 problem, 1 to 1")
    page.wait_for_url(re.compile(r"words=bags(\+|%20)apples"))
    page.fill("[name=words]", "")
    page.select_option("[name=made_by]", "operation 1")
    page.wait_for_url(re.compile("made_by=operation"))
    page.wait_for_selector("#results >> text=Ann had")
    page.click("text=Ann had")
    page.wait_for_selector("h1:has-text('p3')")
    ready(page)
    assert page.locator(".tree svg").count() == 2
    assert page.locator("mark.quantity sub").count() == 2
    page.click(".lineage a:has-text('p1')")
    page.wait_for_selector("h1:has-text('p1')")
    page.go_back()
    page.wait_for_selector("h1:has-text('p3')")


def test_explore_pages_through_the_list(open_page: OpenPage, looking: str) -> None:
    page = open_page(f"{looking}/")
    page.click(".results-head >> text=Next")
    page.wait_for_selector("#results >> text=page 2 of 4")
    page.wait_for_url(re.compile("page=2"))
    page.reload()
    page.wait_for_selector("#results >> text=51 to 100")


def test_a_corpus_full_of_scripts_runs_none(open_page: OpenPage, looking: str) -> None:
    page = open_page(f"{looking}/?part=test&words=script")
    page.wait_for_selector("text=<script>window.attacked = true</script>")
    page.click(".row-link")
    page.wait_for_selector(".card .text >> text=<img src=x")
    for link in ("text=Proofread it", ".facts a.name", "text=Solve it"):
        ready(page)
        page.click(link)
        page.wait_for_load_state()
    ready(page)
    assert page.evaluate("typeof window.attacked") == "undefined"
    assert "onerror" in page.input_value("textarea")


# --- solve ---


def test_solve_with_two_runs_side_by_side(open_page: OpenPage, looking: str) -> None:
    page = open_page(f"{looking}/solve")
    page.fill("textarea", "Sue buys 2 bags of 8 figs and eats 3 of them. How many remain?")
    page.check("input[value=lstm]")
    page.press("textarea", "Control+Enter")
    page.wait_for_selector("article[data-run=lstm]")
    assert page.locator("article.solution").count() == 2
    assert page.locator("article[data-run=gts] .answer").inner_text().strip()
    page.click("article[data-run=gts] summary")
    page.wait_for_selector("article[data-run=gts] .attention-row >> nth=0")
    assert page.locator("article[data-run=gts] .attention-row").first.locator(".numbers span").count() == 3


# --- proofread ---


def test_proofread_with_keys_alone_and_nothing_is_lost(open_page: OpenPage, writing: str, own_dataset: Path) -> None:
    page = open_page(f"{writing}/proofread")
    page.wait_for_selector("[data-problem=p1]")
    press_to(page, "a", "[data-problem=p2]")
    press_to(page, "r", "[data-problem=p3]")
    press_to(page, "u", "[data-problem=p2]")
    press_to(page, "e", "#edit textarea:focus")
    page.keyboard.press("Control+a")
    page.keyboard.type("Tom has 4 red pens.")
    page.wait_for_selector("#check .wrong")  # N1 is no longer there
    assert page.is_disabled("#check button")
    page.reload()  # the draft comes back, and with it what is wrong about it
    ready(page)
    assert page.input_value("#edit textarea") == "Tom has 4 red pens."
    page.wait_for_selector("#check .wrong")
    page.focus("#edit textarea")
    page.keyboard.press("End")
    page.keyboard.type(" He buys 6 green pens. How many pens has he?")
    page.wait_for_selector("#check .right >> text=10")
    press_to(page, "Control+Enter", "[data-problem=p3]")
    press_to(page, "ArrowLeft", "[data-problem=p2] .status-edited")
    press_to(page, "ArrowRight", "[data-problem=p3]")
    press_to(page, "a", "text=Everything is decided")
    decisions = [(d.id, d.status, d.undo) for d in read_review(own_dataset / "review.jsonl")]
    assert decisions == [
        ("p1", "accepted", False),
        ("p2", "rejected", False),
        ("p2", "open", True),
        ("p2", "edited", False),
        ("p3", "accepted", False),
    ]
    page.reload()
    page.wait_for_selector("text=3 of 3 decided: 2 accepted, 1 edited, 0 rejected")


def test_escape_leaves_an_edit_and_its_draft(open_page: OpenPage, writing: str, own_dataset: Path) -> None:
    page = open_page(f"{writing}/proofread?id=p1&part=train&edit=1")
    page.fill("#edit textarea", "Something else.")
    page.wait_for_selector("#check .wrong")
    press_to(page, "Escape", "[data-problem=p1] button.accept")
    press_to(page, "e", "#edit textarea:focus")
    assert page.input_value("#edit textarea").startswith("Tom has 3 bags")
    assert not (own_dataset / "review.jsonl").exists()


# --- judge ---


def judge_with_keys(page: "Page", place: int, faults: str = "") -> None:
    """Mark the problem that is shown: all good, but for the criteria with these keys."""
    page.wait_for_selector(f"[data-place='{place}']")
    page.keyboard.press("g")
    for key in faults:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"[data-place='{place}']", state="detached")


def test_two_judges_at_once_blind_until_both_have_finished(
    open_page: OpenPage, judging: dict[str, str], session: JudgingSession
) -> None:
    ann, ben = open_page(judging["Ann"]), open_page(judging["Ben"])
    for page in (ann, ben):
        press_to(page, "Enter", "[data-place='1']")
        ready(page)
    for place in range(1, 6):
        judge_with_keys(ann, place, "2" if place == 2 else "")
        assert not ben.is_checked("input[value='not good'] >> nth=1")
        judge_with_keys(ben, place, "23" if place in (2, 4) else "")
    for page in (ann, ben):
        page.wait_for_selector("h1:has-text('Your marks')")
    ann.click("button:has-text('Finish')")
    ann.wait_for_selector("text=hidden until everybody has finished")
    ready(ann)
    assert ann.locator(".disputed").count() == 0
    ben.click("button:has-text('Finish')")
    for page in (ann, ben):  # Ann's page waits and turns to the results by itself
        page.wait_for_selector("h1:has-text('Results')")
        assert page.locator(".disputed").count() == 1
    report = json.loads(session.path.with_name("agreement.json").read_text())
    assert report["good"]["cohen"][0]["table"] == [[3, 1], [0, 1]]
    assert f"{report['good']['cohen'][0]['kappa']:.2f}" in ann.inner_text(".kappa")


def test_judging_with_tab_and_space_without_any_shortcut(
    open_page: OpenPage, judging: dict[str, str], session: JudgingSession
) -> None:
    page = open_page(f"{judging['Ann']}/problem/1")
    page.uncheck("#shortcuts")
    page.keyboard.press("g")
    assert page.locator(":checked[type=radio]").count() == 0
    page.focus("h1")
    for choice in ("good", "good", "not good"):
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        if choice == "not good":
            page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.type("odd")
    for _ in range(20):
        if page.evaluate("document.activeElement.textContent").strip().startswith("Save"):
            break
        page.keyboard.press("Tab")
    press_to(page, "Enter", "[data-place='2']")
    mark = session.own_marks("Ann")[1]
    assert (mark.grammar, mark.fluency, mark.logic, mark.comment) == (True, True, False, "odd")


def test_a_server_killed_while_judging_loses_no_mark(open_page: OpenPage, tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    write_problems(problems, [*products(), *hostile()])
    folder, port = tmp_path / "session", free_port()
    server = Process("judge", problems, "--all", "--sample", "5", "--judge", "Ann", "--judge", "Ben", "--out", folder,
                     "--port", str(port))  # fmt: skip
    try:
        links = links_of(server.start("results"))
        page = open_page(f"{links['Ann']}/problem/1", complaining=True)
        judge_with_keys(page, 1)
        judge_with_keys(page, 2, "1")
        server.kill()
        page.keyboard.press("g")
        page.keyboard.press("Enter")
        page.wait_for_selector("#toast >> text=Nothing is lost")
        assert links_of(server.start("results")) == links  # the same links, the same session
        page.wait_for_selector("[data-place='4']")  # the third mark was sent again by itself
        server.kill()
        server.start("results")
        page.reload()
        ready(page)
        for place in (4, 5):
            judge_with_keys(page, place)
        page.wait_for_selector("text=5 of 5 problems are marked, 4 of them good")
        download = page.evaluate("fetch(location.pathname.replace('summary', 'judgements.jsonl')).then(r => r.text())")
    finally:
        server.kill()
    path = tmp_path / "marks.jsonl"
    path.write_text(download, encoding="utf-8")
    assert [mark.good for mark in read_judgements(path)] == [True, False, True, True, True]


# --- every page, in every way ---

PAGES = ("/", "/problem?id=p3&part=train", "/solve", "/dataset", "/proofread", "/proofread?id=p1&edit=1", "/nowhere")


def judge_pages(session: JudgingSession) -> list[str]:
    """One page of each kind of a session in which Ann has finished."""
    ann, ben = session.judges()
    for place in range(1, session.size + 1):
        session.mark(ann.name, place, {"grammar": True, "fluency": place != 2, "logic": True}, "a comment")
    session.finish(ann.name)
    of_ann = [f"/judge/{ann.secret}{path}" for path in ("", "/summary", "/results")]
    return ["/", f"/judge/{ben.secret}/problem/2", *of_ann, f"/overview/{session.organiser}"]


def widest_overflow(page: "Page") -> float:
    """By how many pixels the page is wider than the window."""
    return float(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize("size", [PHONE, ZOOMED], ids=["phone", "200-percent"])
def test_no_page_scrolls_sideways_on_a_phone_or_at_200_percent(
    open_page: OpenPage, looking: str, session: JudgingSession, size: tuple[int, int]
) -> None:
    page = open_page(f"{looking}/", size, complaining=True)
    for path in PAGES:
        visit(page, looking + path)
        assert widest_overflow(page) <= 0, path
        assert page.is_visible("h1") or path.startswith("/?") or path == "/"
    with in_background(Guard(judging_app(session), secret_links=True)) as address:
        for path in judge_pages(session):
            visit(page, address + path)
            assert widest_overflow(page) <= 0, path


def test_a_judge_marks_on_a_phone(open_page: OpenPage, judging: dict[str, str], session: JudgingSession) -> None:
    page = open_page(f"{judging['Ann']}/problem/1", PHONE, dark=True)
    for pill in page.locator(".pill.good").all():
        pill.click()
    page.click("text=Save and continue")
    page.wait_for_selector("[data-place='2']")
    assert session.own_marks("Ann")[1].good


def test_dark_mode_is_dark_and_light_is_light(open_page: OpenPage, looking: str) -> None:
    def brightness(page: "Page", of: str) -> float:
        colour = page.evaluate(f"getComputedStyle(document.querySelector('{of}')).backgroundColor")
        return sum(int(value) for value in re.findall(r"\d+", colour)[:3]) / 3

    address = f"{looking}/problem?id=p1&part=train"
    light, dark = open_page(address), open_page(address, dark=True)
    for part in ("body", ".card", "mark.quantity"):
        assert brightness(light, part) > 150, part
        assert brightness(dark, part) < 110, part


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_serious_fault(open_page: OpenPage, looking: str, session: JudgingSession, dark: bool) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(f"{looking}/", dark=dark, complaining=True)
    found: list[str] = []

    def check(address: str) -> None:
        visit(page, address)
        if address.endswith("/solve"):
            page.fill("textarea", "Sue buys 2 bags of 8 figs and eats 3 of them. How many remain?")
            page.click("button:has-text('Solve')")
            page.click("article.solution summary")
        for fault in axe.Axe().run(page).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                places = [node["target"] for node in fault["nodes"][:3]]
                found.append(f"{address}: {fault['id']}: {fault['help']} {places}")

    for path in PAGES:
        check(looking + path)
    with in_background(Guard(judging_app(session), secret_links=True)) as address:
        for path in judge_pages(session):
            check(address + path)
        ben = session.judges()[1]
        for place in range(1, session.size + 1):
            session.mark(ben.name, place, {"grammar": place != 3, "fluency": True, "logic": True})
        session.finish(ben.name)
        check(f"{address}/overview/{session.organiser}")
    assert found == []

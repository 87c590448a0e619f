"""Makes the pictures of the README and of the documentation, from the demo corpora, in a real browser.

    python docs/screenshots.py [--work FOLDER]

It splits the English demo corpus, synthesises problems from it, trains two small solvers, lets two invented judges mark
a sample, and photographs the pages. What lies in the work folder already is not made again. Needs the extra `dev` and
Chromium; takes some minutes, most of them for the training.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from comdiv.evaluation.judgements import CRITERIA
from comdiv.review import Decision, ReviewLog, Status
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.clusters import map_clusters
from comdiv.studio.judge_pages import judging_app
from comdiv.studio.library import Library
from comdiv.studio.security import Guard
from comdiv.studio.server import in_background
from comdiv.studio.session import JudgingSession, sample_problems
from comdiv.studio.shelf import Shelf

IMAGES = Path(__file__).parent / "images"
SHOTS = (
    "studio-explore", "studio-problem", "studio-problem-dark", "studio-solve", "studio-proofread", "studio-judge",
    "studio-results",
)  # fmt: skip
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SAMPLE = 40
SMALL = ("--set", "hidden=64", "--set", "embedding=64", "--set", "epochs=8", "--threads", "1")


class Camera:
    """Opens addresses, light or dark, and keeps what the window shows."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def open(self, address: str, height: int, *, dark: bool = False) -> Page:
        scheme = "dark" if dark else "light"
        page = self.browser.new_page(viewport={"width": 1200, "height": height}, color_scheme=scheme)
        page.set_default_timeout(300_000)  # the first solution waits for torch
        page.goto(address)
        page.wait_for_selector("html.ready", state="attached")
        return page

    def keep(self, page: Page, name: str) -> None:
        if name not in SHOTS:
            raise ValueError(f"{name} is not among the pictures")
        page.screenshot(path=IMAGES / f"{name}.png")
        page.close()
        print(IMAGES / f"{name}.png")


def solved_text(studio: Studio) -> str:
    """A validation problem with two operators that the first of the small solvers gets right, if there is one."""
    problems = [e.problem for e in studio.library.entries if e.part == "validation" and e.operators == 2]
    solutions = studio.shelf.solver("gts").solve(problems, beam=5)
    right = (p.text for p, s in zip(problems, solutions, strict=True) if s.answer is not None and s.answer == p.answer)
    return next(right, problems[0].text)


def photograph_split(camera: Camera, studio: Studio) -> None:
    with in_background(Guard(studio_app(studio))) as address:
        camera.keep(camera.open(f"{address}/?part=test&operators=3", 720), "studio-explore")
        shown = next(entry for entry in studio.library.entries if entry.part == "test" and entry.operators == 3)
        for dark in (False, True):
            page = camera.open(f"{address}/problem?id={shown.problem.id}&part=test", 1000, dark=dark)
            camera.keep(page, "studio-problem-dark" if dark else "studio-problem")
        page = camera.open(f"{address}/solve", 1250)
        page.fill("textarea", solved_text(studio))
        for box in page.locator("input[name=run]").all():
            box.check()
        page.click("button:has-text('Solve')")
        page.wait_for_selector("article.solution summary >> nth=0")
        page.evaluate("document.querySelector('.attention').open = true; document.activeElement.blur(); scrollTo(0, 0)")
        camera.keep(page, "studio-solve")


def photograph_proofreading(camera: Camera, studio: Studio) -> None:
    product = studio.library.products[0]
    for entry in studio.library.products[1:30]:
        status: Status = "rejected" if entry.number % 9 == 0 else "accepted"
        studio.review.decide(Decision(entry.problem.id, status, by="Ann"))
    with in_background(Guard(studio_app(studio))) as address:
        page = camera.open(f"{address}/proofread?id={product.problem.id}&part={product.part}&edit=1", 820)
        page.fill("#edit textarea", f"{product.problem.text} 7")
        page.wait_for_selector("#check .doubt")
        camera.keep(page, "studio-proofread")


def photograph_judging(camera: Camera, session: JudgingSession) -> None:
    """Two invented judges: they find about four of five problems good and mostly agree."""
    generator = random.Random(4)
    ann, ben = session.judges()
    for place in range(1, session.size + 1):
        for judge in (ann, ben):
            if place == session.size and judge is ben:
                continue
            fault = generator.choice(CRITERIA) if place % 6 == 0 or generator.random() < 0.04 else ""
            session.mark(judge.name, place, {name: name != fault for name in CRITERIA})
    with in_background(Guard(judging_app(session))) as address:
        page = camera.open(f"{address}/judge/{ben.secret}/problem/{session.size}", 640)
        page.keyboard.press("g")
        page.keyboard.press("2")
        camera.keep(page, "studio-judge")
        session.mark(ben.name, session.size, dict.fromkeys(CRITERIA, True))
        for judge in (ann, ben):
            session.finish(judge.name)
        camera.keep(camera.open(f"{address}/overview/{session.organiser}", 900), "studio-results")


def comdiv(*arguments: str | Path) -> None:
    """A verb, unless its folder is there already."""
    words = [str(argument) for argument in arguments]
    if not Path(words[words.index("--out") + 1]).exists():
        subprocess.run([sys.executable, "-m", "comdiv", *words], check=True)


def studio_on(folder: Path, runs: Path, review: Path) -> Studio:
    library = Library.read(folder, ["demo-en"] if "sd" in folder.name else [])
    review.unlink(missing_ok=True)
    return Studio(library, map_clusters(library), ReviewLog(review), Shelf(runs), "Ann")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, help="folder for datasets and solvers; a temporary one otherwise")
    named = parser.parse_args().work
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        sys.exit(f"no browser found ({', '.join(CHROMIUM)})")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        work = named or Path(scratch)
        split, synthetic, runs = work / "demo-en-comdiv", work / "demo-en-sd", work / "runs"
        comdiv("split", "demo-en", "--out", split)
        comdiv("synthesize", "demo-en", "--out", synthetic)
        for name in ("gts", "lstm"):
            comdiv("train", name, "--data", split, "--out", runs / name, *SMALL)
        camera = Camera(playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"]))
        photograph_split(camera, studio_on(split, runs, Path(scratch) / "split.jsonl"))
        studio = studio_on(synthetic, runs, Path(scratch) / "sd.jsonl")
        photograph_proofreading(camera, studio)
        sample = sample_problems([entry.problem for entry in studio.library.products], SAMPLE, 0)
        photograph_judging(
            camera, JudgingSession.create(Path(scratch) / "judging.sqlite", sample, ["Ann", "Ben"], {"seed": 0})
        )


if __name__ == "__main__":
    main()

"""Makes the pictures of the README and of the documentation, from the demo corpora, in a real browser.

    python docs/screenshots.py [--runs FOLDER]

It builds a dataset, trains two small solvers (unless `--runs` names some), lets two invented judges mark a sample, and
photographs the pages. Needs the extra `dev` and Chromium; takes some minutes, most of them for the training.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from comdiv.corpora import read_corpus
from comdiv.evaluation.judgements import CRITERIA
from comdiv.review import Decision, ReviewLog
from comdiv.solvers.runs import train_run
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.composition import compose
from comdiv.studio.judge import judging_app
from comdiv.studio.judging import JudgingSession, sample_problems
from comdiv.studio.library import Library
from comdiv.studio.security import Guard
from comdiv.studio.server import listen
from comdiv.studio.shelf import Shelf
from comdiv.synthesis import SynthesisOptions, synthesize_dataset

IMAGES = Path(__file__).parent / "images"
SHOTS = (
    "studio-explore", "studio-problem", "studio-problem-dark", "studio-solve", "studio-proofread", "studio-judge",
    "studio-results",
)  # fmt: skip
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TEXT = "Tom has 6 boxes of 24 pencils. He gives 30 pencils to his class. How many pencils has he left?"
SAMPLE = 40


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that answers until the block ends."""
    listener = listen("127.0.0.1", 0, 0)
    listener.socket.listen(64)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    thread = Thread(target=server.run, kwargs={"sockets": [listener.socket]}, daemon=True)
    thread.start()
    try:
        yield listener.address
    finally:
        server.should_exit = True
        thread.join(timeout=10)


class Camera:
    """Opens addresses, light or dark, and keeps what the window shows."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def open(self, address: str, height: int, *, dark: bool = False) -> Page:
        scheme = "dark" if dark else "light"
        page = self.browser.new_page(viewport={"width": 1200, "height": height}, color_scheme=scheme)
        page.goto(address)
        page.wait_for_selector("html.ready", state="attached")
        return page

    def keep(self, page: Page, name: str) -> None:
        if name not in SHOTS:
            raise ValueError(f"{name} is not among the pictures")
        page.screenshot(path=IMAGES / f"{name}.png")
        page.close()
        print(IMAGES / f"{name}.png")


def photograph_studio(camera: Camera, studio: Studio) -> None:
    with served(Guard(studio_app(studio))) as address:
        camera.keep(camera.open(f"{address}/?part=test", 720), "studio-explore")
        product = studio.library.products[0]
        structural = next(entry for entry in studio.library.entries if entry.composition == "structural")
        for dark in (False, True):
            page = camera.open(f"{address}/problem?id={structural.problem.id}&part={structural.part}", 820, dark=dark)
            camera.keep(page, "studio-problem-dark" if dark else "studio-problem")
        page = camera.open(f"{address}/solve", 900)
        page.fill("textarea", TEXT)
        for box in page.locator("input[name=run]").all():
            box.check()
        page.click("button:has-text('Solve')")
        page.wait_for_selector("article.solution summary >> nth=0").click()
        camera.keep(page, "studio-solve")
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
    with served(Guard(judging_app(session))) as address:
        page = camera.open(f"{address}/judge/{ben.secret}/problem/{session.size}", 640)
        page.keyboard.press("g")
        page.keyboard.press("2")
        camera.keep(page, "studio-judge")
        session.mark(ben.name, session.size, dict.fromkeys(CRITERIA, True))
        for judge in (ann, ben):
            session.finish(judge.name)
        camera.keep(camera.open(f"{address}/overview/{session.organiser}", 900), "studio-results")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=Path, help="trained solvers; two are trained otherwise")
    runs = parser.parse_args().runs
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        sys.exit(f"no browser found ({', '.join(CHROMIUM)})")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch) / "sd-en"
        corpus = read_corpus("demo-en")
        synthesize_dataset(corpus.problems, folder, SynthesisOptions(), corpus=corpus.name)
        if runs is None:
            runs = Path(scratch) / "runs"
            for name in ("gts", "lstm"):
                train_run(name, folder, runs / name, changes={"epochs": 12, "threads": 1})
        library = Library.read(folder, ["demo-en"])
        review = ReviewLog(library.review)
        for entry in library.products[1:40]:
            review.decide(Decision(entry.problem.id, "rejected" if entry.number % 9 == 0 else "accepted", by="Ann"))
        camera = Camera(playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"]))
        photograph_studio(camera, Studio(library, compose(library), review, Shelf(runs), "Ann"))
        sample = sample_problems([entry.problem for entry in library.products], SAMPLE, 0)
        photograph_judging(
            camera, JudgingSession.create(Path(scratch) / "judging.sqlite", sample, ["Ann", "Ben"], {"seed": 0})
        )


if __name__ == "__main__":
    main()

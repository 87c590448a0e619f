"""A real browser for tests of pages: Chromium, without a screen; tests that need it skip where there is none.

`from browser import open_browser`, then a fixture of the test module's own:

    @pytest.fixture(scope="module")
    def browser() -> Iterator[Browser]:
        with open_browser() as chromium:
            yield chromium
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Containers give neither a sandbox nor much shared memory; a page of ours never asks for the network.
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)


@contextmanager
def open_browser() -> "Iterator[Browser]":
    """Chromium, closed at the end; skips the test with a clear line where playwright or the browser is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install '.[dev]'")
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser found ({', '.join(PROGRAMS)}): apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=list(ARGUMENTS), timeout=120_000)
        try:
            yield browser
        finally:
            browser.close()


class Complaints:
    """What went wrong in a page: errors on its console, exceptions, requests that failed or left for the network."""

    def __init__(self, page: "Page", *allowed: str) -> None:
        self.found: list[str] = []
        page.on("console", lambda message: message.type == "error" and self.found.append(message.text))
        page.on("pageerror", lambda error: self.found.append(str(error)))
        page.on("requestfailed", lambda request: self.found.append(f"failed: {request.url}"))
        schemes = ("file:", "data:", "blob:", "about:", *allowed)
        page.on("request", lambda r: r.url.startswith(schemes) or self.found.append(f"left the page: {r.url}"))


def broken_images(page: "Page") -> list[str]:
    """The addresses of the page's pictures that did not load."""
    page.wait_for_function("[...document.images].every(image => image.complete)")
    found: list[str] = page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
    return found

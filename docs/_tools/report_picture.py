"""Photographs the head of a report for the README: `python docs/_tools/report_picture.py demo-output/report`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).resolve().parents[1] / "pictures"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 1180, "height": 760}


def main(report: Path) -> None:
    """Write report.png and report-dark.png."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("no browser found: apt-get install chromium")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--headless=new", "--no-sandbox"])
        for scheme in ("light", "dark"):
            page = browser.new_context(viewport=SIZE, color_scheme=scheme).new_page()  # type: ignore[arg-type]
            page.goto((report / "index.html").resolve().as_uri())
            name = "report.png" if scheme == "light" else "report-dark.png"
            page.screenshot(path=PICTURES / name)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output/report"))

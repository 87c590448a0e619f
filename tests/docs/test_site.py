"""The documentation as a site: it builds, every link leads somewhere, and nothing is loaded from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("material", reason="mkdocs-material is not installed: pip install '.[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`make docs`, into a folder of the test's own; --strict makes a broken link or anchor an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    made = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"}
    )
    assert made.returncode == 0, made.stderr
    return folder


def test_pages_that_people_wrote_and_generated_ones_are_there(site: Path) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    generated = {Path("reference", f"{name}.html") for name in ("verbs", "plans", "python")}
    assert all((site / page).is_file() for page in written | generated)
    assert not (site / "_tools").exists()


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|link|iframe)[^>]+(?:src|href)="([^"]+)"', text)
        assert not [address for address in loaded if address.startswith(("http:", "https:", "//"))], page


def test_the_readme_links_to_files_that_are_there() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'(?:src|srcset|href)="([^"#]+)"', text)
        for target in targets:
            if not target.startswith(("http:", "https:")):
                assert (ROOT / target).exists(), f"{name}: {target}"

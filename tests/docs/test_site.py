"""The documentation as a site: it builds, every link leads somewhere, and nothing is loaded from elsewhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("material", reason="mkdocs-material is not installed: pip install '.[docs]'")


def build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` does, into a folder of the test's own."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndocs: ")[2].partition("\n\n")[0]
    options = re.search(r"-m (mkdocs build.*)", recipe)
    assert options is not None
    return subprocess.run(
        [sys.executable, "-m", *options[1].split(), "--site-dir", str(folder)],
        cwd=root, capture_output=True, text=True, check=False,
        env={**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    completed = build(ROOT, folder)
    assert completed.returncode == 0, completed.stderr
    return folder


@pytest.mark.parametrize(
    ("page", "line", "complaint"),
    [
        ("tutorial.md", "[nowhere](how-to/nowhere.md)", "'how-to/nowhere.md', but the target is not found"),
        ("tutorial.md", "[nowhere](explanation/dbca.md#nowhere)", "does not contain an anchor '#nowhere'"),
        ("stray.md", "# A page that no list has", 'not included in the "nav" configuration:\n  - stray.md'),
    ],
)
def test_a_site_with_a_mistake_is_refused(page: str, line: str, complaint: str, tmp_path: Path) -> None:
    for name in ("docs", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("results", "__pycache__"))
    shutil.copytree(ROOT / "docs" / "pictures", tmp_path / "docs" / "pictures", dirs_exist_ok=True)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    with (tmp_path / "docs" / page).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{line}\n")
    completed = build(tmp_path, tmp_path / "site")
    assert completed.returncode != 0
    assert complaint in completed.stderr
    assert completed.stderr.count("WARNING") == 1, "the copy has no other mistake"


def test_pages_that_people_wrote_and_generated_ones_are_there(site: Path) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    generated = {Path("reference", f"{name}.html") for name in ("verbs", "settings", "plans", "python")}
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

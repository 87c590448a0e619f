"""What is served as it is: the vendored script is the one that the notice names, and the pictures of the docs exist."""

import re
from importlib.resources import files
from pathlib import Path

from comdiv.files import file_sha256
from comdiv.studio.pages import link

STATIC = Path(str(files("comdiv.studio"))) / "static"
ROOT = Path(__file__).parents[2]


def test_htmx_is_the_file_that_the_notice_names() -> None:
    notice = (STATIC / "NOTICE.txt").read_text(encoding="utf-8")
    assert file_sha256(STATIC / "htmx.min.js") in notice
    assert "0BSD" in notice


def test_scripts_and_styles_ask_nobody_else() -> None:
    for name in ("studio.js", "studio.css"):
        content = (STATIC / name).read_text(encoding="utf-8")
        assert not re.search(r"https?://|//cdn|@import|url\(", content)
        assert "eval(" not in content
        assert "innerHTML" not in content


def test_every_picture_in_the_documentation_is_made_by_the_script() -> None:
    script = (ROOT / "docs" / "screenshots.py").read_text(encoding="utf-8")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"images/(studio-[\w-]+)\.png", page.read_text("utf-8"))}
    assert named
    for name in named:
        assert f'"{name}"' in script
        assert (ROOT / "docs" / "images" / f"{name}.png").is_file()


def test_links_leave_out_what_is_empty_and_escape_the_rest() -> None:
    assert link("/problem", id="a&b=/ü", part="") == "/problem?id=a%26b%3D%2F%C3%BC"
    assert link("/") == "/"

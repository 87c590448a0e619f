"""The generated reference: nothing of the code is missing in it, and commands in the pages exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import comdiv
from comdiv import AugmentationOptions, CorpusOptions, SolverSettings, SplitSeries, SplitSettings, SynthesisOptions
from comdiv.experiments.plan import Plan, SplitPlan, TrainingPlan
from comdiv.registry import EXPORTS
from comdiv.settings import entries
from docs.tools import load_tool

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def verbs() -> str:
    return str(load_tool("verb_reference").verbs_page())


def options_of(page: str) -> dict[str, set[str]]:
    """verb → its options, as the reference has them."""
    found: dict[str, set[str]] = {}
    for section in re.split(r"^#+ ", page, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        if title.startswith("comdiv"):
            found[title.strip()] = set(re.findall(r"`(-{1,2}[a-z][a-z-]*)`", body)) | {"--help", "-h"}
    return found


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command in the code blocks of the README and the pages, with the file it stands in."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```(?:sh|console|bash)\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.S):
            for line in block.replace("\\\n", " ").splitlines():
                command = line.removeprefix("$ ").strip()
                if command.startswith("comdiv "):
                    yield path.name, shlex.split(command, comments=True)


@pytest.mark.parametrize(
    ("page", "words"), list(commands()), ids=lambda value: " ".join(value) if isinstance(value, list) else value
)
def test_every_command_in_the_pages_exists_with_its_options(page: str, words: list[str], verbs: str) -> None:
    known = options_of(verbs)
    name = " ".join(words[:3]) if " ".join(words[:3]) in known else " ".join(words[:2])
    if words[1].startswith("-"):
        return  # comdiv --help
    if words[1] == "export" and words[2] not in EXPORTS:
        assert page == "add-an-export.md", page  # the page's own export, which the test of its package runs
        return
    assert name in known, f"{page}: no verb '{name}'"
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= known[name], f"{page}: {sorted(used - known[name])}"


def test_every_verb_has_words_and_every_option_a_help(verbs: str) -> None:
    for title in ("comdiv split", "comdiv data convert", "comdiv run", "comdiv report"):
        assert re.search(rf"^##+ {title}\n\n\w", verbs, flags=re.M), title
    rows = [line for line in verbs.splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    assert not [row for row in rows if row.count("|") - row.count("\\|") != 5]


def test_every_key_of_a_plan_is_described() -> None:
    page = load_tool("settings_reference").plans_page()
    for model in (Plan, SplitPlan, TrainingPlan):
        for entry in entries(model):
            assert f"| `{entry.key}` |" in page
            assert entry.field.description, entry.key
    assert "[split](#split)" in page


def test_every_setting_has_a_row_and_every_solver_its_presets() -> None:
    page = load_tool("settings_reference").settings_page()
    for settings in (SplitSettings, SplitSeries, SynthesisOptions, AugmentationOptions, SolverSettings, CorpusOptions):
        for entry in entries(settings):
            assert f"| `{entry.key}` |" in page, entry.key
    assert "| `ranker` | `--solver`, `--ranker` |" in page
    for preset in ("cpu", "paper"):
        assert re.search(rf"preset `{preset}`.*\n\n.*\n\n\| key \| .*gts.*\|\n", page)


def test_every_public_name_is_described() -> None:
    page = load_tool("functions").functions_page()
    for name in comdiv.__all__:
        if name != "__version__":
            assert f"### {name}\n" in page
    assert "0x" not in page  # no address of an object: the page is the same each time

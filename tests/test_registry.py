"""One registry for all that can be plugged in: lazy, with entry points, and clear about what is wrong."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from comdiv import registry
from comdiv.errors import ComdivError
from comdiv.registry import Registry

REGISTRIES = [value for value in vars(registry).values() if isinstance(value, Registry)]


@pytest.fixture
def tools() -> "Registry[str]":
    return Registry("tools", "tool", {"upper": "string:ascii_uppercase", "lower": "string:ascii_lowercase"})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages; what was imported from it is forgotten."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for module in tmp_path.glob("*.py"):
        sys.modules.pop(module.stem, None)


def install(site: Path, package: str, code: str, **entries: str) -> None:
    """A package of one module that names entry points of the group `comdiv.tools`."""
    (site / f"{package}.py").write_text(code)
    facts = site / f"{package}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (facts / "entry_points.txt").write_text("\n".join(["[comdiv.tools]", *lines, ""]))


def test_importing_the_registry_imports_nothing_else_of_ours() -> None:
    code = "import sys, comdiv.registry; print(*sorted(name for name in sys.modules if name.startswith('comdiv')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["comdiv", "comdiv.errors", "comdiv.registry"]


@pytest.mark.parametrize("kind", REGISTRIES, ids=lambda kind: kind.kind)
def test_everything_of_ours_can_be_loaded(kind: "Registry[object]") -> None:
    assert all(value is not None for _, value in kind.items())


def test_every_kind_has_its_group_of_entry_points() -> None:
    assert {kind.group for kind in REGISTRIES} == {
        "comdiv.solvers", "comdiv.languages", "comdiv.operations", "comdiv.formats", "comdiv.split_methods",
        "comdiv.exports", "comdiv.tables", "comdiv.encoders", "comdiv.scorers",
    }  # fmt: skip


def test_a_name_is_loaded_when_asked_for(tools: "Registry[str]") -> None:
    assert tools.names() == ("upper", "lower")
    assert tools.get("upper").startswith("ABC")


def test_an_unknown_name_is_answered_with_the_nearest(tools: "Registry[str]") -> None:
    with pytest.raises(ComdivError, match=r"^unknown tool 'uper'\. Did you mean 'upper'\? Known: lower, upper$"):
        tools.get("uper")


def test_a_program_can_add_and_remove_its_own(tools: "Registry[str]") -> None:
    tools.add("upper", "mine")
    tools.add("middle", "also mine")
    assert tools.names() == ("upper", "lower", "middle")
    assert (tools.get("upper"), "middle" in tools) == ("mine", True)
    tools.remove("upper")
    assert tools.get("upper").startswith("ABC")


def test_an_installed_package_adds_one_by_its_entry_point(tools: "Registry[str]", site: Path) -> None:
    install(
        site, "digit_package", "DIGITS = '0123456789'\n", digits="digit_package:DIGITS", upper="digit_package:DIGITS"
    )
    assert tools.names() == ("upper", "lower", "digits")
    assert "digit_package" not in sys.modules
    assert tools.get("digits") == "0123456789"
    assert tools.get("upper").startswith("ABC")  # ours are not replaced from outside


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import there_is_no_such_module\n", "ModuleNotFoundError: No module named 'there_is_no_such_module'"),
        ("DIGIT = 0\n", "AttributeError: module 'broken_package' has no attribute 'DIGITS'"),
        ("DIGITS = 1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_package_that_fails_is_named_in_one_line(code: str, reason: str, tools: "Registry[str]", site: Path) -> None:
    install(site, "broken_package", code, digits="broken_package:DIGITS")
    with pytest.raises(ComdivError) as error:
        tools.get("digits")
    assert str(error.value) == (
        f"tool 'digits' of package broken_package 1.0 cannot be loaded from broken_package:DIGITS: {reason}"
    )


def test_a_package_that_needs_an_extra_says_which(
    tools: "Registry[str]", site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    install(site, "deep_package", "import torch\n", deep="deep_package:DEEP")
    with pytest.raises(ComdivError, match=r"^solvers need torch: pip install 'comdiv\[solvers\]'$"):
        tools.get("deep")


def test_two_packages_with_the_same_name_are_both_named(tools: "Registry[str]", site: Path) -> None:
    install(site, "one_package", "A = 1\n", same="one_package:A")
    install(site, "two_package", "A = 2\n", same="two_package:A")
    with pytest.raises(ComdivError, match=r"tool 'same': package one_package 1\.0 and package two_package 1\.0 both"):
        tools.get("same")

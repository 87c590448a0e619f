"""The command line as a whole: quick, quiet about bugs of users, helpful about names."""

import errno
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from comdiv.cli import app, main

HEAVY = {"torch", "sklearn", "numba", "scipy", "matplotlib", "pydantic", "yaml", "textblob", "nltk", "rjieba", "numpy"}


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_comdiv_imports_nothing_heavy() -> None:
    assert not modules_after("import comdiv") & HEAVY


def test_help_imports_nothing_heavy() -> None:
    code = "from comdiv.cli import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass"
    assert not modules_after(code) & HEAVY


def test_every_exported_name_exists() -> None:
    import comdiv

    for name in comdiv.__all__:
        assert getattr(comdiv, name) is not None


def test_an_unknown_export_is_an_attribute_error() -> None:
    import comdiv

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = comdiv.nothing


def test_the_version_is_printed() -> None:
    import comdiv

    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"comdiv {comdiv.__version__}"


@pytest.mark.parametrize(("arguments", "near"), [(["dat"], "data"), (["data", "shw"], "show"), (["splitt"], "split")])
def test_an_unknown_verb_is_answered_with_the_nearest_one_and_exit_code_2(arguments: list[str], near: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert f"Did you mean '{near}'?" in result.output


def test_a_users_mistake_is_one_line_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["comdiv", "data", "stats", "there-is-no-such-file.jsonl"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "comdiv: there-is-no-such-file.jsonl: no such file\n"


def test_a_file_that_may_not_be_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forbidden() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "secret.jsonl")

    monkeypatch.setattr("comdiv.cli.app", forbidden)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "comdiv: secret.jsonl: Permission denied\n"


@pytest.mark.parametrize("verb", [["data", "list"], ["data", "stats"], ["data", "convert"], ["split"], ["measure"]])
def test_help_of_every_verb_ends_in_an_example(verb: list[str]) -> None:
    result = CliRunner().invoke(app, [*verb, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


def test_a_reader_that_goes_away_gets_no_complaint() -> None:
    command = f"{sys.executable} -m comdiv data demo en --size 500 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith('{"id": "demo-en-000001"')
    assert done.stderr == ""

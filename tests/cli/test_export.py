"""`comdiv export` and `comdiv import`: what their users see and what programs read."""

import csv
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from pydantic import Field
from typer.testing import CliRunner, Result

from comdiv.cli import app
from comdiv.corpora.demo import generate
from comdiv.dataset import Dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.evaluation.judgements import CRITERIA
from comdiv.exchange.exports import Export, ExportSource, Facts
from comdiv.files import write_text
from comdiv.observer import Observer
from comdiv.problem import read_problems
from comdiv.registry import EXPORTS
from comdiv.settings import Settings

RUNNER = CliRunner()


def run(*arguments: str | Path) -> Result:
    result = RUNNER.invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problems = tuple(generate("en", 12))
    path = tmp_path_factory.mktemp("made") / "demo"
    dataset = Dataset(problems[:6], problems[6:8], problems[8:], {"settings": {"method": "dbca"}})
    write_dataset(path, dataset, title="demo")
    return path


def test_hub_says_what_it_wrote(folder: Path, tmp_path: Path) -> None:
    assert (
        run("export", "hub", folder, "--out", tmp_path / "hub").output == f"{tmp_path / 'hub'}: compositional: 6/2/4\n"
    )
    facts = json.loads(run("export", "hub", folder, "--out", tmp_path / "hub", "--force", "--json").output)
    assert facts["configurations"] == {"compositional": {"train": 6, "validation": 2, "test": 4}}


def test_a_push_is_refused_before_anything_is_sent_where_the_name_is_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="name the repository as OWNER/NAME"):
        run("export", "hub", folder, "--out", tmp_path / "hub", "--push", "mine")


def test_lm_eval_names_its_parts_and_what_it_left_out(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    assert run("export", "lm-eval", folder, "--out", out).output == f"{out}: compositional: 4\n"
    renumbered = run("export", "lm-eval", folder, "--out", out, "--force", "--renumber", "--name", "x", "--json")
    facts = json.loads(renumbered.stdout)
    assert "comdiv_x_compositional_renumbered_steps" in facts["tasks"]
    with pytest.raises(ComdivError, match="exists already"):
        run("export", "lm-eval", folder, "--out", out)


def test_judgements_go_out_and_come_back(folder: Path, tmp_path: Path) -> None:
    test = folder / "test.jsonl"
    run("export", "label-studio", test, "--out", tmp_path / "ls", "--sample", "3")
    tasks = json.loads((tmp_path / "ls" / "tasks.json").read_text(encoding="utf-8"))
    result = [{"from_name": name, "value": {"choices": ["good"]}} for name in CRITERIA]
    exported = [{"id": 1, **task, "annotations": [{"completed_by": 7, "result": result}]} for task in tasks]
    (tmp_path / "export.json").write_text(json.dumps(exported))
    sheet = tmp_path / "ann.csv"
    assert run("export", "csv", test, "--out", sheet, "--sample", "3").output == f"{sheet}: 3 problems\n"
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = [{**row, **dict.fromkeys(CRITERIA, "no")} for row in csv.DictReader(stream)]
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    out = tmp_path / "marks.jsonl"
    files = (sheet, tmp_path / "export.json")
    assert run("import", "judgements", *files, "--out", out).output == f"{out}: 6 judgements by ann, 7\n"
    again = run("import", "judgements", out, "--out", tmp_path / "again.jsonl", "--problems", test, "--json")
    assert json.loads(again.stdout)["good"] == 3
    assert (tmp_path / "again.jsonl").read_bytes() == out.read_bytes()
    agreement = json.loads(run("agreement", *files, "--json").output)
    assert agreement["judges"] == ["ann", "7"]


def test_impossible_judgements_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    marks = tmp_path / "ann.csv"
    marks.write_text("id,good\nx,yes\ny,\n")
    out = ("--out", tmp_path / "out.jsonl")
    with pytest.raises(ComdivError, match=r"line 3, problem 'y' has no marks"):
        run("import", "judgements", marks, *out)
    with pytest.raises(ComdivError, match="has no problem 'x', which was judged"):
        run("import", "judgements", marks, *out, "--unfinished", "--problems", folder)
    (tmp_path / "bob.csv").write_text("id,judge,good\nx,bob,1\n")
    (tmp_path / "more.csv").write_text("id,judge,good\nx,bob,0\n")
    with pytest.raises(ComdivError, match="judge 'bob' marked problem 'x' in another file as well"):
        run("import", "judgements", tmp_path / "bob.csv", tmp_path / "more.csv", *out)
    with pytest.raises(ComdivError, match="--judge names the judge of a single file"):
        run("import", "judgements", marks, marks, "--judge", "ann", *out)
    assert not (tmp_path / "out.jsonl").exists()
    run("import", "judgements", marks, *out, "--unfinished", "--judge", "Ann")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"id": "x", "judge": "Ann", "good": True}


def test_an_unknown_target_is_answered_with_the_nearest() -> None:
    result = run("export", "labelstudio")
    assert result.exit_code == 2
    assert "Did you mean 'label-studio'?" in result.output


# An export that a package adds


class CountSettings(Settings):
    unit: str = Field("problems", description="What they are called.")
    least: int = Field(0, ge=0, description="Shorter texts do not count.")


class CountExport(Export):
    """How many problems there are."""

    reads = "test"
    settings = CountSettings
    example = "comdiv export count mawps --out count.txt"

    def write(
        self, source: ExportSource, out: Path, settings: CountSettings, *, force: bool, observer: Observer
    ) -> Facts:
        count = sum(len(problem.text) >= settings.least for problem in source.problems)
        observer.note(f"{len(source.train or ())} problems to train on")
        write_text(out, f"{count} {settings.unit}\n")
        return {"count": count, "force": force}

    def sizes(self, source: ExportSource, facts: Facts) -> list[str]:
        return [f"{facts['count']} of {source.name}"]


@pytest.fixture
def counting() -> Iterator[None]:
    with EXPORTS.adding("count", CountExport):
        yield


@pytest.mark.usefixtures("counting")
def test_an_export_of_a_package_is_a_command_with_an_option_for_each_setting(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "count.txt"
    result = run("export", "count", folder, "--out", out, "--unit", "riddles")
    assert (result.stdout, out.read_text()) == (f"{out}: 4 of demo\n", "4 riddles\n")
    assert "6 problems to train on" in result.stderr
    facts = json.loads(run("export", "count", folder, "--out", out, "--least", "10000", "--json").stdout)
    assert facts == {"out": str(out), "count": 0, "force": False}
    assert run("export", "count", folder, "--out", out, "--least", "-1").exit_code == 2


@pytest.mark.usefixtures("counting")
def test_an_export_of_a_package_stands_in_the_help() -> None:
    assert "How many problems there are." in run("export", "--help").output
    assert "What they are called." in run("export", "count", "--help").output


def test_the_export_of_the_how_to_page_works(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "add-an-export.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "cards_of_the_page.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    EXPORTS.add("cards", import_module("cards_of_the_page").CardExport)
    try:
        out = tmp_path / "cards"
        result = run("export", "cards", folder / "test.jsonl", "--out", out, "--answers", "--width", "30")
    finally:
        EXPORTS.remove("cards")
    assert result.stdout == f"{out}: 4 cards\n"
    *lines, blank, answer = (out / "00001.txt").read_text(encoding="utf-8").splitlines()
    problem = next(read_problems(folder / "test.jsonl"))
    assert (" ".join(lines), blank, answer) == (problem.text, "", str(problem.answer))
    assert max(map(len, lines)) <= 30

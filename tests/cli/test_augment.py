"""`comdiv augment`: what its users see."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from augmentation.small import bytes_of, write_small_dataset
from comdiv.cli import app
from comdiv.dataset import read_dataset
from comdiv.errors import ComdivError

PASTED = ("--preset", "structure")  # few problems have stories to go on with


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_small_dataset(tmp_path / "small")


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_it_prints_what_came_of_each_operation_and_leaves_a_dataset(data: Path, tmp_path: Path) -> None:
    result = run("augment", data, "--out", tmp_path / "out", *PASTED, "--per-problem", "3,1")
    assert result.exit_code == 0
    assert "28 problems became" in result.stdout
    assert len(read_dataset(tmp_path / "out").train) > 28
    assert "## Samples of operation 1" in (tmp_path / "out" / "report.md").read_text()


def test_json_is_the_report(data: Path, tmp_path: Path) -> None:
    result = run("augment", data, "--out", tmp_path / "out", *PASTED, "--operations", "2", "--json")
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["rounds"][0]["operation 1"]["drafts"] == 0


def test_options_change_a_preset(data: Path, tmp_path: Path) -> None:
    run(
        "augment",
        data,
        "--out",
        tmp_path / "out",
        "--preset",
        "paper",
        "--ranker",
        "none",
        "--rounds",
        2,
    )
    options = json.loads((tmp_path / "out" / "dataset.json").read_text())["options"]
    wanted = {"rounds": 2, "match": "environment", "checks": "paper", "ranker": "none", "keep_by": "joint"}
    assert {name: options[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("option", "name"),
    [(("--keep", 0.5), "keep"), (("--set", "hidden=8"), "ranker_settings"), (("--warm-start",), "warm_start")],
)
def test_a_rankers_option_without_a_ranker_is_refused(
    option: tuple[object, ...], name: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(ComdivError, match=f"option {name}: there is no ranker to use it; name one, such as --solver"):
        run("augment", data, "--out", tmp_path / "out", *option)


def test_a_table_of_ones_own_is_read_by_its_columns(tmp_path: Path) -> None:
    rows = [f"Tom has {a} apples and buys {a + 3} apples. How many apples has he?,{a}+{a + 3}" for a in range(2, 9)]
    (tmp_path / "mine.csv").write_text("\n".join(["question,formula", *rows]), encoding="utf-8")
    with pytest.raises(ComdivError, match="--text"):
        run("augment", tmp_path / "mine.csv", "--out", tmp_path / "out")
    run("augment", tmp_path / "mine.csv", "--text", "question", "--equation", "formula", "--out", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["originals"] == len(rows)


def test_a_datasets_problems_are_read_already(data: Path, tmp_path: Path) -> None:
    for option in (("--text", "question"), ("--language", "zh"), ("--contradictions", "drop")):
        with pytest.raises(ComdivError, match=f"option {option[0][2:]} is for files and corpora; .* a dataset folder"):
            run("augment", data, *option, "--out", tmp_path / "out")
    assert run("augment", data, "--contradictions", "keep", "--out", tmp_path / "out").exit_code == 0


def test_a_solver_ranks_and_a_second_call_finds_everything_done(data: Path, tmp_path: Path) -> None:
    small = [
        part
        for change in ("hidden=8", "embedding=8", "layers=1", "epochs=2", "threads=1")
        for part in ("--set", change)
    ]
    arguments = [
        "augment",
        data,
        "--out",
        tmp_path / "out",
        "--solver",
        "gts",
        "--rank",
        "given",
        "--rounds",
        2,
        *small,
    ]
    arguments += [*PASTED, "--per-problem", "2,1", "--warm-start"]
    assert run(*arguments).exit_code == 0
    scores = [
        json.loads(line) for line in (tmp_path / "out" / "rounds" / "2" / "scores.jsonl").read_text().splitlines()
    ]
    assert len({line["score"] for line in scores}) > len(scores) // 2
    before = bytes_of(tmp_path / "out")
    assert run(*arguments).exit_code == 0
    assert bytes_of(tmp_path / "out") == before


def test_a_program_of_the_users_own_can_rank(data: Path, tmp_path: Path) -> None:
    program = tmp_path / "ranker.py"
    program.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    problem = json.loads(line)\n"
        "    print(json.dumps({'id': problem['id'], 'log_probability': -len(problem['text']), 'tokens': 1}))\n"
    )
    out = tmp_path / "out"
    solver = f"command:{sys.executable} {program}"
    ranked = ("augment", data, "--out", out, "--solver", solver, "--rank", "given", "--keep-by", "joint")
    with pytest.raises(ComdivError, match="this would run the program"):
        run(*ranked, *PASTED)
    run(*ranked, *PASTED, "--programs")
    kept = [json.loads(line)["text"] for line in (out / "rounds" / "1" / "kept.jsonl").read_text().splitlines()]
    everything = [
        json.loads(line)["text"] for line in (out / "rounds" / "1" / "candidates.jsonl").read_text().splitlines()
    ]
    assert max(map(len, kept)) <= sorted(map(len, everything))[len(kept)]


def test_hashes_of_a_test_set_keep_its_texts_out(data: Path, tmp_path: Path) -> None:
    run("augment", data, "--out", tmp_path / "free", *PASTED)
    made = tmp_path / "free" / "rounds" / "1" / "kept.jsonl"
    assert run("data", "hashes", made, "--out", tmp_path / "bans").exit_code == 0
    result = run("augment", data, "--out", tmp_path / "out", *PASTED, "--ban", tmp_path / "bans", "--json")
    texts = {json.loads(line)["text"] for line in made.read_text().splitlines()}
    assert not texts & {problem.text for problem in read_dataset(tmp_path / "out").train}
    assert json.loads(result.stdout)["options"]["ban"]["texts"] == len((tmp_path / "bans").read_text().split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "papre"], "Did you mean 'paper'"),
        (["--solver", "gtx"], "Did you mean 'gts'"),
        (["--solver", "gts", "--set", "hiden=3"], "Did you mean 'hidden'"),
        (["--operations", "3"], "option operations: unknown operation '3'"),
        (["--operations", "1,1"], "option operations: name at least one operation, each once"),
        (["--per-problem", "many"], "not whole numbers"),
        (["--per-problem", "1,2,3"], "option per_problem"),
        (["--keep", "0"], "option keep"),
        (["--ban", "no-such-file"], "--ban no-such-file"),
        (["--address", "here:1"], "--engine ray"),
        (["--engine", "ray", "--jobs", "2"], "--jobs goes with --engine local"),
        (["--compose", "unify", "--match", "environment"], "option match: compounds of one story match nothing"),
        (["--growth", "inf"], "option growth: Input should be a finite number"),
    ],
)
def test_a_mistake_is_one_line(data: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(ComdivError) as caught:
        run("augment", data, "--out", tmp_path / "out", *arguments)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_file_of_bans_must_hold_hashes(data: Path, tmp_path: Path) -> None:
    (tmp_path / "bans").write_text("the text itself\n")
    with pytest.raises(ComdivError, match="SHA-256"):
        run("augment", data, "--out", tmp_path / "out", "--ban", tmp_path / "bans")


def test_without_a_ranker_torch_is_never_imported(data: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    program = (
        "import sys\n"
        "from comdiv.cli import app\n"
        f"app(['augment', {str(data)!r}, '--out', {out!r}, '--ranker', 'none'], standalone_mode=False)\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "dataset.json").is_file()

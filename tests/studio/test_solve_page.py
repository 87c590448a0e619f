"""Solve: runs found and loaded, solutions side by side, mistakes beside the right ones."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from comdiv.errors import ComdivError
from comdiv.studio.app import Studio
from comdiv.studio.shelf import LOADED, Shelf
from solvers.tiny import trained_solver
from studio.small import page_client, text_of

HTMX = {"hx-request": "true"}
TEXT = "Sue buys 2 bags of 8 figs and eats 3 of them. How many remain?"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trained runs, one of a program, one that is broken, and folders that are none."""
    folder = tmp_path_factory.mktemp("runs")
    trained_solver("gts").save(folder / "gts")
    trained_solver("transformer").save(folder / "deeper" / "transformer")
    for name in ("program", "broken", "nothing"):
        (folder / name).mkdir()
    (folder / "program" / "config.yaml").write_text("solver: 'command:cat'\n")
    (folder / "broken" / "config.yaml").write_text("solver: gts\n")
    (folder / "broken" / "model.safetensors").write_bytes(b"")
    (folder / "nothing" / "config.yaml").write_text("[not, a, run]\n")
    return folder


@pytest.fixture
def solving(own_dataset: Path, made: Callable[..., Studio], runs: Path) -> TestClient:
    return page_client(made(own_dataset, Shelf(runs)))


def test_runs_are_found_below_the_folder_and_programs_only_if_allowed(runs: Path) -> None:
    assert [run.name for run in Shelf(runs).runs()] == ["broken", "deeper/transformer", "gts"]
    with_programs = Shelf(runs, programs=True).runs()
    assert [run.name for run in with_programs if run.solver.startswith("command:")] == ["program"]
    assert Shelf(runs / "missing").runs() == []
    assert [run.name for run in Shelf(runs / "gts").runs()] == ["."]


def test_a_link_that_leads_out_of_the_folder_is_no_run(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").symlink_to(runs / "gts")
    assert Shelf(tmp_path).runs() == []


def test_a_name_is_compared_never_opened(runs: Path) -> None:
    for name in ("../runs/gts", "/etc", "gts/../gts", "program"):
        with pytest.raises(ComdivError, match="unknown run"):
            Shelf(runs).solver(name)


def test_few_solvers_stay_in_memory(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    monkeypatch.setattr("comdiv.studio.shelf.load_solver", lambda folder, *, programs: loads.append(folder) or folder)
    monkeypatch.setattr("comdiv.studio.shelf.LOADED", 1)
    shelf = Shelf(runs)
    for name in ("gts", "gts", "deeper/transformer", "gts"):
        shelf.solver(name)
    assert [folder.name for folder in loads] == ["gts", "transformer", "gts"]
    assert LOADED > 1


def test_several_runs_answer_side_by_side(solving: TestClient) -> None:
    answer = solving.post(
        "/solve", data={"text": TEXT, "run": ["gts", "deeper/transformer"], "beam": "3"}, headers=HTMX
    )
    assert answer.status_code == 200
    assert answer.text.count('class="card solution"') == 2
    shown = text_of(answer.text)
    assert shown.count("confidence") >= 2
    assert "Also considered" in shown
    assert answer.text.count("What it looked at") == 1  # GTS has attention, the Transformer shows none
    assert "<svg" in answer.text


def test_a_deduction_is_shown_step_by_step(own_dataset: Path, made: Callable[..., Studio], tmp_path: Path) -> None:
    trained_solver("deductive", epochs=60, hidden=32, embedding=32).save(tmp_path / "deductive")
    page = page_client(made(own_dataset, Shelf(tmp_path)))
    answer = page.post("/solve", data={"text": TEXT, "run": "deductive"}, headers=HTMX)
    shown = " ".join(text_of(answer.text).split())
    assert "2 × 8 = 16" in shown
    assert "16 − 3 = 13" in shown
    assert '<details class="steps" open>' in answer.text


def test_a_broken_run_says_so_and_the_other_answers(solving: TestClient) -> None:
    answer = solving.post("/solve", data={"text": TEXT, "run": ["broken", "gts"]}, headers=HTMX)
    assert answer.text.count('class="card solution"') == 2
    assert "is not a run of a solver" in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"text": " ", "run": "gts"}, "no problem to solve"),
        ({"text": TEXT}, "choose at least one run"),
        ({"text": "x" * 5001, "run": "gts"}, "at most 5,000 are allowed"),
        ({"text": TEXT, "run": "gts", "beam": "1000"}, "cannot be understood: beam"),
    ],
)
def test_impossible_requests_are_one_line(solving: TestClient, data: dict[str, str], said: str) -> None:
    answer = solving.post("/solve", data=data, headers=HTMX)
    assert answer.status_code == 400
    assert said in answer.text


def test_an_unknown_run_is_said_on_its_card(solving: TestClient) -> None:
    answer = solving.post("/solve", data={"text": TEXT, "run": "../../etc"}, headers=HTMX)
    assert "unknown run &#39;../../etc&#39;" in answer.text


def test_a_text_without_numbers_and_one_that_attacks(solving: TestClient) -> None:
    attack = "<script>alert(1)</script> 3 cats?"
    answer = solving.post("/solve", data={"text": attack, "run": "gts"}, headers=HTMX)
    assert "<script>" not in answer.text
    none = solving.post("/solve", data={"text": "How many cats are there?", "run": "gts"}, headers=HTMX)
    assert (none.status_code, "there is no number in" in none.text) == (400, True)


def test_the_form_takes_a_problems_text_and_offers_the_runs(solving: TestClient) -> None:
    page = solving.get("/solve?id=p1").text
    assert "Tom has 3 bags of 12 apples" in page
    assert json.dumps("deeper/transformer") in page
    whole = solving.post("/solve", data={"text": TEXT, "run": "gts"})
    assert "<html" in whole.text


def test_without_runs_the_page_says_how_to_train_one(client: TestClient) -> None:
    assert "comdiv train gts" in client.get("/solve").text

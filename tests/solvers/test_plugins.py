"""Solvers by name: ours, those that a program adds, those of installed packages; and what the documentation shows."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from comdiv.errors import ComdivError
from comdiv.reading import read_all
from comdiv.registry import SOLVERS
from comdiv.solvers.command import CommandSolver
from comdiv.solvers.gts import Gts
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.runs import load_solver, make_solver
from solvers.tiny import EIGHT, tiny_settings
from solvers.tiny import SOLVERS as NAMES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to" / "add-a-solver.md"
EXAMPLE = DOCS / "examples" / "comdiv-bag-of-words" / "bag_of_words.py"


def code_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run_page(folder: Path, code: str) -> dict[str, Any]:
    """The names that a page's code leaves when it is run as the program that a reader would save."""
    program = folder / "page.py"
    program.write_text(code, encoding="utf-8")
    return runpy.run_path(str(program))


@pytest.fixture
def own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(SOLVERS, "_added", {})


def test_ours_are_known() -> None:
    assert set(NAMES) <= set(SOLVERS.names())
    assert SOLVERS.get("gts") is Gts


def test_an_unknown_solver_is_answered_with_the_nearest() -> None:
    with pytest.raises(ComdivError, match=r"unknown solver 'gtss'. Did you mean 'gts'\? Known: .*lstm, mathen"):
        make_solver("gtss")


@pytest.mark.usefixtures("own_names")
def test_a_registered_model_is_a_solver_like_the_others(tmp_path: Path) -> None:
    SOLVERS.add("mine", type("Mine", (Gts,), {}))
    assert "mine" in SOLVERS.names()
    solver = make_solver("mine", tiny_settings())
    solver.fit(EIGHT, ())
    solver.save(tmp_path)
    loaded = load_solver(tmp_path)
    assert loaded.name == "mine"
    assert loaded.solve(EIGHT) == solver.solve(EIGHT)


@pytest.mark.usefixtures("own_names")
def test_a_run_of_a_solver_that_is_not_installed_says_which(tmp_path: Path) -> None:
    SOLVERS.add("mine", type("Mine", (Gts,), {}))
    solver = make_solver("mine", tiny_settings(epochs=1))
    solver.fit(EIGHT, ())
    solver.save(tmp_path)
    SOLVERS.remove("mine")
    with pytest.raises(ComdivError, match="unknown solver 'mine'"):
        load_solver(tmp_path)


def test_an_installed_package_adds_a_solver_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bag_package.py").write_text(code_blocks()[0], encoding="utf-8")
    facts = tmp_path / "bag_package-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: bag-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[comdiv.solvers]\nbag = bag_package:BagOfWords\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert "bag" in SOLVERS.names()
        solver = make_solver("bag", tiny_settings("bag", epochs=2))
        assert solver.fit(EIGHT, ()).problems == 8
    finally:
        sys.modules.pop("bag_package", None)


@pytest.mark.parametrize(
    ("package", "solver", "extra"), [("torch", "gts", "solvers"), ("transformers", "bertgen", "pretrained")]
)
def test_without_a_package_its_extra_is_named(
    package: str, solver: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(module: str) -> Any:
        raise ModuleNotFoundError(f"No module named '{package}'", name=package)

    monkeypatch.setattr("comdiv.registry.import_module", nothing)
    monkeypatch.setattr(SOLVERS, "_imported", {})
    with pytest.raises(ComdivError, match=rf"pip install 'comdiv\[{extra}\]'"):
        make_solver(solver)


def test_a_command_is_a_solver() -> None:
    assert isinstance(make_solver("command:cat", programs=True), CommandSolver)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "it has no config.yaml"),
        ("[", "config.yaml"),
        ("- 3", "config.yaml is not a mapping"),
        ("solver: gts", "not a run of a"),
    ],
)
def test_a_folder_that_is_no_run_is_refused_in_one_line(content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "config.yaml").write_text(content)
    with pytest.raises(ComdivError, match=re.escape(message)):
        load_solver(tmp_path)


# --- docs/how-to/add-a-solver.md ---


@pytest.mark.usefixtures("own_names")
def test_the_solver_of_the_documentation_runs_and_trains(tmp_path: Path) -> None:
    model_code, use_code, *_ = code_blocks()
    assert len([line for line in model_code.splitlines() if line.strip()]) <= 42
    assert model_code == EXAMPLE.read_text(encoding="utf-8")
    names = run_page(tmp_path, model_code + use_code)
    assert names["summary"].epochs == 5
    losses = [entry["loss"] for entry in names["summary"].history]
    assert losses[-1] < losses[0]
    assert len(names["solutions"]) == 20
    assert all(solution.expression is not None for solution in names["solutions"])


@pytest.mark.usefixtures("own_names")
def test_the_solver_of_the_documentation_keeps_its_word_and_learns_by_heart(tmp_path: Path) -> None:
    import torch

    from comdiv.solvers.batches import sorted_batches

    SOLVERS.add("bag-of-words", run_page(tmp_path, code_blocks()[0])["BagOfWords"])
    solver = make_solver("bag-of-words", tiny_settings("bag-of-words", epochs=80, hidden=32))
    solver.fit(EIGHT, ())
    assert isinstance(solver, NeuralSolver)
    assert solver.accuracy(EIGHT) == 1.0
    model = solver.model
    assert model is not None
    with torch.no_grad():
        for _, batch in sorted_batches(solver._encode(read_all(EIGHT)), 8, torch.device("cpu")):
            forced = model.target_logits(model.encode(batch), batch)
            state = model.start(model.encode(batch), 1)
            for step in range(batch.targets.shape[1]):
                torch.testing.assert_close(model.next_logits(state), forced[:, step], atol=1e-5, rtol=1e-5)
                state = model.advance(state, torch.arange(8), batch.targets[:, step].clamp(min=0))


@pytest.mark.usefixtures("own_names")
def test_the_encoder_of_the_documentation_reads_for_every_decoder(tmp_path: Path) -> None:
    from comdiv.registry import ENCODERS
    from solvers.tiny import trained_solver

    encoder = run_page(tmp_path, code_blocks()[2])["WordByWord"]
    with ENCODERS.adding("word-by-word", encoder):
        for decoder in ("lstm", "gts", "deductive"):
            solver = trained_solver(decoder, epochs=1, encoder="word-by-word")
            assert isinstance(solver.model.encoder, encoder)  # type: ignore[union-attr]
            assert len(solver.solve(EIGHT)) == len(EIGHT)


@pytest.mark.parametrize("encoder", ["", "lstm", "transformer", "BERT", "word-by-word"])
@pytest.mark.usefixtures("own_names")
def test_the_decoder_of_the_documentation_writes_with_every_encoder(encoder: str, tmp_path: Path) -> None:
    import torch

    from comdiv.registry import ENCODERS
    from solvers.test_models import logits_of
    from solvers.tiny_weights import tiny_weights

    _, _, encoder_code, decoder_code = code_blocks()
    SOLVERS.add("from-summary", run_page(tmp_path, decoder_code)["FromSummary"])
    named = tiny_weights("bertgen") if encoder == "BERT" else encoder
    with ENCODERS.adding("word-by-word", run_page(tmp_path, encoder_code)["WordByWord"]):
        changes = {"encoder": named, "epochs": 80, "hidden": 32}
        solver = make_solver("from-summary", tiny_settings("from-summary", **changes))
        solver.fit(EIGHT, ())
        assert isinstance(solver, NeuralSolver)
        assert solver.accuracy(EIGHT) > 0.5
        for forced, stepped in logits_of(solver, beam=2):
            torch.testing.assert_close(forced, stepped, atol=1e-5, rtol=1e-5)

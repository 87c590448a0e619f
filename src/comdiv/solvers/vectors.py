"""Word vectors from elsewhere as a start of the embeddings, read as plain arrays: no package is imported or run.

Two kinds of files are known: word2vec's binary format (package:synonyms/data/words.vector), and the embeddings of LAC
(package:LAC/lac_model/model/word_emb), whose words are in `conf/word.dic` beside the model's folder.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from comdiv.errors import ComdivError
from comdiv.solvers.hyperparameters import weights_folder

Vector = npt.NDArray[np.float32]
MOST_BYTES = 4 * 2**30
MOST_WIDTH = 4096
_HEADER = re.compile(rb"(\d{1,9}) (\d{1,4})\n")
_LAC_START = bytes(16)  # no version, no levels


def read_vectors(name: str, words: Collection[str]) -> dict[str, Vector]:
    """The vectors of those words that a file has; `name` is a path or package:NAME/FILE."""
    path = Path(weights_folder(name))
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ComdivError(f"vectors {name!r}: the file has more than {MOST_BYTES:,} bytes")
        content = path.read_bytes()
        if header := _HEADER.match(content):
            return _word2vec(content, header.end(), int(header[2]), int(header[1]), words)
        if content.startswith(_LAC_START):
            return _lac(content, (path.parents[1] / "conf" / "word.dic").read_text(encoding="utf-8"), words)
    except (OSError, ValueError, IndexError) as error:
        raise ComdivError(f"vectors {name!r} cannot be read: {error}") from error
    raise ComdivError(f"vectors {name!r}: neither word2vec's binary format nor the embeddings of LAC")


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


@torch.no_grad()
def start_embeddings(table: nn.Embedding, words: Sequence[str], vectors: Mapping[str, Vector]) -> None:
    """Begin the rows of known words with their vectors, scaled like the random ones.

    If the widths differ, the first numbers count, and the rest of a row stays random.
    """
    known = [place for place, word in enumerate(words) if word in vectors]
    if not known:
        raise ComdivError("vectors: the file has none of the words of the training problems")
    rows = torch.from_numpy(np.stack([vectors[words[place]] for place in known]))  # (known, width)
    width = min(rows.shape[1], table.embedding_dim)
    rows = rows[:, :width] * (table.weight[1:].std() / rows[:, :width].std().clamp(min=1e-9)).cpu()
    table.weight[torch.tensor(known, device=table.weight.device), :width] = rows.to(table.weight.device)

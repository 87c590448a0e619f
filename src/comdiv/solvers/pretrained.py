"""Pre-trained models of the transformers library: where they come from, how they read, and how a run keeps them.

A run folder has everything needed for solving: the tokenizer's files and the model's configuration in `pretrained/`,
the weights in `model.safetensors`. Nothing is unpickled, and no code from a model's author is run.
"""

import copy
import re
import shutil
import urllib.error
import urllib.request
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
import transformers
from torch import nn

from comdiv.errors import ComdivError
from comdiv.language import get_language
from comdiv.reading import Reading
from comdiv.solvers.alphabet import Notation
from comdiv.solvers.encoders import PRETRAINED_FOLDER
from comdiv.solvers.hyperparameters import PretrainedSettings, SolverSettings
from comdiv.solvers.inputs import InputReader, NumberInput
from comdiv.solvers.model import Model, Sizes
from comdiv.word_vectors import weights_folder

Kind = Literal["encoder", "causal"]
MOST_PIECES = 512  # of a text; a longer one is cut
MARK = " →"  # between problem and expression, for causal models
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+(/[\w.-]+)?)(@(?P<revision>[\w.-]+))?")
_SECONDS = 10  # to wait for the hub's first answer


@dataclass(frozen=True, slots=True)
class WeightsSource:
    """Where a pre-trained model is: a folder or a name on the hub, and the file name of a GGUF file."""

    name: str
    gguf_file: str | None = None
    revision: str | None = None  # of a hub's name: a commit, tag or branch; the main branch without it

    @classmethod
    def of(cls, weights: str) -> "WeightsSource":
        name, gguf_file = weights_folder(weights), None
        if name.lower().endswith(".gguf"):
            name, gguf_file = str(Path(name).parent), Path(name).name
        hub = None if Path(name).is_dir() else _HUB_NAME.fullmatch(name)
        return cls(hub["name"], gguf_file, hub["revision"]) if hub else cls(name, gguf_file)

    @property
    def model(self) -> str:
        return self.name if self.revision is None else f"{self.name}@{self.revision}"

    @property
    def place(self) -> str:
        return self.model if self.gguf_file is None else f"{self.model}/{self.gguf_file}"


def default_weights(kind: Kind, readings: Sequence[Reading]) -> str:
    """The default weights of the most frequent language for this kind of model: those of the paper (§V-B)."""
    ((code, _),) = Counter(reading.problem.language for reading in readings).most_common(1)
    weights = get_language(code).weights
    if kind not in weights:
        raise ComdivError(f"there are no default weights for the language {code!r}: use --set weights=FOLDER")
    return weights[kind]


@contextmanager
def _quietly() -> Iterator[None]:
    """Silence the library's progress bars and warnings; comdiv reports what a user must know."""
    logging: Any = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def fetch(load: Callable[..., Any], source: WeightsSource, **options: Any) -> Any:
    """Load a source with `load` (a `from_pretrained`); one that is neither here nor on the hub is a one-line error."""
    if source.gguf_file is not None:
        options["gguf_file"] = source.gguf_file
    if source.revision is not None:
        options["revision"] = source.revision
    is_here = Path(source.name).is_dir() and (source.gguf_file is None or Path(source.name, source.gguf_file).is_file())
    if not is_here and not _HUB_NAME.fullmatch(source.name):
        raise ComdivError(f"weights {source.place!r}: there is no such {'file' if source.gguf_file else 'folder'}")
    with _quietly():
        try:
            return load(source.name, local_files_only=True, **options)
        except Exception as error:  # the libraries raise many kinds of exceptions, even bare Exception
            if is_here:
                raise _cannot_be_loaded(source, error) from error
        _reach_hub(source)
        try:
            return load(source.name, **options)
        except OSError as error:
            raise _not_there(source, f"the hub does not give it ({str(error).splitlines()[0]})") from error
        except Exception as error:
            raise _cannot_be_loaded(source, error) from error


def _reach_hub(source: WeightsSource) -> None:
    """Check once that the hub can be reached: its own library tries six times, for most of a minute.

    A refused request counts as reachable: the library may have the user's key, which comdiv does not.
    """
    from huggingface_hub import constants

    file = source.gguf_file or "config.json"
    if constants.HF_HUB_OFFLINE:
        raise _not_there(source, "the hub is switched off (HF_HUB_OFFLINE)")
    address = f"{constants.ENDPOINT}/{source.name}/resolve/{source.revision or 'main'}/{file}"
    request = urllib.request.Request(address, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return
    except urllib.error.HTTPError:
        return
    except (OSError, ValueError) as error:
        raise _not_there(source, f"the hub cannot be reached: {getattr(error, 'reason', error)}") from error


def _not_there(source: WeightsSource, reason: str) -> ComdivError:
    files = source.gguf_file or "config.json, model.safetensors and the tokenizer's files"
    place = "the file" if source.gguf_file else "the folder"
    tree = f"/tree/{source.revision}" if source.revision else ""
    return ComdivError(
        f"weights {source.model!r}: no such folder, not downloaded before, and {reason}. Download {files} of "
        f"https://huggingface.co/{source.name}{tree} into a folder and name {place} instead"
    )


def _cannot_be_loaded(source: WeightsSource, error: Exception) -> ComdivError:
    reason = " ".join(str(error).split())
    return ComdivError(f"weights {source.place!r} cannot be loaded: {reason or type(error).__name__}")


def _tokenizer_and_config(source: WeightsSource) -> tuple[Any, Any]:
    config = fetch(transformers.AutoConfig.from_pretrained, source)
    tokenizer = fetch(transformers.AutoTokenizer.from_pretrained, source)
    if 2 * len(tokenizer) < config.vocab_size:  # the library makes an empty one if the files are missing
        raise ComdivError(
            f"weights {source.place!r} cannot be loaded: the tokenizer knows {len(tokenizer)} of "
            f"{config.vocab_size} pieces; its files are missing (tokenizer.json, vocab.txt…)"
        )
    return tokenizer, config


@dataclass(frozen=True)
class Pieces:
    """Reads texts with a pre-trained model's tokenizer; quantities are kept apart from the text.

    For an encoder a quantity is one integer beyond the tokenizer's own (`first_quantity` + its index), and the text is
    between the classifier's sign and the separator. For a causal model it is spelled as in the expression.
    """

    tokenizer: Any
    config: Any
    kind: Kind
    source: WeightsSource | None = None  # of the weights; None for a run, which has its own weights
    words: tuple[str, ...] = ()

    @classmethod
    def learn(cls, kind: Kind, readings: Sequence[Reading], weights: str) -> "Pieces":
        """The reader of these weights, or of the default ones."""
        source = WeightsSource.of(weights or default_weights(kind, readings))
        return cls(*_tokenizer_and_config(source), kind, source)

    @classmethod
    def load(cls, kind: Kind, folder: Path) -> "Pieces":
        """The reader of a run folder."""
        if not (folder / PRETRAINED_FOLDER).is_dir():
            raise FileNotFoundError(2, "no such folder", str(folder / PRETRAINED_FOLDER))
        return cls(*_tokenizer_and_config(WeightsSource(str(folder / PRETRAINED_FOLDER))), kind)

    def save(self, folder: Path) -> None:
        """Write the tokenizer's files and the configuration: all of them, or none."""
        final, staging = folder / PRETRAINED_FOLDER, folder / f".{PRETRAINED_FOLDER}.part"
        shutil.rmtree(staging, ignore_errors=True)
        with _quietly():
            try:
                self.tokenizer.save_pretrained(staging)
                self.config.save_pretrained(staging)
            except Exception as error:  # how the tokenizers library reports a full disk
                shutil.rmtree(staging, ignore_errors=True)
                raise OSError(str(error)) from error
        shutil.rmtree(final, ignore_errors=True)
        staging.replace(final)

    @property
    def first_quantity(self) -> int:
        return int(self.config.vocab_size)

    @property
    def unknown(self) -> int:
        """The piece that replaces a forgotten one: a mask, if there is one."""
        return self._special("mask", "unk", "eos")

    def _special(self, *kinds: str) -> int:
        """The first of these special pieces that the tokenizer has; if it has none, piece 0."""
        pieces = (getattr(self.tokenizer, f"{kind}_token_id") for kind in kinds)
        return next((int(piece) for piece in pieces if piece is not None), 0)

    @cached_property
    def most_pieces(self) -> int:
        """Most pieces of a text: for encoders two fewer than positions, since RoBERTa counts positions from two."""
        positions = getattr(self.config, "max_position_embeddings", None) or MOST_PIECES
        share = positions - 2 if self.kind == "encoder" else positions // 2  # the other half is for the expression
        return int(min(MOST_PIECES, share))

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def ids_within(self, text: str) -> list[int]:
        """The pieces of a text that follows another: some tokenizers put a space before the first piece."""
        before, both = self._before, self.ids("=" + text)
        return both[len(before) :] if both[: len(before)] == before else self.ids(text)

    @cached_property
    def _before(self) -> list[int]:
        return self.ids("=")

    @cached_property
    def mark(self) -> list[int]:
        return self.ids_within(MARK)

    def read(self, reading: Reading, numbers: NumberInput) -> tuple[list[int], list[int]]:
        """The pieces of the text, with quantities in their places, and the positions of the quantities."""
        spelled = [self._quantity(index) for index in range(len(reading.numbers))]
        pieces, positions = self._read(reading, spelled)
        return pieces, positions

    def read_written(self, reading: Reading) -> tuple[list[int], list[int], list[int]]:
        """The pieces of the text with its numbers as written, and the positions and lengths of the numbers."""
        spelled = [self.ids_within(f" {reading.text[n.start : n.end]}") for n in reading.numbers]
        pieces, positions = self._read(reading, spelled)
        ends = [position + len(spelling) for position, spelling in zip(positions, spelled, strict=True)]
        lengths = [min(end, len(pieces)) - place for place, end in zip(positions, ends, strict=True)]
        return pieces, positions, lengths

    def _read(self, reading: Reading, spelled: Sequence[list[int]]) -> tuple[list[int], list[int]]:
        """The pieces of the text with its quantities spelled in the given way, and where each begins."""
        tokenizer, text = self.tokenizer, reading.text
        pieces, positions, written = [self._special("bos", "cls", "eos")], [], 0
        for number, spelling in zip(reading.numbers, spelled, strict=True):
            pieces += self._segment(text[written : number.start], written)
            positions.append(len(pieces))
            pieces += spelling
            written = number.end
        pieces += self._segment(text[written:], written)
        last = self.mark[:-1] if self.kind == "causal" else [i for i in (tokenizer.sep_token_id,) if i is not None]
        kept = pieces[: self.most_pieces - len(last)] + last
        return kept, [min(position, len(kept) - 1) for position in positions]

    def _segment(self, text: str, written: int) -> list[int]:
        text = text.rstrip()
        if not text:
            return []
        return self.ids_within(text) if written else self.ids(text)

    def _quantity(self, index: int) -> list[int]:
        return [self.first_quantity + index] if self.kind == "encoder" else self.ids_within(f" N{index}")


def model_of(load: Callable[..., Any], reader: Pieces, rows: int, dropout: float) -> Any:
    """A model of the reader's configuration with random weights, `rows` embeddings and the solver's dropout."""
    with _quietly():
        model = load(copy.deepcopy(reader.config)).float()
        if rows > model.get_input_embeddings().num_embeddings:
            model.resize_token_embeddings(rows, mean_resizing=False)
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # only for classifiers: unused, and no gradient reaches it
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
    return model


@torch.no_grad()
def begin_with(model: Any, load: Callable[..., Any], source: WeightsSource) -> None:
    """Copy pre-trained weights into a model of `model_of`; its additional embedding rows stay random."""
    gguf = getattr(transformers, "GgufConfig", None)  # older versions expand a GGUF file without being asked
    options: dict[str, Any] = {"use_safetensors": True}
    if source.gguf_file is not None:
        options = {} if gguf is None else {"quantization_config": gguf(dequantize=True)}
    theirs = fetch(load, source, **options).state_dict()
    for name, weights in model.state_dict().items():
        if name in theirs and theirs[name].shape == weights.shape:
            weights.copy_(theirs[name])
        elif name in theirs and theirs[name].shape[1:] == weights.shape[1:] and len(theirs[name]) < len(weights):
            weights[: len(theirs[name])] = theirs[name]
        else:
            raise ComdivError(f"weights {source.place!r} cannot be loaded: they have no {name} of the model's shape")


@torch.no_grad()
def begin_quantities(body: Any, reader: Pieces, last_row: int) -> None:
    """Initialise the rows of quantities from numbers, N3 from 3: their embeddings are similar, but no two are equal.

    A row that all quantities share is the mean of the first ten.
    """
    table, first = body.get_input_embeddings().weight, reader.first_quantity
    for row in range(first, last_row + 1):
        texts = map(str, range(1, 11)) if last_row == first else [str(row - first)]
        table[row] = table[[piece for text in texts for piece in reader.ids(text)]].mean(0)


class PretrainedModel(Model):
    """A model that reads the pieces of a pre-trained tokenizer and writes infix."""

    notation: ClassVar[Notation] = "infix"
    numbers: ClassVar[NumberInput] = "indexed"
    versions_of = (*Model.versions_of, "transformers", "tokenizers")
    kind: ClassVar[Kind]
    settings_class: ClassVar[type[SolverSettings]] = PretrainedSettings
    settings: PretrainedSettings

    def __init__(self, settings: PretrainedSettings, sizes: Sizes) -> None:
        super().__init__(settings, sizes)
        assert isinstance(sizes.reader, Pieces)
        self.reader = sizes.reader

    @classmethod
    def learn_reader(cls, readings: Sequence[Reading], settings: SolverSettings) -> InputReader:
        assert isinstance(settings, PretrainedSettings)
        return Pieces.learn(cls.kind, readings, settings.weights)

    @classmethod
    def load_reader(cls, folder: Path, words: Sequence[str]) -> InputReader:
        return Pieces.load(cls.kind, folder)

    def save_reader(self, folder: Path) -> None:
        self.reader.save(folder)

    def load_pretrained(self) -> None:
        if not self.settings.random_weights and self.reader.source is not None:
            self.begin(self.reader.source)

    @abstractmethod
    def begin(self, source: WeightsSource) -> None:
        """Load the weights of a source."""

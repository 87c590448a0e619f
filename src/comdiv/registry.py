"""What can be plugged in, by name: solvers, encoders, languages, operations, formats, split methods, exports, tables.

A name stands for `module:attribute`, which is imported on first use. Names come from three places: comdiv itself,
installed packages (entry points of the group `comdiv.KIND`), and `add` in a running program. Installed packages are
visible to every process, including the workers of `comdiv run` and Ray; `add` affects one process only.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Generic, TypeVar

from comdiv.errors import ComdivError, unknown_name

if TYPE_CHECKING:
    from comdiv.augmentation.coherence_scorer import CoherenceScorer
    from comdiv.augmentation.operations import ProblemOperation
    from comdiv.corpora.formats import Format
    from comdiv.exchange.exports import Export
    from comdiv.experiments.reporting.sections import MakeTable
    from comdiv.language.base import Language
    from comdiv.solvers.encoders import Encoder
    from comdiv.solvers.model import Model
    from comdiv.splitting.methods import SplitMethod

T = TypeVar("T")
# Packages that only an extra installs: the message that says what needs them, and the extra.
EXTRAS = {
    "torch": ("solvers need torch", "solvers"),
    "safetensors": ("solvers need safetensors", "solvers"),
    "transformers": ("pre-trained solvers need transformers", "pretrained"),
    "gguf": ("GGUF files need gguf", "pretrained"),
    "ray": ("--engine ray needs Ray", "ray"),
}


@contextmanager
def naming_extras() -> Iterator[None]:
    """Say which extra to install, in one line, where a module is missing that an extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        need, extra = EXTRAS[package]
        raise ComdivError(f"{need}: pip install 'comdiv[{extra}]'") from error


class Registry(Generic[T]):
    """The plug-ins of one kind, by name."""

    def __init__(self, kind: str, what: str, ours: Mapping[str, str]) -> None:
        self.kind = kind  # `solvers`
        self.what = what  # `solver`, for messages
        self._ours = dict(ours)
        self._added: dict[str, T] = {}
        self._imported: dict[str, T] = {}

    @property
    def group(self) -> str:
        """The group of entry points under which packages register theirs."""
        return f"comdiv.{self.kind}"

    def names(self) -> tuple[str, ...]:
        """All known names: comdiv's own, then those added in this process, then those of packages. Imports nothing."""
        installed = sorted(entry.name for entry in _installed(self.group, tuple(sys.path)))
        return tuple(dict.fromkeys([*self._ours, *self._added, *installed]))

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def is_ours(self, name: str) -> bool:
        """Whether a name belongs to something that comes with comdiv."""
        return name in self._ours and name not in self._added

    def get(self, name: str) -> T:
        """What a name stands for; the error for an unknown name suggests the nearest known one.

        Names added in this process take precedence over comdiv's own, and those over names from packages.
        """
        if name in self._added:
            return self._added[name]
        if name not in self._imported:
            self._imported[name] = self._ours_named(name) if name in self._ours else self._installed_as(name)
        return self._imported[name]

    def _installed_as(self, name: str) -> T:
        entries = [entry for entry in _installed(self.group, tuple(sys.path)) if entry.name == name]
        if not entries:
            raise unknown_name(self.what, name, self.names())
        if len({entry.value for entry in entries}) > 1:
            owners = " and ".join(sorted({_owner(entry) for entry in entries}))
            raise ComdivError(f"{self.what} '{name}': {owners} both provide one of that name")
        return self._loaded_entry(entries[0])

    def items(self) -> Iterator[tuple[str, T]]:
        """Every name with what it stands for."""
        for name in self.names():
            yield name, self.get(name)

    def add(self, name: str, value: T) -> None:
        """Register something under a name, for this process."""
        self._added[name] = value

    @contextmanager
    def adding(self, name: str, value: T) -> Iterator[None]:
        """Make something known under a name until the block ends."""
        self.add(name, value)
        try:
            yield
        finally:
            self.remove(name)

    def remove(self, name: str) -> None:
        """Undo `add`."""
        del self._added[name]

    def _ours_named(self, name: str) -> T:
        module, _, attribute = self._ours[name].partition(":")
        with naming_extras():
            value: T = getattr(import_module(module), attribute)
        return value

    def _loaded_entry(self, entry: EntryPoint) -> T:
        try:
            with naming_extras():
                value: T = entry.load()
            return value
        except ComdivError:
            raise
        except Exception as error:  # whatever a package does wrong: the user must know which package is at fault
            raise ComdivError(
                f"{self.what} '{entry.name}' of {_owner(entry)} cannot be loaded from {entry.value}: "
                f"{type(error).__name__}: {error}"
            ) from error


@cache
def _installed(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group; cached per search path, because the lookup reads many small files."""
    del path
    return tuple(entry_points(group=group))


def _owner(entry: EntryPoint) -> str:
    return f"package {entry.dist.name} {entry.dist.version}" if entry.dist else f"module {entry.module}"


SOLVERS: "Registry[type[Model]]" = Registry(
    "solvers",
    "solver",
    {
        "lstm": "comdiv.solvers.lstm:Lstm",
        "transformer": "comdiv.solvers.transformer:Transformer",
        "mathen": "comdiv.solvers.lstm:MathEn",
        "gts": "comdiv.solvers.gts:Gts",
        "bertgen": "comdiv.solvers.bertgen:Bertgen",
        "gpt2": "comdiv.solvers.gpt2:Gpt2",
        "deductive": "comdiv.solvers.deductive:Deductive",
    },
)
ENCODERS: "Registry[type[Encoder]]" = Registry(
    "encoders",
    "encoder",
    {
        "gru": "comdiv.solvers.recurrent:GruEncoder",
        "lstm": "comdiv.solvers.recurrent:LstmEncoder",
        "transformer": "comdiv.solvers.transformer:TransformerEncoder",
    },
)
LANGUAGES: "Registry[Language | type[Language]]" = Registry(
    "languages", "language", {"en": "comdiv.language.en:English", "zh": "comdiv.language.zh:Chinese"}
)
OPERATIONS: "Registry[type[ProblemOperation]]" = Registry(
    "operations",
    "operation",
    {
        "1": "comdiv.augmentation.operations.structural:Structural",
        "2": "comdiv.augmentation.operations.lexical:Lexical",
    },
)
SCORERS: "Registry[type[CoherenceScorer]]" = Registry(
    "scorers", "scorer", {"pairs": "comdiv.augmentation.coherence_scorer:PairScorer"}
)
# If several formats match a record, the one with the most keys reads it; on a tie, the first. Other CSV files may
# have a Body like SVAMP's, but only SVAMP's has Numbers.
FORMATS: "Registry[type[Format]]" = Registry(
    "formats",
    "corpus format",
    {
        "mwptoolkit": "comdiv.corpora.formats:MwpToolkit",
        "mawps": "comdiv.corpora.formats:Mawps",
        "svamp-csv": "comdiv.corpora.formats:SvampCsv",
        "svamp": "comdiv.corpora.formats:Svamp",
        "asdiv": "comdiv.corpora.formats:Asdiv",
        "gsm8k": "comdiv.corpora.formats:Gsm8k",
        "readers-queue": "comdiv.corpora.formats:ReadersQueue",
    },
)
SPLIT_METHODS: "Registry[SplitMethod]" = Registry(
    "split_methods",
    "split method",
    {
        "dbca": "comdiv.splitting.methods:split_by_divergence",
        "iid": "comdiv.splitting.methods:split_at_random",
        "length": "comdiv.splitting.methods:split_by_length",
        "template": "comdiv.splitting.methods:split_by_template",
    },
)
EXPORTS: "Registry[type[Export]]" = Registry(
    "exports",
    "export",
    {
        "hub": "comdiv.exchange.hub_repository:HubExport",
        "lm-eval": "comdiv.exchange.lm_eval:LmEvalExport",
        "inspect": "comdiv.exchange.inspect_tasks:InspectExport",
        "every-eval-ever": "comdiv.exchange.every_eval_ever:EveryEvalEverExport",
        "compositional-pairs": "comdiv.exchange.compositional_pairs:PairsExport",
        "label-studio": "comdiv.exchange.human_evaluation:LabelStudioExport",
        "csv": "comdiv.exchange.human_evaluation:SheetExport",
        "results": "comdiv.experiments.archive:ResultsExport",
    },
)
TABLES: "Registry[MakeTable]" = Registry(
    "tables",
    "table",
    {
        name: f"comdiv.experiments.reporting.{place}"
        for name, place in (
            ("datasets", "cell_tables:dataset_table"),
            ("accuracy", "accuracy_tables:accuracy_table"),
            ("divergence-curve", "accuracy_tables:divergence_table"),
            ("rounds-curve", "accuracy_tables:rounds_table"),
            ("compositions", "accuracy_tables:composition_table"),
            ("structures", "split_tables:structures_table"),
            ("splits", "split_tables:splits_table"),
            ("coverage", "accuracy_tables:coverage_table"),
            ("overlap", "accuracy_tables:overlap_table"),
            ("breakdown", "accuracy_tables:breakdown_table"),
            ("numbers", "accuracy_tables:numbers_table"),
            ("augmentations", "cell_tables:augmentation_table"),
            ("trainings", "cell_tables:training_table"),
            ("costs", "split_tables:cost_table"),
        )
    },
)

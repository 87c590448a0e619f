"""comdiv: compositional generalization in math word problem solving.

Measure it, build benchmarks that test it, train solvers on them, and close the gap by data augmentation. Every verb of
the command line is a function of the same name here (`comdiv split` is `comdiv.split`), with its settings classes.
Every name is imported on first use, so that `import comdiv` costs nothing.
"""

import re
from importlib import import_module
from importlib.metadata import version
from pkgutil import get_data
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from comdiv.asking.ask_settings import AskSettings as AskSettings
    from comdiv.augmentation import AugmentationOptions as AugmentationOptions
    from comdiv.augmentation import augment_dataset as augment_dataset
    from comdiv.corpora import Columns as Columns
    from comdiv.corpora import Corpus as Corpus
    from comdiv.corpora import corpus_statistics as corpus_statistics
    from comdiv.corpora import read_corpus as read_corpus
    from comdiv.corpora import read_rows as read_rows
    from comdiv.corpora.corpus_options import CorpusOptions as CorpusOptions
    from comdiv.corpora.demo import generate as generate
    from comdiv.corpora.download import download as download
    from comdiv.dataset import read_dataset as read_dataset
    from comdiv.errors import ComdivError as ComdivError
    from comdiv.evaluation import Evaluation as Evaluation
    from comdiv.evaluation import Judgement as Judgement
    from comdiv.evaluation import compare_predictions as compare_predictions
    from comdiv.evaluation import evaluate_predictions as evaluate_predictions
    from comdiv.evaluation import read_judgements as read_judgements
    from comdiv.evaluation import write_judgements as write_judgements
    from comdiv.evaluation.kappa import agreement as agreement
    from comdiv.exchange import export_compositional_pairs as export_compositional_pairs
    from comdiv.exchange import export_csv as export_csv
    from comdiv.exchange import export_every_eval_ever as export_every_eval_ever
    from comdiv.exchange import export_hub as export_hub
    from comdiv.exchange import export_inspect as export_inspect
    from comdiv.exchange import export_label_studio as export_label_studio
    from comdiv.exchange import export_lm_eval as export_lm_eval
    from comdiv.exchange import renumber_problem as renumber_problem
    from comdiv.experiments.archive import export_results as export_results
    from comdiv.experiments.archive import read_results as read_results
    from comdiv.experiments.plan import read_plan as read_plan
    from comdiv.experiments.reporting.report import make_report as make_report
    from comdiv.experiments.runner import run_plan as run_plan
    from comdiv.expression import equivalent as equivalent
    from comdiv.expression import parse as parse
    from comdiv.expression import parse_equation as parse_equation
    from comdiv.expression import template as template
    from comdiv.expression import to_infix as to_infix
    from comdiv.expression import value_of as value_of
    from comdiv.language import get_language as get_language
    from comdiv.language.align import align as align
    from comdiv.observer import Observer as Observer
    from comdiv.problem import Problem as Problem
    from comdiv.problem import Provenance as Provenance
    from comdiv.problem import Quantity as Quantity
    from comdiv.problem import read_problems as read_problems
    from comdiv.problem import write_problems as write_problems
    from comdiv.review import apply_review as apply_review
    from comdiv.settings import Settings as Settings
    from comdiv.solvers.hyperparameters import SolverSettings as SolverSettings
    from comdiv.solvers.runs import evaluate_run as evaluate_run
    from comdiv.solvers.runs import load_solver as load_solver
    from comdiv.solvers.runs import make_solver as make_solver
    from comdiv.solvers.runs import train_run as train_run
    from comdiv.splitting.audit import SplitAudit as SplitAudit
    from comdiv.splitting.choice import SplitSeries as SplitSeries
    from comdiv.splitting.extraction import ExtractionSettings as ExtractionSettings
    from comdiv.splitting.extraction import extract as extract
    from comdiv.splitting.measurement import Measurement as Measurement
    from comdiv.splitting.methods import SplitSettings as SplitSettings
    from comdiv.splitting.methods import split_problems as split_problems
    from comdiv.splitting.search import find_split as find_split
    from comdiv.splitting.splitter import CompositionalSplit as CompositionalSplit
    from comdiv.synthesis import SynthesisOptions as SynthesisOptions
    from comdiv.synthesis import load_rules as load_rules
    from comdiv.synthesis import synthesize_dataset as synthesize_dataset
    from comdiv.verbs.asking import ask as ask
    from comdiv.verbs.benchmarks import augment as augment
    from comdiv.verbs.benchmarks import measure as measure
    from comdiv.verbs.benchmarks import split as split
    from comdiv.verbs.benchmarks import synthesize as synthesize
    from comdiv.verbs.running import export as export
    from comdiv.verbs.running import report as report
    from comdiv.verbs.running import run as run
    from comdiv.verbs.solving import ComparisonSettings as ComparisonSettings
    from comdiv.verbs.solving import SolvingSettings as SolvingSettings
    from comdiv.verbs.solving import compare as compare
    from comdiv.verbs.solving import evaluate as evaluate
    from comdiv.verbs.solving import solve as solve
    from comdiv.verbs.solving import train as train
    from comdiv.verbs.verifying import VerificationSettings as VerificationSettings
    from comdiv.verbs.verifying import verify as verify
    from comdiv.verification.ledger import Verification as Verification

# Every name is written once, above; its module is imported when the name is first used.
_LINE = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)
_SOURCE = (get_data("comdiv", "__init__.py") or b"").decode()
_MODULE_OF = {name: module for module, name in _LINE.findall(_SOURCE)}
__all__ = [*sorted(_MODULE_OF), "__version__"]  # noqa: PLE0604  (the names are strings)
__version__ = version("comdiv")

if not TYPE_CHECKING:  # for a type checker, a name that is not above is an error, not Any

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'comdiv' has no attribute '{name}'")
        return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return __all__

"""comdiv: compositional generalization in math word problem solving.

Measure it, build benchmarks that test it, train solvers on them, and close the gap by data augmentation. The functions
here are the twins of the command line's verbs. They are loaded when first used, so that `import comdiv` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

_EXPORTS = {
    "ComdivError": "comdiv.errors",
    "Columns": "comdiv.corpora",
    "Corpus": "comdiv.corpora",
    "Judgement": "comdiv.evaluation",
    "Problem": "comdiv.problem",
    "Provenance": "comdiv.problem",
    "Quantity": "comdiv.problem",
    "SynthesisOptions": "comdiv.synthesis",
    "agreement": "comdiv.evaluation.kappa",
    "AugmentationOptions": "comdiv.augmentation",
    "align": "comdiv.language",
    "augment_dataset": "comdiv.augmentation",
    "compare_predictions": "comdiv.evaluation",
    "corpus_statistics": "comdiv.corpora",
    "download": "comdiv.corpora.download",
    "value_of": "comdiv.expression",
    "equivalent": "comdiv.expression",
    "evaluate_predictions": "comdiv.evaluation",
    "evaluate_run": "comdiv.solvers.runs",
    "export_compositional_pairs": "comdiv.exchange",
    "export_csv": "comdiv.exchange",
    "export_hub": "comdiv.exchange",
    "export_label_studio": "comdiv.exchange",
    "export_lm_eval": "comdiv.exchange",
    "export_results": "comdiv.experiments.published",
    "extract": "comdiv.splitting.extraction",
    "find_split": "comdiv.splitting.search",
    "generate": "comdiv.corpora.demo",
    "get_language": "comdiv.language",
    "load_rules": "comdiv.synthesis",
    "load_solver": "comdiv.solvers.runs",
    "make_report": "comdiv.experiments.reporting.report",
    "make_solver": "comdiv.solvers.runs",
    "measure": "comdiv.splitting.measurement",
    "parse": "comdiv.expression",
    "parse_equation": "comdiv.expression",
    "read_corpus": "comdiv.corpora",
    "read_dataset": "comdiv.dataset",
    "read_judgements": "comdiv.evaluation",
    "read_plan": "comdiv.experiments.plan",
    "read_problems": "comdiv.problem",
    "read_results": "comdiv.experiments.published",
    "read_rows": "comdiv.corpora",
    "run_plan": "comdiv.experiments.runner",
    "renumber_problem": "comdiv.exchange",
    "reviewed": "comdiv.review",
    "split_problems": "comdiv.splitting.methods",
    "synthesize_dataset": "comdiv.synthesis",
    "template": "comdiv.expression",
    "to_infix": "comdiv.expression",
    "train_run": "comdiv.solvers.runs",
    "write_judgements": "comdiv.evaluation",
    "write_problems": "comdiv.problem",
}

__all__ = [*sorted(_EXPORTS), "__version__"]  # noqa: PLE0604  (the names are strings: they are the keys above)
__version__ = version("comdiv")


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'comdiv' has no attribute '{name}'")
    return getattr(import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return __all__

"""Predictions in, numbers out: accuracy with intervals, its parts, and paired tests. Nothing here trains or prints."""

from comdiv.evaluation.accuracy import Evaluation, Share, evaluate_predictions, relative_gap, templates_of
from comdiv.evaluation.extraction import Extracted, extract_answer
from comdiv.evaluation.intervals import SeedMean, mean_over_seeds, wilson_interval
from comdiv.evaluation.judgements import Judgement, judgements_by_judge, read_judgements, write_judgements
from comdiv.evaluation.outcomes import Outcome, gold_answer, judge, resolve
from comdiv.evaluation.paired import Comparison, McNemar, compare_predictions
from comdiv.evaluation.pairs import PairsResult, Triple, evaluate_pairs, read_triples, write_triples
from comdiv.evaluation.predictions import Prediction, read_predictions, write_predictions
from comdiv.evaluation.results import write_result

__all__ = [
    "Comparison",
    "Evaluation",
    "Extracted",
    "Judgement",
    "McNemar",
    "Outcome",
    "PairsResult",
    "Prediction",
    "SeedMean",
    "Share",
    "Triple",
    "compare_predictions",
    "evaluate_pairs",
    "evaluate_predictions",
    "extract_answer",
    "gold_answer",
    "judge",
    "judgements_by_judge",
    "mean_over_seeds",
    "read_judgements",
    "read_predictions",
    "read_triples",
    "relative_gap",
    "resolve",
    "templates_of",
    "wilson_interval",
    "write_judgements",
    "write_predictions",
    "write_result",
    "write_triples",
]

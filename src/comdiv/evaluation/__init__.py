"""Predictions in, numbers out: accuracy with intervals, its parts, and paired tests. Nothing here trains or prints.

A person's opinion of a problem is a judgement; whether a prediction is right is an outcome.
"""

from comdiv.evaluation.accuracy import (
    Evaluation,
    evaluate_predictions,
    relative_gap,
    structure_parts,
    templates_of,
    write_result,
)
from comdiv.evaluation.answers import ModelAnswer, extract_answer
from comdiv.evaluation.chains import Chain, ChainResult, evaluate_chains, read_chains, write_chains
from comdiv.evaluation.judgements import Judgement, judgements_by_judge, read_judgements, write_judgements
from comdiv.evaluation.outcomes import Outcome, gold_answer, outcome_of, outcomes_of, resolve
from comdiv.evaluation.predictions import Prediction, read_predictions, write_predictions
from comdiv.evaluation.significance import (
    Comparison,
    McNemar,
    SeedMean,
    Share,
    compare_predictions,
    mean_over_seeds,
    wilson_interval,
)

__all__ = [
    "Chain",
    "ChainResult",
    "Comparison",
    "Evaluation",
    "Judgement",
    "McNemar",
    "ModelAnswer",
    "Outcome",
    "Prediction",
    "SeedMean",
    "Share",
    "compare_predictions",
    "evaluate_chains",
    "evaluate_predictions",
    "extract_answer",
    "gold_answer",
    "judgements_by_judge",
    "mean_over_seeds",
    "outcome_of",
    "outcomes_of",
    "read_chains",
    "read_judgements",
    "read_predictions",
    "relative_gap",
    "resolve",
    "structure_parts",
    "templates_of",
    "wilson_interval",
    "write_chains",
    "write_judgements",
    "write_predictions",
    "write_result",
]

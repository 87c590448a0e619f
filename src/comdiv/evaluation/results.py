"""An evaluation as files: `predictions.jsonl` with every expression's value, `result.json` with versions and hashes.

`result.json` arrives last: a folder that has it is complete.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from comdiv.evaluation.accuracy import Evaluation
from comdiv.evaluation.outcomes import resolve
from comdiv.evaluation.predictions import Prediction, write_predictions
from comdiv.files import file_sha256, write_text
from comdiv.problem import Problem


def write_result(
    folder: Path,
    problems: Sequence[Problem],
    predictions: Sequence[Prediction],
    evaluation: Evaluation,
    origin: Mapping[str, Any],
) -> None:
    """Write both files; `origin` says what was tested, and whose predictions these are."""
    from comdiv import __version__

    by_id = {problem.id: problem for problem in problems}
    path = folder / "predictions.jsonl"
    (folder / "result.json").unlink(missing_ok=True)
    write_predictions(path, (resolve(p, by_id[p.id]) if p.id in by_id else p for p in predictions))
    result = {
        **evaluation.to_json(),
        **origin,
        "files": {path.name: {"sha256": file_sha256(path)}},
        "versions": {"comdiv": __version__, "python": platform.python_version()},
    }
    write_text(folder / "result.json", json.dumps(result, ensure_ascii=False, indent=2) + "\n")

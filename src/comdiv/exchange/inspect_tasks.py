"""A folder of `@task` functions for Inspect (inspect_ai), to measure any language model on a compositional split.

Each part of the test side becomes two tasks, with and without working, as in the export for lm-evaluation-harness;
examples come from the training side of the same split. All problems of compositional pairs are one part.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from comdiv.asking.prompting import prompts_of
from comdiv.errors import ComdivError
from comdiv.evaluation.chains import CHAINS
from comdiv.exchange.exports import (
    Export,
    ExportSource,
    Facts,
    Part,
    check_target,
    find_splits,
    task_name,
    write_export,
)
from comdiv.exchange.task_data import DEFAULT_SHOTS, worked, write_scoring, write_task_data
from comdiv.files import write_text
from comdiv.problem import Problem, read_problems
from comdiv.settings import Settings

TASKS = "tasks.py"
MOST_EXAMPLES = 64  # training problems that are included, drawn once
_STYLES = ("direct", "steps")


def export_inspect(
    folder: Path, out: Path, *, name: str | None = None, shots: int = DEFAULT_SHOTS, seed: int = 0, force: bool = False
) -> dict[str, Any]:
    """Write the tasks of a dataset folder and the splits in it, or of compositional pairs; return the facts."""
    check_target(out, force=force)
    title = task_name(name or folder.resolve().name)
    parts = _pairs(folder) if (folder / CHAINS).is_file() else [p for s in find_splits(folder) for p in s.parts]

    def make(staging: Path) -> dict[str, Any]:
        sizes, told = {}, {}
        for part in parts:
            data = write_task_data(staging, part, _examples(part.train, seed), labels=False)
            if data is None:
                continue
            told[data.stem] = {**data.files, "styles": {style: _prompt(data.language, style) for style in _STYLES}}
            sizes[data.stem] = {"test": data.test, "without_answer": data.without_answer}
        if not told:
            raise ComdivError(f"{folder}: no test problem has an answer, so there is nothing to ask")
        tasks = [f"comdiv_{title}_{stem}_{style}" for stem in told for style in _STYLES]
        write_text(staging / "parts.json", json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        write_text(staging / TASKS, _module(title, list(told), shots))
        support = Path(__file__).with_name("inspect_support.py").read_text(encoding="utf-8")
        write_text(staging / "comdiv_inspect.py", support)
        write_scoring(staging)
        write_text(staging / "README.md", _readme(title, sizes))
        return {
            "target": "inspect", "title": title, "source": folder.resolve().name, "shots": shots, "seed": seed,
            "parts": sizes, "tasks": tasks,
        }  # fmt: skip

    return write_export(out, make, force=force)


def _pairs(folder: Path) -> list[Part]:
    """All problems of compositional pairs as one part; `comdiv evaluate` knows their roles from their ids."""
    examples = folder / "data" / "examples.train.jsonl"
    train = tuple(read_problems(examples)) if examples.is_file() else ()
    return [Part("pairs", tuple(read_problems(folder / "test.jsonl")), "examples", train)]


def _examples(problems: Sequence[Problem], seed: int) -> list[Problem]:
    usable = worked(problems)
    return random.Random(seed).sample(usable, min(MOST_EXAMPLES, len(usable)))


def _prompt(language: str, name: str) -> dict[str, Any]:
    style = prompts_of(language).style(name)
    return {
        "instruction": style.instruction, "question": style.question, "target": style.target, "tokens": style.tokens
    }  # fmt: skip


def _module(title: str, stems: Sequence[str], shots: int) -> str:
    """The module with a `@task` function for each part and style; names are letters, digits and underscores."""
    lines = [
        f'"""Tasks for Inspect: `inspect eval {TASKS}@comdiv_{title}_{stems[0]}_steps --model …`."""', "",
        "import sys", "from pathlib import Path", "", "from inspect_ai import Task, task", "",
        "sys.path.insert(0, str(Path(__file__).parent))", "", "from comdiv_inspect import make_task  # noqa: E402", "",
    ]  # fmt: skip
    for stem in stems:
        for style in _STYLES:
            lines += [
                "", "@task", f"def comdiv_{title}_{stem}_{style}(shots: int = {shots}) -> Task:",
                f'    return make_task("{stem}", "{style}", shots)', "",
            ]  # fmt: skip
    return "\n".join(lines)


def _readme(title: str, sizes: dict[str, dict[str, int]]) -> str:
    rows = "\n".join(f"| {stem} | {size['test']:,} |" for stem, size in sizes.items())
    return f"""# {title}: tasks for Inspect

| part | test problems |
| --- | --- |
{rows}

Each part is two tasks: `comdiv_{title}_PART_direct` asks for the number alone, `…_steps` for the working first.

```
inspect eval {TASKS} --model MODEL
comdiv evaluate --predictions logs/….eval data/PART.test.jsonl
```

`-T shots=0` changes the number of examples, which come from the training side of the same split.
"""


class InspectSettings(Settings):
    """The tasks' names and prompts."""

    name: str | None = Field(None, description="The tasks are called comdiv_NAME_…; the folder's name by default.")
    shots: int = Field(
        DEFAULT_SHOTS, ge=0, le=MOST_EXAMPLES, description="Examples from the training side of the same split."
    )
    seed: int = Field(0, ge=0, description="Seed of the draw of examples.")


class InspectExport(Export):
    """Tasks for Inspect (inspect_ai): every part of the test side, or compositional pairs, in two styles of prompt."""

    settings = InspectSettings
    example = "comdiv export inspect mawps-comdiv --out tasks; then inspect eval tasks/tasks.py --model MODEL"
    folder_help = "A dataset folder, one that contains several, or compositional pairs."

    def write(self, source: ExportSource, out: Path, settings: InspectSettings, *, force: bool, **_: Any) -> Facts:
        return export_inspect(source.path, out, **settings.model_dump(), force=force)

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        return [f"{name}: {rows['test']:,}" for name, rows in facts["parts"].items()]

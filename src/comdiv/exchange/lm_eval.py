"""A task folder for lm-evaluation-harness, to measure any language model on a compositional split.

Each test part is two tasks, `…_direct` (the number alone) and `…_steps` (working first); their examples are drawn from
the training side of the same split, so i.i.d. and compositional tasks differ only in the split. With `renumber`, every
part comes a second time with new numbers: any drop in accuracy there was memory, not skill.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from comdiv.asking.prompting import prompts_of
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
from comdiv.exchange.renumbering import renumber_problem
from comdiv.exchange.task_data import DEFAULT_SHOTS, SCORING, worked, write_scoring, write_task_data
from comdiv.files import write_text
from comdiv.language.prompts import PromptStyle
from comdiv.observer import Observer
from comdiv.problem import Problem
from comdiv.settings import Settings
from comdiv.solver import Progress

_VERSION = 1.1  # of prompts and metrics; results of different versions are not comparable


class _Function(str):
    """A name that the harness looks up in the module beside the task."""


class _TaskDumper(yaml.SafeDumper):
    """YAML with the harness's `!function`, and without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_style(text: str) -> str | None:
    return '"' if "\n" in text else None  # line breaks are part of a prompt: they stay visible


_TaskDumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", f"{SCORING}.{name}"))
_TaskDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_text_style(text))
)


def export_lm_eval(
    folder: Path,
    out: Path,
    *,
    name: str | None = None,
    shots: int = DEFAULT_SHOTS,
    renumber: bool = False,
    seed: int = 0,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the task folder of a dataset folder and the splits in it; return the facts, with what was left out."""
    check_target(out, force=force)
    title = task_name(name or folder.resolve().name)
    left_out: dict[str, dict[str, int]] = {}
    parts = []
    for split in find_splits(folder):
        for part in split.parts:
            parts.append(part)
            if renumber:
                renumbered, reasons = renumber_all(part.test, seed, progress, part.name)
                parts.append(replace(part, name=f"{part.name}-renumbered", test=renumbered))
                left_out[parts[-1].name] = reasons

    def make(staging: Path) -> dict[str, Any]:
        facts = write_tasks(staging, title, parts, shots)
        facts["source"] = folder.resolve().name
        if renumber:
            facts["renumbered"] = {"seed": seed, "left_out": left_out}
        return facts

    return write_export(out, make, force=force)


def renumber_all(
    problems: Sequence[Problem], seed: int, progress: Progress | None = None, what: str = ""
) -> tuple[tuple[Problem, ...], dict[str, int]]:
    """The problems with new numbers, and the reasons why others have none, with counts."""
    results: list[Problem | str] = []
    for number, problem in enumerate(problems, start=1):
        results.append(renumber_problem(problem, seed))
        if progress is not None and (number % 20 == 0 or number == len(problems)):
            progress(f"new numbers, {what}", number, len(problems), "")
    reasons = Counter(result for result in results if isinstance(result, str))
    return tuple(result for result in results if isinstance(result, Problem)), dict(reasons.most_common())


def write_tasks(folder: Path, title: str, parts: Sequence[Part], shots: int) -> dict[str, Any]:
    """Write data, tasks, the scoring module and a README; returns the tasks with their sizes."""
    sizes: dict[str, dict[str, int]] = {}
    tasks: list[str] = []
    for part in parts:
        data = write_task_data(folder, part, worked(part.train), labels=True)
        if data is None:
            continue
        sizes[data.stem] = {"train": data.train, "test": data.test, "without_answer": data.without_answer}
        for style in prompts_of(data.language).styles:
            task = _task(f"comdiv_{title}_{data.stem}_{style.name}", title, style, data.files, min(shots, data.train))
            text = yaml.dump(task, Dumper=_TaskDumper, sort_keys=False, allow_unicode=True, width=100)
            write_text(folder / f"{task['task']}.yaml", text)
            tasks.append(task["task"])
    write_scoring(folder)
    write_text(folder / "README.md", _readme(title, sizes, shots))
    return {"target": "lm-eval", "title": title, "shots": shots, "parts": sizes, "tasks": tasks}


def _task(name: str, title: str, style: PromptStyle, files: dict[str, str], shots: int) -> dict[str, Any]:
    return {
        "task": name,
        "tag": [f"comdiv_{title}", f"comdiv_{title}_{style.name}"],
        "custom_dataset": _Function("load"),
        "dataset_kwargs": files,
        "training_split": "train",
        "test_split": "test",
        "fewshot_split": "train",
        "num_fewshot": shots,
        "output_type": "generate_until",
        "description": f"{style.instruction}\n\n",
        "doc_to_text": style.question,
        "doc_to_target": style.target,
        "generation_kwargs": {"until": list(style.until), "do_sample": False, "max_gen_toks": style.tokens},
        "filter_list": [
            {
                "name": "numeric-answer",
                "filter": [
                    {"function": "custom", "filter_fn": _Function("numeric_answer")},
                    {"function": "take_first"},
                ],
            }
        ],
        "process_results": _Function("process_results"),
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True}
            for metric in ("exact_match", "within_tolerance")
        ],
        "metadata": {"version": _VERSION},
    }


def _readme(title: str, sizes: dict[str, dict[str, int]], shots: int) -> str:
    def lines() -> Iterator[str]:
        yield f"# {title}: tasks for lm-evaluation-harness\n"
        yield "| part | test problems | training problems for examples |\n| --- | --- | --- |"
        yield from (f"| {stem} | {rows['test']:,} | {rows['train']:,} |" for stem, rows in sizes.items())
        yield (
            f"\nEach part is two tasks: `comdiv_{title}_PART_direct` asks for the number alone, `…_steps` for the"
            f" working first. Both show {shots} examples from the training side of the same split (`--num_fewshot`"
            " changes it). `exact_match` compares exact values, `within_tolerance` allows a relative error of 0.0001\n"
            "where the answer is not a whole number.\n"
        )
        yield "```\nlm_eval --model hf --model_args pretrained=MODEL --include_path THIS_FOLDER \\"
        yield f"  --tasks comdiv_{title} --log_samples --output_path results\n```\n"
        yield (
            "`comdiv evaluate --predictions results/…/samples_TASK_….jsonl data/PART.test.jsonl` scores the logged"
            " answers once more, with intervals, by number of operators and by template."
        )

    return "\n".join(lines()) + "\n"


class LmEvalSettings(Settings):
    """The tasks' names and prompts."""

    name: str | None = Field(None, description="The tasks are called comdiv_NAME_…; the folder's name by default.")
    shots: int = Field(DEFAULT_SHOTS, ge=0, description="Examples from the training side of the same split.")
    renumber: bool = Field(False, description="Add each part with new numbers, to tell solving from remembering.")
    seed: int = Field(0, ge=0, description="Seed of the new numbers.")


class LmEvalExport(Export):
    """Tasks for lm-evaluation-harness: every part of the test side, with and without step-by-step prompting."""

    settings = LmEvalSettings
    example = (
        "comdiv export lm-eval mawps-comdiv --out tasks --renumber; then "
        "lm_eval --model hf --model_args pretrained=MODEL --include_path tasks --tasks comdiv_mawps_comdiv"
    )

    def write(
        self, source: ExportSource, out: Path, settings: LmEvalSettings, *, force: bool, observer: Observer
    ) -> Facts:
        with observer.progress("exporting") as progress:
            facts = export_lm_eval(source.path, out, **settings.model_dump(), force=force, progress=progress)
        for part, reasons in facts.get("renumbered", {}).get("left_out", {}).items():
            for reason, count in reasons.items():
                observer.note(f"{part}: {count} problems left out: {reason}")
        return facts

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        return [f"{name}: {rows['test']:,}" for name, rows in facts["parts"].items()]

"""A folder that Hugging Face `datasets.load_dataset` can read directly, and its upload to the hub.

Every split is a configuration with train, validation and test; the halves of a synthesised set are configurations of
their own, with the same training side. The card says how each was made, where the problems came from and under which
terms they may be passed on. It also has a canary: a text that only a model trained on this data has seen.
Beside it: `eval.yaml`, by which the hub and Inspect run it as a benchmark, `croissant.json`, and the ids of every
split, from which `comdiv split --ids` makes it again.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import yaml
from pydantic import Field

from comdiv.asking.prompting import prompts_of
from comdiv.corpora import DEMO_CORPORA
from comdiv.corpora.hub import COLUMNS, flat_row
from comdiv.corpora.published import PUBLISHED_CORPORA
from comdiv.dataset import FACTS, PARTS
from comdiv.errors import ComdivError
from comdiv.exchange.croissant import CROISSANT, DataFile, croissant
from comdiv.exchange.exports import Export, ExportSource, Facts, Split, check_target, find_splits, write_export
from comdiv.exchange.skills import SKILL_COLUMNS, TrainingKnowledge
from comdiv.files import file_sha256, write_json_lines, write_text
from comdiv.loading import read_bounded
from comdiv.observer import Observer
from comdiv.problem import Problem
from comdiv.settings import Settings
from comdiv.splitting.id_lists import IdLists

_CANARIES = UUID("5e2c1a0e-6f0f-5f3b-9b1c-2f6f3c6a7d41")  # our namespace: the same data always give the same canary
LARGEST_CARD = 2**20  # bytes
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
# A licence's name in the table of published corpora → its name on the Hugging Face hub
_HUB_NAMES = {"Apache-2.0": "apache-2.0", "MIT": "mit", "CC BY-NC 4.0": "cc-by-nc-4.0", "CC BY 4.0": "cc-by-4.0"}


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """A corpus that problems came from: `licence` is empty if its authors state none, or if we do not know it."""

    corpus: str
    licence: str
    citation: str

    def __str__(self) -> str:
        licence = f"licence: {self.licence}" if self.licence else "no licence known"
        return ". ".join(filter(None, [f"{self.corpus} ({licence})", self.citation]))


def export_hub(folder: Path, out: Path, *, licence: str | None = None, force: bool = False) -> dict[str, Any]:
    """Write the dataset(s) of a folder as a hub repository and return the facts: configurations, sizes, canary."""
    check_target(out, force=force)
    splits = find_splits(folder)
    problems = [problem for split in splits for side in PARTS for problem in getattr(split.dataset, side)]
    if not problems:
        raise ComdivError(f"{folder} has no problems, so there is nothing to publish")

    def make(staging: Path) -> dict[str, Any]:
        canary = canary_of(splits)
        paths: dict[str, dict[str, str]] = {}  # configuration → split → file
        sizes: dict[str, dict[str, int]] = {}
        files: list[DataFile] = []
        for split in splits:
            whole, *halves = split.parts
            knowledge = TrainingKnowledge.of(split.dataset.training_side)
            sides: list[tuple[str, str, Sequence[Problem]]] = [
                (split.name, side, getattr(split.dataset, side)) for side in PARTS
            ]
            sides += [(half.name, "test", half.test) for half in halves]
            for name, side, members in sides:
                if not members:  # the hub's reader fails on empty files
                    continue
                path = f"data/{name}/{side}.jsonl"
                rows = (_row(problem, canary, knowledge if side == "test" else None) for problem in members)
                sizes.setdefault(name, {})[side] = write_json_lines(staging / path, rows)
                paths.setdefault(name, {})[side] = path
                files.append(DataFile(name, side, path, file_sha256(staging / path)))
            for half in halves:
                for side in ("train", "validation"):
                    if side in paths[whole.name]:
                        paths[half.name][side] = paths[whole.name][side]
                        sizes[half.name][side] = sizes[whole.name][side]
            write_text(staging / "data" / split.name / FACTS, (split.folder / FACTS).read_text(encoding="utf-8"))
            ids = json.dumps(IdLists.of(split.dataset).to_json(), ensure_ascii=False, indent=1)
            write_text(staging / "ids" / f"{split.name}.json", ids + "\n")
        title = folder.resolve().name
        sources = find_sources(problems)
        card = hub_card(title, splits, paths, sizes, sources, hub_licence(sources, licence), canary)
        write_text(staging / "README.md", card)
        languages = [code for code, _ in Counter(problem.language for problem in problems).most_common()]
        tests = [name for name, sides in paths.items() if "test" in sides]
        write_text(staging / "eval.yaml", eval_yaml(title, tests, languages[0]))
        metadata = croissant(
            title,
            files,
            {**COLUMNS, **SKILL_COLUMNS},
            languages=sorted(languages),
            licence=hub_licence(sources, licence),
            sources=[str(source) for source in sources],
            citations=[source.citation for source in sources if source.citation],
            synthesised=any(problem.composition for problem in problems),
        )
        write_text(staging / CROISSANT, json.dumps(metadata, ensure_ascii=False, indent=2) + "\n")
        return {
            "target": "hub",
            "canary": canary,
            "licence": hub_licence(sources, licence),
            "sources": [str(source) for source in sources],
            "configurations": {
                name: {side: sizes[name][side] for side in PARTS if side in sizes[name]} for name in paths
            },
        }

    return write_export(out, make, force=force)


def _row(problem: Problem, canary: str, knowledge: TrainingKnowledge | None) -> dict[str, Any]:
    """A row of the table; for a test problem, with the skill that it tests."""
    skill = dict.fromkeys(SKILL_COLUMNS) if knowledge is None else knowledge.columns(problem)
    return {**flat_row(problem, canary), **skill}


def eval_yaml(title: str, configurations: Sequence[str], language: str) -> str:
    """The benchmark as the hub and `inspect eval hf/OWNER/NAME` read it: one task per test side."""
    style = prompts_of(language).style("steps")
    question = style.question.replace("{", "{{").replace("}", "}}").replace("{{{{text}}}}", "{prompt}")
    instruction = style.instruction.replace("{", "{{").replace("}", "}}")
    tasks = [
        {
            "id": name,
            "config": name,
            "split": "test",
            "field_spec": {"input": "text", "target": "answer", "metadata": ["id", "skill", "template", "operators"]},
            "solvers": [
                {"name": "prompt_template", "args": {"template": f"{instruction}\n\n{question}"}},
                {"name": "generate"},
            ],
            "scorers": [{"name": "match", "args": {"location": "end", "numeric": True}}],
        }
        for name in configurations
    ]
    benchmark = {
        "name": title,
        "description": "Math word problems that need new compositions of what the training problems have.",
        "evaluation_framework": "inspect-ai",
        "tasks": tasks,
    }
    return yaml.safe_dump(benchmark, sort_keys=False, allow_unicode=True, width=100)


def find_sources(problems: Iterable[Problem], named: Iterable[str] = ()) -> list[CorpusSource]:
    """The corpora named in the problems' provenance and in `named`, sorted by name, without repetition."""
    names = {problem.provenance.corpus for problem in problems} | set(named)
    return [_source(name) for name in sorted(names - {""})]


def _source(name: str) -> CorpusSource:
    if name in DEMO_CORPORA:
        return CorpusSource(name, "Apache-2.0", "bundled with comdiv, made by code from original scenarios")
    corpus = PUBLISHED_CORPORA.get(name)
    if corpus is None:
        return CorpusSource(name, "", "")
    licence = "" if corpus.licence.startswith("none stated") else corpus.licence
    return CorpusSource(name, licence, corpus.citation)


def hub_licence(sources: Iterable[CorpusSource], own: str | None = None) -> str | None:
    """The licence as the hub writes it: the user's, or else that of all sources; None if they differ or state none."""
    if own is not None:
        return _HUB_NAMES.get(own, own)
    licences = {source.licence.partition(" (")[0] for source in sources}
    return _HUB_NAMES.get(licences.pop()) if len(licences) == 1 else None


def canary_of(splits: Sequence[Split]) -> str:
    """A text that occurs nowhere else, derived from the data so that exporting again gives the same one."""
    hashes = [str(entry) for split in splits for entry in split.dataset.facts.get("files", {}).items()]
    return f"comdiv benchmark data, not for training; canary {uuid5(_CANARIES, ' '.join(hashes))}"


def hub_card(
    title: str,
    splits: Sequence[Split],
    paths: Mapping[str, Mapping[str, str]],
    sizes: Mapping[str, Mapping[str, int]],
    sources: Sequence[CorpusSource],
    licence: str | None,
    canary: str,
) -> str:
    """The README.md: a header for programs, then, for people, what each configuration is and how it was made."""
    problems = max(sum(parts.values()) for parts in sizes.values())
    languages = {problem.language for split in splits for side in PARTS for problem in getattr(split.dataset, side)}
    header = {
        "pretty_name": title,
        "language": sorted(languages),
        "license": licence or "unknown",
        "task_categories": ["text-generation"],
        "size_categories": [next((name for bound, name in _SIZES if problems < bound), "n>1M")],
        "tags": ["math-word-problems", "compositional-generalization"],
        "configs": [
            {
                "config_name": name,
                **({"default": True} if position == 0 else {}),
                "data_files": [{"split": side, "path": files[side]} for side in PARTS if side in files],
            }
            for position, (name, files) in enumerate(paths.items())
        ],
        "dataset_info": [
            {
                "config_name": name,
                "features": [{"name": key, "dtype": kind} for key, kind in {**COLUMNS, **SKILL_COLUMNS}.items()],
            }
            for name in paths
        ],
    }
    table = ["| configuration | train | validation | test |", "| --- | --- | --- | --- |"]
    table += [f"| {name} | " + " | ".join(f"{sizes[name].get(side, 0):,}" for side in PARTS) + " |" for name in paths]
    body = [
        f"# {title}",
        "Math word problems, split so that a solver's generalization to new compositions can be measured.",
        "\n".join(table),
        "The paper's training set is train and validation together. Columns: `text`; `expression` over the text's "
        "numbers in order of appearance (`N0`, `N1`…) and `equation` over the numbers themselves; the exact `answer` "
        "and its `value`; `template`, `operators`; `composition` (structural or lexical, in synthesised sets); "
        "`provenance` and `extra` as JSON. In test, `skill` says what is tested: structural or lexical composition, an "
        "unseen structure (an operator with operands that no training problem gives it: `unseen_structures`), an "
        "unseen template, or a seen one (`template_seen`); `rule` made a synthesised problem.",
        "`ids/NAME.json` has the ids of every part. With the corpus, the same split is made from them, without its "
        "texts being passed on: `comdiv split CORPUS --ids ids/NAME.json --out FOLDER`.",
    ]
    for split in splits:
        body += [f"## How `{split.name}` was made", _history(split)]
    body += [
        "## Where the problems came from",
        "\n".join(f"- {source}" for source in sources) or "Their provenance does not say.",
        "## Canary",
        "Please keep these problems out of training corpora. This text tells whether they were in one:",
        f"    {canary}",
    ]
    front = yaml.safe_dump(header, sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n\n" + "\n\n".join(body) + "\n"


def _history(split: Split) -> str:
    """What the dataset's own card says, under our headings; its facts are beside its data in full."""
    path = split.folder / "README.md"
    card = read_bounded(path, LARGEST_CARD) if path.is_file() else ""
    text = _FRONT_MATTER.sub("", card).strip()
    text = re.sub(r"^(#+)", r"##\1", text, flags=re.MULTILINE)
    return f"{text}\n\nAll of it: `data/{split.name}/{FACTS}`.".strip()


def push_to_hub(
    out: Path, repository: str, facts: Mapping[str, Any], *, private: bool = False, endpoint: str | None = None
) -> str:
    """Upload an exported folder as a dataset repository, with the user's own login; returns its address."""
    check_repository(repository, facts)
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError
    except ImportError as error:
        raise ComdivError("--push needs the hub's package: pip install 'comdiv[hub]'") from error
    # The client has used different network libraries; their errors all descend from a class of this name.
    unreachable: tuple[type[Exception], ...] = (OSError,)
    unreachable += tuple(
        kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError" and issubclass(kind, Exception)
    )
    api = HfApi(endpoint=endpoint)
    try:
        api.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            folder_path=out, repo_id=repository, repo_type="dataset", commit_message="Export of a comdiv dataset"
        )
    except LocalTokenNotFoundError as error:
        raise ComdivError("you are not logged in to the hub: run `hf auth login`, or set HF_TOKEN") from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "?"
        hint = "; run `hf auth login`, or set HF_TOKEN" if status == 401 else ""
        reason = " ".join(str(error).split())[:200]
        raise ComdivError(f"the hub refuses '{repository}' ({status}): {reason}{hint}; {out} is complete") from error
    except unreachable as error:
        raise ComdivError(f"the hub cannot be reached: {error}; {out} is complete, push it later") from error
    return f"{api.endpoint}/datasets/{repository}"


def check_repository(repository: str, facts: Mapping[str, Any]) -> None:
    """Refuse an invalid name, and data without a known licence."""
    if not _REPOSITORY.fullmatch(repository):
        raise ComdivError(f"--push {repository!r}: name the repository as OWNER/NAME")
    if not facts.get("licence"):
        sources = "; ".join(facts.get("sources", [])) or "unknown sources"
        raise ComdivError(f"no licence is known for these problems ({sources}): if you may publish them, use --licence")


class HubSettings(Settings):
    """Under which terms a dataset goes to the hub, and whether it is uploaded at once."""

    push: str | None = Field(None, description="Upload it to the Hugging Face hub, as OWNER/NAME.")
    private: bool = Field(False, description="With --push: a repository that only you can see.")
    licence: str | None = Field(
        None, description="The licence for the card, e.g. cc-by-4.0; by default that of the source corpus."
    )


class HubExport(Export):
    """A folder that Hugging Face `load_dataset` can read: one configuration per split, a card, a canary."""

    settings = HubSettings
    example = "comdiv export hub mawps-comdiv --out hub/mawps-comdiv --push me/mawps-comdiv"

    def write(
        self, source: ExportSource, out: Path, settings: HubSettings, *, force: bool, observer: Observer
    ) -> Facts:
        facts = export_hub(source.path, out, licence=settings.licence, force=force)
        if settings.push is not None:
            check_repository(settings.push, facts)
            observer.note(f"uploading {out} to {settings.push}")
            facts["pushed"] = push_to_hub(out, settings.push, facts, private=settings.private)
        elif facts["licence"] is None:
            observer.note("no licence is known for these problems, and the card says so; name one with --licence")
        return facts

    def sizes(self, source: ExportSource, facts: Facts) -> Sequence[str]:
        configurations = facts["configurations"].items()
        return [f"{name}: {'/'.join(f'{size:,}' for size in parts.values())}" for name, parts in configurations]

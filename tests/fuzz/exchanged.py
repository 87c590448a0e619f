"""Folders that pass from one to another: runs of language models, problems with chains, lists of ids, exports."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from comdiv.asking.ask_settings import AskSettings
from comdiv.asking.endpoint import Reply
from comdiv.asking.journal import ANSWERS, Journal
from comdiv.asking.questions import questions_for
from comdiv.dataset import Dataset, write_dataset
from comdiv.evaluation import Prediction, evaluate_predictions
from comdiv.evaluation.chains import CHAINS, Chain, write_chains
from comdiv.exchange.every_eval_ever import export_every_eval_ever
from comdiv.exchange.hub_repository import export_hub
from comdiv.exchange.inspect_tasks import export_inspect
from comdiv.exchange.lm_eval import export_lm_eval
from comdiv.problem import read_problems, write_problems
from comdiv.solvers.language_model import LanguageModel
from comdiv.splitting.id_lists import read_id_lists
from comdiv.splitting.methods import SplitSettings
from comdiv.verbs.solving import chains_of
from solvers.tiny import EIGHT, UNSEEN

_SETTINGS = AskSettings(base_url="http://localhost:1/v1", model="lab/m", samples=2, temperature=0.5, shots=2)


def _make_asked(folder: Path) -> None:
    """A run that has all of its answers, and an evaluation: nobody is asked."""
    from comdiv.solvers.runs import evaluate_run

    run = folder / "run"
    LanguageModel(_SETTINGS, EIGHT[:2], run).save(run)
    journal = Journal(run / ANSWERS)
    for question in questions_for(UNSEEN, EIGHT[:2], _SETTINGS):
        journal.add(question.key, Reply("The answer is 7.", "stop", 10, 5, -0.5), question.problem.id, question.sample)
    evaluate_run(run, UNSEEN, run / "evaluations" / "test", name="test")


def _read_asked(folder: Path) -> None:
    from comdiv.solvers.runs import evaluate_run

    evaluate_run(folder / "run", UNSEEN, folder / "again", name="test")
    export_every_eval_ever(folder / "run", folder / "records")


def _make_chained(folder: Path) -> None:
    write_problems(folder / "test.jsonl", EIGHT)
    names = [problem.id for problem in EIGHT]
    write_chains(folder / CHAINS, [Chain((names[0], names[1]), names[2]), Chain((names[3], names[4]), names[5])])


def _read_chained(folder: Path) -> None:
    problems = list(read_problems(folder / "test.jsonl"))
    said = [Prediction.from_json({"id": problem.id, "answer": "7"}) for problem in problems]
    evaluate_predictions(problems, said, chains=chains_of(folder)).to_json()
    export_inspect(folder, folder / "tasks")


def _make_ids(folder: Path) -> None:
    names = [problem.id for problem in EIGHT]
    whole = {"test": names[:2], "train": names[2:6], "validation": names[6:], "settings": {"method": "iid"}}
    (folder / "ids.json").write_text(json.dumps(whole))
    (folder / "bare.json").write_text(json.dumps(names[:2]))
    (folder / "bare.ids").write_text("\n".join(names[:2]))


def _read_ids(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        lists = read_id_lists(path)
        SplitSettings.checked(**lists.settings)
        lists.sides(lists.members(EIGHT))


def _make_exported(folder: Path) -> None:
    facts = {"settings": {"method": "dbca"}, "source": {"name": "tiny"}}
    write_dataset(folder / "data", Dataset(EIGHT[:4], EIGHT[4:], UNSEEN, facts), title="fuzz")
    write_dataset(folder / "data" / "iid", Dataset(EIGHT[4:], EIGHT[:4], UNSEEN), title="fuzz")


def _read_exported(folder: Path) -> None:
    for name, export in (("hub", export_hub), ("lm-eval", export_lm_eval), ("inspect", export_inspect)):
        export(folder / "data", folder / name)


FOLDERS: Mapping[str, tuple[Callable[[Path], None], Callable[[Path], None]]] = {
    "asked": (_make_asked, _read_asked),
    "chained": (_make_chained, _read_chained),
    "ids": (_make_ids, _read_ids),
    "exported": (_make_exported, _read_exported),
}

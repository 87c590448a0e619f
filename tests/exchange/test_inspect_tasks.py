"""The tasks for Inspect, run by the real inspect_ai with its mock model; its logs, read as predictions."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from comdiv.corpora.demo import generate
from comdiv.errors import ComdivError
from comdiv.evaluation import evaluate_predictions, inspect_logs, read_predictions
from comdiv.evaluation.chains import Chain, write_chains
from comdiv.exchange.inspect_tasks import export_inspect
from comdiv.problem import read_problems, write_problems
from command_line import run

RUN = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
tasks, style, form, logs = sys.argv[1:]
sys.path.insert(0, tasks)
import tasks as module
task = getattr(module, style)()
answers = [f"I think the answer is {sample.target}." for sample in task.dataset]
answers[0] = "no idea"
outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
for output in outputs:
    output.usage = ModelUsage()  # otherwise the mock model fetches a tokenizer
log = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir=logs, log_format=form,
           display="none", max_samples=1, max_connections=1)[0]
print(json.dumps([log.status, log.results.scores[0].metrics["accuracy"].value, log.location, task.dataset[0].input]))
"""


def run_inspect(tasks: Path, name: str, form: str, logs: Path) -> tuple[str, float, Path, str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tasks), name, form, str(logs)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    status, accuracy, location, prompt = json.loads(done.stdout.splitlines()[-1])
    return status, accuracy, Path(location.removeprefix("file://")), prompt


@pytest.mark.slow
@pytest.mark.parametrize("form", ["eval", "json"])
def test_the_real_inspect_runs_the_tasks_and_its_log_gives_the_same_accuracy(
    form: str, split_folder: Path, tmp_path: Path
) -> None:
    facts = export_inspect(split_folder, tmp_path / "tasks")
    assert "comdiv_shop_comdiv_iid_direct" in facts["tasks"]
    name = "comdiv_shop_comdiv_compositional_steps"
    status, accuracy, log, prompt = run_inspect(tmp_path / "tasks", name, form, tmp_path / "logs")
    assert (status, accuracy) == ("success", 0.9)
    assert prompt.count("Problem: ") == 5
    assert prompt.endswith("Solution:")
    problems = list(read_problems(split_folder / "test.jsonl"))
    evaluation = evaluate_predictions(problems, read_predictions(log))
    assert (evaluation.answers.correct, evaluation.answers.n) == (9, 10)


def test_halves_and_pairs_are_tasks_too(synthesised_folder: Path, split_folder: Path, tmp_path: Path) -> None:
    facts = export_inspect(synthesised_folder, tmp_path / "sd")
    assert list(facts["parts"]) == ["compositional", "structural", "lexical"]
    problems = list(read_problems(split_folder / "test.jsonl"))[:3]
    write_problems(tmp_path / "pairs" / "test.jsonl", problems)
    write_chains(tmp_path / "pairs" / "pairs.jsonl", [Chain((problems[0].id, problems[1].id), problems[2].id)])
    facts = export_inspect(tmp_path / "pairs", tmp_path / "out")
    assert facts["tasks"] == ["comdiv_pairs_pairs_direct", "comdiv_pairs_pairs_steps"]
    compile((tmp_path / "out/tasks.py").read_text(), "tasks.py", "exec")


@pytest.mark.slow
def test_the_real_inspect_runs_halves_and_pairs_and_the_log_of_pairs_gives_a_table_of_chains(
    synthesised_folder: Path, tmp_path: Path
) -> None:
    export_inspect(synthesised_folder, tmp_path / "sd")
    for half in ("structural", "lexical"):
        status, accuracy, _, prompt = run_inspect(
            tmp_path / "sd", f"comdiv_sd_{half}_direct", "eval", tmp_path / "logs"
        )
        assert (status, accuracy) == ("success", pytest.approx(2 / 3))
        assert prompt.count("题目：") == 5
    corpus = tmp_path / "toys.jsonl"
    write_problems(corpus, generate("en", 120))
    run("export", "compositional-pairs", corpus, "--sample", "2", "--no-renumber", "--out", tmp_path / "pairs")
    run("export", "inspect", tmp_path / "pairs", "--out", tmp_path / "tasks")
    status, accuracy, log, _ = run_inspect(tmp_path / "tasks", "comdiv_pairs_pairs_steps", "json", tmp_path / "logs")
    problems = list(read_problems(tmp_path / "pairs" / "test.jsonl"))
    assert (status, accuracy) == ("success", pytest.approx(1 - 1 / len(problems)))
    shown = run("evaluate", "--predictions", log, tmp_path / "pairs").stdout
    assert "chains of 2" in shown


def packed(path: Path, samples: dict[str, str], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("header.json", "{}")
        for name, text in samples.items():
            archive.writestr(f"samples/{name}", text)
    return path


SAMPLE = {"id": 1, "epoch": 1, "metadata": {"id": "p1"}, "output": {"completion": "The answer is 4."}}


def test_the_id_is_that_of_the_metadata_and_words_may_be_in_pieces(tmp_path: Path) -> None:
    pieces = {"choices": [{"message": {"content": [{"type": "text", "text": "so "}, {"type": "text", "text": "7"}]}}]}
    samples = {"1.json": json.dumps(SAMPLE), "2.json": json.dumps({"id": "p2", "output": pieces})}
    predictions = read_predictions(packed(tmp_path / "a.eval", samples))
    assert [(p.id, p.answer) for p in predictions] == [("p1", 4), ("p2", 7)]
    (tmp_path / "a.json").write_text(json.dumps({"version": 2, "eval": {}, "samples": [SAMPLE]}))
    assert [p.id for p in read_predictions(tmp_path / "a.json")] == ["p1"]


def test_damage_to_a_log_packed_with_zstandard_is_one_line_too(tmp_path: Path) -> None:
    pytest.importorskip("zipfile_zstd")
    text = json.dumps({**SAMPLE, "padding": " ".join(map(str, range(200)))})
    log = packed(tmp_path / "a.eval", {"1.json": text}, 93)
    assert [prediction.id for prediction in read_predictions(log)] == ["p1"]
    content = bytearray(log.read_bytes())
    place = content.index(b"samples/1.json") + len("samples/1.json")
    for damaged in range(place, place + 12):
        log.write_bytes(content[:damaged] + bytes([content[damaged] ^ 0xFF]) + content[damaged + 1 :])
        with pytest.raises(ComdivError, match=r"a\.eval"):
            read_predictions(log)


def test_a_method_that_unpacks_gigabytes_at_once_is_refused_before_it_does(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        log = packed(tmp_path / "bomb.eval", {"1.json": json.dumps(SAMPLE)}, method)
        with pytest.raises(ComdivError, match=rf"1\.json: packed by method {method}, which Inspect does not use"):
            read_predictions(log)


def test_bombs_damage_and_epochs_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_logs, "LARGEST_SAMPLE", 100_000)
    with pytest.raises(ComdivError, match=r"bomb\.eval, samples/1\.json: more than 100,000 bytes"):
        read_predictions(packed(tmp_path / "bomb.eval", {"1.json": " " * 5_000_000}))
    monkeypatch.setattr(inspect_logs, "LARGEST_LOG", 1_000)
    with pytest.raises(ComdivError, match="too large"):
        read_predictions(packed(tmp_path / "many.eval", {f"{n}.json": " " * 500 for n in range(3)}))
    twice = {"1_epoch_1.json": json.dumps(SAMPLE), "1_epoch_2.json": json.dumps(SAMPLE)}
    with pytest.raises(ComdivError, match="the id 'p1' occurs twice"):
        read_predictions(packed(tmp_path / "epochs.eval", twice))
    whole = packed(tmp_path / "whole.eval", {"1.json": json.dumps(SAMPLE)}).read_bytes()
    name = (
        packed(tmp_path / "name.eval", {"é.json": json.dumps(SAMPLE)}).read_bytes().replace("é".encode(), b"\xff\xfe")
    )
    for damaged in (whole[: len(whole) // 2], name):
        (tmp_path / "damaged.eval").write_bytes(damaged)
        with pytest.raises(ComdivError, match="a damaged log of Inspect"):
            read_predictions(tmp_path / "damaged.eval")
    for content in ("[]", "{", "nonsense"):
        with pytest.raises(ComdivError, match=r"1\.json"):
            read_predictions(packed(tmp_path / "odd.eval", {"1.json": content}))
    with pytest.raises(ComdivError, match="without samples"):
        read_predictions(packed(tmp_path / "none.eval", {}))

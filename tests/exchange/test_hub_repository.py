"""The hub's folder, read by the real `datasets`; and the way to the hub, by the real client to a server of our own."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from comdiv.corpora import read_corpus
from comdiv.dataset import PARTS, Dataset, read_dataset, write_dataset
from comdiv.errors import ComdivError
from comdiv.exchange.hub_repository import export_hub, find_sources, hub_licence, push_to_hub
from comdiv.problem import Problem, Provenance
from comdiv.splitting.id_lists import read_id_lists


def load(folder: Path, tmp_path: Path, *configuration: str) -> Any:
    import datasets

    return datasets.load_dataset(str(folder), *configuration, cache_dir=str(tmp_path / "cache"))


@pytest.fixture
def exported(split_folder: Path, tmp_path: Path) -> Path:
    export_hub(split_folder, tmp_path / "hub")
    return tmp_path / "hub"


def test_load_dataset_reads_the_folder_as_it_is(exported: Path, split_folder: Path, tmp_path: Path) -> None:
    read = load(exported, tmp_path)
    dataset = read_dataset(split_folder)
    assert {side: rows.num_rows for side, rows in read.items()} == {"train": 12, "validation": 3, "test": 10}
    assert read["test"]["text"] == [problem.text for problem in dataset.test]
    assert load(exported, tmp_path, "iid")["test"]["id"] == [p.id for p in read_dataset(split_folder / "iid").test]
    first = read["train"][0]
    assert (first["value"], first["operators"]) == (
        float(first["answer"]),
        sum(first["equation"].count(o) for o in "+-*/"),
    )


def test_the_halves_of_a_synthesised_set_are_configurations_with_the_same_training_side(
    synthesised_folder: Path, tmp_path: Path
) -> None:
    facts = export_hub(synthesised_folder, tmp_path / "hub")
    assert facts["configurations"] == {
        "compositional": {"train": 12, "validation": 3, "test": 6},
        "structural": {"train": 12, "validation": 3, "test": 3},
        "lexical": {"train": 12, "validation": 3, "test": 3},
    }
    structural = load(tmp_path / "hub", tmp_path, "structural")
    assert set(structural["test"]["composition"]) == {"structural"}
    assert structural["train"]["id"] == load(tmp_path / "hub", tmp_path)["train"]["id"]


def test_the_rows_read_back_are_the_problems(exported: Path, split_folder: Path) -> None:
    dataset = read_dataset(split_folder)
    for side in PARTS:
        corpus = read_corpus(exported / "data" / "compositional" / f"{side}.jsonl")
        assert corpus.problems == getattr(dataset, side)
        assert not corpus.report.unreadable


def test_extra_keys_and_problems_without_expression_survive(tmp_path: Path) -> None:
    from comdiv.corpora.hub import flat_row, restored_record

    problem = Problem.from_json({"id": "1", "language": "en", "text": "Why?", "source": {"page": 3}, "composition": 5})
    assert Problem.from_json(restored_record(json.loads(json.dumps(flat_row(problem))))) == problem


def test_the_card_says_how_it_was_made_under_which_licence_and_carries_a_canary(exported: Path) -> None:
    card = (exported / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    assert (header["license"], header["language"]) == ("apache-2.0", ["en"])
    assert [config["config_name"] for config in header["configs"]] == ["compositional", "iid"]
    assert "compound divergence: 0.9" in card
    assert "demo-en (licence: Apache-2.0)" in card
    canary = json.loads((exported / "export.json").read_text())["canary"]
    assert f"    {canary}" in card
    row = json.loads((exported / "data/iid/test.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert row["canary"] == canary


def test_the_same_data_give_the_same_bytes_and_other_data_another_canary(
    split_folder: Path, synthesised_folder: Path, tmp_path: Path
) -> None:
    first, second = (export_hub(split_folder, tmp_path / name) for name in "ab")
    assert first == second
    assert export_hub(synthesised_folder, tmp_path / "c")["canary"] != first["canary"]


def test_an_export_is_replaced_only_when_told_and_nothing_else_ever(exported: Path, split_folder: Path) -> None:
    stale = exported / "stale.txt"
    stale.touch()
    with pytest.raises(ComdivError, match="exists already"):
        export_hub(split_folder, exported)
    export_hub(split_folder, exported, force=True)
    assert not stale.exists()
    (exported / "export.json").unlink()
    with pytest.raises(ComdivError, match="is not an export of comdiv, so it is not replaced"):
        export_hub(split_folder, exported, force=True)
    assert (exported / "README.md").is_file()
    assert not list(exported.parent.glob(".hub*"))


def test_a_folder_without_a_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match="is not a complete dataset folder, nor does it contain one"):
        export_hub(tmp_path, tmp_path / "hub")
    write_dataset(tmp_path / "empty", Dataset((), (), ()), title="empty")
    with pytest.raises(ComdivError, match="empty has no problems, so there is nothing to publish"):
        export_hub(tmp_path / "empty", tmp_path / "hub")


def test_every_test_row_says_its_skill_and_no_training_row_does(synthesised_folder: Path, tmp_path: Path) -> None:
    export_hub(synthesised_folder, tmp_path / "hub")
    rows = load(tmp_path / "hub", tmp_path)
    assert set(rows["test"]["skill"]) == {"structural", "lexical"}
    assert None not in rows["test"]["template_seen"]
    assert set(rows["train"]["skill"]) == {None}
    features = yaml.safe_load((tmp_path / "hub/README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert [entry["name"] for entry in features["dataset_info"][0]["features"]] == rows["test"].column_names


def test_the_ids_of_every_split_make_it_again(exported: Path, split_folder: Path) -> None:
    for name, folder in (("compositional", split_folder), ("iid", split_folder / "iid")):
        lists, dataset = read_id_lists(exported / "ids" / f"{name}.json"), read_dataset(folder)
        assert {part: getattr(lists, part) for part in PARTS} == {
            part: tuple(problem.id for problem in getattr(dataset, part)) for part in PARTS
        }


def test_eval_yaml_is_a_benchmark_for_the_real_inspect(exported: Path, tmp_path: Path) -> None:
    from inspect_ai._eval.task.hf import HFTask, _record_to_sample_hf

    benchmark = yaml.safe_load((exported / "eval.yaml").read_text(encoding="utf-8"))
    assert (benchmark["name"], benchmark["evaluation_framework"]) == ("shop-comdiv", "inspect-ai")
    tasks = [HFTask.model_validate(task) for task in benchmark["tasks"]]
    assert [(task.id, task.config, task.split) for task in tasks] == [
        ("compositional", "compositional", "test"),
        ("iid", "iid", "test"),
    ]
    row = load(exported, tmp_path, tasks[0].config)["test"][0]
    sample = _record_to_sample_hf(row, tasks[0].field_spec)
    assert (sample.input, sample.target) == (row["text"], row["answer"])
    assert sample.metadata is not None
    assert (sample.metadata["id"], sample.metadata["skill"]) == (row["id"], row["skill"])
    prompt = tasks[0].solvers[0].args["template"].format(prompt="How many?")
    assert prompt.endswith("Problem: How many?\nSolution:")


def test_croissant_metadata_are_valid_and_give_the_records(exported: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(exported / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert dataset.metadata.ctx.is_v1_1()
    assert dataset.metadata.data_use_cases
    assert dataset.metadata.personal_sensitive_information
    rows = [json.loads(line) for line in (exported / "data/iid/test.jsonl").read_text(encoding="utf-8").splitlines()]
    records = list(dataset.records("iid_test"))
    assert [record["iid_test/id"].decode() for record in records] == [row["id"] for row in rows]
    assert [record["iid_test/operators"] for record in records] == [row["operators"] for row in rows]


class _Hub(BaseHTTPRequestHandler):
    """As much of the hub's interface as an upload of small files needs; it keeps what it was sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers.get("Authorization"), body))  # type: ignore[attr-defined]
        if self.headers.get("Authorization") != "Bearer hf_good":
            self._answer(401, {"error": "Invalid username or password."})
        elif self.path == "/api/repos/create":
            self._answer(200, {"url": f"http://{self.headers['Host']}/datasets/me/mine", "id": "me/mine"})
        elif "/preupload/" in self.path:
            files = json.loads(body)["files"]
            regular = [{"path": file["path"], "uploadMode": "regular", "shouldIgnore": False} for file in files]
            self._answer(200, {"files": regular})
        elif self.path.endswith("/preupload-check"):
            self._answer(200, {})
        else:
            address = f"http://{self.headers['Host']}/datasets/me/mine/commit/{'0' * 40}"
            self._answer(200, {"commitUrl": address, "commitOid": "0" * 40, "success": True})

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != "Bearer hf_good":
            self._answer(401, {"error": "Invalid username or password."})
            return
        self._answer(200, {"id": "me/mine", "sha": "0" * 40, "siblings": [], "private": False, "tags": []})

    def _answer(self, status: int, record: dict[str, Any]) -> None:
        content = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.requests = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def test_a_push_sends_every_file_to_a_dataset_repository(
    hub: Any, split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    facts = export_hub(split_folder, tmp_path / "hub")
    url = push_to_hub(tmp_path / "hub", "me/mine", facts, private=True, endpoint=address(hub))
    assert url == f"{address(hub)}/datasets/me/mine"
    sent = {path: body for path, _, body in hub.requests}
    created = json.loads(sent["/api/repos/create"])
    assert created["type"] == "dataset"
    assert created.get("private") or created.get("visibility") == "private"  # what older and newer clients say
    commit = next(body for path, body in sent.items() if "/commit/" in path)
    entries = [json.loads(line) for line in commit.splitlines()]
    names = {entry["value"]["path"] for entry in entries if entry["key"] == "file"}
    files = (path for path in (tmp_path / "hub").rglob("*") if path.is_file())
    assert names == {path.relative_to(tmp_path / "hub").as_posix() for path in files}


def test_a_push_that_the_hub_refuses_is_one_line(
    hub: Any, split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_bad")
    facts = export_hub(split_folder, tmp_path / "hub")
    with pytest.raises(ComdivError, match=r"the hub refuses 'me/mine' \(401\).*hf auth login.*is complete") as error:
        push_to_hub(tmp_path / "hub", "me/mine", facts, endpoint=address(hub))
    assert "\n" not in str(error.value)


def test_a_hub_that_is_not_there_is_one_line(
    split_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    facts = export_hub(split_folder, tmp_path / "hub")
    closed = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    closed.server_close()
    with pytest.raises(ComdivError, match="the hub cannot be reached"):
        push_to_hub(tmp_path / "hub", "me/mine", facts, endpoint=address(closed))


def test_what_nobody_said_may_be_published_is_not(split_folder: Path, tmp_path: Path) -> None:
    facts = {"licence": None, "sources": ["math23k (no licence known)"]}
    with pytest.raises(ComdivError, match=r"no licence is known for these problems \(math23k.*use --licence"):
        push_to_hub(tmp_path, "me/mine", facts)
    with pytest.raises(ComdivError, match="name the repository as OWNER/NAME"):
        push_to_hub(tmp_path, "mine", {"licence": "mit"})
    assert export_hub(split_folder, tmp_path / "hub", licence="CC BY 4.0")["licence"] == "cc-by-4.0"


# Whose problems they are, and what the hub calls the terms.


def from_corpus(name: str) -> Problem:
    return Problem("1", "en", "How many?", provenance=Provenance(corpus=name))


@pytest.mark.parametrize(
    ("corpora", "licence"),
    [
        (["mawps"], "mit"),
        (["mawps", "svamp"], "mit"),
        (["asdiv"], "cc-by-nc-4.0"),
        (["demo-zh"], "apache-2.0"),
        (["math23k"], None),
        (["mine"], None),
        (["mawps", "asdiv"], None),
        (["mawps", "math23k"], None),
        ([], None),
    ],
)
def test_the_licence_is_that_of_the_sources_where_they_have_one(corpora: list[str], licence: str | None) -> None:
    sources = find_sources(map(from_corpus, corpora))
    assert hub_licence(sources) == licence
    assert hub_licence(sources, "MIT") == "mit"
    assert hub_licence(sources, "openrail") == "openrail"


def test_sources_are_named_with_their_citation() -> None:
    (source,) = find_sources([from_corpus("svamp"), from_corpus("svamp"), from_corpus("")])
    assert str(source).startswith("svamp (licence: MIT). Patel et al.")


def test_a_dataset_cannot_name_a_place_outside_the_repository(synthesised_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sd"
    dataset = read_dataset(synthesised_folder)
    evil = tuple(replace(problem, composition="../../../evil") for problem in dataset.test)
    write_dataset(folder, replace(dataset, test=evil), title="evil")
    with pytest.raises(ComdivError, match=r"the composition '../../../evil' cannot be part of a path"):
        export_hub(folder, tmp_path / "deep" / "hub")
    method = replace(dataset, facts={"settings": {"method": "../../../evil"}})
    write_dataset(folder, method, title="evil", force=True)
    with pytest.raises(ComdivError, match=r"the method '../../../evil' cannot be part of a path"):
        export_hub(folder, tmp_path / "deep" / "hub")
    assert not list(tmp_path.rglob("evil"))

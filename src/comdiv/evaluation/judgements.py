"""What people think of problems: good or not on grammar, fluency and logic, the three criteria of §V-D.

The record is the same everywhere: `id` (the problem's), `judge`, the three criteria, `good` (all three of them, or
given alone), and optionally `comment` and `when`. Files are JSON Lines, JSON, CSV or Label Studio exports; a mark that
is missing, ambiguous or given twice is an error that names the problem and the judge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from comdiv.corpora.formats import read_records
from comdiv.errors import ComdivError, located
from comdiv.files import write_json_lines

CRITERIA = ("grammar", "fluency", "logic")
GOOD, NOT_GOOD = "good", "not good"  # the choices in the forms that we export
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would evaluate it
PROBLEM_ID = "problem_id"  # our id where `id` is a Label Studio task's
_MARKS = {
    **dict.fromkeys(("true", "1", "yes", "y", GOOD), True),
    **dict.fromkeys(("false", "0", "no", "n", NOT_GOOD, "bad"), False),
}


_VERDICT = ("valid", "qualified", "label")  # a reader's marks of a synthetic problem
_DECISIONS = {"accepted": True, "edited": False, "rejected": False}  # in proofreading: an edit removes what was wrong


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's marks for one problem: either all three criteria, or `good` alone."""

    id: str
    judge: str
    good: bool
    grammar: bool | None = None
    fluency: bool | None = None
    logic: bool | None = None
    comment: str = ""
    when: str = ""

    def __post_init__(self) -> None:
        marks = {name: self.mark(name) for name in CRITERIA}
        given = [name for name, mark in marks.items() if mark is not None]
        if missing := [name for name in CRITERIA if name not in given] if given else []:
            raise ComdivError(f"{self._named()}: no mark for {' and '.join(missing)}")
        if given and self.good != all(marks.values()):
            shown = ", ".join(f"{name} {GOOD if mark else NOT_GOOD}" for name, mark in marks.items())
            raise ComdivError(
                f"{self._named()}: '{GOOD if self.good else NOT_GOOD}' contradicts {shown}: good is all three"
            )

    @classmethod
    def of_criteria(
        cls, id: str, judge: str, grammar: bool, fluency: bool, logic: bool, comment: str = "", when: str = ""
    ) -> "Judgement":
        """A judgement by the three criteria: good if all of them are."""
        return cls(id, judge, grammar and fluency and logic, grammar, fluency, logic, comment, when)

    def mark(self, criterion: str) -> bool | None:
        """The mark for `good` or one of the criteria; None where the judge was not asked for it."""
        if criterion not in ("good", *CRITERIA):
            raise ComdivError(f"'{criterion}' is none of good, {', '.join(CRITERIA)}")
        mark: bool | None = getattr(self, criterion)
        return mark

    def _named(self) -> str:
        return f"problem '{self.id}', judge '{self.judge}'"

    def to_json(self) -> dict[str, Any]:
        """The record in a file: only what is known."""
        record: dict[str, Any] = {"id": self.id, "judge": self.judge}
        record |= {name: self.mark(name) for name in CRITERIA if self.mark(name) is not None}
        record["good"] = self.good
        return record | {key: value for key, value in (("comment", self.comment), ("when", self.when)) if value}

    @classmethod
    def from_json(cls, record: Mapping[str, Any], judge: str | None = None) -> "Judgement | None":
        """The judgement of a flat record; None if nothing is marked yet. `judge` is used if the record names none.

        Label Studio's short exports (JSON-MIN, CSV) have our id in `problem_id`, their own in `id`, and an `annotator`.
        """
        name = _name(record, PROBLEM_ID) or ("" if "annotation_id" in record else _name(record, "id"))
        if not name:
            raise ComdivError(
                f"no problem id: a Label Studio export needs the column '{PROBLEM_ID}' of our tasks"
                if "annotation_id" in record
                else f"a judgement needs the 'id' of its problem; this record has {', '.join(record)[:200]}"
            )
        who = next(filter(None, (_name(record, key) for key in ("judge", "annotator", "reader"))), judge or "")
        if not who:
            raise ComdivError(f"problem '{name}': no judge")
        with located(f"problem '{name}', judge '{who}'"):
            marks = {key: _mark(record.get(key), key) for key in ("good", *CRITERIA)}
            when = _when(record.get("when") or record.get("updated_at") or record.get("created_at"))
        if all(mark is None for mark in marks.values()):
            return None
        good = all(marks[key] for key in CRITERIA) if marks["good"] is None else marks["good"]
        comment = _text(record.get("comment"))
        return cls(name, who, good, marks["grammar"], marks["fluency"], marks["logic"], comment, when)


def read_judgements(
    path: Path, *, judge: str | None = None, unfinished: bool = False, mark: str | None = None
) -> tuple[Judgement, ...]:
    """The judgements of a file in any of these forms. If the file does not say who judged, `judge` does, or else the
    file's name. A problem without marks is an error, unless the judges are allowed to be `unfinished`. `mark` is the
    field of a reader's verdicts that counts as good, such as `valid`.
    """
    places: dict[tuple[str, str], str] = {}
    judgements: list[Judgement] = []
    unmarked: list[str] = []
    for where, record in _in_force(read_records(path)):
        for one in _flat_records(record, where):
            flat = _as_marks(one, mark)
            with located(where):
                judgement = Judgement.from_json(flat, judge or path.stem)
            if judgement is None:
                unmarked.append(f"{where}, problem '{_name(flat, PROBLEM_ID) or _name(flat, 'id')}'")
                continue
            key = (judgement.id, judgement.judge)
            if key in places:
                raise ComdivError(
                    f"{where}: judge '{judgement.judge}' marked problem '{judgement.id}' twice, first in {places[key]}"
                )
            places[key] = where
            judgements.append(judgement)
    if unmarked and not unfinished:
        more = f" ({len(unmarked)} such problems)" if len(unmarked) > 1 else ""
        raise ComdivError(f"{unmarked[0]} has no marks{more}")
    if not judgements:
        raise ComdivError(f"{path}: there are no marks in it")
    return tuple(judgements)


def _in_force(records: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The last decision about each problem, for a file of `comdiv studio`, which only grows; others unchanged."""
    lines: dict[Any, tuple[str, Any]] = {}
    for number, (where, record) in enumerate(records):
        is_decision = isinstance(record, Mapping) and "status" in record and "by" in record
        key = record["id"] if is_decision else number
        lines.pop(key, None)
        if not (is_decision and record["status"] == "open"):
            lines[key] = (where, record)
    return list(lines.values())


def _as_marks(record: Mapping[str, Any], mark: str | None) -> Mapping[str, Any]:
    """A reader's verdict or a decision of `comdiv studio` as a record with marks; others unchanged."""
    if mark is not None:
        return {**record, "good": record.get(mark)}
    if all(isinstance(record.get(name), bool) for name in _VERDICT):
        return {**record, "good": all(record[name] for name in _VERDICT)}
    if record.get("status") in _DECISIONS and "by" in record:
        return {"id": record.get("id"), "judge": record["by"], "good": _DECISIONS[record["status"]]}
    return record


def read_judgement_files(paths: Sequence[Path], mark: str | None = None) -> tuple[Judgement, ...]:
    """The judgements of several files. Files that do not say who judged are told apart by their names."""
    read = [read_judgements(path, mark=mark) for path in paths]
    judges = {judgement.judge for judgements in read for judgement in judgements}
    alone = len(judges) == 1 and len(paths) > 1  # every file's judge is "1", or "me"
    return tuple(
        replace(judgement, judge=f"{judgement.judge} ({path})") if alone else judgement
        for path, judgements in zip(paths, read, strict=True)
        for judgement in judgements
    )


def write_judgements(path: Path, judgements: Iterable[Judgement]) -> int:
    """Write judgements as JSON Lines, atomically; returns how many."""
    return write_json_lines(path, (judgement.to_json() for judgement in judgements))


def judgements_by_judge(judgements: Sequence[Judgement]) -> dict[str, dict[str, Judgement]]:
    """Each judge's judgements by problem, judges and problems in the order of their first mark.

    Judges who marked different problems cannot be compared: the error names the first missing mark.
    """
    by_judge: dict[str, dict[str, Judgement]] = {}
    for judgement in judgements:
        own = by_judge.setdefault(judgement.judge, {})
        if judgement.id in own:
            raise ComdivError(f"judge '{judgement.judge}' marked problem '{judgement.id}' twice")
        own[judgement.id] = judgement
    ids = list(dict.fromkeys(judgement.id for judgement in judgements))
    for judge, own in by_judge.items():
        if missing := [name for name in ids if name not in own]:
            more = f" ({len(missing)} such problems)" if len(missing) > 1 else ""
            raise ComdivError(f"judge '{judge}' has no mark for problem '{missing[0]}', which another judged{more}")
    return {judge: {name: own[name] for name in ids} for judge, own in by_judge.items()}


def _flat_records(record: Mapping[str, Any], where: str) -> Iterator[Mapping[str, Any]]:
    """A flat record unchanged; for a Label Studio task, one record per annotation, or one without marks."""
    data, annotations = record.get("data"), record.get("annotations")
    if not isinstance(data, dict) or not isinstance(annotations, list):
        yield record
        return
    name = _name(data, PROBLEM_ID) or _name(data, "id")
    if not name:
        raise ComdivError(f"{where}: task {record.get('id')} has neither '{PROBLEM_ID}' nor 'id' in its data")
    done = [entry for entry in annotations if isinstance(entry, dict) and not entry.get("was_cancelled")]
    if not done:
        yield {"id": name}
    for annotation in done:
        results = annotation.get("result") or []
        try:
            marks = {str(result["from_name"]): _value(result["value"]) for result in results}
        except (TypeError, KeyError) as error:
            raise ComdivError(f"{where}: problem '{name}': an annotation without {error}") from error
        when = annotation.get("updated_at") or annotation.get("created_at")
        who = annotation.get("completed_by")
        who = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
        yield {**marks, "id": name, "judge": who, "when": when}


def _value(value: Any) -> Any:
    """The choice or text in one field of a Label Studio form; any other value as it is."""
    return value.get("choices", value.get("text")) if isinstance(value, dict) else value


def _mark(value: Any, key: str) -> bool | None:
    """True, false, or nothing; anything ambiguous is refused."""
    value = _value(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or isinstance(value, bool):
        return value
    word = " ".join(str(value).split()).lower().replace("_", " ")
    if word and word not in _MARKS:
        raise ComdivError(f"'{key}' is {str(value)[:40]!r}: a mark is true or false, yes or no, good or not good")
    return _MARKS.get(word)


def _name(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None or value == "":
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ComdivError(f"'{key}' is a {type(value).__name__}, not a name")
    name = str(value).strip()
    return name[1:] if name.startswith("'") and name[1:].startswith(_FORMULA) else name


def harmless_cell(text: str) -> str:
    """The text as a spreadsheet cell, with an apostrophe in front if it would be taken for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _text(value: Any) -> str:
    value = _value(value)
    return "\n".join(str(line) for line in value) if isinstance(value, list) else str(value or "")


def _when(value: Any) -> str:
    if value is None or value == "":
        return ""
    try:
        datetime.fromisoformat(str(value))
    except ValueError as error:
        raise ComdivError(f"'when' is {str(value)[:40]!r}, not a date such as 2024-05-17T09:30:00+00:00") from error
    return str(value)

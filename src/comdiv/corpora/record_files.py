"""Records from text files: JSON Lines, JSON arrays, consecutive JSON objects, CSV."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from comdiv.errors import ComdivError, disk_errors
from comdiv.loading import parse_json, read_json_lines

Record = Mapping[str, Any]
Records = Iterator[tuple[str, Record]]  # each with its place: "mine.csv, line 7"
Complain = Callable[[str, str], None]  # called with the place of what cannot be read, and the reason
_BEGINNING = 65_536  # characters that decide the syntax
_DELIMITERS = (",", ";", "\t")


def text_records(path: Path, complain: Complain) -> Records:
    """The records of a text file with their places; the content decides the syntax.

    A line that cannot be read is passed to `complain` with the reason, and reading continues with the next.
    """
    beginning = read_text_file(path, _BEGINNING).lstrip()
    if not beginning:
        raise ComdivError(f"{path}: the file is empty")
    if beginning[0] == "[":
        yield from _array_records(path)
    elif beginning[0] == "{":
        yield from _object_records(path, beginning, complain)
    else:
        yield from _csv_records(path, _delimiter(beginning.partition("\n")[0]), complain)


def read_text_file(path: Path, length: int = -1) -> str:
    """A file as text, or its beginning; anything but UTF-8 is an error that says where."""
    try:
        with disk_errors(path), path.open(encoding="utf-8-sig") as stream:
            text = stream.read(length)
    except UnicodeDecodeError as error:
        raise ComdivError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from error
    if "\0" in text:  # UTF-16, or not text at all
        raise ComdivError(f"{path}: not UTF-8: it has zero bytes")
    return text


def _array_records(path: Path) -> Records:
    text = read_text_file(path)
    try:
        records = parse_json(text)
    except ValueError as error:
        raise ComdivError(f"{path}: not valid JSON: {error}") from error
    for number, record in enumerate(records, start=1):
        yield _mapping(record, f"{path.name}, record {number}")


def _object_records(path: Path, beginning: str, complain: Complain) -> Records:
    """One object per line, or consecutive objects of several lines each (as Math23K was first published)."""
    first_line = beginning.partition("\n")[0]
    if "\n" not in beginning or _is_json(first_line):
        place = f"{path.name}, line "
        for number, record in read_json_lines(path, lambda number, reason: complain(f"{place}{number}", reason)):
            yield _mapping(record, f"{place}{number}")
        return
    text = read_text_file(path)
    decoder = json.JSONDecoder()
    position = number = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        number += 1
        try:
            _, end = decoder.raw_decode(text, position)
            record = parse_json(text[position:end])
        except (ValueError, RecursionError) as error:
            raise ComdivError(f"{path}, record {number}: not valid JSON: {error}") from error
        position = end
        yield _mapping(record, f"{path.name}, record {number}")


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _csv_records(path: Path, delimiter: str, complain: Complain) -> Records:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream, strict=True, delimiter=delimiter)
        try:
            names = reader.fieldnames or ()
            if len(set(names)) < len(names):
                raise ComdivError(f"{path.name}: two columns have the same name: {', '.join(names)}")
            for record in reader:
                where = f"{path.name}, line {reader.line_num}"
                if None in record or None in record.values():
                    complain(where, f"the number of fields is not {len(reader.fieldnames or ())}, as in the header")
                else:
                    yield where, record
        except (csv.Error, UnicodeDecodeError) as error:
            # The inner reader's line number: the outer one counts only the lines that it could use.
            raise ComdivError(f"{path.name}, line {reader.reader.line_num}: not valid CSV: {error}") from error


def _delimiter(header: str) -> str:
    """What separates the columns: a comma, or the semicolon or tab that spreadsheets write in other locales.

    Quoted names may contain any of them, so the most frequent one outside quotes is the delimiter.
    """
    unquoted = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=unquoted.count)  # the first on a tie: a header without any is one column


def _mapping(record: Any, where: str) -> tuple[str, Record]:
    if not isinstance(record, dict):
        raise ComdivError(f"{where}: a record must be a JSON object, not {type(record).__name__}")
    return where, record

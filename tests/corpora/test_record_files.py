"""Records from files: the format is told by the content, and damage has a place."""

import json
from pathlib import Path
from typing import Any

import pytest

from comdiv.corpora.formats import read_records
from comdiv.errors import ComdivError

RECORDS: list[dict[str, Any]] = [{"id": 1, "text": "Tom has 3 cats"}, {"id": 2, "text": "小明有3只猫"}]


def written(tmp_path: Path, content: str | bytes, name: str = "mine.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (json.dumps(RECORDS), ["record 1", "record 2"]),
        (json.dumps(RECORDS, indent=2), ["record 1", "record 2"]),
        ("\n".join(map(json.dumps, RECORDS)), ["line 1", "line 2"]),
        ("\n\n" + "\n\n".join(map(json.dumps, RECORDS)) + "\n\n", ["line 3", "line 5"]),
        ("\n".join(json.dumps(record, indent=2) for record in RECORDS), ["record 1", "record 2"]),
        ("\ufeff" + json.dumps(RECORDS, ensure_ascii=False), ["record 1", "record 2"]),
        ("\ufeff" + "\r\n".join(map(json.dumps, RECORDS)), ["line 1", "line 2"]),
    ],
    ids=["array", "pretty array", "lines", "blank lines", "objects over several lines", "BOM", "BOM and CRLF"],
)
def test_json_in_each_form_gives_the_same_records(content: str, places: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, content)
    assert list(read_records(path)) == [(f"mine.txt, {p}", r) for p, r in zip(places, RECORDS, strict=True)]


def test_csv_gives_records_of_texts(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffid,text\r\n1,"Tom, ""the cat"""\r\n2,"two\nlines"\r\n')
    assert list(read_records(path)) == [
        ("mine.txt, line 2", {"id": "1", "text": 'Tom, "the cat"'}),
        ("mine.txt, line 4", {"id": "2", "text": "two\nlines"}),
    ]


def test_xml_gives_the_problems_with_attributes_and_fields(tmp_path: Path) -> None:
    content = "<Root><Problem ID='a-1' Grade='2'><Body>Two &lt; 3</Body><Answer>9 (cats)</Answer></Problem></Root>"
    ((where, record),) = read_records(written(tmp_path, content, "mine.xml"))
    assert where == "mine.xml, problem a-1"
    assert (record["ID"], record["Grade"], record["Body"], record["Answer"]) == ("a-1", "2", "Two < 3", "9 (cats)")
    assert record["Formula"] is None


ENTITIES = '<!DOCTYPE r [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]><r><Problem><Body>&b;</Body></Problem></r>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16"])
def test_xml_with_entities_is_refused_in_every_encoding(encoding: str, tmp_path: Path) -> None:
    path = written(tmp_path, f'<?xml version="1.0"?>{ENTITIES}'.encode(encoding))
    with pytest.raises(ComdivError, match=r"must not define entities|not UTF-8"):
        list(read_records(path))


@pytest.mark.parametrize(
    "content",
    [
        "question;answer\n1,5 + 1,5;3\n",
        "question\tanswer\n1,5 + 1,5\t3\n",
        'question,answer\n"1,5 + 1,5",3\n',
        '"question";"answer"\r\n"1,5 + 1,5";"3"\r\n',
    ],
)
def test_columns_may_be_divided_by_commas_semicolons_or_tabs(content: str, tmp_path: Path) -> None:
    assert [record for _, record in read_records(written(tmp_path, content))] == [
        {"question": "1,5 + 1,5", "answer": "3"}
    ]


def test_a_delimiter_between_quotes_is_part_of_a_name(tmp_path: Path) -> None:
    content = '"a;b;c;d",e\n1,2\n'
    assert [record for _, record in read_records(written(tmp_path, content))] == [{"a;b;c;d": "1", "e": "2"}]


def test_a_single_column_needs_no_delimiter(tmp_path: Path) -> None:
    assert [record for _, record in read_records(written(tmp_path, "text\nhow many\n"))] == [{"text": "how many"}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "mine.txt: the file is empty"),
        (" \n ", "mine.txt: the file is empty"),
        ("a\0b", "mine.txt: not UTF-8: it has zero bytes"),
        ("[1, 2]", "mine.txt, record 1: a record must be a JSON object, not int"),
        ('{"a": 1}\n[2]', "mine.txt, line 2: a record must be a JSON object, not list"),
        ('[{"a": 1},', "mine.txt: not valid JSON: "),
        ("[" * 100_000, "mine.txt: not valid JSON: nested too deeply"),
        ('{"a": 1}\n{"a": ', "mine.txt, line 2: not valid JSON: "),
        ('{\n"a": 1\n}\n{\n"a" 2}', "mine.txt, record 2: not valid JSON: "),
        ('{\n"a": ' + "[" * 100_000, "mine.txt, record 1: not valid JSON: "),
        ('[{"a": 1' + "0" * 5_000 + "}]", "mine.txt: not valid JSON: a number of 300 digits"),
        ("a,b\n1\n", "mine.txt, line 2: the number of fields is not 2, as in the header"),
        ("a,b\n1,2,3\n", "mine.txt, line 2: the number of fields is not 2, as in the header"),
        ('a,b\n1,"2\n', "mine.txt, line 2: not valid CSV: unexpected end of data"),
        ("<a><b></a>", "mine.txt: not valid XML: mismatched tag"),
    ],
)
def test_damage_is_one_line_with_the_place(content: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(ComdivError) as caught:
        list(read_records(path))
    assert message in str(caught.value)


@pytest.mark.parametrize("opening", ["[", "{", "{\n", "<a>", "text\n"])
@pytest.mark.parametrize("padding", [0, 100_000])
def test_bytes_that_are_no_utf8_are_refused_wherever_they_stand(opening: str, padding: int, tmp_path: Path) -> None:
    path = written(tmp_path, opening.encode() + b" " * padding + b"\xff\xfe")
    with pytest.raises(ComdivError, match=r"not UTF-8|not valid CSV"):
        list(read_records(path))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ComdivError, match=r"none\.csv: No such file or directory"):
        list(read_records(tmp_path / "none.csv"))

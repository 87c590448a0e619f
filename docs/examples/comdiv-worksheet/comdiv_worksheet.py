"""Worksheets for comdiv: plain text, a blank line between problems, the calculation behind `=>`."""

from pathlib import Path

from comdiv.corpora.formats import DamagedRecord, Format, RawRecord
from comdiv.corpora.record_files import Complain, Record, Records


class Worksheet(Format):
    """Tom has 3 bags of 12 apples. How many apples does he have? => 3*12 = 36"""

    keys = frozenset(["worksheet_problem"])

    def opens(self, path: Path, beginning: bytes) -> bool:
        return path.suffix == ".txt" and b"=>" in beginning

    def records(self, path: Path, complain: Complain) -> Records:
        for number, block in enumerate(path.read_text(encoding="utf-8").split("\n\n"), start=1):
            if block.strip():
                yield f"{path}, problem {number}", {"worksheet_problem": " ".join(block.split())}

    def convert(self, record: Record, where: str, number: int) -> RawRecord:
        text, arrow, calculation = record["worksheet_problem"].partition("=>")
        if not arrow:
            raise DamagedRecord("there is no '=>' before the calculation")
        equation, _, answer = calculation.partition("=")
        return RawRecord(f"worksheet-{number}", text.strip(), where, equation.strip(), answer.strip() or None)

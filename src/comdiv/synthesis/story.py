"""What a problem's numbers are to each other and to its question: the part of a story that single words do not tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from comdiv.language.base import SHARE
from comdiv.synthesis.reading import Reader, Reading, Sign


@dataclass(frozen=True, slots=True)
class Story:
    """The used quantities in text order, with the names around them, and what is asked for."""

    values: tuple[Fraction, ...]
    signs: tuple[Sign, ...]
    units: tuple[str | None, ...]
    roles: Mapping[str, str]
    asked_unit: str | None
    question: str

    @classmethod
    def of(cls, reading: Reading, reader: Reader) -> "Story":
        """The story of a problem that has been read."""
        return cls(
            tuple(quantity.value for quantity in reading.used),
            reading.signs,
            tuple(reader.unit_name(quantity.unit) for quantity in reading.used),
            reading.roles,
            reading.asked_unit,
            reading.question.text,
        )

    def features(self, reader: Reader) -> list[str]:
        """What tells n1/n2 from n2/n1 and n1*n2: kinds and units, sizes, and which side of a comparison is asked."""
        kinds = "/".join(f"{sign.kind}{'!' if sign.per else ''}" for sign in self.signs)
        asked = self._asked()
        found = [f"#kinds {kinds}", f"#asked {asked}", f"#kinds {kinds} asked {asked}"]
        if len(self.values) == 2:
            first, second = self.values
            larger = "first" if first > second else "second"
            found += [f"#larger {larger}", f"#kinds {kinds} asked {asked} larger {larger}"]
            found.append(f"#same unit {self.units[0] == self.units[1]} asked {asked}")
            whole = [bool(b) and (a / b).denominator == 1 for a, b in ((first, second), (second, first))]
            found.append(f"#divides {whole}")
        for rank in range(len(self.values)):
            if (frame := self._frame(rank)) is not None:
                found += [f"#frame {rank} {frame}", f"#frame {rank} {frame} {kinds}"]
        per = [reader.unit_name(word) for word in reader.words.per_word.findall(self.question)]
        found += [f"#for each {self._rank_of(word)}" for word in per]
        return found

    def _asked(self) -> str:
        if self.asked_unit is None or self.asked_unit == SHARE:
            return str(self.asked_unit)
        return self._rank_of(self.asked_unit)

    def _rank_of(self, unit: str | None) -> str:
        return (
            "+".join(str(rank) for rank, known in enumerate(self.units) if unit and known and known == unit) or "none"
        )

    def _frame(self, rank: int) -> str | None:
        """Which side of the comparison at a quantity the question names; a side may be left out."""
        reference, compared = (self.roles.get(f"{role}{rank}") for role in ("reference", "compared"))
        if reference is None:
            return None
        asks_reference = reference in self.question
        asks_compared = None if compared is None else compared in self.question
        direction = next((role for role in ("less", "more") if f"{role}{rank}" in self.roles), "share")
        return f"{direction}: reference {asks_reference} compared {asks_compared}"

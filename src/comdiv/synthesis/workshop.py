"""Everything that is found once for a corpus in one language: reader, indexed corpus, units, proofreader."""

from collections.abc import Sequence
from dataclasses import dataclass

from comdiv.synthesis.donors import DonorIndex
from comdiv.synthesis.proofreading import Proofreader
from comdiv.synthesis.reading import Reader, Reading
from comdiv.synthesis.units import AskedUnits, whole_units


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that is found once for a corpus in one language: reader, indexed corpus, units, proofreader."""

    reader: Reader
    readings: tuple[Reading, ...]
    index: DonorIndex
    asked_units: AskedUnits
    whole: frozenset[str]
    proofreader: Proofreader
    least_plausible: float

    @classmethod
    def over(cls, readings: Sequence[Reading], reader: Reader, least_plausible: float) -> "Workshop":
        """The workshop of a corpus that has been read."""
        return cls(
            reader,
            tuple(readings),
            DonorIndex(readings, reader),
            AskedUnits(readings, reader),
            whole_units(readings, reader),
            Proofreader(readings if least_plausible > 0 else (), reader),
            least_plausible,
        )

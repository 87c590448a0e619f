"""What is packed comes out again as it went in; what cannot be packed stays as it is."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comdiv.errors import ComdivError
from comdiv.evaluation import Share
from comdiv.evaluation.accuracy import Evaluation
from comdiv.experiments.packing import (
    pack_bits,
    pack_curve,
    pack_frequencies,
    pack_names,
    pack_summary,
    unpack_bits,
    unpack_curve,
    unpack_frequencies,
    unpack_names,
    unpack_summary,
)

COUNTS = {"ill_formed": 1, "undefined": 0, "unreadable": 0, "missing": 0, "unknown_ids": 0, "without_gold": 0}


def test_bits_are_read_from_the_highest_of_each_byte() -> None:
    assert pack_bits([True, False, False, False, False, False, False, True, True]) == "gYA="  # 0x81 0x80
    assert pack_bits([]) == ""


@given(st.lists(st.booleans(), max_size=50))
def test_bits_round_trip(bits: list[bool]) -> None:
    assert unpack_bits(pack_bits(bits), len(bits)) == bits


@given(st.lists(st.text(max_size=5), max_size=6))
def test_names_round_trip_with_and_without_blanks(names: list[str]) -> None:
    assert unpack_names(pack_names(names)) == names


def test_an_evaluation_is_its_counts() -> None:
    parts = {"1": Share(6, 7), "2": Share(0, 3)}
    whole = {"test": Evaluation(Share(6, 10), Share(5, 10), COUNTS, parts, {"seen": Share(0, 0)}, parts).to_json()}
    packed = pack_summary(whole)
    assert packed["test"]["answers"] == "6/10"
    assert packed["test"]["counts"] == {"ill_formed": 1}
    assert unpack_summary(packed) == whole


def test_what_is_no_whole_evaluation_stays_as_it_is() -> None:
    for summary in ({"problems": {"train": 3}}, {"test": {"n": 10, "correct": 3}}, {}):
        assert pack_summary(summary) == summary == unpack_summary(summary)
    strange = {"test": {**Evaluation(Share(6, 10), None, COUNTS, {}).to_json(), "correct": 7}}  # 6/10 is no 7/10
    assert unpack_summary(pack_summary(strange)) == strange


def test_a_curve_is_columns_of_exact_counts() -> None:
    history = [{"epoch": place, "loss": 0.5, "validation_accuracy": right / 380} for place, right in ((1, 72), (2, 79))]
    packed = pack_curve(history)
    assert packed == {"loss": [0.5, 0.5], "validation_accuracy": {"of": 380, "right": [72, 79]}}
    assert unpack_curve(packed) == history


def test_a_curve_without_validation_or_that_begins_late_keeps_what_it_has() -> None:
    history = [{"epoch": 3, "loss": 0.5, "validation_accuracy": None}]
    assert unpack_curve(pack_curve(history)) == history
    rough = [{"epoch": 1, "validation_accuracy": 0.123456789012}]
    assert unpack_curve(pack_curve(rough)) == rough


def test_compounds_with_the_same_counts_stand_together() -> None:
    entries = [{"name": name, "train": 2, "test": 0} for name in ("(c1+c2)", "(c1-c2)")]
    entries.append({"name": "c1", "train": 0, "test": 1})
    assert pack_frequencies(entries) == {"2/0": "(c1+c2) (c1-c2)", "0/1": "c1"}
    assert unpack_frequencies(pack_frequencies(entries)) == entries
    assert pack_frequencies(entries[::-1]) == entries[::-1]  # another order could not be restored


def test_long_lists_of_compounds_are_squeezed_and_come_back() -> None:
    names = sorted(f"(c{one}*c{other})" for one in range(20) for other in range(20))
    entries = [{"name": name, "train": 1, "test": 0} for name in names]
    packed = pack_frequencies(entries)
    assert len(packed["1/0"]) < sum(map(len, names)) / 2
    assert unpack_frequencies(packed) == entries


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zlib:%%%", "is not compressed text"),
        ("zlib:AAAA", "is not compressed text"),
        ("zlib:eJw=", "is cut, or stands for more than"),
        (
            f"zlib:{base64.b64encode(zlib.compress(b' ' * 20_000_000)).decode()}",
            "stands for more than 10,000,000 bytes",
        ),
    ],
    ids=["no base64", "no zlib", "cut", "a bomb"],
)
def test_damaged_lists_of_compounds_are_told(text: str, said: str) -> None:
    with pytest.raises(ComdivError, match=said):
        unpack_frequencies({"1/0": text})

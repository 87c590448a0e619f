"""Whose problems they are, and what the hub calls the terms."""

import pytest

from comdiv.exchange.licences import find_sources, hub_licence
from comdiv.problem import Problem, Provenance


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

"""Where problems come from: files in every known shape, published corpora by name, the bundled demo corpora."""

from comdiv.corpora.read import Corpus, open_corpus, read_corpus, read_rows
from comdiv.corpora.records import Complaint, ReadReport
from comdiv.corpora.registry import DEMO_CORPORA
from comdiv.corpora.shapes import Columns
from comdiv.corpora.statistics import CorpusStatistics, corpus_statistics

__all__ = [
    "DEMO_CORPORA",
    "Columns",
    "Complaint",
    "Corpus",
    "CorpusStatistics",
    "ReadReport",
    "corpus_statistics",
    "open_corpus",
    "read_corpus",
    "read_rows",
]

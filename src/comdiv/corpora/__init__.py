"""Where problems come from: files in every known format, published corpora by name, the bundled demo corpora."""

from comdiv.corpora.formats import Columns, DamagedRecord, Format, RawRecord
from comdiv.corpora.published import DEMO_CORPORA
from comdiv.corpora.read import Complaint, Corpus, ReadReport, open_corpus, read_corpus, read_rows
from comdiv.corpora.statistics import CorpusStatistics, corpus_statistics

__all__ = [
    "DEMO_CORPORA",
    "Columns",
    "Complaint",
    "Corpus",
    "CorpusStatistics",
    "DamagedRecord",
    "Format",
    "RawRecord",
    "ReadReport",
    "corpus_statistics",
    "open_corpus",
    "read_corpus",
    "read_rows",
]

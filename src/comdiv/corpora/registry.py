"""The public corpora as data: where each file is published, and what its bytes must be.

Every file is pinned to a commit and to its git blob id, so that a result obtained today can be repeated on the same
bytes in ten years, from any mirror. We redistribute none of them: `comdiv data download` gets them from where their
authors put them.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from comdiv.errors import ComdivError, unknown_name

DEMO_CORPORA = {"demo-en": "en", "demo-zh": "zh"}  # bundled: name → language
PUBLIC_BASE = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class PublishedFile:
    """One file of a public repository, pinned to a commit and to the git blob id of its content."""

    repository: str  # owner/name
    commit: str
    path: str
    blob_id: str

    @property
    def filename(self) -> str:
        """The name under which the file lies on disk: unique within its corpus."""
        return PurePosixPath(self.path).name

    def url(self, mirror: str | None = None) -> str:
        """The address of the file; a mirror stands in for raw.githubusercontent.com, with the same paths below it."""
        base = PUBLIC_BASE if mirror is None else _checked_mirror(mirror)
        return f"{base}/{quote(self.repository)}/{self.commit}/{quote(self.path)}"


@dataclass(frozen=True)
class PublishedCorpus:
    """A corpus by its name: its files in reading order, and what a user must know before using it."""

    name: str
    title: str
    language: str  # ISO 639-1
    files: tuple[PublishedFile, ...]
    licence: str
    note: str
    citation: str

    @property
    def notice(self) -> str:
        """What is said at download, in one line: the licence, and what is particular to this version."""
        return f"{self.title}. Licence: {self.licence}. {self.note}"


def published_corpus(name: str) -> PublishedCorpus:
    """The corpus of that name, or an error that offers the nearest known one."""
    if name not in PUBLISHED_CORPORA:
        raise unknown_name("corpus", name, PUBLISHED_CORPORA)
    return PUBLISHED_CORPORA[name]


def _checked_mirror(mirror: str) -> str:
    """The mirror without its trailing slash; anything but a plain web address is refused.

    `file:` and the like would let an option meant for the network read local files.
    """
    refusal = ComdivError(
        f"--mirror {mirror!r} is not a web address: give http://HOST/PATH or https://HOST/PATH, "
        "in plain ASCII, without user name, spaces, '?' or '#'"
    )
    try:
        parts = urlsplit(mirror)
        well_formed = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:  # a broken IPv6 address, or a port that is no number
        raise refusal from error
    plain = mirror.isascii() and mirror.isprintable() and "@" not in parts.netloc and not set(mirror) & set(" ?#\\")
    if not (well_formed and plain):
        raise refusal
    return mirror.rstrip("/")


def _files(repository_at_commit: str, *path_and_blob_id: tuple[str, str]) -> tuple[PublishedFile, ...]:
    repository, commit = repository_at_commit.split("@")
    return tuple(PublishedFile(repository, commit, path, blob_id) for path, blob_id in path_and_blob_id)


_MWPTOOLKIT = "LYH-YF/MWPToolkit@0993beb336c286a0f974d58834e932cf65e32249"
_SVAMP = "arkilpatel/SVAMP@689d7ccac74b9983a2ac7cc3b264f441b99e7c53"
_ASDIV = "chaochun/nlu-asdiv-dataset@883f90a9a65bf00304ba8f37423910fe743abc47"
_APE210K = "Chenny0808/ape210k@52c52ebb517fdcd3dc69e908cc45f8bb0a121094"
_GSM8K = "openai/grade-school-math@3101c7d5072418e28b9008a6636bde82a006892c"

_MAWPS_PAPER = "Koncel-Kedziorski et al., MAWPS: A Math Word Problem Repository, NAACL 2016"
_ASDIV_PAPER = (
    "Miao, Liang and Su, A Diverse Corpus for Evaluating and Developing English Math Word Problem Solvers, ACL 2020"
)

_CORPORA = (
    PublishedCorpus(
        name="math23k",
        title="Math23K as distributed with MWPToolkit",
        language="zh",
        files=_files(
            _MWPTOOLKIT,
            ("dataset/math23k/trainset.json", "9823f5b35d890566c3041aee793ea45ca4b05490"),
            ("dataset/math23k/validset.json", "ae1ee519815d0f3c9f2c1fdf941d299f1e141b60"),
            ("dataset/math23k/testset.json", "9329891133c6f22d55c24d28d3efb2a493f2d1bd"),
        ),
        licence="none stated by its authors",
        note="These three files are MWPToolkit's split: its test set contains problems of the public training set.",
        citation="Wang, Liu and Shi, Deep Neural Solver for Math Word Problems, EMNLP 2017",
    ),
    PublishedCorpus(
        name="mawps",
        title="MAWPS, the full version of 2,373 problems",
        language="en",
        files=_files(
            _MWPTOOLKIT,
            ("dataset/mawps/trainset.json", "53f00cbf0c37799985b51170551a046bcee6cc1f"),
            ("dataset/mawps/validset.json", "edfb3c7e39edab5a800854eedb6a704952525feb"),
            ("dataset/mawps/testset.json", "7442c0779c55a13f903ec4e0a177309856c061d0"),
        ),
        licence="MIT (MWPToolkit)",
        note="Other sizes in circulation: 1,987 and 1,921 (mawps-folds).",
        citation=_MAWPS_PAPER,
    ),
    PublishedCorpus(
        name="mawps-original",
        title="MAWPS in the form of its original release",
        language="en",
        files=_files(_MWPTOOLKIT, ("dataset/mawps/MAWPS.json", "b772986f5cdbb3c7aac864df59b963a6326b183e")),
        licence="MIT (MWPToolkit)",
        note="One file, without a split.",
        citation=_MAWPS_PAPER,
    ),
    PublishedCorpus(
        name="svamp",
        title="SVAMP, 1,000 problems",
        language="en",
        files=_files(_SVAMP, ("SVAMP.json", "aad093525105c6331581d7082250b9c22578271e")),
        licence="MIT",
        note="A challenge set: its authors mean it for evaluation.",
        citation="Patel et al., Are NLP Models really able to Solve Simple Math Word Problems?, NAACL 2021",
    ),
    # Each fold's training and development files are one partition of the same problems, so fold 0 alone holds the whole
    # corpus; the other four folds would only repeat it. The same is true of ASDiv-A below.
    PublishedCorpus(
        name="mawps-folds",
        title="MAWPS, the version of 1,921 problems used with SVAMP",
        language="en",
        files=_files(
            _SVAMP,
            ("data/cv_mawps/fold0/train.csv", "f88c68144215255297e0b545008f183e1996635e"),
            ("data/cv_mawps/fold0/dev.csv", "f97935058545bfd92c0e7c94758263df4eddaaa9"),
        ),
        licence="MIT (SVAMP)",
        note="The whole corpus as fold 0 of its five folds, train and dev together.",
        citation=_MAWPS_PAPER,
    ),
    PublishedCorpus(
        name="asdiv-a",
        title="ASDiv-A, the arithmetic subset of ASDiv used with SVAMP",
        language="en",
        files=_files(
            _SVAMP,
            ("data/cv_asdiv-a/fold0/train.csv", "7b2b544751fc75b50669b2f87c4aef6ee1ebb605"),
            ("data/cv_asdiv-a/fold0/dev.csv", "ec69fe12fe638462fe8d88de6b503273641ca89d"),
        ),
        licence="CC BY-NC 4.0 (ASDiv, whose problems these are)",
        note="No commercial use. The whole subset as fold 0 of its five folds, train and dev together.",
        citation=_ASDIV_PAPER,
    ),
    PublishedCorpus(
        name="asdiv",
        title="ASDiv, the whole corpus",
        language="en",
        files=_files(_ASDIV, ("dataset/ASDiv.xml", "092be2256db15f64a11b2d95d958027c8e7fa432")),
        licence="CC BY-NC 4.0",
        note="No commercial use. Numbers in its texts may be words.",
        citation=_ASDIV_PAPER,
    ),
    PublishedCorpus(
        name="ape210k",
        title="Ape210K, 210,488 problems",
        language="zh",
        files=_files(
            _APE210K,
            ("data/train.ape.json", "6713c82ee3b593c92ce9f8420e38911253fdc3ea"),
            ("data/valid.ape.json", "98baa7ba095f0bd0de5c6aa884d2836a1de2ca3a"),
            ("data/test.ape.json", "43a02df470c702b41c1a98b86e78eb9c76258265"),
        ),
        licence="none stated for the data",
        note="The largest of these corpora.",
        citation="Zhao et al., Ape210K: A Large-Scale and Template-Rich Dataset of Math Word Problems, arXiv 2020",
    ),
    PublishedCorpus(
        name="gsm8k",
        title="GSM8K, grade school math",
        language="en",
        files=_files(
            _GSM8K,
            ("grade_school_math/data/train.jsonl", "7d97154b91aef28d01c3301741c81ce90039a4b1"),
            ("grade_school_math/data/test.jsonl", "e4c2ff4942b9a78bd74f04141224c11e28d12dc9"),
        ),
        licence="MIT",
        note="Its solutions are calculator steps, composed into one expression where they chain.",
        citation="Cobbe et al., Training Verifiers to Solve Math Word Problems, arXiv 2021",
    ),
)

PUBLISHED_CORPORA = MappingProxyType({corpus.name: corpus for corpus in _CORPORA})

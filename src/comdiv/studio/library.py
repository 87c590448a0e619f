"""The problems that the pages show, in memory: found by id, by words and by their properties.

Scanning 23,000 short texts takes a few milliseconds: an index on disk would only be one more thing to keep up to date.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from comdiv.corpora import DEMO_CORPORA, Corpus, read_corpus
from comdiv.corpora.read import locate
from comdiv.dataset import FACTS, read_facts
from comdiv.errors import ComdivError
from comdiv.expression import operator_count, parse, template
from comdiv.files import inside, path_part
from comdiv.problem import Problem
from comdiv.review import REVIEW

WHOLE = "all"  # the only part of a file that is not split
SOURCE = "source"  # problems of other corpora that are named as parents
PAGE_SIZE = 50
SORTS = ("file", "operators", "length", "score")
_SCORES = ("score", "confidence", "log_probability", "similarity")

ReadPart = Callable[[str | Path], Corpus]


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """A problem in the library, with the properties that filters use."""

    number: int
    part: str
    problem: Problem
    template: str
    operators: int | None
    made_by: str
    round: int | None
    composition: str
    score: float | None
    haystack: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Query:
    """What the Explore page asks for: words that must all occur, and filters; an empty filter matches everything."""

    words: str = ""
    part: str = ""
    template: str = ""
    operators: str = ""
    made_by: str = ""
    round: str = ""
    composition: str = ""
    score_from: str = ""
    score_to: str = ""
    sort: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "Query":
        """The query of an address; unknown parameters are ignored."""
        return cls(**{entry.name: parameters.get(entry.name, "").strip()[:500] for entry in fields(cls)})

    def parameters(self) -> dict[str, str]:
        """The address parameters of this query."""
        return {entry.name: value for entry in fields(self) if (value := getattr(self, entry.name))}


class Library:
    """All entries of a dataset folder or a file, in file order."""

    def __init__(
        self, name: str, parts: Mapping[str, Sequence[Problem]], facts: Mapping[str, Any], review: Path
    ) -> None:
        self.name = name
        self.folder = review.parent if facts else None  # only if the dataset records how it was made
        self.facts = facts
        self.review = review
        numbered = ((part, problem) for part, problems in parts.items() for problem in problems)
        self.entries = [_entry(number, part, problem) for number, (part, problem) in enumerate(numbered)]
        self.sizes = {part: len(problems) for part, problems in parts.items()}
        self._by_id: dict[str, list[LibraryEntry]] = {}
        self._children: dict[str, list[LibraryEntry]] = {}
        for entry in self.entries:
            self._by_id.setdefault(entry.problem.id, []).append(entry)
            for parent in dict.fromkeys(entry.problem.provenance.parents):
                self._children.setdefault(parent, []).append(entry)
        self.search = lru_cache(maxsize=128)(self._search)
        self.queue = lru_cache(maxsize=32)(self._queue)

    @classmethod
    def read(
        cls, source: str | Path, sources: Iterable[str | Path] = (), read_part: ReadPart = read_corpus
    ) -> "Library":
        """Read a dataset folder, a file in any format, or a named corpus; `sources` are the corpora of parents."""
        path, parts = Path(source), dict[str, Sequence[Problem]]()
        is_demo = str(source) in DEMO_CORPORA  # a name takes precedence over a folder, as everywhere
        name, files = (str(source), []) if is_demo else locate(source)
        is_folder = path.is_dir() and not is_demo
        if is_folder:
            parts = {file.stem: read_part(file).problems for file in files}
        else:
            parts[WHOLE] = read_part(source).problems
        if not any(parts.values()):
            raise ComdivError(f"{source} contains no problems")
        for extra in sources:
            parts[SOURCE] = (*parts.get(SOURCE, ()), *read_part(extra).problems)
        facts = read_facts(path) if is_folder and (path / FACTS).is_file() else {}
        if is_folder:
            review = inside(path, path / REVIEW)
        else:  # for a corpus known by name, in the current folder: the data folder may be shared
            review = path.with_name(f"{path_part(name, 'the corpus')}.{REVIEW}")
        return cls(name, parts, facts, review)

    @property
    def is_split(self) -> bool:
        """Whether there are a training and a test side to compare."""
        return "test" in self.sizes and bool({"train", "validation"} & self.sizes.keys())

    def find(self, name: str, part: str = "") -> LibraryEntry | None:
        """The problem with an id; if there are several, the one in the part, or the first."""
        namesakes = self._by_id.get(name, [])
        return next((entry for entry in namesakes if entry.part == part), namesakes[0] if namesakes else None)

    def children(self, name: str) -> list[LibraryEntry]:
        """The problems made from this one."""
        return self._children.get(name, [])

    def neighbours(self, entry: LibraryEntry) -> tuple[LibraryEntry | None, LibraryEntry | None]:
        """The previous and the next entry, in file order."""
        before = self.entries[entry.number - 1] if entry.number else None
        return before, self.entries[entry.number + 1] if entry.number + 1 < len(self.entries) else None

    @cached_property
    def products(self) -> list[LibraryEntry]:
        """Problems made by a rule or an operation, which are to be proofread and judged."""
        return [entry for entry in self.entries if entry.problem.provenance.is_product and entry.part != SOURCE]

    @cached_property
    def seeds(self) -> list[LibraryEntry]:
        """The seeds of the synthesis: `--only accepted` needs decisions on them, too."""
        names = {entry.problem.provenance.details.get("seed") for entry in self.products}
        return [entry for entry in self.entries if entry.problem.id in names and entry.part != SOURCE]

    def _queue(self, only_products: bool, part: str) -> tuple[LibraryEntry, ...]:
        """What can be proofread or judged: products or everything, of one part or of all, in file order."""
        chosen = self.products if only_products else self.entries
        return tuple(entry for entry in chosen if entry.part != SOURCE and (not part or entry.part == part))

    @cached_property
    def facets(self) -> dict[str, list[tuple[str, int]]]:
        """For each filter, its values with their counts; a filter without a choice is left out."""
        counted: dict[str, Counter[str]] = {}
        for name in ("part", "operators", "made_by", "round", "composition"):
            values = (getattr(entry, name) for entry in self.entries)
            counted[name] = Counter(str(value) for value in values if value not in (None, ""))
        ordered = {name: sorted(counts.items(), key=_facet_order) for name, counts in counted.items()}
        ordered["part"] = list(self.sizes.items())
        templates = Counter(entry.template for entry in self.entries if entry.template)
        ordered["template"] = templates.most_common(200)
        kept = {name: values for name, values in ordered.items() if len(values) > 1 or name == "template"}
        if any(entry.score is not None for entry in self.entries):
            kept["score"] = []
        return kept

    def _search(self, query: Query) -> tuple[LibraryEntry, ...]:
        """The entries that match a query, in its order."""
        matches = self.entries[:]
        for check in _checks(query):
            matches = [entry for entry in matches if check(entry)]
        for word in query.words.casefold().split():
            matches = [entry for entry in matches if word in entry.haystack]
        if query.sort == "operators":
            matches.sort(key=lambda entry: -(entry.operators or 0))
        elif query.sort == "length":
            matches.sort(key=lambda entry: -len(entry.problem.text))
        elif query.sort == "score":
            matches.sort(key=lambda entry: -(entry.score if entry.score is not None else float("-inf")))
        elif query.sort not in ("", "file"):
            raise ComdivError(f"unknown order '{query.sort}'; known: {', '.join(SORTS)}")
        return tuple(matches)


def _entry(number: int, part: str, problem: Problem) -> LibraryEntry:
    provenance = problem.provenance
    origins = [f"rule {provenance.rule}" if provenance.rule else "", _operation(provenance.operation)]
    return LibraryEntry(
        number=number,
        part=part,
        problem=problem,
        template="" if problem.expression is None else template(problem.expression),
        operators=None if problem.expression is None else operator_count(problem.expression),
        made_by=", ".join(word for word in origins if word),
        round=provenance.round,
        composition=problem.composition,
        score=_score(problem),
        haystack=f"{problem.text}\n{problem.id}".casefold(),
    )


def _operation(name: str) -> str:
    return f"operation {name}" if name.isdigit() else name


def _score(problem: Problem) -> float | None:
    """The first score in the problem's record or in its provenance."""
    for record in (problem.extra, problem.provenance.details):
        for key in _SCORES:
            value = record.get(key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
    return None


def _facet_order(item: tuple[str, int]) -> tuple[float, str]:
    """Sort numbers by value, also within names: rule 2 comes before rule 10."""
    digits = "".join(character for character in item[0] if character.isdigit())
    return float(digits) if digits else float("-inf"), item[0]


def _checks(query: Query) -> list[Callable[[LibraryEntry], bool]]:
    """The conditions that an entry must meet."""
    checks: list[Callable[[LibraryEntry], bool]] = []
    for name in ("part", "made_by", "composition"):
        if wanted := getattr(query, name):
            checks.append(lambda entry, name=name, wanted=wanted: getattr(entry, name) == wanted)  # type: ignore[misc]
    for name in ("operators", "round"):
        if getattr(query, name):
            number = _number(getattr(query, name), name)
            checks.append(lambda entry, name=name, number=number: getattr(entry, name) == number)  # type: ignore[misc]
    if query.template:
        checks.append(_template_check(query.template))
    if query.score_from or query.score_to:
        low = _number(query.score_from, "the lowest score") if query.score_from else float("-inf")
        high = _number(query.score_to, "the highest score") if query.score_to else float("inf")
        checks.append(lambda entry: entry.score is not None and low <= entry.score <= high)
    return checks


def _template_check(wanted: str) -> Callable[[LibraryEntry], bool]:
    """Whether an entry has the template in any spelling: n2*n1 and n1 * n2 are the same."""
    plain = "".join(wanted.lower().split()).replace("×", "*").replace("÷", "/").replace("−", "-")
    try:
        spelled = {plain, template(parse(plain.replace("n", "N")))}
    except ComdivError:
        spelled = {plain}
    return lambda entry: entry.template in spelled


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ComdivError(f"{what}: '{text[:40]}' is not a number") from None

"""The index of environments against a plain dictionary of them, and one round on growing corpora.

    COMDIV_DATA=… python benchmarks/augmentation.py

Both indexes see the same clauses and must find the same pairs of alternative fragments. One round (without ranking) is
measured on 1, 10 and 50 times a demo corpus, and on MAWPS and Math23K where they are at hand, with all processors:
seconds on the clock and of the processors, and at most so much memory (a process of its own for each corpus; what it
shares with its children is counted for each of them). In a small corpus fewer problems find partners: what grows with
the size is best seen in the time for each new problem.
"""

import json
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from comdiv.augmentation.augmentation_options import AugmentationOptions
from comdiv.augmentation.environments import ClauseTable, EnvironmentIndex, Integers, find_occurrences, group
from comdiv.augmentation.operations.lexical import Alternatives
from comdiv.augmentation.proposals import Proposer, index_round, read_lines, usable_readings
from comdiv.augmentation.rounds import SHARD
from comdiv.corpora import read_corpus
from comdiv.corpora.demo import generate
from comdiv.engine import LocalEngine, usable_processors
from comdiv.language import get_language
from comdiv.language.base import NUMBER_MASK
from comdiv.problem import Problem
from comdiv.reading import read

BASE = 200  # problems of the demo corpus
Clause = tuple[str, ...]
Pairs = dict[frozenset[Clause], int]


def dictionary_pairs(clauses: Sequence[Clause]) -> Pairs:
    """GECA's way: every environment is a key, its fragments are the value."""
    fragments: dict[tuple[Clause, Clause], set[Clause]] = defaultdict(set)
    for clause in clauses:
        for start in range(len(clause)):
            for end in range(start + 1, min(start + 4, len(clause)) + 1):
                if end - start < len(clause) and NUMBER_MASK not in clause[start:end]:
                    fragments[clause[:start], clause[end:]].add(clause[start:end])
    pairs: Counter[frozenset[Clause]] = Counter()
    for found in fragments.values():
        pairs.update(frozenset(pair) for pair in combinations(found, 2))
    return pairs


def indexed(clauses: Sequence[Clause]) -> tuple[Alternatives, list[str]]:
    """The alternative fragments of clauses, and the words of their tokens."""
    index = EnvironmentIndex(1, without=NUMBER_MASK)
    for clause in clauses:
        index.add(clause)
    return Alternatives.of(index, LocalEngine()), index.table.words()


def pairs_of(alternatives: Alternatives) -> tuple[Integers, Integers, Integers]:
    """All alternative fragments (the smaller number first), and in how many environments they meet: three columns.

    Their number can grow with the square of the corpus; operations draw instead.
    """
    groups, starts = alternatives.environments_of
    fragments = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((fragments, groups))
    fragments, sizes = fragments[order], np.bincount(groups, minlength=len(alternatives.groups))
    ends = np.cumsum(sizes)
    parts = [np.zeros((0, 2), dtype=np.int64)]
    for size in np.unique(sizes[sizes > 1]).tolist():  # all environments of one size at once
        inside = fragments[(ends[sizes == size] - size)[:, None] + np.arange(size)]  # (environments, size)
        first, second = np.triu_indices(size, 1)
        parts.append(np.stack([inside[:, first].ravel(), inside[:, second].ravel()], axis=1))
    pairs = np.concatenate(parts)
    keys, counts = np.unique((pairs[:, 0] << 32) | pairs[:, 1], return_counts=True)
    return keys >> 32, keys & 0xFFFFFFFF, counts


def index_pairs(clauses: Sequence[Clause]) -> Pairs:
    """The same by hashes and a sort-join."""
    alternatives, words = indexed(clauses)
    columns = (column.tolist() for column in pairs_of(alternatives))
    return {
        frozenset([alternatives.words(a, words), alternatives.words(b, words)]): count
        for a, b, count in zip(*columns, strict=True)
    }


def dictionary_environments(clauses: Sequence[Clause]) -> set[frozenset[tuple[int, ...]]]:
    """Environments with two holes that occur more than once, as sets of (clause, holes), by a dictionary."""
    members: dict[Clause, list[tuple[int, ...]]] = defaultdict(list)
    for number, clause in enumerate(clauses):
        spans = [(a, b) for a in range(len(clause)) for b in range(a + 1, min(a + 4, len(clause)) + 1)]
        for a, b in spans:
            for c, d in spans:
                if c > b:
                    environment = (*clause[:a], "<hole>", *clause[b:c], "<hole>", *clause[d:])
                    members[environment].append((number, a, b, c, d))
    return {frozenset(found) for found in members.values() if len(found) > 1}


def index_environments(clauses: Sequence[Clause]) -> tuple[set[frozenset[tuple[int, ...]]], float]:
    """The same by hashes, and the seconds it took."""
    started = time.process_time()
    table = ClauseTable()
    rows = [table.add(clause) for clause in clauses]
    groups = group(find_occurrences(table, rows, 2), table)
    seconds = time.process_time() - started
    members = [
        (row, *holes) for row, holes in zip(groups.members.clauses.tolist(), groups.members.holes.tolist(), strict=True)
    ]
    return {frozenset(members[a:b]) for a, b in zip(groups.starts[:-1], groups.starts[1:], strict=True)}, seconds


def timed_index(clauses: Sequence[Clause]) -> float:
    """Seconds to index, join and count the pairs."""
    started = time.process_time()
    pairs_of(indexed(clauses)[0])
    return time.process_time() - started


def ten_million_additions() -> float:
    """What a processor second is worth here and now: on a busy machine caches and clocks are shared, too."""
    started = time.process_time()
    total = 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - started


def corpus(name: str, size: int) -> Sequence[Problem]:
    return tuple(generate("en", size)) if name == "demo-en" else read_corpus(name).problems


def one_round(name: str, size: int, checks: str) -> dict[str, float]:
    """A round of the preset `comdiv` without ranking: all but reading the corpus and loading the tagger.

    The tagger's library brings in whatever of SciPy and scikit-learn is installed, which takes longer than the round.
    """
    problems = corpus(name, size)
    get_language(problems[0].language).content_words(problems[0].text)
    additions = ten_million_additions()
    started, worked = time.perf_counter(), processor_seconds()
    readings = usable_readings(problems)
    known = frozenset(read(problem).mask_hash for problem in problems)
    options = AugmentationOptions.preset("comdiv", per_problem=(5, 5), checks=checks)
    proposer = index_round(readings, known, options, 1)
    shards = [range(first, min(first + SHARD, len(readings))) for first in range(0, len(readings), SHARD)]
    results = LocalEngine(0).map_texts(Proposer.propose_lines, proposer, shards)
    new = sum(len(read_lines(text)[0]) for text in results)
    seconds, worked = time.perf_counter() - started, processor_seconds() - worked
    additions = (additions + ten_million_additions()) / 2
    here, child = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "problems": len(problems), "new": new, "seconds": round(seconds, 2), "worked": round(worked, 2),
        "megabytes": round(here + child * usable_processors()), "additions": round(additions, 2),
    }  # fmt: skip


def processor_seconds() -> float:
    """Of this process and those it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def in_a_process_of_its_own(name: str, size: int, checks: str) -> dict[str, float] | None:
    """None where the corpus is not at hand; it is not read here, which would count as the process's memory."""
    done = subprocess.run(
        [sys.executable, __file__, name, str(size), checks], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"one round, {name:8} {done.stderr.strip().splitlines()[-1]}")
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(one_round(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
        return
    compare_rounds()  # first: a process of its own begins with its parent's peak of memory
    compare_indexes()


def compare_rounds() -> None:
    runs = [("demo-en", factor * BASE, "paper") for factor in (1, 10, 50)]
    runs += [(name, 0, checks) for name in ("mawps", "math23k") for checks in ("full", "paper")]
    for name, size, checks in runs:
        found = in_a_process_of_its_own(name, size, checks)
        if found is None:
            continue
        print(
            f"one round, {name:8} --checks {checks:5} {found['problems']:>7,} problems: {found['seconds']:7.2f} s "
            f"({found['worked']:.2f} processor seconds), under {found['megabytes']:,} MB, {found['new']:,} new, "
            f"{1000 * found['seconds'] / found['new']:.2f} ms each "
            f"(ten million additions: {found['additions']:.2f} s)"
        )


def compare_indexes() -> None:
    readings = usable_readings(corpus("demo-en", 25 * BASE))
    clauses = [clause.masked for reading in readings for clause in reading.narrative]
    started = time.process_time()
    wanted = dictionary_pairs(clauses)
    plain = time.process_time() - started
    ours = min(timed_index(clauses) for _ in range(3))
    same = index_pairs(clauses) == wanted
    print(f"pairs of fragments     {len(wanted):,} in {len(clauses):,} clauses, identical: {same}")
    print(f"dictionary             {plain:.2f} s")
    print(f"rolling hashes         {ours:.2f} s, {plain / ours:.1f} times faster")
    distinct = list(dict.fromkeys(clauses))[:1500]
    started = time.process_time()
    wanted_groups = dictionary_environments(distinct)
    plain = time.process_time() - started
    found_groups, ours = index_environments(distinct)
    same = found_groups == wanted_groups
    print(f"two-hole environments  {len(wanted_groups):,} in {len(distinct):,} clauses, identical: {same}")
    print(f"dictionary             {plain:.2f} s")
    print(f"rolling hashes         {ours:.2f} s, {plain / ours:.1f} times faster")


if __name__ == "__main__":
    main()

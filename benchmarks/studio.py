"""How long the studio's pages take on 23,000 problems, against the smallest answer that the same server gives.

    COMDIV_DATA=… python benchmarks/studio.py
    python benchmarks/studio.py --judges 200 --seconds 60     how the judging pages bear many judges (judging.py)

Math23K where it is at hand, else a Chinese demo corpus of the same size. A real server in this process, one request
after the other over one connection, every page with other words, filters and problems each time, all in one run. The
median of every kind of page is to stay under 100 ms; on a machine that is busy otherwise, look at the processor's time
a page (server and client together) and at the ratio.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

from comdiv.review import ReviewLog
from comdiv.studio.app import Studio, studio_app
from comdiv.studio.clusters import map_clusters
from comdiv.studio.library import Library
from comdiv.studio.security import Guard
from comdiv.studio.server import in_background
from corpora import corpus_file
from judging import measure

LIMIT = 0.100  # seconds
REQUESTS = 60  # of each kind
WORDS = ("米", "小明", "多少", "千克", "苹果", "一共", "平均", "汽车", "小时", "元")


def addresses(library: Library, generator: random.Random) -> dict[str, list[str]]:
    """Requests of each kind, none of them twice: what is remembered from the last one must not help."""
    templates = [value for value, _ in library.facets["template"]]
    problems = [entry.problem.id for entry in generator.sample(library.entries, 3 * REQUESTS)]
    pages = len(library.entries) // 50
    return {
        "list": [f"/?page={generator.randint(1, pages)}" for _ in range(REQUESTS)],
        "search": [f"/?words={generator.choice(WORDS)}+{generator.randint(1, 999)}" for _ in range(REQUESTS)],
        "filter": [
            f"/?template={templates[n % len(templates)]}&words={n}".replace("+", "%2B") for n in range(REQUESTS)
        ],
        "sort": [f"/?sort=length&words={n}" for n in range(REQUESTS)],
        "problem": [f"/problem?id={name}" for name in problems[:REQUESTS]],
        "proofread": [f"/proofread?which=all&id={name}" for name in problems[REQUESTS : 2 * REQUESTS]],
        "edit": [f"/proofread?which=all&edit=1&id={name}" for name in problems[2 * REQUESTS :]],
    }


def seconds_of(client: httpx.Client, paths: list[str]) -> list[float]:
    taken = []
    for path in paths:
        start = time.perf_counter()
        client.get(path).raise_for_status()
        taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judges", type=int, default=0, choices=range(2, 1001), metavar="2…1000")
    parser.add_argument("--seconds", type=float, default=60.0)
    said = parser.parse_args()
    if said.judges:
        sys.exit(not measure(said.judges, min(said.seconds, 600.0)))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        library = Library.read(corpus_file(Path(folder)))
        read = time.perf_counter() - start
        cluster_map = map_clusters(library)
        clustered = time.perf_counter() - start - read
        print(f"corpus     {library.name}, {len(library.entries):,} problems")
        print(f"start      {read:.1f} s reading, {clustered:.1f} s clustering quantities")
        app = Guard(studio_app(Studio(library, cluster_map, ReviewLog(Path(folder) / "review.jsonl"))))
        with in_background(app) as address, httpx.Client(base_url=address, timeout=60) as client:
            least = statistics.median(seconds_of(client, ["/static/icon.svg"] * REQUESTS))
            smallest = f"against the smallest answer ({1000 * least:.1f} ms)"
            print(f"{'page':10} {'median':>9} {'95 %':>9} {'CPU':>9}   {smallest}")
            medians = {}
            for kind, paths in addresses(library, random.Random(0)).items():
                busy = time.process_time()
                taken = seconds_of(client, paths)
                busy = (time.process_time() - busy) / len(paths)
                medians[kind] = statistics.median(taken)
                tail = statistics.quantiles(taken, n=20)[-1]
                shown = " ".join(f"{1000 * seconds:6.1f} ms" for seconds in (medians[kind], tail, busy))
                print(f"{kind:10} {shown}   {medians[kind] / least:.1f}")
    slow = [kind for kind, median in medians.items() if median > LIMIT]
    print(f"over {1000 * LIMIT:.0f} ms: {', '.join(slow)}" if slow else f"all medians under {1000 * LIMIT:.0f} ms")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()

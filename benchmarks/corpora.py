"""How fast a corpus is read and aligned, against `json.loads` of the same lines.

    COMDIV_DATA=… python benchmarks/corpora.py

Math23K where it is at hand, else a Chinese demo corpus of the same size. One core, best of three, all in one run.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from comdiv.corpora import read_corpus
from comdiv.corpora.demo import generate
from comdiv.corpora.published import find_corpus_files
from comdiv.errors import ComdivError
from comdiv.problem import write_problems

SIZE = 23_162


def corpus_file(folder: Path) -> Path:
    """Math23K as one file of JSON lines, or a demo corpus in its place."""
    try:
        files = find_corpus_files("math23k")
        if len(files) == 1 and files[0].suffix == ".jsonl":
            return files[0]
    except ComdivError:
        pass
    path = folder / "demo-zh.jsonl"
    write_problems(path, generate("zh", SIZE))
    return path


def best_of_three(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = corpus_file(Path(folder))
        lines = path.read_text(encoding="utf-8").splitlines()
        parsing = best_of_three(lambda: [json.loads(line) for line in lines])
        reading = best_of_three(lambda: read_corpus(path))
        print(f"corpus                {path.name}, {len(lines):,} problems")
        print(f"json.loads            {len(lines) / parsing:,.0f} problems a second")
        print(f"read and align        {len(lines) / reading:,.0f} problems a second")
        print(f"ratio to json.loads   {reading / parsing:.1f}")


if __name__ == "__main__":
    main()

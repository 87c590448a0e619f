"""What the net holds: named sequences of lines, made through the command line, whose hashes must not change."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from shutil import copy

from command_line import run
from experiments.synthetic import write_synthetic_results
from net.adapters import (
    PARTS,
    accuracies,
    candidate_files,
    divergences,
    exported_lines,
    ids,
    problem_lines,
    problems_of,
    result_lines,
    with_number_words,
)
from net.views import VIEWS

Catch = dict[
    str, Iterable[str] | str
]  # what is compared, by name: lines, of which a hash is kept, or one text as it is
ROOT = Path(__file__).parents[2]
SEEDS = 5
KEEP = ("--contradictions", "keep")  # the published splits have every problem of their corpus
AS_IN_THE_PAPER = ("--preset", "paper")  # one clustering: the splits that were recorded first


@dataclass(frozen=True)
class Recording:
    """A test of the net: what makes its lines in a folder, and whether that needs real corpora or much time."""

    make: Callable[[Path], Catch]
    real: bool = False
    slow: bool = False


def hash_of(lines: Iterable[str]) -> str:
    """One hash for lines in their order, and their number, which tells at a glance what is missing."""
    digest = hashlib.sha256()
    count = 0
    for line in lines:
        digest.update(line.encode() + b"\n")
        count += 1
    return f"{count} {digest.hexdigest()}"


def hashes_of(recording: Recording, folder: Path) -> dict[str, str]:
    """The hashes of everything that a recording makes."""
    catch = recording.make(folder)
    return {name: lines if isinstance(lines, str) else hash_of(lines) for name, lines in catch.items()}


def views(corpus: str, every: int, folder: Path) -> Catch:
    """Every view of every text; of one in `every` also with numbers written as words."""
    problems = problems_of(corpus)
    kinds = {"": problems, ", number words count": with_number_words(problems[::every])}
    return {
        f"{name}{kind}": (json.dumps(value, ensure_ascii=False) for value in view(chosen))
        for kind, chosen in kinds.items()
        for name, view in VIEWS.items()
    }


def splits(corpus: str, options: tuple[str, ...], seeds: int, folder: Path) -> Catch:
    """The ids of the parts of one split per seed, and the divergences between them."""
    run("split", corpus, "--out", folder / "out", "--splits", str(seeds), *options)
    catch: Catch = {}
    for seed in range(seeds):
        part_folder = folder / "out" / f"split-{seed + 1}" if seeds > 1 else folder / "out"
        catch |= {f"seed {seed}, {part}": ids(part_folder / f"{part}.jsonl") for part in PARTS}
        catch[f"seed {seed}, divergences"] = divergences(part_folder)
    return catch


def synthetic(corpus: str, options: tuple[str, ...], folder: Path) -> Catch:
    """The three parts of SD."""
    run("synthesize", corpus, "--out", folder / "sd", *options)
    return {part: problem_lines(folder / "sd" / f"{part}.jsonl") for part in PARTS}


def candidates(corpus: str, options: tuple[str, ...], folder: Path) -> Catch:
    """The candidates of every round, and the training set that comes of them; never ranked."""
    preset = () if "--preset" in options else ("--preset", "structure")  # what was recorded first
    run("augment", corpus, "--out", folder / "augmented", "--jobs", "1", "--solver", "none", *preset, *options)
    rounds = enumerate(candidate_files(folder / "augmented"), start=1)
    catch: Catch = {f"round {number}": problem_lines(path) for number, path in rounds}
    return {**catch, "train": problem_lines(folder / "augmented" / "train.jsonl")}


def first_candidates(corpus: str, size: int, options: tuple[str, ...], folder: Path) -> Catch:
    """The same from the first problems of a corpus."""
    lines = islice(problem_lines_of(corpus), size)
    path = folder / f"{corpus}-{size}.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return candidates(str(path), options, folder)


def problem_lines_of(corpus: str) -> Iterator[str]:
    """The problems of a corpus as our files have them."""
    return (json.dumps(problem.to_json(), ensure_ascii=False) for problem in problems_of(corpus))


def split_candidates(corpus: str, folder: Path) -> Catch:
    """From a split: its validation problems are composed as well, its test texts are kept out by their hashes."""
    run("split", corpus, "--out", folder / "split", *AS_IN_THE_PAPER, "--steps-per-item", "20")
    run("data", "hashes", folder / "split" / "test.jsonl", "--out", folder / "test.txt")
    options = ("--compositional-validation", "50", "--ban", str(folder / "test.txt"), "--rounds", "2", "--growth", "1")
    catch = candidates(str(folder / "split"), options, folder)
    catch["validation"] = problem_lines(folder / "augmented" / "validation.jsonl")
    return {**catch, "banned": (folder / "test.txt").read_text(encoding="utf-8").splitlines()}


def exports(name: str, make: tuple[str, ...], folder: Path, *, problems: int = 400) -> Catch:
    """Every file of every export of a dataset that is made of the first demo problems."""
    corpus, dataset, out = folder / "demo.jsonl", folder / "dataset", folder / "exports"
    lines = islice(problem_lines_of(name), problems)
    corpus.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    run(*make, corpus, "--out", dataset)
    run("export", "hub", dataset, "--out", out / "hub")
    run("export", "lm-eval", dataset, "--out", out / "lm-eval", "--renumber", "--name", "net")
    run("export", "compositional-pairs", corpus, "--out", out / "compositional-pairs", "--name", "net")
    run("export", "label-studio", dataset, "--out", out / "label-studio", "--sample", "50", "--seed", "1")
    run("export", "csv", dataset, "--out", out / "judge.csv", "--sample", "50", "--judge", "ann")
    return files_in(out)


def files_in(folder: Path) -> Catch:
    """The files below a folder, by their paths in it."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): exported_lines(path) for path in paths}


def exported_results(folder: Path) -> Catch:
    """The numbers of runs, before they are published and after."""
    runs = write_synthetic_results(folder / "runs")
    run("export", "results", runs, "--out", folder / "published")
    return {**result_lines(runs), **{f"{name}, published": c for name, c in result_lines(folder / "published").items()}}


def published_results(folder: Path) -> Catch:
    """Every number that the project has published."""
    return {**result_lines(ROOT / "experiments" / "results")}


def demo(folder: Path) -> Catch:
    """The accuracies of `make demo`."""
    plan = folder / "experiments" / "demo.yaml"
    plan.parent.mkdir()
    copy(ROOT / "experiments" / "demo.yaml", plan)
    run("data", "demo", "zh", "--size", "8000", "--out", folder / "demo-output" / "demo-zh-8000.jsonl")
    run("run", plan, "--out", folder / "runs", "--jobs", "2")
    return {**accuracies(folder / "runs")}


FULL = ("--checks", "full")
PAPER_CHECKS = ("--checks", "paper")
PAPER = ("--preset", "paper", "--rounds", "2")
PAPER_ONCE = ("--preset", "paper", "--rounds", "1")

RECORDINGS: dict[str, Recording] = {
    **{f"views of {corpus}": Recording(partial(views, corpus, 4)) for corpus in ("demo-en", "demo-zh")},
    **{f"views of {corpus}": Recording(partial(views, corpus, 1), real=True) for corpus in ("mawps", "svamp")},
    "views of math23k": Recording(partial(views, "math23k", 1), real=True, slow=True),
    "split of demo-en": Recording(partial(splits, "demo-en", AS_IN_THE_PAPER, 1)),
    "splits of demo-zh": Recording(
        partial(splits, "demo-zh", (*AS_IN_THE_PAPER, "--k", "5", "--steps-per-item", "20"), 2)
    ),
    "robust split of demo-en": Recording(partial(splits, "demo-en", (), 1)),
    "robust splits of mawps": Recording(
        partial(splits, "mawps", ("--test-size", "474", *KEEP), 3), real=True, slow=True
    ),
    "robust splits of math23k": Recording(
        partial(splits, "math23k", ("--test-size", "4619", *KEEP), 3), real=True, slow=True
    ),
    "i.i.d. split of demo-zh": Recording(
        partial(splits, "demo-zh", (*AS_IN_THE_PAPER, "--method", "iid", "--no-twins"), 1)
    ),
    "length split of demo-en": Recording(partial(splits, "demo-en", (*AS_IN_THE_PAPER, "--method", "length"), 1)),
    "template split of demo-zh": Recording(partial(splits, "demo-zh", (*AS_IN_THE_PAPER, "--method", "template"), 1)),
    "greedy split of demo-en": Recording(partial(splits, "demo-en", (*AS_IN_THE_PAPER, "--search", "greedy"), 1)),
    "splits of mawps": Recording(
        partial(splits, "mawps", (*AS_IN_THE_PAPER, "--test-size", "474", *KEEP), SEEDS), real=True, slow=True
    ),
    "splits of math23k": Recording(
        partial(splits, "math23k", (*AS_IN_THE_PAPER, "--test-size", "4619", *KEEP), SEEDS), real=True, slow=True
    ),
    "SD of demo-zh": Recording(partial(synthetic, "demo-zh", ())),
    "SD of demo-en": Recording(partial(synthetic, "demo-en", ())),
    "disjoint SD of demo-zh": Recording(partial(synthetic, "demo-zh", ("--disjoint", "--seed", "1"))),
    "SD of math23k": Recording(partial(synthetic, "math23k", ("--size", "1078/745")), real=True, slow=True),
    "candidates of demo-en, full checks": Recording(partial(candidates, "demo-en", FULL)),
    "candidates of demo-zh, full checks": Recording(partial(candidates, "demo-zh", FULL)),
    **{
        f"candidates of mawps, {name}": Recording(
            partial(candidates, "mawps", options), real=True, slow=options != FULL
        )
        for name, options in (("full checks", FULL), ("paper checks", PAPER_CHECKS), ("paper preset", PAPER))
    },
    **{
        f"candidates of 500 of {corpus}, {name}": Recording(partial(first_candidates, corpus, 500, options))
        for corpus in ("demo-en", "demo-zh")
        for name, options in (("paper checks", PAPER_CHECKS), ("paper preset", PAPER_ONCE))
    },
    "candidates of a split of demo-en": Recording(partial(split_candidates, "demo-en")),
    "candidates of a split of demo-zh": Recording(partial(split_candidates, "demo-zh")),
    **{
        f"candidates of 4,000 of math23k, {name}": Recording(
            partial(first_candidates, "math23k", 4000, options), real=True, slow=True
        )
        for name, options in (("full checks", FULL), ("paper checks", PAPER_CHECKS), ("paper preset", PAPER_ONCE))
    },
    "exports of a split of demo-en": Recording(
        partial(exports, "demo-en", ("split", *AS_IN_THE_PAPER, "--steps-per-item", "20"))
    ),
    "exports of SD of demo-zh": Recording(partial(exports, "demo-zh", ("synthesize",), problems=1200)),
    "exported results": Recording(exported_results),
    "published results": Recording(published_results),
    "accuracies of the demo": Recording(demo, slow=True),
}

"""The verbs that run plans, report on them, and take results, problems and judgements along."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from comdiv.claims import owns
from comdiv.corpora.corpus_options import AS_IT_COMES, CorpusOptions, load_corpus, load_test
from comdiv.errors import ComdivError
from comdiv.observer import SILENT, Observer
from comdiv.registry import EXPORTS

if TYPE_CHECKING:
    from comdiv.exchange import Export, ExportSource
    from comdiv.experiments.cell import PlanResults
    from comdiv.experiments.runner import Watch
    from comdiv.settings import Settings


def run(
    plan: Path,
    out: Path = Path("runs"),
    *,
    preset: str | None = None,
    samples: int | None = None,
    jobs: int | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    datasets: Collection[str] = (),
    methods: Collection[str] = (),
    seeds: Collection[int] = (),
    programs: bool = False,
    watch: "Watch | None" = None,
    observer: Observer = SILENT,
) -> "PlanResults":
    """Run whatever of a plan is not done yet, and return the results; stopped work goes on when it is called again.

    With `datasets`, `methods` or `seeds`, only those, and what they need. A plan whose solvers or rankers are programs
    (`command:…`) needs `programs`.
    """
    from comdiv.engine import make_engine
    from comdiv.experiments.plan import read_plan
    from comdiv.experiments.runner import fitting_jobs, run_plan, selected
    from comdiv.solvers.runs import check_programs

    if address is not None and engine != "ray":  # before anything is read
        raise ComdivError("--address goes with --engine ray")
    planned = read_plan(plan, preset, samples)
    check_programs(planned.solvers(), programs, str(plan))
    fitting = fitting_jobs(jobs, planned.training.threads)
    if jobs is not None and fitting < jobs and engine == "local":
        observer.note(f"{jobs} jobs at a time are more than this machine has cores for: {fitting} instead")
    part: dict[str, Any] = {"datasets": datasets, "methods": methods, "seeds": seeds}
    started = make_engine(engine, fitting if engine == "local" else jobs, address, observer.note)
    results = run_plan(planned, out, started, base=plan.parent, preset=preset, watch=watch, **part)
    return replace(results, cells=selected(planned, results.cells, **part))


@owns("out")
def report(
    runs: Path,
    out: Path,
    *,
    judgements: Sequence[Path] = (),
    force: bool = False,
    observer: Observer = SILENT,
) -> dict[str, Any]:
    """Write the page, the tables and the figures on whatever has finished in `runs`; says what was written."""
    from comdiv.experiments.reporting.report import make_report
    from comdiv.figures import chinese_font

    with observer.progress("reading results") as progress:
        facts = make_report(runs, out, judgements=judgements, force=force, progress=progress)
    if chinese_font() is None:
        observer.note("no font with Chinese characters found: PNG figures show boxes for them (SVG and page do not)")
    return facts


@owns("out")
def export(
    kind: str,
    source: "str | Path | ExportSource",
    out: Path,
    settings: "Settings | None" = None,
    *,
    reading: CorpusOptions = AS_IT_COMES,
    force: bool = False,
    observer: Observer = SILENT,
) -> dict[str, Any]:
    """Take a dataset, problems or results elsewhere; `kind` is hub, lm-eval, csv… or that of an installed package.

    `settings` are of the class that the export names. Returns what was written and from what.
    """
    exporter = EXPORTS.get(kind)()
    what = export_source(exporter, source, reading, observer)
    return exporter.write(what, out, settings or type(exporter).settings(), force=force, observer=observer)


def export_source(
    exporter: "Export",
    source: "str | Path | ExportSource",
    reading: CorpusOptions = AS_IT_COMES,
    observer: Observer = SILENT,
) -> "ExportSource":
    """What an export reads: a folder as it is, or the problems of a corpus, with training problems to test ones."""
    from comdiv.exchange import ExportSource

    if isinstance(source, ExportSource):
        return source
    if exporter.reads == "folder":
        return ExportSource(Path(source))
    tests_only = exporter.reads == "test"
    corpus = (load_test if tests_only else load_corpus)(source, reading, observer)
    training = Path(source) / "train.jsonl"
    has_training = tests_only and training.is_file()
    train = load_corpus(training, reading, observer).problems if has_training else None
    return ExportSource(Path(source), corpus.name, corpus.problems, train)

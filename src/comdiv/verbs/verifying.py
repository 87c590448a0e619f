"""The verb `verify`: checks what results, runs and datasets say about themselves."""

import difflib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from pydantic import Field

import comdiv
from comdiv.dataset import FACTS
from comdiv.errors import ComdivError
from comdiv.experiments.archive import is_published
from comdiv.experiments.store import CELLS
from comdiv.observer import SILENT, Observer
from comdiv.settings import Settings
from comdiv.solver import Progress
from comdiv.solvers.runs import CONFIG
from comdiv.verification import ledger as kinds
from comdiv.verification.folders import RESULT, check_dataset, check_run, check_run_evaluation, check_runs
from comdiv.verification.ledger import Ledger, Verification
from comdiv.verification.plans import check_plan_runs, check_published
from comdiv.verification.rebuilding import check_rebuilt

RESULTS = Path("experiments") / "results"
PAGE, PAGE_TOOL = Path("docs") / "results.md", Path("docs") / "_tools" / "results_page.py"


class VerificationSettings(Settings):
    """How much is verified."""

    corpora: bool = Field(
        default=True, description="Also check datasets against the available corpora (demo, COMDIV_DATA)."
    )


def verify(
    path: Path | None = None, settings: VerificationSettings | None = None, *, observer: Observer = SILENT
) -> Verification:
    """Check hashes and compute numbers again: of published results, a folder of runs, a run, a dataset, an evaluation.

    Without a path, the results of a clone in the current folder are checked. Nothing is written, no program is run.
    """
    target = path or RESULTS
    if not target.is_dir():
        hint = "" if path else ": name what to verify, such as a folder of runs"
        raise ComdivError(f"there is no folder {target}{hint}")
    ledger, options = Ledger(target), settings or VerificationSettings()
    with observer.progress("verifying") as progress:
        _check(target, options.corpora, progress)(ledger)
    return ledger.result()


def _check(target: Path, corpora: bool, progress: Progress) -> Callable[[Ledger], object]:
    """Check a folder according to its kind."""
    if is_published(target):
        return lambda ledger: _check_results(ledger, target, corpora, progress)
    if (target / CELLS).is_dir():
        return lambda ledger: check_plan_runs(ledger, target, corpora=corpora, progress=progress)
    if (target / CONFIG).is_file():
        return lambda ledger: check_run(ledger, target)
    if (target / FACTS).is_file():
        return lambda ledger: check_dataset(ledger, target, corpora=corpora)
    if (target / RESULT).is_file():
        return lambda ledger: check_run_evaluation(ledger, target, None, None)
    if runs := sorted(path.parent for path in target.glob(f"*/{CONFIG}")):
        return lambda ledger: check_runs(ledger, runs)
    raise ComdivError(f"{target} is neither published results nor a folder of runs, a run, a dataset or an evaluation")


def _check_results(ledger: Ledger, target: Path, corpora: bool, progress: Progress) -> None:
    plans = check_published(ledger, target, progress)
    if corpora:
        check_rebuilt(ledger, plans, progress)
    else:
        ledger.skip(kinds.PARTS, "--no-corpora")
    check_page(ledger, target)


def check_page(ledger: Ledger, target: Path) -> None:
    """Compare `docs/results.md` with the page that the results give, in comdiv's own clone.

    The program that makes the page is run only from the running comdiv's own clone, never from a stranger's.
    """
    clone = Path(comdiv.__file__).resolve().parents[2]
    if target.resolve() != clone / RESULTS or not (clone / PAGE_TOOL).is_file():
        ledger.skip(kinds.PAGES, f"{PAGE} is checked only in comdiv's own clone")
        return
    spec = spec_from_file_location("results_page", clone / PAGE_TOOL)
    if spec is None or spec.loader is None:
        raise ComdivError(f"{clone / PAGE_TOOL} cannot be loaded")
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    expected = str(tool.results_page(target)[0]).splitlines()
    page_lines = (clone / PAGE).read_text(encoding="utf-8").splitlines() if (clone / PAGE).is_file() else []
    ledger.checked[kinds.PAGES] += len(expected)
    for kind, first, last, start, end in difflib.SequenceMatcher(
        a=expected, b=page_lines, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            wanted, there = (" ⏎ ".join(lines) for lines in (expected[first:last], page_lines[start:end]))
            ledger.differ(kinds.PAGES, str(PAGE), f"line {start + 1}", wanted or "nothing", there or "nothing")

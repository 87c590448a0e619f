"""What mkdocs runs while it builds the site.

The reference is made from the code, so that it is never out of date; pages are found, so that a new one needs no list.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from functions import functions_page
from mkdocs.structure.files import File, Files
from results_page import detail_pages
from settings_reference import plans_page, settings_page
from verb_reference import verbs_page

from comdiv.experiments.reporting.pictures import Picture
from comdiv.figures import write_figure

PAGES = {
    "reference/verbs.md": verbs_page,
    "reference/settings.md": settings_page,
    "reference/plans.md": plans_page,
    "reference/python.md": functions_page,
}
# What a newcomer reads first; whatever else is in the folder follows by name.
FIRST = {
    "how-to": ["use-your-own-problems", "make-a-compositional-split", "synthesize-a-benchmark", "train-solvers",
               "augment-a-training-set", "run-experiments", "read-the-report", "verify-results"],
    "explanation": ["dbca"],
    "reference": ["verbs", "settings", "plans", "python"],
}  # fmt: skip
TITLES = {"how-to": "How to", "explanation": "Explanation", "reference": "Reference"}


def on_config(config: Any) -> Any:
    """The navigation, from the pages that are there."""
    docs = Path(config["docs_dir"])
    pages, _ = detail_pages()
    results: list[Any] = ["results.md", "what-we-found.md", *(f"results/{name}.md" for name in pages)]
    nav: list[Any] = ["index.md", "tutorial.md", {"Results": results}]
    for folder, title in TITLES.items():
        there = {path.stem for path in (docs / folder).glob("*.md")}
        there |= {Path(name).stem for name in PAGES if name.startswith(f"{folder}/")}
        ordered = [name for name in FIRST[folder] if name in there]
        nav.append({title: [f"{folder}/{name}.md" for name in [*ordered, *sorted(there - set(ordered))]]})
    config["nav"] = nav
    return config


def _drawn(picture: Picture) -> bytes:
    """A figure of the results as SVG."""
    with TemporaryDirectory() as folder:
        return write_figure(Path(folder) / "figure", picture.draw)[0].read_bytes()


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to those that people wrote."""
    for name, page in PAGES.items():
        files.append(File.generated(config, name, content=page()))
    pages, pictures = detail_pages()
    for name, text in pages.items():
        files.append(File.generated(config, f"results/{name}.md", content=text))
    for name, picture in pictures.items():
        files.append(File.generated(config, f"results/pictures/{name}.svg", content=_drawn(picture)))
    return files

"""The page: one HTML file without a server, a network or anybody else's code; figures and tables lie beside it."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

FORMATS = (("csv", "CSV"), ("tex", "LaTeX"), ("md", "Markdown"))


def render_page(content: Mapping[str, Any]) -> str:
    """Fill the template; every text in it is escaped, only our own style, script and trees are taken as they are."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = Markup(page_file("style.css")), Markup(page_file("script.js"))
    return environment.get_template("report.html").render(**content, style=style, script=script, formats=FORMATS)


def page_file(name: str) -> str:
    """A file of the page's own: template, style or script."""
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")

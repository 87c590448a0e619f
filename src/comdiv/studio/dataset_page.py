"""Dataset: how it was made, how far apart its sides are, and the frequencies of atoms and compounds (§III-A)."""

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.exceptions import HTTPException

from comdiv.splitting.measurement import Measurement, table_rows
from comdiv.studio.pages import render

if TYPE_CHECKING:
    from comdiv.studio.app import Studio

FIGURES = {"atoms": "frequencies-atoms.svg", "compounds": "frequencies-compounds.svg"}


def add_dataset(app: FastAPI, studio: "Studio") -> None:
    """The page at `/dataset`, and the figures stored with the dataset."""
    library = studio.library
    measurement = Measurement.from_facts(library.facts)
    rows = table_rows(measurement) if measurement else []
    settings = library.facts.get("settings")

    @app.get("/dataset")
    def dataset() -> HTMLResponse:
        figures = [name for name, file in FIGURES.items() if library.folder and (library.folder / file).is_file()]
        return render(
            "dataset.html",
            studio=studio,
            here="dataset",
            rows=rows,
            differing=measurement.differing_compounds if measurement else (),
            settings=sorted(settings.items()) if isinstance(settings, dict) else [],
            made_by=library.facts.get("made_by", ""),
            figures=figures,
        )

    @app.get("/dataset/figures/{name}.svg")
    def figure(name: str) -> Response:
        path = library.folder / FIGURES[name] if library.folder and name in FIGURES else None
        if path is None or not path.is_file():
            raise HTTPException(404, "There is no such figure.")
        return FileResponse(path, media_type="image/svg+xml")

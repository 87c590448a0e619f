"""Croissant 1.1 metadata of a hub repository: files with their hashes, records with their columns, responsible AI.

What is not known (a date, a creator of somebody else's corpus) is left out rather than invented.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CROISSANT = "croissant.json"
_CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
_TYPES = {"string": "sc:Text", "bool": "sc:Boolean", "int32": "sc:Integer", "float64": "sc:Float"}
_TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject",
    "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
    "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
    "source", "subField", "transform",
)  # fmt: skip
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS},
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of rows: its configuration and side, its path in the repository, its hash."""

    configuration: str
    side: str
    path: str
    sha256: str


def croissant(
    title: str,
    files: Sequence[DataFile],
    columns: Mapping[str, str],
    *,
    languages: Sequence[str],
    licence: str | None,
    sources: Sequence[str],
    citations: Sequence[str],
    synthesised: bool,
) -> dict[str, Any]:
    """The metadata as JSON-LD."""
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": list(_CONFORMS_TO),
        "name": title,
        "description": (
            "Math word problems with their expressions and answers, split so that a solver's generalization to new "
            "compositions can be measured."
        ),
        "version": "1.0.0",
        "inLanguage": list(languages),
        "keywords": ["math word problems", "compositional generalization", "benchmark"],
        **({"license": licence} if licence else {}),
        **({"citeAs": "; ".join(citations)} if citations else {}),
        **_responsible_ai(sources, synthesised),
        "distribution": [_file_object(file) for file in files],
        "recordSet": [_record_set(file, columns) for file in files],
    }


def _responsible_ai(sources: Sequence[str], synthesised: bool) -> dict[str, Any]:
    origin = f"The problems come from {'; '.join(sources)}." if sources else "The problems' provenance names no corpus."
    processing = (
        "Rules make new problems from problems of the corpus; their sentences come from hand-written frames, their "
        "expressions and answers are computed."
        if synthesised
        else "Problems are as in their corpus; expressions are aligned with the numbers of the texts. The facts of "
        "each split say whether problems whose expression contradicts their answer were left out."
    )
    return {
        "rai:dataCollection": origin,
        "rai:dataCollectionType": ["Secondary Data Analysis", *(["Software Collection"] if synthesised else [])],
        "rai:dataPreprocessingProtocol": [processing],
        "rai:dataAnnotationProtocol": ["Expressions and answers are those of the corpora; no annotations were added."],
        "rai:dataUseCases": [
            "Measuring generalization to new compositions: validation and testing of solvers and language models. Test "
            "problems are not for training; every row carries a canary."
        ],
        "rai:dataLimitations": [
            "School arithmetic with the four operations and powers. Divergences depend on how quantities are "
            "clustered; the facts of each split give them under several clusterings."
        ],
        "rai:dataBiases": [
            "Names, goods and situations are those of the corpora, which were written for schools in one country."
        ],
        "rai:dataSocialImpact": "As with any benchmark, what is measured tends to be optimised.",
        "rai:personalSensitiveInformation": ["None: the people in the problems are invented."],
    }


def _file_object(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "encodingFormat": "application/jsonlines",
        "sha256": file.sha256,
    }


def _record_set(file: DataFile, columns: Mapping[str, str]) -> dict[str, Any]:
    name = f"{file.configuration}_{file.side}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": {"@id": f"{name}/id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": _TYPES[kind],
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": column}},
            }
            for column, kind in columns.items()
        ],
    }

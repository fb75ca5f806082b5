"""Metadata of a bundle for people and for programs.

RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) describes the folder, Croissant 1.0
(http://mlcommons.org/croissant/1.0) describes the table of scores, and CITATION.cff 1.2.0 the
citation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mlaut import __version__
from mlaut.bundles.manifest import DATASETS, KINDS, STRATEGIES, STUDY_FILE, Bundle
from mlaut.files_io.kinds import MANIFEST
from mlaut.markup import json_text, marked, printable

if TYPE_CHECKING:
    import pandas as pd

_SPDX = "https://spdx.org/licenses"
_TEMPLATES = files("mlaut.bundles") / "templates"
_TYPES = {"i": "sc:Integer", "f": "sc:Float"}  # of columns; others are texts


def ro_crate(bundle: Bundle) -> str:
    """Return the RO-Crate metadata: the bundle, its files, authors, licence and datasets."""
    authors = [
        {"@id": f"#author-{number}", "@type": "Person", "name": name}
        for number, name in enumerate(bundle.authors, start=1)
    ]
    licence = {
        "@id": f"{_SPDX}/{bundle.licence}",
        "@type": "CreativeWork",
        "name": bundle.licence,
        "description": f"SPDX licence {bundle.licence}",
    }
    manifest = _crate_file(MANIFEST, "application/json", "Digests of all files, and the datasets")
    parts = [manifest, *(_crate_file(name, *KINDS[name], bundle) for name in bundle.files)]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": bundle.title,
        "description": _description(bundle),
        "datePublished": bundle.date,
        "license": {"@id": licence["@id"]},
        "author": _one([{"@id": author["@id"]} for author in authors]),
        "keywords": ["benchmark", "machine learning", "predictions"],
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": _one(
            [{"@id": f"#dataset-{n}"} for n, _ in enumerate(bundle.datasets, start=1)]
        ),
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    datasets = [
        {
            "@id": f"#dataset-{number}",
            "@type": "Dataset",
            "name": dataset.name,
            "description": dataset.source or f"Dataset {dataset.name}",
            "identifier": _one([word for word in (dataset.reference, dataset.fingerprint) if word]),
            **({"license": dataset.licence} if dataset.licence else {}),
        }
        for number, dataset in enumerate(bundle.datasets, start=1)
    ]
    graph = [descriptor, root, *parts, licence, *authors, *datasets]
    return _json({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph})


def _crate_file(
    name: str, media_type: str, description: str, bundle: Bundle | None = None
) -> dict[str, Any]:
    about = {
        "@id": name,
        "@type": "File",
        "name": name,
        "description": description,
        "encodingFormat": media_type,
    }
    if bundle is not None:
        about["contentSize"] = str(bundle.files[name].size)
    return about


def _one(values: list[Any]) -> Any:
    """Return a list, or its only value, as RO-Crate recommends."""
    return values[0] if len(values) == 1 else values


def croissant(bundle: Bundle, scores: pd.DataFrame) -> str:
    """Return the Croissant metadata: the files, and the columns of the table of scores."""
    distribution = [
        {
            "@type": "cr:FileObject",
            "@id": name,
            "name": name,
            "description": KINDS[name][1],
            "contentUrl": name,
            "contentSize": f"{file.size} B",
            "encodingFormat": KINDS[name][0],
            "sha256": file.sha256,
        }
        for name, file in bundle.files.items()
    ]
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"scores/{column}",
            "name": column,
            "description": _COLUMNS[column],
            "dataType": _TYPES.get(scores[column].dtype.kind, "sc:Text"),
            "source": {"fileObject": {"@id": "scores.csv"}, "extract": {"column": column}},
        }
        for column in scores.columns
    ]
    return _json(
        {
            "@context": json.loads(_template("croissant-context.json")),
            "@type": "sc:Dataset",
            "name": bundle.title,
            "description": _description(bundle),
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "citeAs": f"{', '.join(bundle.authors)}: {bundle.title}, {bundle.date}",
            "creator": [{"@type": "sc:Person", "name": name} for name in bundle.authors],
            "datePublished": bundle.date,
            "license": f"{_SPDX}/{bundle.licence}",
            "url": "./",
            "version": "1.0.0",
            "distribution": distribution,
            "recordSet": [
                {
                    "@type": "cr:RecordSet",
                    "@id": "scores",
                    "name": "scores",
                    "description": "One row a cell: a strategy on a fold of a repeat of a dataset",
                    "key": [{"@id": f"scores/{name}"} for name in _KEY],
                    "field": fields,
                }
            ],
        }
    )


_KEY = ("dataset", "strategy", "repeat", "fold")
_COLUMNS = {
    "dataset": "Name of the dataset",
    "strategy": "Name of the strategy",
    "repeat": "Number of the repeat, from 0",
    "fold": "Number of the fold whose rows were predicted, from 0",
    "metric": "Metric of the score",
    "score": "Score on the rows of the fold; empty for a cell without predictions",
    "tuning_seconds": "Wall seconds of tuning",
    "fitting_seconds": "Wall seconds of the final fit",
    "predicting_seconds": "Wall seconds of the prediction",
}


def texts(bundle: Bundle, counts: Mapping[str, int]) -> dict[str, str]:
    """Return the files for people, by name: README, citation and licences."""
    return {
        "README.md": _readme(bundle, counts),
        "CITATION.cff": _citation(bundle),
        "LICENSE.txt": _licences(bundle),
    }


def _description(bundle: Bundle) -> str:
    return (
        f"{bundle.title}: predictions, splits and scores of machine learning strategies on "
        f"{len(bundle.datasets)} datasets, stored by MLaut {__version__}."
    )


def _citation(bundle: Bundle) -> str:
    authors = "\n".join(f"  - name: {json_text(name)}" for name in bundle.authors)
    how = {"title": json_text(bundle.title), "date": bundle.date, "licence": bundle.licence}
    return _template("citation.cff").format(authors=authors, **how)


def _licences(bundle: Bundle) -> str:
    lines = [
        f"Splits, predictions, scores, metadata and texts: {bundle.licence}, "
        f"{_SPDX}/{bundle.licence}"
    ]
    if any(dataset.included for dataset in bundle.datasets):
        lines += ["", f"The tables in {DATASETS} keep the licences that their metadata name:"]
        lines += [
            f"- {dataset.name}: {dataset.licence or 'no licence is named'}"
            + (f"; {dataset.source}" if dataset.source else "")
            for dataset in bundle.datasets
            if dataset.included
        ]
    return printable("\n".join(lines)) + "\n"


def _readme(bundle: Bundle, counts: Mapping[str, int]) -> str:
    inside = sum(dataset.included for dataset in bundle.datasets)
    names = [n for n in KINDS if n not in _OPTIONAL or (bundle.folder / n).exists()]
    table = "\n".join(f"| `{name}` | {KINDS[name][1]} |" for name in names)
    numbers = {**counts, "datasets": len(bundle.datasets), "inside": inside}
    title = marked(bundle.title)
    return _template("readme.md").format(title=title, manifest=MANIFEST, table=table, **numbers)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


_OPTIONAL = (DATASETS, STUDY_FILE, STRATEGIES)


def _json(content: Any) -> str:
    return json_text(content, indent=1) + "\n"

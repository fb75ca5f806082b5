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

import jinja2

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
    return _filled("ro-crate.json", bundle)


def croissant(bundle: Bundle, scores: pd.DataFrame) -> str:
    """Return the Croissant metadata: the files, and the columns of the table of scores."""
    columns = {name: _TYPES.get(scores[name].dtype.kind, "sc:Text") for name in scores.columns}
    return _filled("croissant.json", bundle, columns=columns)


def _filled(name: str, bundle: Bundle, **more: Any) -> str:
    """Return the JSON of a template, in the form of all JSON of a bundle."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("mlaut.bundles"), undefined=jinja2.StrictUndefined
    )
    text = templates.get_template(name).render(
        bundle=bundle,
        description=_description(bundle),
        licence=f"{_SPDX}/{bundle.licence}",
        kinds=KINDS,
        manifest=MANIFEST,
        **more,
    )
    return json_text(json.loads(text), indent=1) + "\n"


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

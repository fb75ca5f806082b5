"""Metadata of a bundle for people and for programs.

RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) describes the folder, Croissant 1.0
(http://mlcommons.org/croissant/1.0) describes the table of scores, and CITATION.cff 1.2.0 the
citation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jinja2

from mlaut import __version__
from mlaut.helpers.markup import json_text, marked, printable
from mlaut.plugins import MANIFEST
from mlaut_exchange.manifest import DATASETS, KINDS, STRATEGIES, STUDY_FILE, Bundle

if TYPE_CHECKING:
    import pandas as pd

_SPDX = "https://spdx.org/licenses"
_OPTIONAL = (DATASETS, STUDY_FILE, STRATEGIES)
_TYPES = {"i": "sc:Integer", "f": "sc:Float"}  # of columns; others are texts


def ro_crate(bundle: Bundle) -> str:
    """Return the RO-Crate metadata: the bundle, its files, authors, licence and datasets."""
    return _as_json(_filled("ro-crate.json", bundle))


def croissant(bundle: Bundle, scores: pd.DataFrame) -> str:
    """Return the Croissant metadata: the files, and the columns of the table of scores."""
    columns = {name: _TYPES.get(scores[name].dtype.kind, "sc:Text") for name in scores.columns}
    return _as_json(_filled("croissant.json", bundle, columns=columns))


def _as_json(text: str) -> str:
    return json_text(json.loads(text), indent=1) + "\n"


def texts(bundle: Bundle, counts: Mapping[str, int]) -> dict[str, str]:
    """Return the files for people, by name: README, citation and licences."""
    names = [n for n in KINDS if n not in _OPTIONAL or (bundle.folder / n).exists()]
    return {
        "README.md": _filled("readme.md", bundle, counts=counts, names=names),
        "CITATION.cff": _filled("citation.cff", bundle),
        "LICENSE.txt": printable(_filled("licence.txt", bundle)),
    }


def _filled(name: str, bundle: Bundle, **more: Any) -> str:
    """Return a template with the facts of a bundle filled in."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("mlaut_exchange"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {"json": json_text, "marked": marked}
    return templates.get_template(name).render(
        bundle=bundle,
        included=[dataset for dataset in bundle.datasets if dataset.included],
        description=_description(bundle),
        licence=f"{_SPDX}/{bundle.licence}",
        kinds=KINDS,
        manifest=MANIFEST,
        tables=DATASETS,
        **more,
    )


def _description(bundle: Bundle) -> str:
    return (
        f"{bundle.title}: predictions, splits and scores of machine learning strategies on "
        f"{len(bundle.datasets)} datasets, stored by MLaut {__version__}."
    )

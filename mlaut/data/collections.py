"""Collections of datasets that are loaded by name, without a network.

``starter``
    31 small, well-known tables of the UCI Machine Learning Repository (25 for classification, 6
    for regression), CC BY 4.0; ``starter/ATTRIBUTION.md`` beside this file names their creators.
    The column ``collections`` of its manifest names the published comparisons that used a table:
    ``delgado121`` (Fernandez-Delgado et al. 2014), ``demsar2006`` (Demsar 2006, Table 6),
    ``lacoste2012`` (Lacoste et al. 2012, Table 6, with the name in that table).
``sklearn``
    The six tables that come with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mlaut.data.loaders import SKLEARN, load_folder, load_sklearn, read_manifest
from mlaut.errors import DataError, nearest
from mlaut.files_io.datasets import task_named
from mlaut.records import Dataset

__all__ = ["CollectionEntry", "collection", "collection_entries", "list_collections"]

STARTER = Path(__file__).with_name("starter")


@dataclass(frozen=True)
class CollectionEntry:
    """Facts about a dataset of a collection that are known without reading its table.

    Attributes
    ----------
    name : str
    task : str
    n_rows, n_features : int
    n_classes : int or None
        None for regression.
    source, licence : str
    """

    name: str
    task: str
    n_rows: int
    n_features: int
    n_classes: int | None
    source: str
    licence: str


def list_collections() -> tuple[str, ...]:
    """Return the names of the collections.

    Examples
    --------
    >>> list_collections()
    ('starter', 'sklearn')
    """
    return ("starter", "sklearn")


def collection_entries(
    name: str = "starter", task: str | None = None
) -> tuple[CollectionEntry, ...]:
    """Return the facts about the datasets of a collection, without reading their tables.

    Examples
    --------
    >>> [entry.name for entry in collection_entries(task="Regression")][:2]
    ['auto-mpg', 'automobile-price']
    """
    _check(name)
    entries = _starter() if name == "starter" else _sklearn()
    wanted = task_named(task) if task else None
    return tuple(entry for entry in entries if wanted in (None, entry.task))


def collection(
    name: str = "starter", task: str | None = None, names: Iterable[str] | None = None
) -> tuple[Dataset, ...]:
    """Return the datasets of a collection.

    Parameters
    ----------
    name : str, default "starter"
        One of `list_collections`.
    task : str, optional
        ``"Classification"`` or ``"Regression"``; default both.
    names : iterable of str, optional
        Return only these datasets, in this order; other tables are not read.

    Raises
    ------
    DataError
        There is no such collection or dataset, or a table differs from its released content.

    Examples
    --------
    >>> zoo, = collection(names=["zoo"])
    >>> zoo.frame.shape, zoo.task, zoo.metadata["licence"]
    ((101, 17), 'Classification', 'CC BY 4.0')
    """
    _check(name)
    known = [entry.name for entry in collection_entries(name)]
    for one in [names] if isinstance(names, str) else names or ():
        if one not in known:
            hint = nearest(one, known) or f"; it has {len(known)} others"
            raise DataError(f"collection {name!r}: no dataset {one!r}{hint}")
    if name == "starter":
        return load_folder(STARTER, names=names, task=task)
    wanted = task_named(task) if task else None
    return tuple(one for one in load_sklearn(names) if wanted in (None, one.task))


def _check(name: str) -> None:
    known = list_collections()
    if name not in known:
        hint = nearest(name, known) or f"; there are {', '.join(known)}"
        raise DataError(f"no collection {name!r}{hint}")


def _starter() -> list[CollectionEntry]:
    return [
        CollectionEntry(
            name=row["name"],
            task=row["task"],
            n_rows=int(row["rows"]),
            n_features=int(row["features"]),
            n_classes=int(row["classes"]) if "classes" in row else None,
            source=row["source"],
            licence=row["licence"],
        )
        for row in read_manifest(STARTER)
    ]


def _sklearn() -> list[CollectionEntry]:
    return [
        CollectionEntry(name, *facts, source="scikit-learn", licence="BSD-3-Clause")
        for name, facts in SKLEARN.items()
    ]

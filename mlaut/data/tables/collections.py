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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mlaut.data.tables.folders import folder_tables, read_manifest
from mlaut.data.tables.frames import Unread, from_frame, read_chosen
from mlaut.errors import DataError, refuse_unknown
from mlaut.files_io.tables.datasets import task_named
from mlaut.records import CLASSIFICATION, REGRESSION, Dataset

Tables = dict[str, Unread]
STARTER = Path(__file__).parents[1] / "starter"
SKLEARN = {
    # name: task, rows, features, classes
    "breast_cancer": (CLASSIFICATION, 569, 30, 2),
    "diabetes": (REGRESSION, 442, 10, None),
    "digits": (CLASSIFICATION, 1797, 64, 10),
    "iris": (CLASSIFICATION, 150, 4, 3),
    "linnerud": (REGRESSION, 20, 3, None),
    "wine": (CLASSIFICATION, 178, 13, 3),
}


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
    return tuple(_COLLECTIONS)


def collection_entries(
    name: str = "starter", task: str | None = None
) -> tuple[CollectionEntry, ...]:
    """Return the facts about the datasets of a collection, without reading their tables.

    Examples
    --------
    >>> [entry.name for entry in collection_entries(task="Regression")][:2]
    ['auto-mpg', 'automobile-price']
    """
    entries, _ = _functions(name)
    wanted = task_named(task) if task else None
    return tuple(entry for entry in entries() if wanted in (None, entry.task))


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
    _, tables = _functions(name)
    return read_chosen(f"collection {name!r}", tables(), names, task)


def load_sklearn(names: Iterable[str] | None = None) -> tuple[Dataset, ...]:
    """Return the datasets that come with scikit-learn.

    Parameters
    ----------
    names : iterable of str, optional
        Some of ``breast_cancer``, ``diabetes``, ``digits``, ``iris``, ``linnerud`` (with its first
        target, Weight) and ``wine``; default all.

    Raises
    ------
    DataError
        There is no such dataset.

    Examples
    --------
    >>> iris, = load_sklearn(["iris"])
    >>> iris.frame.shape, sorted(iris.labels.unique())
    ((150, 5), ['setosa', 'versicolor', 'virginica'])
    """
    return read_chosen("scikit-learn", _sklearn_tables(), names)


def _functions(name: str) -> tuple[Callable[[], list[CollectionEntry]], Callable[[], Tables]]:
    refuse_unknown([name], _COLLECTIONS, DataError, "no collection")
    return _COLLECTIONS[name]


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


def _sklearn_tables() -> Tables:
    return {name: Unread(partial(_read_sklearn, name), facts[0]) for name, facts in SKLEARN.items()}


def _read_sklearn(name: str) -> Dataset:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    target = "Weight" if name == "linnerud" else "target"
    frame = bunch.data.assign(**{target: bunch.frame[target]})
    task = SKLEARN[name][0]
    if task == CLASSIFICATION:
        frame[target] = bunch.target_names[bunch.target]
    return from_frame(frame, target, name=name, task=task, source=f"scikit-learn, load_{name}")


# The functions of a collection: its entries, and its tables, which are read when they are chosen.
_COLLECTIONS: dict[str, tuple[Callable[[], list[CollectionEntry]], Callable[[], Tables]]] = {
    "starter": (_starter, partial(folder_tables, STARTER)),
    "sklearn": (_sklearn, _sklearn_tables),
}

"""Sources of datasets that a reference can name; each has one function and one entry here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mlaut.data.sources.openml_loader import load_openml, openml_members
from mlaut.data.sources.pmlb_loader import load_pmlb
from mlaut.data.sources.uci_loader import load_uci
from mlaut.data.tables.collections import collection, collection_entries
from mlaut.errors import DataError
from mlaut.records import Dataset


@dataclass(frozen=True)
class Source:
    """Place from which datasets come.

    Attributes
    ----------
    load : callable
        ``load(key, target="")`` returns the dataset of a key.
    members : callable, optional
        ``members(key)`` returns the keys of the datasets that a key stands for, or None if the key
        stands for one dataset.
    cached : bool, default False
        Whether MLaut keeps what it loaded in its own cache.
    local : bool, default False
        Whether the tables are installed with MLaut or its dependencies.
    """

    load: Callable[..., Dataset]
    members: Callable[[str], Iterable[str] | None] | None = None
    cached: bool = False
    local: bool = False


def _collection(name: str) -> Source:
    def members(key: str) -> list[str] | None:
        return None if key else [entry.name for entry in collection_entries(name)]

    def load(key: str, *, target: str) -> Dataset:
        if target:
            raise DataError(f"{name}/{key}: a collection has its targets; leave target out")
        return collection(name, names=[key])[0]

    return Source(load, members, local=True)


SOURCES: dict[str, Source] = {
    "starter": _collection("starter"),
    "sklearn": _collection("sklearn"),
    "openml": Source(load_openml, openml_members),
    "uci": Source(load_uci, cached=True),
    "pmlb": Source(load_pmlb, cached=True),
}

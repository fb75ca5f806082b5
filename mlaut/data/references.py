"""References to datasets: short texts that say where a dataset is, such as ``openml/d/61``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from mlaut.data.collections import collection
from mlaut.data.openml_loader import load_openml, suite_tasks
from mlaut.data.pmlb_loader import load_pmlb
from mlaut.data.uci_loader import load_uci
from mlaut.errors import DataError, nearest
from mlaut.records import Dataset

__all__ = ["SOURCES", "Reference", "expand", "fetch", "is_reference", "parse_reference"]

COLLECTIONS = ("starter", "sklearn")
SOURCES = (*COLLECTIONS, "openml", "uci", "pmlb")
OPTIONS = ("name", "target")


@dataclass(frozen=True)
class Reference:
    """Source and key of a dataset, with an optional new name and target.

    Attributes
    ----------
    source : str
        One of `SOURCES`.
    key : str
        Key of the dataset in its source; empty for a whole collection.
    name : str
        Name of the dataset in MLaut; default its name in the source.
    target : str
        Target column; default the one that the source names.

    Examples
    --------
    >>> parse_reference("openml/d/61?name=iris-2")
    Reference(source='openml', key='d/61', name='iris-2', target='')
    >>> str(parse_reference("uci/53"))
    'uci/53'
    """

    source: str
    key: str
    name: str = ""
    target: str = ""

    def __str__(self) -> str:
        options = [f"{word}={getattr(self, word)}" for word in OPTIONS if getattr(self, word)]
        text = f"{self.source}/{self.key}" if self.key else self.source
        return f"{text}?{'&'.join(options)}" if options else text


def is_reference(text: str) -> bool:
    """Return whether a text is a reference (and not only the name of a dataset).

    Examples
    --------
    >>> is_reference("openml/d/61"), is_reference("starter"), is_reference("iris")
    (True, True, False)
    """
    return text.partition("?")[0].partition("/")[0] in SOURCES


def parse_reference(text: str) -> Reference:
    """Return the reference that a text names.

    Parameters
    ----------
    text : str
        ``starter/iris``, ``sklearn/wine`` (or the collection alone), ``openml/d/61`` (a dataset),
        ``openml/t/59`` (a task, with its own split), ``openml/s/99`` (a suite of tasks),
        ``uci/53`` or ``uci/Iris``, ``pmlb/adult``. The options ``name=`` and ``target=`` may
        follow after a ``?``, joined by ``&``.

    Raises
    ------
    DataError
        The text names no known source, no dataset, or an unknown option.

    Examples
    --------
    >>> parse_reference("opneml/d/61")
    Traceback (most recent call last):
    mlaut.errors.DataError: 'opneml/d/61': no source 'opneml'; did you mean 'openml'?
    """
    place, _, options = text.partition("?")
    source, _, key = place.strip("/").partition("/")
    if source not in SOURCES:
        hint = nearest(source, SOURCES) or f"; there are {', '.join(SOURCES)}"
        raise DataError(f"{text!r}: no source {source!r}{hint}")
    if not key and source not in COLLECTIONS:
        raise DataError(f"{text!r}: it names no dataset; write for example 'openml/d/61'")
    chosen = dict(parse_qsl(options, keep_blank_values=True))
    for word in chosen:
        if word not in OPTIONS:
            hint = nearest(word, OPTIONS) or f"; there are {' and '.join(OPTIONS)}"
            raise DataError(f"{text!r}: unknown option {word!r}{hint}")
    return Reference(source, key, **chosen)


def expand(references: str | Iterable[str]) -> tuple[Reference, ...]:
    """Return references, with each suite replaced by its tasks and without duplicates.

    Raises
    ------
    DataError
        As in `parse_reference`; or a suite cannot be loaded.
    """
    texts = [references] if isinstance(references, str) else list(references)
    return tuple(dict.fromkeys(one for text in texts for one in _members(parse_reference(text))))


def _members(reference: Reference) -> Iterator[Reference]:
    if reference.source == "openml" and reference.key.startswith("s/"):
        if reference.name or reference.target:
            raise DataError(f"{str(reference)!r}: a suite has many datasets; name its tasks")
        tasks = suite_tasks(reference.key[2:])
        yield from (replace(reference, key=f"t/{task}") for task in tasks)
    else:
        yield reference


def fetch(references: str | Iterable[str]) -> tuple[Dataset, ...]:
    """Return datasets by reference, from the cache of this machine where it has them.

    Parameters
    ----------
    references : str or iterable of str
        References as `parse_reference` reads them.

    Raises
    ------
    DataError
        There is no such dataset, it cannot be reached and is not in the cache, or it cannot be
        used; the message says what to do.
    OptionalPackageError
        The package that loads from this source is not installed.

    Examples
    --------
    >>> [dataset.name for dataset in fetch(["starter/iris", "sklearn/wine?name=wine-2"])]
    ['iris', 'wine-2']
    """
    return tuple(dataset for one in expand(references) for dataset in load_reference(one))


def load_reference(reference: Reference) -> tuple[Dataset, ...]:
    """Return the datasets of one reference; see `fetch`."""
    source, key, target = reference.source, reference.key, reference.target
    if source in COLLECTIONS:
        if target:
            raise DataError(f"{str(reference)!r}: a collection has its targets; leave target out")
        found = collection(source, names=[key] if key else None)
        return tuple(replace(one, name=reference.name or one.name) for one in found)
    load = {"openml": load_openml, "uci": load_uci, "pmlb": load_pmlb}[source]
    dataset = load(key, target=target)
    metadata = {**dataset.metadata, "reference": str(reference)}
    return (replace(dataset, name=reference.name or dataset.name, metadata=metadata),)

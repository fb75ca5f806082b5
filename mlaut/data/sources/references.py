"""References to datasets: short texts such as ``openml/d/61`` that name the place of a dataset."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import parse_qsl, quote

from mlaut.data.sources.sources import SOURCES
from mlaut.data.tables.frames import with_roles
from mlaut.errors import DataError, StoreError, refuse_unknown
from mlaut.files_io import FilesIO
from mlaut.helpers.downloads import cache_folder, cached
from mlaut.records import ROLES, Dataset

OPTIONS = ("name", "target", *ROLES)


@dataclass(frozen=True)
class DatasetReference:
    """Source and key of a dataset, with an optional new name and target.

    Attributes
    ----------
    source : str
        One of `mlaut.data.sources.sources.SOURCES`.
    key : str
        Key of the dataset in its source; empty for a whole collection.
    name : str
        Name of the dataset in MLaut; default its name in the source.
    target : str
        Target column; default the one that the source names.
    roles : tuple of (str, str)
        Role and name of each column that is no feature, for example ``("group", "patient")``.

    Examples
    --------
    >>> parse_reference("openml/d/61?name=iris-2")
    DatasetReference(source='openml', key='d/61', name='iris-2', target='', roles=())
    >>> str(parse_reference("uci/53"))
    'uci/53'
    """

    source: str
    key: str
    name: str = ""
    target: str = ""
    roles: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        named = [(word, getattr(self, word)) for word in ("name", "target")]
        options = [f"{word}={value}" for word, value in (*named, *self.roles) if value]
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


def parse_reference(text: str) -> DatasetReference:
    """Return the reference that a text names.

    Parameters
    ----------
    text : str
        A source of `SOURCES` and a key of it: ``starter/iris`` (or the collection alone),
        ``openml/d/61``, ``uci/Iris``; the help of ``mlaut load`` says which keys each source takes.
        A key that is a path must be absolute. Options may follow after a ``?``, joined by
        ``&``: ``name=``, ``target=``, and columns that are no features, by role (``weight=``,
        ``group=``, ``time=``, ``id=``, ``ignore=``).

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
    refuse_unknown([source], SOURCES, DataError, f"{text!r}: no source")
    if not key and not SOURCES[source].local:
        raise DataError(f"{text!r}: it names no dataset; write for example 'openml/d/61'")
    chosen = parse_qsl(options, keep_blank_values=True)
    refuse_unknown(dict(chosen), OPTIONS, DataError, f"{text!r}: unknown option")
    named = {word: value for word, value in chosen if word not in ROLES}
    roles = tuple((word, value) for word, value in chosen if word in ROLES)
    return DatasetReference(source, key, **named, roles=roles)


def expand(references: str | Iterable[str]) -> tuple[DatasetReference, ...]:
    """Return references of one dataset each, without duplicates.

    A suite is replaced by its tasks, and a collection by its datasets.

    Raises
    ------
    DataError
        As in `parse_reference`; or a suite cannot be loaded.
    """
    texts = [references] if isinstance(references, str) else list(references)
    return tuple(dict.fromkeys(ref for text in texts for ref in _members(parse_reference(text))))


def _members(reference: DatasetReference) -> Iterator[DatasetReference]:
    members = SOURCES[reference.source].members
    keys = members(reference.key) if members else None
    if keys is not None and (reference.name or reference.target or reference.roles):
        raise DataError(f"{str(reference)!r}: it has many datasets; name one of them")
    yield from [reference] if keys is None else (replace(reference, key=key) for key in keys)


def fetch(references: str | Iterable[str]) -> tuple[Dataset, ...]:
    """Return datasets by reference, from the cache of this machine if it has them.

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
    return tuple(load_reference(reference) for reference in expand(references))


def load_reference(reference: DatasetReference) -> Dataset:
    """Return the dataset of a reference that `expand` returned; see `fetch`."""
    source, key, target = SOURCES[reference.source], reference.key, reference.target
    make = partial(source.load, key, target=target)
    if source.cached:
        dataset = _cached_dataset(reference.source, f"{key}?{target}" if target else key, make)
    else:
        dataset = make()
    if not source.local:
        dataset = replace(dataset, metadata={**dataset.metadata, "reference": str(reference)})
    named = replace(dataset, name=reference.name or dataset.name)
    return with_roles(named, reference_roles(reference))


def _cached_dataset(source: str, key: str, make: Callable[[], Dataset]) -> Dataset:
    """Return a dataset from the cache; make and store it first if the cache lacks it.

    Each dataset has its own database, because reading a database checks its content.
    """
    path = cache_folder() / source / f"{quote(key, safe='')}.h5"
    if not path.exists():
        with cached(path) as whole:  # renamed when it is complete
            FilesIO(whole, "a").save_datasets([make()])
    try:
        (info,) = FilesIO(path).dataset_infos()
        return replace(FilesIO(path).load_dataset(info.path), path="")
    except (StoreError, ValueError) as error:
        raise DataError(f"{path}: a damaged copy ({error}); delete it, and load it again") from None


def reference_roles(reference: DatasetReference) -> dict[str, tuple[str, ...]]:
    """Return the columns of each role that a reference names."""
    columns: dict[str, tuple[str, ...]] = {}
    for role, column in reference.roles:
        columns[role] = (*columns.get(role, ()), column)
    return columns

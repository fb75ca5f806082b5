"""Loading of datasets by reference into a database, in batches of limited size."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlaut.data.sources.references import DatasetReference, expand, load_reference, reference_roles
from mlaut.data.sources.sources import SOURCES
from mlaut.data.tables.frames import roles_of, with_roles
from mlaut.errors import DataError
from mlaut.files_io import FilesIO
from mlaut.files_io.tables.datasets import task_named
from mlaut.files_io.tables.roles import described_roles, plain_roles
from mlaut.records import Dataset

BATCH = 2**28  # bytes of tables to collect before storing them: each change copies the whole file


def stored_paths(hdf5_io: FilesIO) -> dict[str, str]:
    """Return the path of each dataset that was loaded into a database, by its references.

    A dataset of UCI has two references: its number and its name.
    """
    stored: dict[str, str] = {}
    for info in hdf5_io.dataset_infos():
        reference = str(info.metadata.get("reference", ""))
        if reference and "?" not in reference:
            source = reference.partition("/")[0]
            for key in (info.metadata.get("dataset_id"), info.name):
                stored.setdefault(f"{source}/{key}", info.path)
        stored[reference] = info.path
    return stored


def load_into(
    hdf5_io: FilesIO,
    references: Sequence[DatasetReference],
    *,
    task: str | None = None,
    group: str | None = None,
    overwrite: bool = False,
    roles: Mapping[str, Any] | None = None,
) -> list[str]:
    """Load the datasets that a database lacks, and return the paths of all; see `Data.load`."""
    wanted = task_named(task) if task else None
    stored = {} if overwrite else stored_paths(hdf5_io)
    batch = _DatasetsToStore(hdf5_io, group, overwrite)
    try:
        for given in references:
            if str(given) in stored:
                path = batch.paths[given] = stored[str(given)]
                check_roles(hdf5_io, [path], {**(roles or {}), **reference_roles(given)})
            else:
                batch.add(given, with_roles(load_reference(given), roles))
    finally:  # keeps the loaded datasets where a later one cannot be loaded
        batch.store()
    paths = dict.fromkeys(batch.paths.values())
    return [path for path in paths if wanted in (None, hdf5_io.dataset_info(path).task)]


def check_roles(hdf5_io: FilesIO, paths: Iterable[str], roles: Mapping[str, Any] | None) -> None:
    """Check that stored datasets have the requested roles; without ``roles`` nothing is checked.

    Raises
    ------
    DataError
        A dataset is stored with other roles.
    """
    for info in map(hdf5_io.dataset_info, paths) if roles else ():
        wanted = roles_of(roles, info.name)
        target = wanted.pop("target", info.target)
        named = plain_roles(wanted)
        known = {role: info.roles.get(role) for role in named}
        if target != info.target or named != known:
            has = described_roles({"target": (info.target,), **info.roles})
            wanted_roles = described_roles({"target": (target,), **info.roles, **named})
            raise DataError(
                f"{hdf5_io.path}: dataset {info.name!r} is stored with the roles {has}, not with "
                f"{wanted_roles}; load it with overwrite=True, or under another name"
            )


class _DatasetsToStore:
    """Datasets that will be stored together, and the paths of those that are stored."""

    def __init__(self, hdf5_io: FilesIO, group: str | None, overwrite: bool) -> None:
        self.hdf5_io, self.group, self.overwrite = hdf5_io, group, overwrite
        self.waiting: dict[str, dict[DatasetReference, Dataset]] = {}
        self.size = 0
        self.origin: dict[tuple[str, str], tuple[DatasetReference, dict[str, Any]]] = {}
        self.same: dict[DatasetReference, DatasetReference] = {}
        self.paths: dict[DatasetReference, str] = {}

    def add(self, reference: DatasetReference, dataset: Dataset) -> None:
        """Add a dataset; raise `DataError` where another one of its group has the same name."""
        group = reference.source if self.group is None else self.group
        content = {**dataset.metadata, "reference": "", "fingerprint": dataset.fingerprint}
        other, known = self.origin.setdefault((group, dataset.name), (reference, content))
        self.paths[reference] = ""  # keeps the order of the references
        if other != reference and content == known:
            self.same[reference] = other
            return
        if other != reference:
            raise DataError(
                f"{str(other)!r} and {str(reference)!r} are both called {dataset.name!r}; give one "
                f"a name of its own, as in '{reference}?name={dataset.name}-2'"
            )
        self.waiting.setdefault(group, {})[reference] = dataset
        self.size += int(dataset.frame.memory_usage(deep=False).sum())
        self.size += getattr(dataset.array, "nbytes", 0)
        if self.size > BATCH:
            self.store()

    def store(self) -> None:
        """Store the waiting datasets."""
        for group, waiting in self.waiting.items():
            stored = self.hdf5_io.save_datasets(waiting.values(), group, overwrite=self.overwrite)
            self.paths.update(zip(waiting, stored, strict=True))
        self.waiting, self.size = {}, 0
        self.paths |= {reference: self.paths[other] for reference, other in self.same.items()}


def find_stored(hdf5_io: FilesIO, reference: str) -> list[str]:
    """Return the paths of the datasets of a reference in a database.

    Raises
    ------
    DataError
        A dataset of the reference was not loaded into the database.
    """
    stored = stored_paths(hdf5_io)
    for path in hdf5_io.list_datasets()[1]:
        stored.setdefault(path.strip("/"), path)  # datasets of collections are found by path
    keys = [_stored_as(item) for item in expand(reference)]
    for key in keys:
        if key not in stored:
            raise DataError(f"{hdf5_io.path}: no dataset {key!r} was loaded into it yet")
    return [stored[key] for key in keys]


def _stored_as(reference: DatasetReference) -> str:
    """Return the text by which a database knows the dataset of a reference."""
    if SOURCES[reference.source].local:
        return f"{reference.source}/{reference.name or reference.key}"
    return str(reference)

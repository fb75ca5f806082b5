"""Manifest of a bundle, which lists its files with their digests.

A bundle is one folder of plain files without sub-folders, so that it can be on any web server, in
a repository of data or in a Git repository. It has only files of `KINDS`: no name in a manifest can
lead out of the folder, and none is a pickle.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from mlaut.errors import StoreError
from mlaut.files_io import FilesIO, SplitEntry
from mlaut.helpers.markup import beside, json_text, printable
from mlaut.plugins import MANIFEST, explained, open_plain, read_json
from mlaut.records import Dataset

FORMAT = 1
STUDY, DATASETS = "study.h5", "datasets.h5"
STUDY_FILE, STRATEGIES = "study.toml", "strategies.py"
MOST_MANIFEST = 2**24  # bytes of a manifest: more than 30,000 datasets

KINDS: Mapping[str, Sequence[str]] = beside(__file__)
"""Every file that a bundle can have besides its manifest: its media type and its content."""

_TOGETHER = 1_000  # tables: a change of a file lists all of it, and they are in memory together
_DIGEST = re.compile("[0-9a-f]{64}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class BundledFile:
    """Size in bytes and SHA-256 of a file of a bundle."""

    size: int
    sha256: str


@dataclass(frozen=True)
class BundledDataset:
    """Dataset of a bundle.

    Attributes
    ----------
    name : str
    fingerprint : str
        Digest of the table, its target, task and roles, as the study stores it.
    reference : str
        Reference that loads the dataset (`mlaut.data.parse_reference`); empty if there is none.
    licence, source : str
        Entries of its metadata; empty if they are missing.
    included : bool
        Whether the table of the dataset is in the bundle.
    """

    name: str
    fingerprint: str
    reference: str
    licence: str
    source: str
    included: bool


@dataclass(frozen=True)
class Bundle:
    """Published study in a folder, whose files have the digests of its manifest.

    Attributes
    ----------
    folder : Path
    title : str
    authors : tuple of str
    licence : str
        SPDX identifier of the licence of the results.
    date : str
        Day of the publication, such as ``2026-11-22``.
    datasets : tuple of BundledDataset
    files : mapping of str to BundledFile
    digest : str
        SHA-256 of the manifest, which names the digests of all other files.
    """

    folder: Path
    title: str
    authors: tuple[str, ...]
    licence: str
    date: str
    datasets: tuple[BundledDataset, ...]
    files: Mapping[str, BundledFile]
    digest: str

    @property
    def study(self) -> Path:
        """Path of the study."""
        return self.folder / STUDY

    @property
    def size(self) -> int:
        """Bytes of all files without the manifest."""
        return sum(file.size for file in self.files.values())

    @property
    def complete(self) -> bool:
        """Return whether the tables of all datasets are in the bundle."""
        return all(dataset.included for dataset in self.datasets)

    def __str__(self) -> str:
        authors = ", ".join(self.authors)
        return printable(
            f"{self.title} ({authors}, {self.date}, {self.licence}): {len(self.files) + 1} files, "
            f"{self.size:,} bytes, digest {self.digest[:16]}",
            "",
        )

    def to_json(self) -> bytes:
        """Return the content of the manifest."""
        about = {name: getattr(self, name) for name in ("title", "authors", "licence", "date")}
        files = {name: asdict(self.files[name]) for name in sorted(self.files)}
        datasets = [asdict(dataset) for dataset in self.datasets]
        content = {"format": FORMAT, **about, "datasets": datasets, "files": files}
        return (json_text(content, indent=1) + "\n").encode()


def read_manifest(content: bytes, folder: Path, where: str) -> Bundle:
    """Return the bundle that a manifest describes, after a check of every value.

    Parameters
    ----------
    content : bytes
    folder : Path
        Folder of its files.
    where : str
        Origin of the manifest, for messages.

    Raises
    ------
    StoreError
        The manifest is not JSON, lacks a value, has a value of another type or a newer format, or
        names a file that no bundle has.
    """
    try:
        values = read_json(content)
        if values["format"] != FORMAT:
            raise StoreError(
                f"{where}: format {values['format']!r}, and this MLaut reads {FORMAT}; update MLaut"
            )
        bundle = Bundle(
            folder=folder,
            title=_text(values["title"]),
            authors=tuple(map(_text, values["authors"])),
            licence=_text(values["licence"]),
            date=_matching(_DATE, values["date"]),
            datasets=tuple(map(_dataset, values["datasets"])),
            files={name: _file(name, about) for name, about in values["files"].items()},
            digest=hashlib.sha256(content).hexdigest(),
        )
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StoreError(
            f"{where}: is no manifest of a bundle ({type(error).__name__}: "
            f"{' '.join(str(error).split())}); check the address, or get the bundle again"
        ) from error
    if STUDY not in bundle.files:
        raise StoreError(f"{where}: names no {STUDY}, so it is no bundle; get it again")
    if DATASETS not in bundle.files and any(dataset.included for dataset in bundle.datasets):
        raise StoreError(f"{where}: tables are included, and it names no {DATASETS}; get it again")
    return bundle


def _dataset(values: Mapping[str, Any]) -> BundledDataset:
    words = ("name", "fingerprint", "reference", "licence", "source")
    if not isinstance(values["included"], bool):
        raise TypeError("'included' is not true or false")
    return BundledDataset(
        **{word: _text(values[word]) for word in words}, included=values["included"]
    )


def _file(name: str, about: Mapping[str, Any]) -> BundledFile:
    if name not in KINDS:
        raise StoreError(
            f"{MANIFEST} names the file {name!r}, and a bundle has no such file; do not trust it"
        )
    size = about["size"]
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise TypeError(f"{name} has the size {size!r}")
    return BundledFile(size, _matching(_DIGEST, about["sha256"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not pattern.fullmatch(_text(value)):
        raise ValueError(f"{value!r} has another form")
    return str(value)


# ----------------------------------------------------------------------- tables


def put_tables(
    io: FilesIO, entries: Iterable[SplitEntry], load: Callable[[SplitEntry], Dataset]
) -> None:
    """Store the tables of datasets at their paths, many of a group in one change of the file."""

    def group(entry: SplitEntry) -> str:
        return entry.path.rpartition("/")[0] or "/"

    for name, of_group in groupby(sorted(entries, key=group), group):
        while together := [*islice(of_group, _TOGETHER)]:
            io.save_datasets(map(load, together), name)


# ---------------------------------------------------------------------- digests


def file_record(path: Path) -> BundledFile:
    """Return size and digest of a file.

    Raises
    ------
    StoreError
        The path is a link, a pipe or a device, or cannot be read.
    """
    with explained(path, "reading"), os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        return BundledFile(size, hashlib.file_digest(file, "sha256").hexdigest())


def damage_of(bundle: Bundle) -> Iterator[tuple[str, str]]:
    """Yield each file that differs from the manifest, and each further file, with the reason.

    Hidden files, such as those of Git, are ignored, except those that belong to a study.
    """
    for name, file in bundle.files.items():
        try:
            actual = file_record(bundle.folder / name)
        except StoreError as error:
            yield name, str(error)
            continue
        if actual.size != file.size:
            yield name, f"has {actual.size:,} bytes, and {MANIFEST} says {file.size:,}"
        elif actual.sha256 != file.sha256:
            yield name, f"its digest is not the one in {MANIFEST}"
    for path in sorted(bundle.folder.iterdir()):
        hidden = path.name.startswith(".") and not path.name.startswith((".study", ".datasets"))
        if not hidden and path.name not in {MANIFEST, *bundle.files}:
            yield path.name, f"lies in the folder, and {MANIFEST} does not name it; remove it"

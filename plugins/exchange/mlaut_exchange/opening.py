"""Opening of bundles from folders, ``.zip`` files and addresses; all digests are checked first.

Downloaded and unpacked files are kept in the cache (``MLAUT_CACHE``), in a folder that has the
digest of the manifest as its name. Files that are already there are not fetched again.
"""

import hashlib
import os
import stat
import struct
import tempfile
import urllib.error
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import urljoin, urlsplit

from mlaut import __version__
from mlaut.errors import DataError, StoreError
from mlaut.helpers.downloads import MOST_BYTES, answer_of, cache_folder
from mlaut.plugins import MANIFEST, explained, is_address, open_plain, unfinished
from mlaut_exchange.manifest import (
    KINDS,
    MOST_MANIFEST,
    Bundle,
    BundledFile,
    damage_of,
    file_record,
    read_manifest,
)

_UNPACKED = 200  # an archive may unpack to so many times its size, as archives of models may
_SMALL = 2**30  # or to so many bytes: the holes of a study deflate to nearly nothing
_PIECE = 2**20  # bytes of one read

_TORN = (zipfile.BadZipFile, zlib.error, struct.error)

Opener = Callable[[str], AbstractContextManager[BinaryIO]]


def open_bundle(place: str | os.PathLike[str], *, limit: int = MOST_BYTES) -> Bundle:
    """Open a bundle, and check the digest of each of its files; no code in it is run.

    Parameters
    ----------
    place : str or path-like
        A folder, a ``.zip``, or an ``http`` or ``https`` address of a folder, of its
        ``bundle.json``, or of a ``.zip``.
    limit : int
        Bytes that a bundle may have if it is downloaded or unpacked; default 4 GiB.

    Returns
    -------
    Bundle
        The bundle, in its own folder or in the cache.

    Raises
    ------
    StoreError
        There is no bundle, it cannot be reached, it is larger than the limit, or a file does not
        have the digest of its manifest.

    Examples
    --------
    >>> open_bundle("https://[half")
    Traceback (most recent call last):
    mlaut.errors.StoreError: https://[half: is no address (Invalid IPv6 URL); check it
    """
    text = os.path.expanduser(place)
    if is_address(text):
        bundle = _from_address(text, limit)
    elif text.endswith(".zip"):
        bundle = _from_archive(Path(text), limit)
    else:
        folder = Path(text)
        content = read_small(folder / MANIFEST, folder / MANIFEST)
        bundle = read_manifest(content, folder, str(folder / MANIFEST))
    for name, what in damage_of(bundle):
        raise StoreError(f"{text}: {name}: {what}; get the bundle again, or do not trust it")
    return bundle


# --------------------------------------------------------------------- archives


def _from_archive(path: Path, limit: int) -> Bundle:
    try:
        with explained(path, "reading"), zipfile.ZipFile(path) as archive:
            members = dict(_members(archive, path))
            most = min(limit, max(_SMALL, _UNPACKED * path.stat().st_size))

            def opened(name: str) -> AbstractContextManager[BinaryIO]:
                if name not in members:
                    raise StoreError(f"{path}: has no file {name}; get the archive again")
                return archive.open(members[name])  # type: ignore[return-value]

            return _kept(opened, most, str(path))
    except (*_TORN, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        text = " ".join(str(error).split())
        raise StoreError(f"{path}: cannot be unpacked ({text}); get the archive again") from error


def _members(archive: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield the files of an archive that a bundle can have; they are in one folder, or in none."""
    names: set[str] = set()
    for member in archive.infolist():
        parts = PurePosixPath(member.filename).parts
        if member.is_dir():
            continue
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise StoreError(f"{path}: {member.filename!r} is a link or a device; do not trust it")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise StoreError(
                f"{path}: {member.filename!r} is not deflated; make a usual .zip of it"
            )
        if len(parts) > 2 or ".." in parts or member.filename.startswith("/"):
            raise StoreError(
                f"{path}: {member.filename!r} lies outside of the folder of a bundle; do not trust "
                "this archive"
            )
        if parts[-1] in names:
            raise StoreError(f"{path}: holds {parts[-1]!r} twice; do not trust this archive")
        names.add(parts[-1])
        if parts[-1] in (MANIFEST, *KINDS):
            yield parts[-1], member


# -------------------------------------------------------------------- addresses


def _from_address(address: str, limit: int) -> Bundle:
    try:
        path = urlsplit(address).path
    except ValueError as error:
        raise StoreError(f"{address}: is no address ({error}); check it") from error
    if path.endswith(".zip"):
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder, "bundle.zip")
            with _answer(address, limit) as answer, archive.open("xb") as file:
                _copy(answer, file, limit, address)
            return _from_archive(archive, limit)
    base = address if path.endswith((f"/{MANIFEST}", "/")) else f"{address}/"
    return _kept(
        lambda name: _answer(urljoin(base, name), max(limit, MOST_MANIFEST)), limit, address
    )


@contextmanager
def _answer(address: str, limit: int) -> Iterator[BinaryIO]:
    """Yield the content of an address."""
    try:
        with answer_of(address, limit, **{"User-Agent": f"mlaut/{__version__}"}) as answer:
            yield answer
    except DataError as error:
        raise StoreError(str(error)) from error
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        raise StoreError(
            f"{address}: the server answered {error.code}; check the address"
        ) from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise StoreError(
            f"{address}: cannot be read ({' '.join(str(reason).split())}); check the address and "
            "the network, or copy the bundle here by other means"
        ) from error


# ------------------------------------------------------------------------ cache


def _kept(opened: Opener, limit: int, where: str) -> Bundle:
    """Return a bundle in the cache; files that the cache lacks are written there first."""
    with opened(MANIFEST) as stream:
        content = read_small(stream, f"{where}: {MANIFEST}")
    folder = cache_folder() / "bundles" / hashlib.sha256(content).hexdigest()
    bundle = read_manifest(content, folder, f"{where}: {MANIFEST}")
    if bundle.size > limit:
        raise StoreError(
            f"{where}: the bundle has {bundle.size:,} bytes, and {limit:,} are allowed; raise the "
            "limit (--limit, limit=) if you want it"
        )
    with explained(folder, "storing a bundle"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in bundle.files.items():
            if not _is_there(folder / name, file):
                with opened(name) as stream:
                    _store(stream, folder / name, file, where)
        with unfinished(folder / MANIFEST) as (temporary, _):
            temporary.write_bytes(content)
            temporary.replace(folder / MANIFEST)
    return bundle


def _is_there(path: Path, file: BundledFile) -> bool:
    try:
        return file_record(path) == file
    except StoreError:
        return False


def _store(stream: BinaryIO, path: Path, file: BundledFile, where: str) -> None:
    """Write a file that has the size and the digest of its manifest, or raise a StoreError."""
    with unfinished(path) as (temporary, _):
        with temporary.open("wb") as target:
            _copy(stream, target, file.size, f"{where}: {path.name}")
        if file_record(temporary) != file:
            raise StoreError(
                f"{where}: {path.name}: its digest is not the one in {MANIFEST}; get the bundle "
                "again, or do not trust it"
            )
        temporary.replace(path)


def _copy(stream: BinaryIO, target: BinaryIO, most: int, what: str) -> None:
    count = 0
    while piece := stream.read(_PIECE):
        count += len(piece)
        if count > most:
            raise StoreError(f"{what}: more than the {most:,} bytes that are allowed; not stored")
        with explained(Path(target.name), "storing a bundle"):
            target.write(piece)


def read_small(stream: BinaryIO | Path, where: object) -> bytes:
    """Return the content of a stream or a plain file, such as a manifest, which must be small.

    Raises
    ------
    StoreError
        The content has more than 16 MiB, or the file is a link, a pipe or a device.
    """
    if isinstance(stream, Path):
        with explained(stream, "reading"):
            stream = os.fdopen(open_plain(stream, os.O_RDONLY), "rb")
    with stream:
        content = stream.read(MOST_MANIFEST + 1)
    if len(content) > MOST_MANIFEST:
        raise StoreError(f"{where}: has more than {MOST_MANIFEST:,} bytes; not read")
    return content

"""Downloads with limits of time and size, a local cache, and errors in one line."""

import hashlib
import io
import os
import re
import socket
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from glob import escape
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urldefrag

from mlaut.errors import DataError, MlautError
from mlaut.helpers.markup import printable

VARIABLE = "MLAUT_CACHE"
MOST_BYTES = 4 * 2**30  # of a dataset or a bundle
_MOST_RESULTS = 256 * 2**20  # bytes of a file of published results
_SILENCE = 30.0  # seconds without a byte after which a server counts as gone
_PATIENCE = 60.0  # seconds of waiting for a server, however little it sends
_SHORTEST = 1e-3  # seconds of a wait
_PACE = 2**14  # bytes that allow another second of waiting
_HEADERS = 2**20  # bytes of the headers of an answer, at most, which come before its content
_PIECE = 1 << 20  # bytes that are held in memory at a time


class _Bounds:
    """Limits on responses of servers: bytes, and seconds of waiting for them."""

    def __init__(self, most: int, where: str) -> None:
        self._most, self._where = most, where
        self._count, self._waited = 0, 0.0

    def received(self, connection: socket.socket, raw: io.RawIOBase, buffer: Any) -> int:
        """Read from a connection into a buffer; raise a DataError beyond the limits."""
        left = _PATIENCE + self._count / _PACE - self._waited
        begun = time.monotonic()
        try:
            connection.settimeout(max(min(_SILENCE, left), _SHORTEST))
            count = raw.readinto(buffer) or 0
        except TimeoutError:
            if left > _SILENCE:
                raise
            raise self._too_slow() from None
        finally:
            self._waited += time.monotonic() - begun
        if left < 0:
            raise self._too_slow()
        self._count += count
        self.check(self._count - _HEADERS)
        return count

    def check(self, size: int) -> None:
        """Raise a DataError if ``size`` bytes are more than the limit."""
        if size > self._most:
            raise DataError(
                f"{self._where}: more than the {self._most:,} bytes that are allowed; do not trust "
                "it, or copy the file here by other means"
            )

    def _too_slow(self) -> DataError:
        return DataError(
            f"{self._where}: {self._count:,} bytes came in {self._waited:.0f} s, which is too "
            "slow; try again later, or copy the file here by other means"
        )


_limits: ContextVar[_Bounds | None] = ContextVar("limits", default=None)


class _LimitedReader(io.RawIOBase):
    """Reader of a connection under limits."""

    def __init__(self, raw: io.RawIOBase, connection: socket.socket, limits: _Bounds) -> None:
        self._raw, self._connection, self._limits = raw, connection, limits

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._limits.received(self._connection, self._raw, buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _LimitedResponse(HTTPResponse):
    """Response of a server, under the limits of the requesting block from its first byte on."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        if (limits := _limits.get()) is not None:
            self.fp = io.BufferedReader(_LimitedReader(self.fp.detach(), sock, limits))

    def begin(self) -> None:
        super().begin()
        if (limits := _limits.get()) is not None:
            limits.check(self.length or 0)  # a reader would make room for all that is announced


@contextmanager
def _limited(most: int, where: str) -> Iterator[None]:
    """Limit the responses to this block, for every package that uses http.client."""
    HTTPConnection.response_class = _LimitedResponse
    before = _limits.set(_Bounds(most, where))
    try:
        yield
    finally:
        _limits.reset(before)


@contextmanager
def answer_of(url: str, most: int, **headers: str) -> Iterator[HTTPResponse]:
    """Yield the response of an address; only HTTP is allowed, even after a redirection.

    Raises
    ------
    DataError
        The server is too slow, sends more bytes than ``most``, or sends a compressed response.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(handler())
    request = urllib.request.Request(url, headers={"Accept-Encoding": "identity", **headers})
    with _limited(most, url), opener.open(request, timeout=_SILENCE) as answer:
        if (packed := answer.headers.get("Content-Encoding", "identity")) != "identity":
            raise DataError(f"{url}: sent packed ({packed!r}), which was not asked for; not read")
        yield answer


def cache_folder() -> Path:
    """Return the cache folder for downloads: datasets of UCI and PMLB, and published results.

    The environment variable ``MLAUT_CACHE`` overrides the default, ``~/.cache/mlaut``.

    Examples
    --------
    >>> cache_folder().is_absolute()
    True
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "mlaut")
    return Path(os.environ.get(VARIABLE) or default).absolute()


@contextmanager
def cached(path: Path) -> Iterator[Path]:
    """Yield a temporary path, whose file is moved to its place in the cache when it is complete.

    Raises
    ------
    DataError
        The cache cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            whole = Path(folder, path.name)
            yield whole
            whole.replace(path)
    except OSError as error:
        raise DataError(
            f"{path.parent}: the cache cannot be written ({error.strerror}); make it writable, or "
            f"name another folder in the environment variable {VARIABLE}"
        ) from error


def downloaded(url: str, what: str) -> Path:
    """Return the file of an address, from the cache or, the first time, from the network.

    The name of the cached file begins with the SHA-256 of its content. The digest is compared
    whenever the file is used.

    Parameters
    ----------
    url : str
        Address of the file. If it ends with ``#blob=...``, the file must have this Git digest.
    what : str
        Name for error messages and for the folder in the cache.

    Raises
    ------
    DataError
        The address cannot be reached and is not in the cache; the file is incomplete, too large
        or has another digest; or the cached file has changed.
    """
    url, wanted = urldefrag(url)
    folder = cache_folder() / "results" / what
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{url.rpartition('/')[2] or 'index'}"
    for path in sorted(folder.glob(f"*-{escape(name)}")):
        if not path.name.startswith(_digest(path)):
            raise DataError(f"{path}: not the file that was loaded; delete it, and load it again")
        return path
    with cached(folder / name) as whole:
        with (
            explained(what, url, folder),
            answer_of(url, _MOST_RESULTS) as answer,
            whole.open("wb") as file,
        ):
            while piece := answer.read(_PIECE):
                file.write(piece)
        size = whole.stat().st_size
        if answer.length:  # bytes that the server announced and did not send
            raise DataError(
                f"{what}: {url} sent {size} of {size + answer.length} bytes; load it again"
            )
        if wanted and parse_qs(wanted)["blob"] != [_blob(whole)]:
            raise DataError(f"{what}: {url} is not the file that was published; do not trust it")
    path = folder / f"{_digest(folder / name)}-{name}"
    return (folder / name).replace(path)


def _digest(path: Path) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _blob(path: Path) -> str:
    """Return the Git digest of a file, which identifies a published file."""
    content = path.read_bytes()  # at most `_MOST_RESULTS`
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


@contextmanager
def explained(reference: str, server: str, cache: str | os.PathLike[str]) -> Iterator[None]:
    """Limit responses, and turn errors of other packages into a `DataError` of one line."""
    try:
        with _limited(MOST_BYTES, f"{reference}: {server}"):
            yield
    except MlautError:
        raise
    except Exception as error:
        status = _status(error)
        if isinstance(error, OSError) and status is None:
            raise DataError(
                f"{reference}: {server} cannot be reached ({_reason(error)}), and it is not in the "
                f"cache {cache}; load it once where there is a network, or copy that folder from "
                "a machine that has it"
            ) from error
        there = "there" if status else f"at {server}"
        answer = f"{server} answered {status}" if status else _reason(error)
        raise DataError(
            f"{reference}: {answer}; check that it exists {there}, and try again later"
        ) from error


def _status(error: BaseException | None) -> int | None:
    """Return the HTTP status of the answer in a chain of errors, or None."""
    for cause in _chain(error):
        if isinstance(cause, HTTPError):
            cause.close()  # an HTTPError holds an open connection
            return cause.code
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status:
            return int(status)
    return None


def _reason(error: BaseException) -> str:
    """Return the text of the system error in a chain of errors, else the outer error's text."""
    texts = [str(cause) for cause in _chain(error)]
    named = [
        reason for text in texts for reason in re.findall(r"\[Errno -?\d+\] ([^'\")>\]]+)", text)
    ]
    text = named[0].strip() if named else " ".join(texts[0].split()) or type(error).__name__
    return printable(text)[:200]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

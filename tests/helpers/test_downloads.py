"""Servers that lie: whatever they send, there is one line within the limits of time and size."""

import contextlib
import gzip
import hashlib
import itertools
import socket
import socketserver
import threading

import pandas as pd
import pytest

from mlaut.errors import DataError, MlautError
from mlaut.helpers import downloads
from mlaut.helpers.downloads import downloaded, explained

OK = b"HTTP/1.1 200 OK\r\n"
TEXT = b"a,b\n1,2\n"
PACKED = gzip.compress(bytes(10**7), 9)  # before a test waits for it


def _again(piece, pause=0.0):
    return itertools.repeat((piece, pause))


def _moved(place):
    return [(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + place + b"\r\n\r\n", 0)]


# What is sent, in pieces with a pause after each; the connection is closed at the end.
LIES = {
    "silent": lambda: [(b"", 60)],
    "slow": lambda: itertools.chain([(OK + b"\r\n", 0)], _again(b"1", 0.02)),
    "slow head": lambda: itertools.chain([(OK, 0)], _again(b"x", 0.02)),
    "endless": lambda: itertools.chain([(OK + b"\r\n", 0)], _again(b"1\n" * 5000)),
    "endless head": lambda: _again(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "endless chunks": lambda: itertools.chain(
        [(OK + b"Transfer-Encoding: chunked\r\n\r\n", 0)], _again(b"5\r\n1234\n\r\n" * 500)
    ),
    "too long": lambda: itertools.chain(
        [(OK + b"Content-Length: 1000000000000\r\n\r\n", 0)], _again(b"1\n" * 5000)
    ),
    "no number": lambda: itertools.chain(
        [(OK + b"Content-Length: x\r\n\r\n", 0)], _again(b"1\n" * 5000)
    ),
    "cut off": lambda: [(OK + b"Content-Length: 50\r\n\r\n" + TEXT, 0)],
    "cut chunks": lambda: [(OK + b"Transfer-Encoding: chunked\r\n\r\n8\r\n" + TEXT, 0)],
    "nonsense": lambda: [(b"\x00\xff" * 50, 0)],
    "nothing": lambda: [(b"", 0)],
    "to a file": lambda: _moved(b"file:///etc/passwd"),
    "round and round": lambda: _moved(b"?again"),
    "packed": lambda: [(OK + b"Content-Encoding: gzip\r\n\r\n" + PACKED, 0)],
}
SLOW = ("silent", "slow", "slow head")


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.rfile.readline()
        with contextlib.suppress(OSError):
            for piece, pause in self.server.lie():
                self.wfile.write(piece)
                if pause and self.server.over.wait(pause):
                    return
            self.connection.shutdown(socket.SHUT_WR)
            self.rfile.read()  # an early close would drop what was sent


@pytest.fixture
def liar(monkeypatch, tmp_path):
    """A server that tells its ``lie``, and limits of size that a test reaches at once."""
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(downloads, "_PACE", 10**6)
    monkeypatch.setattr(downloads, "_HEADERS", 10**4)
    for name in ("_MOST_RESULTS", "MOST_BYTES"):
        monkeypatch.setattr(downloads, name, 10**5)
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler)
    server.url, server.over = (
        f"http://127.0.0.1:{server.server_address[1]}/x.csv",
        threading.Event(),
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hurry(monkeypatch):
    """A function that shortens the limits of time for lies that take long: a load must not."""

    def shorten(lie):
        if lie in SLOW:
            monkeypatch.setattr(downloads, "_SILENCE", 0.2)
            monkeypatch.setattr(downloads, "_PATIENCE", 0.3)

    return shorten


def _loaded_by_another_package(url):
    with explained("uci/x", url, "cache"):
        pd.read_csv(url)


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_one_line(liar, hurry, lie, tmp_path):
    liar.lie = LIES[lie]
    hurry(lie)
    for read in (lambda url: downloaded(url, "made up"), _loaded_by_another_package):
        if read is _loaded_by_another_package and lie in ("cut off", "packed"):
            continue  # no reader of pandas, and no business of a limit
        with pytest.raises(MlautError) as refused:
            read(liar.url)
        assert "\n" not in str(refused.value)
        assert "127.0.0.1" in str(refused.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("slow", "bytes came in 0 s, which is too slow"),
        ("slow head", "bytes came in 0 s, which is too slow"),
        ("endless", "more than the 100,000 bytes that are allowed"),
        ("endless head", "more than the 100,000 bytes that are allowed"),
        ("to a file", "answered 302"),
        ("packed", "sent packed \\('gzip'\\), which was not asked for"),
        ("cut off", "sent 8 of 50 bytes"),
    ],
)
def test_the_cause_is_named(liar, hurry, lie, message):
    liar.lie = LIES[lie]
    hurry(lie)
    with pytest.raises(DataError, match=message):
        downloaded(liar.url, "made up")


def test_a_file_that_is_published_has_its_digest(liar):
    liar.lie = lambda: [(OK + b"Content-Length: 8\r\n\r\n" + TEXT, 0)]
    blob = hashlib.sha1(b"blob 8\0" + TEXT).hexdigest()  # as `git hash-object` says
    with pytest.raises(DataError, match="is not the file that was published; do not trust it"):
        downloaded(f"{liar.url}#blob={blob[::-1]}", "made up")
    assert downloaded(f"{liar.url}#blob={blob}", "made up").read_bytes() == TEXT

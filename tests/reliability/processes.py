"""Processes of tests: forks that do some work, and those with a mark in their environment."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from mlaut.errors import MlautError

MOST_SECONDS = 600  # of work that takes some, on a machine that many use: then it hangs
_SHARED = "/dev/shm"
MEMORY = _SHARED if os.access(_SHARED, os.W_OK) else None  # a disk would wait for each sync


def marked(mark: str) -> list[int]:
    """Return the processes that have ``NAME=value`` in the environment that they began with."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def none_left(mark: str, seconds: float = 600.0) -> bool:
    """Return whether no process with this mark is left, or will be in a while."""
    until = time.monotonic() + seconds
    while marked(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def in_child(work: Callable[[], object]) -> tuple[str, str]:
    """Do work in a fork; return how that ended ("done", "killed", "refused", ...), and text."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        how, text = "done", ""
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(MOST_SECONDS)
            text = str(work() or "")
        except MlautError as error:
            how, text = "refused", str(error)
        except BaseException:
            how, text = "raised", traceback.format_exc()
        os.write(writing, f"{how}\n{text}".encode()[: 2**17])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        hung = os.WTERMSIG(status) != signal.SIGKILL
        return ("hung" if hung else "killed"), f"signal {os.WTERMSIG(status)}"
    how, _, text = told.partition("\n")
    return how, text


def in_child_and_import(work: Callable[[], object]) -> tuple[str, str]:
    """Do work in a fork, and import here what it has imported: later forks need not do it again."""
    how, text = in_child(lambda: [work(), "\n".join(sys.modules)][1])
    if how == "done":
        for name in {*text.split("\n")} - {*sys.modules}:
            with contextlib.suppress(Exception):  # an alias that its package makes
                importlib.import_module(name)
    return how, text

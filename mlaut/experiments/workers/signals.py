"""Handlers of the signals that stop a run: SIGINT (Ctrl-C) and SIGTERM (sent by containers)."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def _handled_by(handler: Any) -> Iterator[None]:
    """Set a handler for the signals that stop a run; only the main thread may set handlers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handled in before.items():
            signal.signal(number, signal.SIG_DFL if handled is None else handled)


@contextlib.contextmanager
def interrupted_once() -> Iterator[list[int]]:
    """Raise ``KeyboardInterrupt`` at the first signal only: storing the outcomes goes on.

    It yields the list of the signals that have come: code in C may swallow the exception.
    """
    seen: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            raise KeyboardInterrupt
        sys.stderr.write("mlaut: stopping; the finished cells are being stored\n")

    with _handled_by(interrupt):
        yield seen


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Delay signals until the block has ended, for work that must not be interrupted."""
    waiting: list[int] = []
    with _handled_by(lambda number, _: waiting.append(number)):
        yield
    for number in waiting[:1]:
        signal.raise_signal(number)

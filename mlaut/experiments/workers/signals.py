"""Handlers of the signals that stop a run: of a person, a container, and batch systems."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from mlaut.errors import RunInterrupted, TimeIsOver

# Sent before the time of a job is over: USR1 and USR2 as jobs ask for it, XCPU by a limit of CPU.
_OF_TIME = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, *_OF_TIME)


def interrupt_of(signals: list[int]) -> type[RunInterrupted]:
    """Return what a run that these signals stopped raises; the first of them decides."""
    return TimeIsOver if signals and signals[0] in _OF_TIME else RunInterrupted


@contextlib.contextmanager
def stopping_at_once() -> Iterator[None]:
    """Raise `RunInterrupted` at each signal that stops a run, also before its first cell."""

    def stop(number: int, _: FrameType | None) -> None:
        kind = interrupt_of([number])
        raise kind(f"{kind.word}; make the same call again to go on")

    with _handled_by(stop), _heard_in_callbacks(again=True):
        yield


@contextlib.contextmanager
def _heard_in_callbacks(again: bool) -> Iterator[None]:
    """Print no traceback of an interrupt that Python drops, as in the callback of a weak reference.

    It comes again, if asked for, when the callback has ended.
    """
    before = sys.unraisablehook

    def told(dropped: Any) -> None:
        if not isinstance(dropped.exc_value, KeyboardInterrupt):
            before(dropped)
        elif again:
            late = isinstance(dropped.exc_value, TimeIsOver)
            number = signal.SIGUSR1 if late else signal.SIGINT
            here = threading.main_thread().ident
            threading.Timer(0.05, signal.pthread_kill, [here, number]).start()

    sys.unraisablehook = told
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def _handled_by(handler: Any) -> Iterator[None]:
    """Set a handler for the signals that stop a run; only the main thread may set handlers.

    SIGHUP stays ignored where it was, as below ``nohup``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    numbers = [x for x in STOPPING if x != signal.SIGHUP or not ignored]
    before = {number: signal.signal(number, handler) for number in numbers}
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

    with _handled_by(interrupt), _heard_in_callbacks(again=False):
        yield seen


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Delay signals until the block has ended, for work that must not be interrupted."""
    waiting: list[int] = []
    with _handled_by(lambda number, _: waiting.append(number)):
        yield
    for number in waiting[:1]:
        signal.raise_signal(number)

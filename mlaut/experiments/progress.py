"""How far a run is: a bar in a terminal or a notebook, plain lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from mlaut.markup import printable
from mlaut.records import Outcome, Status

__all__ = ["Progress", "clock"]

_LINE_SECONDS = 10.0
_LOOK_SECONDS = 0.5  # how late a line may be
_FEW = 10  # cells after which a guess of the time left is worth telling


class Progress:
    """Show outcomes as they come, and without a terminal a line every ten seconds, come what may.

    Parameters
    ----------
    total : int
        Cells that the run will do.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also a line for each cell that failed.
    now : callable, optional
        What tells the seconds.
    """

    def __init__(
        self, total: int, verbose: int = 1, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts: Counter[Status] = Counter()
        self._total = total
        self._verbose = verbose
        self._now = now
        self._begun = self._told = now()
        self._last = ""
        self._bar = _bar(total) if verbose and total else None
        self._lines = bool(verbose and total and self._bar is None)
        self._ended = threading.Event()
        self._telling = threading.Lock()

    def __enter__(self) -> Self:
        if self._lines:  # the engine may have nothing to say for hours: a cell may take as long
            threading.Thread(target=self._tell_on, name="mlaut progress", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            with self._telling:
                self._say(self._line(""))

    @property
    def failed(self) -> int:
        """Cells that failed so far."""
        return sum(count for status, count in self.counts.items() if status.failed)

    def update(self, outcomes: list[Outcome]) -> None:
        """Count outcomes and show them."""
        self.counts.update(outcome.status for outcome in outcomes)
        for outcome in outcomes:
            if self._verbose > 1 and outcome.status.failed:
                self._say(f"{outcome.cell}: {outcome.status.word}: {outcome.reason}")
        last = printable(f"{outcomes[-1].cell.strategy} on {outcomes[-1].cell.dataset}", "")
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self.failed} failed, {last}", refresh=False)
            self._bar.update(len(outcomes))
        else:
            self._last = f": {last}"
            self.tell()

    def tell(self) -> None:
        """Write a line where there is no bar and the last line is ten seconds old."""
        with self._telling:
            now = self._now()
            if self._lines and not self._ended.is_set() and now - self._told >= _LINE_SECONDS:
                self._told = now
                self._say(self._line(self._last))

    def _tell_on(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.tell()

    def _line(self, tail: str) -> str:
        n, elapsed = self.counts.total(), self._now() - self._begun
        left = (
            f", about {clock(elapsed / n * (self._total - n))} left"
            if _FEW <= n < self._total
            else ""
        )
        return (
            f"{n}/{self._total} cells ({n / self._total:.0%}), {self.failed} failed, "
            f"{clock(elapsed)} elapsed{left}{tail}"
        )

    def _say(self, line: str) -> None:
        line = printable(line, "")
        if self._bar is not None:
            self._bar.write(f"mlaut: {line}", file=sys.stderr)
        else:
            sys.stderr.write(f"mlaut: {line}\n")
            sys.stderr.flush()


def _bar(total: int) -> Any:
    """Return a bar where someone can watch one, else None."""
    settings: dict[str, Any] = {
        "total": total,
        "unit": "cell",
        "dynamic_ncols": True,
        "smoothing": 0.1,
    }
    if _in_notebook():
        try:
            import ipywidgets  # noqa: F401
            from tqdm.notebook import tqdm as notebook_tqdm

            return notebook_tqdm(**settings)
        except ImportError:
            pass
    elif not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    return tqdm(**settings)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def clock(seconds: float) -> str:
    """Write a time as a clock does.

    Examples
    --------
    >>> clock(75.4), clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

"""Progress of a run: a bar in a terminal or a notebook, plain lines in a log."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

from mlaut.helpers.markup import counted, printable
from mlaut.records import Outcome, Status

_LINE_SECONDS = 10.0  # between two lines of a log
FEW_CELLS = 10  # cells that must have ended before the time left is estimated


class RunProgress:
    """Display of the progress of a run.

    Without a terminal, a line is written every ten seconds. Engines cause this while no cell ends:
    they yield an empty list about every second (the engine ``"inline"`` cannot).

    Parameters
    ----------
    total : int
        Number of cells that the run will do.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also a line for each failed cell.
    now : callable, optional
        Function that returns the time in seconds; default `time.monotonic`.
    """

    def __init__(
        self, total: int, verbose: int = 1, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts: Counter[Status] = Counter()
        self._total = total
        self._verbose = verbose
        self._now = now
        self._begun = self._line_written = self._last_ended = now()
        self._last = ""
        self._bar = _bar(total=total, unit="cell") if verbose and total else None
        self._lines = bool(verbose and total and self._bar is None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            self._write(self._line(""))

    @property
    def failed(self) -> int:
        """Number of cells that failed so far."""
        return sum(count for status, count in self.counts.items() if status.failed)

    def update(self, outcomes: list[Outcome]) -> None:
        """Count outcomes, none or several, and show the progress."""
        self.counts.update(outcome.status for outcome in outcomes)
        for outcome in outcomes:
            if self._verbose > 1 and outcome.status.failed:
                self._write(f"{outcome.cell}: {outcome.status.word}: {outcome.reason}")
        if outcomes:
            cell = outcomes[-1].cell
            self._last = printable(f"{cell.strategy} on {cell.dataset}", "")
            self._last_ended = self._now()
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self.failed} failed, {self._last}", refresh=False)
            self._bar.update(len(outcomes))
        elif self._lines and self._now() - self._line_written >= _LINE_SECONDS:
            self._line_written = self._now()
            self._write(self._line(f": {self._last}" if self._last else ""))

    def _line(self, tail: str) -> str:
        n, elapsed = self.counts.total(), self._now() - self._begun
        expected = elapsed / max(n, 1) * (self._total - n)
        slower = self._now() - self._last_ended > expected  # than those that have ended
        left = (
            ""
            if n < FEW_CELLS or n == self._total or slower
            else f", about {duration(expected)} left"
        )
        return (
            f"{n}/{counted(self._total, 'cell')} ({n / self._total:.0%}), {self.failed} failed, "
            f"{duration(elapsed)} elapsed{left}{tail}"
        )

    def _write(self, line: str) -> None:
        line = printable(line, "")
        if self._bar is not None:
            self._bar.write(f"mlaut: {line}", file=sys.stderr)
        else:
            sys.stderr.write(f"mlaut: {line}\n")
            sys.stderr.flush()


def shown(items: Sequence[Any], unit: str) -> Iterable[Any]:
    """Return items that show a progress bar, as a run does, until the last one is done.

    Parameters
    ----------
    items : sequence
    unit : str
        Name of one item.
    """
    bar: Iterable[Any] | None = _bar(iterable=items, unit=unit, leave=False)
    return items if bar is None else bar


def _bar(**how: Any) -> Any:
    """Return a progress bar for a notebook or a terminal; None where the output is a log."""
    if not (_in_notebook() or sys.stderr.isatty()):
        return None
    # a widget in a notebook that has ipywidgets; without them tqdm.auto would warn
    tqdm = import_module("tqdm.auto" if find_spec("ipywidgets") else "tqdm").tqdm
    return tqdm(dynamic_ncols=True, smoothing=0.1, **how)


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


def duration(seconds: float) -> str:
    """Return a time as text, in minutes and seconds, or hours, minutes and seconds.

    Examples
    --------
    >>> duration(75.4), duration(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

"""A live view of a study in the terminal."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mlaut.plugins import duration, holder_words, one_line, race_of
from mlaut.records import Status
from mlaut_extras.snapshot import Snapshot, take_snapshot

_PAUSE = 2.0  # seconds between two views, at the least
_SHARE = 10  # reading takes at most a tenth of the time, however large the study is
_BLOCKS = "·░▒▓█"  # no cell of a square is done ... all are
_FAILURES = 5
_NAME = 32  # characters of a strategy's name; longer ones end with an ellipsis
# What stands beside the strategies: title, bar, run, race, their blank lines, and the failures.
_OTHER_LINES = 9 + _FAILURES


def follow_study(database: Path, title: str) -> None:
    """Show the progress of a study until it ends or Ctrl-C; only once without a terminal."""
    console = Console(highlight=False)

    def view() -> tuple[Snapshot, Any]:
        now = take_snapshot(database, n_failures=_FAILURES)
        race = race_of(database)
        told = "" if race is None else race.now().sentence()
        return now, _view(now, title, told, console.width, console.height)

    if not console.is_terminal:
        console.print(view()[1])
        return
    try:
        with Live(console=console, auto_refresh=False, screen=True) as live:
            now, drawn = view()
            while not now.finished:
                live.update(drawn, refresh=True)
                begun = time.monotonic()
                now, drawn = view()
                took = time.monotonic() - begun
                time.sleep(max(_PAUSE, _SHARE * took))
    except KeyboardInterrupt:
        now, drawn = view()
    console.print(drawn)  # the last view stays on the screen


def _view(now: Snapshot, title: str, race: str, width: int, height: int) -> Any:
    """Return the view for the terminal, which rich renders."""
    status = now.status
    lines: list[Any] = [Text(one_line(title or status.path), style="bold"), _counts(now, width)]
    lines += [Text(text, overflow="ellipsis", no_wrap=True) for text in _sentences(now)]
    if race:
        lines.append(Text(f"race: {one_line(race)}"))
    if status.n_cells:
        lines += [Text(), _table(now, width, max(height - _OTHER_LINES, 3))]
    if now.failures:
        lines += [Text(), Text("last failures", style="bold")]
    for cell in now.failures:
        at = f"{cell['strategy']} on {cell['dataset']}: {cell['status']}: {cell['reason']}"
        lines.append(Text(one_line(at), style="red", overflow="ellipsis", no_wrap=True))
    return Group(*lines)


def _counts(now: Snapshot, width: int) -> Text:
    """Return a bar of all cells, and their numbers."""
    total, n = now.status.total, max(now.status.n_cells, 1)
    ended, failed = n - total[Status.MISSING], now.status.n_failed
    words = f"  {now.status.n_done} done, {failed} failed, {total[Status.MISSING]} left"
    other = sum(total[kind] for kind in (Status.SKIPPED, Status.RACED_OUT))
    words += f", {other} not needed" if other else ""
    if not now.status.n_cells:
        return Text("no cells yet")
    room = max(width - len(words) - 6, 10)
    filled = room * ended // n
    text = Text("█" * filled, style="green")
    text.append("░" * (room - filled), style="dim")
    text.append(f" {ended / n:4.0%}{words}", style="default")
    return text


def _sentences(now: Snapshot) -> list[str]:
    running = now.status.running
    if not running:
        left = now.status.total[Status.MISSING]
        return ["no run is active" + (": 'mlaut run' does the cells that are left" if left else "")]
    pace = f"{now.cells_per_minute:.3g} cells a minute"
    left_text = "" if math.isnan(now.seconds_left) else f", about {duration(now.seconds_left)} left"
    who, since = holder_words(running), running.get("since", "?")
    return [
        f"{pace}{left_text}",
        one_line(f"{who} runs since {since}; last progress {running['silent']:.0f} s ago"),
    ]


def _table(now: Snapshot, width: int, most: int) -> Any:
    """Return a row of squares for each strategy; without room, those with open cells come first."""
    status = now.status
    cells, left = status.cells, status.cells[:, :, Status.MISSING].sum(axis=0)
    failed = cells[:, :, [kind for kind in Status if kind.failed]].sum(axis=2)
    order = np.argsort(-left, kind="stable") if len(left) > most else np.arange(len(left))
    names = [one_line(name) for name in status.strategies]
    name_width = min(max(map(len, names)), _NAME)
    table = Table(box=None, pad_edge=False, show_header=False)
    for options in ({"width": name_width, "overflow": "ellipsis"}, {}, {"justify": "right"}):
        table.add_column(no_wrap=True, **options)
    squares = max(min(len(status.datasets), width - name_width - 22), 1)
    for s in order[:most].tolist():
        total = int(cells[:, s].sum())
        text = f"{total - int(left[s])}/{total}"
        if failed[:, s].any():
            text += f", {int(failed[:, s].sum())} failed"
        table.add_row(Text(names[s]), _squares(cells[:, s], failed[:, s], squares), Text(text))
    if len(order) > most:
        table.add_row(Text(f"and {len(order) - most} more"), Text(), Text())
    return table


def _squares(cells: np.ndarray, failed: np.ndarray, n: int) -> Text:
    """Return n squares that stand for the datasets of one strategy, in their order."""
    row = Text()
    for part, bad in zip(np.array_split(cells, n), np.array_split(failed, n), strict=True):
        total = int(part.sum())
        ended = total - int(part[:, Status.MISSING].sum())
        level = 0 if not ended else 1 + (len(_BLOCKS) - 2) * ended // total
        row.append(_BLOCKS[level], style="red" if bad.any() else "green" if level else "dim")
    return row

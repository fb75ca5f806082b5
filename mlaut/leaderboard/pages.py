"""The pages of a board: all listed entries, the history, and what was verified."""

from __future__ import annotations

import os
from pathlib import Path

from mlaut.bundles import build_leaderboard
from mlaut.leaderboard.board import Board
from mlaut.leaderboard.verdict import Verdict


def build_pages(board: Board, output: str | os.PathLike[str]) -> Path:
    """Write the static pages of a board (`mlaut.bundles.build_leaderboard`), and return the index.

    The index also has the history: every entry that was judged, by its claim, with its verdict,
    its rank when it came, the evidence that it is a record, what was verified, and its costs.
    """
    places, rows = [board.bundle.folder, *board.listed()], [_row(one) for one in board.verdicts()]
    return build_leaderboard(places, output, title=board.title, history=rows)


def _row(found: Verdict) -> dict[str, object]:
    interval = evidence = seconds = ""
    if found.rank is not None:
        interval = found.ranked()
        evidence = f"{found.evidence:.3g} of {found.needed:.3g}"
        seconds = f"{found.claimed_seconds:.3g}; {found.measured_seconds:.3g}"
    return {
        "entry": found.entry,
        "claim": found.claim,
        "strategy": found.strategy,
        "authors": found.authors,
        "verdict": found.verdict + (", record" if found.record else ""),
        "rank when it came": interval,
        "evidence": evidence,
        "hardest to beat": found.rival,
        "fitted again": f"{found.fitted} of {found.cells} cells" if found.cells else "",
        "seconds of a cell, claimed; here": seconds,
        "versions": found.checks.get("versions", ""),
        "reason": found.why,
    }

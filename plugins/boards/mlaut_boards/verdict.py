"""Verdict on an entry: a record, its JSON form for the repository, and its form as a comment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from mlaut_exchange import read_small

from mlaut.errors import StoreError
from mlaut.helpers.markup import json_text, marked
from mlaut.plugins import read_json

FORMAT = 1
ACCEPTED, PROVISIONAL, REFUSED = WORDS = ("accepted", "provisional", "refused")


@dataclass(frozen=True)
class Verdict:
    """Verdict on an entry of a board.

    Attributes
    ----------
    entry : str
        Name of the folder of the entry.
    title, authors, strategy : str
    digest : str
        SHA-256 of the manifest of the entry.
    seed : str
        Text that was fixed after the entry and that seeded the draw of its cells.
    claim : int
        Number of the claim, from 1. The j-th claim is tested at level 6 alpha / (pi j)^2.
    verdict : {"accepted", "provisional", "refused"}
    why : str
        The reason; for an accepted entry, whether it is a record.
    checks : dict of str to str
        Result of each check, in the order of the checks.
    record : bool
        Whether the entry is shown to be better than all entries before it.
    score, rank, rank_low, rank_high, best : float, optional
        Mean score by the metric of the board; average rank with its 95% interval; P(best). All are
        None if the entry was refused before it was ranked. The interval is also None if the entry
        has the same rank on all datasets, because a spread of zero shows nothing about others.
    evidence, needed : float, optional
        1 / p for "not better than the rival", and the evidence that a claim of this number
        needs.
    rival : str
        The entry that is hardest to beat.
    difference, difference_low, difference_high : float, optional
        Mean over datasets of the loss of the rival minus that of the entry, with its 95% interval
        by Student's t for this pair alone. Above 0 the entry is better.
    cells, fitted : int
        Number of cells of the entry, and of those that were fitted again.
    claimed_seconds, measured_seconds : float, optional
        Mean seconds of a cell, as claimed and as measured by the board.
    """

    entry: str
    seed: str
    claim: int
    title: str = ""
    authors: str = ""
    strategy: str = ""
    digest: str = ""
    verdict: str = REFUSED
    why: str = ""
    checks: dict[str, str] = field(default_factory=dict)
    record: bool = False
    score: float | None = None
    rank: float | None = None
    rank_low: float | None = None
    rank_high: float | None = None
    best: float | None = None
    evidence: float | None = None
    needed: float | None = None
    rival: str = ""
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    cells: int = 0
    fitted: int = 0
    claimed_seconds: float | None = None
    measured_seconds: float | None = None

    def to_json(self) -> str:
        """Return the verdict as JSON; a number that is not known is null."""
        return json_text({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

    def ranked(self) -> str:
        """Return the average rank of an entry that was ranked, with its interval, in words."""
        if self.rank_low is None:
            return f"{self.rank:.3g} (the same on all datasets: no interval)"
        return f"{self.rank:.3g} (95% interval {self.rank_low:.3g} to {self.rank_high:.3g})"

    def row(self) -> dict[str, object]:
        """Return the entry's row in the history of a board: its claim, and what was verified."""
        interval = evidence = seconds = ""
        if self.rank is not None:
            interval = self.ranked()
            evidence = f"{self.evidence:.3g} of {self.needed:.3g}"
            seconds = f"{self.claimed_seconds:.3g}; {self.measured_seconds:.3g}"
        return {
            "entry": self.entry,
            "claim": self.claim,
            "strategy": self.strategy,
            "authors": self.authors,
            "verdict": self.verdict + (", record" if self.record else ""),
            "rank when it came": interval,
            "evidence": evidence,
            "hardest to beat": self.rival,
            "fitted again": f"{self.fitted} of {self.cells} cells" if self.cells else "",
            "seconds of a cell, claimed; here": seconds,
            "versions": self.checks.get("versions", ""),
            "reason": self.why,
        }

    @classmethod
    def read(cls, path: Path) -> Verdict:
        """Return the verdict in a JSON file, after a check of every value.

        Raises
        ------
        StoreError
            The file is not a verdict.
        """
        values = read_bounded(path)
        try:
            if values.pop("format") != FORMAT:
                raise ValueError("another format")
            for name, kind in get_type_hints(cls).items():
                if not isinstance(values[name], dict if name == "checks" else kind):
                    raise TypeError(f"{name} is of another type")
            if values["verdict"] not in WORDS or not all(
                isinstance(text, str) for text in values["checks"].values()
            ):
                raise ValueError("another word")
            return cls(**values)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{path}: is no verdict ({error}); judge the entry again") from error

    def to_markdown(self) -> str:
        """Return the verdict as a comment in Markdown; texts of strangers cannot mark it up."""
        lines = [
            f"### {marked(self.entry)}: {self.verdict}{', a new record' if self.record else ''}",
            f"\n{marked(self.why)}\n",
        ]
        if self.rank is not None and self.difference is not None:
            than = "worse" if self.difference < 0 else "better"
            lines += [
                f"- **{marked(self.strategy)}** by {marked(self.authors)}: mean score "
                f"{self.score:.4g}, average rank {self.ranked()}, P(best) {self.best:.2g}",
                f"- hardest to beat: {marked(self.rival)}; {than} than it by "
                f"{abs(self.difference):.3g} in the mean (95% interval {self.difference_low:.3g} "
                f"to {self.difference_high:.3g}, above 0: better)",
                f"- evidence that it is a record: {self.evidence:.3g}, and claim {self.claim} "
                f"of this board needs {self.needed:.3g}",
            ]
        rows = [f"| {marked(name)} | {marked(text)} |" for name, text in self.checks.items()]
        lines += ["", "| checked | found |", "|---|---|", *rows, ""]
        lines.append(
            f"{self.fitted} of {self.cells} cells were fitted again, drawn by the digest "
            f"`{self.digest[:16]}` and `{marked(self.seed)}`."
        )
        # A sign without width after each @, so that a comment calls nobody.
        return "\n".join(lines).replace("@", "@\u200b") + "\n"


def read_bounded(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a bounded size, which may come from a stranger.

    Raises
    ------
    StoreError
        The path is not a plain file, is too large, or holds no JSON object.
    """
    with suppress(RecursionError, ValueError):
        value = read_json(read_small(path, path))
        if isinstance(value, dict):
            return value
    raise StoreError(f"{path}: no JSON object; make it again")

"""The verdict on an entry: a record, as JSON that a repository keeps, and as a comment."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from mlaut.bundles.opening import read_small
from mlaut.errors import StoreError
from mlaut.files_io.safe_files.untrusted import read_json
from mlaut.markup import json_text, marked

FORMAT = 1
ACCEPTED, PROVISIONAL, REFUSED = WORDS = ("accepted", "provisional", "refused")


@dataclass(frozen=True)
class Verdict:
    """The verdict on an entry of a board.

    Attributes
    ----------
    entry : str
        Name of its folder.
    title, authors, strategy : str
    digest : str
        SHA-256 of the manifest of the entry.
    seed : str
        Text that was fixed after the entry, from which its sample of cells was drawn.
    claim : int
        Number of the claim, from 1: the j-th is tested at level 6 alpha / (pi j)^2.
    verdict : {"accepted", "provisional", "refused"}
    why : str
        The reason; for an accepted entry, what it is.
    checks : dict of str to str
        What was found, by check, in the order of the checks.
    record : bool
        Whether it is shown to be better than all entries before it.
    score, rank, rank_low, rank_high, best : float, optional
        Mean score by the metric of the board; average rank with its 95% interval; P(best). None
        where the entry was refused before it was ranked; the interval also where the entry has the
        same rank on all datasets, whose spread of zero says nothing of other datasets.
    evidence, needed : float, optional
        The e-value against "not better than the entry that is hardest to beat", and that which a
        claim of this number needs.
    rival : str
        That entry.
    cells, fitted : int
        Cells of the entry, and how many of them were fitted again.
    claimed_seconds, measured_seconds : float, optional
        Mean seconds of a cell as claimed, and when the board fitted it.
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
        """Return the row of the history of a board: what was claimed, and what was verified."""
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
        """Return the verdict in a JSON file, every value checked.

        Raises
        ------
        StoreError
            The file is no verdict.
        """
        found = read_bounded(path)
        try:
            if found.pop("format") != FORMAT:
                raise ValueError("another format")
            for name, kind in get_type_hints(cls).items():
                if not isinstance(found[name], dict if name == "checks" else kind):
                    raise TypeError(f"{name} is of another type")
            if found["verdict"] not in WORDS or not all(
                isinstance(text, str) for text in found["checks"].values()
            ):
                raise ValueError("another word")
            return cls(**found)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StoreError(f"{path}: is no verdict ({error}); judge the entry again") from error

    def to_markdown(self) -> str:
        """Return the verdict as a comment in Markdown; texts of strangers cannot mark it up."""
        lines = [
            f"### {marked(self.entry)}: {self.verdict}{', a new record' if self.record else ''}",
            f"\n{marked(self.why)}\n",
        ]
        if self.rank is not None:
            lines += [
                f"- **{marked(self.strategy)}** by {marked(self.authors)}: mean score "
                f"{self.score:.4g}, average rank {self.ranked()}, P(best) {self.best:.2g}",
                f"- hardest to beat: {marked(self.rival)}; evidence {self.evidence:.3g}, and claim "
                f"{self.claim} of this board needs {self.needed:.3g}",
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
        It is no plain file, is too large, or holds no JSON object.
    """
    with suppress(RecursionError, ValueError):
        found = read_json(read_small(path, path))
        if isinstance(found, dict):
            return found
    raise StoreError(f"{path}: no JSON object; make it again")

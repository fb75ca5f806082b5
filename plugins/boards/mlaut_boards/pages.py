"""Leaderboard: static pages over all strategies of several bundles with the same splits."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlaut_exchange import disagreement, open_bundle

from mlaut.errors import StudyError
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore, merge_studies
from mlaut.helpers.downloads import MOST_BYTES
from mlaut.plugins import (
    Kind,
    explained,
    extends,
    kind_of,
    merged_strategies,
    problems_of,
    unfinished,
)
from mlaut_boards.site import MARK, Entrant, site_pages


def build_leaderboard(
    places: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    title: str = "",
    limit: int = MOST_BYTES,
    history: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write static pages over all strategies of bundles that share their splits.

    There is an index with ranks, P(best) and groups of all strategies, and a page for each strategy
    and for each dataset. Other files show who added what, the report of all results with its
    explorer, and all scores as CSV. The pages make no request to a network. The same bundles always
    make the same bytes.

    Parameters
    ----------
    places : iterable of str or path-like
        Bundles (`open_bundle`), or folders with bundles in them (folders and ``.zip`` files).
    output : path-like
        Folder of the pages. An older leaderboard there is replaced; anything else is left alone.
    title : str
        Default: the title of the oldest bundle.
    limit : int
        Bytes that a bundle may have if it is downloaded or unpacked; default 4 GiB.
    history : sequence of mapping
        Rows of a further table of the index, by column: the claims, and what was verified.

    Returns
    -------
    Path
        The index.

    Raises
    ------
    StoreError
        A bundle cannot be opened.
    StudyError
        There is no bundle; two bundles differ in the splits or contents of a dataset, in the
        strategy of one name or in the predictions of a cell, or share no dataset; or the output is
        not a leaderboard.
    """
    target = Path(os.path.expanduser(output))
    _check_output(target)
    entrants = _entrants(places, limit)
    _check_together(entrants)
    with explained(target, "writing a leaderboard"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished(target, folder=True) as (folder, _):
            site = folder / "site"
            site.mkdir()
            studies = [entrant.bundle.study for entrant in entrants]
            study = StudyStore(studies[0])
            if len(studies) > 1:
                study = merge_studies(studies, folder / "all.h5")
            title = title or entrants[0].bundle.title
            for name, text in site_pages(study, entrants, title, history):
                (site / name).write_text(text, encoding="utf-8", errors="backslashreplace")
            if target.exists():
                target.rename(folder / "old")
            site.rename(target)
    return target / "index.html"


def _check_output(target: Path) -> None:
    index = target / "index.html"
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not index.is_file() or MARK not in index.read_text(encoding="utf-8", errors="replace"):
        raise StudyError(f"{target}: exists, and is no leaderboard; name another output")


# -------------------------------------------------------------------- the bundles


def _entrants(places: Iterable[str | os.PathLike[str]], limit: int) -> list[Entrant]:
    entrants: dict[str, Entrant] = {}
    for place in _each(places):
        bundle = open_bundle(place, limit=limit)
        study = StudyStore(bundle.study)
        for where, what in (*disagreement(bundle, study), *problems_of(study)):
            raise StudyError(f"{place}: {where}: {what}; do not trust this bundle")
        entrants.setdefault(bundle.digest, Entrant.of(place, bundle))  # a copy adds nothing
    if not entrants:
        raise StudyError("there is no bundle in these places; 'mlaut publish' makes one")
    return sorted(entrants.values(), key=lambda entrant: entrant.order)


def _each(places: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    for place in map(os.path.expanduser, places):
        if kind_of(place) is Kind.BUNDLE:
            yield place
        elif not Path(place).is_dir():
            raise StudyError(f"{place}: no bundle, and no folder of bundles; check the path")
        else:
            yield from (
                str(path) for path in sorted(Path(place).iterdir()) if kind_of(path) is Kind.BUNDLE
            )


def _check_together(entrants: Sequence[Entrant]) -> None:
    """Check that bundles can be compared in one table."""
    first: dict[str, tuple[SplitEntry, str]] = {}
    strategies: list[StrategyEntry] = []
    for entrant in entrants:
        if first and not set(first) & set(entrant.splits):
            raise StudyError(
                f"{entrant.place}: shares no dataset with the other bundles; make a leaderboard of "
                "its own"
            )
        for name, entry in entrant.splits.items():
            earlier, place = first.setdefault(name, (entry, entrant.place))
            if not (extends(earlier, entry) or extends(entry, earlier)):
                what = "split" if earlier.fingerprint == entry.fingerprint else "content"
                raise StudyError(
                    f"{entrant.place}: dataset {name!r} has another {what} than in {place}; only "
                    "bundles of the same splits can stand in one leaderboard"
                )
        try:
            strategies = merged_strategies(strategies, entrant.strategies, replace=False)
        except StudyError as error:
            raise StudyError(f"{entrant.place}: {error}") from None

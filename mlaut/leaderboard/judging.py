"""Judge an entry: what it is, what fits of it gave, and whether it is a new record."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from mlaut.analysis import new_records
from mlaut.bundles import verify_bundle
from mlaut.bundles.manifest import MANIFEST, STRATEGIES, Bundle
from mlaut.errors import MlautError, StudyError
from mlaut.files_io import StudyStore, merge_studies
from mlaut.files_io.outcomes.study_records import foreign_sources, split_change
from mlaut.leaderboard.board import Board, own_seeds
from mlaut.leaderboard.refits import drawn
from mlaut.leaderboard.verdict import ACCEPTED, PROVISIONAL, REFUSED, Verdict
from mlaut.markup import counted
from mlaut.records import Status
from mlaut.report import make_report

# Levels of single checks. An honest entry is refused by any of them with a probability of about
# 0.001, a hundredth of what one would notice; forged ones are far below.
_LEVEL = 0.0005
# Greatest share of rows with another prediction: other processors, thread counts and versions of
# libraries move ties only; measured in docs/publishing.md.
_SHARE = 0.01
_FEWEST = 8  # cells fitted again, or all of an entry, below which nothing is shown
_FASTER = (
    10.0  # times that a machine of today may be faster than the one that judges, busy as it is
)
_FEW = 5  # datasets below which chance can look like memory
_NAMES = 3  # names in a message
_PACKAGES = ("python", "numpy", "scipy", "scikit-learn")


class _RefusedError(Exception):
    """An entry is refused; the text is the reason."""


@dataclass
class _Found:
    """What is known of an entry while it is judged."""

    board: Board
    bundle: Bundle
    study: StudyStore
    checks: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    unsure: str = ""

    @property
    def strategy(self) -> str:
        """Name of its strategy."""
        return self.study.strategies[0].name


def judge_entry(
    board: Board,
    place: str | os.PathLike[str],
    fits: Mapping[str, Any],
    *,
    seed: str,
    claim: int,
) -> Verdict:
    """Judge an entry of a board; no code of it is run.

    Parameters
    ----------
    board : Board
    place : path-like
        Folder of the entry.
    fits : mapping
        What `refit_entry` returned.
    seed : str
        Text that was fixed after the entry, with which its cells were drawn.
    claim : int
        Number of this claim on the board, from 1. All claims that were ever judged count, so that
        the error over all of them is at most the level of the board's analysis.

    Returns
    -------
    Verdict
        ``refused`` names the check that failed. ``provisional`` is an entry that is ahead of all
        others without being shown to be better, or of which too few cells could be fitted again.
        ``accepted`` is any other: a record, or an entry that is not ahead.

    Raises
    ------
    StudyError
        The claim is no positive number, or the board is damaged.

    Notes
    -----
    Each check of refits is against "the claim is what an honest run gives". Predictions: at most 1%
    of the rows differ, and the cells with a claim nearer to the truth are not more than those with
    one farther from it (sign test). Seeds: the claimed score of a dataset is exchangeable with
    those of copies with the rows in another order (Besag and Clifford 1989); the ranks are added
    up over datasets, whose sum has a known distribution. The record: see
    `mlaut.analysis.methods.aggregates.new_records`; the j-th claim needs the evidence
    pi^2 j^2 / (6 alpha).
    """
    folder = Path(place)
    if claim < 1:
        raise StudyError(f"claim {claim}: claims are numbered from 1")
    about: dict[str, Any] = {"entry": folder.name, "seed": seed, "claim": claim}
    listed = [one for one in board.listed() if one[0].name != folder.name]
    try:
        found = _opened(board, folder)
    except (_RefusedError, MlautError) as error:
        unknown: Any = dict.fromkeys(("title", "authors", "strategy", "digest"), "")
        return Verdict(**about, **unknown, verdict=REFUSED, why=str(error), checks={})
    about |= {"title": found.bundle.title, "digest": found.bundle.digest}
    about |= {"authors": ", ".join(found.bundle.authors), "strategy": found.strategy}
    word, why, record = REFUSED, "", False
    try:
        for check in (_check_content, _check_scores):
            check(found)
        _check_copies(found, [board.study, *(StudyStore(one / "study.h5") for one, _ in listed)])
        _check_fits(found, fits, seed)
        record = _rank(found, [one for one, _ in listed], claim)
        ahead = found.numbers.pop("ahead")
        word = PROVISIONAL if found.unsure or (ahead and not record) else ACCEPTED
        why = found.unsure or (
            "It is a new record: it is shown to be better than every earlier entry."
            if record
            else "It is ahead of every earlier entry, and the evidence is not enough for a record."
            if ahead
            else "Its results hold. It is not ahead of every earlier entry."
        )
        record = record and not found.unsure
    except _RefusedError as error:
        why = str(error)
    found.numbers.pop("ahead", None)
    return Verdict(
        **about, verdict=word, why=why, checks=found.checks, record=record, **found.numbers
    )


# -------------------------------------------------------------------- the content


def _opened(board: Board, folder: Path) -> _Found:
    if folder.is_symlink() or not folder.is_dir():
        raise _RefusedError("The entry is no folder.")
    size = sum(path.lstat().st_size for path in folder.iterdir())
    if size > board.limit:
        raise _RefusedError(f"It has {size:,} bytes, and the board allows {board.limit:,}.")
    bundle, verified = verify_bundle(folder, limit=board.limit)
    for where, what in verified.problems:
        raise _RefusedError(f"{where}: {what}.")
    study = StudyStore(bundle.study)
    found = _Found(board, bundle, study, {"digests": f"{len(bundle.files)} files as {MANIFEST}"})
    if len(study.strategies) != 1:
        raise _RefusedError(f"It has {len(study.strategies)} strategies, and an entry has one.")
    return found


def _check_content(found: _Found) -> None:
    """Check that the datasets, the splits, the seeds and the cells are those of the board."""
    board, study, entries = found.board, found.study, found.study.load_splits()
    for name, wanted in board.study.load_splits().items():
        entry = entries.get(name)
        if entry is None or entry.fingerprint != wanted.fingerprint:
            what = "is missing" if entry is None else "has another content"
            raise _RefusedError(f"The dataset {name!r} {what}.")
        same = entry.split.folds.shape == wanted.split.folds.shape
        if not (same and np.array_equal(entry.split.folds, wanted.split.folds)):
            change = split_change(wanted.split, entry.split)
            raise _RefusedError(f"The dataset {name!r} has other splits: {change}.")
        if not np.array_equal(entry.truth, wanted.truth):
            raise _RefusedError(f"The dataset {name!r} has another truth.")
    if extra := sorted(set(entries) - set(board.study.datasets)):
        raise _RefusedError(f"The board does not have the dataset {extra[0]!r}.")
    seeds = {run.get("seed") for run in study.runs}
    if seeds != {board.seed}:
        named = ", ".join(map(str, sorted(seeds, key=str))) or "none"
        raise _RefusedError(f"It was run with the seed {named}, and the board's is {board.seed}.")
    if fixed := own_seeds(study.strategies[0]):
        raise _RefusedError(f"It has a seed of its own ({fixed[0]}); the board draws all seeds.")
    if foreign := foreign_sources(study.strategies):
        raise _RefusedError(f"It comes from {next(iter(foreign.values()))}, and cannot be fitted.")
    statuses = np.concatenate([one.ravel() for _, one in study.statuses().values()])
    if lacking := int(np.isin(statuses, [Status.MISSING, Status.SKIPPED]).sum()):
        raise _RefusedError(f"{lacking} of {len(statuses)} cells were not run.")
    found.numbers["cells"] = int((statuses == Status.DONE).sum())
    found.checks["datasets, splits, seeds"] = f"{counted(len(entries), 'dataset')} as the board's"
    then, now = (
        dict(one.runs[-1], **one.runs[-1].get("versions", {})) for one in (board.study, study)
    )
    other = [f"{x} {now.get(x)} ({then.get(x)})" for x in _PACKAGES if now.get(x) != then.get(x)]
    found.checks["versions"] = ", ".join(other) or "as the board's"


def _check_scores(found: _Found) -> None:
    """Check that the scores that were published are those of the predictions."""
    metric = found.board.chosen.analysis.metric
    path, computed = found.bundle.folder / "scores.csv", _results(found.study, metric).scores
    try:
        table = pd.read_csv(path)
        table = table[table["metric"] == metric]
        said = table.groupby("dataset")["score"].mean().reindex(computed.index)
    except (KeyError, OSError, TypeError, ValueError) as error:
        raise _RefusedError(f"scores.csv cannot be read ({type(error).__name__}).") from error
    both = np.array([said.to_numpy(dtype=float), computed.iloc[:, 0].to_numpy(dtype=float)])
    gaps = np.abs(np.subtract(*np.nan_to_num(both)))
    if gaps.max() > 1e-6:  # far above rounding
        name = computed.index[int(gaps.argmax())]
        raise _RefusedError(f"scores.csv does not have the scores of the predictions on {name!r}.")
    found.checks["scores"] = f"{metric} computed from the predictions, as published"


def _results(study: StudyStore, metric: str) -> Any:
    from mlaut.analysis import Results

    return Results.from_study(study, metric)


def _check_copies(found: _Found, others: Sequence[StudyStore]) -> None:
    """Find the earlier strategy whose predictions are the most like those of the entry."""
    like: dict[str, list[float]] = {}
    for other in others:
        for name in other.datasets:
            mine, block = found.study.block(name), other.block(name)
            scale = 1.0 if block.classes else max(float(block.truth.std()), 1e-300)
            tested = (block.split.folds >= 0) & (mine.predictions[0] == mine.predictions[0])
            for s, strategy in enumerate(block.strategies):
                gap = np.abs(mine.predictions[0] - block.predictions[s])[tested] / scale
                same = gap == 0 if block.classes else gap < 1e-3  # of a standard deviation
                like.setdefault(strategy, []).append(float(same.mean()) if len(same) else 0.0)
    nearest = max(like, key=lambda name: np.mean(like[name]))
    share = float(np.mean(like[nearest]))
    found.checks["most like"] = f"{nearest}: {share:.2%} of the predictions are the same"
    if share == 1:
        raise _RefusedError(f"All its predictions are those of {nearest!r}, which came earlier.")


# ------------------------------------------------------------------------- the fits


def _check_fits(found: _Found, fits: Mapping[str, Any], seed: str) -> None:
    """Check the claims against what fits gave, which another process measured."""
    try:
        if fits["digest"] != found.bundle.digest or fits["seed"] != seed:
            raise _RefusedError("Its fits are of another entry, or were drawn by another text.")
        if fits["error"]:
            hint = "" if STRATEGIES in found.bundle.files else "; publish its Python file with it"
            raise _RefusedError(f"It cannot be fitted again ({fits['error']}){hint}.")
        cells, copies = fits["cells"], fits["copies"]
        wanted = [[c.dataset, c.repeat, c.fold] for c in drawn(found.study, fits["digest"], seed)]
        if sorted(map(str, (one["cell"] for one in cells))) != sorted(
            map(str, wanted[: len(cells)])
        ):
            raise _RefusedError("Its fits are not of the cells that were drawn.")
        found.numbers["fitted"] = len(cells)
        _check_predictions(found, cells)
        _check_costs(found, cells, copies)
        _check_selection(found, copies)
        _check_memory(found, copies)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _RefusedError(
            f"Its fits cannot be read ({type(error).__name__}: {error})."
        ) from error
    if len(cells) < min(_FEWEST, len(wanted)):
        found.unsure = f"Only {counted(len(cells), 'cell')} could be fitted again in the time."


def _check_predictions(found: _Found, cells: Sequence[Mapping[str, Any]]) -> None:
    rows, differ = (sum(int(one[key]) for one in cells) for key in ("rows", "differ"))
    text = f"{counted(len(cells), 'cell')} fitted again: {differ} of {rows:,} rows differ"
    failed = [one["failed"] for one in cells if one["failed"]]
    if failed:
        raise _RefusedError(f"{len(failed)} of {len(cells)} cells fail when fitted: {failed[0]}")
    if differ > _SHARE * rows:
        raise _RefusedError(
            f"Its predictions are not those of its strategy: {text}, and {_SHARE:.0%} is allowed "
            f"(versions: {found.checks['versions']}; most like {found.checks['most like']})."
        )
    nearer = sum(int(one["better"]) > int(one["worse"]) for one in cells)
    farther = sum(int(one["better"]) < int(one["worse"]) for one in cells)
    if binom.sf(nearer - 1, nearer + farther, 0.5) < _LEVEL:
        raise _RefusedError(
            f"Its predictions were improved: {text}, and the claim is nearer to the truth in "
            f"{nearer} of the {nearer + farther} cells that differ."
        )
    found.checks["predictions"] = text


def _check_costs(
    found: _Found, cells: Sequence[Mapping[str, Any]], copies: Mapping[str, Any]
) -> None:
    """Check the claimed times against the shortest that were measured, by dataset."""
    claimed, measured = [], []
    for name, group in groupby(sorted(cells, key=_of_dataset), key=_of_dataset):
        some = list(group)
        claimed.append(float(np.median([one["claimed"] for one in some])))
        shortest = [float(np.median([one["measured"] for one in some]))]
        if name in copies and copies[name]["fresh"]:
            shortest.append(float(copies[name]["seconds"]))
        measured.append(min(shortest))
    ratios = np.array(claimed) / np.maximum(measured, 1e-9)
    means = float(np.mean(claimed)), float(np.mean(measured))
    found.numbers |= dict(zip(("claimed_seconds", "measured_seconds"), means, strict=True))
    text = f"a cell took {means[0]:.3g} s as claimed, and {means[1]:.3g} s here at the shortest"
    scale = min(1.0, float(np.median(ratios)))
    if scale < 1 / _FASTER or (ratios < scale / _FASTER).mean() > 0.25:  # a quarter: no chance
        raise _RefusedError(f"Its costs are not those of its strategy: {text}.")
    found.checks["costs"] = text


def _of_dataset(one: Mapping[str, Any]) -> str:
    return str(one["cell"][0])


def _check_selection(found: _Found, copies: Mapping[str, Any]) -> None:
    """Check that the claims are no better than fits with other random choices."""
    ranks, law = 0.0, np.ones(1)
    for one in copies.values():
        fresh = [x for x in one["fresh"] if x is not None]
        if one["claimed"] is not None and fresh:
            ranks += sum((x > one["claimed"]) + (x == one["claimed"]) / 2 for x in fresh)
            law = np.convolve(law, np.full(len(fresh) + 1, 1 / (len(fresh) + 1)))
    p = float(law[int(np.floor(ranks)) :].sum())
    text = (
        f"better than {ranks:g} of {len(law) - 1} fits with other random choices on "
        f"{counted(len(copies), 'dataset')} (p = {p:.2g})"
    )
    if p < _LEVEL:
        raise _RefusedError(f"Its seeds were chosen, or its splits: its claims are {text}.")
    found.checks["seeds"] = text


def _check_memory(found: _Found, copies: Mapping[str, Any]) -> None:
    """Check that shuffled labels teach nothing: a strategy that knows the answers needs none."""
    shares = [
        (one["remembered"] - one["constant"]) / (one["known"] - one["constant"])
        for one in copies.values()
        if one["known"] - one["constant"] > 0.05  # else nothing tells memory from a constant
    ]
    high = sum(share > 0.5 for share in shares)
    text = (
        f"after shuffled labels it is half as good on {high} of {counted(len(shares), 'dataset')}"
    )
    if len(shares) >= _FEW and high > len(shares) / 2:
        raise _RefusedError(f"It has seen the test rows: {text}.")
    found.checks["memory"] = text


# ----------------------------------------------------------------------- the record


def _rank(found: _Found, listed: Sequence[Path], claim: int) -> bool:
    """Rank the entry among all that are listed, and return whether it is a new record."""
    board, name = found.board, found.strategy
    studies = [board.bundle.study, *(one / "study.h5" for one in listed), found.bundle.study]
    with tempfile.TemporaryDirectory() as folder:
        try:
            merged = merge_studies(studies, Path(folder, "all.h5"))
        except MlautError as error:
            raise _RefusedError(f"It cannot stand beside the others: {error}.") from error
        section = next(one for one in make_report(merged).sections if not one.secondary)
        order = [entry.name for study in studies for entry in StudyStore(study).strategies]
        records = new_records(section.results, list(dict.fromkeys(order)), since=name)
        row = records.frame.loc[name]
        needed = claim**2 * np.pi**2 / (6 * board.chosen.analysis.alpha)
        place = section.tables["standing"].loc[name]
    found.numbers |= {
        "score": float(section.scored.scores[name].mean()),
        "rank": float(place["average rank"]),
        "rank_low": float(place["average rank low"]),
        "rank_high": float(place["average rank high"]),
        "best": float(place["P(best)"]),
        "evidence": float(row["evidence"]),
        "needed": float(needed),
        "rival": str(row["rival"]),
        "ahead": row["claim"] != "",
    }
    found.checks["record"] = (
        f"evidence {row['evidence']:.3g} against {row['rival']}, and {needed:.3g} is needed"
    )
    return bool(row["evidence"] >= needed)

"""Verdict on an entry, from its content, from fits of it, and from tests against others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlaut_exchange import verify_bundle
from scipy.stats import binom

from mlaut.errors import MlautError, StudyError
from mlaut.files_io import StudyStore, merge_studies
from mlaut.plugins import foreign_sources, mean_difference, split_change
from mlaut.records import Status
from mlaut.report import make_report
from mlaut_boards.board import Board, own_seed
from mlaut_boards.growing import claim_needs, new_records
from mlaut_boards.refits import SHARE, drawn
from mlaut_boards.verdict import ACCEPTED, PROVISIONAL, REFUSED, Verdict

# Level of each check: honest entries fail one by chance in 2,000 cases; forged ones are far below.
_LEVEL = 0.0005
_FEWEST = 8  # fewest cells to fit again (or all of an entry) that show anything
_FASTER = 10.0  # how many times faster another machine may be than this one, which may be busy
_FEW = 5  # on fewer datasets than this, chance can look like memory
_PACKAGES = ("python", "numpy", "scipy", "scikit-learn")


class _RefusedError(Exception):
    """Error for an entry that is refused; its text is the reason."""


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
        Result of `refit_entry`.
    seed : str
        Text that was fixed after the entry and that seeded the draw of its cells.
    claim : int
        Number of this claim on the board, from 1. All claims that were ever judged count, so that
        the error over all of them is at most the level of the board's analysis.

    Returns
    -------
    Verdict
        ``refused`` names the check that failed. ``provisional`` means that the entry is ahead of
        all others but not shown to be better, or that too few cells could be fitted again.
        ``accepted`` is any other entry: a record, or an entry that is not ahead.

    Raises
    ------
    StudyError
        The claim is not a positive number, or the board is damaged.

    Notes
    -----
    Each check of refits tests the hypothesis "the claim is the result of an honest run".
    Predictions: at most 1% of the rows differ, and claims are not more often nearer to the truth
    than farther from it (sign test over cells). Seeds: the claimed score of a dataset is
    exchangeable with those of copies with the rows in another order (Besag and Clifford 1989); the
    sum of its ranks over datasets has a known distribution. Record: see
    `mlaut_boards.growing.new_records`; the j-th claim needs the evidence 3.11 j^1.4 / alpha.
    """
    folder = Path(place)
    if claim < 1:
        raise StudyError(f"claim {claim}: claims are numbered from 1")
    verdict = Verdict(entry=folder.name, seed=seed, claim=claim)
    try:
        study, verdict = _opened(board, folder, verdict)
        verdict = replace(verdict, cells=_check_content(board, study, verdict))
        listed = [StudyStore(p / "study.h5") for p in board.listed() if p.name != folder.name]
        _check_copies(study, [board.study, *listed], verdict)
        tried = fits.get("cells")
        verdict = replace(verdict, fitted=len(tried) if isinstance(tried, list) else 0)
        verdict = _check_fits(study, fits, verdict)
        return _with_rank(board, study, listed, verdict)
    except (_RefusedError, MlautError) as error:
        return replace(verdict, verdict=REFUSED, why=str(error))


# -------------------------------------------------------------------- the content


def _opened(board: Board, folder: Path, verdict: Verdict) -> tuple[StudyStore, Verdict]:
    if folder.is_symlink() or not folder.is_dir():
        raise _RefusedError("The entry is no folder.")
    size = sum(path.lstat().st_size for path in folder.iterdir())
    if size > board.limit:
        raise _RefusedError(f"It has {size:,} bytes, and the board allows {board.limit:,}.")
    bundle, verified = verify_bundle(folder, limit=board.limit)
    for where, what in verified.problems:
        raise _RefusedError(f"{where}: {what}.")
    study = StudyStore(bundle.study)
    if len(study.strategies) != 1:
        raise _RefusedError(f"It has {len(study.strategies)} strategies, and an entry has one.")
    verdict.checks["digests"] = f"{len(bundle.files)} files as the manifest says"
    verdict = replace(verdict, title=bundle.title, authors=", ".join(bundle.authors))
    return study, replace(verdict, digest=bundle.digest, strategy=study.strategies[0].name)


def _check_content(board: Board, study: StudyStore, verdict: Verdict) -> int:
    """Check datasets, splits, seeds and cells against the board; return how many cells are done."""
    entries, board_entries = study.load_splits(), board.study.load_splits()
    if set(entries) != set(board_entries):
        name = sorted(set(entries) ^ set(board_entries))[0]
        raise _RefusedError(f"It and the board do not have the same datasets: {name!r}.")
    for name, entry in entries.items():
        theirs = board_entries[name]
        if entry.fingerprint != theirs.fingerprint or not np.array_equal(entry.truth, theirs.truth):
            raise _RefusedError(f"The dataset {name!r} has another content.")
        if not np.array_equal(entry.split.folds, theirs.split.folds):
            change = split_change(theirs.split, entry.split)
            raise _RefusedError(f"The dataset {name!r} has other splits: {change}.")
    seeds = {run.get("seed") for run in study.runs}
    if seeds != {board.seed}:
        raise _RefusedError(f"It was run with other seeds ({seeds}) than the board's {board.seed}.")
    if fixed := own_seed(study.strategies[0]):
        raise _RefusedError(f"It has a seed of its own ({fixed}), and the board draws all seeds.")
    if foreign := foreign_sources(study.strategies):
        raise _RefusedError(f"It comes from {foreign}, and nothing of it can be fitted again.")
    statuses = np.concatenate([status.ravel() for _, status in study.statuses().values()])
    if lacking := int(np.isin(statuses, [Status.MISSING, Status.SKIPPED]).sum()):
        raise _RefusedError(f"{lacking} of {len(statuses)} cells were not run.")
    then, now = ({**x.runs[-1], **x.runs[-1].get("versions", {})} for x in (board.study, study))
    changed = [f"{x} {now.get(x)} ({then.get(x)})" for x in _PACKAGES if now.get(x) != then.get(x)]
    verdict.checks["datasets, splits, seeds"] = f"those of the board, {len(entries)} datasets"
    verdict.checks["versions"] = ", ".join(changed) or "those of the board"
    return int((statuses == Status.DONE).sum())


def _check_copies(study: StudyStore, others: Sequence[StudyStore], verdict: Verdict) -> None:
    """Find the earlier strategy whose predictions are the most like those of the entry."""
    like: dict[str, list[float]] = {}
    for own in study.blocks():
        tested = own.split.folds >= 0
        near = 0.0 if own.classes else 1e-3 * float(own.truth.std())
        for block in (earlier.block(own.dataset) for earlier in others):
            for strategy, theirs in zip(block.strategies, block.predictions, strict=True):
                same = np.isclose(own.predictions[0], theirs, rtol=0, atol=near)[tested]
                like.setdefault(strategy, []).append(float(same.mean()))
    share, nearest = max((float(np.mean(shares)), name) for name, shares in like.items())
    verdict.checks["most like"] = f"{nearest}, in {share:.2%} of the predictions"
    if share == 1:
        raise _RefusedError(f"All its predictions are those of {nearest!r}, which came earlier.")


# ------------------------------------------------------------------------- the fits


def _check_fits(study: StudyStore, fits: Mapping[str, Any], verdict: Verdict) -> Verdict:
    """Check the claims against the results of fits, which another process measured."""
    try:
        if (fits["digest"], fits["seed"]) != (verdict.digest, verdict.seed):
            raise _RefusedError("Its fits are of another entry, or were drawn by another text.")
        if fits["error"]:
            raise _RefusedError(f"It cannot be fitted again: {fits['error']}.")
        cells, copies = pd.DataFrame(fits["cells"]), fits["copies"]
        order = [(c.dataset, c.repeat, c.fold) for c in drawn(study, verdict.digest, verdict.seed)]
        named = sorted(zip(cells["dataset"], cells["repeat"], cells["fold"], strict=True))
        if named != sorted(order[: len(cells)]):
            raise _RefusedError("Its fits are not of the cells that were drawn.")
        _check_predictions(cells, verdict)
        verdict = _check_costs(cells, copies, verdict)
        _check_selection(copies, verdict)
        _check_memory(copies, verdict)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _RefusedError(f"Its fits cannot be read ({error!r}).") from error
    few = len(cells) < min(_FEWEST, len(order))
    unsure = f"Only {len(cells)} cells could be fitted again in the time." if few else ""
    return replace(verdict, why=unsure)


def _check_predictions(cells: pd.DataFrame, verdict: Verdict) -> None:
    differ, rows = int(cells["differ"].sum()), int(cells["rows"].sum())
    text = f"{differ} of {rows:,} rows differ in {len(cells)} cells that were fitted again"
    if failed := [reason for reason in cells["failed"] if reason]:
        raise _RefusedError(f"{len(failed)} of {len(cells)} cells fail when fitted: {failed[0]}.")
    if differ > SHARE * rows:
        raise _RefusedError(
            f"Its predictions are not those of its strategy: {text}, and {SHARE:.0%} may "
            f"(versions: {verdict.checks['versions']}; most like {verdict.checks['most like']})."
        )
    gain = np.sign(cells["better"] - cells["worse"])
    if binom.sf((gain > 0).sum() - 1, (gain != 0).sum(), 0.5) < _LEVEL:
        raise _RefusedError(f"Its predictions were improved: {text}, nearly all for the better.")
    verdict.checks["predictions"] = text


def _check_costs(cells: pd.DataFrame, copies: Mapping[str, Any], verdict: Verdict) -> Verdict:
    """Check the claimed times against the shortest that were measured, by dataset."""
    times = cells.groupby("dataset")[["claimed", "measured"]].median()
    fresh = pd.Series({name: copy["seconds"] for name, copy in copies.items()}, dtype=float)
    times["measured"] = np.fmin(times["measured"], fresh.reindex(times.index))
    ratios = times["claimed"] / times["measured"].clip(lower=1e-9)
    claimed, measured = (float(times[name].mean()) for name in ("claimed", "measured"))
    text = f"{claimed:.3g} s a cell as claimed, {measured:.3g} s here at the shortest"
    scale = min(1.0, float(ratios.median()))
    if scale < 1 / _FASTER or (ratios < scale / _FASTER).mean() > 0.25:  # a quarter is no accident
        raise _RefusedError(f"Its costs are not those of its strategy: {text}.")
    verdict.checks["costs"] = text
    return replace(verdict, claimed_seconds=claimed, measured_seconds=measured)


def _check_selection(copies: Mapping[str, Any], verdict: Verdict) -> None:
    """Check that the claims are no better than fits with other random choices."""
    ranks, law = 0.0, np.ones(1)
    for copied in copies.values():
        fresh = [loss for loss in copied["fresh"] if loss is not None]
        if copied["claimed"] is not None:
            ranks += sum((x > copied["claimed"]) + (x == copied["claimed"]) / 2 for x in fresh)
            law = np.convolve(law, np.full(len(fresh) + 1, 1 / (len(fresh) + 1)))
    p = float(law[int(ranks) :].sum())
    text = f"better than {ranks:g} of {len(law) - 1} fits with other random choices (p = {p:.2g})"
    if p < _LEVEL:
        raise _RefusedError(f"Its random choices were selected: its claims are {text}.")
    verdict.checks["seeds"] = text


def _check_memory(copies: Mapping[str, Any], verdict: Verdict) -> None:
    """Check that a fit to shuffled labels predicts badly; else the strategy knows the answers."""
    # On other datasets, a fit to true labels and one to shuffled labels predict alike.
    learnable = [own for own in copies.values() if own["known"] - own["constant"] > 0.05]
    high = sum(2 * own["remembered"] > own["known"] + own["constant"] for own in learnable)
    text = f"with shuffled labels it is half as good on {high} of {len(learnable)} datasets"
    if len(learnable) >= _FEW and high > len(learnable) / 2:
        raise _RefusedError(f"It knows the test rows: {text}.")
    verdict.checks["memory"] = text


# ----------------------------------------------------------------------- the record


def _with_rank(
    board: Board, study: StudyStore, listed: Sequence[StudyStore], verdict: Verdict
) -> Verdict:
    """Return the verdict on a valid entry, which is ranked among all and tested against them."""
    studies, name = [board.study, *listed, study], verdict.strategy
    row: Any
    place: Any
    order = list(dict.fromkeys(entry.name for store in studies for entry in store.strategies))
    with tempfile.TemporaryDirectory() as folder:
        merged = merge_studies([store.path for store in studies], Path(folder, "all.h5"))
        section = next(part for part in make_report(merged).sections if not part.secondary)
        row = new_records(section.results, order, since=name).frame.loc[name]
        place = section.tables["standing"].loc[name]
        low, high = (float(place[f"average rank {end}"]) for end in ("low", "high"))
        score = float(section.scored.scores[name].mean())
    needed = claim_needs(verdict.claim, board.chosen.analysis.alpha)
    rival, losses = str(row["rival"]), section.results.losses
    ahead = mean_difference((losses[rival] - losses[name]).to_numpy()[:, None])
    difference, worst, most = (float(x[0]) for x in (ahead.value, ahead.low, ahead.high))
    first, record = bool(row["claim"]), not verdict.why and bool(row["evidence"] >= needed)
    alike = "" if most < 0 or worst > 0 else f" It cannot be told from {rival}, its nearest rival."
    why = f"Its results hold. It is not ahead of every earlier entry.{alike}"
    if first:
        why = f"It is ahead of every earlier entry, without the evidence of a record.{alike}"
    if record:
        why = "It is a new record: it is shown to be better than every earlier entry."
    verdict.checks["scores"] = f"{section.scored.metric.name}, computed here from the predictions"
    return replace(
        verdict,
        verdict=PROVISIONAL if verdict.why or (first and not record) else ACCEPTED,
        why=verdict.why or why,
        record=record,
        score=score,
        rank=float(place["average rank"]),
        rank_low=low if low < high else None,
        rank_high=high if low < high else None,
        best=float(place["P(best)"]),
        evidence=float(row["evidence"]),
        needed=needed,
        rival=rival,
        difference=difference,
        difference_low=worst,
        difference_high=most,
    )

"""Comparison of strategies on the datasets that two of them share, where many were never run."""

from dataclasses import replace

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.methods.ratings.elo import duels, elo_ratings
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.results.missing import (
    MOST_LEFT_OUT,
    with_reason,
    without_empty,
    without_seldom_run,
)
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted
from mlaut.records import NO_RESULT

_MOST = 6  # pairs in a sentence


def is_patchy(results: Results) -> bool:
    """Return whether so many cells were never run that no claim holds over all datasets."""
    never = with_reason(without_seldom_run(results), (NO_RESULT,))
    kept = ~never.all(axis=0)
    return bool(never[:, kept].any(axis=1).mean() > MOST_LEFT_OUT) if kept.any() else False


def compare_shared(results: Results, alpha: float = 0.05) -> ResultTable:
    """Compare each two strategies on the datasets on which both have a result.

    Scenario (c). The null hypothesis of a pair: on a dataset where both have a result, each wins
    with the same probability (a two-sided sign test; ties are left out). The p-values of all pairs
    are corrected by Holm's procedure.

    Parameters
    ----------
    results : Results
    alpha : float, default 0.05

    Returns
    -------
    ResultTable
        One row for each pair with a shared dataset, the clearest first: ``datasets`` (of sources,
        where those are known: their number), ``won``, ``tied``, ``lost`` of the first against the
        second, ``p_value`` and ``adjusted``. Its notes are the sentences of a report.

    Raises
    ------
    AnalysisError
        No two strategies share a dataset.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 1, 1, np.nan], "B": [2, 2, np.nan, 2]})
    >>> shared = compare_shared(Results.from_table(table, greater_is_better=False))
    >>> shared.frame[["datasets", "won", "tied", "lost"]].loc[("A", "B")].tolist()
    [2, 2, 0, 0]
    """
    gaps, results = results.gaps, without_empty(results)
    wins, names = _by_unit(results), np.array(results.strategies, dtype=object)
    ahead, tied = ((wins == sign).sum(axis=0) for sign in (1, 0))
    a, b = np.nonzero(np.triu(ahead + tied + ahead.T, 1))
    if not len(a):
        raise AnalysisError("no two strategies share a dataset, so nothing can be compared")
    a, b = np.where(ahead[a, b] >= ahead[b, a], (a, b), (b, a))
    won, tied, lost = ahead[a, b], tied[a, b], ahead[b, a]
    counts = {"datasets": won + tied + lost, "won": won, "tied": tied, "lost": lost}
    index = pd.MultiIndex.from_arrays([names[a], names[b]], names=["strategy", "against"])
    frame = pd.DataFrame({**counts, "p_value": _p_values(won, lost)}, index)
    frame["adjusted"] = adjust(frame["p_value"].to_numpy(), "holm")
    frame = frame.sort_values(["p_value", "won"], ascending=[True, False], kind="stable")
    left_out = [f"{x}." for x in results.gaps if x not in gaps]
    return ResultTable(
        name="pairs on shared datasets",
        frame=frame,
        source="Demsar 2006, section 3.1.4; Holm 1979",
        metric=results.metric.loss_name,
        notes=(*_sentences(results, frame, alpha), *left_out),
    )


def _p_values(won: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Return the p-value of the sign test of each pair; of few numbers of wins, one test each."""
    from scipy.stats import binomtest

    pairs, place = np.unique(np.column_stack([won, lost]), axis=0, return_inverse=True)
    p_values = [binomtest(w, w + n).pvalue if w + n else 1.0 for w, n in pairs.tolist()]
    return np.array(p_values)[np.ravel(place)]


def _by_unit(results: Results) -> np.ndarray:
    """Return the sign of each pair by dataset, or by source: that of most of its datasets."""
    outcomes = duels(results).astype(float)
    outcomes[outcomes == 2] = np.nan
    if results.clusters is None:
        return outcomes
    groups = [outcomes[results.source == i] for i in range(results.n_sources)]
    total = np.stack([np.nansum(group, axis=0) for group in groups])
    fought = np.stack([(~np.isnan(group)).any(axis=0) for group in groups])
    return np.where(fought, np.sign(total), np.nan)


def _sentences(results: Results, frame: pd.DataFrame, alpha: float) -> tuple[str, ...]:
    empty = int((np.isnan(results.cells) & results.expected[:, None]).sum())
    n_cells = int(results.expected.sum()) * len(results.strategies)
    whole = int((~np.isnan(results.losses)).all(axis=1).sum())
    n, k = len(results.datasets), len(results.strategies)
    full = f"only {whole} of {n} datasets have" if whole else "no dataset has"
    unit = "dataset" if results.clusters is None else "source"
    lines = [
        f"Nothing holds over all {counted(n, 'dataset')}: {empty} of {n_cells} cells have no "
        f"result, and {full} all {k} strategies. So each two are compared on what they share."
    ]
    shown = frame[frame["adjusted"] <= alpha]
    clearest = shown if len(shown) else frame[frame["won"] > frame["lost"]][:3]
    first = clearest.head(_MOST)
    counts = zip(first.index, first["won"], first["datasets"], strict=True)
    pairs = [f"{a} beats {b} on {won} of {total}" for (a, b), won, total in counts]
    more = f", and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    possible = k * (k - 1) // 2
    claim = f"{len(shown)} of {possible} pairs are shown to differ on shared {unit}s"
    claim += "" if len(shown) else "; what may be chance"
    lines.append(f"{claim}: {', '.join(pairs)}{more}." if pairs else f"{claim}.")
    groups = _groups(results.strategies, frame)
    if len(frame) < possible:
        alone = f"{possible - len(frame)} of {possible} pairs share no dataset"
        apart = "; ".join(", ".join(group[:4]) + ", ..." * (len(group) > 4) for group in groups)
        fall = f", and strategies fall into {len(groups)} groups that share none: {apart}"
        lines.append(f"{alone}{fall * (len(groups) > 1)}.")
    if len(groups) == 1:
        duelled = replace(results, clusters=None)  # an order alone, which claims nothing
        order = elo_ratings(duelled, missing="left out", n_samples=1).frame.index[:3]
        lines.append(
            f"By their duels on shared datasets (Bradley-Terry), {', '.join(map(str, order))} come "
            "first; on datasets that one lacks, this is no evidence."
        )
    return tuple(lines)


def _groups(strategies: tuple[str, ...], frame: pd.DataFrame) -> list[list[str]]:
    """Return the strategies that are linked by shared datasets, group by group."""
    group = {name: {name} for name in strategies}
    for a, b in frame.index:
        if group[a] is not group[b]:
            group[a] |= group[b]
            for name in group[b]:
                group[name] = group[a]
    return [sorted(x) for x in {id(x): x for x in group.values()}.values()]

"""Skill score and win rate of forecasting leaderboards, with intervals by source."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from mlaut.analysis.common.arguments import one_of, position
from mlaut.analysis.common.numerics import ranked
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results.given import check_sources, of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

_CLIP = (0.01, 100.0)  # fev's bounds of a relative error: one task decides no more than that


@of_results
@takes_sources
def skill_table(
    results: Results, *, baseline: str, weights: str = "dataset", confidence: float = 0.95
) -> ResultTable:
    """Compute the skill score and the win rate of each strategy, as fev defines them.

    Scenario (c): new datasets, or new sources where sources are known.

    Parameters
    ----------
    results : Results or DataFrame
        Results of a loss above 0. fev's leaderboard gives a missing cell the baseline's loss:
        ``treat_missing(results, baseline)``.
    baseline : str
        Strategy whose losses are 1; its skill score is 0.
    weights : {"dataset", "source"}, default "dataset"
        What counts once: each dataset, as in fev, or each source.
    confidence : float, default 0.95
        Confidence of the intervals, which treat sources as the independent units.

    Returns
    -------
    ResultTable
        One row for each strategy, the highest win rate first:

        - ``win rate``: share of other strategies with a larger loss, a tie counts half, mean.
        - ``skill score``: 1 minus the geometric mean of the losses relative to the baseline.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two strategies or sources, the baseline is not known, or a loss is
        below 0 or the baseline's is 0.

    Notes
    -----
    Relative losses are clipped to 0.01 and 100 before both numbers. The intervals are those of
    Student's t with the jackknife variance that leaves out one source at a time (CR3 of Cameron and
    Miller 2015, section VI), on the log scale for the skill score. Source of the scores: Shchur et
    al. 2025, fev-bench, section 4.

    Examples
    --------
    >>> table = pd.DataFrame({"naive": [2.0, 4.0, 1.0], "model": [1.0, 1.0, 1.0]})
    >>> found = skill_table(table, baseline="naive", metric="mase", greater_is_better=False)
    >>> found.frame[["win rate", "skill score"]].round(3)
              win rate  skill score
    strategy
    model        0.833          0.5
    naive        0.167          0.0
    """
    one_of("weights", weights, ("dataset", "source"))
    losses = results.complete(datasets=2, strategies=2).to_numpy()
    check_sources(results)
    base = losses[:, [position("strategy", baseline, results.strategies)]]
    if (losses < 0).any() or not base.all():
        raise AnalysisError(
            f"a skill score needs losses above 0, and {results.metric.loss_name} has others"
        )
    relative, k = np.clip(losses / base, *_CLIP), len(results.strategies)
    wins = (k - ranked(relative.T).T) / (k - 1)
    each = (mean_by_source(results, x, weights) for x in (wins, np.log(relative)))
    win, skill = (ends(results, found, confidence) for found in each)
    rates, skills = np.clip(win, 0, 1), 1 - np.exp(skill[[0, 2, 1]])
    columns = ["win rate", "win rate low", "win rate high"]
    columns += ["skill score", "skill score low", "skill score high"]
    index = pd.Index(results.strategies, name="strategy")
    frame = pd.DataFrame(np.vstack([rates, skills]).T, index=index, columns=columns)
    return ResultTable(
        name=f"Skill score and win rate against {baseline}",
        frame=frame.sort_values("win rate", ascending=False, kind="stable"),
        source="Shchur et al. 2025",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), f"each {weights} counts once"),
    )


def mean_by_source(results: Results, values: np.ndarray, weights: str = "dataset") -> np.ndarray:
    """Return means of values (N, K) over datasets or sources, and jackknife errors: shape (2, K).

    The error leaves out one source at a time (CR3); Student's t has one degree of freedom less than
    there are sources.
    """
    means, size = results.by_source(values), np.bincount(results.source).astype(float)[:, None]
    size = size if weights == "dataset" else np.ones_like(size)
    share = size / size.sum()
    mean, g = (share * means).sum(axis=0), len(means)
    moved = share * (means - mean) / (1 - share)  # the mean less the one without a source
    return np.stack([mean, np.sqrt(np.square(moved).sum(axis=0) * (g - 1) / g)])


def ends(results: Results, found: np.ndarray, confidence: float) -> np.ndarray:
    """Return means and the ends of their intervals of Student's t: shape (3, K)."""
    half = stdtrit(results.n_sources - 1, (1 + confidence) / 2) * found[1]
    return np.stack([found[0], found[0] - half, found[0] + half])

"""Skill score and win rate of leaderboards, and paired differences on items, by source."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from mlaut.analysis import Results, ResultTable
from mlaut.analysis.methods.frequentist import mcnemar_p
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    SMALLEST_P,
    Share,
    check_sources,
    of_results,
    one_of,
    position,
    ranked,
    takes_sources,
)

_CLIP = (0.01, 100.0)  # fev's bounds of a relative error: one task decides no more than that


@of_results
@takes_sources
def skill_table(
    results: Results, *, baseline: str, weights: str = "dataset", confidence: Share = 0.95
) -> ResultTable:
    """Compute the skill score and the win rate of each strategy, as fev defines them.

    Scenario (c): new datasets, or new sources if sources are known.

    Parameters
    ----------
    results : Results or DataFrame
        Results of a loss above 0. fev's leaderboard gives a missing cell the baseline's loss:
        ``treat_missing(results, baseline)``.
    baseline : str
        Strategy whose losses are 1; its skill score is 0.
    weights : {"dataset", "source"}, default "dataset"
        Unit that counts once: each dataset, as in fev, or each source.
    confidence : float, default 0.95
        Confidence of the intervals, which treat sources as the independent units.

    Returns
    -------
    ResultTable
        One row for each strategy, the highest win rate first:

        - ``win rate``: mean share of the other strategies with a larger loss; ties count half.
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
    >>> skills = skill_table(table, baseline="naive", metric="mase", greater_is_better=False)
    >>> skills.frame[["win rate", "skill score"]].round(3)
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
    win, skill = (ends(results, means, confidence) for means in each)
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

    The jackknife leaves out one source at a time (CR3). The degrees of freedom of Student's t are
    the number of sources minus 1.
    """
    means, size = results.by_source(values), np.bincount(results.source).astype(float)[:, None]
    size = size if weights == "dataset" else np.ones_like(size)
    share = size / size.sum()
    mean, g = (share * means).sum(axis=0), len(means)
    moved = share * (means - mean) / (1 - share)  # the mean less the one without a source
    return np.stack([mean, np.sqrt(np.square(moved).sum(axis=0) * (g - 1) / g)])


def ends(results: Results, means: np.ndarray, confidence: float) -> np.ndarray:
    """Return means and the ends of their intervals of Student's t: shape (3, K)."""
    half = stdtrit(results.n_sources - 1, (1 + confidence) / 2) * means[1]
    return np.stack([means[0], means[0] - half, means[0] + half])


@of_results
@takes_sources
def paired_items(
    results: Results, first: str, second: str, *, confidence: Share = 0.95
) -> ResultTable:
    """Compare two strategies on the same items, once over items and once over tasks.

    Scenario (a) over items: new items of these tasks. Scenario (c) over tasks: new tasks.

    Parameters
    ----------
    results : Results or DataFrame
        Scores of single items: items are the datasets, and their tasks the sources, as
        `mlaut.analysis.read_results` reads them.
    first, second : str
        Names of the strategies.
    confidence : float, default 0.95
        Confidence of the intervals.

    Returns
    -------
    ResultTable
        A row for each scenario; (c) needs several tasks. ``difference`` is the mean loss of the
        first minus that of the second, where each item counts once. It has a ``standard error`` and
        the interval ``low``, ``high``. ``p`` is the two-sided p-value, ``units`` the number of
        items or tasks. Standard errors over tasks are clustered by task.

    Raises
    ------
    MissingCellsError
        A strategy has no score of an item.
    AnalysisError
        A strategy is not known, or there is one item.

    Notes
    -----
    Null hypothesis: equal mean losses on new items of these tasks, or on new tasks. Over items the
    p-value is that of McNemar's exact test if all scores are 0 or 1 (McNemar 1947), else that of
    Student's t. Over tasks it is that of Student's t, with the jackknife variance that leaves out
    one task at a time (CR3 of Cameron and Miller 2015, section VI). An unpaired test of two
    accuracies ignores that the items are the same, and has less power.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [1, 1, 1, 1, 1, 1, 1, 0], "B": [1, 0, 0, 0, 0, 0, 0, 0]})
    >>> frame = paired_items(table, "A", "B", metric="accuracy").frame
    >>> frame.loc["over items", ["difference", "p"]].tolist()
    [-0.75, 0.03125]
    """
    pair = results.select(strategies=[first, second])
    losses = pair.complete(datasets=2).to_numpy()
    difference = losses[:, :1] - losses[:, 1:]
    over = {"over items": replace(pair, clusters=None)}
    if pair.n_sources < len(pair.datasets) and pair.n_sources > 1:
        over["over tasks"] = pair
    rows = {}
    for scenario, units in over.items():
        means = mean_by_source(units, difference)
        mean, low, high = ends(units, means, confidence)[:, 0]
        error, n = means[1, 0], units.n_sources
        p = 2 * stdtr(n - 1, -np.abs(mean) / error) if error > 0 else float(mean == 0)
        if scenario == "over items" and np.isin(pair.scores, (0, 1)).all():
            p = mcnemar_p((difference > 0).sum(), (difference < 0).sum(), "exact")
        rows[scenario] = [mean, error, low, high, max(float(p), SMALLEST_P), n]
    columns = ["difference", "standard error", "low", "high", "p", "units"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).astype({"units": int})
    lone = ("all items are of one task, or of a task each: nothing is said of new tasks",)
    return ResultTable(
        name=f"{first} minus {second} on the same items",
        frame=frame,
        source="McNemar 1947; Cameron and Miller 2015",
        metric=pair.metric.loss_name,
        scenario="(a)" if len(rows) == 1 else "(c)",
        notes=(*pair.notes_text(), *(lone if len(rows) == 1 else ())),
    )

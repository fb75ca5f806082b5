"""Honest score of the best of many candidates: bootstrap bias corrected cross-validation.

The best of many scores is too good, since it was chosen for being high. Tsamardinos, Greasidou and
Borboudakis (2018, algorithm 5) choose on rows that are drawn with replacement, and score the chosen
candidate on the rows that were not drawn. This needs what all candidates predicted out of fold, and
no further fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mlaut.errors import StrategyError

ROWS = "row_scores"
"""Key of the scores of single test rows, which scikit-learn's results do not have."""
MOST_NUMBERS = 10**7  # rows times candidates: some seconds and 80 MB
_DRAWS = 1000  # as many as in the paper
_CONFIDENCE = 0.95


class NoHonestScoreError(StrategyError, AttributeError):
    """Error for a search without an honest score; its text is the reason."""


class OutOfFold(NamedTuple):
    """Scores of all rows and candidates, or the reason why there are none.

    Attributes
    ----------
    scores : ndarray of float, shape (n_rows, n_candidates), or None
        Score of each row by the models that were not trained on it; greater is better.
    deviations : ndarray of float, shape (n_rows,), or None
        For R2: squared deviation of each target from the mean of its fold.
    reason : str
        Reason why there is no honest score; empty if there is one.
    """

    scores: np.ndarray | None
    deviations: np.ndarray | None
    reason: str = ""


def out_of_fold(
    rows: Mapping[tuple[int, int], Any],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    candidates: Sequence[int],
    y: np.ndarray | None,
) -> OutOfFold:
    """Return the scores of single rows, of the candidates that were scored on all folds.

    Parameters
    ----------
    rows : mapping of (candidate, fold) to array
        Scores of the test rows of a fold.
    splits : sequence of (train, test)
    candidates : sequence of int
    y : ndarray, shape (n_rows,), or None
        Targets for R2; None for a score that is a mean over rows.
    """
    n_rows = 1 + max(int(test.max()) for _, test in splits)
    if n_rows * len(candidates) > MOST_NUMBERS:
        size = f"{n_rows:,} rows x {len(candidates):,} candidates"
        return OutOfFold(None, None, f"{size} are more than {MOST_NUMBERS:,} numbers")
    times, total = np.zeros(n_rows), np.zeros((n_rows, len(candidates)))
    deviations = np.zeros(n_rows)
    for fold, (_, test) in enumerate(splits):
        times[test] += 1
        for place, candidate in enumerate(candidates):
            total[test, place] += rows.get((candidate, fold), -np.inf)  # a failed fit is the worst
        if y is not None:
            deviations[test] += np.square(y[test] - y[test].mean())
    seen = times > 0
    scores = total[seen] / times[seen, None]
    return OutOfFold(scores, None if y is None else deviations[seen] / times[seen])


def honest_score(found: OutOfFold) -> tuple[float, tuple[float, float]]:
    """Return the bootstrap bias corrected score of the best candidate, and its 95 % interval.

    The interval is Student's, as wide as that of one candidate that was chosen beforehand. (The
    paper's percentiles of draws are wider: the rows that a draw leaves out are a third of all.)

    Examples
    --------
    Of 100 candidates that guess, the best is right more often than half of the time:

    >>> guesses = np.random.default_rng(1).integers(0, 2, (200, 100)).astype(float)
    >>> score, interval = honest_score(OutOfFold(guesses, None))
    >>> float(guesses.mean(axis=0).max()), round(score, 2), interval[0] < 0.5 < interval[1]
    (0.6, 0.51, True)
    """
    from scipy.special import stdtrit

    scores = found.scores
    if scores is None:
        raise NoHonestScoreError(f"no honest score: {found.reason}")
    scores = scores[:, np.isfinite(scores).all(axis=0)]
    n, n_candidates = scores.shape
    if n_candidates == 0:
        raise NoHonestScoreError("no honest score: every candidate failed on a fold")
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=_DRAWS).astype(np.float64)
    chosen = (drawn @ scores).argmax(axis=1)
    left_out = (drawn == 0).astype(np.float64)
    counts = np.bincount(chosen, minlength=n_candidates)
    by_choice = np.zeros((n, n_candidates))
    np.add.at(by_choice.T, chosen, left_out)
    value = float((by_choice * scores).sum() / left_out.sum())
    apart = scores - scores.mean(axis=0)
    if found.deviations is not None:
        mean = found.deviations.mean()
        apart = (apart - (found.deviations - mean)[:, None] * value / mean) / mean
        value = float(1 + value / mean)
    variance = apart.var(axis=0, ddof=1) @ counts / _DRAWS
    half = float(stdtrit(n - 1, 0.5 + _CONFIDENCE / 2) * np.sqrt(variance / n))
    return value, (value - half, value + half)

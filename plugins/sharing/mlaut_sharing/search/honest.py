"""Honest score of the best of many candidates: bootstrap bias corrected cross-validation.

The best of many scores is too good, since it was chosen for being high. Tsamardinos, Greasidou and
Borboudakis (2018, algorithm 5) choose on rows that are drawn with replacement, and score the chosen
candidate on the rows that were not drawn. This needs the out-of-fold predictions of all candidates,
and no further fit.

Examples
--------
Of 100 candidates that guess, the best is right more often than half of the time:

>>> guesses = np.random.default_rng(1).integers(0, 2, (200, 100)).astype(float)
>>> score, (low, high) = OutOfFold(guesses).honest
>>> float(guesses.mean(axis=0).max()), round(score, 2), low < 0.5 < high
(0.6, 0.51, True)
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlaut.errors import StrategyError

ROWS = "row_scores"
"""Key of the scores of single test rows, which scikit-learn's results do not have."""
MOST_NUMBERS = 10**7  # rows times candidates: some seconds and 80 MB
_DRAWS = 1000  # as many as in the paper
_CONFIDENCE = 0.95


class NoHonestScoreError(StrategyError, AttributeError):
    """Error for a search without an honest score; its text is the reason."""


@dataclass(frozen=True, eq=False)
class OutOfFold:
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

    __module__ = "mlaut.sharing.search.honest"  # by this name saved models find it

    scores: np.ndarray | None = None
    deviations: np.ndarray | None = None
    reason: str = ""

    @cached_property
    def honest(self) -> tuple[float, tuple[float, float]]:
        """Bootstrap bias corrected score of the best candidate, and its interval of 95 %.

        The interval is Student's, as wide as that of one candidate that was chosen beforehand. (The
        paper's percentiles of draws are wider: a draw leaves out a third of the rows.)
        """
        from scipy.special import stdtrit

        if self.scores is None:
            raise NoHonestScoreError(f"no honest score: {self.reason}")
        scores = self.scores[:, np.isfinite(self.scores).all(axis=0)]
        n, n_candidates = scores.shape
        if n_candidates == 0:
            raise NoHonestScoreError("no honest score: every candidate failed on a fold")
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=_DRAWS)
        chosen = (drawn.astype(float) @ scores).argmax(axis=1)
        left_out = (drawn == 0).astype(float)
        sums = (left_out[chosen == i].sum(axis=0) @ scores[:, i] for i in np.unique(chosen))
        value = float(sum(sums) / left_out.sum())
        apart = scores - scores.mean(axis=0)
        if self.deviations is not None:
            mean = self.deviations.mean()
            apart = (apart - (self.deviations - mean)[:, None] * value / mean) / mean
            value = float(1 + value / mean)
        variance = apart.var(axis=0, ddof=1) @ np.bincount(chosen, minlength=n_candidates) / _DRAWS
        half = float(stdtrit(n - 1, 0.5 + _CONFIDENCE / 2) * np.sqrt(variance / n))
        return value, (value - half, value + half)


def out_of_fold(
    rows: Mapping[tuple[int, int], Any],
    splits: Sequence[tuple[np.ndarray, np.ndarray]],
    candidates: Sequence[int],
    y: np.ndarray | None,
) -> OutOfFold:
    """Return the scores of single rows for the candidates that were scored on all folds.

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
        return OutOfFold(reason=f"{size} are more than {MOST_NUMBERS:,} numbers")
    times, deviations = np.zeros((2, n_rows))
    total = np.zeros((n_rows, len(candidates)))
    for fold, (_, test) in enumerate(splits):
        times[test] += 1
        for place, candidate in enumerate(candidates):
            total[test, place] += rows.get((candidate, fold), -np.inf)  # a failed fit is the worst
        if y is not None:
            deviations[test] += np.square(y[test] - y[test].mean())
    seen = times > 0
    scores = total[seen] / times[seen, None]
    return OutOfFold(scores, None if y is None else deviations[seen] / times[seen])


sys.modules["mlaut.sharing.search.honest"] = sys.modules[__name__]

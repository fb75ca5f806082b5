"""Published learners as a population, to predict a new learner's mean from few datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

_Two = tuple[np.ndarray, np.ndarray]

AUDITED = 5
"""Random datasets of an audit: with them a learner that was tuned to a list stands out."""

# Degrees of freedom of the prior's spread: about as many as a board has families. It was set before
# any coverage was measured.
_FREEDOM = 8.0
CLIP = 3.0
"""Median absolute deviations from a dataset's median, beyond which scores are clipped."""
_LEAST_SHRINKAGE = 0.02  # keeps the covariance of more datasets than learners invertible


def relative_ranks(losses: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Return the share of a pool of learners that beats each of other learners, by dataset.

    Parameters
    ----------
    losses : ndarray, shape (N, n)
        Losses of the learners; inf where one failed.
    pool : ndarray, shape (N, K)

    Returns
    -------
    ndarray, shape (n, N)
        A learner with 0 is beaten by none, one with 1 by all; a tie counts half.

    Examples
    --------
    >>> relative_ranks(np.array([[2.0, 9.0]]), np.array([[1.0, 2.0, 3.0, np.inf]])).tolist()
    [[0.375], [0.75]]
    """
    both = zip(np.sort(pool, axis=1), losses, strict=True)
    twice = [np.searchsorted(row, own) + np.searchsorted(row, own, "right") for row, own in both]
    return np.array(twice).T / (2 * pool.shape[1])


def clipped_scores(losses: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Return how far losses are below a pool's median, in units of its spread on each dataset.

    The spread is the median absolute deviation, and scores are clipped at -3 and 3. If more than
    half of the pool is equal, the pool's extremes have the scores -3 and 3. With raw losses, the
    few datasets with the largest spread would decide.

    Parameters
    ----------
    losses : ndarray, shape (N, n)
        inf where a learner failed: its score is -3.
    pool : ndarray, shape (N, K)

    Returns
    -------
    ndarray, shape (n, N)

    Examples
    --------
    >>> clipped_scores(np.array([[3.0, 5.5, np.inf]]), np.array([[4.0, 5.0, 6.0, 9.0]])).tolist()
    [[2.5], [0.0], [-3.0]]
    """
    known = np.where(np.isfinite(pool), pool, np.nan)
    middle = np.nanmedian(known, axis=1)
    reach = CLIP * np.nanmedian(np.abs(known - middle[:, None]), axis=1)
    low = np.where(reach > 0, middle - reach, np.nanmin(known, axis=1))
    width = np.where(reach > 0, 2 * reach, np.nanmax(known, axis=1) - low)
    share = (np.clip(losses.T, low, low + width) - low) / np.where(width > 0, width, 1)
    return np.where(width > 0, CLIP * (1 - 2 * share), 0.0)


def prior_of(values: np.ndarray) -> _Two:
    """Return mean and covariance over datasets of values of shape (K, N).

    Correlations are shrunk to their mean, as far as their sampling variance requires (Schäfer and
    Strimmer 2005, target F).
    """
    n_learners, n = values.shape
    mean = values.mean(axis=0)
    off = values - mean
    sample = off.T @ off / (n_learners - 1)
    sd = np.sqrt(np.diag(sample) + 1e-12)
    between = ~np.eye(n, dtype=bool)
    target = (sample / np.outer(sd, sd))[between].mean() * np.outer(sd, sd)
    np.fill_diagonal(target, np.diag(sample))
    noise = ((off**2).T @ off**2 / n_learners - sample**2) / n_learners
    far = ((sample - target)[between] ** 2).sum()
    weight = np.clip(noise[between].sum() / max(far, 1e-300), _LEAST_SHRINKAGE, 1)
    ridge = 1e-4 * np.diag(sample).mean() + 1e-12  # datasets on which all learners are equal
    return mean, (1 - weight) * sample + weight * target + ridge * np.eye(n)


@dataclass(frozen=True, eq=False)
class LossBoard:
    """Learners on datasets, as a population from which a new learner comes.

    Attributes
    ----------
    losses : ndarray, shape (N, K)
        Losses; inf where a learner failed.
    families : ndarray of str, shape (K,)
    costs : ndarray, shape (N,)
        Cost of each dataset, in any unit.
    drawn : ndarray of int, shape (N,), optional
        Order of the datasets by which a new learner is placed. Default: the most informative first.
    """

    losses: np.ndarray
    families: np.ndarray
    costs: np.ndarray
    drawn: np.ndarray | None = None

    def of(self, losses: np.ndarray) -> list[np.ndarray]:
        """Return relative ranks and clipped losses of new learners: shape (n, N) each."""
        return [relative_ranks(losses, self.losses), clipped_scores(losses, self.losses)]

    @cached_property
    def means(self) -> list[np.ndarray]:
        """Means over datasets of the values that `of` returns for the board's own learners.

        A learner ties with itself, so a new learner with equal losses has an equal mean.
        """
        return [value.mean(axis=1) for value in self.of(self.losses)]

    @cached_property
    def priors(self) -> tuple[_Two, _Two]:
        """Priors of the relative ranks of a learner among the others, and of clipped losses."""
        (ranks, scores), n = self.of(self.losses), self.losses.shape[1]
        return prior_of((ranks * n - 0.5) / (n - 1)), prior_of(scores)

    def without(self, new: np.ndarray, n: int) -> tuple[LossBoard, list[np.ndarray], np.ndarray]:
        """Return the board without some learners, their values on it, and its first n datasets.

        The learners are given as a mask of shape (K,).
        """
        others = replace(self, losses=self.losses[:, ~new], families=self.families[~new])
        return others, others.of(self.losses[:, new]), others.listed(n)[0]

    def listed(self, n: int) -> _Two:
        """Return the first datasets in order, and the variance that then remains.

        Without a draw, each dataset is the one that lowers the variance of the mean rank most for
        its cost (greedy A-optimal), so the first five of thirty are the list of five.

        Parameters
        ----------
        n : int
            Number of datasets.

        Returns
        -------
        order : ndarray of int, shape (n,)
        unknown : ndarray, shape (n + 1,)
            Variance of the mean relative rank before the first dataset and after each.
        """
        left = self.priors[0][1].copy()
        order, unknown = list[int](), [left.mean()]
        for i in range(n):
            gain = left.mean(axis=1) ** 2 / np.maximum(np.diag(left), 1e-300) / self.costs
            gain[order] = -1
            best = int(gain.argmax() if self.drawn is None else self.drawn[i])
            order.append(best)
            left -= np.outer(left[best], left[best]) / left[best, best]
            unknown.append(max(left.mean(), 1e-300))
        return np.array(order), np.array(unknown)

    def predicted(
        self, kind: int, at: np.ndarray, values: np.ndarray, over: np.ndarray | slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Predict the mean over all datasets, or over some others, from the values on a few.

        Parameters
        ----------
        kind : int
            0 for relative ranks, 1 for clipped scores.
        at : ndarray of int, shape (m,)
            Datasets that were seen.
        values : ndarray, shape (n, N)
            Values of n learners, of which only those on these datasets are used.

        Returns
        -------
        estimate : ndarray, shape (n,)
            Best linear unbiased predictor of the mean over all datasets.
        sd : ndarray, shape (n,)
            Its standard deviation, which is larger for strange values.
        strange : ndarray, shape (n,)
            Squared Mahalanobis distance of the values from the prior, divided by m.
        """
        mean, covariance = self.priors[kind]
        m, inner, to_all = len(at), covariance[np.ix_(at, at)], covariance[at][:, over].mean(axis=1)
        weights = np.linalg.solve(inner, to_all)
        off = values[:, at] - mean[at]
        strange = (off.T * np.linalg.solve(inner, off.T)).sum(axis=0) / m
        left = max(covariance[over][:, over].mean() - to_all @ weights, 1e-300)
        sd = np.sqrt(left * (_FREEDOM + m * strange) / (_FREEDOM + m))
        return mean[over].mean() + off @ weights, sd, strange

    def without_each(self, kind: int, at: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return by how much each value differs from its prediction by the others, shape (m,)."""
        mean, covariance = self.priors[kind]
        inverse = np.linalg.inv(covariance[np.ix_(at, at)])
        return np.asarray(inverse @ (values[at] - mean[at]) / np.diag(inverse))

    def held_out(self, looks: Sequence[int], random: np.ndarray) -> np.ndarray:
        """Predict each family from the others, with prior and list computed again without it.

        The list of all learners suits these learners, so its errors would be too small.

        Parameters
        ----------
        looks : sequence of int, length L
            Numbers of datasets.
        random : ndarray of int, shape (N,)
            Random order of all datasets. An audit takes the first ones that are not on the list.

        Returns
        -------
        ndarray, shape (4, L, K)
            Errors of ranks, and of clipped scores, in standard deviations of their prediction;
            ``strange`` of `predicted`, for ranks; and ``worse`` of `audited`.
        """
        held = np.zeros((4, len(looks), len(self.families)))
        for family in np.unique(self.families):
            of_it = self.families == family
            others, values, order = self.without(of_it, max(looks))
            for i, m in enumerate(looks):
                for kind in (1, 0):  # ranks come last: they say how strange a learner is
                    mean, sd, held[2, i, of_it] = others.predicted(kind, order[:m], values[kind])
                    held[kind, i, of_it] = (mean - values[kind].mean(axis=1)) / sd
                held[3, i, of_it] = others.audited(order[:m], random, values[0])[0]
        return held

    def audited(self, at: np.ndarray, random: np.ndarray, ranks: np.ndarray) -> _Two:
        """Return by how many sd learners are worse on random datasets than a list predicts.

        Parameters
        ----------
        at, random : ndarray of int
            Datasets of the list; and all datasets in a random order, of which the first ones
            outside the list are taken.
        ranks : ndarray, shape (n, N)

        Returns
        -------
        worse : ndarray, shape (n,)
        audit : ndarray of int
            Datasets that were taken.
        """
        audit = random[~np.isin(random, at)][:AUDITED]
        if not len(audit):
            return np.zeros(len(ranks)), audit
        expected, sd, _ = self.predicted(0, at, ranks, audit)
        return (ranks[:, audit].mean(axis=1) - expected) / sd, audit

    def reach(self, errors: np.ndarray, alpha: float) -> float:
        """Return the number of standard deviations that covers a learner of a new family.

        The coverage is 1 - alpha. The number is the larger of the quantile over learners and of a
        quantile of Student's t in which each family has the same weight: with few families no
        quantile over families would be finite.

        Parameters
        ----------
        errors : ndarray, shape (K,)
        """
        from scipy.special import stdtrit

        known = np.append(np.sort(np.abs(errors)), 0.0)  # 0 if there are too few for a quantile
        quantile = known[int(np.ceil(len(known) * (1 - alpha))) - 1]
        which = np.unique(self.families, return_inverse=True)[1]
        by_family = np.bincount(which, errors**2) / np.bincount(which)
        n = len(by_family)
        spread = np.sqrt((1 + 1 / n) * by_family.mean())
        return float(max(quantile, stdtrit(n, 1 - alpha / 2) * spread))

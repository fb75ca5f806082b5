"""Draws of the true means of strategies, in which strategies may be alike, or exactly equal.

The prior is a Dirichlet process: strategies fall into groups of like ones. The number of groups and
the differences within them, which may be 0, are learned from the results: only copies are known to
be equal. A poor strategy or a copy of one changes nothing for the others: strategies that are far
behind the leader, or behind several others on every row, are left out first, and copies count as
one.
"""

from dataclasses import dataclass

import numpy as np

from mlaut.analysis.common.draws import hashed
from mlaut.analysis.sources.cost import wider
from mlaut.analysis.sources.flips import FEWEST

DRAWS = 2048
_CHAINS, _BURN, _GROUPS = 256, 8, 10
_NEAR = 4.0  # standard errors from the leader: beyond, a strategy is not among the best
_SHRUNK = 8.0  # degrees of freedom with which the variance of a strategy is pulled to the mean one
_KNOWN = 0.7  # share of the degrees of freedom of the noise that unequal variances leave
_ALPHAS = np.array([0.03, 0.1, 0.3, 1.0, 3.0])
_SPREADS = 2.0 ** np.arange(-2, 5)  # of the groups, in standard errors
_WITHIN = np.array([0.0, 0.25, 0.5, 1.0, 2.0])  # spreads of a group, in standard errors
_SCALES = np.exp(np.linspace(-1.5, 1.5, 31))  # of the noise
_STREAM = 32  # of random numbers


@dataclass(frozen=True, eq=False)
class Chances:
    """Draws of the means of K strategies.

    Attributes
    ----------
    draws : ndarray, shape (draws, K)
        Means, lower is better.
    near : ndarray of bool, shape (K,)
        Which strategies are compared by the model; the others are independent of it.
    error : ndarray, shape (K,)
        Standard errors of the observed means.
    copies : ndarray of int, shape (K,)
        Number of strategies with the same rows, the strategy itself included.
    """

    draws: np.ndarray
    near: np.ndarray
    error: np.ndarray
    copies: np.ndarray

    def of_best(self) -> np.ndarray:
        """Return the probability that each strategy is the best; equal strategies share it.

        Copies share the probability that one of them would have, so others lose nothing by a copy.
        """
        best = (self.draws == self.draws.min(axis=1, keepdims=True)) / self.copies
        return (best / best.sum(axis=1, keepdims=True)).mean(axis=0)


def chances(rows: np.ndarray, seed: int = 0, n_samples: int = DRAWS) -> Chances:
    """Draw the true means of strategies from their posterior.

    Parameters
    ----------
    rows : ndarray, shape (G, K)
        Losses or ranks, lower is better: one row for each source, or for each dataset if all
        datasets are independent.
    seed : int, default 0
    n_samples : int, default 2048
        Number of draws, rounded up to a multiple of the 256 chains.

    Notes
    -----
    The partition into at most ten groups is drawn by Gibbs sampling, with the means of groups and
    strategies integrated out (Neal 2000, algorithm 3). The variance of the noise is estimated by
    strategy (Grubbs 1948) and pulled towards the mean variance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chances(rng.normal([0, 0.1, 9], 1, size=(20, 3))).of_best().round(1)
    array([0.6, 0.4, 0. ])
    """
    unique, copy, count = np.unique(
        rows.astype(float), axis=1, return_inverse=True, return_counts=True
    )
    order = np.argsort(unique.mean(axis=0), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    unique, count, copy = unique[:, order], count[order], place[copy.reshape(-1)]
    means, rivals = unique.mean(axis=0), _not_below(unique)
    near = rivals
    for _ in range(3):
        error = np.sqrt(_variances(unique, near) / len(rows))
        gap = np.sqrt(error**2 + error[0] ** 2) * _NEAR * wider(len(rows) - 1, _NEAR)
        near = rivals & (means - means[0] <= gap)
    sweeps = -(-n_samples // _CHAINS)
    draws = np.empty((_CHAINS * sweeps, len(order)))
    draws[:, near] = _Sampler(means[near], error[near], len(rows), seed).run(sweeps)
    best = draws[:, near].min(axis=1, keepdims=True)
    away = normals(seed, 0, np.arange(len(draws)), int((~near).sum()))
    draws[:, ~near] = best + np.abs(means[~near] + error[~near] * away - best)
    return Chances(draws[:, copy], near[copy], error[copy], count[copy])


def normals(seed: int, stream: int, draws: np.ndarray, width: int) -> np.ndarray:
    """Return standard normal random numbers, shape (draws, width)."""
    uniform = (hashed(seed, _STREAM + stream, draws, 2 * width) + 0.5) / 2**32
    length, turn = np.sqrt(-2 * np.log(uniform[:, :width])), 2 * np.pi * uniform[:, width:]
    return length * np.cos(turn)


def _not_below(rows: np.ndarray) -> np.ndarray:
    """Return which strategies, of rising means, are not behind the same two or more on every row.

    The leader alone is no such group: it would be the best for sure.
    """
    ahead = np.maximum.accumulate(rows, axis=1)[:, 1:-1]
    others = np.minimum.accumulate(rows[:, :1:-1], axis=1)[:, ::-1]
    below = np.logical_or.accumulate((ahead < others).all(axis=0))
    kept = np.ones(rows.shape[1], dtype=bool)
    kept[2:] = ~below | (len(rows) < FEWEST)
    return kept


def _variances(rows: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the variance of the noise of each strategy, learned from the near strategies."""
    n, k = rows.shape[0], int(near.sum())
    centre = rows[:, near].mean(axis=1, keepdims=True) if k > 1 else rows.mean(1, keepdims=True)
    rest = rows - centre
    squares = np.square(rest - rest.mean(axis=0)).sum(axis=0) / max(n - 1, 1)
    k = max(k, 2)
    pooled = squares[near].mean() * k / (k - 1)
    within = np.square(rest[:, near]).sum(axis=1).mean() / (k - 1)
    pooled = max(pooled, within / (n + 1), np.finfo(float).tiny)
    own = (squares - pooled / k) / (1 - 2 / k) if k > 2 else np.full(len(squares), pooled)
    return ((n - 1) * np.maximum(own, 0.0) + _SHRUNK * pooled) / (n - 1 + _SHRUNK)


class _Sampler:
    """Gibbs sampler of groups of like strategies, with many chains at a time."""

    def __init__(self, means: np.ndarray, error: np.ndarray, n: int, seed: int) -> None:
        self.unit = float(np.sqrt(np.mean(error**2)))
        self.start = means[0]
        self.values = (means - means[0]) / self.unit
        self.variance = np.square(error / self.unit)
        self.df = max((n - 1) * (len(means) - 1) * _KNOWN, 1.0)
        self.seed = seed
        c, k = _CHAINS, len(means)
        self.group = np.full((c, k), -1)
        self.alpha, self.spread, self.within = np.ones(c), np.full(c, 2.0), np.full(c, 0.5)
        self.scale, self.middle = np.ones(c), np.full(c, self.values.mean())

    def run(self, sweeps: int) -> np.ndarray:
        """Return draws of the means, shape (chains x sweeps, k)."""
        draws = []
        for sweep in range(_BURN + sweeps):
            uniform = hashed(
                self.seed, _STREAM + 1 + 2 * sweep, np.arange(_CHAINS), len(self.values) + 4
            )
            self._regroup((uniform + 0.5) / 2**32)
            means = self._settle(sweep, (uniform[:, -4:] + 0.5) / 2**32)
            if sweep >= _BURN:
                draws.append(means)
        return np.concatenate(draws) * self.unit + self.start

    def _regroup(self, uniform: np.ndarray) -> None:
        """Draw the group of one strategy after the other, given those of the others."""
        chains = np.arange(_CHAINS)
        precisions = 1 / (self.variance / self.scale[:, None] + self.within[:, None] ** 2)
        member = self.group[:, :, None] == np.arange(_GROUPS)
        self.sizes = member.sum(axis=1).astype(float)
        self.weight = (precisions[:, :, None] * member).sum(axis=1)
        self.total = ((precisions * self.values)[:, :, None] * member).sum(axis=1)
        for at, value in enumerate(self.values):
            own, old = precisions[:, at], self.group[:, at]
            if old[0] >= 0:
                self._add(chains, old, -1.0, own, value)
            base = 1 / self.spread[:, None] ** 2
            precision = base + self.weight
            mean = (base * self.middle[:, None] + self.total) / precision
            spread = 1 / precision + 1 / own[:, None]
            occupied = self.sizes > 0.5
            free = np.argmin(occupied, axis=1)
            prior = np.where(occupied, self.sizes, 0.0)
            prior[chains, free] += np.where(occupied[chains, free], 0.0, self.alpha)
            log = -0.5 * (np.square(value - mean) / spread + np.log(spread))
            log = np.where(prior > 0, log, -np.inf)
            share = prior * np.exp(log - log.max(axis=1, keepdims=True))
            share = share.cumsum(axis=1)
            new = (share < uniform[:, [at]] * share[:, -1:]).sum(axis=1)
            self.group[:, at] = new
            self._add(chains, new, 1.0, own, value)

    def _add(
        self, chains: np.ndarray, group: np.ndarray, sign: float, own: np.ndarray, value: float
    ) -> None:
        self.sizes[chains, group] += sign
        self.weight[chains, group] += sign * own
        self.total[chains, group] += sign * own * value

    def _settle(self, sweep: int, uniform: np.ndarray) -> np.ndarray:
        """Draw the means of groups and strategies and all other unknowns; return the means."""
        width = _GROUPS + 1 + len(self.values)
        z = normals(self.seed, 2 + 2 * sweep, np.arange(_CHAINS), width)
        occupied = self.sizes > 0.5
        count = occupied.sum(axis=1)
        base = 1 / self.spread[:, None] ** 2
        precision = base + np.where(occupied, self.weight, 0.0)
        total = np.where(occupied, self.total, 0.0)
        mean = (base * self.middle[:, None] + total) / precision
        means = mean + z[:, :_GROUPS] / np.sqrt(precision)
        self.middle = np.where(occupied, means, 0.0).sum(axis=1) / count
        self.middle += self.spread / np.sqrt(count) * z[:, _GROUPS]
        away = np.where(occupied, np.square(means - self.middle[:, None]), 0.0).sum(axis=1)
        self.spread = _SPREADS[
            _chosen(
                -count[:, None] * np.log(_SPREADS) - away[:, None] / (2 * _SPREADS**2),
                uniform[:, 0],
            )
        ]
        of_group = np.take_along_axis(means, self.group, axis=1)
        own = self._apart(of_group, z[:, _GROUPS + 1 :], uniform[:, 3])
        rest = self.values - own
        misfit = self.df + (np.square(rest) / self.variance).sum(axis=1)
        power = (self.df + len(self.values)) / 2
        self.scale = _SCALES[
            _chosen(power * np.log(_SCALES) - misfit[:, None] * _SCALES / 2, uniform[:, 1])
        ]
        rising = np.log(_ALPHAS[:, None] + np.arange(len(self.values))).sum(axis=1)
        self.alpha = _ALPHAS[_chosen(count[:, None] * np.log(_ALPHAS) - rising, uniform[:, 2])]
        return own

    def _apart(self, of_group: np.ndarray, z: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Draw how far strategies are apart within groups; return their means."""
        noise, rest = self.variance / self.scale[:, None], self.values - of_group
        both = noise[:, :, None] + _WITHIN**2
        log = -0.5 * (np.log(both) + np.square(rest)[:, :, None] / both).sum(axis=1)
        self.within = _WITHIN[_chosen(log, uniform)]
        share = self.within[:, None] ** 2 / (self.within[:, None] ** 2 + noise)
        return of_group + share * rest + np.sqrt(share * noise) * z


def _chosen(log: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return positions drawn with probabilities in proportion to exp(log), one for each row."""
    share = np.exp(log - log.max(axis=1, keepdims=True)).cumsum(axis=1)
    return (share < uniform[:, None] * share[:, -1:]).sum(axis=1)

"""The Bayesian hierarchical test: all folds of all datasets in one model, by quadrature.

Corani, Benavoli, Demsar, Mangili & Zaffalon (2017). On dataset i the differences of the folds are
normal and equally correlated around ``delta_i``; the ``delta_i`` have a Student distribution over
datasets. Others sample from its hundred or more parameters. Here all but three are integrated out:
the deviation on a dataset in closed form, its ``delta_i`` by writing both Student distributions as
mixtures of normal ones, whose convolution is normal. What is left is the centre, the scale and the
degrees of freedom over datasets: a sum over a grid, without chains, seeds or a compiler.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mlaut.analysis.arguments import checked
from mlaut.analysis.bayesian import EQUIVALENT, checked_rope
from mlaut.analysis.cv_tests import dataset_differences
from mlaut.analysis.pairs import Pairs
from mlaut.analysis.repeated_cv import cv_interval
from mlaut.analysis.result_types import Estimate, TestResult
from mlaut.analysis.results import Results
from mlaut.analysis.retrained import train_ratio_of
from mlaut.analysis.shown import SMALLEST_P
from mlaut.errors import AnalysisError

__all__ = ["hierarchical_probabilities", "hierarchical_test"]

_SOURCE = "Corani, Benavoli, Demsar, Mangili & Zaffalon 2017"
_POINTS, _COARSE, _FINER = 32, 24, 6
_NU = 1 + np.geomspace(0.02, 2000, 14)
_NEGLIGIBLE = 18.0  # in log density


class _Data(NamedTuple):
    """Mean, scale and degrees of freedom of the Student likelihood of each dataset's delta."""

    mean: np.ndarray
    scale: np.ndarray
    df: np.ndarray


@checked
def hierarchical_probabilities(
    mean: np.ndarray, scale: np.ndarray, df: np.ndarray, rope: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Bayesian hierarchical test from the likelihood of each dataset.

    Scenario (c).

    Parameters
    ----------
    mean : array_like of float, shape (N,)
        Mean difference of the losses on each dataset, first minus second.
    scale : array_like of float, shape (N,)
        Its standard error, as in `cv_interval`; positive.
    df : array_like of float, shape (N,)
        Number of folds x runs, less 1.
    rope : float, default 0
        Half width of the region of practical equivalence.

    Returns
    -------
    probabilities : ndarray of float, shape (3,)
        That on most new datasets the first is better, both are equivalent, the second is better.
    shares : ndarray of float, shape (3,)
        Expected shares of datasets of these three kinds.

    Notes
    -----
    Priors of Corani et al. (2017): centre and scale over datasets uniform, ``nu - 1`` gamma with
    shape uniform on [1, 2] and rate uniform on [0.01, 0.1], deviations on datasets uniform.

    Examples
    --------
    >>> mean = [-0.03, -0.01, -0.05, 0.01, -0.02, -0.04]
    >>> p, shares = hierarchical_probabilities(mean, [0.02] * 6, [99] * 6, rope=0.01)
    >>> p.round(2), shares.round(2)
    (array([0.93, 0.04, 0.03]), array([0.77, 0.15, 0.08]))
    """
    rope = checked_rope(rope)
    data = _likelihoods(*(np.atleast_1d(np.asarray(v, dtype=float)) for v in (mean, scale, df)))
    unit = float(np.median(data.scale) + np.abs(data.mean).max())
    data = _Data(data.mean / unit, data.scale / unit, data.df)
    centres, scales, log_density = _posterior(data)
    return _regions(centres, scales, log_density, rope / unit)


def _likelihoods(mean: np.ndarray, scale: np.ndarray, df: np.ndarray) -> _Data:
    """Integrate the deviation of each dataset out: a Student likelihood with df - 1.

    With a uniform prior of the deviation, ``(1 + t^2 / df) ** (-df / 2)``, t from mean and scale.
    """
    if not (mean.shape == scale.shape == df.shape) or mean.ndim != 1 or mean.size < 2:
        raise AnalysisError("give mean, scale and df of each of two datasets or more")
    if not (np.isfinite(mean).all() and (scale > 0).all() and np.isfinite(scale).all()):
        raise AnalysisError("the means must be finite, and the scales positive")
    if (df < 2).any():
        raise AnalysisError("every dataset must have three folds or more")
    return _Data(mean, scale * np.sqrt(df / (df - 1)), df - 1)


def _posterior(data: _Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log density on a grid of centre, log scale and nu that covers what matters.

    Coarse grids around the peak grow and shrink until they cover it.
    """
    centre, scale = _around_the_peak(data)
    for _ in range(8):
        centres, scales = np.linspace(*centre, _COARSE), np.linspace(*scale, _COARSE)
        log_density = _log_density(data, centres, np.exp(scales), _NU[::2]).max(axis=2)
        seen = log_density > log_density.max() - _NEGLIGIBLE
        centre = _cover(centres, seen.any(axis=1))
        scale = _cover(scales, seen.any(axis=0))
    centres, scales = np.linspace(*centre, _POINTS), np.exp(np.linspace(*scale, _POINTS))
    return centres, scales, _log_density(data, centres, scales, _NU)


def _around_the_peak(data: _Data) -> tuple[tuple[float, float], tuple[float, float]]:
    """Give the first ranges of centre and log scale, from the best of two searches."""
    from scipy.optimize import minimize

    middle = float(np.median(data.mean))
    spreads = np.median(np.abs(data.mean - middle)), np.std(data.mean)
    unit = float(np.median(data.scale))

    def height(x: np.ndarray) -> float:
        nu = 1 + np.exp(np.clip(x[2:], -4, 7))
        scale = np.exp(np.clip(x[1:2], -60, 20))
        return -float(_log_density(data, middle + unit * x[:1], scale, nu)[0, 0, 0])

    starts = [[0.0, np.log(max(s, 1e-3 * unit)), 0.0] for s in spreads]
    best = min((minimize(height, x, method="Nelder-Mead") for x in starts), key=lambda b: b.fun)
    at, log_scale = middle + unit * best.x[0], best.x[1]
    half = 3 * (np.exp(log_scale) + float(data.scale.min()) / np.sqrt(len(data.mean)))
    return (at - half, at + half), (log_scale - 2, log_scale + 2)


def _cover(grid: np.ndarray, seen: np.ndarray) -> tuple[float, float]:
    """Give the ends of what was seen, a step wider, so that a range that is too narrow grows."""
    at, step = grid[seen], 1.5 * (grid[1] - grid[0])
    return float(at[0] - step), float(at[-1] + step)


def _log_density(
    data: _Data, centres: np.ndarray, scales: np.ndarray, nus: np.ndarray
) -> np.ndarray:
    """Log posterior density in (centre, log scale, log (nu - 1)), but for a constant."""
    prior = np.log(scales)[:, None] + _log_prior(nus)
    log_density = np.repeat(prior[None], len(centres), axis=0)
    for mean, scale, df in zip(*data, strict=True):
        precisions, weights = _gamma_mixture(float(df))
        variances, away = scale**2 / precisions, (mean - centres) ** 2
        for place, nu in enumerate(nus):
            log_density[:, :, place] += _log_convolution(away, scales, nu, variances, weights)
    return log_density


def _log_convolution(
    away: np.ndarray, scales: np.ndarray, nu: float, variances: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Log density of the sum of a Student variable and a mixture of normals, (centres, scales)."""
    precisions, mix = _gamma_mixture(float(nu))
    total = scales[:, None, None] ** 2 / precisions[:, None] + variances
    height = (mix[:, None] * weights / np.sqrt(2 * np.pi * total)).reshape(len(scales), -1)
    rate = (0.5 / total).reshape(len(scales), -1)
    density = np.einsum("sm,csm->cs", height, np.exp(-away[:, None, None] * rate))
    return np.log(np.maximum(density, 1e-300))


@lru_cache(maxsize=256)
def _gamma_mixture(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """Precisions and weights that make a Student distribution a mixture of normal ones."""
    from scipy.special import gammainccinv, gammaincinv

    low, high = gammaincinv(nu / 2, 1e-6), gammainccinv(nu / 2, 1e-8)
    v = np.linspace(np.log(low), np.log(high), 24 if nu < 6 else 12 if nu < 40 else 6)
    log_weight = nu / 2 * v - np.exp(v)
    weights = np.exp(log_weight - log_weight.max())
    return np.exp(v) / (nu / 2), weights / weights.sum()


def _log_prior(nu: np.ndarray) -> np.ndarray:
    """Log prior density of log (nu - 1), averaged over the ranges of shape and rate."""
    from scipy.special import gammaln

    shape, rate = np.linspace(1, 2, 41)[:, None], np.linspace(0.01, 0.1, 91)
    x = (nu - 1)[:, None, None]
    log_density = shape * np.log(rate * x) - rate * x - gammaln(shape)
    return np.log(np.exp(log_density).mean(axis=(1, 2)))


def _regions(
    centres: np.ndarray, scales: np.ndarray, log_density: np.ndarray, rope: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weigh the three regions under each Student distribution of the grid, made finer first."""
    from scipy.ndimage import zoom
    from scipy.special import stdtr

    finer = zoom(log_density, (_FINER, _FINER, 1), order=3)
    weights = np.exp(finer - finer.max())
    weights /= weights.sum()
    c = np.linspace(centres[0], centres[-1], finer.shape[0])
    s = np.exp(np.linspace(np.log(scales[0]), np.log(scales[-1]), finer.shape[1]))[:, None]
    first = (stdtr(_NU, (-rope - c[:, None, None]) / s) * weights).sum()
    second = (stdtr(_NU, (c[:, None, None] - rope) / s) * weights).sum()
    margin = _margin(s, rope)
    left, right = _below(c, weights, -margin), 1 - _below(c, weights, margin)
    most, shares = np.array([left, 1 - left - right, right]), np.array([first, 0, second])
    shares[1] = 1 - first - second if rope else 0.0
    return np.clip(most, 0, 1) / np.clip(most, 0, 1).sum(), shares / shares.sum()


def _margin(s: np.ndarray, rope: float) -> np.ndarray:
    """How far below 0 the centre must be for the first to be better on most datasets: 0 to rope."""
    from scipy.special import stdtr

    low, high = np.zeros((len(s), len(_NU))), np.full((len(s), len(_NU)), rope)
    for _ in range(50):
        middle = (low + high) / 2
        enough = 2 * stdtr(_NU, (middle - rope) / s) >= stdtr(_NU, (middle + rope) / s)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _below(c: np.ndarray, weights: np.ndarray, bound: np.ndarray) -> float:
    """Weight of the centres below a bound for each scale and nu; a point's weight is its cell's."""
    cell = c[1] - c[0]
    share = np.clip((bound - c[:, None, None]) / cell + 0.5, 0, 1)
    return float((share * weights).sum())


@checked
def hierarchical_test(
    results: Results, first: str, second: str, *, rope: float = 0.0
) -> TestResult:
    """Bayesian hierarchical test of two strategies on all folds of all datasets.

    Scenario (c). There is no null hypothesis: the result is the probability that the first strategy
    is better by more than ``rope`` on most new datasets, that both are equivalent on most, and that
    the second is better on most. Unlike the sign and signed rank tests it knows that the mean of a
    dataset is uncertain, and how much. It takes a second or two for each pair.

    Parameters
    ----------
    results : Results
        With three or more folds on every dataset, repeated or not.
    first, second : str
        The strategies to compare.
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric.

    Returns
    -------
    TestResult
        The effect is the expected share of datasets on which the first is better.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A strategy is not known, the two do not differ on any fold, or there are too few folds.

    Notes
    -----
    See `hierarchical_probabilities`. Datasets on which all folds differ by the same are given the
    median standard error of the others: that a few folds do not vary is no sign of certainty.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> folds = pd.MultiIndex.from_product([["iris", "wine", "zoo", "glass"], [0], range(10)])
    >>> table = pd.DataFrame(rng.normal([0.2, 0.23], 0.02, (40, 2)), folds, ["A", "B"])
    >>> results = Results.from_table(table, greater_is_better=False)
    >>> result = hierarchical_test(results, "A", "B", rope=0.01)
    >>> round(result.probabilities["P(A better)"], 2)
    0.99
    """
    results = results.select(strategies=[first, second])
    results.complete(datasets=2, strategies=2)
    pairs = Pairs.of(results.strategies)
    parts = []
    for place in range(len(results.datasets)):
        x = dataset_differences(results, place, pairs)[0]
        mean, error, _, _ = cv_interval(x, test_to_train=train_ratio_of(results, place))
        parts.append((mean, error, x.size - 1))
    mean, error, df = np.array(parts, dtype=float).T
    if not (error > 0).any():
        raise AnalysisError(
            f"{first!r} and {second!r} differ by the same on all folds of every dataset; "
            "the sign test says what there is to say"
        )
    constant = error == 0
    p, shares = hierarchical_probabilities(
        mean, np.where(constant, np.median(error[~constant]), error), df, rope
    )
    names = (f"P({first} better)", EQUIVALENT, f"P({second} better)")
    p = np.where(np.array([True, rope > 0, True]), np.clip(p, SMALLEST_P, 1.0), 0.0)
    note = f"{constant.sum()} datasets do not vary: they have the median error of the others"
    return TestResult(
        name="Bayesian hierarchical test",
        strategies=(first, second),
        metric=results.metric.loss_name,
        null=f"none is tested: which is better on most new datasets, by more than {rope:g}?",
        source=_SOURCE,
        probabilities=dict(zip(names, p.tolist(), strict=True)),
        effects=(
            Estimate(
                name=f"share of datasets on which {first} is better",
                value=float(shares[0]),
                method="posterior mean",
                n=len(mean),
            ),
        ),
        n=len(mean),
        ties=int((mean == 0).sum()),
        notes=(
            *results.notes_text(),
            f"region of practical equivalence: +-{rope:g}",
            *([note] if constant.any() else []),
        ),
    )

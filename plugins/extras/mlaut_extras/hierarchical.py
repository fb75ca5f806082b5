"""The Bayesian hierarchical test: all folds of all datasets in one model, by quadrature.

Corani, Benavoli, Demsar, Mangili & Zaffalon (2017). On dataset i the differences of the folds are
normal and equally correlated around ``delta_i``; the ``delta_i`` have a Student distribution over
datasets. Other implementations sample the hundred or more parameters of this model. Here all but
three parameters are integrated out. The deviation on a dataset is integrated in closed form. Its
``delta_i`` is integrated by writing both Student distributions as mixtures of normal distributions,
whose convolution is normal. The remaining parameters are the centre, the scale and the degrees of
freedom over datasets. A sum over a grid integrates them, without chains, seeds or a compiler.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from mlaut.analysis import Results
from mlaut.analysis.methods.cross_validation import cv_interval
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    SMALLEST_P,
    FoldDifferences,
    NotNegative,
    Pairs,
    PairStatistics,
    checked,
    fold_differences,
    pair_test,
    region_statistics,
)

# The error stated beside each constant is the largest change of a probability or share, on six
# examples of 3 to 12 datasets, when only this constant is made finer.
# `test_finer_constants_change_little` bounds the sum of the errors.
_POINTS = 32  # grid points of centre and of log scale; 64 points change 3e-4
_FINER = 6  # intervals between two points, by cubic interpolation of the log density; 12: 3e-4
_NU = 1 + np.geomspace(0.02, 2000, 14)
# Steps of .9 in log (nu - 1); half this step changes 4e-6. Beyond both ends is .1 % of the prior
# mass; a range 6 times as wide changes 1e-6, but 9e-4 if one dataset is 2,500 scales away.
_NEGLIGIBLE = 18.0  # log density below the peak, e^-18 = 1.5e-8; 30: 2e-4, as finer points do
_ERROR = 1e-4  # relative error of each Student density; 1e-7 changes 2e-5
_COARSE, _ROUGH = 24, 1e-2  # points and error of the search for the range; 1e-4 changes nothing
_ROUNDS = 8  # rounds of the search; most ranges no longer change after three


class _Deltas(NamedTuple):
    """Mean, scale and degrees of freedom of each dataset's Student likelihood of ``delta_i``."""

    mean: np.ndarray
    scale: np.ndarray
    df: np.ndarray


@checked
def hierarchical_probabilities(
    mean: np.ndarray, scale: np.ndarray, df: np.ndarray, rope: NotNegative = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the Bayesian hierarchical test from the likelihood of each dataset.

    Scenario (c).

    Parameters
    ----------
    mean : array_like of float, shape (N,)
        Mean difference of the losses on each dataset, first minus second.
    scale : array_like of float, shape (N,)
        Standard error of the mean difference, as in `cv_interval`; positive.
    df : array_like of float, shape (N,)
        Number of folds times runs, minus 1.
    rope : float, default 0
        Half width of the region of practical equivalence.

    Returns
    -------
    probabilities : ndarray of float, shape (3,)
        Probabilities that on most new datasets the first strategy is better, that both are
        equivalent, and that the second is better.
    shares : ndarray of float, shape (3,)
        Expected shares of datasets of these three kinds.

    Notes
    -----
    The priors are those of Corani et al. (2017). The centre and the scale over datasets and the
    deviations on datasets are uniform; ``nu - 1`` is gamma, with its shape uniform on [1, 2] and
    its rate uniform on [0.01, 0.1].

    Probabilities and shares are exact to 5e-4, or to 1e-3 if one dataset lies thousands of standard
    errors away from the others.

    Examples
    --------
    >>> mean = [-0.03, -0.01, -0.05, 0.01, -0.02, -0.04]
    >>> p, shares = hierarchical_probabilities(mean, [0.02] * 6, [99] * 6, rope=0.01)
    >>> p.round(2), shares.round(2)
    (array([0.93, 0.04, 0.03]), array([0.77, 0.15, 0.08]))
    """
    data = _likelihoods(*(np.atleast_1d(np.asarray(v, dtype=float)) for v in (mean, scale, df)))
    unit = float(np.median(data.scale) + np.abs(data.mean).max())
    data = _Deltas(data.mean / unit, data.scale / unit, data.df)
    centres, scales, log_density = _posterior(data)
    return _regions(centres, scales, log_density, rope / unit)


def _likelihoods(mean: np.ndarray, scale: np.ndarray, df: np.ndarray) -> _Deltas:
    """Return Student likelihoods with df - 1, after integrating out the deviation of each dataset.

    If the prior of the deviation is uniform, the likelihood is ``(1 + t^2 / df) ** (-df / 2)``; t
    is the distance from the mean in units of the scale.
    """
    if not (mean.shape == scale.shape == df.shape) or mean.ndim != 1 or mean.size < 2:
        raise AnalysisError("give mean, scale and df of each of two datasets or more")
    if not (np.isfinite(mean).all() and (scale > 0).all() and np.isfinite(scale).all()):
        raise AnalysisError("the means must be finite, and the scales positive")
    if (df < 2).any():
        raise AnalysisError("every dataset must have three folds or more")
    return _Deltas(mean, scale * np.sqrt(df / (df - 1)), df - 1)


def _posterior(data: _Deltas) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centres, scales and log density on a grid of centre, log scale and nu.

    Coarse grids around the peak grow and shrink until they cover the range where the density is
    not negligible.
    """
    centre, scale = _around_the_peak(data)
    for _ in range(_ROUNDS):
        centres, scales = np.linspace(*centre, _COARSE), np.linspace(*scale, _COARSE)
        log_density = _log_density(data, centres, np.exp(scales), _NU[::2], _ROUGH).max(axis=2)
        seen = log_density > log_density.max() - _NEGLIGIBLE
        centre = _cover(centres, seen.any(axis=1))
        scale = _cover(scales, seen.any(axis=0))
    centres, scales = np.linspace(*centre, _POINTS), np.exp(np.linspace(*scale, _POINTS))
    return centres, scales, _log_density(data, centres, scales, _NU)


def _around_the_peak(data: _Deltas) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the first ranges of centre and log scale, from the best of two searches."""
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
    """Return the ends of the seen points plus 1.5 steps, so that a range too narrow can grow."""
    at, step = grid[seen], 1.5 * (grid[1] - grid[0])
    return float(at[0] - step), float(at[-1] + step)


def _log_density(
    data: _Deltas, centres: np.ndarray, scales: np.ndarray, nus: np.ndarray, error: float = _ERROR
) -> np.ndarray:
    """Return the log posterior density in (centre, log scale, log (nu - 1)), up to a constant."""
    prior = np.log(scales)[:, None] + _log_prior(nus)
    log_density = np.repeat(prior[None], len(centres), axis=0)
    for mean, scale, df in zip(*data, strict=True):
        away = np.abs(mean - centres)
        reach = _reach(away.max() / scale), _reach(away.max() / scales.min())
        precisions, weights = _gamma_mixture(float(df), reach[0], error)
        for place, nu in enumerate(nus):
            mixture = _gamma_mixture(float(nu), reach[1], error)
            log_density[:, :, place] += _log_convolution(
                away**2, scales, mixture, scale**2 / precisions, weights
            )
    return log_density


def _reach(ratio: float) -> float:
    """Round a ratio up to a power of 10 (at least 10), so that few mixtures are computed."""
    return float(10 ** np.ceil(np.log10(max(ratio, 10.0))))


def _log_convolution(
    away: np.ndarray,
    scales: np.ndarray,
    mixture: tuple[np.ndarray, np.ndarray],
    variances: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Return the log density of a Student variable plus a normal mixture, (centres, scales)."""
    precisions, mix = mixture
    total = scales[:, None, None] ** 2 / precisions[:, None] + variances
    height = (mix[:, None] * weights / np.sqrt(2 * np.pi * total)).reshape(len(scales), -1)
    rate = (0.5 / total).reshape(len(scales), -1)
    density = np.einsum("sm,csm->cs", height, np.exp(-away[:, None, None] * rate))
    # The bound keeps the log finite. At -690 it is far below the density of any plausible point.
    return np.log(np.maximum(density, 1e-300))


@lru_cache(maxsize=1024)
def _gamma_mixture(nu: float, reach: float, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return precisions and weights of a mixture of normals that equals a Student distribution.

    The density of the mixture has a relative error below ``error`` up to ``reach`` scales from the
    centre, or up to where it is below e^-650 (`test_the_mixture_is_as_exact_as_it_says`).

    The integral over the log precision is a sum with equal steps. Given a deviation t, the
    precision has a gamma distribution with parameters (nu + 1) / 2 and (nu + t^2) / 2; the ends of
    the sum are quantiles of these distributions for t = 0 and for the farthest t. The error of the
    sum is its first Fourier term, a ratio of gamma functions; it determines the step.
    """
    from scipy.optimize import brentq
    from scipy.special import gammainccinv, gammaincinv, gammaln, loggamma

    shape = (nu + 1) / 2
    farthest = min(reach**2, nu * np.expm1(1300 / (nu + 1)))
    low = gammaincinv(shape, error / 10) / (1 + farthest / nu)
    high = gammainccinv(shape, error / 10)

    def term(frequency: float) -> float:
        return float(loggamma(shape + 1j * frequency).real - gammaln(shape) - np.log(error / 2))

    # At the upper end of the bracket the Fourier term is below e^-25.
    frequency = brentq(term, 1e-3, 20 + 10 * np.sqrt(shape))
    steps = int(np.ceil(np.log(high / low) * frequency / (2 * np.pi)))
    v = np.linspace(np.log(low), np.log(high), steps + 1)
    log_weight = nu / 2 * v - np.exp(v) - gammaln(nu / 2)
    return np.exp(v) / (nu / 2), np.exp(log_weight) * (v[1] - v[0])


def _log_prior(nu: np.ndarray) -> np.ndarray:
    """Return the log prior density of log (nu - 1), averaged over the ranges of shape and rate.

    The average over the rate is a difference of two gamma distribution functions. It is smooth in
    the shape, so 6 nodes of Gauss and Legendre average it over the shape, exactly to 3e-7.
    """
    from scipy.special import gammainc, gammaincc

    nodes, weights = np.polynomial.legendre.leggauss(6)
    shape, x = 1.5 + nodes / 2, (nu - 1)[:, None]
    low, high = 0.01 * x, 0.1 * x
    lower_tails = gammainc(shape + 1, high) - gammainc(shape + 1, low)
    upper_tails = gammaincc(shape + 1, low) - gammaincc(shape + 1, high)
    between = np.where(low < 1, lower_tails, upper_tails)  # the small tails: no cancellation
    return np.log((shape / x * between) @ weights / 2 / 0.09)


def _regions(
    centres: np.ndarray, scales: np.ndarray, log_density: np.ndarray, rope: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and shares of the three regions, summed over a refined grid."""
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
    """Return how far below 0 the centre must be for the first to be better on most datasets.

    The distance is between 0 and ``rope``, for each scale and nu.
    """
    from scipy.special import stdtr

    low, high = np.zeros((len(s), len(_NU))), np.full((len(s), len(_NU)), rope)
    for _ in range(50):  # bisection, down to 1e-15 of the region
        middle = (low + high) / 2
        enough = 2 * stdtr(_NU, (middle - rope) / s) >= stdtr(_NU, (middle + rope) / s)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _below(c: np.ndarray, weights: np.ndarray, bound: np.ndarray) -> float:
    """Return the weight of the centres below a bound that depends on the scale and nu.

    The weight of a grid point is spread evenly over its grid interval.
    """
    cell = c[1] - c[0]
    share = np.clip((bound - c[:, None, None]) / cell + 0.5, 0, 1)
    return float((share * weights).sum())


@pair_test(
    name="Bayesian hierarchical test",
    null="none is tested: which is better on most new datasets, by more than {rope:g}?",
    source="Corani, Benavoli, Demsar, Mangili & Zaffalon 2017",
)
def hierarchical_test(results: Results, *, rope: NotNegative = 0.0) -> PairStatistics:
    """Compute the Bayesian hierarchical test on all folds of all datasets.

    Scenario (c). There is no null hypothesis. The result is three probabilities: the first strategy
    is better by more than ``rope`` on most new datasets; both are equivalent on most; the second is
    better on most. Unlike the sign and signed rank tests, this test accounts for the uncertainty of
    the mean of each dataset. It takes one to three seconds for each pair.

    Parameters
    ----------
    results : Results
        Results with three or more folds on every dataset, repeated or not.
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric.

    Returns
    -------
    TestResult or Pairwise
        The effect is the expected share of datasets on which the first strategy is better.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A strategy is not known, the two do not differ on any fold, or there are too few folds.

    Notes
    -----
    See `hierarchical_probabilities`. A dataset on which the difference is the same in all folds
    gets the median standard error of the other datasets, because a few equal folds do not show that
    the difference is certain.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> folds = pd.MultiIndex.from_product([["iris", "wine", "zoo", "glass"], [0], range(10)])
    >>> table = pd.DataFrame(rng.normal([0.2, 0.23], 0.02, (40, 2)), folds, ["A", "B"])
    >>> result = hierarchical_test(table, metric="error", pair=("A", "B"), rope=0.01)
    >>> round(result.probabilities["P(row better)"], 2)
    0.99
    """
    results.complete(datasets=2, strategies=2)
    pairs, folds = Pairs.of(results.strategies), fold_differences(results)
    each = [_one_pair(names, at, folds, rope) for at, names in enumerate(pairs.labels)]
    p, shares, ties, constant = (np.array(part) for part in zip(*each, strict=True))
    notes = {
        names: f"{n} datasets do not vary: they have the median error of the others"
        for names, n in zip(pairs.labels, constant, strict=True)
        if n
    }
    return region_statistics(
        pairs, p, shares, of="share of datasets", ties=ties, rope=rope, pair_notes=notes
    )


def _one_pair(
    names: Sequence[str], at: int, folds: Sequence[FoldDifferences], rope: float
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return probabilities, shares, and the numbers of tied and of constant datasets of a pair."""
    parts = [cv_interval(own.differences[at], test_to_train=own.test_to_train) for own in folds]
    mean, error = (np.array([part[i] for part in parts]) for i in (0, 1))
    df = np.array([own.differences[at].size - 1.0 for own in folds])
    if not (error > 0).any():
        raise AnalysisError(
            f"{names[0]!r} and {names[1]!r} have the same difference on all folds of every "
            "dataset: use the sign test"
        )
    constant = error == 0
    error = np.where(constant, np.median(error[~constant]), error)
    p, shares = hierarchical_probabilities(mean, error, df, rope)
    p = np.where(np.array([True, rope > 0, True]), np.maximum(p, SMALLEST_P), 0.0)
    return p, shares, int((mean == 0).sum()), int(constant.sum())

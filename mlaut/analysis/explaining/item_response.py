"""Samejima's item response model for continuous responses: datasets are items, strategies sit them.

The response z of strategy i to dataset j (higher is better) is normal around ``mu_j + a_j sigma_j
theta_i`` with the standard deviation ``sigma_j``. The abilities theta have mean 0 and standard
deviation 1 among the strategies that are compared, so ``a_j`` is by how many standard deviations of
the noise a strategy gains that is better by one standard deviation of the strategies. The ``a_j``
are normal around their mean with a spread that is estimated; all other priors are uniform (in mu_j
and log sigma_j), so that the unit of a dataset does not matter.
"""

from __future__ import annotations

import numpy as np

__all__ = ["item_response"]

_CHAINS = 8  # side by side in one array
_WARM = 100  # steps that are thrown away; five times as many change less than another seed does
# Grid of log sigma_j, in units of the standard deviation of the responses to the dataset. Half the
# step changes less than another seed does.
_LOG_SD = np.arange(-5.0, 1.5, 0.08)


def item_response(
    responses: np.ndarray, n_samples: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw from the posterior of the model by a Gibbs sampler.

    Parameters
    ----------
    responses : ndarray, shape (N, K)
        Higher is better; those to each dataset differ.
    n_samples : int
        Smallest number of draws.
    seed : int

    Returns
    -------
    mu, a : ndarray, shape (draws, N)
        Responses of average ability, and discriminations.
    theta : ndarray, shape (draws, K)
        Abilities.
    """
    rng = np.random.default_rng(seed)
    n, k = responses.shape
    centre, unit = responses.mean(axis=1), responses.std(axis=1)
    z = (responses - centre[:, None]) / unit[:, None]
    theta = _standard(z.mean(axis=0) + 0.5 * rng.standard_normal((_CHAINS, k)))
    mean, spread = np.ones((2, _CHAINS, 1))
    kept = []
    for turn in range(_WARM + -(-n_samples // _CHAINS)):
        slope = theta @ z.T / k  # (chains, N): of least squares
        rest = np.maximum(1 - slope**2, 0) * k
        sd = _noise(rng, slope, rest, k, mean, spread)
        precision = k + spread**-2
        a = (k * slope / sd + mean / spread**2) / precision
        a += rng.standard_normal(a.shape) / np.sqrt(precision)
        mu = sd * rng.standard_normal(a.shape) / np.sqrt(k)
        mean = a.mean(axis=1, keepdims=True) + spread * rng.standard_normal((_CHAINS, 1)) / np.sqrt(
            n
        )
        squares = ((a - mean) ** 2).sum(axis=1, keepdims=True)
        spread = np.sqrt(squares / rng.chisquare(n - 1, (_CHAINS, 1)))
        pull = ((z - mu[..., None]) * (a / sd)[..., None]).sum(axis=1)
        precision = 1 + (a**2).sum(axis=1, keepdims=True)
        theta = _standard(pull / precision + rng.standard_normal((_CHAINS, k)) / np.sqrt(precision))
        side = np.where(a.mean(axis=1, keepdims=True) < 0, -1.0, 1.0)  # most datasets agree
        theta, a, mean = side * theta, side * a, side * mean
        if turn >= _WARM:
            kept.append((centre + unit * mu, a, theta))
    mus, slopes, abilities = (np.concatenate(one) for one in zip(*kept, strict=True))
    return mus, slopes, abilities


def _standard(theta: np.ndarray) -> np.ndarray:
    """Return abilities with mean 0 and standard deviation 1 in each chain."""
    theta = theta - theta.mean(axis=1, keepdims=True)
    size: np.ndarray = theta / theta.std(axis=1, keepdims=True)
    return size


def _noise(
    rng: np.random.Generator,
    slope: np.ndarray,
    rest: np.ndarray,
    k: int,
    mean: np.ndarray,
    spread: np.ndarray,
) -> np.ndarray:
    """Draw the standard deviations of the noise, without the mu and a that belong to them."""
    sd = np.exp(_LOG_SD)
    away = (slope[..., None] / sd - mean[..., None]) ** 2 / (spread**2 + 1 / k)[..., None]
    log_density = -(k - 1) * _LOG_SD - rest[..., None] / (2 * sd**2) - away / 2
    weights = np.exp(log_density - log_density.max(axis=2, keepdims=True)).cumsum(axis=2)
    at = (weights < rng.uniform(size=(*slope.shape, 1)) * weights[..., -1:]).sum(axis=2)
    step = _LOG_SD[1] - _LOG_SD[0]
    drawn: np.ndarray = np.exp(_LOG_SD[at] + step * rng.uniform(-0.5, 0.5, at.shape))
    return drawn

"""Draws from a smooth posterior that is nearly normal, by Hamiltonian Monte Carlo.

Many short chains run side by side in one array. They start from a normal approximation, in whose
units the posterior has nearly the same width in every direction; so no chain needs to find its way.
`test_draws_are_those_of_quadrature` compares the draws with integrals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LogDensity = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

_CHAINS = 64  # chains that move together: one array operation a step, and few steps for each
_WARM = 40  # steps that are thrown away; half as many change no probability by its error
_QUARTER = (
    np.pi / 2
)  # the length of a path after which a normal distribution has forgotten its start
_GOOD = 0.8  # share of accepted steps: the usual compromise between short paths and rejections
_H = 1e-4  # of the differences that give the curvature; the units only scale the chains


def draw_posterior(
    density: LogDensity, centre: np.ndarray, root: np.ndarray, n_samples: int, seed: int
) -> np.ndarray:
    """Return draws from a posterior.

    Parameters
    ----------
    density : callable
        Function of points, shape (C, D), that returns their log densities, shape (C,), and the
        gradients, shape (C, D).
    centre : ndarray, shape (D,)
    root : ndarray, shape (D, D)
        Centre and a root of the covariance of a normal approximation.
    n_samples : int
        Smallest number of draws.
    seed : int

    Returns
    -------
    ndarray, shape (chains, draws, D)
        The chains are independent of each other: they give the Monte Carlo error.
    """
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((_CHAINS, len(centre)))
    value, slope = _in_units(density, centre, root, z)
    step = 1.2 * len(centre) ** -0.25  # which a normal posterior accepts at any size
    kept = []
    for turn in range(_WARM + -(-n_samples // _CHAINS)):
        length = step * rng.uniform(0.8, 1.2)
        momentum = rng.standard_normal(z.shape)
        energy = value - 0.5 * (momentum**2).sum(axis=1)
        to, new, new_slope = z, value, slope
        for _ in range(int(np.ceil(_QUARTER / step))):
            momentum = momentum + 0.5 * length * new_slope
            to = to + length * momentum
            new, new_slope = _in_units(density, centre, root, to)
            momentum = momentum + 0.5 * length * new_slope
        gain = new - 0.5 * (momentum**2).sum(axis=1) - energy
        taken = np.log(rng.uniform(size=_CHAINS)) < gain
        z = np.where(taken[:, None], to, z)
        value, slope = np.where(taken, new, value), np.where(taken[:, None], new_slope, slope)
        if turn < _WARM:
            step *= 1.1 if np.exp(np.minimum(gain, 0)).mean() > _GOOD else 0.8
            step = min(step, _QUARTER)
        else:
            kept.append(z)
    return centre + np.stack(kept, axis=1) @ root.T


def _in_units(
    density: LogDensity, centre: np.ndarray, root: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    value, slope = density(centre + z @ root.T)
    return value, slope @ root


def normal_approximation(density: LogDensity, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mode of a density and a root of the covariance of the normal one around it."""
    from scipy.optimize import minimize

    def height(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = density(x[None])
        return -float(value[0]), -slope[0]

    centre = minimize(height, start, jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x
    nudge = _H * np.eye(len(start))
    curvature = (density(centre - nudge)[1] - density(centre + nudge)[1]) / (2 * _H)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    return centre, vectors / np.sqrt(np.maximum(values, 1e-6 * values.max()))

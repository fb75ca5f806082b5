"""Comparison of classifiers by their errors on test points: Lacoste, Laviolette & Marchand (2012).

The input is counts of errors on test points that the classifiers have not seen. The results on one
dataset are about the classifiers that were trained there: scenario (a). `poisson_binomial` and
`pair_probabilities` in this folder combine many datasets.
"""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import Share, checked, priors
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.errors import AnalysisError


@dataclass(frozen=True, eq=False)
class RiskPosterior:
    """Posterior of a classifier's true risk, given its number of errors: a Beta distribution.

    Attributes
    ----------
    alpha, beta : ndarray of float
        Parameters of the posterior, of any shape: one value for each classifier or dataset.

    Examples
    --------
    >>> risk = risk_posterior(errors=10, n=100)
    >>> round(float(risk.mean), 4), round(float(risk.upper_bound(0.05)), 4)
    (0.1078, 0.1622)
    """

    alpha: np.ndarray
    beta: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Expected risk of each classifier."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def standard_deviation(self) -> np.ndarray:
        """Standard deviation of the posterior."""
        return np.sqrt(self.mean * (1 - self.mean) / (self.alpha + self.beta + 1))

    def cdf(self, risk: ArrayLike) -> np.ndarray:
        """Return the probability that the true risk is at most ``risk``."""
        from scipy.special import betainc

        return betainc(self.alpha, self.beta, risk)

    def upper_bound(self, delta: float = 0.05) -> np.ndarray:
        """Return the risk that is not exceeded with probability ``1 - delta`` (equation 3)."""
        from scipy.special import betainccinv

        return betainccinv(self.alpha, self.beta, _checked_delta(delta))

    def lower_bound(self, delta: float = 0.05) -> np.ndarray:
        """Return the risk that is exceeded with probability ``1 - delta``."""
        from scipy.special import betaincinv

        return betaincinv(self.alpha, self.beta, _checked_delta(delta))

    def interval(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the central credible interval."""
        delta = _checked_delta(1 - confidence) / 2
        return self.lower_bound(delta), self.upper_bound(delta)


def _checked_delta(delta: float) -> float:
    if not 0 < delta < 1:
        raise AnalysisError(f"delta = {delta} is not between 0 and 1, for example 0.05")
    return float(delta)


def checked_counts(**counts: ArrayLike) -> list[np.ndarray]:
    """Return counts as floats of a common shape, or raise an AnalysisError."""
    arrays = {name: np.asarray(value, dtype=float) for name, value in counts.items()}
    for name, value in arrays.items():
        count = (value >= 0) & (value == np.floor(value)) & (value < 2**53)  # exact as floats
        wrong = value[~count]
        if wrong.size:
            raise AnalysisError(
                f"{name} = {wrong.flat[0]:g} is not a count; give whole numbers from 0"
            )
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in arrays.items())
        raise AnalysisError(f"the shapes of the counts do not match: {shapes}") from None


@checked
def risk_posterior(
    errors: ArrayLike, n: ArrayLike, prior: tuple[float, float] = (1.0, 1.0)
) -> RiskPosterior:
    """Compute the posterior of a classifier's true risk from its errors on ``n`` test points.

    Scenario (a): the fitted classifier, re-used on the dataset that was seen.

    Parameters
    ----------
    errors, n : array_like of int
        Numbers of errors and of test points; their shapes must broadcast.
    prior : pair of float, default (1, 1)
        Parameters of the Beta prior, both positive. (1, 1) is the uniform prior, (0.5, 0.5) is
        Jeffreys' prior.

    Returns
    -------
    RiskPosterior

    Raises
    ------
    AnalysisError
        A number is not a count, there are more errors than points, or the prior is not positive.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 3. `langford_bounds` returns limits of the bounds
    of this posterior.

    Examples
    --------
    >>> risk = risk_posterior(errors=[0, 1], n=100)
    >>> risk.upper_bound(0.05).round(6)
    array([0.029225, 0.046107])
    """
    alpha, beta = priors("prior", prior, 2, 2)
    errors, n = _checked_errors(errors, n)
    return RiskPosterior(alpha=alpha + errors, beta=beta + n - errors)


def _checked_errors(errors: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    errors, n = checked_counts(errors=errors, n=n)
    if (errors > n).any():
        where = np.argmax(errors > n)
        raise AnalysisError(
            f"errors = {errors.flat[where]:g} of n = {n.flat[where]:g} test points: too many"
        )
    return errors, n


@checked
def langford_bounds(
    errors: ArrayLike, n: ArrayLike, delta: Share = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Langford's test set bounds of the true risk.

    Scenario (a). The bounds are frequentist: over random test sets, the upper bound is below the
    risk with probability at most ``delta``, and the lower bound above it likewise. The upper bound
    is the limit of `RiskPosterior.upper_bound` for the prior (1, 0), the worst case; the lower
    bound is the limit of `RiskPosterior.lower_bound` for the prior (0, 1).

    Parameters
    ----------
    errors, n : array_like of int
        Numbers of errors and of test points.
    delta : float, default 0.05
        Error probability of each bound.

    Returns
    -------
    lower, upper : ndarray of float
        The lower bound is 0 if there are no errors; the upper bound is 1 if all points are wrong.

    Raises
    ------
    AnalysisError
        A number is not a count, there are more errors than points, or ``delta`` is out of range.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), section 3 and equation (4); Langford (2006), Theorem 3.3.

    Examples
    --------
    >>> lower, upper = langford_bounds(errors=0, n=100)
    >>> float(lower), round(float(upper), 6)  # the upper one is 1 - delta ** (1 / n)
    (0.0, 0.029513)
    """
    from scipy.special import betainccinv, betaincinv

    errors, n = _checked_errors(errors, n)
    # betainccinv needs positive parameters; 0.5 is a placeholder for the cases set to 0 and 1.
    right = np.maximum(n - errors, 0.5)
    upper = np.where(errors == n, 1.0, betainccinv(errors + 1, right, delta))
    wrong = np.maximum(errors, 0.5)
    lower = np.where(errors == 0, 0.0, betaincinv(wrong, n - errors + 1, delta))
    return lower, upper


@checked
def prob_better_classifier(
    only_first_wrong: ArrayLike,
    only_second_wrong: ArrayLike,
    prior: float | tuple[float, ...] = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the probability that each of two classifiers has the smaller true risk.

    Both were tested on the same points. Scenario (a): these two classifiers, on this dataset.

    Parameters
    ----------
    only_first_wrong, only_second_wrong : array_like of int
        Numbers of test points that only the first, or only the second, classifier gets wrong (the
        paper's k_h and k_g).
    prior : float or tuple of float, default 1
        Parameters of the Dirichlet prior for "only the first is wrong", "only the second is wrong"
        and optionally "both are right or both are wrong", which has no effect. A single number is
        used for both. 1 is the uniform prior; a larger number assumes more similar classifiers.

    Returns
    -------
    first, second : ndarray of float
        Probabilities that add up to 1. Each is computed separately, so that the smaller one keeps
        its digits.

    Raises
    ------
    AnalysisError
        A number is not a count, or a parameter of the prior is not positive.

    Notes
    -----
    Lacoste, Laviolette & Marchand (2012), Theorem 4.1: ``I_{1/2}(a + k_h, a + k_g)``. With the
    uniform prior this is 1 minus the one-sided mid-p value of McNemar's test.

    Examples
    --------
    >>> first, second = prob_better_classifier(5, 12)
    >>> round(float(first), 4), round(float(second), 4)
    (0.9519, 0.0481)
    """
    both = (prior, prior) if isinstance(prior, Real) else prior
    a_h, a_g = priors("prior", both, 2, 3)[:2]
    from scipy.special import betainc

    h, g = checked_counts(only_first_wrong=only_first_wrong, only_second_wrong=only_second_wrong)
    first, second = betainc(a_h + h, a_g + g, 0.5), betainc(a_g + g, a_h + h, 0.5)
    return np.clip(first, SMALLEST_P, 1.0), np.clip(second, SMALLEST_P, 1.0)


@checked
def joint_errors(wrong: ArrayLike) -> np.ndarray:
    """Count the test points that only one classifier of a pair gets wrong, for all pairs.

    Parameters
    ----------
    wrong : array_like of bool, shape (..., K, M)
        Whether each of K classifiers errs on each of M test points.

    Returns
    -------
    ndarray of int64, shape (..., K, K)
        Number of points that the row classifier gets wrong and the column classifier gets right.
        The diagonal is 0.

    Examples
    --------
    >>> joint_errors([[True, True, False], [False, True, False]])
    array([[0, 1],
           [0, 0]])
    """
    errs = np.asarray(wrong, dtype=float)
    if errs.ndim < 2:
        raise AnalysisError(f"wrong of shape {errs.shape}: a row for each classifier is needed")
    if not np.isin(errs, (0, 1)).all():
        raise AnalysisError("errors must be 0 or 1; for other losses use bootstrap_prob_better")
    return np.rint(errs @ np.swapaxes(1 - errs, -1, -2)).astype(np.int64)

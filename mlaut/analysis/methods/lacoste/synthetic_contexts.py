"""Synthetic contexts: distributions of datasets for which the better strategy is known.

On each dataset of a context, the joint error probabilities of two classifiers are drawn from a
mixture of Dirichlet distributions. A study observes counts of errors. A test that uses such counts
can be evaluated on a context: how often it is right and wrong at each level of confidence. Lacoste,
Laviolette & Marchand (2012), section 6.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import checked
from mlaut.analysis.methods.lacoste.risk import checked_counts
from mlaut.errors import AnalysisError


@dataclass(frozen=True, eq=False)
class Draws:
    """Counts of errors of two strategies, A and B, on datasets drawn from a context.

    Attributes
    ----------
    only_a, only_b : ndarray of int64, shape (M, N)
        Numbers of test points that only A, or only B, gets wrong, for M repetitions of a study of N
        datasets.
    n : ndarray of int64, shape (M, N)
        Numbers of test points.
    a_is_better : ndarray of bool, shape (M,)
        Whether A is the better strategy in truth. A and B swap places at random between
        repetitions.
    """

    only_a: np.ndarray
    only_b: np.ndarray
    n: np.ndarray
    a_is_better: np.ndarray


@dataclass(frozen=True, eq=False)
class Context:
    """Mixture of Dirichlet distributions of (only A errs, only B errs, both or neither).

    Attributes
    ----------
    name : str
    alphas : ndarray of float, shape (C, 3)
        Positive parameters of the components.
    weights : ndarray of float, shape (C,)
        Probabilities of the components.
    sizes : ndarray of int, shape (C,)
        Default number of test points of a dataset of each component.

    Examples
    --------
    >>> round(BIMODAL.share, 4), BIMODAL.a_is_better
    (0.6635, True)
    """

    name: str
    alphas: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray

    def __post_init__(self) -> None:
        a, w, n = self.alphas, self.weights, self.sizes
        if a.ndim != 2 or a.shape[1] != 3 or not (np.isfinite(a) & (a > 0)).all():
            raise AnalysisError(f"context {self.name!r}: alphas must be positive, shape (C, 3)")
        if w.shape != (len(a),) or not (w >= 0).all() or not np.isclose(w.sum(), 1):
            raise AnalysisError(f"context {self.name!r}: weights must be C probabilities")
        if n.shape != (len(a),) or not (n >= 1).all():
            raise AnalysisError(f"context {self.name!r}: sizes must be C numbers of test points")

    @property
    def share(self) -> float:
        """Probability that A's classifier is better on a dataset of the context (exact)."""
        from scipy.special import betainc

        return float(self.weights @ betainc(self.alphas[:, 0], self.alphas[:, 1], 0.5))

    @property
    def a_is_better(self) -> bool:
        """Return whether A is better within the context (equation 2)."""
        return self.share > 0.5

    @property
    def risk_differences(self) -> tuple[float, float]:
        """Mean and standard deviation over datasets of A's true risk minus B's."""
        total = self.alphas.sum(axis=1, keepdims=True)
        mean = self.alphas / total
        a, b = mean[:, 0], mean[:, 1]
        means = a - b
        variances = (a + b - means**2) / (total[:, 0] + 1)
        centre = float(self.weights @ means)
        spread = self.weights @ (variances + means**2) - centre**2
        return centre, float(np.sqrt(max(spread, 0.0)))

    def draw(
        self,
        n_repetitions: int,
        n_datasets: int,
        n_points: int | None = None,
        seed: int | np.random.SeedSequence = 0,
    ) -> Draws:
        """Draw studies from the context.

        Parameters
        ----------
        n_repetitions, n_datasets : int
            Number of studies, and number of datasets of each study.
        n_points : int, optional
            Number of test points of every dataset; default the number of its component.
        seed : int or SeedSequence, default 0
            Seed of the draws.

        Returns
        -------
        Draws
        """
        rng = np.random.default_rng(seed)
        shape = (n_repetitions, n_datasets)
        which = rng.choice(len(self.weights), p=self.weights, size=shape)
        a, b, rest = np.moveaxis(rng.standard_gamma(self.alphas[which]), -1, 0)
        n = np.full(shape, n_points) if n_points else self.sizes[which]
        only_a = rng.binomial(n, a / (a + b + rest))
        only_b = rng.binomial(n - only_a, b / (b + rest))
        swapped = rng.random(n_repetitions) < 0.5
        return Draws(
            only_a=np.where(swapped[:, None], only_b, only_a),
            only_b=np.where(swapped[:, None], only_a, only_b),
            n=n,
            a_is_better=swapped != self.a_is_better,
        )


@checked
def context_from_counts(
    only_first_wrong: ArrayLike,
    only_second_wrong: ArrayLike,
    n: ArrayLike,
    prior: float = 1.0,
    name: str = "estimated",
) -> Context:
    """Return a context that resembles the one from which a study's datasets were drawn.

    It has one component for each dataset of the study: the posterior of its error probabilities.

    Parameters
    ----------
    only_first_wrong, only_second_wrong : array_like of int, shape (N,)
        Numbers of test points of each dataset that only the first, or only the second, strategy
        gets wrong.
    n : array_like of int, shape (N,)
        Number of test points of each dataset.
    prior : float, default 1
        Number that is added to each of the three counts.
    name : str
        Name of the context.

    Returns
    -------
    Context

    Raises
    ------
    AnalysisError
        A number is not a count, or there are more errors than points.

    Notes
    -----
    The multimodal context of Lacoste, Laviolette & Marchand (2012), section 9.1, is made this way.

    Examples
    --------
    >>> context = context_from_counts([3, 5, 0], [8, 6, 2], [100, 80, 120])
    >>> round(context.share, 3)
    0.805
    """
    h, g, n = checked_counts(
        only_first_wrong=only_first_wrong, only_second_wrong=only_second_wrong, n=n
    )
    if h.ndim != 1 or h.size == 0 or (h + g > n).any() or (n < 1).any():
        raise AnalysisError("give one pair of counts for each dataset, together at most n, n >= 1")
    alphas = np.stack([h, g, n - h - g], axis=1) + prior
    return Context(name, alphas, np.full(h.size, 1 / h.size), n.astype(np.int64))


_TABLE_5 = """
11 14 1223  12 20 1232  10 16 4078  13 15 1228  31 17 320  22 22 148  27 35 154  14 18 112
17 25 286  24 17 151  149 240 5555  16 30 762  19 14 791  11 16 237  79 127 3834  15 20 1213
10 11 803  15 15 122  11 29 176  14 18 352  46 64 410  31 1019 2694
"""


def _fixed(name: str, alphas: str, weights: tuple[float, ...], size: int) -> Context:
    """Return a context from a text of parameters, three for each component."""
    table = np.array(alphas.split(), dtype=float).reshape(-1, 3)
    return Context(name, table, np.array(weights), np.full(len(table), size))


SINGLE = _fixed("single", "100 110 790", (1.0,), 1001)
"""Context of one Dirichlet distribution, symmetric differences (Lacoste et al. 2012, Figure 3)."""

BIMODAL = _fixed("bimodal", "100 140 9760  1400 1000 7600", (2 / 3, 1 / 3), 100_001)
"""Context in which one strategy is better on two thirds of the datasets, by a small difference.

On the other datasets it is worse, by a larger difference (section 6.4).
"""

MULTIPLE = _fixed("multiple", _TABLE_5, (1 / 22,) * 22, 1001)
"""Context of SVM against Parzen windows on 22 datasets.

Lacoste et al. 2012, Table 5; Figures 4 and 5.
"""

"""PosteriorDraws from the posterior of the multilevel model, by a Gibbs sampler.

Only contrasts between strategies are modelled: vectors of K - 1 numbers, orthogonal to what all
strategies have in common. Of dataset k the means of the folds are ``x_k ~ normal(xi_k, v_k I)``,
where ``xi_k ~ normal(alpha, Omega)`` are the contrasts on this dataset and ``alpha ~ normal(0,
omega^2 I)`` those over datasets; v_k is the variance of a fold, one for all datasets, times a
factor that depends on the number of folds. (With a variance for each dataset, those on which all
strategies are perfect in all folds would outweigh all others.)

In the eigenvectors of Omega all these are independent, so a step needs no inverse. What would mix
slowly is drawn together: omega with alpha and all xi, the scale of Omega with Omega, and missing
means without the xi that they belong to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mlaut.analysis.methods.multilevel.blocks import Blocks

CHAINS = 8  # side by side in one array; they are independent, so they show the Monte Carlo error
_WARM = 150  # steps that are thrown away; a thousand change less than another seed does
_APART = 20  # steps between imputations of a chain; their correlation is then below .1
_DF = 3.0  # datasets that the prior of Omega is worth: the fewest with a finite mean of variances
# Priors of scales are uniform. They are integrated over these grids of their logarithm, in units
# of the root mean square of the data, and each draw is spread evenly over its step. A quarter of
# the step changes less than another seed does (4 to 12 strategies on 6 to 30 datasets).
_STEP = 0.1
_LOG_SCALES = np.arange(-14.0, 7.0, _STEP)
_FLOOR = 1e-12  # variance, in the same units: without it a constant difference has none


@dataclass(frozen=True, eq=False)
class PosteriorDraws:
    """PosteriorDraws, shape (CHAINS, draws, ...), and means over them.

    Attributes
    ----------
    effects : ndarray, shape (CHAINS, draws, K)
        Effects of strategies over all datasets; their sum is 0.
    seen : ndarray, shape (CHAINS, draws, K)
        Means of the effects on the seen datasets.
    spread : ndarray, shape (CHAINS, draws, 3)
        Standard deviations of strategies, of strategies x datasets, and of strategies x folds.
    by_dataset : ndarray, shape (N, K)
        Posterior means of the effects on each dataset.
    covariance : ndarray, shape (K, K)
        Posterior mean of the covariance of effects over datasets.
    shares : ndarray, shape (2, K, K)
        Expected shares of new datasets on which the row is better, and worse, by more than the
        margin.
    """

    effects: np.ndarray
    seen: np.ndarray
    spread: np.ndarray
    by_dataset: np.ndarray
    covariance: np.ndarray
    shares: np.ndarray


def draw(blocks: Blocks, margin: float, n_samples: int, seed: int) -> PosteriorDraws:
    """Return at least ``n_samples`` draws; ``margin`` is the smallest difference that matters."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):  # threads that wait for each other on matrices this small
        return _draw(blocks, margin, n_samples, seed)  # took ten times the CPU on a busy machine


def _draw(blocks: Blocks, margin: float, n_samples: int, seed: int) -> PosteriorDraws:
    """Return draws of all chains, without the first steps, in the units of the data."""
    chains, size = _warm(blocks, seed)
    unit = size or 1.0
    n_draws = -(-n_samples // CHAINS)
    k = blocks.means.shape[1]
    effects, seen = np.empty((2, CHAINS, n_draws, k))
    spread = np.empty((CHAINS, n_draws, 3))
    by_dataset, covariance, shares = (np.zeros(s) for s in (blocks.means.shape, (k, k), (2, k, k)))
    for at in range(n_draws):
        chains.step()
        effects[:, at], of_datasets = chains.alpha @ chains.basis, chains.xi @ chains.basis
        seen[:, at] = of_datasets.mean(axis=1)
        by_dataset += of_datasets.mean(axis=0) / n_draws
        of_strategies = chains.covariance()
        covariance += of_strategies.mean(axis=0) / n_draws
        shares += _shares(effects[:, at], of_strategies, margin / unit) / n_draws
        variances = chains.omega**2, chains.variances.mean(axis=1), chains.noise
        spread[:, at] = np.sqrt(np.stack(variances, axis=1))
    if not blocks.df.any():
        spread[..., 2] = np.nan
    return PosteriorDraws(
        effects=effects * size,
        seen=seen * size,
        spread=spread * size,
        by_dataset=by_dataset * size,
        covariance=covariance * size**2,
        shares=shares if size else 0 * shares,  # no new dataset tells equal strategies apart
    )


def _warm(blocks: Blocks, seed: int) -> tuple[_Chains, float]:
    """Return chains that have forgotten their start, and the size of the data, in their units."""
    noise = np.divide(blocks.squares, blocks.df, out=np.zeros(len(blocks.df)), where=blocks.df > 0)
    size = float(np.sqrt(np.nanmean(blocks.means**2) + noise.mean()))
    unit = size or 1.0
    chains = _Chains(
        blocks._replace(means=blocks.means / unit, squares=blocks.squares / unit**2), seed
    )
    for _ in range(_WARM):
        chains.step()
    return chains, size


def drawn_means(blocks: Blocks, n_samples: int, seed: int) -> np.ndarray:
    """Return draws of the means of all folds, also of missing ones, shape (n_samples, N, K)."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        chains, size = _warm(blocks, seed)
        rounds = []
        for _ in range(-(-n_samples // CHAINS)):
            for _ in range(_APART):
                chains.step()
            rounds.append(chains.means * size)
        return np.concatenate(rounds)[:n_samples]


def _shares(effects: np.ndarray, covariance: np.ndarray, margin: float) -> np.ndarray:
    """Return the shares of new datasets on which the row is better, and worse: (2, K, K)."""
    from scipy.special import ndtr

    variances = np.diagonal(covariance, axis1=1, axis2=2)
    away = effects[:, :, None] - effects[:, None]
    sd = np.sqrt(np.maximum(variances[:, :, None] + variances[:, None] - 2 * covariance, _FLOOR))
    better = ndtr((-margin - away) / sd).mean(axis=0)
    return np.stack([better, better.T])


@dataclass(eq=False)
class _Chains:
    """State of all chains; first index of each array is the chain.

    Attributes
    ----------
    alpha : ndarray, shape (CHAINS, p)
    xi, x : ndarray, shape (CHAINS, N, p)
    variances, vectors : ndarray, shape (CHAINS, p), (CHAINS, p, p)
        Eigenvalues and eigenvectors of Omega.
    omega : ndarray, shape (CHAINS,)
    noise : ndarray, shape (CHAINS,)
        Variance of a fold.
    """

    blocks: Blocks
    seed: int
    basis: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        from scipy.linalg import helmert

        b, self.rng = self.blocks, np.random.default_rng(self.seed)
        k = b.means.shape[1]
        self.basis = helmert(k)
        most = b.counts.max(axis=1, keepdims=True)
        self.factor = 1 / most[:, 0] + b.ratio  # variance of a mean, in those of a fold
        self.known = b.counts > 0
        # a mean of fewer folds than others have: slope on it of the mean of all folds
        of_mean = 1 / np.maximum(b.counts, 0.5) + b.ratio[:, None]
        self.slope = np.where(self.known, self.factor[:, None] / of_mean, 1.0)
        self.gaps = np.flatnonzero((b.counts < most).any(axis=1))
        self.means = np.repeat(np.nan_to_num(b.means)[None], CHAINS, axis=0)
        self.alpha = np.zeros((CHAINS, k - 1))
        self.x = self.means @ self.basis.T
        self.xi = self.x.copy()
        # chains start apart: from a third of the variance seen to three times as much
        start = self.x.var(axis=(1, 2)) * 3 ** np.linspace(-1, 1, CHAINS)
        self.variances = np.repeat(start[:, None], k - 1, axis=1) + _FLOOR
        self.vectors = np.repeat(np.eye(k - 1)[None], CHAINS, axis=0)
        self.omega = np.ones(CHAINS)
        self.noise = np.full(CHAINS, b.squares.sum() / max(b.df.sum(), 1.0) + _FLOOR)

    @property
    def of_mean(self) -> np.ndarray:
        """Variance of the mean of the folds of each dataset, shape (CHAINS, N)."""
        return self.noise[:, None] * self.factor

    def covariance(self) -> np.ndarray:
        """Return the covariance of effects over datasets, shape (CHAINS, K, K)."""
        across = np.swapaxes(self.vectors, 1, 2) @ self.basis
        return np.swapaxes(across, 1, 2) @ (self.variances[..., None] * across)

    def step(self) -> None:
        """Draw everything once."""
        if len(self.gaps):
            self._missing_means()
        rotated = self.x @ self.vectors
        xi, alpha = self._effects(rotated)
        self.alpha = (self.vectors @ alpha[..., None])[..., 0]
        self.xi = xi @ np.swapaxes(self.vectors, 1, 2)
        self._covariance(xi - alpha[:, None])
        if self.blocks.df.any():
            self._noise(((rotated - xi) ** 2).sum(axis=2))

    def _effects(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw omega, alpha and xi, the last two in the eigenvectors of Omega."""
        of_mean = self.of_mean[..., None]
        between = self.variances[:, None]
        weights = 1 / (between + of_mean)
        weight, total = weights.sum(axis=1), (weights * x).sum(axis=1)
        if x.shape[2] > 1:
            squares = np.exp(2 * _LOG_SCALES)[:, None]
            ratio = 1 + weight[:, None] * squares
            fit = total[:, None] ** 2 * squares / ratio - np.log(ratio)
            self.omega = self._from_grid(0.5 * fit.sum(axis=2) + _LOG_SCALES)
            precision = weight + self.omega[:, None] ** -2.0
        else:  # one difference does not show how much differences vary
            self.omega[:], precision = np.nan, weight
        normal = self.rng.standard_normal
        alpha = total / precision + normal(total.shape) / np.sqrt(precision)
        middle = alpha[:, None] + between * weights * (x - alpha[:, None])
        return middle + np.sqrt(between * of_mean * weights) * normal(x.shape), alpha

    def _covariance(self, deviations: np.ndarray) -> None:
        """Draw the scale of Omega and Omega from the deviations of xi, shape (CHAINS, N, p)."""
        n, p = deviations.shape[1:]
        df = p - 1 + _DF
        found, vectors = np.linalg.eigh(np.swapaxes(deviations, 1, 2) @ deviations)
        squares = _DF * np.exp(2 * _LOG_SCALES)[:, None]
        sums = np.maximum(found, 0)[:, None] + squares + _FLOOR
        fit = df * np.log(squares) - (df + n) * np.log(sums)
        scale = self._from_grid(0.5 * fit.sum(axis=2) + _LOG_SCALES)
        roots = np.sqrt(np.maximum(found, 0) + _DF * scale[:, None] ** 2 + _FLOOR)
        # Omega is inverse Wishart: Bartlett's decomposition of its inverse
        triangle = np.tril(self.rng.standard_normal((CHAINS, p, p)), -1)
        at = np.arange(p)
        triangle[:, at, at] = np.sqrt(self.rng.chisquare(df + n - at, (CHAINS, p)))
        root = np.linalg.solve(triangle, roots[:, :, None] * np.eye(p))
        variances, turned = np.linalg.eigh(np.swapaxes(root, 1, 2) @ root)
        self.variances = np.maximum(variances, _FLOOR)
        self.vectors = self.vectors @ vectors @ turned

    def _noise(self, distances: np.ndarray) -> None:
        """Draw the variance of a fold; the prior of its logarithm is uniform."""
        total = self.blocks.squares.sum() + (distances / self.factor).sum(axis=1) + _FLOOR
        df = self.blocks.df.sum() + self.x[0].size
        self.noise = total / self.rng.chisquare(df, CHAINS)

    def _missing_means(self) -> None:
        """Draw the means of all folds where folds are missing, and where all folds are."""
        for at in self.gaps.tolist():
            known, slope = self.known[at], self.slope[at]
            variance = self.of_mean[:, [at]]
            normal = self.rng.standard_normal
            if (slope < 1).any():
                own = self.xi[:, at] @ self.basis
                level = (self.means[:, at] - own)[:, known].mean(axis=1, keepdims=True)
                level = level + normal((CHAINS, 1)) * np.sqrt(variance / known.sum())
                drawn = (1 - slope) * (own + level) + slope * np.nan_to_num(self.blocks.means[at])
                drawn = drawn + np.sqrt(variance * (1 - slope)) * normal(own.shape)
                self.means[:, at] = np.where(known & (slope < 1), drawn, self.means[:, at])
            if not known.all():
                self._missing_strategies(at, known, variance)
            self.x[:, at] = self.means[:, at] @ self.basis.T

    def _missing_strategies(self, at: int, known: np.ndarray, variance: np.ndarray) -> None:
        """Draw the means of strategies without a fold, given those of the others."""
        across = np.swapaxes(self.vectors, 1, 2) @ self.basis
        weighted = across[:, :, ~known] / (self.variances + variance)[..., None]
        precision = np.swapaxes(weighted, 1, 2) @ across
        root = np.linalg.cholesky(precision[:, :, ~known])
        centre = self.alpha @ self.basis
        pull = precision[:, :, known] @ (self.means[:, at] - centre)[:, known, None]
        noise = self.rng.standard_normal(pull.shape)
        away = np.linalg.solve(np.swapaxes(root, 1, 2), noise - np.linalg.solve(root, pull))
        self.means[:, at, ~known] = centre[:, ~known] + away[..., 0]

    def _from_grid(self, log_density: np.ndarray) -> np.ndarray:
        """Draw a scale by its log density on the grid of log scales, shape (CHAINS, points)."""
        weights = np.exp(log_density - log_density.max(axis=1, keepdims=True)).cumsum(axis=1)
        at = (weights < self.rng.uniform(size=(CHAINS, 1)) * weights[:, -1:]).sum(axis=1)
        return np.exp(_LOG_SCALES[at] + _STEP * self.rng.uniform(-0.5, 0.5, CHAINS))

"""The multilevel model of strategies, datasets and folds: all pairs, two scenarios, one fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import number
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import PairModel, Pairwise
from mlaut.analysis.methods.multilevel.blocks import Blocks, blocks_of
from mlaut.analysis.methods.multilevel.sampler import CHAINS, PosteriorDraws, draw
from mlaut.analysis.pairwise.decisions import many_pairs
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.pairwise.runner import Both, PairStatistics, PairTest, even, odd
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.scales import SCALES, on_scale
from mlaut.errors import AnalysisError

_SOURCE = "Gelman, Hill & Yajima 2012; Corani et al. 2017; Nadeau & Bengio 2003"
_NEW, _SEEN = (
    PairTest(
        name="Multilevel model",
        null="none is tested: is the mean difference on {where} datasets, on the {scale} scale, "
        "below -{rope:g}, within {rope:g} of 0, or above {rope:g}?",
        source=_SOURCE,
        scenario=scenario,
    )
    for scenario in ("(c)", "(b)")
)
_LEAST = 3  # datasets: a difference on two hardly bounds its variance over datasets


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Multilevel(PairModel):
    """Posterior of the multilevel model; effects are losses on its scale, lower is better.

    Attributes
    ----------
    scale : str
        The scale of all numbers.
    strategies : DataFrame
        One row for each strategy, the best first: its ``effect`` over all datasets (scenario (c):
        the distance of its loss from the mean of all strategies), with the ends ``low`` and
        ``high`` of its interval; ``P(best)``; ``sd over datasets``; and with folds ``seen effect``,
        ``seen low``, ``seen high``: the mean over the seen datasets (scenario (b)).
    pairs : Pairwise
        All pairs in scenario (c): the tables ``"P(row better)"``, ``"P(equivalent)"``, ``"P(column
        better)"``, ``"Monte Carlo error"``, ``"share better"`` and ``"share equivalent"`` (of new
        datasets), and the effect ``"difference"``, below 0 where the row is better.
    seen_pairs : Pairwise or None
        The same in scenario (b), without shares; None where no dataset has two folds.
    spread : DataFrame
        Standard deviations, with intervals: of ``strategy`` (of the effects; of three strategies or
        more), of ``strategy x dataset`` (of an effect over datasets) and of ``strategy x fold`` (of
        one fold around the mean of its dataset).
    by_dataset : DataFrame, shape (N, K)
        Effects on each dataset, shrunk towards those over all datasets.
    """

    scale: str
    strategies: pd.DataFrame
    seen_pairs: Pairwise | None
    spread: pd.DataFrame
    by_dataset: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the table of strategies."""
        return self.strategies.copy()

    def sentence(self) -> str:  # noqa: D102 - inherited
        best = self.strategies["P(best)"]
        return (
            f"{self.title()}: {best.idxmax()} has the smallest mean loss with probability "
            f"{number(best.max(), 2)}, scenario {self.scenario}."
        )


@of_results
def multilevel_model(
    results: Results,
    *,
    scale: str = "loss",
    rope: float = 0.0,
    missing: str = "raise",
    n_samples: int = 4000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Multilevel:
    """Fit one Bayesian model to all strategies, datasets and folds.

    Scenarios (b) and (c) from one fit. A loss is the sum of what all strategies have in common on
    its fold, the effect of its strategy, the effect of its strategy on its dataset, and noise.
    There is no null hypothesis.

    Parameters
    ----------
    results : Results or DataFrame
        Results on three datasets or more. Without repeated folds there is scenario (c) only.
    scale : {"loss", "logit", "rank", "normalised"}, default "loss"
        Scale on which losses are added: the loss itself; its log odds, for a loss with two bounds
        (with ``n_test`` half an error is added on either side); the rank within the fold; or the
        loss in standard deviations of the strategies' mean losses on the dataset, for losses in
        different units. Ranks and normalised losses depend on which strategies are compared.
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the scale.
    missing : {"raise", "left out"}, default "raise"
        ``"left out"`` fits the cells that there are. A missing cell may depend on its strategy and
        dataset, but not on the loss that it would have had.
    n_samples : int, default 4000
        Number of draws, at least.
    confidence : float, default 0.95
        Probability of the intervals, which have equal tails.
    seed : int, default 0

    Returns
    -------
    Multilevel

    Raises
    ------
    MissingCellsError
        Cells are missing, and ``missing`` is ``"raise"``.
    AnalysisError
        There are fewer than three datasets or two strategies, strategies share no folds, the losses
        have no such scale, or an option is out of range.

    Notes
    -----
    What strategies have in common on a fold cancels. Their contrasts on a dataset are normal with
    any covariance (its prior, inverse Wishart, is worth three datasets); so a wild strategy widens
    its own intervals, and strategies may be similar. A third strategy affects a pair through the
    priors and the noise only. Effects over datasets are normal around their mean with a spread that
    is estimated (from three strategies on), which shrinks them.

    Noise has one variance for all strategies and datasets, so that every dataset counts alike. The
    folds of a dataset share the part of it that Nadeau & Bengio (2003) add for training rows in
    common; if sizes are not known, k folds have the ratio 1 / (k - 1). The interval of two
    strategies without folds is that of Student's t with N - 2 degrees of freedom.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> folds = pd.MultiIndex.from_product([range(8), [0], range(5)])
    >>> losses = rng.normal([0.2, 0.21, 0.3], 0.02, (40, 3))
    >>> found = multilevel_model(
    ...     pd.DataFrame(losses, folds, ["A", "B", "C"]), metric="error", rope=0.02, n_samples=800
    ... )
    >>> found.strategies["effect"].round(2).to_dict()
    {'A': -0.04, 'B': -0.03, 'C': 0.07}
    >>> [round(found.pairs.value(f"P({p})", "A", "C"), 2) for p in ("row better", "equivalent")]
    [1.0, 0.0]
    """
    if not (0 <= rope < np.inf and n_samples > 0):
        raise AnalysisError("rope must be 0 or more, and n_samples 1 or more")
    blocks, results, notes = prepared(results, scale, missing)
    draws = draw(blocks, rope, n_samples, seed)
    if not blocks.squares.any() and not np.nan_to_num(blocks.means).any():
        notes += ("no two strategies differ on any fold",)
    elif _are_tied(results.losses.to_numpy()):
        notes += (_TIED,)
    pairs = Pairs.of(results.strategies)
    words = f"{draws.effects.shape[0] * draws.effects.shape[1]} draws, seed {seed}"
    notes += (f"losses {SCALES[scale]}; {words}", *many_pairs(len(pairs.first)))
    given = {"rope": rope, "confidence": confidence, "scale": scale}
    shares = {
        "share better": (draws.shares[0][pairs[1:]], draws.shares[1][pairs[1:]]),
        "share equivalent": even(
            np.clip((1 - draws.shares.sum(axis=0)).round(12), 0, 1)[pairs[1:]]
        ),
    }
    has_folds = bool(blocks.df.any())
    tables = _of_pairs(pairs, draws.effects, rope, confidence)
    found = PairStatistics(tables=tables | shares, effects=_EFFECTS, notes=notes)
    seen = None
    if has_folds:
        tables = _of_pairs(pairs, draws.seen, rope, confidence)
        seen = _SEEN.lay_out(
            results,
            PairStatistics(tables=tables, effects=_EFFECTS, notes=notes),
            {**given, "where": "the seen"},
        )
    return Multilevel(
        scale=scale,
        strategies=_strategies(results, draws, confidence, has_folds),
        pairs=_NEW.lay_out(results, found, {**given, "where": "new"}),
        seen_pairs=seen,
        spread=_spread(draws, confidence),
        by_dataset=pd.DataFrame(draws.by_dataset, results.losses.index, results.losses.columns),
    )


_EFFECTS = {"difference": "posterior mean, equal tails"}
_TIED = (
    "differences between strategies depend on each other exactly, as those of equal strategies do: "
    "the model may shrink all differences to nothing, so leave such strategies out"
)


def _are_tied(losses: np.ndarray) -> bool:
    """Return whether the differences of strategies have a smaller rank than N and K allow.

    Directions without any spread suggest that effects have none, and outweigh the other directions.
    """
    if np.isnan(losses).any():
        return False
    contrasts = losses - losses.mean(axis=1, keepdims=True)
    values = np.linalg.svd(contrasts - contrasts.mean(axis=0), compute_uv=False)
    rank = int((values > RELATIVE_NOISE * np.abs(losses).max() * len(losses)).sum())
    return 0 < rank < min(losses.shape[0] - 1, losses.shape[1] - 1)


def prepared(results: Results, scale: str, missing: str) -> tuple[Blocks, Results, tuple[str, ...]]:
    """Return the statistics of the datasets that compare strategies, their results, and notes."""
    if missing not in ("raise", "left out"):
        raise AnalysisError(f"missing = {missing!r} is not known; one of 'raise', 'left out'")
    if missing == "raise":
        results.complete(datasets=_LEAST, strategies=2)
    results.check_not_raced()
    blocks = blocks_of(results, on_scale(results, scale))
    compared = np.flatnonzero((blocks.counts > 0).any(axis=1))
    useful = [results.datasets[place] for place in compared]
    if len(useful) < _LEAST or len(results.strategies) < 2:
        raise AnalysisError(
            f"this needs at least {_LEAST} datasets that have results of two strategies or more, "
            f"and there are {len(useful)}"
        )
    absent = ~(blocks.counts > 0).any(axis=0)
    if absent.any():
        raise AnalysisError(
            f"{results.strategies[int(absent.argmax())]!r} shares no fold with another strategy: "
            "leave it out"
        )
    notes: tuple[str, ...] = ()
    if without := len(results.datasets) - len(useful):
        notes = (f"{without} datasets compare no strategies: left out",)
        blocks = Blocks(*(column[compared] for column in blocks))
        results = results.select(datasets=useful)
    if holes := len(results.missing):
        notes += (f"{holes} missing cells are left out, as missing at random",)
    return blocks, results, notes


def _of_pairs(pairs: Pairs, effects: np.ndarray, rope: float, confidence: float) -> dict[str, Both]:
    """Return the posterior of the differences of all pairs, of effects (CHAINS, draws, K)."""
    p, (error, mean, low, high) = (np.empty((n, len(pairs.first))) for n in (3, 4))
    tail = (1 - confidence) / 2
    for first in range(len(pairs.strategies) - 1):  # a row of pairs at a time, to save memory
        at = np.flatnonzero(pairs.first == first)
        away = effects[..., [first]] - effects[..., pairs.second[at]]
        sides = np.stack([away < -rope, np.abs(away) <= rope, away > rope]).mean(axis=2)
        p[:, at] = sides.mean(axis=1)
        error[at] = sides.std(axis=1, ddof=1).max(axis=0) / np.sqrt(CHAINS)
        mean[at] = away.mean(axis=(0, 1))
        low[at], high[at] = np.quantile(away, [tail, 1 - tail], axis=(0, 1))
    return {
        "P(row better)": (p[0], p[2]),
        "P(equivalent)": even(p[1]),
        "P(column better)": (p[2], p[0]),
        "difference": odd(mean),
        "difference low": (low, -high),
        "difference high": (high, -low),
        "Monte Carlo error": even(error),
    }


def _strategies(
    results: Results, draws: PosteriorDraws, confidence: float, has_folds: bool
) -> pd.DataFrame:
    """Return the table of strategies."""
    tail = (1 - confidence) / 2
    best = draws.effects == draws.effects.min(axis=2, keepdims=True)
    columns: dict[str, np.ndarray] = {}
    for name, x in {"": draws.effects, "seen ": draws.seen}.items():
        if name and not has_folds:
            continue
        ends = np.quantile(x, [tail, 1 - tail], axis=(0, 1))
        columns |= {f"{name}effect": x.mean(axis=(0, 1)), f"{name}low": ends[0]}
        columns |= {f"{name}high": ends[1]}
        if not name:
            columns["P(best)"] = (best / best.sum(axis=2, keepdims=True)).mean(axis=(0, 1))
            columns["sd over datasets"] = np.sqrt(np.diagonal(draws.covariance))
    frame = pd.DataFrame(columns, index=results.losses.columns)
    return frame.sort_values("effect", kind="stable")


def _spread(draws: PosteriorDraws, confidence: float) -> pd.DataFrame:
    """Return the standard deviations of the parts of a loss, without those that are unknown."""
    tail = (1 - confidence) / 2
    parts = ["strategy", "strategy x dataset", "strategy x fold"]
    middle, low, high = np.quantile(draws.spread, [0.5, tail, 1 - tail], axis=(0, 1))
    columns = {"standard deviation": middle, "low": low, "high": high}
    return pd.DataFrame(columns, index=pd.Index(parts, name="between")).dropna()

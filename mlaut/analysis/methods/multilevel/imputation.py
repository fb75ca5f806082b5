"""Multiple imputation: a model fills missing cells in many times, and one test is made of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import Estimate, Pairwise, TestResult
from mlaut.analysis.methods.multilevel.model import prepared
from mlaut.analysis.methods.multilevel.sampler import drawn_means
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.scales import on_scale
from mlaut.errors import AnalysisError
from mlaut.records import NOT_RUN

_SOURCE = "Rubin 1987; Licht 2010"
_RANDOM = (
    "cells are supposed to be missing at random, given the results that there are: a cell that is "
    "missing because its own loss would be large is not"
)
_IN_LOSSES = ("mean difference", "Hodges-Lehmann shift")  # effects with the range of the metric


@of_results
def multiple_imputation(
    results: Results,
    test: Callable[..., Pairwise | TestResult],
    *,
    scale: str = "loss",
    n_samples: int = 20,
    seed: int = 0,
) -> Pairwise | TestResult:
    """Compute a test of results with missing cells, by filling the cells in many times.

    Scenario of the test. Missing losses are drawn from the posterior of `multilevel_model`: what
    the strategies have in common on the dataset, the effect of the strategy, and its own deviation,
    which may resemble that of other strategies. Between the draws they vary by as much as they are
    unknown, and the result allows for that.

    Parameters
    ----------
    results : Results or DataFrame
        Results on three datasets or more, of which cells are missing at random: the reason may be
        the dataset or the results of other strategies, but not the loss that is missing.
    test : callable
        A test over datasets, of all pairs (for example `mlaut.analysis.wilcoxon_test`) or of all
        strategies (`mlaut.analysis.friedman_test`). It is given one loss a dataset and strategy.
    scale : {"loss", "logit", "normalised"}, default "loss"
        Scale of the model, as in `multilevel_model`; ``"normalised"`` for losses in different
        units. Drawn losses outside the range of the metric are cut to it.
    n_samples : int, default 20
        Number of imputations, two or more.
    seed : int, default 0

    Returns
    -------
    Pairwise or TestResult
        The result of the test. Pairs have a further table ``"missing information"``: the share of
        the variance that is due to missing cells. The statistic of a pair is the pooled *t*.
        Correct p-values with `adjust_pairs` afterwards.

    Raises
    ------
    AnalysisError
        A cell failed, so that it is not missing at random; strategies left a race; there are fewer
        than three datasets; the scale does not suit the losses; or ``test`` is no such test.

    Notes
    -----
    A p-value becomes the normal deviate z, whose sign is that of the difference. Rubin's rules
    combine the m deviates: their mean has the variance 1 + r with r = (1 + 1 / m) B, where B is
    their variance between imputations, and Student's *t* has (m - 1) (1 + 1 / r)^2 degrees of
    freedom. Intervals of effects are widened in the same way. The deviate of a test of all
    strategies is the root of the chi-square with its p-value (Li et al. 1991).
    Probabilities of Bayesian tests are means over the imputations. A pair without missing cells has
    the p-value that it has without this. Source: Rubin 1987; Licht 2010; Li, Meng, Raghunathan &
    Rubin 1991.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlaut.analysis import t_test
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal([0.2, 0.22, 0.3], 0.03, (12, 3)), columns=["A", "B", "C"])
    >>> table.loc[:2, "C"] = np.nan
    >>> found = multiple_imputation(table, t_test, metric="error")
    >>> found.value("p_value", "A", "C") < 0.001
    True
    >>> found.table("missing information").loc["A"].round(1).to_dict()
    {'A': nan, 'B': 0.0, 'C': 0.1}
    """
    if n_samples < 2:
        raise AnalysisError("n_samples must be 2 or more: the variance between imputations counts")
    if not len(results.missing):
        return test(results)
    every = [test(one) for one in _filled_in(results, scale, n_samples, seed)]
    if of_pairs := [one for one in every if isinstance(one, Pairwise)]:
        width = float(np.ptp(results.metric.loss_bounds))
        most = {"rank-biserial correlation": 1.0, "rank difference": len(results.strategies) - 1.0}
        return _of_pairs(of_pairs, most | dict.fromkeys(_IN_LOSSES, width))
    if of_all := [one for one in every if isinstance(one, TestResult)]:
        return _of_all(of_all)
    raise AnalysisError(
        f"test must be a test of pairs or of all strategies, which {type(every[0]).__name__} is not"
    )


def _filled_in(results: Results, scale: str, n_samples: int, seed: int) -> list[Results]:
    """Return complete results, which differ in the losses that were missing."""
    _check_random(results)
    if scale == "rank":
        raise AnalysisError(
            "ranks are no losses: choose scale='loss', 'logit' or 'normalised' for imputations"
        )
    blocks, results, notes = prepared(results, scale, "left out")
    values = on_scale(results, scale)
    known = blocks.counts > 0
    own = np.nanmean(np.where(np.isnan(values).all(axis=2, keepdims=True), 0, values), axis=2)
    whole = ~np.isnan(results.losses.to_numpy())
    sure = whole & known
    level = _mean(own - blocks.means, np.where(sure.any(axis=1, keepdims=True), sure, known))
    holes = len(results.missing)
    of = ", ".join(results.missing["strategy"].unique()[:5])
    low, high = results.metric.loss_bounds
    complete = []
    for means in drawn_means(blocks, n_samples, seed):
        drawn = _losses(level + means, results, scale).clip(low, high)
        losses = np.where(whole, results.losses, drawn)[:, :, None, None]
        complete.append(
            replace(
                Results(
                    metric=results.metric,
                    datasets=results.datasets,
                    strategies=results.strategies,
                    cells=results.metric.loss(losses),
                    cell_losses=losses,
                    expected=np.ones((len(losses), 1, 1), dtype=bool),
                ),
                fingerprints=results.fingerprints,
                imputed=~whole[:, :, None, None],
                gaps=(*results.gaps, f"multiple imputation of {holes} cells of {of}"),
                notes=(
                    *results.notes,
                    *notes[:-1],
                    f"multiple imputation: {n_samples} draws of {holes} missing cells of {of}, "
                    f"on the {scale} scale, seed {seed}",
                    _RANDOM,
                ),
            )
        )
    return complete


def _check_random(results: Results) -> None:
    """Raise an error if a cell is missing for another reason than that it was not run."""
    missing = results.missing
    failed = missing[~missing["reason"].isin(NOT_RUN)]
    results.check_not_raced()
    if len(failed):
        reasons = ", ".join(f"{n} {why}" for why, n in failed["reason"].value_counts().items())
        raise AnalysisError(
            f"{len(failed)} cells of {', '.join(failed['strategy'].unique()[:5])} have no result "
            f"({reasons}), and a failure is not missing at random: choose 'failures last' or a "
            "fallback strategy, or leave these strategies out"
        )


def _mean(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the means of the chosen values of each row, shape (N, 1)."""
    return np.where(where, values, 0).sum(axis=1, keepdims=True) / where.sum(axis=1, keepdims=True)


def _losses(values: np.ndarray, results: Results, scale: str) -> np.ndarray:
    """Return the losses, shape (N, K), of values on a scale of `on_scale`."""
    if scale == "loss":
        return values
    if scale == "logit":
        low, high = results.metric.loss_bounds
        return low + (high - low) / (1 + np.exp(-values))
    # normalised: what one unit of the scale is on each dataset
    losses = results.cell_losses.reshape(*results.cell_losses.shape[:2], -1)
    scaled = np.nan_to_num(on_scale(results, scale))
    at = np.abs(scaled).reshape(len(scaled), -1).argmax(axis=1)[:, None]
    there, of_scale = (np.take_along_axis(x.reshape(len(x), -1), at, 1) for x in (losses, scaled))
    return values * np.where(of_scale == 0, 1.0, there / np.where(of_scale == 0, 1.0, of_scale))


# -------------------------------------------------------------------- pooling


def _of_pairs(every: Sequence[Pairwise], most: Mapping[str, float]) -> Pairwise:
    """Return one result of those of all imputations; ``most`` is the largest size of effects."""
    first = every[0]
    stacks = {key: np.stack([one.tables[key] for one in every]) for key in first.tables}
    tables = {key: x.mean(axis=0) for key, x in stacks.items() if key.startswith("P(")}
    if "p_value" in stacks:
        tables |= _p_values(stacks, first.alternative)
    for name in first.effects:
        value = stacks[name]
        tables[name] = value.mean(axis=0)
        if f"{name} low" in stacks:
            ends = stacks[f"{name} low"], stacks[f"{name} high"]
            is_share = abs(np.nanmean(value + value.swapaxes(1, 2)) - 1) < 0.5
            largest = most.get(name, np.inf)
            bounds = (0.0, 1.0) if is_share else (-largest, largest)
            low, high = (x.clip(*bounds) for x in _ends(value, *ends, first.confidence))
            tables |= {f"{name} low": low, f"{name} high": high}
    like = first.tables[next(iter(first.tables))]
    return replace(
        first,
        tables={key: pd.DataFrame(x, like.index, like.columns) for key, x in tables.items()},
        statistic_name="t",
        df=None,
        source=f"{first.source}; {_SOURCE}",
    )


def _p_values(stacks: dict[str, np.ndarray], alternative: str) -> dict[str, np.ndarray]:
    """Return the pooled tables of a test with p-values."""
    from scipy.special import ndtri, stdtr

    p = np.clip(stacks["p_value"], np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    two_sided = alternative == "two-sided"
    z = -ndtri(p / 2) * stacks["better"] if two_sided else -ndtri(p)
    extra, df = _between(z)
    t = z.mean(axis=0) / np.sqrt(1 + extra)
    pooled = 2 * stdtr(df, -np.abs(t)) if two_sided else stdtr(df, -t)
    better = stacks["better"].mean(axis=0)
    return {
        "statistic": t,
        "p_value": np.where(extra > 0, pooled, stacks["p_value"][0]),
        "better": np.sign(t) if two_sided else np.sign(better),
        "missing information": extra / (1 + extra),
    }


def _between(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance that imputations add to a variance of 1, and the degrees of freedom."""
    m = len(z)
    differ = np.ptp(z, axis=0) > 0  # else the variance would be rounding noise
    extra = (1 + 1 / m) * z.var(axis=0, ddof=1) * differ
    most = 1e9  # Student's t is normal beyond it
    share = np.divide(1 + extra, extra, out=np.full(extra.shape, np.inf), where=extra > 0)
    return extra, np.minimum((m - 1) * share**2, most)


def _ends(
    value: np.ndarray, low: np.ndarray, high: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return ends of an interval, whose distances from the value are widened by Rubin's rules."""
    from scipy.special import ndtri

    extra = _between(value)[0] * ndtri(0.5 + confidence / 2) ** 2
    middle = value.mean(axis=0)
    below, above = (np.sqrt(((value - end) ** 2).mean(axis=0) + extra) for end in (low, high))
    return middle - below, middle + above


def _of_all(every: Sequence[TestResult]) -> TestResult:
    """Return one result of the results of all imputations."""
    first, m = every[0], len(every)
    names = first.probabilities
    pooled = replace(
        first,
        source=f"{first.source}; {_SOURCE}",
        statistic=None,
        df=None,
        ties=0,
        probabilities={
            name: float(np.mean([x.probabilities[name] for x in every])) for name in names
        },
        effects=tuple(
            _effect([one.effects[i] for one in every]) for i in range(len(first.effects))
        ),
    )
    if first.p_value is None:
        return pooled
    from scipy.special import chdtri, fdtrc

    df = len(first.strategies) - 1
    squares = chdtri(df, [one.p_value for one in every])
    extra = float(_between(np.sqrt(squares))[0])
    statistic = max((squares.mean() / df - (m + 1) / (m - 1) * extra) / (1 + extra), 0.0)
    df_rest = min((m - 1) * (1 + 1 / max(extra, 1e-9)) ** 2 * df ** (-3 / m), 1e9)
    return replace(
        pooled,
        statistic=float(statistic),
        statistic_name="F",
        df=(float(df), float(df_rest)),
        p_value=float(fdtrc(df, df_rest, statistic)),
    )


def _effect(every: Sequence[Estimate]) -> Estimate:
    """Return the mean of an effect over imputations, with Rubin's interval."""
    value, low, high = (
        np.array([getattr(x, end) for x in every]) for end in ("value", "low", "high")
    )
    ends = _ends(value, low, high, every[0].confidence)
    return replace(every[0], value=float(value.mean()), low=float(ends[0]), high=float(ends[1]))

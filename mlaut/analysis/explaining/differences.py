"""Differences of strategies explained by properties of the datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.display import Shown, check_scenario, number, p_text
from mlaut.analysis.common.numerics import snap
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.explaining.correlations import centred_ranks, rank_correlations
from mlaut.analysis.explaining.properties import LOSS_OF
from mlaut.analysis.explaining.ridge import left_out_predictions
from mlaut.analysis.pairwise.corrections import CORRECTIONS, adjust
from mlaut.analysis.pairwise.pairs import Pairs, paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["Explanation", "advantages_of", "explain_differences"]

_FEWEST = 4  # datasets: with three, no order is rarer than one in three
_FOLDS = 20  # of datasets; up to 20 datasets each is left out alone
_OF_PAIRS = ("shaffer", "bergmann-hommel")  # corrections for hypotheses of another kind


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(Shown):
    """Explanation of the differences of strategies by properties of the datasets.

    Attributes
    ----------
    associations : DataFrame
        One row for each pair and property, by p-value: Spearman's ``rho`` between the property and
        the advantage of the first strategy (above 0: the more of the property, the better is the
        first against the second), ``p_value``, and ``adjusted``, the p-value after the correction
        for the number of rows.
    models : DataFrame
        One row for each pair: ``R2``, the share of the variance of the signed ranks of the
        advantages that the model of all properties predicts on datasets that were left out (below 0
        if it is worse than the mean); ``p_value``; ``adjusted``, the p-value for all pairs
        together; ``right``, the share of left-out datasets whose winner the model predicts (a tie
        counts half), and ``right without`` the model.
    alpha : float
        Level of what is called found.
    n : int
        Number of datasets.
    metric, correction, source : str
    scenario : str, default "(c)"
    notes : tuple of str
    """

    associations: pd.DataFrame
    models: pd.DataFrame
    alpha: float
    n: int
    correction: str
    source: str
    metric: str = ""
    scenario: str = "(c)"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_scenario(self.scenario)

    @property
    def found(self) -> pd.DataFrame:
        """The associations whose adjusted p-value is at most ``alpha``."""
        return self.associations[self.associations["adjusted"] <= self.alpha]

    @property
    def predicted(self) -> pd.DataFrame:
        """The models whose adjusted p-value is at most ``alpha``."""
        return self.models[self.models["adjusted"] <= self.alpha]

    def title(self) -> str:  # noqa: D102 - inherited
        return f"Where strategies win, {self.metric}, {self.n} datasets, scenario {self.scenario}"

    def to_frame(self) -> pd.DataFrame:
        """Return the associations, unrounded; ``models`` has the models."""
        return self.associations.copy()

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table: for each pair its strongest association and its model."""
        strongest = self.associations.reset_index("property").groupby(level=[0, 1]).first()
        strongest = strongest.drop(columns="p_value").rename(columns={"property": "strongest"})
        models = self.models.drop(columns="p_value").rename(columns={"adjusted": "adjusted (R2)"})
        return models.join(strongest)[[*strongest, *models]].map(number)

    def sentence(self) -> str:  # noqa: D102 - inherited
        found, best = self.found, self.associations.iloc[0]
        tried = (
            f"{self.title()}: of {len(self.associations)} rank correlations between an advantage "
            f"and a property"
        )
        p = p_text(best["adjusted"])
        if len(found):
            first, second, name = self.associations.index[0]
            side = "gains on" if best["rho"] > 0 else "loses to"
            start = (
                f"{tried}, {len(found)} {'is' if len(found) == 1 else 'are'} found "
                f"({self.correction}, {number(self.alpha)}); the strongest: {first} {side} "
                f"{second} with more {name} (rho {number(best['rho'], 2)}, adjusted {p})"
            )
        else:
            start = f"{tried}, none is found ({self.correction}, smallest adjusted {p})"
        count = len(self.predicted)
        if count:
            return (
                f"{start}; a model of all properties predicts {count} of {len(self.models)} pairs."
            )
        return f"{start}; a model of all properties predicts no difference" + (
            "." if len(found) else ": nothing is found."
        )


@of_results
def explain_differences(
    results: Results,
    properties: pd.DataFrame | ResultTable,
    *,
    pair: Sequence[str] | None = None,
    correction: str = "benjamini-hochberg",
    alpha: float = 0.05,
    n_samples: int = 999,
    seed: int = 0,
) -> Explanation:
    """Test whether properties of the datasets explain where one strategy beats another.

    Scenario (c). The advantage of the first strategy of a pair is the loss of the second minus its
    own; for losses in different units it is divided by the sum of both losses.

    Parameters
    ----------
    results : Results or DataFrame
    properties : DataFrame or ResultTable
        Numbers, one row for each dataset and one column for each property, for example what
        `dataset_properties` returns. A property ``loss of A`` is not used for pairs with ``A``,
        because both would share the noise of that loss.
    pair : (str, str), optional
        Two strategies; default all pairs.
    correction : str, default "benjamini-hochberg"
        Correction for the number of pairs and properties, see `adjust`: the default bounds the
        expected share of false findings.
    alpha : float, default 0.05
        Level of the two lists of findings.
    n_samples : int, default 999
        Number of permutations for the p-values of the models.
    seed : int, default 0
        Seed of the permutations and of the folds.

    Returns
    -------
    Explanation
        Its sentence says what is found, or that nothing is.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two strategies or four datasets; a property is missing, is no number,
        or all are constant; or losses below 0 are in different units.

    Notes
    -----
    Null hypothesis of a row: the advantage is independent of the property. p-values of rank
    correlations are exact up to 8 datasets; else they are those of Student's t with the larger one
    of the usual standard error and the jackknife's, because advantages on small datasets vary more.

    The model is a ridge regression of the signed ranks of the advantages on the ranks of all
    properties. It is judged on datasets that it has not seen (20 folds), and its penalty is chosen
    without them. Its p-value is the share of permutations with an R2 at least as large; the
    adjusted one compares with the largest R2 of all pairs, and bounds the probability of any false
    finding.

    An association is no cause: properties come together, and not by an experiment. Datasets count
    as independent; `effective_datasets` says what related ones are worth. Source: Spearman 1904;
    Efron & Stein 1981; Benjamini & Hochberg 1995; Hoerl & Kennard 1970; Westfall & Young 1993.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> about = pd.DataFrame({"rows": rng.lognormal(6, 1, 40), "columns": rng.integers(3, 30, 40)})
    >>> noise = rng.normal(0, 0.02, (40, 2))
    >>> gain = 0.05 * (np.log(about["rows"]) - 6)
    >>> table = pd.DataFrame({"A": 0.3 - gain + noise[:, 0], "B": 0.3 + noise[:, 1]})
    >>> found = explain_differences(table, about, metric="error", n_samples=99)
    >>> found.associations.loc[("A", "B"), "rho"].round(2).to_dict()
    {'rows': 0.8, 'columns': 0.21}
    >>> len(found.found), len(found.predicted)
    (1, 1)
    """
    known = [name for name in CORRECTIONS if name not in _OF_PAIRS]
    one_of("correction", correction, known)
    if n_samples < 1:
        raise AnalysisError("n_samples must be 1 or more")
    about, constant = _checked(properties, results)
    if pair is not None:
        results = results.select(strategies=pair)
    advantages, pairs = advantages_of(results), Pairs.of(results.strategies)
    own = _own_losses(pairs, list(about.columns))
    varies = np.ptp(advantages, axis=0) > 0
    associations = _associations(about, advantages, pairs, own, correction)
    models = _models(about.to_numpy(), advantages, pairs, own, n_samples, seed)
    equal = [" and ".join(names) for names in pairs.labels[~varies]]
    notes = [
        *((f"the same on all datasets, left out: {', '.join(constant)}",) if constant else ()),
        *((f"no advantage varies between {'; '.join(equal[:5])}",) if equal else ()),
        f"{n_samples} permutations, seed {seed}",
        "an association is no cause, and what is not found may still be there",
    ]
    return Explanation(
        associations=associations,
        models=models,
        alpha=alpha,
        n=len(results.datasets),
        correction=correction,
        source="Spearman 1904; Efron & Stein 1981; Westfall & Young 1993",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), *notes),
    )


# --------------------------------------------------------------------- the data


def _checked(
    properties: pd.DataFrame | ResultTable, results: Results
) -> tuple[pd.DataFrame, list[str]]:
    """Return the properties that vary, with a row for each dataset, and the names of the others."""
    table = properties.frame if isinstance(properties, ResultTable) else properties
    if len(results.datasets) < _FEWEST:
        raise AnalysisError(
            f"{len(results.datasets)} datasets explain nothing: it needs {_FEWEST} datasets"
        )
    if not isinstance(table, pd.DataFrame):
        raise AnalysisError(
            f"properties must be a DataFrame by dataset, not {type(table).__name__}: see "
            "dataset_properties"
        )
    if not table.index.is_unique or not table.columns.is_unique:
        raise AnalysisError("properties has a dataset or a property twice: names must differ")
    table = table.set_axis(table.index.map(str)).set_axis(table.columns.map(str), axis=1)
    lacking = [name for name in results.datasets if name not in table.index]
    if lacking:
        raise AnalysisError(f"properties has no row for {', '.join(lacking[:5])}")
    table = table.loc[list(results.datasets)]
    for name, column in table.items():
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
            raise AnalysisError(
                f"property {name!r} is no number: give a column of 0 and 1 for each of its values"
            )
        if not np.isfinite(column.to_numpy(dtype=float, na_value=np.nan)).all():
            raise AnalysisError(
                f"property {name!r} is missing or infinite on some datasets: fill it in, or leave "
                "it out"
            )
    table = table.astype(float)
    constant = [str(name) for name in table if table[name].nunique() < 2]
    if len(constant) == table.shape[1]:
        raise AnalysisError("no property varies between the datasets, so none explains anything")
    return table.drop(columns=constant), constant


def advantages_of(results: Results) -> np.ndarray:
    """Return loss of the second minus loss of the first strategy, relative if units differ."""
    prepared = paired_losses(results)
    if not results.incomparable:
        return -prepared.differences
    if (prepared.losses < 0).any():
        raise AnalysisError(
            f"losses below 0 in different units do not compare ({results.incomparable}): choose a "
            "metric without a unit"
        )
    total = prepared.losses[:, prepared.pairs.first] + prepared.losses[:, prepared.pairs.second]
    relative = np.divide(-prepared.differences, total, out=np.zeros_like(total), where=total > 0)
    return snap(relative, np.ones_like(relative))


def _own_losses(pairs: Pairs, names: list[str]) -> np.ndarray:
    """Return which properties are the loss of a strategy of the pair: bool, shape (M, P)."""
    of = np.array(
        [name.removeprefix(LOSS_OF) if name.startswith(LOSS_OF) else "" for name in names]
    )
    strategies = np.array(pairs.strategies)
    both = (strategies[pairs.first], strategies[pairs.second])
    return (of[:, None] == both[0]) | (of[:, None] == both[1])


# ------------------------------------------------------------ rank correlations


def _associations(
    about: pd.DataFrame, advantages: np.ndarray, pairs: Pairs, own: np.ndarray, correction: str
) -> pd.DataFrame:
    rho, p = rank_correlations(about.to_numpy(), advantages)
    at, of_pair = np.nonzero(~own)
    first, second = (pairs.labels.get_level_values(level)[of_pair] for level in (0, 1))
    index = pd.MultiIndex.from_arrays(
        [first, second, about.columns[at]], names=["first", "second", "property"]
    )
    frame = pd.DataFrame({"rho": rho[at, of_pair], "p_value": p[at, of_pair]}, index=index)
    if frame.empty:
        raise AnalysisError("the only property is the loss of a compared strategy: give others")
    frame["adjusted"] = adjust(frame["p_value"].to_numpy(), correction)
    return frame.sort_values("p_value", kind="stable")


# -------------------------------------------------------------------- the model


def _models(
    about: np.ndarray,
    advantages: np.ndarray,
    pairs: Pairs,
    own: np.ndarray,
    n_samples: int,
    seed: int,
) -> pd.DataFrame:
    """Return how well all properties together predict the advantages on left-out datasets."""
    n, rng = len(about), np.random.default_rng(seed)
    folds = rng.permutation(np.arange(n) % min(n, _FOLDS))
    orders = np.vstack([np.arange(n), rng.permuted(np.tile(np.arange(n), (n_samples, 1)), axis=1)])
    x, y = centred_ranks(about) * np.sqrt(n), _signed_ranks(advantages)
    explained = np.zeros((1 + n_samples, y.shape[1]))
    right = np.full((2, y.shape[1]), 0.5)
    for at, column in enumerate(y.T):
        used = x[:, ~own[:, at]]
        if not used.shape[1] or not np.ptp(column):
            continue
        true = column[orders.T]
        predicted, mean = left_out_predictions(used, true, folds)
        error = ((true - predicted) ** 2).sum(axis=0)
        explained[:, at] = 1 - error / ((true - mean) ** 2).sum(axis=0)
        right[:, at] = [_right(column, guess[:, 0]) for guess in (predicted, mean)]
    least = explained[0] - 1e-9  # of rounding noise
    columns = {
        "R2": explained[0],
        "p_value": (explained >= least).mean(axis=0),
        "adjusted": (explained.max(axis=1)[:, None] >= least).mean(axis=0),
        "right": right[0],
        "right without": right[1],
    }
    return pd.DataFrame(columns, index=pairs.labels.set_names(["first", "second"]))


def _signed_ranks(advantages: np.ndarray) -> np.ndarray:
    """Return the ranks of the sizes of the advantages with their signs, between -1 and 1."""
    from scipy.stats import rankdata

    return np.sign(advantages) * rankdata(np.abs(advantages), axis=0) / len(advantages)


def _right(true: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of datasets with the predicted winner; a tie counts half."""
    return float(np.mean(0.5 + 0.5 * np.sign(true) * np.sign(predicted)))

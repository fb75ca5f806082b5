"""Effective number of datasets: how many independent ones the related ones are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.explaining.differences import advantages_of
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["effective_datasets"]


@of_results
def effective_datasets(
    results: Results,
    related: Mapping[str, str] | pd.Series,
    *,
    pair: Sequence[str] | None = None,
    confidence: float = 0.95,
) -> ResultTable:
    """Compute how many independent datasets the datasets are worth if some of them are related.

    Scenario (c). The tests over datasets count each dataset as independent. Versions of one table,
    or tables of one source, resemble each other, so the differences vary less within a source than
    between sources, and p-values are too small.

    Parameters
    ----------
    results : Results or DataFrame
    related : mapping or Series
        The source of each dataset, by the name of the dataset. Datasets with the same source are
        related. It must come from knowledge of the datasets: groups that were found in the same
        results, as by `dataset_groups`, would seem related by the way they were found.
    pair : (str, str), optional
        Two strategies; default all pairs.
    confidence : float, default 0.95
        Confidence of the intervals.

    Returns
    -------
    ResultTable
        One row for each pair: the ``correlation`` of the advantages of two related datasets, the
        number of ``effective`` datasets, and the ends of their intervals in ``... low`` and
        ``... high``. A correlation below 0 counts as 0. Multiply standard errors of means by
        sqrt(N / effective).

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A dataset has no source, or there are fewer than two sources, or none has two datasets.

    Notes
    -----
    The intraclass correlation is that of the one-way analysis of variance, its interval that of F,
    which is exact for normal differences and sources of equal size. The number of effective
    datasets is N / (1 + (m - 1) correlation), where m is the mean size of the source of a dataset.
    Source: Fisher 1925; Searle 1971; Kish 1965 (design effect).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> source = np.repeat(np.arange(10), 3)
    >>> of_source, of_dataset = rng.normal(size=10)[source], rng.normal(size=30)
    >>> table = pd.DataFrame({"A": 5 + of_source + of_dataset, "B": 5.0})
    >>> found = effective_datasets(table, pd.Series(source.astype(str)), metric="loss",
    ...                            greater_is_better=False)
    >>> found.frame[["correlation", "effective"]].loc[("A", "B")].round(2).to_dict()
    {'correlation': 0.45, 'effective': 15.82}
    """
    from scipy.special import fdtri

    sources = _checked(related, results)
    if pair is not None:
        results = results.select(strategies=pair)
    values = advantages_of(results)
    member = (sources[:, None] == np.unique(sources)).astype(float)
    (n, n_sources), sizes = member.shape, member.sum(axis=0)
    means = (member.T @ values) / sizes[:, None]
    within = ((values - member @ means) ** 2).sum(axis=0) / (n - n_sources)
    between = sizes @ (means - values.mean(axis=0)) ** 2 / (n_sources - 1)
    typical = (n - sizes @ sizes / n) / (n_sources - 1)
    varies = np.ptp(values, axis=0) > 0
    ratio = np.full(len(varies), np.inf)
    np.divide(between, within, out=ratio, where=within > 1e-20 * between)
    tail = 0.5 + confidence / 2
    df = n_sources - 1, n - n_sources
    by_end = {
        "": ratio,
        " low": ratio / fdtri(*df, tail),
        " high": ratio * fdtri(*df[::-1], tail),
    }
    columns = {}
    for end, f in by_end.items():
        rest = np.divide(typical, f - 1 + typical, out=np.zeros_like(f), where=np.isfinite(f))
        columns["correlation" + end] = np.where(varies, 1 - rest, 0.0)
    excess = sizes @ sizes / n - 1
    for end, other in (("", ""), (" low", " high"), (" high", " low")):
        shared = np.maximum(columns["correlation" + other], 0)
        columns["effective" + end] = n / (1 + excess * shared)
    index = Pairs.of(results.strategies).labels.set_names(["first", "second"])
    return ResultTable(
        name="Effective number of datasets",
        frame=pd.DataFrame(columns, index=index),
        source="Fisher 1925; Searle 1971; Kish 1965",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), f"{n} datasets of {n_sources} sources"),
    )


def _checked(related: Mapping[str, str] | pd.Series, results: Results) -> np.ndarray:
    """Return the source of each dataset as a whole number."""
    if not isinstance(related, Mapping | pd.Series):
        raise AnalysisError(
            "related must be a dict or a Series of sources by dataset, not "
            f"{type(related).__name__}"
        )
    known = {str(name): source for name, source in related.items()}
    lacking = [name for name in results.datasets if name not in known or pd.isna(known[name])]
    if lacking:
        raise AnalysisError(f"related has no source for {', '.join(lacking[:5])}")
    sources = [str(known[name]) for name in results.datasets]
    n_sources = len(set(sources))
    if not 1 < n_sources < len(sources):
        raise AnalysisError(
            f"{len(sources)} datasets of {n_sources} sources show no relation: it needs two "
            "sources, of which one has two datasets"
        )
    return np.unique(sources, return_inverse=True)[1]

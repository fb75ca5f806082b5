"""Groups of datasets by which strategies they favour, and a test of whether there are any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown, check_scenario, number, p_text
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

__all__ = ["DatasetGroups", "dataset_groups"]

_FEWEST = 4  # datasets: three have no two groups of which both hold more than one


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetGroups(Shown):
    """Groups of datasets by which strategies they favour.

    Attributes
    ----------
    frame : DataFrame
        One row for each dataset: its ``group`` (1 is the largest) and its ``silhouette``, from -1
        (it is nearer to another group) to 1; NaN with one group.
    ranks : DataFrame
        Average ranks: one row for each strategy, one column for ``all`` and for each group.
    tried : int
        Number of groups that stands out most from populations without groups.
    silhouette : float
        Mean silhouette of these groups.
    p_value : float
        Share of populations without groups in which some number of groups stands out as much.
    alpha : float
        Level of the test.
    n : int
        Number of datasets.
    metric, source : str
    scenario : str, default "(c)"
    notes : tuple of str
    """

    frame: pd.DataFrame
    ranks: pd.DataFrame
    tried: int
    silhouette: float
    p_value: float
    alpha: float
    n: int
    source: str
    metric: str = ""
    scenario: str = "(c)"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_scenario(self.scenario)

    def title(self) -> str:  # noqa: D102 - inherited
        return (
            f"Datasets by which strategies they favour, {self.metric}, {self.n} datasets, scenario "
            f"{self.scenario}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the group and the silhouette of each dataset."""
        return self.frame.copy()

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table: the average ranks, with the sizes of the groups."""
        sizes = self.frame["group"].value_counts()
        names = {f"group {g}": f"group {g} ({count} datasets)" for g, count in sizes.items()}
        return self.ranks.rename(columns=names).map(number)

    def sentence(self) -> str:  # noqa: D102 - inherited
        test = f"mean silhouette {number(self.silhouette, 2)}, {p_text(self.p_value)}"
        if self.p_value <= self.alpha:
            return f"{self.title()}: {self.tried} groups ({test})."
        return (
            f"{self.title()}: no groups are found; {self.tried} groups are not further apart than "
            f"those of a population without groups ({test})."
        )


@of_results
def dataset_groups(
    results: Results,
    *,
    most: int = 6,
    alpha: float = 0.05,
    n_samples: int = 199,
    seed: int = 0,
) -> DatasetGroups:
    """Group datasets by which strategies they favour, if there are groups.

    Scenario (c). Two datasets are near if the strategies that do better than usual on one of them
    do so on the other.

    Parameters
    ----------
    results : Results or DataFrame
    most : int, default 6
        Largest number of groups.
    alpha : float, default 0.05
        Level of the test of whether there are groups; if there are none, all datasets are in one.
    n_samples : int, default 199
        Number of simulated populations.
    seed : int, default 0

    Returns
    -------
    DatasetGroups
        Its sentence says whether groups are found.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two strategies or four datasets, or an option is out of range.

    Notes
    -----
    Null hypothesis: the datasets are one normal population. The profile of a dataset is the rank of
    each strategy minus its average rank. Ward's method builds the groups; their mean silhouette
    says how far apart they are. Any population can be cut in two, so the same is done with
    simulated ones: normal numbers with the means and covariances of the normal scores of the ranks,
    ranked within each dataset. The number of groups is that whose silhouette exceeds the mean of
    the simulated ones most; the p-value accounts for this choice. Strategies that are alike make no
    groups by themselves. Few strategies have few orders: with less than six, groups can be single
    orders. Source: Ward 1963; Rousseeuw 1987; the test follows Liu, Hayes, Nobel & Marron 2008 (a
    single normal population as the null hypothesis).

    Examples
    --------
    >>> losses = np.random.default_rng(0).normal(size=(30, 6))
    >>> losses[:20, :3] += 2  # A, B and C are bad on 20 datasets, the others on 10
    >>> losses[20:, 3:] += 2
    >>> found = dataset_groups(pd.DataFrame(losses, columns=[*"ABCDEF"]), metric="loss",
    ...                        greater_is_better=False)
    >>> found.tried, found.p_value
    (2, 0.005)
    >>> found.ranks["group 2"].round(1).to_dict()
    {'A': 2.4, 'B': 2.6, 'C': 1.6, 'D': 4.4, 'E': 5.1, 'F': 4.9}
    """
    ranks = paired_losses(results).ranks
    n = len(ranks)
    if n < _FEWEST:
        raise AnalysisError(f"{n} datasets have no groups: it needs {_FEWEST} datasets")
    if most < 2 or n_samples < 1:
        raise AnalysisError("most must be 2 or more, and n_samples 1 or more")
    most = max(2, min(most, n - 1, len(np.unique(ranks, axis=0))))  # equal ranks are one group
    cuts, each = _cut(ranks, most)
    rng = np.random.default_rng(seed)
    simulated = [_cut(one, most)[1].mean(axis=1) for one in _one_population(ranks, n_samples, rng)]
    best, p = _largest(np.array([each.mean(axis=1), *simulated]))
    labels, each, tried = cuts[best], each[best], best + 2
    silhouette = float(each.mean())
    if p > alpha:
        labels, each = np.ones(n, dtype=int), np.full(n, np.nan)
    columns = {"all": ranks.mean(axis=0)}
    if p <= alpha:
        columns |= {f"group {g}": ranks[labels == g].mean(axis=0) for g in range(1, tried + 1)}
    return DatasetGroups(
        frame=pd.DataFrame(
            {"group": labels, "silhouette": each}, pd.Index(results.datasets, name="dataset")
        ),
        ranks=pd.DataFrame(columns, pd.Index(results.strategies, name="strategy")),
        tried=tried,
        silhouette=silhouette,
        p_value=p,
        alpha=alpha,
        n=n,
        source="Ward 1963; Rousseeuw 1987; Liu et al. 2008",
        metric=results.metric.loss_name,
        notes=(
            *results.notes_text(),
            f"{n_samples} simulated populations without groups, seed {seed}",
        ),
    )


def _cut(ranks: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two to ``most`` groups, the largest first, and the silhouettes: (most - 1, N) each."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import pdist, squareform

    profiles = ranks - ranks.mean(axis=0)
    apart = pdist(profiles)
    distances = squareform(apart)
    cuts = cut_tree(linkage(apart, "ward"), range(2, most + 1)).T
    for labels in cuts:
        order = np.argsort(-np.bincount(labels), kind="stable")
        labels[:] = 1 + np.argsort(order)[labels]
    return cuts, np.array([_silhouettes(distances, labels) for labels in cuts])


def _largest(silhouettes: np.ndarray) -> tuple[int, float]:
    """Return which column of the first row stands out most from the other rows, and its p-value.

    Columns are numbers of groups. Each is compared with its own mean, because the mean silhouette
    grows with the number of groups where few strategies leave few orders.
    """
    away = silhouettes - silhouettes.mean(axis=0)
    largest = away.max(axis=1)
    best = int(np.argmax(away[0] > largest[0] - 1e-9))  # of rounding noise, in both lines
    return best, float(np.mean(largest >= largest[0] - 1e-9))


def _silhouettes(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return (b - a) / max(a, b): a is the mean distance to the own group, b to the nearest other.

    A dataset that is alone in its group has 0.
    """
    member = (labels[:, None] == np.unique(labels)).astype(float)
    sums, sizes = distances @ member, member.sum(axis=0)
    own = (sums * member).sum(axis=1) / np.maximum(member @ sizes - 1, 1)
    other = np.where(member == 1, np.inf, sums / sizes).min(axis=1)
    larger = np.maximum(own, other)
    alone = (member @ sizes == 1) | (larger == 0)
    return np.where(alone, 0.0, (other - own) / np.where(larger == 0, 1.0, larger))


def _one_population(ranks: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Return ranks of simulated datasets of one normal population, shape (n_samples, N, K)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n, k = ranks.shape
    scores = ndtri((ranks - 0.5) / k)
    root = (scores - scores.mean(axis=0)) / np.sqrt(n - 1)
    # sums of the centred rows with normal weights have exactly the covariance of the scores
    normal = scores.mean(axis=0) + rng.standard_normal((n_samples, n, n)) @ root
    # strategies that are equal everywhere stay equal, but for rounding
    return rankdata(normal.round(9), axis=2)

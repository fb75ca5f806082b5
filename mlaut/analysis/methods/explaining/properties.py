"""Properties of datasets that can explain where a strategy wins."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import position
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results.given import of_results, takes_sources
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, Block, Dataset


@of_results
@takes_sources
def dataset_properties(
    results: Results,
    *,
    datasets: Iterable[Dataset] | None = None,
    baseline: str | None = None,
) -> ResultTable:
    """Compute properties of the datasets, from a study and from their tables.

    Parameters
    ----------
    results : Results or DataFrame
    datasets : iterable of Dataset, optional
        The tables of the datasets, one at a time, for example
        ``(io.load_dataset(path) for path in paths)``. Without them only what the study stores is
        known.
    baseline : str, optional
        A strategy whose mean loss measures how noisy a dataset is.

    Returns
    -------
    ResultTable
        One row for each dataset of the results, and those of these columns that are known:

        - ``rows``; ``columns`` (without the target); ``classes``.
        - ``imbalance``: 0 if all classes are equally frequent, near 1 if one has nearly all rows
          (one minus the entropy of the shares of the classes, in units of its maximum).
        - ``gaps``: share of missing entries. ``categories``: share of columns that are not numbers.
        - ``loss of <baseline>``.

    Raises
    ------
    MissingCellsError
        The baseline has missing cells.
    AnalysisError
        Nothing is known, a dataset has no table in ``datasets``, or the losses of the baseline are
        in different units.

    Examples
    --------
    >>> frame = pd.DataFrame({"x": [1.0, None, 3.0, 4.0], "y": ["a", "a", "a", "b"]})
    >>> table = pd.DataFrame({"A": [0.1], "B": [0.2]}, index=["tiny"])
    >>> tiny = Dataset("tiny", frame, target="y", task="Classification")
    >>> dataset_properties(table, metric="error", datasets=[tiny], baseline="B").frame.round(2)
             rows  columns  classes  imbalance  gaps  categories  loss of B
    dataset
    tiny        4        1        2       0.19  0.25         0.0        0.2
    """
    if datasets is not None:
        rows = _of_tables(results.datasets, datasets)
    elif results.load_block is not None:
        rows = [block_properties(results.load_block(name)) for name in results.datasets]
    elif results.n_train is not None and results.n_test is not None:
        rows = [{"rows": n} for n in (results.n_train + results.n_test)[:, 0, 0]]
    else:
        rows = [{} for _ in results.datasets]
    frame = pd.DataFrame(rows, index=pd.Index(results.datasets, name="dataset"))
    if baseline is not None:
        frame[f"loss of {baseline}"] = _losses_of(results, baseline)
    if frame.shape[1] == 0:
        raise AnalysisError(
            "nothing is known of these datasets: give their tables in datasets=, or a baseline="
        )
    return ResultTable(
        name="Properties of datasets",
        frame=frame.dropna(axis="columns", how="all"),
        source="MLaut",
        notes=results.notes_text(),
    )


def _losses_of(results: Results, baseline: str) -> pd.Series:
    at = position("strategy", baseline, results.strategies)
    if results.incomparable:
        raise AnalysisError(
            f"losses of {baseline} do not compare datasets ({results.incomparable}): choose a "
            "metric without a unit, such as 'r2'"
        )
    return results.select(strategies=[results.strategies[at]]).complete().iloc[:, 0]


def _of_tables(names: Iterable[str], datasets: Iterable[Dataset]) -> list[dict[str, float]]:
    if isinstance(datasets, str) or not isinstance(datasets, Iterable):
        raise AnalysisError("datasets must be datasets, such as [io.load_dataset(path)]")
    known = {}
    for one in datasets:
        if not isinstance(one, Dataset):
            raise AnalysisError(f"datasets has a {type(one).__name__}, which is no Dataset")
        known[one.name] = _of_table(one)
    lacking = [name for name in names if name not in known]
    if lacking:
        raise AnalysisError(f"datasets has no table of {', '.join(lacking[:5])}")
    return [known[name] for name in names]


def _of_table(dataset: Dataset) -> dict[str, float]:
    features = dataset.features
    others = [not pd.api.types.is_numeric_dtype(dtype) for dtype in features.dtypes]
    found: dict[str, float] = {"rows": len(features), "columns": features.shape[1]}
    if dataset.task == CLASSIFICATION:
        found |= _of_classes(dataset.labels.value_counts().to_numpy())
    gaps = float(features.isna().to_numpy().mean()) if features.size else 0.0
    return found | {"gaps": gaps, "categories": sum(others) / max(len(others), 1)}


def block_properties(block: Block) -> dict[str, float]:
    """Return what the predictions of a study tell of a dataset: rows, classes and imbalance."""
    if block.task != CLASSIFICATION:
        return {"rows": len(block.truth)}
    return {"rows": len(block.truth)} | _of_classes(np.bincount(block.truth[block.truth >= 0]))


def _of_classes(counts: np.ndarray) -> dict[str, float]:
    """Return the properties of a target with these numbers of rows by class."""
    shares = counts[counts > 0] / counts.sum()
    entropy = -float(shares @ np.log(shares))
    return {
        "classes": len(shares),
        # rounded, since noise of the last bits would break ties
        "imbalance": round(1 - entropy / np.log(len(shares)), 12) if len(shares) > 1 else 1.0,
    }

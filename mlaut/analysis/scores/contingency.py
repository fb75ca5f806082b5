"""Predictions of one classifier on one dataset compared with the truth, class by class."""

from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import position, shown
from mlaut.errors import AnalysisError
from mlaut.records import CLASSIFICATION, Block


def contingency_table(block: Block, strategy: str) -> pd.DataFrame:
    """Count the test points of each true class (rows) by predicted class (columns): scenario (a).

    Parameters
    ----------
    block : Block
        Contents of a study for one dataset, such as ``study.block("iris")``.
    strategy : str

    Returns
    -------
    DataFrame of int, shape (C, C)
        Counts, also called the confusion matrix. A test point counts once for each repeat.

    Raises
    ------
    AnalysisError
        The dataset has no classes, or the strategy is not known.

    Examples
    --------
    >>> import mlaut.files_io
    >>> study = mlaut.files_io.StudyStore("study.h5")  # doctest: +SKIP
    >>> contingency_table(study.block("iris"), "SVC")  # doctest: +SKIP
    """
    at, tested = _tested(block, strategy)
    truth = np.broadcast_to(block.truth, tested.shape)[tested]
    counts = np.zeros((len(block.classes),) * 2, dtype=int)
    np.add.at(counts, (truth, block.predictions[at][tested]), 1)
    return pd.DataFrame(
        counts,
        index=pd.Index(block.classes, name="true"),
        columns=pd.Index(block.classes, name="predicted"),
    )


def cumulative_gain(block: Block, strategy: str, label: Any) -> pd.DataFrame:
    """Compute the cumulative gain of a classifier: scenario (a).

    Test points are taken in the order of their predicted probabilities of a class, the largest
    first; those with equal probabilities are taken together.

    Parameters
    ----------
    block : Block
        Contents of a study for one dataset, such as ``study.block("iris")``.
    strategy : str
        A strategy that predicted probabilities.
    label : class label
        The class that is sought.

    Returns
    -------
    DataFrame
        ``taken``: share of the test points that are taken, from 0 to 1; ``gain``: share of the test
        points of the class that are among them.

    Raises
    ------
    AnalysisError
        The dataset has no such class, or the strategy has no probabilities.
    """
    at, tested = _tested(block, strategy)
    if label not in block.classes:
        raise AnalysisError(
            f"dataset {block.dataset!r} has no class {shown(label)}; its classes are "
            f"{', '.join(map(repr, block.classes[:8]))}"
        )
    which = block.classes.index(label)
    if block.probabilities is None or np.isnan(block.probabilities[at, ..., which][tested]).any():
        raise AnalysisError(f"{strategy!r} has no probabilities on dataset {block.dataset!r}")
    sought = np.broadcast_to(block.truth == which, tested.shape)[tested]
    if not sought.any():
        raise AnalysisError(f"no test point of {block.dataset!r} is of class {shown(label)}")
    _, step = np.unique(-block.probabilities[at, ..., which][tested], return_inverse=True)
    shares = [np.cumsum(np.bincount(step, of)) / of.sum() for of in (np.ones(len(step)), sought)]
    return pd.DataFrame({"taken": [0.0, *shares[0]], "gain": [0.0, *shares[1]]})


def _tested(block: Block, strategy: str) -> tuple[int, np.ndarray]:
    """Return the position of a strategy, and which points (R, n_rows) it has predictions of."""
    if not isinstance(block, Block):
        raise AnalysisError(
            f"the block of a dataset comes first, not {block!r:.40}: contingency_table("
            "StudyStore('study.h5').block('iris'), 'SVC')"
        )
    if block.task != CLASSIFICATION:
        raise AnalysisError(f"dataset {block.dataset!r} is {block.task} and has no classes")
    at = position("strategy", strategy, block.strategies)
    folds = block.split.folds
    cells = np.take_along_axis(block.done[at], np.maximum(folds, 0), axis=1)
    return at, (folds >= 0) & cells

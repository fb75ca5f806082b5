"""Studies of simulated datasets, which measure the type I error or the power of a test.

A test on cross-validation holds its level for some strategies and schemes and not for others
(Bouckaert 2003). To measure the level for your strategies, run them on datasets on which neither
is better by construction, and pass the differences to `calibrate` of `measures.py`.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.data import Data, from_frame
from mlaut.errors import StudyError
from mlaut.experiments import Orchestrator, RunSummary
from mlaut.records import Dataset

MakeTable = Callable[[np.random.Generator], "pd.DataFrame"]


def null_table(
    generator: np.random.Generator, n_rows: int = 300, n_attributes: int = 10
) -> pd.DataFrame:
    """Draw a table whose class is independent of its attributes: no strategy can be better.

    Parameters
    ----------
    generator : numpy.random.Generator
        Random generator of the values.
    n_rows : int, default 300
        Number of rows.
    n_attributes : int, default 10
        Number of attributes.

    Returns
    -------
    DataFrame
        Attributes of 0 and 1 and, as the last column, the class (``"a"`` or ``"b"``). All values
        are independent, and both values of a column have probability 1/2.

    Notes
    -----
    The design is that of Bouckaert (2003), section 4.

    Examples
    --------
    >>> null_table(np.random.default_rng(0), n_rows=4, n_attributes=2)
       x1  x2 class
    0   1   1     a
    1   1   1     b
    2   1   0     a
    3   1   1     b
    """
    bits = generator.integers(0, 2, size=(n_rows, n_attributes + 1), dtype=np.int8)
    table = pd.DataFrame(bits[:, 1:], columns=[f"x{i + 1}" for i in range(n_attributes)])
    table["class"] = np.array(["a", "b"])[bits[:, 0]]
    return table


def simulate_study(
    path: str | os.PathLike[str],
    strategies: Any,
    make_table: MakeTable = null_table,
    *,
    n_datasets: int = 1000,
    scheme: str | Any = "repeated_kfold(10, 10)",
    seed: int = 0,
    **run: Any,
) -> RunSummary:
    """Run strategies on simulated datasets; a second call resumes, or adds datasets.

    Parameters
    ----------
    path : path-like
        Path of the study; the datasets are stored beside it, as ``<name>.datasets.h5``.
    strategies : strategies
        Anything that ``mlaut.estimators.as_strategies`` takes; two strategies for a calibration.
    make_table : callable, default `null_table`
        Function that draws a table from a random generator; its last column is the target. Tables
        from which one strategy learns more than the other measure power, not the type I error.
    n_datasets : int, default 1000
        Number of datasets. With 1,000, a rate of 5 % has a standard error of 0.7 points.
    scheme : str or splitter, default "repeated_kfold(10, 10)"
        Resampling scheme, as ``Data.split_datasets`` takes it.
    seed : int, default 0
        Seed of the tables, of the splits and of the strategies.
    **run
        Further arguments of `Orchestrator.run`, such as ``n_jobs`` and ``engine``.

    Returns
    -------
    RunSummary
        Summary of the run; its ``study`` is the path for ``Results.from_study``.

    Raises
    ------
    StudyError
        ``n_datasets`` is not positive, or some cells failed: a rate over the others would be
        biased.

    Examples
    --------
    Two strategies on three datasets (a calibration needs about a thousand):

    >>> import tempfile
    >>> from mlaut.analysis import Results
    >>> from mlaut.analysis.methods.cross_validation import cv_differences
    >>> folder = tempfile.TemporaryDirectory()
    >>> two = ["GaussianNaiveBayes", "BaselineClassifier"]
    >>> summary = simulate_study(folder.name + "/null.h5", two, n_datasets=3,
    ...     scheme="repeated_kfold(5, 2)", engine="inline", verbose=0)
    >>> cv_differences(Results.from_study(summary.study, "accuracy")).shape
    (3, 5, 2)
    >>> folder.cleanup()
    """
    if n_datasets < 1:
        raise StudyError(f"n_datasets = {n_datasets}: at least one dataset is needed")
    study = Path(path)
    data = Data()
    input_io = data.open_hdf5(study.with_suffix(".datasets.h5"), mode="a")
    output_io = data.open_hdf5(study, mode="a")
    tables = (_dataset(make_table, place, seed) for place in range(n_datasets))
    paths = input_io.save_datasets(tables, "simulated")
    names = data.split_datasets(
        hdf5_in=input_io, hdf5_out=output_io, dataset_paths=paths, scheme=scheme, seed=seed
    )
    summary = Orchestrator(input_io, output_io, names, seed=seed).run(strategies, **run)
    if not summary.complete:
        raise StudyError(
            f"{summary.n_cells - summary.n_done} of {summary.n_cells} cells failed, and a rate "
            f"over the others would be biased: {summary}"
        )
    return summary


def _dataset(make_table: MakeTable, place: int, seed: int) -> Dataset:
    """Return one dataset, drawn from its own seed: adding datasets does not change the others."""
    table = make_table(np.random.default_rng([seed, place]))
    return from_frame(table, name=f"simulated{place:05d}", target=str(table.columns[-1]))

"""Batches for the tests of worker processes."""

import cloudpickle
import numpy as np
import pytest

from mlaut.estimators import as_strategies
from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.workers.batches import Batch, DatasetRef
from mlaut.experiments.workers.copies import shared_process


@pytest.fixture
def batch(tmp_path):
    """Four cells of a strategy on a table whose last column is the fold."""
    import pandas as pd

    from mlaut.files_io import FilesIO

    folds = np.repeat(np.arange(4), 5)
    frame = pd.DataFrame({"x": np.arange(20.0), "fold": folds, "y": np.arange(20) % 2})
    input_io = FilesIO(tmp_path / "input.h5", mode="a")
    path = input_io.save_pandas_dataset(
        frame, "/", {"class_name": "y", "dataset_name": "d", "task": "Classification"}
    )
    info = input_io.dataset_info(path)
    ref = DatasetRef(str(input_io.path), path, "d", info.fingerprint, (0, 1))

    def make(estimator, **options):
        (strategy,) = as_strategies(estimator)
        pickled = cloudpickle.dumps(strategy)
        return Batch(
            ref,
            strategy.name,
            pickled,
            tuple((0, fold) for fold in range(4)),
            {0: folds.astype(np.int16)},
            0,
            CellOptions(**options),
            shared_process(strategy, pickled),
        )

    return make

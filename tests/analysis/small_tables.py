"""Two strategies on six datasets, and how tests read tables of them."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError

NAMES = ["d1", "d2", "d3", "d4", "d5", "d6"]
ALPHA, BETA = [0.91, 0.9, 0.89, 0.93, 0.92, 0.9], [0.85, 0.86, 0.8, 0.84, 0.83, 0.85]
WIDE = pd.DataFrame({"alpha": ALPHA, "beta": BETA}, index=pd.Index(NAMES, name="dataset"))
LONG = WIDE.rename_axis("model", axis=1).stack().rename("acc").reset_index()


def read(tmp_path, table, metric="accuracy", name="t.csv", **how):
    path = tmp_path / name
    if isinstance(table, pd.DataFrame):
        table = table.to_csv(index=not isinstance(table.index, pd.RangeIndex))
    path.write_text(table, encoding="utf-8")
    return read_results(path, metric, **how)


def is_wide(results):
    found = results.scores[["alpha", "beta"]].loc[NAMES]
    return found.shape == results.scores.shape and np.allclose(found, WIDE)


def refused(tmp_path, table, metric="accuracy", **how):
    with pytest.raises(AnalysisError) as caught:
        read(tmp_path, table, metric, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)

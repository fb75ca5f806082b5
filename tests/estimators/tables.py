"""Tables with everything that a column can be, and strategies that are quick to fit."""

import numpy as np
import pandas as pd

from mlaut.estimators import REGISTRY, DataShape, instantiate_default_estimators
from mlaut.records import CLASSIFICATION

N_TRAIN = 60
SHAPE = DataShape(N_TRAIN, 12, 2)


def awkward(n_rows=N_TRAIN, seed=0, *, unseen=False):
    """Text, categories, order, booleans, dates, gaps, an empty and a constant column, infinity."""
    rng = np.random.default_rng(seed)
    colours = ["red", "green", "blue", *(["violet"] if unseen else [])]
    frame = pd.DataFrame(
        {
            "colour": rng.choice(colours, n_rows),
            "code": pd.Categorical(rng.choice([1, 2, 3], n_rows)),
            "size": pd.Categorical(rng.choice(list("SML"), n_rows), list("SML"), ordered=True),
            "flag": rng.random(n_rows) > 0.5,
            "maybe": pd.Series(rng.choice([True, False, None], n_rows), dtype=object),
            "day": pd.date_range("2020-01-01", periods=n_rows),
            "value": rng.normal(size=n_rows),
            "count": pd.array(rng.integers(-5, 5, n_rows), dtype="Int64"),
            "empty": rng.normal(size=n_rows) if unseen else np.nan,
            "constant": 1.0,
            "endless": np.where(rng.random(n_rows) < 0.1, np.inf, rng.normal(size=n_rows)),
            7: rng.normal(size=n_rows),
        }
    )
    for row, column in enumerate(["colour", "code", "size", "day", "value", "count"]):
        frame.loc[row, column] = None
    return frame


def labels(frame, task):
    """A target that the table tells something about: text, or numbers."""
    signal = frame["value"].fillna(0) + frame["flag"] + (frame["colour"] == "red")
    if task == CLASSIFICATION:
        return np.where(signal > signal.median(), "over", "under")
    return 1000 + 10 * signal.to_numpy(dtype=float)


def quick(strategy):
    """The strategy with little trees, few of them, two candidates and three folds."""
    sizes = {"n_estimators": 5, "max_iter": 5}
    params = {name: sizes[name] for name in sizes if name in (strategy.param_grid or {})}
    if strategy.name == "Lacoste_ANN":
        params = {"max_iter": 20}
    grid = {name: values[:1] for name, values in (strategy.param_grid or {}).items()}
    grid |= {name: strategy.param_grid[name][:2] for name in list(grid)[-1:]}
    return strategy.set_params(param_grid=grid or None, params=params, cv=3)


def every_quick_strategy():
    """Those of scikit-learn; keras networks have tests of their own."""
    everything = instantiate_default_estimators([spec.name for spec in REGISTRY.search("all")])
    return [quick(s) for s in everything if s.metadata.package == "scikit-learn"]

"""Studies of older versions go on with the one-hot columns that they began with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import StandardScaler

from mlaut import Data, Generic_Estimator, Orchestrator
from mlaut.data import from_frame
from mlaut.errors import MlautError
from mlaut.estimators import Preprocessor


def boosting(**more):
    model = HistGradientBoostingClassifier(max_iter=3, random_state=0)
    return Generic_Estimator(model, name="boosting", **more)


@pytest.fixture
def older(tmp_path):
    frame = pd.DataFrame({"x": np.arange(30.0), "kind": ["a", "b", None] * 10})
    data = from_frame(frame.assign(y=np.arange(30) % 2), "y", name="mixed")
    setup = Data()
    input_io, out_io = (setup.open_hdf5(tmp_path / file, "a") for file in ("in.h5", "study.h5"))
    input_io.save_datasets([data])
    setup.split_datasets(input_io, out_io, scheme="holdout")
    run = Orchestrator(input_io, out_io)
    one_hot = boosting(preprocessing=Preprocessor(as_needed=True))
    run.run([one_hot], verbose=0, engine="inline")
    return run


def test_a_study_of_an_older_version_has_nothing_to_do(older):
    assert boosting().preprocessing.categories == "native"
    plan = older.plan([boosting()])
    assert (plan.refusals, sum(int(d.todo.sum()) for d in plan.datasets)) == ((), 0)
    assert plan.strategies[0].preprocessing.categories == "one-hot"


@pytest.mark.parametrize("more", [{"preprocessing": StandardScaler()}, {"params": {"max_iter": 4}}])
def test_another_strategy_is_refused_as_before(older, more):
    with pytest.raises(MlautError, match="boosting"):
        older.run([boosting(**more)], verbose=0, engine="inline")


def test_what_was_formerly_one_hot_and_what_never_changed():
    assert boosting().formerly().preprocessing.categories == "one-hot"
    assert boosting(preprocessing=None).formerly() is None
    plain = HistGradientBoostingClassifier(categorical_features=None)
    assert Generic_Estimator(plain).preprocessing.categories == "one-hot"
    assert Generic_Estimator(plain).formerly() is None

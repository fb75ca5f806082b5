"""Names of columns that XGBoost or LightGBM refuse, such as ``size [cm]``."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mlaut import Generic_Estimator, Study, error_interval
from mlaut.data import from_frame
from mlaut.estimators import EarlyStopping, Preprocessor
from mlaut.experiments import load_model

NAMES = ["size [cm]", "a<b", 'z: {,"}', "z: {,'}"]
BOOSTING = {
    "xgboost": ("XGBRegressor", {}),
    "lightgbm": ("LGBMRegressor", {"verbose": -1, "min_child_samples": 5}),
}
FORMS = {
    "plain": lambda it: it,
    "early": lambda it: EarlyStopping(it, rounds=2, random_state=0),
    "tuned": lambda it: Generic_Estimator(it, param_grid={"max_depth": [1, 3]}, cv=2),
    "search": lambda it: GridSearchCV(it, {"max_depth": [1, 3]}, cv=2),
    "grid of models": lambda it: GridSearchCV(make_pipeline(it), {"steps": [[("a", it)]]}, cv=2),
    "members": lambda it: VotingRegressor([("a", it), ("b", it)]),
    "pipeline": lambda it: make_pipeline("passthrough", it),
    "frames": lambda it: make_pipeline(Preprocessor().set_output(transform="pandas"), it),
}


@pytest.fixture(params=BOOSTING)
def learner(request):
    name, more = BOOSTING[request.param]
    return getattr(pytest.importorskip(request.param), name)(n_estimators=3, max_depth=2, **more)


def table(kind="complete"):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=NAMES)
    if kind == "gaps":
        frame.iloc[5, 0] = np.nan
    if kind == "categories":
        frame["age [y]"] = np.array(["<5", "[5,9]", ">9"])[np.arange(60) % 3]
    return frame, frame["a<b"].to_numpy()


@pytest.mark.parametrize("form", FORMS)
def test_a_learner_takes_every_name(learner, form):
    strategy = FORMS[form](learner)
    if not isinstance(strategy, Generic_Estimator):
        strategy = Generic_Estimator(strategy)
    for kind in ("complete", "gaps", "categories")[: 3 if form in ("plain", "frames") else 1]:
        X, y = table(kind)
        found = clone(strategy).fit(X, y).predict(X)
        renamed = X.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)
        assert (found == clone(strategy).fit(renamed, y).predict(renamed)).all()
        assert np.corrcoef(found, y)[0, 1] > 0.5


def test_a_saved_model_predicts_on_the_names_of_the_user(learner, tmp_path):
    X, y = table()
    study = Study(tmp_path / "study.h5")
    study.add_datasets(from_frame(X.assign(y=y), "y", name="units"))
    study.run([("boost", learner)], split="holdout", save_models=True, verbose=0)
    model = load_model(study.path, "units", "boost", trusted=True)
    again = pickle.loads(pickle.dumps(model))
    assert isinstance(again.steps[-1][1], type(learner))
    assert repr(again.steps[-1][1].get_params()) == repr(model.steps[-1][1].get_params())
    assert (again.predict(X) == model.predict(X)).all()
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.5


def test_the_identity_of_a_strategy_stays_that_of_its_class(learner):
    strategy = Generic_Estimator(learner)
    before = strategy.fingerprint()
    strategy.fit(*table())
    assert strategy.fingerprint() == before == Generic_Estimator(clone(learner)).fingerprint()
    assert type(learner) is type(strategy.estimator)


def test_an_interval_of_one_table(learner):
    assert error_interval(learner, *table(), split="holdout").value < 1

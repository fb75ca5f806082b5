"""Early stopping: the same model as the learner's own call on the same parts of the rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Generic_Estimator, Orchestrator
from mlaut.data import from_frame
from mlaut.errors import StrategyError
from mlaut.estimators import EarlyStopping
from mlaut.files_io import StudyStore
from mlaut.records import Status

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 3))
Y = (X[:, 0] + GENERATOR.normal(size=200) > 0).astype(int) + (X[:, 1] > 1)
WEIGHTS = 1.0 + np.arange(200) % 3


def learners():
    xgboost, lightgbm, catboost = map(pytest.importorskip, ("xgboost", "lightgbm", "catboost"))
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return {
        "xgboost": xgboost.XGBClassifier(n_estimators=300, n_jobs=1, random_state=0),
        "lightgbm": lightgbm.LGBMClassifier(
            n_estimators=300, n_jobs=1, random_state=0, verbosity=-1
        ),
        "catboost": catboost.CatBoostClassifier(n_estimators=300, random_state=0, **quiet),
    }


def own_call(name, model, train, held):
    """Fit a learner with its own early stopping."""
    if name == "xgboost":
        model.set_params(early_stopping_rounds=5)
        return model.fit(
            X[train],
            Y[train],
            sample_weight=WEIGHTS[train],
            eval_set=[(X[held], Y[held])],
            sample_weight_eval_set=[WEIGHTS[held]],
            verbose=False,
        )
    if name == "lightgbm":
        import lightgbm

        return model.fit(
            X[train],
            Y[train],
            sample_weight=WEIGHTS[train],
            eval_X=X[held],
            eval_y=Y[held],
            eval_sample_weight=[WEIGHTS[held]],
            callbacks=[lightgbm.early_stopping(5, verbose=False)],
        )
    import catboost

    pool = catboost.Pool(X[held], Y[held], weight=WEIGHTS[held])
    return model.fit(
        X[train], Y[train], sample_weight=WEIGHTS[train], eval_set=pool, early_stopping_rounds=5
    )


@pytest.mark.parametrize("name", ["lightgbm", "catboost"])
@pytest.mark.parametrize("labels", [[3, 5, 9], ["no", "so", "yes"]])
def test_names_of_classes_do_not_change_when_a_fit_stops(name, labels):
    numbered = EarlyStopping(learners()[name], rounds=5, random_state=1).fit(X, Y)
    named = EarlyStopping(learners()[name], rounds=5, random_state=1).fit(X, np.array(labels)[Y])
    np.testing.assert_array_equal(named.predict_proba(X), numbered.predict_proba(X))
    assert (
        np.ravel(named.predict(X)).tolist()
        == np.array(labels)[np.ravel(numbered.predict(X))].tolist()
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_the_model_is_that_of_the_learners_own_call(name):
    found = EarlyStopping(learners()[name], rounds=5, random_state=1).fit(X, Y, WEIGHTS)
    held = found.validation_rows_
    train = np.setdiff1d(np.arange(200), held)
    assert np.bincount(Y[held]).tolist() == np.round(np.bincount(Y) * 0.2).tolist()
    expected = own_call(name, learners()[name], train, held)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    whole = learners()[name].fit(X, Y, sample_weight=WEIGHTS)
    assert (whole.predict_proba(X) != found.predict_proba(X)).any()  # it did stop early


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_study_runs_early_stopping_on_texts_categories_and_weights(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        colour=np.array(["red", "blue"])[np.arange(200) % 2],
        w=WEIGHTS,
        y=np.array(["no", "yes", "maybe"])[Y],
    )
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    out_io = data.open_hdf5(tmp_path / "out.h5", "a")
    input_io.save_datasets([from_frame(frame, "y", name="d", roles={"weight": "w"})])
    data.split_datasets(input_io, out_io)
    models = {name: EarlyStopping(model) for name, model in learners().items()}
    Orchestrator(input_io, out_io).run(models, engine="inline", verbose=0)
    block = StudyStore(out_io.path).block("d")
    assert (block.status == Status.DONE).all(), StudyStore(out_io.path).details("d")
    tested = block.split.folds[0] == 0
    assert ((block.predictions[:, 0, tested] == block.truth[tested]).mean(axis=1) > 0.5).all()


class Boosting(DecisionTreeClassifier):
    """Stand-in for an estimator of LightGBM."""


Boosting.__module__ = "lightgbm.sklearn"


def test_lone_rows_of_a_class_are_always_fitted():
    labels = np.array(["a"] * 12 + ["b"] * 10 + ["lone"])
    fitted, held = EarlyStopping(Boosting(), random_state=0)._parts(labels)
    assert sorted([*fitted, *held]) == list(range(23))
    assert 22 in fitted
    assert {"a", "b"} == set(labels[held])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            EarlyStopping(DecisionTreeClassifier()),
            "EarlyStopping is for estimators of catboost",
        ),
        (EarlyStopping(Boosting(), size=1.5), "EarlyStopping: The 'test_size' parameter"),
    ],
)
def test_what_cannot_stop_early_is_refused_in_one_line(model, message):
    with pytest.raises(StrategyError, match=message) as found:
        Generic_Estimator(model).fit(X, Y)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("package", "name", "parameter"),
    [
        ("xgboost", "XGBRegressor", "early_stopping_rounds"),
        ("lightgbm", "LGBMRegressor", "early_stopping_round"),
    ],
)
def test_a_learner_that_stops_by_rows_that_nobody_gives_is_refused_before_the_run(
    package, name, parameter
):
    made = getattr(pytest.importorskip(package), name)
    model = made(n_estimators=9, n_jobs=1, **{parameter: 7})
    told = f"^{name} stops early by rows that it does not fit: leave {parameter} out, and give "
    for given in (model, make_pipeline(model)):
        with pytest.raises(StrategyError, match=told + rf"EarlyStopping\({name}.*, rounds=7\)$"):
            Generic_Estimator(given).identity()
    assert Generic_Estimator(EarlyStopping(model)).identity()
    assert Generic_Estimator(made(**{parameter: None})).identity()

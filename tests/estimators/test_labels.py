"""Classifiers that take no labels but 0 to K-1, on labels of any kind; and those that take all."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from mlaut import Data, Orchestrator
from mlaut.data import load_sklearn
from mlaut.errors import StrategyError
from mlaut.estimators import Generic_Estimator, as_strategies, tuning_record
from mlaut.estimators.preparing.labels import NumberedClasses, fit_classifier
from mlaut.experiments import load_model
from mlaut.files_io import StudyStore
from mlaut.records import Dataset, Status

from .tables import every_quick_strategy

KINDS = {
    "text": lambda codes: np.array(["ham", "jam", "spam"], dtype=object)[codes],
    "1 to K": lambda codes: codes + 1,
    "negative": lambda codes: codes - 1,
    "floats": lambda codes: codes + 1.0,
    "0 to K-1": lambda codes: codes,
}


class Strict(ClassifierMixin, BaseEstimator):
    """Naive Bayes that takes labels as XGBoost does."""

    def __init__(self, var_smoothing=1e-9):
        self.var_smoothing = var_smoothing

    def fit(self, X, y):
        found = np.unique(y)
        if not np.array_equal(found, np.arange(len(found))):
            raise ValueError(f"Invalid classes inferred from unique values of `y`: {found}")
        self.model_ = GaussianNB(var_smoothing=self.var_smoothing).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def test_self_training_takes_texts(tmp_path):
    """It refuses texts of NumPy, and a study has these."""
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    out_io = data.open_hdf5(tmp_path / "out.h5", "a")
    input_io.save_datasets(load_sklearn(["iris"]))
    data.split_datasets(input_io, out_io)
    model = SelfTrainingClassifier(GaussianNB())
    summary = Orchestrator(input_io, out_io).run([model], engine="inline", verbose=0)
    assert summary.n_done == 1


def table(n_rows=90, seed=0):
    codes = np.arange(n_rows) % 3
    X = np.random.default_rng(seed).normal(size=(n_rows, 2)) + codes[:, None]
    return pd.DataFrame(X, columns=["a", "b"]), codes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model",
    [
        Strict(),
        make_pipeline(StandardScaler(), Strict()),
        GridSearchCV(Strict(), {"var_smoothing": [1e-9, 1e-3]}, cv=3),
        GridSearchCV(make_pipeline(GaussianNB()), {"gaussiannb": [Strict(), Strict(1e-3)]}, cv=3),
    ],
    ids=["alone", "pipeline", "search", "in a grid"],
)
def test_a_classifier_of_numbers_is_fitted_on_any_labels(model, kind):
    X, codes = table()
    y = KINDS[kind](codes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is heard of the fits that failed on the labels
        fitted = Generic_Estimator(model, name="strict").fit(X, y)
    bayes = GaussianNB().fit(X, y)
    assert fitted.classes_.tolist() == bayes.classes_.tolist()
    assert fitted.predict(X).dtype == y.dtype
    assert fitted.predict(X).tolist() == bayes.predict(X).tolist()
    np.testing.assert_allclose(fitted.predict_proba(X), bayes.predict_proba(X), atol=0.01)


def test_a_class_that_is_not_in_the_training_rows_is_no_number_of_them():
    X, codes = table()
    y = np.array(["a", "b", "c"])[codes]
    known = codes != 1
    model = fit_classifier(Strict(), X[known], y[known])
    assert isinstance(model, NumberedClasses)
    assert model.estimator_.classes_.tolist() == [0, 1]
    assert (model.classes_.tolist(), set(model.predict(X))) == (["a", "c"], {"a", "c"})


class Particular(Strict):
    """Wants a label by its name, as `class_weight` and `pos_label` do."""

    def fit(self, X, y):
        if "spam" not in set(y):
            raise ValueError("no spam")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        warnings.warn("lovely", stacklevel=1)
        return self


def test_what_works_on_labels_gets_them_and_its_warnings_are_heard():
    X, codes = table()
    with pytest.warns(UserWarning, match="lovely") as heard:
        model = fit_classifier(Particular(), X, KINDS["text"](codes))
    assert (type(model), len(heard)) == (Particular, 1)


def test_where_nothing_helps_both_errors_are_told():
    X, codes = table()
    with pytest.raises(ValueError, match="no spam") as raised:
        fit_classifier(Particular(), X, np.array(["a", "b", "c"])[codes])
    assert "no spam" in str(raised.value.__cause__)


def test_answers_that_are_no_class_are_refused():
    class Beyond(Strict):
        def predict(self, X):
            return np.full(len(X), 3)

    X, codes = table()
    model = fit_classifier(Beyond(), X, codes + 1)
    with pytest.raises(StrategyError, match=r"none of the 3 numbers of the classes .* \[3, 3"):
        model.predict(X)


def _classifiers():
    return [s for s in every_quick_strategy() if s.tasks == ("Classification",)]


@pytest.mark.parametrize("strategy", _classifiers(), ids=lambda strategy: strategy.name)
def test_our_own_get_the_labels_as_they_are_and_give_the_same_bits(strategy):
    X, codes = table(60)
    y = KINDS["text"](codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = fit_classifier(strategy.assemble(random_state=0), X, y)
        plain = strategy.assemble(random_state=0).fit(X, y)
    assert type(ours) is type(plain)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    if hasattr(plain, "predict_proba"):
        np.testing.assert_array_equal(ours.predict_proba(X), plain.predict_proba(X))


def _study(folder, labels):
    """Store a table for each kind of labels, split into three folds."""
    data = Data()
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    tables = []
    for name, label in labels.items():
        X, codes = table(45, seed=len(name))
        tables.append(Dataset(name, X.assign(target=label(codes)), "target", "Classification"))
    input_io.save_datasets(tables, "/")
    data.split_datasets(input_io, out_io, scheme="kfold(3)")
    return input_io, out_io


SIX = {
    "text": lambda codes: np.array(["ham", "jam", "spam"])[codes],
    "two texts": lambda codes: np.where(codes == 1, "no", "yes"),
    "1 to K": lambda codes: codes + 1,
    "gaps": lambda codes: np.array([2, 7, 9])[codes],
    "bool": lambda codes: codes == 1,
    "categories": lambda codes: pd.Categorical(np.array(["x", "y", "z"])[codes]),
}


def _check_eighteen_cells(folder, classifier):
    input_io, out_io = _study(folder, SIX)
    options = {"engine": "inline", "verbose": 0}
    kept = Orchestrator(input_io, out_io, ["text"]).run(
        {"strict": classifier}, save_models=True, **options
    )
    others = Orchestrator(input_io, out_io).run({"strict": classifier}, **options)
    assert kept.counts + others.counts == {Status.DONE: 18}, (kept.reasons, others.reasons)
    for block in StudyStore(out_io.path).blocks():
        assert (block.predictions[0, 0] == block.truth).mean() > 0.5, block.dataset
        assert np.abs(block.probabilities.sum(axis=-1) - 1).max() < 1e-5
    model = load_model(out_io.path, "text", "strict", trusted=True)
    assert set(model.predict(table()[0])) == {"ham", "jam", "spam"}


class OnlyIntegers(Strict):
    """Classifier that takes integers only, as networks of torch do."""

    def fit(self, X, y):
        if np.asarray(y).dtype.kind not in "iu":
            raise RuntimeError("expected target dtype to be Long")
        return super().fit(X, y)


class AsTexts(Strict):
    """Classifier whose classes are texts, whatever the labels: explainable boosting and floats."""

    def fit(self, X, y):
        kind = np.asarray(y).dtype.kind
        self.model_ = GaussianNB().fit(X, np.asarray(y).astype(str) if kind == "f" else y)
        self.classes_ = self.model_.classes_
        return self


def test_labels_that_a_classifier_changes_come_back():
    X, codes = table()
    labels = np.array([1.0, 2.0, 4.0])[codes]
    fitted = Generic_Estimator(AsTexts()).fit(X, labels)
    np.testing.assert_array_equal(fitted.predict(X), GaussianNB().fit(X, labels).predict(X))
    assert fitted.classes_.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("labels", [[False, True], [0.0, 1.0]])
def test_labels_that_equal_0_and_1_but_are_no_integers(labels):
    X, codes = table()
    y = np.array(labels)[codes % 2]
    fitted = Generic_Estimator(OnlyIntegers()).fit(X, y)
    own = GaussianNB().fit(X, codes % 2).predict(X)
    np.testing.assert_array_equal(fitted.predict(X), np.array(labels)[own])


def test_eighteen_of_eighteen_cells_are_done(tmp_path):
    _check_eighteen_cells(tmp_path, Strict())


def test_eighteen_of_eighteen_cells_of_xgboost_are_done(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    _check_eighteen_cells(tmp_path, xgboost.XGBClassifier(n_estimators=5, max_depth=2))


def test_xgboost_gives_what_it_gives_on_numbers(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, codes = table()
    classifier = xgboost.XGBClassifier(n_estimators=5, max_depth=2, random_state=0)
    tuned = Generic_Estimator(classifier, param_grid={"max_depth": [1, 2]}, cv=3).fit(
        X, KINDS["text"](codes)
    )
    assert tuning_record(tuned).n_candidates == 2
    depth = tuning_record(tuned).best_params["max_depth"]
    plain = classifier.set_params(max_depth=depth).fit(X, codes)
    np.testing.assert_array_equal(tuned.predict_proba(X), plain.predict_proba(X))


def test_a_saved_model_of_numbers_predicts_labels(tmp_path):
    (iris,) = load_sklearn(["iris"])
    fitted = Generic_Estimator(Strict()).fit(iris.features, iris.labels)
    path = fitted.save(tmp_path / "model")
    again = type(fitted).load(path, trusted=True)
    assert again.predict(iris.features[:2]).tolist() == ["setosa", "setosa"]


def test_labels_are_not_scaled():
    told = (
        "strategy 'SVC': normalize_labels scales a target of numbers, and a classifier has classes"
    )
    (svc,) = as_strategies("SVC")
    with pytest.raises(StrategyError, match=told):
        svc.set_params(normalize_labels=True).fingerprint()
    X, codes = table()
    with pytest.raises(StrategyError, match=told):
        svc.fit(X, codes)

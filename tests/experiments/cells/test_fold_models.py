"""Cells on rows that are prepared once, with models that are copied from a template."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.estimators import (
    REGISTRY,
    DataShape,
    Preprocessor,
    as_strategies,
    instantiate_default_estimators,
)
from mlaut.estimators.preparing.labels import fit_classifier
from mlaut.experiments.cells.cell import run_cell
from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.cells.fold_models import FoldModel, FoldTable, _templates, new_model
from mlaut.identity.digests import canonical
from mlaut.records import Cell, Status

RANDOM = np.random.default_rng(0)
CLASSES = ("no", "so", "yes")
CODES = np.arange(90) % 3
NUMBERS = np.round(RANDOM.normal(size=(90, 4)) + CODES[:, None], 3)
WHOLE = RANDOM.integers(0, 50, size=(90, 3)) + 20 * CODES[:, None]
TABLES = {
    "floats, by columns": pd.DataFrame({f"x{i}": NUMBERS[:, i] for i in range(4)}),
    "floats, by rows": pd.DataFrame(np.ascontiguousarray(NUMBERS), columns=list("abcd")),
    "float32": pd.DataFrame(NUMBERS.astype(np.float32), columns=list("abcd")),
    "whole numbers": pd.DataFrame(WHOLE, columns=list("abc")),
    "both": pd.DataFrame({"a": NUMBERS[:, 0], "b": WHOLE[:, 0], "c": NUMBERS[:, 1]}),
    "one column": pd.DataFrame({"a": NUMBERS[:, 0]}),
    "columns without names": pd.DataFrame(NUMBERS),
    "names of two types": pd.DataFrame(NUMBERS, columns=["a", 1, "c", 2]),
    "gaps": pd.DataFrame(np.where(NUMBERS > 3, np.nan, NUMBERS), columns=list("abcd")),
    "texts": pd.DataFrame({"a": NUMBERS[:, 0], "b": np.array(["u", "v", "w"])[WHOLE[:, 0] % 3]}),
}
COMPLETE = [name for name in TABLES if name not in ("gaps", "texts")]
ROWS = np.sort(RANDOM.permutation(90)[:60]), np.arange(90)
GRIDS = {  # where preprocessing and tuning meet
    "RidgeRegression": {"alpha": [0.1, 10.0]},
    "LogisticRegression": {"C": [0.1, 10.0]},
    "HistGradientBoostingClassifier": {"max_iter": [3, 6]},
    "HistGradientBoostingRegressor": {"max_iter": [3, 6]},
    "HistGradientBoostingClassifier_today": None,
    "HistGradientBoostingRegressor_today": None,
}
QUICK = {
    "Lacoste_ANN": {"max_iter": 5},
    "HistGradientBoostingClassifier_today": {"max_iter": 3},
    "HistGradientBoostingRegressor_today": {"max_iter": 3},
    **{
        f"{kind}{task}{version}": {"n_estimators": 3}
        for kind in ("RandomForest", "Bagging", "ExtraTrees")
        for task in ("Classifier", "Regressor")
        for version in ("", "_today")
    },
}
OF_MLAUT = [spec.name for spec in REGISTRY.search(package="scikit-learn")]
OF_SCIKIT_LEARN = [
    GaussianNB(),
    LogisticRegression(),
    LinearDiscriminantAnalysis(),
    KNeighborsClassifier(),
    SVC(),
    MLPClassifier(max_iter=5, hidden_layer_sizes=(3,)),
    DecisionTreeClassifier(max_features=1),
    HistGradientBoostingClassifier(max_iter=3),
    BaggingClassifier(GaussianNB(), 3),
    VotingClassifier([("a", GaussianNB()), ("b", DecisionTreeClassifier())]),
    StackingClassifier([("a", GaussianNB())], LogisticRegression(), cv=2, passthrough=True),
    LinearRegression(),
]

pytestmark = pytest.mark.filterwarnings("ignore:.*converge", "ignore:Solver", "ignore:.*feature na")


def table_of(name, strategy):
    if "Classification" in strategy.tasks:
        return FoldTable(TABLES[name], np.array(CLASSES)[CODES], CLASSES)
    return FoldTable(TABLES[name], NUMBERS.sum(axis=1), ())


def plainly(strategy, table, rows, seed):
    """Return predictions and probabilities of the whole model on DataFrames."""
    shape = DataShape(len(rows[0]), table.features.shape[1], len(table.classes))
    model = strategy.assemble(shape, random_state=seed, n_jobs=1)
    known, labels = table.features.iloc[rows[0]], table.labels[rows[0]]
    model = fit_classifier(model, known, labels) if table.classes else model.fit(known, labels)
    tested = table.features.iloc[rows[1]]
    probable = model.predict_proba(tested) if hasattr(model, "predict_proba") else None
    return model.predict(tested), probable


def cheaply(strategy, table, rows, seed, *, saved=False):
    shape = DataShape(len(rows[0]), table.features.shape[1], len(table.classes))
    model = FoldModel(*new_model(strategy, shape, seed, 1), table, saved=saved)
    model.fit(rows[0])
    tested = model.test_rows(rows[1])
    asked = model.asked
    probable = asked.predict_proba(tested) if hasattr(asked, "predict_proba") else None
    return asked.predict(tested), probable, model


def check_same_bits(strategy, name):
    table = table_of(name, strategy)
    expected, probable = plainly(strategy, table, ROWS, 3)
    found, probabilities, _ = cheaply(strategy, table, ROWS, 3)
    assert found.tobytes() == expected.tobytes()
    assert (probable is None) == (probabilities is None)
    assert probable is None or probabilities.tobytes() == probable.tobytes()


@pytest.mark.parametrize("name", OF_MLAUT)
def test_every_default_strategy_predicts_the_same_bits(name):
    grid = {"n_estimators": [2, 3]} if "GradientBoosting" in name or "Ada" in name else None
    (strategy,) = instantiate_default_estimators(
        name, param_grid=GRIDS.get(name, grid), params=QUICK.get(name), cv=2, n_jobs=None
    )
    for table in TABLES:
        check_same_bits(strategy, table)


@pytest.mark.parametrize("estimator", OF_SCIKIT_LEARN, ids=lambda e: type(e).__name__)
def test_every_estimator_of_scikit_learn_predicts_the_same_bits(estimator):
    (strategy,) = as_strategies(estimator)
    for table in TABLES:
        check_same_bits(strategy, table)


@pytest.mark.parametrize("preprocessing", [Preprocessor(), Preprocessor(categories="native"), None])
def test_other_preprocessing_predicts_the_same_bits(preprocessing):
    (strategy,) = as_strategies(LogisticRegression())
    strategy.set_params(preprocessing=preprocessing)
    for table in COMPLETE[:5]:
        check_same_bits(strategy, table)


@pytest.mark.parametrize("name", OF_MLAUT)
def test_a_copy_of_the_template_is_what_assemble_returns(name):
    (strategy,) = instantiate_default_estimators(name, n_jobs=None)
    shape = DataShape(90, 4, 3 if "Classification" in strategy.tasks else 0)
    for seed in (0, 7):
        expected = strategy.assemble(shape, random_state=seed, n_jobs=1)
        assert canonical(new_model(strategy, shape, seed, 1)[0]) == canonical(expected)
    assert list(_templates[strategy]) == [(shape, 1)]


def test_a_seed_of_the_strategy_comes_first():
    (strategy,) = as_strategies("RandomForestClassifier")
    strategy.set_params(random_state=5)
    models = [new_model(strategy, DataShape(90, 4, 3), seed, 1)[0] for seed in (1, 2)]
    assert canonical(models[0]) == canonical(models[1])
    assert canonical(models[0]) == canonical(strategy.assemble(DataShape(90, 4, 3), n_jobs=1))


class Users(ClassifierMixin, BaseEstimator):
    """Wants a DataFrame, and remembers the names of its columns."""

    def fit(self, X, y):
        self.names_, self.classes_ = list(X.columns), np.unique(y)
        return self

    def predict(self, X):
        assert list(X.columns) == self.names_
        return np.repeat(self.classes_[0], len(X))


def test_what_may_use_names_or_draw_anew_gets_the_table_and_is_assembled_each_time():
    (strategy,) = as_strategies({"users": Users()})
    table = table_of("floats, by columns", strategy)
    *_, model = cheaply(strategy, table, ROWS, 0)
    assert model.asked["estimator"].names_ == ["x0", "x1", "x2", "x3"]
    assert list(_templates[strategy].values()) == [None]
    drawing = as_strategies("RandomForestClassifier")[0]
    drawing.set_params(random_state=np.random.RandomState(0))
    seeds = [new_model(drawing, DataShape(9, 9, 2), 0, 1)[0]["estimator"].estimator.random_state]
    seeds += [new_model(drawing, DataShape(9, 9, 2), 0, 1)[0]["estimator"].estimator.random_state]
    assert seeds[0] != seeds[1]


def test_a_function_among_the_parameters_keeps_the_dataframe():
    columns = []
    watching = FunctionTransformer(lambda X: columns.append(list(X.columns)) or X)
    strategy = as_strategies({"watching": GaussianNB()})[0].set_params(preprocessing=watching)
    table = table_of("floats, by columns", strategy)
    cheaply(strategy, table, ROWS, 0)
    assert columns == [["x0", "x1", "x2", "x3"]] * 2  # known rows, and test rows once


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 39_999])
def test_a_gap_is_found_in_any_part_of_a_large_table(value, row):
    numbers = np.ones((40_000, 4))  # more than are looked at together
    assert FoldTable(pd.DataFrame(numbers.copy()), CODES, CLASSES).numbers is not None
    numbers[row, 3] = value
    assert FoldTable(pd.DataFrame(numbers), CODES, CLASSES).numbers is None


def test_a_model_to_save_is_whole_and_takes_tables_with_gaps():
    strategy = instantiate_default_estimators("GaussianNaiveBayes")[0]
    table = table_of("floats, by columns", strategy)
    expected, _ = plainly(strategy, table, ROWS, 0)
    *_, model = cheaply(strategy, table, ROWS, 0, saved=True)
    whole = pickle.loads(pickle.dumps(model.model))
    assert whole.predict(table.features).tolist() == expected.tolist()
    with_gaps = table.features.mask(NUMBERS > 3)
    reference = strategy.fit(table.features.iloc[ROWS[0]], table.labels[ROWS[0]])
    assert whole.predict(with_gaps).tolist() == reference.predict(with_gaps).tolist()


def test_the_cell_stores_what_the_whole_model_predicts():
    strategy = instantiate_default_estimators("GaussianNaiveBayes")[0]
    table = table_of("both", strategy)
    outcome = run_cell(Cell("d", "s"), lambda: strategy, table, ROWS, 0, CellOptions())
    expected, probable = plainly(strategy, table, ROWS, 0)
    assert outcome.status is Status.DONE
    assert np.array(CLASSES)[outcome.predictions].tolist() == expected.tolist()
    np.testing.assert_array_equal(outcome.probabilities, probable.astype(np.float32))


@pytest.mark.parametrize("first", ["passthrough", None, StandardScaler()], ids=str)
def test_a_pipeline_of_a_user_may_pass_its_table_through(first):
    (strategy,) = as_strategies(Pipeline([("first", first), ("last", LogisticRegression())]))
    check_same_bits(strategy, "floats, by rows")


def test_a_pipeline_of_a_user_may_make_a_sparse_matrix():
    codes = pd.DataFrame({"code": np.repeat([f"c{i}" for i in range(30)], 3)})
    coded = OneHotEncoder(handle_unknown="ignore")
    (strategy,) = as_strategies(make_pipeline(coded, LogisticRegression()))
    table = FoldTable(codes, np.array(CLASSES)[CODES], CLASSES)
    outcome = run_cell(Cell("d", "s"), lambda: strategy, table, ROWS, 0, CellOptions())
    assert (outcome.status, outcome.reason) == (Status.DONE, "")
    predicted, probable = plainly(strategy, table, ROWS, 0)
    assert np.array(CLASSES)[outcome.predictions].tolist() == predicted.tolist()
    np.testing.assert_allclose(outcome.probabilities, probable, atol=1e-6)


def test_a_model_that_cannot_be_pickled_is_assembled_each_time():
    (strategy,) = as_strategies(KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()))
    check_same_bits(strategy, "floats, by columns")
    assert set(_templates[strategy].values()) == {None}

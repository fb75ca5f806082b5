"""Every default strategy on tables that have everything that a column can be."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from mlaut.data.splits.targets import encode_target
from mlaut.estimators import DataShape, TuningWarning, tuning_record
from mlaut.experiments.cells.cell import run_cell
from mlaut.experiments.cells.cell_input import CellOptions, FoldTable
from mlaut.records import CLASSIFICATION, Cell, Dataset, Status

from .tables import SHAPE, awkward, every_quick_strategy, labels

STRATEGIES = every_quick_strategy()
CLASSIFIERS = [s for s in STRATEGIES if s.tasks == (CLASSIFICATION,)]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(strategy, X, y, seed=0):
    return strategy.assemble(SHAPE, random_state=seed, n_jobs=1).fit(X, y)


def _cell(strategy, X, y):
    """Run it as a study does: two thirds of the rows train."""
    dataset = Dataset("d", X.assign(target=y), "target", strategy.tasks[0])
    truth, classes = encode_target(dataset.labels, dataset.task)
    rows = np.arange(len(truth))
    cut = 2 * len(rows) // 3
    cell = Cell("d", strategy.name)
    table = FoldTable.of(dataset, classes)
    return run_cell(cell, lambda: strategy, table, (rows[:cut], rows[cut:]), 7, CellOptions())


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_it_fits_and_predicts(strategy):
    X, task = awkward(), strategy.tasks[0]
    y = labels(X, task)
    model = fitted(strategy, X, y)
    later = awkward(25, seed=1, unseen=True)
    predicted = model.predict(later)
    assert predicted.shape == (25,)
    if task == CLASSIFICATION:
        assert set(predicted) <= {"over", "under"}
    else:
        assert np.isfinite(predicted).all()
        assert (np.abs(predicted - 1000) < 200).all()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(later).sum(axis=1), 1)
        assert model.classes_.tolist() == ["over", "under"]
    record = tuning_record(model)
    assert (record is None) == (not strategy.param_grid)
    if record:
        called = strategy.metadata.called
        tuned = {
            called.get(name, name) for name in strategy.param_grid.keys() - strategy.params.keys()
        }
        assert set(record.best_params) == {name.rpartition("__")[2] for name in tuned}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_a_poisoned_test_part_teaches_nothing(strategy):
    """All but 5 rows of the test part, and its labels, become something else: no bit changes."""
    X = awkward(66)
    y = labels(X, strategy.tasks[0])
    poisoned, wrong = X.copy(), y.copy()
    poisoned.iloc[49:] = awkward(17, seed=2, unseen=True).assign(value=1e9, colour="?")
    wrong[44:] = y[:22]
    clean, other = _cell(strategy, X, y), _cell(strategy, poisoned, wrong)
    assert clean.status is other.status is Status.DONE, other.reason
    assert clean.details.get("best_params") == other.details.get("best_params")
    assert clean.details.get("tuning_score") == other.details.get("tuning_score")
    np.testing.assert_array_equal(clean.predictions[:5], other.predictions[:5])


def test_two_equal_seeds_tune_on_the_same_folds():
    X = awkward()
    y = labels(X, CLASSIFICATION)
    (tree,) = (s for s in STRATEGIES if s.name == "DecisionTreeClassifier")
    tables = [
        fitted(tree, X, y, seed)["estimator"].cv_results_["split0_test_score"].tolist()
        for seed in (0, 0)
    ]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("strategy", CLASSIFIERS, ids=lambda s: s.name)
def test_one_row_a_class(strategy):
    X = awkward(6)
    y = np.array(list("abcdef"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = strategy.assemble(DataShape(6, 12, 6), random_state=0).fit(X, y)
    assert set(model.predict(X)) <= set(y)
    untuned = [w for w in told if issubclass(w.category, TuningWarning)]
    assert len(untuned) == bool(strategy.param_grid)


TARGETS = {
    "text": np.array(["über", "unter"]),
    "booleans": np.array([False, True]),
    "negative": np.array([-7, -1]),
    "objects": np.array(["a", "b"], dtype=object),
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("strategy", CLASSIFIERS, ids=lambda s: s.name)
def test_labels_of_any_type(strategy, kind):
    X = awkward(30)[["value", "flag", "colour"]]
    codes = (labels(X, CLASSIFICATION) == "over").astype(int)
    model = fitted(strategy, X, TARGETS[kind][codes])
    assert model.classes_.tolist() == sorted(TARGETS[kind].tolist())
    assert set(model.predict(X).tolist()) <= set(TARGETS[kind].tolist())


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_more_columns_than_rows_and_many_categories(strategy):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 60))).rename(columns=str)
    X["category"] = [f"c{i}" for i in range(40)]
    y = labels_of_sign(X, strategy.tasks[0])
    model = fitted(strategy, X, y)
    assert model.predict(X.assign(category="unseen")).shape == (40,)


def labels_of_sign(X, task):
    return (X["0"] > 0).to_numpy() if task == CLASSIFICATION else X["0"].to_numpy()


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # GaussianNB: no variance
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_columns_that_say_nothing(strategy):
    X = pd.DataFrame({"same": [1.0] * 30, "empty": [None] * 30, "word": ["a"] * 30})
    y = np.arange(30) % 3 == 0
    if strategy.tasks[0] != CLASSIFICATION:
        y = y.astype(float)
    model = fitted(strategy, X, y)
    predicted = model.predict(X)
    np.testing.assert_allclose(predicted.astype(float), float(predicted[0]))


def _numbers(n_rows, n_columns=3):
    return pd.DataFrame(np.random.default_rng(0).normal(size=(n_rows, n_columns))).rename(
        columns=str
    )


KINDS = {
    "everything that a column can be": lambda: awkward(45, unseen=True),
    "constant columns": lambda: _numbers(30).assign(same=1.0, word="a"),
    "empty columns": lambda: _numbers(30).assign(empty=np.nan, nothing=None),
    "nothing but empty columns": lambda: pd.DataFrame({"a": [None] * 30, "b": [np.nan] * 30}),
    "200 categories": lambda: _numbers(300).assign(code=[f"c{i % 200}" for i in range(300)]),
    "more columns than rows": lambda: _numbers(24, 60),
    "two training rows": lambda: _numbers(3),
}
CLASS_KINDS = {
    "two classes": lambda n: np.arange(n) % 2 == 0,
    "negative numbers": lambda n: np.arange(n) % 3 - 5,
    "a class a row": lambda n: [f"row {i:03}" for i in range(n)],
    "a class that is not trained": lambda n: np.where(np.arange(n) < n - 2, np.arange(n) % 2, 9),
    "a class of one training row": lambda n: np.where(np.arange(n) == 1, 9, np.arange(n) % 2),
    "one class": lambda n: np.where(np.arange(n) < n - 1, "always", "at last"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda s: s.name)
def test_every_cell_has_predictions_or_a_reason(strategy, kind):
    X = KINDS[kind]()
    classes = (
        CLASS_KINDS
        if strategy.tasks == (CLASSIFICATION,)
        else {"numbers": lambda n: np.arange(n) / 2}
    )
    for name, labels_for in classes.items():
        y = np.asarray(labels_for(len(X)))
        if kind == "200 categories" and name == "a class a row":
            continue  # 200 classes are slow to boost, and no other case
        outcome = _cell(strategy, X, y)
        if outcome.status is Status.DONE:
            assert len(outcome.predictions) == len(X) - 2 * len(X) // 3
            continue
        assert outcome.status is Status.ERROR, outcome.reason
        assert re.search(REASONS, outcome.reason), f"{name}: {outcome.reason}"


REASONS = (
    r"(at least|minimum of) 2 classes|number of classes has to be greater than one"
    r"|BaseClassifier in AdaBoostClassifier ensemble is worse than random"
    r"|predict_proba returned values that are NaN or infinite for (\d+ of|every row)"
)

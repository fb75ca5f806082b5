"""Folds of tuning and parts of early stopping that keep groups together and respect time."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit

from mlaut import Data, Generic_Estimator, Orchestrator
from mlaut.data import from_frame
from mlaut.estimators import GridSearch, TuningFolds
from mlaut.estimators.libraries.early_stopping import EarlyStopping
from mlaut.estimators.preparing.related_rows import RelatedRows, relate, relation_of_fold
from mlaut.estimators.searches.tuning import TuningWarning

GENERATOR = np.random.default_rng(4)
N = 60
GROUPS = GENERATOR.integers(0, 12, N)
TIMES = GENERATOR.permutation(N)
LABELS = GENERATOR.integers(0, 2, N)


def folds_of(kind, values, **options):
    folds = TuningFolds(3, random_state=0, **options)
    folds.related_rows = RelatedRows(kind, values)
    return [(a.tolist(), b.tolist()) for a, b in folds.split(np.zeros((N, 1)), LABELS)]


def as_lists(pairs):
    return [(a.tolist(), b.tolist()) for a, b in pairs]


def test_folds_of_groups_are_those_of_scikit_learn():
    rows = np.zeros((N, 1))
    expected = StratifiedGroupKFold(3, shuffle=True, random_state=0).split(rows, LABELS, GROUPS)
    assert folds_of("group", GROUPS) == as_lists(expected)
    expected = GroupKFold(3).split(rows, LABELS, GROUPS)
    assert folds_of("group", GROUPS, stratify=False) == as_lists(expected)


def test_folds_of_times_are_those_of_scikit_learn_on_the_rows_in_order():
    order = np.argsort(TIMES)
    expected = [
        (sorted(order[train].tolist()), sorted(order[test].tolist()))
        for train, test in TimeSeriesSplit(3).split(order)
    ]
    assert folds_of("time", TIMES) == expected


def test_fewer_groups_than_folds_are_reported():
    with pytest.warns(TuningWarning, match="2 tuning folds instead of 3: there are no more groups"):
        assert len(folds_of("group", GROUPS % 2)) == 2


def test_one_group_is_not_tuned():
    search = GridSearch(Ridge(), {"alpha": [1, 2]}, cv=TuningFolds(3, stratify=False))
    relate(search, RelatedRows("group", np.zeros(N)))
    with pytest.warns(TuningWarning, match="not tuned: too few rows for two folds"):
        assert search.fit(np.zeros((N, 1)), TIMES).best_params_ == {}


def test_a_relation_reaches_copies_but_not_other_rows():
    search = GridSearch(Ridge(), {"alpha": [1, 2]}, cv=TuningFolds(3, stratify=False))
    model = TransformedTargetRegressor(search)
    relate(model, RelatedRows("group", GROUPS))
    copy = clone(model).regressor.cv
    assert copy.related_rows.values is not None
    assert copy.get_n_splits(y=TIMES) == 3
    tested = np.concatenate([test for _, test in copy.split(None, TIMES[:30])])
    assert sorted(tested) == list(range(30))  # shuffled k-fold of a part of the rows


@pytest.mark.parametrize(
    ("groups", "times", "kind"),
    [
        (np.array([0, 0, 1, 1]), None, "group"),
        (np.array([0, 1, 0, 1]), None, None),
        (None, np.array([1, 2, 3, 4]), "time"),
        (None, np.array([1, 4, 2, 3]), None),
        (np.array([0, 0, 1, 1]), np.array([1, 4, 2, 3]), "group"),
        (None, None, None),
    ],
)
def test_tuning_follows_what_the_fold_respects(groups, times, kind):
    related = relation_of_fold(groups, times, np.array([0, 1]), np.array([2, 3]))
    assert (related and related.kind) == kind


# ------------------------------------------------------------- early stopping


@pytest.mark.parametrize("kind", ["group", "time"])
def test_early_stopping_holds_back_whole_groups_or_the_latest_rows(kind):
    xgboost = pytest.importorskip("xgboost")
    model = EarlyStopping(xgboost.XGBClassifier(n_estimators=3), size=0.25, random_state=0)
    values = GROUPS if kind == "group" else TIMES
    relate(model, RelatedRows(kind, values))
    held = model.fit(GENERATOR.normal(size=(N, 2)), LABELS).validation_rows_
    rest = np.setdiff1d(np.arange(N), held)
    if kind == "time":
        assert sorted(TIMES[held]) == list(range(45, 60))
    else:
        assert set(GROUPS[held]).isdisjoint(GROUPS[rest])
        assert len(set(GROUPS[held])) == 3  # a quarter of twelve


# ------------------------------------------------------------------- a study


class Remembers(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the first class, and writes the groups that it was fitted on."""

    def __init__(self, file="", level=0):
        self.file = file
        self.level = level

    def fit(self, X, y):
        with open(self.file, "a") as file:  # noqa: PTH123
            file.write(f"{np.unique(np.asarray(X)[:, 0].astype(int)).tolist()}\n")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_study_by_groups_tunes_by_groups(tmp_path):
    frame = pd.DataFrame({"copy": GROUPS.astype(float), "who": GROUPS, "y": LABELS})
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    out_io = data.open_hdf5(tmp_path / "study.h5", "a")
    input_io.save_datasets([from_frame(frame, "y", name="d", roles={"group": "who"})])
    data.split_datasets(input_io, out_io, scheme="group_kfold(3)")
    seen = tmp_path / "seen.txt"
    strategy = Generic_Estimator(
        GridSearch(Remembers(str(seen)), {"level": [0, 1]}, cv=TuningFolds(2)), name="R"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pickling a class of this file
        summary = Orchestrator(input_io, out_io).run([strategy], engine="inline", verbose=0)
    assert summary.n_done == 3
    fits = [json.loads(line) for line in seen.read_text().splitlines()]
    # three folds, each with two tuning folds of two candidates and a final fit
    assert len(fits) == 15
    for fold in range(3):
        *tuned, both = fits[5 * fold : 5 * fold + 5]
        one, again, two, too = sorted(tuned)
        assert (one, two) == (again, too)
        assert set(one).isdisjoint(two)
        assert sorted(one + two) == both

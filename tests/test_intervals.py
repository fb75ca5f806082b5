"""`error_interval` and `error_difference`: numbers of scikit-learn's folds, sentences, refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, Perceptron, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator, error_difference, error_interval
from mlaut.data import LeakWarning
from mlaut.errors import AnalysisError, DataError, MlautError, StrategyError

X, Y = load_wine(return_X_y=True, as_frame=True)
TREE, KNN = DecisionTreeClassifier(random_state=0), KNeighborsClassifier()
FOLDS = KFold(10, shuffle=True, random_state=0)


def test_it_is_the_error_of_scikit_learns_folds():
    wrong = cross_val_predict(TREE, X, Y, cv=FOLDS) != Y
    found = error_interval(TREE, X, Y, split=FOLDS, method="CV Wald")
    assert found.value == wrong.mean()
    assert found.standard_error == pytest.approx(np.sqrt(np.var(wrong.to_numpy()) / len(Y)))
    assert found.sentence() == (
        f"misclassification {wrong.mean():.4g}, 95 % interval [{found.low:.4g}, {found.high:.4g}]: "
        "the mean error of the models of the folds, each trained on 160 rows (CV Wald on "
        f"{FOLDS}, 10 fits)."
    )
    assert str(found) == found.sentence()


def test_labels_probabilities_and_frames_are_taken_as_they_are():
    names = np.array(["one", "two", "three"])[Y]
    by_number, by_name = error_interval(KNN, X, Y), error_interval(KNN, X.to_numpy(), names)
    assert abs(by_number.value - by_name.value) < 0.05  # other folds, since classes sort otherwise
    assert error_interval(KNN, X, Y, "log_loss").low > 0
    assert error_interval(KNN, X, Y, "pr_auc").method == "corrected t"


def test_the_root_of_the_mean_squared_error_by_the_delta_method():
    X, y = load_diabetes(return_X_y=True)
    squared, root = (error_interval(Ridge(), X, y, name) for name in ("mse", "rmse"))
    assert root.value == pytest.approx(np.sqrt(squared.value))
    assert root.standard_error == pytest.approx(squared.standard_error / (2 * root.value))
    assert (root.low, root.high) == pytest.approx((np.sqrt(squared.low), np.sqrt(squared.high)))
    with pytest.raises(AnalysisError, match=r"difference of two roots .*: choose 'mse'"):
        error_difference(Ridge(), Ridge(9), X, y, "rmse")


def test_a_difference_is_that_of_the_same_rows():
    a, b = (cross_val_predict(one, X, Y, cv=FOLDS) != Y for one in (TREE, KNN))
    found = error_difference(TREE, KNN, X, Y, split=FOLDS, method="CV Wald")
    apart = a.astype(float) - b
    assert found.value == pytest.approx(apart.mean())
    assert found.standard_error == pytest.approx(np.sqrt(np.var(apart.to_numpy()) / len(Y)))
    other = error_difference(KNN, TREE, X, Y, split=FOLDS, method="CV Wald")
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low))
    assert found.high < 0
    assert found.name.startswith("misclassification of DecisionTreeClassifier minus that of KNei")
    assert error_difference(TREE, KNN, X, Y).method == "corrected t"  # measured: docs/intervals.md
    same = error_difference(KNN, KNN, X, Y)
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_a_constant_learner_gets_a_warning():
    (note,) = error_interval(DummyClassifier(), X, Y, method="corrected t").notes
    assert note.startswith("100 % of its predictions are the same, and stratified test sets")
    assert error_interval(KNN, X, Y, method="corrected t").notes == ()
    assert error_interval(DummyClassifier(), X, Y).notes == ()  # its default covers


class Broken(KNeighborsClassifier):
    def fit(self, X, y):
        raise ValueError("no\nneighbours")


class Column(KNeighborsClassifier):
    """Predicts a column, and if asked too few labels or unknown ones; its shares sum to 0.5."""

    def __init__(self, kind=""):
        super().__init__()
        self.kind = kind

    def predict(self, X):
        given = super().predict(X).reshape(-1, 1)
        return given[1:] if self.kind == "short" else np.full_like(given, 9) if self.kind else given

    def predict_proba(self, X):
        return super().predict_proba(X) / 2


def test_columns_of_labels_are_taken():
    plain = error_interval(KNN, X, Y)
    assert error_interval(Column(), X, Y.to_frame()).value == plain.value
    assert error_interval(KNN, X.to_numpy(), Y[::-1][::-1]).value == plain.value


def test_labels_with_another_index_are_those_of_the_rows_in_turn():
    renumbered = Y.set_axis(range(1, len(Y) + 1), axis=0)
    assert error_interval(KNN, X, renumbered).value == error_interval(KNN, X, Y).value
    shuffled = Y.sample(frac=1, random_state=0)
    rows = X.loc[shuffled.index].to_numpy()  # an array has no index that could differ
    assert error_interval(KNN, rows, shuffled).value < 0.4


@pytest.mark.parametrize(
    ("given", "error", "line"),
    [
        ({"estimator": Broken()}, StrategyError, "Broken failed on 16. training rows: Val"),
        ({"split": "group_kfold(5)"}, DataError, r"needs the group of each row: pass groups=$"),
        ({"split": GroupKFold(3)}, DataError, r"needs the group of each row: pass groups=$"),
        ({"split": "time_series(3)"}, DataError, r"needs the time of each row: add .* mlaut.Study"),
        ({"groups": "patient"}, DataError, r"groups of shape \(\), and .* 178 rows: pass"),
        ({"groups": Y[::-1]}, DataError, r"X and groups .* orders; pass groups.loc\[X.in"),
        ({"groups": ["a", np.nan] * 89}, DataError, r"group 'groups': 89 values are missing, the"),
        ({"sample_weight": Y[::-1] + 1}, DataError, "X and sample_weight .* different orders"),
        ({"sample_weight": "w"}, DataError, r"for example sample_weight=table\['weight'\]"),
        ({"X": X.assign(ward="north")}, StrategyError, r"no step prep.*\('ward'\): .*Generic_E"),
        ({"estimator": 3}, StrategyError, "a int is not an estimator: it has no fit"),
        ({"y": Y[:9]}, DataError, "178 rows and 9 targets; each row needs one"),
        ({"estimator": KNeighborsClassifier}, StrategyError, r"a class, .*; give an instance: KN"),
        ({"estimator": Column(kind="short")}, StrategyError, "rows: predict returned shap"),
        ({"estimator": Column(kind="odd")}, StrategyError, "rows: label 9 is not one of the 3 cla"),
        ({"estimator": Column(), "metric": "log_loss"}, StrategyError, "rows: predict_proba retur"),
        ({"estimator": Perceptron(), "metric": "auc"}, StrategyError, "it has no predict_proba"),
        ({"X": 5}, DataError, "X is no table: "),
        ({"X": X[:0], "y": Y[:0]}, DataError, "the table has no rows"),
        ({"y": "target"}, DataError, r"targets of shape \(\); a dataset has one target"),
        ({"y": np.c_[Y, Y]}, DataError, r"targets of shape \(178, 2\); a dataset has one target"),
        ({"y": Y[::-1]}, DataError, r"X and y have their rows in different orders; pass y.loc"),
        ({"y": Y * np.nan}, DataError, "missing"),
        ({"metric": "mse"}, AnalysisError, "mse is for Regression"),
        ({"metric": "pr_auc", "split": "holdout"}, AnalysisError, "means over test points"),
        ({"metric": "auc", "split": "nested_cv(3, 1)"}, AnalysisError, "not by nested CV"),
        ({"method": "nested CV"}, AnalysisError, "'nested CV' is for nested_cv, and"),
        ({"method": "nestd CV"}, AnalysisError, "did you mean 'nested CV'"),
        ({"confidence": 95}, AnalysisError, "confidence = 95 is not between 0 and 1"),
        ({"split": TimeSeriesSplit(3)}, AnalysisError, "no published interval is valid"),
        ({"split": "kfold(500)"}, DataError, "178 rows cannot make 500 folds"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(given, error, line):
    with pytest.raises(error, match=line) as answer:
        error_interval(**({"estimator": KNN, "X": X, "y": Y} | given))
    assert "\n" not in str(answer.value)


def test_random_splits_of_scikit_learn_are_repeated_hold_out():
    found = error_interval(KNN, X, Y, split=ShuffleSplit(5, test_size=0.2, random_state=0))
    assert (found.method, found.fits) == ("inflated CV Wald", 5)
    assert found.estimand == "the expected error of the learner trained on 142 such rows"


def test_the_area_under_the_curve_by_the_delta_method():
    """DeLong, DeLong and Clarke-Pearson (1988), pair by pair, with divisors m and n."""
    two = Y[Y > 0] - 1
    rows, (train, test) = X[Y > 0], next(ShuffleSplit(1, random_state=0).split(two))
    shares = KNN.fit(rows.iloc[train], two.iloc[train]).predict_proba(rows.iloc[test])[:, 1]
    truth = two.iloc[test].to_numpy()
    right = np.sign(shares[truth == 1][:, None] - shares[truth == 0]) / 2 + 0.5
    found = error_interval(
        KNN, rows, two, "auc", split=ShuffleSplit(1, random_state=0), method="hold-out"
    )
    assert found.value == pytest.approx(1 - right.mean())
    parts = [right.mean(axis=axis) for axis in (0, 1)]
    variance = sum(part.var() / len(part) for part in parts) * len(test) / (len(test) - 1)
    assert found.standard_error == pytest.approx(np.sqrt(variance))
    on_folds = error_interval(KNN, X, Y, "auc", method="inflated CV Wald")  # three classes
    by_sets = error_interval(KNN, X, Y, "auc")
    assert by_sets.method == "corrected t"  # measured: docs/measured-levels.md
    assert on_folds.value == pytest.approx(by_sets.value, rel=0.1)  # folds by size, not each alike
    assert 0 < on_folds.low < on_folds.value < on_folds.high
    same = error_difference(KNN, KNN, X, Y, "auc", method="CV Wald")
    assert (same.low, same.value, same.high) == (0, 0, 0)


def test_weights_count_in_fits_and_in_the_metric():
    generator = np.random.default_rng(0)
    X, w = generator.normal(size=(60, 2)), generator.uniform(0, 3, 60)
    y = (X[:, 0] + generator.normal(size=60) > 0).astype(int)
    folds, tree = KFold(5), DecisionTreeClassifier(max_depth=2, random_state=0)
    errors = []
    for train, test in folds.split(X):
        model = clone(tree).fit(X[train], y[train], sample_weight=w[train])
        errors.append(np.average(model.predict(X[test]) != y[test], weights=w[test]))
    found = error_interval(tree, X, y, split=folds, sample_weight=w)
    assert found.method == "corrected t"
    assert found.value == pytest.approx(np.mean(errors))
    same = error_interval(tree, X, y, split=folds, sample_weight=np.ones(60))
    without = error_interval(tree, X, y, split=folds, method="corrected t")
    assert (same.low, same.high) == pytest.approx((without.low, without.high))
    other = DecisionTreeClassifier(max_depth=2, random_state=0)
    difference = error_difference(tree, other, X, y, split=folds, sample_weight=w)
    assert difference.value == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_weight": [1.0]}, r"sample_weight of shape \(1,\), and the table has 60 rows"),
        ({"sample_weight": [-1.0] * 60}, "weights are finite numbers from 0"),
        ({"method": "CV Wald"}, "choose method='corrected t'"),
        ({"estimator": KNeighborsClassifier()}, "takes no sample_weight"),
    ],
)
def test_weights_that_do_not_suit_are_refused(change, message):
    X = np.random.default_rng(0).normal(size=(60, 2))
    arguments = {"estimator": DecisionTreeClassifier(), "sample_weight": np.ones(60)} | change
    with pytest.raises(MlautError, match=message):
        error_interval(X=X, y=X[:, 0] > 0, split=KFold(5), **arguments)


def test_a_splitter_that_parts_groups_is_told():
    groups = np.arange(len(Y)) // 2
    with pytest.warns(LeakWarning, match="groups have rows among .* 'kfold_by_role") as told:
        error_interval(KNN, X, Y, split=FOLDS, groups=groups)
    assert told[0].filename == __file__


def test_a_strategy_has_its_own_name_in_a_difference():
    wards = X.assign(ward=["north", "south"] * 89)
    trees = Generic_Estimator(TREE, name="trees"), Generic_Estimator(TREE, name="same")
    found = error_difference(*trees, wards, Y, split="kfold(2)")
    assert found.name == "misclassification of trees minus that of same"


def test_an_unknown_option_of_a_difference_is_told():
    with pytest.raises(AnalysisError, match=r"'weights' of error_difference; .*sample_weight"):
        error_difference(KNN, TREE, X, Y, weights=Y)


def test_groups_are_taken_in_every_form_of_a_column():
    names = [f"p{row % 9}" for row in range(len(Y))]
    forms = [
        names,
        np.array(names),
        pd.Series(names).to_frame(),
        pd.Series(names, dtype="category"),
    ]
    found = {error_interval(KNN, X, Y, split="group_kfold(3)", groups=form).value for form in forms}
    mixed = [0 if name == "p0" else name for name in names]
    error_interval(KNN, X, Y, split="group_kfold(3)", groups=mixed)
    assert len(found) == 1


def test_folds_of_groups_in_a_learner_get_the_groups():
    X = np.random.default_rng(0).normal(size=(60, 2))
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=GroupKFold(3))
    groups = np.arange(60) // 4
    found = error_interval(search, X, X[:, 0] > 0, split="group_kfold(5)", groups=groups)
    assert found.value < 0.2


def test_an_estimate_without_a_value_or_without_a_width_has_its_reason():
    X, line, constant = np.arange(40.0)[:, None], 2 * np.arange(40.0), np.ones(40)
    single = "the losses have no variation, so the interval is a single point, which is too narrow"
    for metric in ("rmse", "mse"):
        exact = error_interval(LinearRegression(), X, constant, metric)
        assert (exact.value, exact.standard_error, exact.low, exact.high) == (0, 0, 0, 0)
        assert exact.notes == (single,)
    none = error_interval(LinearRegression(), X, constant, "r2")
    assert np.isnan(none.value)
    reason = "no value, because of at least one test set: the truth of the test set is constant"
    assert none.notes == (reason,)
    assert str(none).endswith(f"Note: {reason}")
    noisy = line + np.random.default_rng(0).normal(size=40)
    assert error_interval(LinearRegression(), X, noisy, "rmse").notes == ()

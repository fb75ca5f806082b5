"""`error_interval` and `error_difference`: numbers of scikit-learn's folds, sentences, refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator, compare_learners, error_difference, error_interval
from mlaut.analysis import metric as find_metric
from mlaut.analysis.estimates.error_intervals import METHODS, Sample
from mlaut.data import LeakWarning
from mlaut.errors import AnalysisError, DataError, MlautError, StrategyError
from mlaut.estimators import Flatten
from mlaut.records import Split

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
    other = error_interval(Ridge(9), X, y, "rmse")
    apart = error_difference(Ridge(), Ridge(9), X, y, "rmse")
    assert apart.value == pytest.approx(root.value - other.value, rel=0.01)  # folds of 44 and 45
    assert apart.low < apart.value < apart.high


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
    same = error_difference(KNN, KNN, X, Y)  # learners that agree here may differ on other rows
    assert same.value == 0
    assert same.low == -same.high < 0


def test_a_constant_learner_gets_a_warning():
    (note,) = error_interval(DummyClassifier(), X, Y, "mcc").notes
    assert note.startswith("100 % of its predictions are the same, and stratified test sets")
    assert "'misclassification' or 'log_loss'" in note
    groups = np.arange(len(Y)) // 2
    for metric, how in (
        ("mcc", {"split": "group_kfold(5)", "groups": groups}),
        ("auc", {}),
        ("log_loss", {}),
        ("misclassification", {"method": "corrected t"}),  # its rows show how uncertain it is
    ):
        notes = error_interval(DummyClassifier(), X, Y, metric, **how).notes
        assert not any("stratified" in note for note in notes), metric


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
        ({"y": "target"}, DataError, r"targets of shape \(\); here one target is taken"),
        ({"y": np.c_[Y, Y]}, DataError, r"targets of shape \(178, 2\); here one target is taken"),
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
    variance = sum(part.var(ddof=1) / len(part) for part in parts)
    assert found.standard_error == pytest.approx(np.sqrt(variance))
    odds, t = (
        np.log(found.value / (1 - found.value)),
        stats.t.ppf(0.975, np.bincount(truth).min() - 1),
    )
    ends = odds + np.array([-t, t]) * found.standard_error / (found.value * (1 - found.value))
    assert (found.low, found.high) == pytest.approx(1 / (1 + np.exp(-ends)))
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
        ({"method": "CV Wald", "metric": "auc"}, "choose method='corrected t'"),
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
    reason = "no value, because of at least one test set: the truth of the test set is constant; "
    (note,) = none.notes
    assert note.startswith(reason)
    assert "repeated_holdout(1/3, 30)" in note
    assert str(none).endswith(f"Note: {note}")
    noisy = line + np.random.default_rng(0).normal(size=40)
    assert error_interval(LinearRegression(), X, noisy, "rmse").notes == ()


def test_r2_is_that_of_all_test_rows_and_not_of_ten():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:100], y[:100]
    mean = error_interval(DummyRegressor(), X, y, "r2")
    folds = KFold(10, shuffle=True, random_state=0)
    assert mean.value < 1.05  # of the mean over folds of ten rows: about 1.2
    for model in (Ridge(), DummyRegressor()):
        found = error_interval(model, X, y, "r2", split=folds)
        pooled = 1 - r2_score(y, cross_val_predict(model, X, y, cv=folds))
        assert found.value == pytest.approx(pooled)
        assert found.low < found.value < found.high


def heavy_table(n=100):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.standard_t(1.3, n) ** 3


def test_a_loss_that_few_rows_carry_is_told():
    X, y = heavy_table()
    (note,) = error_interval(Ridge(), X, y, "mse").notes
    assert note.startswith("half of the loss is that of ")
    assert error_interval(Ridge(), X, X.sum(axis=1) + np.sin(9 * X[:, 1]), "mse").notes == ()


def few_positives(n_positive, n=150):
    rng = np.random.default_rng(n_positive)
    y = (np.arange(n) < n_positive).astype(int)
    return (rng.normal(size=n) + y)[:, None], y


@pytest.mark.parametrize(
    ("positives", "note"), [(6, "no interval: it needs 3"), (15, "only 5"), (60, "")]
)
def test_few_positives_have_no_interval_or_a_note(positives, note):
    X, y = few_positives(positives)
    found = error_interval(LogisticRegression(), X, y, "auc", split="holdout(1/3)")
    assert all(note in text for text in found.notes)
    assert bool(found.notes) == bool(note)
    assert np.isnan(found.low) == ("no interval" in note)
    assert found.value == found.value


def test_areas_with_few_positives_are_covered():
    """Scores of a fixed model: nominal 95 %, with 4, 6 and 20 positives among the test rows."""
    rng, area = np.random.default_rng(0), find_metric("auc")
    truth = 1 - stats.norm.cdf(1 / np.sqrt(2))
    for positives in (4, 6, 20):
        n, covered = 8 * positives, 0
        y = (np.arange(n) < positives).astype(np.int32)
        split = Split(np.zeros((1, n), np.int16), "holdout")
        for _ in range(300):
            p = 1 / (1 + np.exp(-(rng.normal(size=n) + y)))
            parts = area.loss(area.influence(y, np.stack([1 - p, p], axis=-1)[None]))
            sample = Sample.of_points(parts[:, None], split, bounds=(0.0, 1.0), classes=y)
            ends = METHODS["hold-out"].compute(sample, 0.95)
            covered += bool(ends.low[0] <= truth <= ends.high[0])
        assert covered >= 0.93 * 300, positives


def test_weights_count_on_a_hold_out():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(90, 2)), rng.uniform(0.5, 2, 90)
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = error_interval(tree, X, y, split="holdout(1/3)", sample_weight=w)
    assert found.method == "hold-out"
    assert found.low < found.value < found.high
    same = error_interval(tree, X, y, split="holdout(1/3)", sample_weight=np.full(90, 3.0))
    assert same.value == pytest.approx(error_interval(tree, X, y, split="holdout(1/3)").value)


def test_two_learners_are_compared_as_by_their_difference():
    found = compare_learners({"tree": TREE, "knn": KNN}, X, Y, split=FOLDS)
    difference = error_difference(TREE, KNN, X, Y, split=FOLDS)
    row = found.pair_frame().iloc[0]
    assert (row.iloc[0], row["low"], row["high"]) == pytest.approx(
        (difference.value, difference.low, difference.high)
    )
    for name, learner in {"tree": TREE, "knn": KNN}.items():
        own, alone = found.one.ends, error_interval(learner, X, Y, split=FOLDS)
        place = found.results.strategies.index(name)
        assert (own.low[place], own.high[place]) == pytest.approx((alone.low, alone.high))


@pytest.mark.parametrize("split", ["kfold(10)", "holdout(1/3)"])
def test_learners_that_agree_on_all_rows_may_differ_on_others(split):
    same = error_difference(TREE, DecisionTreeClassifier(random_state=0), X, Y, split=split)
    assert same.value == 0
    assert -0.2 < same.low < 0 < same.high < 0.2


def test_several_learners_are_compared_in_a_sentence():
    learners = {"tree": TREE, "knn": KNN, "dummy": DummyClassifier()}
    found = compare_learners(learners, X, Y, name="wine")
    decision = found.decision()
    assert decision.answer().startswith("For new data like wine, ")
    assert repr(found).startswith(decision.answer())
    assert decision.answer() in found._repr_html_()
    assert decision.frame["verdict"]["dummy"] == "baseline"
    assert "No plan was stored" in decision.sentence()
    assert len(found.pair_frame()) == 3
    with pytest.raises(AnalysisError, match="of two or more estimators"):
        compare_learners([TREE], X, Y)


def test_learners_are_named_or_listed():
    listed = compare_learners([TREE, "GaussianNaiveBayes"], X, Y, split="kfold(3)")
    assert {*listed.decision().frame.index} == {"DecisionTreeClassifier", "GaussianNaiveBayes"}
    assert error_interval("GaussianNaiveBayes", X, Y, split="kfold(3)").value < 0.1
    with pytest.raises(StrategyError, match="no strategy, family or task is called 'GausianNaive"):
        error_interval("GausianNaiveBayes", X, Y)
    with pytest.raises(StrategyError, match=r"'Regression' names \d+ strategies; name one"):
        error_interval("Regression", X, Y)


def test_a_classifier_refuses_a_measured_target():
    with pytest.raises(DataError, match="178 numbers in 178 rows are no classes; take regressors"):
        error_interval(TREE, X, np.arange(len(Y)) / 3)


def test_learners_are_compared_over_groups_weights_and_time():
    groups, time = np.arange(len(Y)) // 2, np.arange(len(Y))
    pair = {"tree": TREE, "dummy": DummyClassifier()}
    how = {"groups": groups, "sample_weight": 1.0 + (np.arange(len(Y)) % 3)}
    by_group = compare_learners(pair, X, Y, split="group_kfold(5)", **how).decision()
    assert by_group.frame["verdict"].tolist() == ["use", "baseline"]
    mixed = np.random.default_rng(0).permutation(len(Y))
    later = compare_learners(pair, X.iloc[mixed], Y.iloc[mixed], split="time_series(4)", time=time)
    assert "If you must choose now, use tree." in later.decision().answer()


def test_the_error_of_a_learner_of_arrays_and_of_sparse_rows():
    X, y = np.random.default_rng(0).normal(size=(60, 2, 5)), np.arange(60) % 2
    learner = make_pipeline(Flatten(), GaussianNB())
    flat = error_interval(GaussianNB(), X.reshape(60, 10), y, seed=1)
    assert error_interval(learner, X, y, seed=1).value == flat.value
    table = sparse.csr_matrix(X.reshape(60, 10))
    dense = error_interval(Ridge(), table.toarray(), X[:, 0, 0], seed=1)
    assert error_interval(Ridge(), table, X[:, 0, 0], seed=1).value == pytest.approx(
        dense.value, rel=1e-2
    )


@pytest.mark.parametrize("function", [error_interval, compare_learners])
def test_words_of_scikit_learn_lead_to_the_options(function):
    for theirs, ours in (("cv", "split"), ("scoring", "metric"), ("random_state", "seed")):
        with pytest.raises(AnalysisError, match=f"{theirs!r} of {function.__name__}.*{ours!r}"):
            function(KNN, X, Y, **{theirs: 5})

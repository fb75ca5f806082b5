"""Intervals of one learner's error: published formulas by hand, choice of method, and a study."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from mlaut import Results, Study
from mlaut.analysis.estimates.error_intervals import (
    METHODS,
    Sample,
    chosen_method,
    error_intervals,
)
from mlaut.analysis.methods.cross_validation.repeated_cv import (
    retrained_estimates,
    retrained_mean_estimates,
)
from mlaut.data.splits.resampling import make_split
from mlaut.errors import AnalysisError
from mlaut.records import Split

N = 20
FLAT = np.zeros(N)


def drawn(scheme, seed=0):
    """Return a split of 20 rows and losses of its test points that vary by row and by fit."""
    rng = np.random.default_rng(seed)
    split = make_split(FLAT, "Regression", scheme)
    losses = rng.normal(size=split.folds.shape) + np.arange(N) / 10
    return split, np.where(split.folds >= 0, losses, np.nan)


def interval(method, split, points, confidence=0.95, **about):
    found = METHODS[method].compute(Sample.of_points(points[None], split, **about), confidence)
    return tuple(float(part[0]) for part in found)


def test_hold_out_is_wilson_for_shares_and_student_otherwise():
    split = make_split(FLAT, "Regression", "holdout(1/2)")
    losses = np.full((1, N), np.nan)
    losses[split.folds >= 0] = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    value, error, low, high = interval("hold-out", split, losses, bounds=(0, 1), zero_one=True)
    # Wilson 1927 for 2 of 10: 0.0567 to 0.5098, as printed in textbooks
    assert (value, round(low, 4), round(high, 4)) == (0.2, 0.0567, 0.5098)
    assert error == pytest.approx(np.sqrt(0.2 * 0.8 / 9))
    usual = interval("hold-out", split, losses)
    assert usual[2:] == pytest.approx((0.2 - 2.26216 * error, 0.2 + 2.26216 * error), abs=1e-5)


@pytest.mark.parametrize(
    "scheme", ["repeated_holdout(1/10, 8)", "kfold(5)", "repeated_kfold(4, 3)"]
)
def test_corrected_t_by_hand(scheme):
    split, points = drawn(scheme)
    means = [
        points[r, split.folds[r] == f].mean() for r, f in np.ndindex(split.n_repeats, split.n_folds)
    ]
    ratio = np.mean([len(test) / len(train) for train, test in split])
    j = len(means)
    of_sets = [
        points[r, rows].var(ddof=1) / rows.sum()
        for r, f in np.ndindex(split.n_repeats, split.n_folds)
        if (rows := split.folds[r] == f).any()
    ]
    variance = max(np.var(means, ddof=1), np.mean(of_sets))
    error = np.sqrt(variance * (1 / j + ratio))
    half = stats.t.ppf(0.975, j - 1) * error
    expected = (np.mean(means), error, np.mean(means) - half, np.mean(means) + half)
    assert interval("corrected t", split, points) == pytest.approx(expected)


def test_conservative_z_by_hand():
    split, points = drawn("paired_subsampling(1/10, 3, n_pairs=4)")
    means = np.nanmean(points, axis=1)
    halves = means[3:].reshape(4, 2, 3).mean(axis=2)
    error = np.sqrt(np.sum((halves[:, 0] - halves[:, 1]) ** 2) / (2 * 4))
    half = 1.959964 * error
    value = means[:3].mean()
    expected = (value, error, value - half, value + half)
    assert interval("conservative z", split, points) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("k", "repeats"), [(3, 1), (4, 3), (5, 2)])
def test_nested_cross_validation_by_hand(k, repeats):
    """Bates, Hastie and Tibshirani (2024), algorithm 1, fold by fold."""
    split, points = drawn(f"nested_cv({k}, {repeats})", seed=k)
    folds = make_split(FLAT, "Regression", f"repeated_kfold({k}, {repeats})").folds
    folds = folds if repeats > 1 else make_split(FLAT, "Regression", f"kfold({k})").folds
    pairs = list(combinations(range(k), 2))
    outer, inner, a, b = [], [], [], []
    for r in range(repeats):
        for fold in range(k):
            held_out = points[r * k + fold][folds[r] == fold]
            others = []
            for other in set(range(k)) - {fold}:
                pair = pairs.index(tuple(sorted((fold, other))))
                of_fit = points[repeats * k + r * len(pairs) + pair]
                others += of_fit[folds[r] == other].tolist()
            outer.append(held_out.mean())
            inner += others
            a.append((np.mean(others) - held_out.mean()) ** 2)
            b.append(held_out.var(ddof=1) / len(held_out))
    spread = np.std(inner, ddof=1)
    root = np.sqrt(max(0, np.mean(a) - np.mean(b)))
    inflation = np.clip(root / (spread / np.sqrt(N * (k - 1) // k)), 1, np.sqrt(k))
    bias = (1 + ((k - 2) / k) ** 1.5) * (np.mean(inner) - np.mean(outer))
    value, error = np.mean(inner) - bias, spread / np.sqrt(N) * inflation
    half = 1.644854 * error
    expected = (value, error, value - half, value + half)
    assert interval("nested CV", split, points, 0.9) == pytest.approx(expected, abs=1e-5)


def test_cv_wald_by_hand():
    split, points = drawn("kfold(5)")
    error = np.sqrt(np.mean((points - points.mean()) ** 2) / N)  # Bayle et al., all pairs
    half = 1.959964 * error
    expected = (points.mean(), error, points.mean() - half, points.mean() + half)
    assert interval("CV Wald", split, points) == pytest.approx(expected, abs=1e-6)


def test_the_inflated_variance_of_one_and_of_several_repeats():
    split = make_split(FLAT, "Regression", "kfold(5)")
    right = np.zeros((1, N))
    right[0, :4] = 1
    about = {"bounds": (0, 1), "zero_one": True}
    plain = interval("CV Wald", split, right, **about)
    wider = interval("inflated CV Wald", split, right, **about)
    assert wider[1] == pytest.approx(plain[1] * np.sqrt(1.45 * N / (N - 1)))
    assert plain[2] > wider[2] > 0
    twice = make_split(FLAT, "Regression", "repeated_kfold(5, 2)")
    same = interval("inflated CV Wald", twice, np.repeat(right, 2, axis=0), **about)
    assert same[1] == pytest.approx(plain[1] * np.sqrt(1.1 * N / (N - 1)))  # no loss depends on it
    other = np.stack([right[0], np.roll(right[0], 1)])
    variance = right.var(ddof=1)
    share = 2 * (variance - other.mean(axis=0).var(ddof=1)) / variance
    found = interval("inflated CV Wald", twice, other, **about)
    assert found[1] == pytest.approx(np.sqrt(variance * (1.1 + 1.5 * share) / N))


def test_the_inflated_variance_of_random_splits_counts_how_often_rows_are_tested():
    split, points = drawn("repeated_holdout(1/4, 6)")
    tests = np.isfinite(points).sum(axis=0)
    worth = tests.sum() ** 2 / (tests**2).sum()
    used = points[np.isfinite(points)]
    value, error, _, _ = interval("inflated CV Wald", split, points)
    assert value == pytest.approx(used.mean())
    assert error == pytest.approx(np.sqrt(1.45 * used.var() / (worth - 1)))
    points[0, np.flatnonzero(split.folds[0] >= 0)[0]] = np.nan  # a failed cell is not left out
    assert np.isnan(interval("inflated CV Wald", split, points)).all()


def test_halls_interval_solves_his_equation():
    split, points = drawn("kfold(5)")
    points = np.exp(points)
    value, _, low, high = interval("inflated CV Wald", split, points)
    s, g = points.std(ddof=1), stats.skew(points[0]) * ((N - 1) / N) ** 1.5
    t = stats.t.ppf(0.975, N - 1) * np.sqrt(1.45 / N)
    for end, expected in ((low, t), (high, -t)):
        x = (value - end) / s
        assert x + g * x**2 / 3 + g**2 * x**3 / 27 + g / (6 * N) == pytest.approx(expected)
    assert high - value > value - low  # skewed to the right


@pytest.mark.parametrize("method", METHODS)
def test_no_error_at_all_leaves_room_for_some(method):
    scheme = {"hold-out": "holdout", "conservative z": "paired_subsampling(1/10, 2, n_pairs=2)"}
    scheme |= {"nested CV": "nested_cv(4, 2)"}
    split = make_split(np.zeros(200), "Regression", scheme.get(method, "kfold(10)"))
    points = np.where(split.folds >= 0, 0.0, np.nan)
    found = METHODS[method].compute(
        Sample.of_points(points[None], split, bounds=(0, 1), zero_one=True), 0.95
    )
    assert found.low[0] == 0
    assert 0.015 < found.high[0] < 0.06


@pytest.mark.parametrize(
    ("scheme", "kind", "by_points", "by_sets"),
    [
        ("holdout", "hold-out", "hold-out", None),
        ("kfold(5)", "k-fold", "inflated CV Wald", "corrected t"),
        ("repeated_kfold(5, 2)", "repeated k-fold", "inflated CV Wald", "corrected t"),
        ("repeated_holdout(1/10, 5)", "repeated hold-out", "inflated CV Wald", "corrected t"),
        ("nested_cv(3, 2)", "nested_cv", "nested CV", None),
        ("paired_subsampling(1/10, 2)", "paired_subsampling", "conservative z", "conservative z"),
    ],
)
def test_each_split_has_a_default(scheme, kind, by_points, by_sets):
    split = make_split(FLAT, "Regression", scheme)
    assert split.kind == kind
    assert chosen_method(None, split, by_points=True).name == by_points
    if by_sets is None:
        with pytest.raises(AnalysisError, match="means over test points"):
            chosen_method(None, split, by_points=False)
    else:
        assert chosen_method(None, split, by_points=False).name == by_sets


def test_splits_by_group_and_time():
    codes = np.array([[0, 0, 1, 1]], dtype=np.int16)
    groups = Split(codes, "group_kfold(n_folds=2)")
    assert chosen_method(None, groups, by_points=True).name == "corrected t"
    with pytest.raises(
        AnalysisError, match="'CV Wald' is for k-fold, and the split is group_kfold"
    ):
        chosen_method("CV Wald", groups, by_points=True)
    named = ("time_series(n_folds=2)", "group_time_series(n_folds=2)", "blocked_time_series(2)")
    for scheme in (*named, "TimeSeriesSplit(n_splits=2)", "MyTimeSeriesSplit()"):
        with pytest.raises(AnalysisError, match="no published interval is valid for"):
            chosen_method(None, Split(codes, scheme), by_points=True)


# ------------------------------------------------------------------- a study

TREE = ("tree", DecisionTreeClassifier(random_state=0))
QUIET = {"engine": "inline", "verbose": 0}


@pytest.fixture
def study(tmp_path):
    made = Study(tmp_path / "study.h5")
    made.add_datasets("starter/iris")
    return made


@pytest.mark.parametrize(
    ("scheme", "method", "n_fits", "n_main"),
    [
        ("nested_cv(3, 2)", "nested CV", 12, 6),
        ("paired_subsampling(1/10, 2, n_pairs=2)", "conservative z", 10, 2),
    ],
)
def test_schemes_of_intervals_are_splits_of_a_study(study, scheme, method, n_fits, n_main):
    with pytest.raises(KeyboardInterrupt):
        study.run([("tree", Stopping(random_state=0))], split=scheme, **QUIET)
    Stopping.left = 10**6
    report = study.run([("tree", Stopping(random_state=0))], split=scheme, **QUIET)
    assert (report.n_before, report.n_done) == (3, n_fits)  # resumed after three fits
    results = study.results("accuracy")
    assert results.cells.shape == (1, 1, n_main, 1)  # the others serve the interval only
    row = error_intervals(results).frame.loc[("iris", "tree")]
    assert row["method"] == method
    whole = results.load_block("iris").whole
    sample = Sample.of_points(
        results.metric.point_losses(whole), whole.split, bounds=(0, 1), zero_one=True
    )
    expected = METHODS[method].compute(sample, 0.95)
    assert row["low"] == expected.low[0] < row["value"] < row["high"] == expected.high[0]


class Stopping(DecisionTreeClassifier):
    """Tree whose fourth fit is stopped by hand."""

    left = 3

    def fit(self, X, y):
        if type(self).left == 0:
            raise KeyboardInterrupt
        type(self).left -= 1
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _three_fits():
    Stopping.left = 3


def test_intervals_of_a_study_name_method_and_constant_learners(study):
    constant = ("constant", DummyClassifier(strategy="constant", constant="Iris-setosa"))
    study.run([TREE, constant], split="kfold(5)", **QUIET)
    table = error_intervals(study.results("accuracy"), as_scores=True)
    frame = table.frame.loc["iris"]
    assert frame["method"].tolist() == ["inflated CV Wald"] * 2
    assert frame["note"].tolist() == ["", ""]
    assert frame.loc["constant", "value"] == pytest.approx(1 / 3)  # of accuracy
    assert (frame["low"] < frame["value"]).all()
    assert any("trained on about 150 such rows" in note for note in table.notes)
    by_sets = error_intervals(study.results("accuracy"), method="corrected t").frame.loc["iris"]
    assert by_sets.loc["tree", "note"] == ""
    assert by_sets.loc["constant", "note"] == ""  # its rows show how uncertain it is
    again = retrained_estimates(study.results("accuracy")).frame.loc["iris"]
    ends = ["standard_error", "low", "high"]
    np.testing.assert_allclose(
        again.loc[by_sets.index, ends].astype(float), by_sets[ends].astype(float)
    )
    areas = error_intervals(study.results("pr_auc")).frame
    assert areas["method"].unique().tolist() == ["corrected t"]


def test_folds_that_are_too_alike_are_as_uncertain_as_their_points(study):
    constant = ("constant", DummyClassifier(strategy="constant", constant="Iris-setosa"))
    study.run([TREE, constant], split="kfold(5)", **QUIET)
    results = study.results("accuracy")
    row = retrained_estimates(results).frame.loc[("iris", "constant")]
    # each stratified test set has 20 errors in 30 rows, so that losses of test sets do not vary
    of_points = 1 / 3 * 2 / 3 * 30 / 29 / 30
    assert row["standard_error"] == pytest.approx(np.sqrt(of_points * (1 / 5 + 1 / 4)))
    assert row["low"] < 2 / 3 < row["high"]
    mean = retrained_mean_estimates(results, as_scores=True).frame.loc["constant"]
    assert (mean["value"], mean["standard_error"]) == pytest.approx((1 / 3, row["standard_error"]))


def test_a_dataset_that_some_strategies_have_not_run_has_gaps(tmp_path):
    study = Study(tmp_path / "study.h5")
    learners = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=1))]
    for names, asked in ((["iris", "wine"], learners), (["zoo"], learners[:1])):
        study.add_datasets([f"starter/{name}" for name in names])
        study.run(asked, split="kfold(2)", engine="inline", verbose=0)
    results = study.results("log_loss")
    found = error_intervals(results).frame["value"].unstack()
    assert found.isna().stack().to_numpy().nonzero()[0].tolist() == [5]
    assert results.points("zoo").shape[0] == 2
    assert not np.isnan(results.points("zoo")[0]).any()
    assert np.isnan(results.points("zoo")[1]).all()
    report = study.report(tmp_path / "report.html", metric="accuracy")
    assert "zoo" in report.sections[0].tables["estimates by dataset"].index
    study.report(tmp_path / "report.html", metric="auc", datasets=["iris", "zoo"])


def test_results_of_a_table_have_no_predictions():
    table = Results.from_table(pd.DataFrame({"A": [0.5]}, index=["x"]), metric="accuracy")
    with pytest.raises(AnalysisError, match="these results come from a table"):
        error_intervals(table)


def test_a_root_over_points_is_told_from_the_mean_of_roots(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"])
    made = Study(tmp_path / "r.h5")
    made.add_datasets(table, name="d", target="y", task="Regression")
    made.run([("mean", DummyRegressor())], split="kfold(4)", **QUIET)
    row = error_intervals(made.results("rmse")).frame.loc[("d", "mean")]
    assert row["value"] != pytest.approx(made.results("rmse").losses.loc["d", "mean"], rel=1e-6)
    assert row["note"].startswith("the root over all test points; the tables of scores have the")
    assert error_intervals(made.results("mse")).frame.loc[("d", "mean"), "note"] == ""

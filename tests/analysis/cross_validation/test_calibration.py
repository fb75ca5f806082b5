import sys
from pathlib import Path

import numpy as np
import pytest

from mlaut.analysis.methods.cross_validation.repeated_cv import cv_p_values
from mlaut.errors import AnalysisError

sys.path.append(str(Path(__file__).parents[3] / "examples" / "studies" / "bouckaert2003"))
from measures import calibrate, calibration_plot, rejection_rates, replicability


@pytest.fixture(scope="module")
def null_differences() -> np.ndarray:
    """Return accuracy differences on 1,000 datasets on which neither learner is better.

    As Bouckaert (2003), section 4: 300 rows, ten independent fair binary attributes, an independent
    fair class; naive Bayes against an unpruned tree, stratified 10 x 10-fold cross-validation; made
    by benchmarks/null_differences.py. Stored are differences of correct answers, of 30.
    """
    with np.load(Path(__file__).parents[1] / "data" / "bouckaert_null_differences.npz") as stored:
        return stored["correct"] / 30


def test_use_all_data_at_10_df_has_a_type_i_error_of_5_percent(null_differences):
    rate = rejection_rates(null_differences, ["use all data"], df=10).frame.loc[
        "use all data", 0.05
    ]
    assert rate == pytest.approx(0.05, abs=0.02)


def test_default_degrees_of_freedom_reject_far_too_often(null_differences):
    rates = rejection_rates(null_differences, df="default").frame[0.05]
    assert rates["use all data"] > 0.4
    assert rates["folds"] > 0.4
    assert rates["runs"] > 0.3
    assert 0.07 < rates["k-fold"] < 0.14


def test_what_can_be_calibrated_and_where(null_differences):
    best = calibrate(null_differences).best().xs(0.05, level="level")
    good = best.index[best["calibratable"].astype(bool)]
    # The four that the paper leaves out as "low or erratic" are the others.
    assert set(best.index) - set(good) == {
        "folds",
        "runs",
        "sorted runs, averaged var",
        "sorted runs, averaged T",
    }
    assert best.loc["use all data", "df"] in range(9, 13)
    assert best.loc["k-fold", "df"] in range(5, 9)
    assert (best.loc[good, "df"].drop("k-fold").between(8, 12)).all()


def test_the_corrected_test_holds_its_level_too(null_differences):
    rates = rejection_rates(null_differences, ["corrected repeated k-fold"], df="default").frame
    assert rates.loc["corrected repeated k-fold", 0.05] == pytest.approx(0.04, abs=0.02)


@pytest.mark.slow
def test_the_level_holds_on_datasets_drawn_and_learnt_afresh():
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(7)
    x, tree = np.zeros((60, 10, 10)), DecisionTreeClassifier(min_samples_leaf=2)
    for table in x:
        rows, labels = rng.random((300, 10)) < 0.5, rng.random(300) < 0.5
        for run in range(10):
            folds = StratifiedKFold(10, shuffle=True, random_state=int(rng.integers(2**31)))
            for fold, (train, test) in enumerate(folds.split(rows, labels)):
                for sign, model in ((1, BernoulliNB()), (-1, tree)):
                    said = model.fit(rows[train], labels[train]).predict(rows[test])
                    table[fold, run] += sign * (said == labels[test]).mean()
    rates = rejection_rates(x, ["use all data"], df=10).frame
    assert rates.loc["use all data", 0.05] == pytest.approx(0.05, abs=0.06)


def test_rates_are_those_of_counting():
    x = np.random.default_rng(0).normal(size=(500, 5, 4))
    calibration = calibrate(x, ["use all data", "k-fold"], levels=[0.1], df=[3, 19])
    known = (cv_p_values(x, "use all data", 19) <= 0.1).mean()
    assert calibration.rates.loc[("use all data", 19), 0.1] == known
    best = calibration.best().loc[("use all data", 0.1)]
    assert (best["df"], best["default df"], best["default type I error"]) == (19, 19, known)
    assert best["standard error"] == pytest.approx(np.sqrt(0.1 * 0.9 / 500))


def test_random_splits_are_calibrated_by_the_resampling_tests():
    x = np.random.default_rng(1).normal(size=(2000, 10))
    calibration = calibrate(x, levels=[0.05], df=range(5, 20), test_to_train=1e-9)
    assert set(calibration.rates.index.unique(0)) == {"resampling", "corrected resampling"}
    assert calibration.best()["df"].between(8, 10).all()


def test_what_is_shown():
    x = np.random.default_rng(2).normal(size=(100, 5, 2))
    calibration = calibrate(x, ["k-fold"], levels=[0.05], df=[4])
    assert calibration.title() == (
        "Calibrated degrees of freedom, 5 folds x 2 runs, 100 null datasets"
    )
    assert "at level 0.05 (reached): k-fold 4" in calibration.sentence()
    assert "a rate of 5 % has a standard error of 2.2 points" in repr(calibration)


def test_replicability_counts_repetitions_that_agree():
    strong, none, split = (np.zeros((4, 10, 10)) for _ in range(3))
    noise = np.random.default_rng(3).normal(0, 0.01, size=(4, 10, 10))
    strong += 1 + noise
    none += noise - noise.mean(axis=(1, 2), keepdims=True)
    split += none
    split[0] += 1
    all_alike, pairs_alike = replicability(np.stack([strong, none, split]))
    assert all_alike == pytest.approx(2 / 3)
    assert pairs_alike == pytest.approx((1 + 1 + 3 / 6) / 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrate(np.zeros((1, 10, 10))), "two datasets or more"),
        (lambda: calibrate(np.zeros(10)), "expected \\(datasets, folds, runs\\)"),
        (lambda: calibrate(np.zeros((5, 10, 10)), levels=[5]), "levels = 5 is not between 0 and 1"),
        (lambda: calibrate(np.zeros((5, 2, 5)), ["5x2cv F"]), "no degrees of freedom to calibrate"),
        (lambda: calibrate(np.full((5, 10, 10), np.nan)), "a difference is missing"),
        (lambda: calibrate(np.zeros((5, 10, 10)), ["use all"]), "did you mean"),
        (lambda: replicability(np.zeros((5, 1, 10, 10))), "two or more repetitions"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()


@pytest.fixture(scope="module")
def calibration():
    shared = np.random.default_rng(0).normal(size=(400, 1, 1)) / 5
    return calibrate(np.random.default_rng(1).normal(size=(400, 10, 10)) + shared)


def test_a_calibration_is_drawn_with_what_is_best(calibration, assert_readable):
    figure = calibration_plot(calibration)
    names = list(calibration.rates.index.unique("test"))
    best = calibration.best().xs(0.05, level="level")
    marks = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    for line, name in zip(marks, names, strict=True):
        good = bool(best.loc[name, "calibratable"])
        assert line.get_xdata()[0] == best.loc[name, "df"]
        assert (line.get_markerfacecolor() != "white") == good
        told = f"df {best.loc[name, 'df']:g}" if good else "not calibratable"
        assert line.get_label() == f"{name}: {told}"
    assert_readable(figure)


def test_a_calibration_is_drawn_for_what_was_measured(calibration):
    figure = calibration_plot(calibration, level=0.1, tests=["k-fold"])
    assert figure.axes[0].get_ylabel() == "type I error at level 0.1"
    with pytest.raises(
        AnalysisError, match=r"level 0\.2 was not measured, only 0\.01, 0\.05, 0\.1"
    ):
        calibration_plot(calibration, level=0.2)
    with pytest.raises(AnalysisError, match="test 'folds of mine' was not measured"):
        calibration_plot(calibration, tests=["folds of mine"])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "measure",
    [
        calibrate,
        lambda x: rejection_rates(x, df=3),
        lambda x: replicability(np.stack([x, x, x], axis=1), df=3),
    ],
)
def test_a_gap_in_the_differences_is_one_line(measure, bad):
    x = np.random.default_rng(0).normal(size=(4, 5, 2))
    x[0, 0, 0] = bad
    with pytest.raises(AnalysisError) as error:
        measure(x)
    assert "\n" not in str(error.value)

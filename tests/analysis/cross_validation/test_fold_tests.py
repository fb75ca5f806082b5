import numpy as np
import pandas as pd
import pytest

from mlaut.analysis.methods.cross_validation.fold_tests import (
    cv_differences,
    cv_test,
    cv_test_datasets,
)
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_p_values
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, MissingCellsError

TINY = np.array([[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]])


def test_one_test_says_all_of_itself():
    result = cv_test(TINY, strategies=["forest", "tree"], metric="error")
    assert result.statistic == pytest.approx(3.66808163)
    assert (result.df, result.scenario, result.n, result.ties) == (10, "(b)", 12, 1)
    assert result.p_value == pytest.approx(0.00433083, abs=6e-9)
    assert result.effect.value == pytest.approx(TINY.mean())
    assert "10 df held the level 5 %" in result.notes[0]
    assert result.notes[1] == "measured with 10 folds x 10 runs, and used for 4 x 3"
    assert result.sentence() == (
        "Use all data test of forest against tree on error (12 test sets, 1 tie): Z(10) = 3.668, "
        "p = 0.00433, mean difference 0.04583, 95 % interval [0.01799, 0.07367] "
        "(use all data test, 10 df, quantile 2.228), scenario (b)."
    )


@pytest.mark.parametrize(
    ("first", "second", "t", "quantile", "ends"),
    [
        (
            [0.12, 0.15, 0.14, 0.16, 0.11],
            [0.13, 0.16, 0.13, 0.14, 0.17],
            -0.725,
            2.776,
            (-0.0483, 0.0283),
        ),
        (
            [0.305, 0.322, 0.207, 0.206, 0.31, 0.41, 0.277, 0.26, 0.215, 0.26],
            [0.224, 0.145, 0.224, 0.196, 0.207, 0.204, 0.221, 0.194, 0.162, 0.35],
            2.344,
            2.262,
            (0.0023, 0.1267),
        ),
    ],
)
def test_the_examples_of_the_k_fold_page(first, second, t, quantile, ends):
    """Comparing Learning Algorithms, examples 1 and 2: the page's quantiles are 2.77 and 2.26."""
    result = cv_test(np.subtract(first, second), "k-fold", df="default")
    assert result.statistic == pytest.approx(t, abs=6e-4)
    assert result.effect.quantile == pytest.approx(quantile, abs=6e-4)
    assert (result.effect.low, result.effect.high) == pytest.approx(ends, abs=6e-5)
    assert f"k-fold test, {len(first) - 1} df, quantile {quantile}" in result.sentence()


@pytest.mark.parametrize("name", list(CV_TESTS))
@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_that_of_the_test_beside_it(name, seed):
    """It holds 0 where the test does not reject; a test of something else than a mean has none."""
    test, rng = CV_TESTS[name], np.random.default_rng(seed)
    shape = (10,) if test.resampling else (2, 5) if "5x2" in name else (10, 10)
    x = rng.normal(rng.choice([0.0, 0.3, 0.9]), 1, shape)
    df = "calibrated" if test.calibratable else "default"
    result = cv_test(x, name, df, test_to_train=0.1 if test.resampling else None)
    if test.of_mean:
        assert (result.effect.low <= 0 <= result.effect.high) == (result.p_value >= 0.05)
        by_hand = abs(result.effect.value / result.statistic)
        assert result.effect.standard_error == pytest.approx(by_hand)
    else:
        assert np.isnan([result.effect.low, result.effect.high]).all()
        assert "interval" not in result.sentence()


@pytest.mark.parametrize(("name", "df"), [("k-fold", 6), ("folds, averaged var", 11)])
def test_the_note_of_the_calibration_names_the_df_in_use(name, df):
    x = np.random.default_rng(0).normal(size=(10, 10))
    assert any(f": {df} df held the level" in note for note in cv_test(x, name).notes)


def test_the_default_df_come_with_a_warning_and_the_corrected_test_without():
    assert "p is too small" in cv_test(TINY, df="default").notes[0]
    assert cv_test(TINY, "corrected repeated k-fold").notes == ()
    assert "no df can put right" in cv_test(TINY, "folds", df="default").notes[-1]
    assert cv_test(TINY, "k-fold").notes[0] == "only the first of 3 runs is used"
    assert "degrees of freedom were given" in cv_test(TINY, df=10).notes[0]


def test_constant_differences_are_said_and_p_is_not_0():
    result = cv_test(np.full((10, 10), 0.02))
    assert 0 < result.p_value < 1e-300
    assert any("do not vary" in note for note in result.notes)
    assert cv_test(np.zeros((10, 10))).p_value == 1


def test_f_has_two_degrees_of_freedom():
    x = np.random.default_rng(0).normal(size=(2, 5))
    result = cv_test(x, "5x2cv F")
    assert (result.df, result.statistic_name) == ((10.0, 5.0), "F")
    assert "7.3 % at level 5 %" in result.notes[0]


def _results(repeats: int = 3, folds: int = 4, **sizes: int) -> Results:
    rng = np.random.default_rng(2)
    index = pd.MultiIndex.from_product([["iris", "wine"], range(repeats), range(folds)])
    losses = rng.random((len(index), 3)) + np.array([0, 0.3, 0.6])
    table = pd.DataFrame(losses, index=index, columns=["A", "B", "C"])
    return Results.from_table(table, greater_is_better=False, **sizes)


def test_a_study_in_another_scheme_than_was_calibrated_is_told_so():
    folds = pd.MultiIndex.from_product([["iris", "wine"], range(4)])
    table = pd.DataFrame(np.random.default_rng(0).random((8, 2)), folds, ["A", "B"])
    results = Results.from_table(table, greater_is_better=False)
    told = "measured with 10 folds x 10 runs, and used for 4 x 1"
    assert cv_test_datasets(results).notes[-1] == told
    assert told not in cv_test_datasets(results, df="default").notes
    assert told not in cv_test_datasets(results, test="corrected repeated k-fold").notes


@pytest.mark.parametrize("test", ["use all data", "folds, averaged var", "k-fold"])
def test_every_dataset_and_pair_of_a_study(test):
    results = _results()
    table = cv_test_datasets(results, test=test)
    losses = results.fold_losses
    assert len(table.frame) == 6
    for (dataset, first, second), row in table.frame.iterrows():
        here = losses.loc[dataset]
        x = (here[first] - here[second]).to_numpy().reshape(3, 4).T
        assert row["p_value"] == pytest.approx(float(cv_p_values(x, test)))
        assert row["low"] == pytest.approx(cv_test(x, test).effect.low)
    assert (table.scenario, table.metric) == ("(b)", "loss")


def test_the_ratio_of_test_to_training_rows_is_that_of_the_study():
    given = cv_test_datasets(
        _results(n_test=30, n_train=60), test="corrected repeated k-fold"
    ).frame
    usual = cv_test_datasets(_results(), test="corrected repeated k-fold").frame
    assert (given["p_value"] > usual["p_value"]).all()


def test_random_splits_of_a_study():
    results = _results(repeats=10, folds=1, n_test=20, n_train=80)
    frame = cv_test_datasets(results, test="corrected resampling").frame
    rows = results.fold_losses.loc["wine"]
    x = (rows["A"] - rows["C"]).to_numpy()
    p = cv_p_values(x, "corrected resampling", test_to_train=0.25)
    assert frame.loc[("wine", "A", "C"), "p_value"] == pytest.approx(float(p))


def test_bad_studies_are_named():
    with pytest.raises(
        AnalysisError, match=r"dataset 'iris': .* random splits, cv_test computes 'corrected"
    ):
        cv_test_datasets(_results(repeats=10, folds=1))
    with pytest.raises(AnalysisError, match="one table of differences"):
        cv_test(np.zeros((2, 3, 4)))
    index = pd.MultiIndex.from_product([["iris"], range(2), range(2)])
    gaps = pd.DataFrame({"A": [1, 2, 3, np.nan], "B": [1, 2, 3, 4]}, index=index)
    with pytest.raises(MissingCellsError, match="1 of 8 cells"):
        cv_test_datasets(Results.from_table(gaps, greater_is_better=False))
    single = pd.DataFrame({"A": [1.0, 2.0]}, index=["iris", "wine"])
    with pytest.raises(AnalysisError, match="at least 2 strategies"):
        cv_test_datasets(Results.from_table(single, greater_is_better=False))


def test_differences_have_the_place_of_their_fold_and_run():
    places = pd.MultiIndex.from_product([["iris", "wine"], range(3), range(2)])
    table = pd.DataFrame({"A": np.arange(12.0), "B": np.zeros(12)}, index=places)
    found = cv_differences(Results.from_table(table, greater_is_better=False))
    assert found.shape == (2, 2, 3)
    assert found[1, 1, 2] == table.loc[("wine", 2, 1), "A"]

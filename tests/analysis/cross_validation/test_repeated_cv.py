from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis.methods.cross_validation.repeated_cv import (
    cv_interval,
    cv_p_values,
    cv_statistic,
)
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS
from mlaut.errors import AnalysisError

# Four folds x three runs, small enough for paper; Z and p from the formulas of Bouckaert (2003),
# Table 1, computed apart from this package: default df, then df = 10.
TINY = np.array([[0.10, 0.02, 0.06], [0.00, 0.08, 0.04], [0.06, -0.02, 0.10], [0.04, 0.08, -0.01]])
TINY_RESULTS = {
    "k-fold": (3, 2.40192231, 0.09570892, 3.98313753, 0.00258782),
    "use all data": (11, 3.83118631, 0.00278868, 3.66808163, 0.00433083),
    "folds": (2, 15.25425540, 0.00427001, None, None),
    "folds, averaged var": (3, 2.01234477, 0.13767089, 3.33709627, 0.00752726),
    "folds, averaged T": (3, 2.03737031, 0.13438639, 3.37859645, 0.00701916),
    "runs": (3, 8.88330138, 0.00300803, None, None),
    "runs, averaged var": (2, 1.67670459, 0.23559485, 3.21064486, 0.00932184),
    "runs, averaged T": (2, 1.76535209, 0.21954799, 3.38039189, 0.00699799),
    "sorted runs": (3, 2.05592513, 0.13201093, 3.40936612, 0.00666537),
    "sorted runs, averaged var": (2, 7.10046947, 0.01926344, None, None),
    "sorted runs, averaged T": (2, 6.81698730, 0.02084808, None, None),
    "corrected repeated k-fold": (11, 1.71335860, 0.11465119, None, None),
}
# Benavoli et al. (2017), supplementary data: accuracy in percent of WEKA's classifiers.
FOLDS = pd.read_csv(Path(__file__).parents[1] / "data" / "benavoli2017_folds.csv")


def fold_differences(dataset: str, first: str, second: str) -> np.ndarray:
    """Return 10 folds x 10 runs."""
    rows = FOLDS[FOLDS["dataset"] == dataset]
    return (rows[first] - rows[second]).to_numpy().reshape(10, 10).T / 100


@pytest.mark.parametrize("test", TINY_RESULTS)
def test_the_tiny_case(test):
    df, z, p, z_at_10, p_at_10 = TINY_RESULTS[test]
    statistic, used = cv_statistic(TINY, test, "default")
    assert used == df
    assert statistic == pytest.approx(z, abs=6e-9)
    assert cv_p_values(TINY, test, "default") == pytest.approx(p, abs=6e-9)
    if z_at_10 is not None:
        assert cv_statistic(TINY, test, 10)[0] == pytest.approx(z_at_10, abs=6e-9)
        assert cv_p_values(TINY, test, 10) == pytest.approx(p_at_10, abs=6e-9)


def test_squash_unstored_nbc_against_aode():
    x = fold_differences("d46_squash-unstored", "nbc", "aode")
    assert cv_statistic(x)[0] == pytest.approx(-1.19184253, abs=6e-9)
    assert cv_p_values(x) == pytest.approx(0.26083967, abs=6e-9)
    assert cv_statistic(x, "corrected repeated k-fold")[0] == pytest.approx(-1.03259625, abs=6e-9)
    assert cv_p_values(x, "corrected repeated k-fold") == pytest.approx(0.30430884, abs=6e-9)
    assert cv_p_values(x, df="default") == pytest.approx(0.00051033, abs=6e-9)


@pytest.mark.parametrize(
    ("dataset", "published"), [("d01_anneal", 0.001), ("d02_audiology", 0.622)]
)
def test_published_p_values_of_the_corrected_test(dataset, published):
    # Benavoli et al. (2017), notebook: correlated t-test, rho = 1/10, nbc against aode.
    p = cv_p_values(fold_differences(dataset, "nbc", "aode"), "corrected repeated k-fold")
    assert p == pytest.approx(published, abs=5e-4)


def test_examples_of_comparing_learning_algorithms():
    # "Comparing Learning Algorithms", examples 1 and 2 (K-fold CV paired t-test).
    one = [-0.01, -0.01, 0.01, 0.02, -0.06]
    assert cv_statistic(one, "k-fold", "default")[0] == pytest.approx(-0.7254762501)
    assert cv_p_values(one, "k-fold", "default") == pytest.approx(0.5083296622)
    a = [0.305, 0.322, 0.207, 0.206, 0.31, 0.41, 0.277, 0.26, 0.215, 0.26]
    b = [0.224, 0.145, 0.224, 0.196, 0.207, 0.204, 0.221, 0.194, 0.162, 0.35]
    two = np.subtract(a, b)
    assert cv_statistic(two, "k-fold", "default")[0] == pytest.approx(2.3444214193)
    assert cv_p_values(two, "k-fold", "default") == pytest.approx(0.0437026331)
    corrected = "corrected repeated k-fold"
    assert cv_statistic(two, corrected)[0] == pytest.approx(1.6135414812)
    assert cv_p_values(two, corrected) == pytest.approx(0.1410848278)


@pytest.mark.parametrize("test", [t for t in CV_TESTS if not CV_TESTS[t].resampling])
def test_many_tables_at_once_are_the_tables_one_by_one(test):
    shape = (2, 5) if test.startswith("5x2cv") else (6, 4)
    x = np.random.default_rng(0).normal(0.2, 1, size=(3, 2, *shape))
    p = cv_p_values(x, test, "default")
    assert p.shape == (3, 2)
    assert p[2, 1] == pytest.approx(float(cv_p_values(x[2, 1], test, "default")))


def test_resampling_and_its_correction():
    x = np.random.default_rng(1).normal(0.4, 1, size=10)
    plain = stats.ttest_1samp(x, 0)
    assert cv_p_values(x, "resampling", "default") == pytest.approx(plain.pvalue)
    z, df = cv_statistic(x, "corrected resampling", test_to_train=1 / 2)
    assert df == 10
    assert z == pytest.approx(x.mean() / np.sqrt(x.var(ddof=1) * (1 / 11 + 1 / 2)))
    assert cv_statistic(np.tile(x, 10), "resampling")[1] == 11


def test_five_by_two_by_hand():
    # Dietterich (1998) and Alpaydin (1999): p_i^(j), s_i^2 = sum over the two folds.
    x = np.random.default_rng(2).normal(0.5, 1, size=(2, 5))
    s2 = ((x - x.mean(axis=0)) ** 2).sum(axis=0)
    t, df = cv_statistic(x, "5x2cv t")
    assert (df, float(t)) == (5, pytest.approx(x[0, 0] / np.sqrt(s2.mean())))
    f = (x**2).sum() / (2 * s2.sum())
    assert cv_statistic(x, "5x2cv F")[0] == pytest.approx(f)
    assert cv_p_values(x, "5x2cv F") == pytest.approx(stats.f.sf(f, 10, 5))
    assert cv_p_values(x, "5x2cv t") == pytest.approx(2 * stats.t.sf(abs(t), 5))


@pytest.mark.parametrize(
    ("test", "low", "high"),
    [
        ("k-fold", 0.044, 0.056),
        # the first difference is in its own variance, the squares are in both sums
        ("5x2cv t", 0.02, 0.035),
        ("5x2cv F", 0.01, 0.025),
        # it allows for a correlation that is not there
        ("corrected repeated k-fold", 0.0, 0.01),
    ],
)
def test_type_i_error_for_independent_differences(test, low, high):
    shape = (2, 5) if test.startswith("5x2cv") else (10, 3)
    x = np.random.default_rng(3).normal(size=(20_000, *shape))
    assert low <= (cv_p_values(x, test, "default") <= 0.05).mean() <= high


def test_constant_differences_are_defined():
    same = np.full((4, 3), 0.1 + 0.2)
    same[0, 0] = 0.3
    for test in TINY_RESULTS:
        assert cv_statistic(same, test, "default")[0] == np.inf
        assert 0 < cv_p_values(same, test, "default") < 1e-300
        assert cv_statistic(0 * same, test, "default")[0] == 0
        assert cv_p_values(0 * same, test, "default") == 1


def test_averaged_t_leaves_out_runs_without_variance():
    x = TINY.copy()
    x[:, 1] = 0.05
    kept = np.array([x[:, j].mean() / x[:, j].std(ddof=1) for j in (0, 2)])
    z, _ = cv_statistic(x, "folds, averaged T", 9)
    assert z == pytest.approx(kept.mean() * np.sqrt(10))
    x[:, 1] = 0.0
    assert cv_statistic(x, "folds, averaged T", 9)[0] == pytest.approx(2 / 3 * z)


def test_the_interval_covers_under_the_correlation_it_allows_for():
    rng = np.random.default_rng(4)
    folds, runs, rho = 10, 3, 0.1
    shared = rng.normal(size=(20_000, 1, 1)) * np.sqrt(rho)
    own = rng.normal(size=(20_000, folds, runs)) * np.sqrt(1 - rho)
    mean, error, low, high = cv_interval(1 + shared + own)
    assert ((low <= 1) & (high >= 1)).mean() == pytest.approx(0.95, abs=0.007)
    assert (error**2).mean() == pytest.approx(mean.var(), rel=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cv_statistic(TINY, "use all dada"), "did you mean 'use all data'"),
        (lambda: cv_statistic(TINY, "folds"), "'folds' cannot be calibrated"),
        (lambda: cv_statistic(TINY, df="usual"), "df = 'usual' is not known"),
        (lambda: cv_statistic(TINY, df=-1), "df = -1 is not a positive number"),
        (lambda: cv_statistic(TINY.ravel(), "resampling"), "calibrated for 10 and 100 splits"),
        (lambda: cv_statistic(TINY.ravel(), "corrected resampling", 9), "needs test_to_train"),
        (lambda: cv_statistic(TINY, "5x2cv t"), "needs 2 folds x 5 runs, not 4 x 3"),
        (
            lambda: cv_statistic(TINY[:, :1], "folds", "default"),
            "cannot be computed from 4 folds x 1",
        ),
        (
            lambda: cv_statistic(TINY[:1], "runs, averaged var", "default"),
            "from 1 fold x 3 runs: split with 'kfold.*; of random splits, cv_test",
        ),
        (lambda: cv_statistic([[0.1, np.nan]]), "a difference is missing or infinite"),
        (lambda: cv_statistic([]), "expected \\(..., folds, runs\\)"),
        (lambda: cv_statistic(TINY, test_to_train=0), "test_to_train = 0 is not a positive ratio"),
        (lambda: cv_interval(TINY, confidence=2), "confidence = 2 is not between 0 and 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()

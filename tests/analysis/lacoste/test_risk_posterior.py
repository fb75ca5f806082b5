from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis.methods.lacoste.risk import (
    joint_errors,
    langford_bounds,
    prob_better_classifier,
    risk_posterior,
)
from mlaut.errors import AnalysisError

# Lacoste, Laviolette & Marchand (2012), Table 6: risks to 3 digits, p_i to 2; the sizes of the test
# sets are half of the public datasets (MNIST and Adult: within the range given).
TABLE_6 = pd.read_csv(Path(__file__).parents[1] / "data" / "lacoste2012_table6.csv", index_col=0)

# (k_h, k_g, P(h better)): computed in exact arithmetic.
THEOREM = [
    (0, 0, 0.5),
    (0, 1, 0.75),
    (1, 0, 0.25),
    (0, 5, 0.984375),
    (5, 6, 0.61279296875),
    (21, 7, 0.004065029323),
    (9, 4, 0.089782714844),
    (59, 121, 0.999998366677),
    (230, 139, 9.963648e-07),
]
# (k_h, k_g, p_i as printed in Table 6): the counts are determined by risks, n and p_i.
PRINTED = [
    (4, 8, 0.87), (5, 6, 0.61), (5, 12, 0.95), (10, 15, 0.84), (6, 9, 0.77), (19, 10, 0.05),
    (0, 3, 0.94), (2, 0, 0.12), (0, 6, 0.99), (4, 6, 0.73), (11, 4, 0.04), (7, 10, 0.76),
    (1, 2, 0.69), (3, 4, 0.64), (4, 3, 0.36), (6, 0, 0.01), (1, 0, 0.25), (1, 7, 0.98),
]  # fmt: skip


@pytest.mark.parametrize(("h", "g", "expected"), THEOREM)
def test_theorem_4_1(h, g, expected):
    first, second = prob_better_classifier(h, g)
    assert first == pytest.approx(expected, rel=1e-7, abs=5e-13)
    assert first + second == pytest.approx(1)


@pytest.mark.parametrize(("h", "g", "printed"), PRINTED)
def test_theorem_4_1_gives_what_table_6_prints(h, g, printed):
    assert abs(prob_better_classifier(h, g)[0] - printed) <= 0.005 + 1e-12


def test_theorem_4_1_is_one_minus_the_mid_p_value_of_mcnemar():
    h, g = np.meshgrid(np.arange(30), np.arange(30))
    binomial = stats.binom(h + g, 0.5)
    mid_p = binomial.cdf(h - 1) + binomial.pmf(h) / 2
    np.testing.assert_allclose(prob_better_classifier(h, g)[0], 1 - mid_p, atol=1e-14)


def test_theorem_4_1_against_sampling_for_an_uneven_prior():
    draws = np.random.default_rng(0).dirichlet([0.5 + 3, 2.0 + 5, 4.0 + 20], size=400_000)
    first, _ = prob_better_classifier(3, 5, prior=(0.5, 2.0, 4.0))
    assert first == pytest.approx((draws[:, 0] < draws[:, 1]).mean(), abs=0.004)


def test_theorem_4_1_keeps_both_tails():
    first, second = prob_better_classifier(0, 900)
    assert second == pytest.approx(2.0**-901, rel=1e-10)
    assert first == 1
    assert prob_better_classifier(0, 5000)[1] > 0


def _reachable(row: pd.Series, first: str, second: str) -> bool:
    printed = row[f"{first}_{second}"]
    for n in range(int(row["n_low"]), int(row["n_high"]) + 1):
        errors = np.arange(n)
        of_first, of_second = (
            errors[np.abs(errors / n - row[name]) <= 0.0005 + 1e-12] for name in (first, second)
        )
        for e in of_first:
            for f in of_second:
                both = np.arange(max(0, e + f - n), min(e, f) + 1)
                p = prob_better_classifier(e - both, f - both)[0]
                if (np.abs(p - printed) <= 0.005 + 1e-12).any():
                    return True
    return False


@pytest.mark.parametrize("pair", [("svm", "ann"), ("ann", "parzen"), ("parzen", "ada")])
def test_all_probabilities_of_table_6_are_reachable_with_whole_counts(pair):
    unreachable = [name for name, row in TABLE_6.iterrows() if not _reachable(row, *pair)]
    assert len(TABLE_6) == 22
    assert unreachable == []


@pytest.mark.parametrize(
    ("errors", "expected"), [(0, 0.0292251535), (1, 0.0461073499), (10, 0.1621545719)]
)
def test_upper_bound_of_the_risk(errors, expected):
    # Equation (3), delta = 0.05, n = 100.
    assert risk_posterior(errors, 100).upper_bound(0.05) == pytest.approx(expected, abs=5e-11)


def test_the_posterior_is_a_beta_distribution():
    risk = risk_posterior([3, 40], [50, 60], prior=(0.5, 2.0))
    known = stats.beta([3.5, 40.5], [49.0, 22.0])
    np.testing.assert_allclose(risk.mean, known.mean())
    np.testing.assert_allclose(risk.standard_deviation, known.std())
    np.testing.assert_allclose(risk.cdf(0.1), known.cdf(0.1))
    np.testing.assert_allclose(risk.interval(0.9), known.ppf(np.array([[0.05], [0.95]])))


def test_langfords_bound_is_the_limit_of_the_bayesian_one():
    near = risk_posterior([0, 7, 20], 20, prior=(1, 1e-9)).upper_bound(0.05)
    lower, upper = langford_bounds([0, 7, 20], 20, delta=0.05)
    np.testing.assert_allclose(upper, near, atol=1e-6)
    assert upper[0] == pytest.approx(1 - 0.05 ** (1 / 20))
    assert (lower[0], upper[2]) == (0, 1)


def test_langfords_bounds_hold_with_at_least_the_promised_probability():
    errors, n, risk = np.arange(41), 40, 0.13
    lower, upper = langford_bounds(errors, n, delta=0.1)
    weights = stats.binom.pmf(errors, n, risk)
    assert weights[upper < risk].sum() <= 0.1
    assert weights[lower > risk].sum() <= 0.1


def test_langfords_bounds_agree_with_the_exact_binomial_interval_of_scipy():
    known = stats.binomtest(7, 40).proportion_ci(0.9, method="exact")
    assert langford_bounds(7, 40, delta=0.05) == pytest.approx((known.low, known.high))


def test_joint_errors_count_disagreements():
    rng = np.random.default_rng(3)
    wrong = rng.random((4, 5, 300)) < 0.3
    only = joint_errors(wrong)
    assert only.shape == (4, 5, 5)
    assert only[2, 1, 4] == (wrong[2, 1] & ~wrong[2, 4]).sum()
    assert (np.diagonal(only, axis1=1, axis2=2) == 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: risk_posterior(11, 10), "errors = 11 of n = 10 test points: too many"),
        (lambda: risk_posterior(1.5, 10), "errors = 1.5 is not a count"),
        (lambda: risk_posterior(np.nan, 10), "errors = nan is not a count"),
        (lambda: risk_posterior(1, 10, prior=(0, 1)), "prior = 0 is not a positive number"),
        (lambda: risk_posterior(1, 10).upper_bound(5), "delta = 5 is not between 0 and 1"),
        (lambda: prob_better_classifier(-1, 2), "only_first_wrong = -1 is not a count"),
        (lambda: prob_better_classifier([1, 2], [1, 2, 3]), "shapes of the counts do not match"),
        (lambda: prob_better_classifier(1, 2, prior=-1.0), "must be 0 or a positive"),
        (lambda: joint_errors([[0.5, 1.0]]), "errors must be 0 or 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()

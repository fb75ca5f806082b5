"""Bayesian tests on datasets whose losses differ by up to 1e12: baycomp, and the definitions."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    bayesian_sign_test,
    bayesian_signed_rank_test,
    sign_test,
    wilcoxon_test,
)
from mlaut.analysis.methods.bayes import correlated_t_datasets
from mlaut.analysis.methods.bayes.correlated_t import correlated_t_probabilities
from mlaut.analysis.methods.bayes.dirichlet import SignedRankSums
from mlaut.analysis.methods.bayes.sign_tests import sign_probabilities, signed_rank_probabilities
from mlaut.analysis.methods.frequentist.ranks import rank_table
from mlaut.analysis.pairwise.pairs import paired_losses

TESTS = [bayesian_sign_test, bayesian_signed_rank_test]
MANY = pytest.param(1000, marks=pytest.mark.slow)


def _better(test, table, first="A", second="B", metric="mse"):
    found = test(Results.from_table(pd.DataFrame(table), metric=metric))
    return found.table("P(row better)").loc[first, second]


def _one_large_dataset():
    a = np.r_[3e10, np.linspace(0.05, 2, 19)]
    b = a * 1.05
    b[0] = a[0] * 0.95
    return {"A": a, "B": b}


@pytest.mark.parametrize(
    ("test", "known"),
    # the sign test: 19 and half a prior against 1 and the other half; the other by 200,000 draws
    [(bayesian_sign_test, 0.999995), (bayesian_signed_rank_test, 0.99875)],
)
def test_one_large_dataset_does_not_make_ties_of_the_others(test, known):
    assert _better(test, _one_large_dataset()) == pytest.approx(known, abs=6e-4)


@pytest.mark.parametrize("test", TESTS)
def test_a_third_strategy_decides_nothing_about_a_pair(test):
    first = np.linspace(0.3, 0.9, 20)
    table = {"A": first, "B": first - 0.05}
    alone = _better(test, table, metric="r2")
    failed = np.where(np.arange(20) == 7, -1e9, 0.1)
    assert _better(test, table | {"C": failed}, metric="r2") == alone > 0.999


def test_ties_are_those_of_the_frequentist_tests():
    table = _one_large_dataset()
    table["B"][1] = table["A"][1] * (1 + 1e-14)
    results = Results.from_table(pd.DataFrame(table), metric="mse")
    for test in (*TESTS, sign_test, wilcoxon_test):
        assert test(results).table("ties").loc["A", "B"] == 1, test.__name__


def test_a_difference_keeps_its_value_beside_a_noisy_one_of_the_same_size():
    # 5 is the difference of losses of 3e10, whose noise is 3; the others are exact
    table = {"A": [3e10, 102.0, 102.5, 105.1], "B": [3e10 - 5, 100.0, 100.0, 100.0]}
    d = paired_losses(Results.from_table(pd.DataFrame(table), metric="mse")).differences
    assert d[:, 0] == pytest.approx([5.0, 2.0, 2.5, 5.1], rel=1e-12)


def test_one_huge_score_makes_no_ties_of_the_other_strategies():
    table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.1], "C": [-1e17, 0.3]})
    results = Results.from_table(table, metric="log likelihood", greater_is_better=False)
    assert rank_table(results).to_numpy().tolist() == [[2, 3, 1], [2, 1, 3]]


def test_a_difference_of_the_size_of_the_region_is_in_it():
    assert sign_probabilities([0.31 - 0.3] * 3, rope=0.01, prior=0)[0][0].tolist() == [0, 1, 0]
    assert correlated_t_probabilities([0.31 - 0.3] * 5, rope=0.01).tolist() == [0, 1, 0]
    table = {"A": [1e6 + 0.1, 2e6 + 0.1, 0.5], "B": [1e6, 2e6, 0.4]}  # 0.1 but for 1e-10
    results = Results.from_table(pd.DataFrame(table), metric="mse")
    d = paired_losses(results).with_margin(0.1)
    assert np.unique(np.abs(d)).tolist() == [0.1]
    p = bayesian_sign_test(results, rope=0.1, prior=0).pair("A", "B").probabilities
    assert p["P(equivalent)"] == 1


def test_opposite_large_differences_are_equivalent():
    found = SignedRankSums(np.array([[1e14], [-1e14]]), 1.0)
    left, equal, right = found.of_pairs(np.array([0]), np.ones((3, 1)))
    # of 9 pairs of (0, a, -a): left has (-a, -a), (0, -a), (-a, 0); the pairs (a, -a) are equal
    assert (left.item(), equal.item(), right.item()) == (3, 3, 3)


def _tables(count):
    """Exact losses, the same with rounding noise, and a region of equivalence, of random studies.

    Losses are whole numbers up to 255 times a power of 2 for each dataset, so that differences and
    sums of two are exact and can be ties.
    """
    rng = np.random.default_rng(5)
    for _ in range(count):
        n = rng.integers(4, 31)
        top = rng.integers(0, 41)  # 2 ** 40 is 1e12
        unit = 2.0 ** rng.integers(0, top + 1, size=(n, 1))
        lead = rng.integers(-12, 13)
        whole = rng.integers(100, 140, size=(n, 2)) + [0, lead] * (rng.random((n, 1)) < 0.8)
        rope = float(rng.choice([0.0, 2.0 ** rng.integers(0, top + 4)]))
        exact = whole * unit
        yield exact, exact * (1 + 1e-14 * rng.uniform(-1, 1, exact.shape)), rope


def _by_definition(d, rope, draws, rng):
    """Sample the signed rank test: the largest of three sums over the matrix of all pairs."""
    z = np.r_[0.0, d]
    sums = z[:, None] + z
    right, left = ((s > 2 * rope) + 0.5 * (s == 2 * rope) for s in (sums, -sums))
    w = rng.dirichlet(np.r_[0.5, np.ones(len(d))], draws)
    sides = np.stack([np.einsum("ni,ni->n", w @ m, w) for m in (left, right)])
    if rope == 0:
        return np.array([(sides[0] > sides[1]).mean(), 0, (sides[0] < sides[1]).mean()])
    three = np.stack([sides[0], 1 - sides.sum(axis=0), sides[1]])
    return np.bincount(three.argmax(axis=0), minlength=3) / draws


def _away(ours, n_ours, theirs, n_theirs):
    """Say by how many standard errors two shares of draws differ; exact ones have n_ours = inf."""
    share = np.where(np.isinf(n_ours), 0, 1 / n_ours) + 1 / n_theirs
    both = ours if np.isinf(n_ours) else (n_ours * ours + n_theirs * theirs) / (n_ours + n_theirs)
    variance = (both * (1 - both) + 1 / n_theirs) * share  # none is as sure as 0 of n draws
    return np.abs(ours - theirs) / np.sqrt(variance)


def _by_baycomp(test, exact, rope, draws, seed):
    # its first argument is that of the strategy with the larger score: here losses change places
    p = test.probs(*exact.T[::-1], rope, nsamples=draws, random_state=seed)
    return np.array(p if rope else (p[0], 0.0, p[1]))


@pytest.mark.parametrize("count", [25, MANY])
def test_sign_and_signed_rank_of_scaled_datasets(count):
    baycomp = pytest.importorskip("baycomp")
    rng, draws, few = np.random.default_rng(6), 2000, 200
    away = {"definition": [], "baycomp signed rank": [], "baycomp sign": []}
    for exact, noisy, rope in _tables(count):
        d = exact[:, 0] - exact[:, 1]
        if not d.any():
            continue
        rows = [f"{row:04}" for row in range(len(noisy))]  # draws are in the order of the names
        results = Results.from_table(pd.DataFrame(noisy, rows, ["A", "B"]), metric="mse")
        sign = sign_probabilities(d, rope)[0][0]
        ranks, _, _ = signed_rank_probabilities(d, rope, n_samples=draws)
        for test, known in zip(TESTS, (sign, ranks[0]), strict=True):
            options = {"n_samples": draws} if test is bayesian_signed_rank_test else {}
            got = test(results, rope=rope, **options).pair("A", "B").probabilities
            np.testing.assert_allclose(list(got.values())[:3], known, rtol=1e-9, atol=1e-300)
        ranks, seed = ranks[0], int(rng.integers(1 << 31))
        other = _by_definition(d, rope, draws, rng)
        away["definition"].append(_away(ranks, draws, other, draws))
        other = _by_baycomp(baycomp.SignedRankTest, exact, rope, few, seed)
        away["baycomp signed rank"].append(_away(ranks, draws, other, few))
        if rope:  # without a region it gives the middle the prior, and we share it
            other = _by_baycomp(baycomp.SignTest, exact, rope, draws, seed)
            away["baycomp sign"].append(_away(sign, np.inf, other, draws))
    for source, parts in away.items():
        z = np.concatenate(parts)
        assert z.max() < 5, source
        assert (z > 2).mean() < 0.08, source


@pytest.mark.parametrize("count", [25, MANY])
def test_the_correlated_t_test_of_scaled_datasets(count):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(7)
    for _ in range(count):
        runs = rng.integers(1, 4)
        unit = 2.0 ** np.repeat(rng.integers(0, 41, size=3), 5 * runs)
        rope = float(rng.choice([0.0, 2.0 ** rng.integers(0, 41)]))
        folds = pd.MultiIndex.from_product([["a", "b", "c"], range(runs), range(5)])
        whole = rng.integers(100, 140, size=(len(folds), 2))
        whole[:, 1] += rng.integers(-30, 31)
        exact = pd.DataFrame(whole * unit[:, None], folds, ["A", "B"])
        noisy = exact * (1 + 1e-14 * rng.uniform(-1, 1, exact.shape))
        found = correlated_t_datasets(Results.from_table(noisy, metric="mse"), rope=rope).frame
        for name in "abc":
            x = exact.loc[name].to_numpy()
            p = baycomp.CorrelatedTTest.probs(x[:, 1], x[:, 0], rope, runs=runs)
            p = p if rope else (p[0], 0.0, p[1])
            got = found.loc[(name, "A", "B")].filter(like="P(").to_numpy(dtype=float)
            np.testing.assert_allclose(got, p, rtol=1e-6, atol=1e-9)

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from mlaut.analysis.methods.bayes.dirichlet import (
    SignedRankSums,
    largest_component,
    weight_blocks,
)
from mlaut.analysis.methods.bayes.sign_tests import (
    bayesian_sign_test,
    bayesian_signed_rank_test,
    sign_probabilities,
    signed_rank_posterior,
    signed_rank_probabilities,
)
from mlaut.analysis.pairwise.decisions import decide
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

# Benavoli et al. (2017): mean accuracies in percent of WEKA's classifiers on 54 datasets.
MEANS = pd.read_csv(Path(__file__).parents[1] / "data" / "benavoli2017_mean.csv", index_col=0)
NBC_J48 = (MEANS["j48"] - MEANS["nbc"]).to_numpy()  # as losses: first nbc
NBC_AODE = (MEANS["aode"] - MEANS["nbc"]).to_numpy()


@pytest.mark.parametrize(
    ("d", "counts", "expected"),
    [
        # scipy.integrate.quad; documentation of baycomp, by sampling: .26508 / .13274 / .60218.
        (NBC_J48, (18, 15, 21), (0.264768288333, 0.133838842982, 0.601392868685)),
        # Notebook, by sampling: 0 / .70922 / .29078.
        (NBC_AODE, (3, 27, 24), (3.30360536e-08, 0.712075306, 0.287924661)),
    ],
    ids=["nbc-j48", "nbc-aode"],
)
def test_the_sign_test_is_exact(d, counts, expected):
    assert ((d < -1).sum(), (np.abs(d) <= 1).sum(), (d > 1).sum()) == counts
    p, shares = sign_probabilities(d, rope=1)
    assert p[0] == pytest.approx(expected, rel=2e-9)
    assert shares[0] == pytest.approx(np.add(counts, (0, 1, 0)) / 55)


@pytest.mark.parametrize(
    ("d", "prior", "published"),
    [
        (NBC_J48, 0.5, (0.23014, 0.00674, 0.76312)),
        (NBC_AODE, 0.6, (0.0, 0.12468, 0.87532)),
    ],
    ids=["nbc-j48", "nbc-aode"],
)
def test_the_signed_rank_test_agrees_within_the_error_of_the_sampling(d, prior, published):
    # Documentation of baycomp, and notebook of Benavoli et al. (2017); 50,000 draws each.
    p, _, errors = signed_rank_probabilities(d, rope=1, prior=prior)
    assert (np.abs(p[0] - published) <= 4 * np.sqrt(2) * errors[0]).all()


def _by_quadrature(alpha: np.ndarray) -> list[float]:
    answer = []
    for i in range(3):
        own, *others = (stats.gamma(a) for a in np.roll(alpha, -i))
        answer.append(
            integrate.quad(
                lambda x, own=own, others=others: own.pdf(x) * np.prod([o.cdf(x) for o in others]),
                0,
                np.inf,
                epsabs=1e-12,
            )[0]
        )
    return answer


@pytest.mark.parametrize(
    "alpha", [(1, 1, 1), (18, 16, 21), (3.5, 0.5, 4), (2, 1e-3, 0.3), (40, 41, 2)]
)
def test_the_largest_component_against_quadrature(alpha):
    known = _by_quadrature(np.array(alpha, dtype=float))
    assert largest_component(np.array([alpha], dtype=float))[0] == pytest.approx(known, abs=2e-8)


def test_the_largest_component_far_out_and_without_some_components():
    p = largest_component(np.array([[1, 5000, 0], [30, 300, 301], [7, 0, 0], [4, 0, 2.0]]))
    assert p[0].tolist() == [0, 1, 0]
    assert p[1, 0] == pytest.approx(2.25e-71, rel=0.01)
    assert p[2].tolist() == [1, 0, 0]
    assert p[3] == pytest.approx((stats.beta.cdf(0.5, 2, 4), 0, stats.beta.cdf(0.5, 4, 2)))


@pytest.mark.parametrize("rope", [0.0, 0.3, 1.0])
def test_the_kernel_sums_what_the_matrix_of_all_pairs_says(rope):
    rng = np.random.default_rng(0)
    z = np.r_[rng.normal(size=9), 0.0, 0.0, rope, -rope, 2 * rope, -0.5, 0.5, 0.1 + 0.2, -0.3]
    weights = rng.random((len(z) + 1, 4))
    all_z = np.r_[0.0, z]
    sums = np.round(all_z[:, None] + all_z, 12)
    right = (sums > 2 * rope) + 0.5 * (sums == 2 * rope)
    left = (sums < -2 * rope) + 0.5 * (sums == -2 * rope)
    known = [np.einsum("ik,jk,ij->k", weights, weights, side) for side in (left, right)]
    other = rng.normal(size=len(z))
    sums_of_pairs = SignedRankSums(np.stack([other, z], axis=1), rope)
    got = [x[0] for x in sums_of_pairs.of_pairs(np.array([1]), weights)]
    np.testing.assert_allclose(got[0], known[0])
    np.testing.assert_allclose(got[2], known[1])
    np.testing.assert_allclose(sum(got), weights.sum(axis=0) ** 2)


@pytest.mark.parametrize("rope", [0.0, 0.4])
def test_expected_shares_are_exact(rope):
    d = np.random.default_rng(1).normal(-0.2, 1, size=11)
    draws = signed_rank_posterior(d, rope, prior=0.5, n_samples=40_000)
    assert draws.sum(axis=1) == pytest.approx(1)
    means = SignedRankSums(d[:, None], rope).means(0.5)
    assert means[0] == pytest.approx(draws.mean(axis=0), abs=0.003)


@pytest.mark.parametrize("rope", [0.0, 0.5])
def test_what_is_sure_is_the_largest_in_every_draw(rope):
    rng = np.random.default_rng(4)
    d = rng.normal(size=(40, 300)) + np.linspace(-2.5, 2.5, 300)
    d[:, ::2] = d[:, ::2].round()  # ties, also of both signs
    weights = next(weight_blocks(len(d), 0.5, 400, seed=1)).astype(np.float32)
    sums = SignedRankSums(d, rope)
    left, right = sums.sure(weights)
    counts = sums.largest(np.arange(300), weights)
    assert (counts[left, 0] == 400).all()
    assert (counts[right, 2] == 400).all()
    assert (left | right).sum() > 0.6 * (counts.max(axis=1) == 400).sum()


@pytest.mark.parametrize("rope", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("prior", [0.0, 0.5, 2.0])
def test_expected_shares_of_ties_against_the_moments_of_all_pairs(rope, prior):
    d = np.array([0.0, 0.1, -0.1, 0.1, -0.2, 0.3, -0.3, 0.25, -0.5, 0.5, 0.2])
    z, alpha = np.r_[0.0, d], np.r_[prior, np.ones(len(d))]
    sums = np.round(z[:, None] + z, 12)
    moments = (np.outer(alpha, alpha) + np.diag(alpha)) / alpha.sum() / (alpha.sum() + 1)
    right = (sums > 2 * rope) + 0.5 * (sums == 2 * rope)
    left = (sums < -2 * rope) + 0.5 * (sums == -2 * rope)
    known = [(side * moments).sum() for side in (left, 1 - left - right, right)]
    shuffled = d[np.random.default_rng(0).permutation(len(d))]
    found = SignedRankSums(np.stack([d, shuffled], axis=1), rope).means(prior)
    np.testing.assert_allclose(found, [known, known], atol=1e-14)


@pytest.mark.parametrize("rope", [0.0, 0.05, 0.5])
def test_baycomp_agrees_where_it_is_right(rope):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=25), rng.normal(0.3, 1, size=25)
    ours, _, errors = signed_rank_probabilities(y - x, rope, n_samples=20_000)
    theirs = baycomp.SignedRankTest.probs(x, y, rope, nsamples=5_000, random_state=0)
    theirs = theirs if rope else (theirs[0], 0.0, theirs[1])
    spread = np.sqrt(ours[0] * (1 - ours[0]) / 5_000 + errors[0] ** 2)
    assert (np.abs(ours[0] - theirs) <= 4 * spread + 1e-4).all()
    if rope:
        ours = sign_probabilities(y - x, rope)[0][0]
        theirs = baycomp.SignTest.probs(x, y, rope, nsamples=50_000, random_state=0)
        assert ours == pytest.approx(theirs, abs=0.01)


def test_equal_strategies_are_defined_where_baycomp_is_not():
    baycomp = pytest.importorskip("baycomp")
    x = np.random.default_rng(3).random(20)
    assert baycomp.SignedRankTest.probs(x, x, 0, nsamples=2_000)[0] != 0.5  # rounding in an argmax
    with pytest.warns(RuntimeWarning):
        assert np.isnan(baycomp.SignTest.probs(x, x, 0, nsamples=100)).all()
    for rope, expected in ((0.0, (0.5, 0, 0.5)), (0.1, (0, 1, 0))):
        for p in (
            signed_rank_probabilities(np.zeros(20), rope, n_samples=500)[0],
            sign_probabilities(np.zeros(20), rope)[0],
        ):
            assert p[0] == pytest.approx(expected, abs=1e-6)


def _results(k: int = 4, n: int = 15) -> Results:
    losses = np.random.default_rng(4).random((n, k)) + 0.2 * np.arange(k)
    losses[:, -1] = losses[:, 0]
    names = [f"s{i}" for i in range(k)]
    return Results.from_table(pd.DataFrame(losses, columns=names), greater_is_better=False)


@pytest.mark.parametrize("test", [bayesian_sign_test, bayesian_signed_rank_test])
@pytest.mark.parametrize("rope", [0.0, 0.1])
def test_all_pairs_of_a_study(test, rope):
    options = {} if test is bayesian_sign_test else {"n_samples": 4_000}
    pairs = test(_results(), rope=rope, **options)
    better, equal = pairs.table("P(row better)"), pairs.table("P(equivalent)")
    total = (better + better.T + equal).to_numpy()
    np.testing.assert_allclose(total[~np.eye(4, dtype=bool)], 1)
    np.testing.assert_allclose(pairs.table("P(column better)").T.fillna(0), better.fillna(0))
    one = pairs.pair("s0", "s3")
    assert one.notes[-1] == "equal on every dataset"
    assert one.ties == 15
    assert one.probabilities["P(row better)"] == pytest.approx(0.0 if rope else 0.5, abs=1e-3)
    assert better.loc["s0", "s2"] > 0.5
    assert pairs.scenario == "(c)"
    assert ("s0", "s2") in decide(better, false_number=1.5).claims


def test_results_follow_the_seed_and_say_their_error():
    first, same, other = (
        bayesian_signed_rank_test(_results(), rope=0.1, n_samples=3_000, seed=seed)
        for seed in (1, 1, 2)
    )
    p = [r.table("P(row better)").loc["s0", "s1"] for r in (first, same, other)]
    assert p[0] == p[1] != p[2]
    error = first.table("Monte Carlo error").loc["s0", "s1"]
    assert 0 < error < 0.01
    assert abs(p[0] - p[2]) < 5 * error
    assert first.notes[-1] == "3000 draws, seed 1"


def test_no_probability_is_0_by_sampling():
    p, _, errors = signed_rank_probabilities(-np.ones(30), rope=0.1, n_samples=300)
    assert p[0, 2] == pytest.approx(1 / 903)
    assert errors[0, 2] > 0
    assert bayesian_sign_test(_results(), rope=0.1).table("P(row better)").min(axis=None) >= 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sign_probabilities([0.1, np.nan]),
            "must be finite numbers with one row for each dataset",
        ),
        (lambda: sign_probabilities([]), "must be finite numbers"),
        (lambda: sign_probabilities([0.1], rope=-0.1), "rope = -0.1 is not a number of 0 or more"),
        (lambda: sign_probabilities([0.1], prior=np.nan), "prior = nan must be 0 or a positive"),
        (lambda: signed_rank_probabilities([0.1], n_samples=0), "n_samples = 0 must be at least 1"),
        (lambda: signed_rank_posterior(np.zeros((5, 2))), "2 pairs are given"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()

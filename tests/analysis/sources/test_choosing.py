"""P(best), the bound of the cost, the smallest flip and the forecast, from arrays."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_1samp

from mlaut.analysis import compare
from mlaut.analysis.deciding.outlook import chance_to_tell
from mlaut.analysis.sources.chances import chances
from mlaut.analysis.sources.cost import cost_bounds, wider
from mlaut.analysis.sources.smallest import smallest_flip


def drawn(seed, truth, n=20):
    return np.random.default_rng(seed).normal(truth, 1, size=(n, len(truth)))


# ------------------------------------------------------------------------------ P(best)


@pytest.mark.parametrize("k", [3, 10])
def test_equal_strategies_are_not_told_apart(k):
    most = [chances(drawn(seed, np.zeros(k))).of_best().max() for seed in range(6)]
    assert np.mean(most) < 1 / k + 0.2
    assert max(most) < 0.8


def test_what_is_said_comes_true_where_means_differ_a_little():
    """Chances are at most 10 points too low, and not too high, where means differ a little."""
    said, right = [], []
    for seed in range(60):
        truth = np.random.default_rng([1, seed]).normal(0, 0.3, 4)
        p = chances(drawn(seed, truth)).of_best()
        said.append(p.max())
        right.append(p.argmax() == truth.argmin())
    assert -0.1 < np.mean(said) - np.mean(right) < 0.05


def test_a_clear_best_is_sure_and_two_equal_ones_share():
    assert chances(drawn(0, [0, 3, 3, 4])).of_best()[0] > 0.99
    p = np.mean([chances(drawn(seed, [0, 0, 4, 4])).of_best() for seed in range(8)], axis=0)
    assert p[:2].sum() > 0.99
    assert (p[:2] > 0.3).all()


def test_what_changes_nothing_for_the_others():
    rows = drawn(5, [0, 0.1, 0.3, 0.6])
    known = chances(rows).of_best()
    np.testing.assert_allclose(known.sum(), 1)
    np.testing.assert_array_equal(chances(1000 * rows + 7).of_best(), known)
    np.testing.assert_array_equal(chances(rows[:, ::-1]).of_best(), known[::-1])
    np.testing.assert_array_equal(chances(rows[::-1]).of_best().round(9), known.round(9))
    for away in (12, 600):
        dummy = chances(np.c_[rows, drawn(6, [away])])
        np.testing.assert_allclose(dummy.of_best(), [*known, 0], atol=1e-12)
        assert dummy.near.tolist() == [True] * 4 + [False]
        assert (dummy.draws[:, 4] > dummy.draws[:, :4].max(axis=1)).all()
    few = drawn(5, [0, 0.1, 0.3])[:7].argsort(axis=1).argsort(axis=1)
    last = np.c_[few, np.full((7, 2), [3, 4])]  # too near for so few rows, but last on each
    np.testing.assert_array_equal(chances(last).of_best(), [*chances(few).of_best(), 0, 0])
    assert chances(last[:5]).near.all()
    copy = chances(np.c_[rows, rows[:, 0]]).of_best()
    np.testing.assert_allclose(copy[[1, 2, 3]], known[1:])
    assert copy[0] == copy[4] == known[0] / 2
    other = chances(rows, seed=1).of_best()
    assert 0 < np.abs(other - known).max() < 0.05


@pytest.mark.parametrize("k", [2, 3, 15])
def test_no_noise_is_still_a_sample(k):
    p = [chances(np.tile(np.arange(k), (n, 1))).of_best() for n in (2, 6, 40)]
    assert p[0][0] < p[1][0] <= p[2][0]
    assert p[2][0] > 0.999
    assert chances(np.zeros((6, k))).of_best() == pytest.approx(1 / k)


def test_a_noisy_rival_is_less_sure():
    rows = drawn(1, [0, 0.7, 0.7], 30)
    noisy = rows * [1, 1, 4] - [0, 0, (rows * [1, 1, 4] - rows)[:, 2].mean()]
    assert chances(noisy).of_best()[2] > chances(rows).of_best()[2] + 0.05


# ------------------------------------------------------------------------------ cost


def test_the_bound_of_one_rival_is_that_of_students_t():
    rows = drawn(3, [0.6, 0.0], 12)
    d = rows[:, 0] - rows[:, 1]
    bound = d.mean() + student.ppf(0.95, 11) * d.std(ddof=1) / 12**0.5
    assert cost_bounds(rows)[0] == pytest.approx(bound, rel=0.06)
    for df in (4, 10, 50):
        assert wider(df) == pytest.approx(student.ppf(0.95, df) / 1.645, rel=0.01)


def test_the_bound_covers_and_a_dummy_or_a_copy_changes_nothing():
    truth = np.array([0, 0.1, 0.2, 0.2, 0.5])
    holds = 0
    for seed in range(200):
        rows = drawn(seed, truth, 10)
        leader = rows.mean(axis=0).argmin()
        holds += cost_bounds(rows)[leader] >= truth[leader]
    assert holds >= 182  # 95 % are 190; fewer than 182 have probability .01
    known = cost_bounds(rows)
    np.testing.assert_allclose(cost_bounds(np.c_[rows, rows[:, 1], rows[:, 0] + 99])[:5], known)
    np.testing.assert_allclose(cost_bounds(100 * rows), 100 * known)


def test_a_wild_rival_that_is_shown_to_be_worse_widens_no_bound():
    rows = drawn(3, [0.3, 0.35], 24)
    wild = rows.max(axis=1) + 1.0
    wild[0] = 1e20
    known = cost_bounds(rows)
    assert cost_bounds(np.c_[rows, wild])[0] > 1e9
    only = cost_bounds(np.c_[rows, wild], rivals=np.array([True, True, False]))
    np.testing.assert_allclose(only[:2], known)
    decision = [
        compare(
            pd.DataFrame(table).add_prefix("s"), metric="own", greater_is_better=False
        ).decision()
        for table in (rows, np.c_[rows, wild])
    ]
    assert decision[1].bounds["s0"] == pytest.approx(decision[0].bounds["s0"])


# ------------------------------------------------------------------------------ smallest flip


def flipped(rows):
    """Return the smallest number of rows without which another leads, by trying all."""
    leader = rows.sum(axis=0).argmin()
    for count in range(1, len(rows)):
        for gone in combinations(range(len(rows)), count):
            left = np.delete(rows, gone, axis=0).sum(axis=0)
            if left.min() < left[leader] - 1e-9:
                return count
    return 0


@pytest.mark.parametrize("kind", ["ranks", "losses", "wins", "ties"])
@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_flip_by_trying_all(kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(rng.normal(0, 0.5, 4), 1, size=(7, 4))
    if kind == "ranks":
        rows = rows.argsort(axis=1).argsort(axis=1) + 1.0
    elif kind == "wins":
        rows = -(rows == rows.min(axis=1, keepdims=True)).astype(float)
    elif kind == "ties":
        rows = rows.round()
    flip = smallest_flip(rows)
    assert len(flip.rows) == flipped(rows)
    if flip.rows:
        left = np.delete(rows, flip.rows, axis=0).sum(axis=0)
        assert left[flip.leader] == left.min() < left[rows.sum(axis=0).argmin()]


def test_no_row_turns_a_leader_who_always_wins():
    rows = np.tile([1.0, 2.0], (5, 1))
    assert smallest_flip(rows) == ((), -1)
    assert smallest_flip(rows + np.array([0, 1e-13])) == ((), -1)
    assert smallest_flip(np.array([[0.1, 0.2], [0.3, 0.2 + 1e-17]])) == ((0,), 1)


def test_leave_one_out_agrees_with_a_flip_of_one():
    rows = np.array([[1.0, 2, 3], [1, 2, 3], [3, 1, 2], [3, 1, 2], [1, 4, 2]])
    led = [int(np.delete(rows, i, axis=0).sum(axis=0).argmin()) for i in range(5)]
    assert led == [0, 0, 0, 0, 1]
    assert smallest_flip(rows) == ((4,), 1)


# ------------------------------------------------------------------------------ forecast


def test_noise_and_equal_strategies_promise_nothing():
    equal = [chance_to_tell(drawn(seed, [0.0, 0.0, 0.0]), 20) for seed in range(50)]
    assert np.median(equal) < 0.15
    assert chance_to_tell(np.zeros((20, 3)), 1000) == 0


def test_the_forecast_grows_and_is_sure_of_a_large_difference():
    rows = drawn(2, [0, 0.3, 0.5], 12)
    p = [chance_to_tell(rows, n) for n in (1, 10, 50, 10**8)]
    assert p == sorted(p)
    assert p[0] < 0.3
    assert p[3] > 0.99  # in the end any difference that is not exactly 0 is told


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
def test_the_forecast_comes_true_within_five_points(skewed):
    """Leaders and seconds of tables of equal to very different strategies, not separated so far."""
    rng, said, came = np.random.default_rng(int(skewed)), [], []
    while len(said) < 4000:
        n, k = int(rng.choice([12, 25])), int(rng.choice([3, 6]))
        noise = rng.exponential(size=(2 * n, k)) if skewed else rng.normal(size=(2 * n, k))
        rows = rng.normal(size=k) * rng.choice([0, 0.15, 0.3, 0.5, 0.8]) + noise
        rows = rows[:, np.argsort(rows[:n].mean(axis=0))]
        if ttest_1samp(rows[:n, 1] - rows[:n, 0], 0).pvalue > 0.05:
            said.append(chance_to_tell(rows[:n], n))
            came.append(ttest_1samp(rows[:, 1] - rows[:, 0], 0).pvalue <= 0.05)
    slim = np.array(said) < 0.1  # only such a chance is told
    for cases in (slim, ~slim):
        assert abs(np.mean(np.array(said)[cases]) - np.mean(np.array(came)[cases])) < 0.05

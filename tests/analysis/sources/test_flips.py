"""Joint tests by flips of sources: worked examples, brute force, invariances and levels."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, wilcoxon

from mlaut.analysis import Results
from mlaut.analysis.deciding.verdicts import rank_sets
from mlaut.analysis.methods.frequentist.ranks import joint_of_results
from mlaut.analysis.pairwise import adjust
from mlaut.analysis.sources.flips import (
    FLIPS,
    flips,
    joint_of,
    joint_test,
    signed_ranks,
    source_sums,
)

# "crsd" of the R package clusrank: two score differences each of twenty people, made by B. Rosner
EYES = """
1.4052 6.1523 1.0391 -1.3904 -1.1344 5.2481 1.7378 -24.3555 -1.9616 -1.501 -1.6034 -2.8387 1.3581
-1.7799 -1.3515 1.9111 -1.4412 -1.5097 -1.5473 2.7537 -2.1795 -4.4136 -3.384 -3.3624 10.8053 4.3206
5.4009 -1.1826 -1.355 -2.5307 1.2694 -1.9784 1.2852 12.4491 1.1235 -2.3626 -2.1383 -4.3457 1.6196
1.8914
"""


def pairs_of(losses):
    first, second = np.triu_indices(losses.shape[1], 1)
    return losses[:, first] - losses[:, second]


def ranks_of(joint):
    k = len(joint.best)
    first, second = np.triu_indices(k, 1)
    better, shown = np.zeros((k, k), dtype=bool), joint.adjusted <= 0.05
    better[first, second] = shown & (joint.statistic < 0)
    better[second, first] = shown & (joint.statistic > 0)
    return rank_sets(better).tolist()


def related(seed, truth, sizes, correlation=0.5):
    rng, source = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    shared, own = (rng.normal(size=(n, len(truth))) for n in (len(sizes), len(source)))
    noise = np.sqrt(correlation) * shared[source] + np.sqrt(1 - correlation) * own
    return truth + noise, source


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_signs_are_ranked_as_numbers_are(shift):
    signs = np.random.default_rng(0).integers(-1, 2, size=(20, 9)).astype(np.int8)
    signs[:, 0], signs[:, 1] = 0, 1
    assert np.array_equal(signed_ranks(signs, shift), signed_ranks(signs.astype(float), shift))


def test_signed_ranks_of_clusters_as_rosner_glynn_and_lee():
    d = np.array(EYES.split(), dtype=float)[:, None]
    sums = source_sums(signed_ranks(d), np.arange(40) // 2, "dataset")[0]
    # T and its variance by their formula for clusters of equal size, and p by normal approximation
    assert (sums.sum(), np.square(sums).sum()) == (-110, 30178)
    assert 2 * norm.sf(110 / 30178**0.5) == pytest.approx(0.5266, abs=5e-5)
    # their exact test: the share of the 2^20 flips of clusters with a sum as far from 0
    sizes = np.array([0])
    for cluster in sums:
        sizes = np.concatenate([sizes + cluster, sizes - cluster])
    exact = (np.abs(sizes) >= 110).mean()
    assert exact == pytest.approx(0.5266, abs=0.03)
    error = (exact * (1 - exact) / FLIPS) ** 0.5
    assert abs(joint_test(d, np.arange(40) // 2, "dataset").p[0] - exact) < 3 * error


@pytest.mark.parametrize("weights", ["learned", "source", "dataset"])
def test_without_sources_it_is_the_signed_rank_test(weights):
    d = np.random.default_rng(3).normal(0.4, 1, size=(12, 1))
    joint = joint_test(d, np.arange(12), weights)
    assert joint.p[0] == joint.adjusted[0] == pytest.approx(wilcoxon(d[:, 0]).pvalue)
    assert joint.best.tolist() == pytest.approx(
        [wilcoxon(d[:, 0], alternative=side).pvalue for side in ("greater", "less")]
    )


def brute(unit, k):
    """Step-down p-values and those of the best from all flips, each in a loop."""
    every = np.array(list(product([1, -1], repeat=unit.shape[1])))
    drawn, seen = unit @ every.T, unit.sum(axis=1)
    order = np.argsort(-np.abs(seen), kind="stable")
    adjusted, last = np.empty(len(unit)), 0.0
    for place, at in enumerate(order):
        largest = np.abs(drawn[order[place:]]).max(axis=0)
        last = adjusted[at] = max(last, (largest >= abs(seen[at]) - 1e-6).mean())
    side = {pair: s for s, pair in enumerate(zip(*np.triu_indices(k, 1), strict=True))}
    best = []
    for i in range(k):
        t = [(side[i, j], 1) if i < j else (side[j, i], -1) for j in range(k) if j != i]
        t = [(at, s) for at, s in t if s * seen[at] > max(-3, -np.abs(unit[at]).sum() + 1e-6)]
        if not t:
            best.append(1.0)
            continue
        top = max(s * seen[at] for at, s in t)
        best.append((np.max([s * drawn[at] for at, s in t], axis=0) >= top - 1e-6).mean())
    return adjusted, best


@pytest.mark.parametrize("weights", ["learned", "source", "dataset"])
@pytest.mark.parametrize("seed", range(6))
def test_all_flips_by_brute_force(weights, seed):
    losses, source = related(seed, [0, 0.3, 0.6, 1.2], [1, 1, 2, 3, 4, 1, 2])
    losses[3, :3] = 0.5  # ties
    sums = source_sums(signed_ranks(pairs_of(losses)), source, weights)
    joint = joint_test(pairs_of(losses), source, weights)
    adjusted, best = brute(sums / np.sqrt(np.square(sums).sum(axis=1, keepdims=True)), 4)
    np.testing.assert_allclose(joint.adjusted, adjusted)
    np.testing.assert_allclose(joint.best, best)
    assert (joint.adjusted >= joint.p).all()
    assert joint.top().any()


def test_rank_sets_as_printed_by_csranks():
    # csranks(seq(1, 3, length = 10), rep(0.2, 10)) of the R package's reference page, higher is
    # better there
    x = np.linspace(1, 3, 10)
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(10, 1)
    z = rng.normal(size=(10, 20_000))
    statistic = (x[second] - x[first]) / np.sqrt(0.08)
    drawn = (z[first] - z[second]) / np.sqrt(2)
    joint = joint_of(statistic, np.full(45, -np.inf), [drawn])
    assert ranks_of(joint) == [
        [7, 6, 5, 4, 3, 2, 1, 1, 1, 1],
        [10, 10, 10, 10, 9, 8, 7, 6, 5, 4],
    ]


def test_few_sources_claim_nothing_and_six_can():
    for g, shown in ((5, False), (6, True)):
        losses, source = related(0, [0, 50, 100], [3] * g)
        joint = joint_test(pairs_of(losses), source)
        assert joint.adjusted.min() == 2.0 ** (1 - g)
        assert (joint.adjusted <= 0.05).all() == shown
    assert joint.top().tolist() == [True, False, False]
    assert ranks_of(joint) == [[1, 2, 3], [1, 2, 3]]


def test_equal_strategies_and_a_single_one_of_a_kind():
    losses = np.tile(np.arange(8.0)[:, None], (1, 3))
    joint = joint_test(pairs_of(losses), np.arange(8))
    assert (joint.p == 1).all()
    assert (joint.best == 1).all()
    assert joint.top().all()
    assert ranks_of(joint) == [[1, 1, 1], [3, 3, 3]]


def test_what_changes_nothing_for_the_others():
    truth = [0, 0.1, 0.4, 0.8, 1.5]
    losses, source = related(1, truth, [1, 2, 3, 1, 5, 2, 2, 4, 1, 3])
    known = joint_test(pairs_of(losses), source)
    others = {
        "units": (losses * 1000 + 5, source),
        "units of each dataset": (losses + np.arange(len(losses))[:, None], source),
        "a dummy": (np.c_[losses, losses.max(axis=1) + 9], source),
        "a copy of a strategy": (np.c_[losses, losses[:, 2]], source),
        "rows in another order": (losses[::-1], source[::-1]),
        "numbers of sources": (losses, np.random.default_rng(0).permutation(10)[source]),
    }
    for what, (table, of) in others.items():
        joint = joint_test(pairs_of(table), of)
        a, b = np.triu_indices(table.shape[1], 1)
        old = np.flatnonzero((a < 5) & (b < 5))
        np.testing.assert_allclose(joint.p[old], known.p, err_msg=what)
        np.testing.assert_allclose(joint.adjusted[old], known.adjusted, atol=0.004, err_msg=what)
        np.testing.assert_allclose(joint.best[:5], known.best, atol=0.004, err_msg=what)
        assert joint.top()[:5].tolist() == known.top().tolist(), what


def test_more_datasets_of_a_source_are_not_more_evidence():
    losses, source = related(2, [0, 1.0], [1] * 8)
    once = joint_test(pairs_of(losses), source)
    copied = joint_test(pairs_of(np.repeat(losses, 5, axis=0)), np.repeat(source, 5))
    assert copied.p[0] == once.p[0]
    assert joint_test(pairs_of(np.repeat(losses, 5, axis=0)), np.arange(40)).p[0] < once.p[0]


def test_flips_are_all_or_as_many_at_random():
    assert len(np.unique(flips(8), axis=0)) == len(flips(8)) == 128
    many = flips(40)
    assert many.shape == (FLIPS, 40)
    assert (many[0] == 1).all()
    assert abs(many.mean()) < 0.01
    assert set(np.unique(many)) == {-1, 1}
    assert (flips(40, 1) != many).any()


def test_it_has_more_power_than_holm():
    losses, source = related(4, np.repeat([0, 1.2], 3), [1] * 10)
    joint = joint_test(pairs_of(losses), source)
    assert (joint.adjusted <= adjust(joint.p, "holm") + 0.01).all()
    assert (joint.adjusted <= 0.05).sum() > (adjust(joint.p, "holm") <= 0.05).sum()


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[1, 1, 2, 3, 4, 6, 10], [8, 8, 4, 4, 3] + [1] * 9])
def test_level_of_the_family_and_coverage_of_the_top_set(sizes):
    false = lacks = 0
    for seed in range(200):
        joint = joint_test(
            pairs_of(related(seed, np.zeros(4), sizes, 0.6)[0]),
            np.repeat(np.arange(len(sizes)), sizes),
        )
        false, lacks = false + (joint.adjusted.min() <= 0.05), lacks + (not joint.top()[0])
    assert false <= 20
    assert lacks <= 20


def test_parts_of_the_flips_are_the_flips(monkeypatch):
    for g, most in ((5, 64), (14, 8192), (15, 256), (30, 256)):
        whole = flips(g, 3, most)
        parts = [flips(g, 3, most, at, at + 7) for at in range(0, len(whole), 7)]
        assert (np.concatenate(parts) == whole).all()
    rng = np.random.default_rng(0)
    differences, source = rng.normal(0.1, 1, (40, 3)), np.arange(40) // 2
    known = joint_test(differences, source)
    monkeypatch.setattr("mlaut.analysis.sources.flips._SIGNS", 1000)
    again = joint_test(differences, source)
    assert (again.adjusted == known.adjusted).all()
    assert (again.best == known.best).all()


def test_datasets_that_stand_twice_in_their_source_change_nothing():
    a = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    once = pd.DataFrame({"A": a, "B": [0.15, 0.19, 0.37, 0.48, 0.48, 0.7]})
    rng = np.random.default_rng(1)
    for table in (once, pd.DataFrame(rng.normal(size=(12, 4)), columns=list("ABCD"))):
        twice = pd.concat([table, table.rename("copy of {}".format)])
        found = []
        for frame in (table, twice):
            results = Results.from_table(frame, metric="cost", greater_is_better=False)
            own = {name: str(name).removeprefix("copy of ") for name in frame.index}
            joint = joint_of_results(results.with_clusters(own))
            found.append([*joint.adjusted, *joint.p, *joint.best])
        np.testing.assert_allclose(*found, rtol=0, atol=1e-12)

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis.pairwise.decisions import decide, non_transitive_cycles
from mlaut.errors import AnalysisError


def _table(p: np.ndarray) -> pd.DataFrame:
    names = list("ABCDEFGH")[: len(p)]
    return pd.DataFrame(p, names, names)


def _random(k: int, seed: int) -> pd.DataFrame:
    p = np.random.default_rng(seed).random((k, k))
    return _table(np.triu(p, 1) + np.tril(1 - p.T, -1) + 0.5 * np.eye(k))


def _by_hand(p: np.ndarray) -> set[tuple[int, ...]]:
    k = len(p)
    triples = [(a, b, c) for a in range(k) for b in range(k) for c in range(k)]
    return {
        (a, b, c)
        for a, b, c in triples
        if a == min(a, b, c) and p[a, b] > 0.5 and p[b, c] > 0.5 and p[c, a] > 0.5
    }


@pytest.mark.parametrize("seed", range(5))
def test_all_cycles_of_three_are_found(seed):
    table = _random(6, seed)
    names = list(table.index)
    found = {tuple(map(names.index, c.strategies)) for c in non_transitive_cycles(table)}
    assert found == _by_hand(table.to_numpy())


def test_cycles_come_with_their_weakest_link_the_surest_first():
    cycles = non_transitive_cycles(_random(8, 1))
    weakest = [cycle.weakest for cycle in cycles]
    assert weakest == sorted(weakest, reverse=True)
    assert all(w > 0.5 for w in weakest)


def test_an_order_has_no_cycle():
    quality = np.arange(6)
    p = np.where(quality[:, None] > quality, 0.9, 0.1)
    assert non_transitive_cycles(_table(p)) == ()


def test_a_longer_cycle_without_one_of_three_is_found():
    p = np.full((5, 5), 0.5)
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4)):
        p[a, b], p[b, a] = 0.9, 0.1
    (cycle,) = non_transitive_cycles(_table(p))
    assert sorted(cycle.strategies) == list("ABCD")
    around = "".join((*cycle.strategies, *cycle.strategies))
    assert "ABCD" in around
    assert cycle.weakest == 0.9


def test_claims_are_the_surest_within_the_bound():
    p = np.full((4, 4), 0.5)
    rows, columns = np.triu_indices(4, 1)
    p[rows, columns] = [0.99, 0.02, 0.95, 0.9, 0.6, 0.5]
    p[columns, rows] = 1 - p[rows, columns]
    decisions = decide(_table(p), false_share=0.04)
    # expected false among the first 1, 2, 3, 4: .01, .03, .08, .18
    assert decisions.claims == (("A", "B"), ("C", "A"), ("A", "D"))
    assert decisions.expected_false == pytest.approx(0.08)
    assert len(decide(_table(p), false_number=0.2).claims) == 4
    assert decide(_table(p)).sentence() == (
        "4 of 6 pairs are claimed (expected share of false ones at most 0.05); "
        "0.18 of these claims are expected to be false under the posterior. "
        "This does not bound the chance of a claim where no strategies differ."
    )


def test_the_share_of_false_claims_is_as_promised():
    """Known truth: effects and data are normal, the probabilities are exact posteriors."""
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        skill = rng.normal(size=8)
        seen = skill + rng.normal(size=8)
        # posterior of a skill: normal with mean seen / 2 and variance 1 / 2
        better = ndtr((seen[:, None] - seen) / 2)
        claims = decide(_table(better), false_share=0.1).claims
        wrong = [skill["ABCDEFGH".index(a)] < skill["ABCDEFGH".index(b)] for a, b in claims]
        shares.append(np.mean(wrong) if wrong else 0.0)
    assert np.mean(shares) == pytest.approx(0.085, abs=0.02)


def test_nothing_is_claimed_where_nothing_is_sure():
    decisions = decide(_table(np.full((3, 3), 0.5)))
    assert decisions.claims == ()
    assert decisions.expected_false == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: decide(t, false_share=0.1, false_number=1), "give one of"),
        (lambda t: decide(t, false_share=0), "the bound 0 is not a positive number"),
        (lambda t: decide(t.where(t < 0.9)), "has gaps"),
        (lambda t: decide(t.iloc[:2]), "must be the same strategies"),
        (lambda t: non_transitive_cycles(t.iloc[:, :2]), "must be the same strategies"),
        (
            lambda t: non_transitive_cycles(t, threshold=0.2),
            "threshold = 0.2 is not in",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    table = _table(np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]]))
    with pytest.raises(AnalysisError, match=message):
        call(table)

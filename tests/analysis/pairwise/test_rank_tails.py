"""Tails of signed rank sums with ties, against counts of all sign patterns in whole numbers."""

from fractions import Fraction

import numpy as np
import pytest

from mlaut.analysis.pairwise.rank_tails import _central_tails, signed_rank_tails
from mlaut.analysis.pairwise.signed_rank import ZERO_RULES, SignedRanks


def counted(ranks: np.ndarray, statistic: float) -> Fraction:
    """Return the share of sign patterns with a sum up to the statistic."""
    doubled = np.rint(2 * ranks).astype(int).tolist()
    ways = np.array([1] + [0] * sum(doubled), dtype=object)
    for rank in filter(None, doubled):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return Fraction(ways[: int(2 * statistic) + 1].sum(), 2 ** sum(map(bool, doubled)))


def tied(n: int, columns: int, zeros: str = "wilcox") -> SignedRanks:
    """Return signed ranks of rounded differences, from centred ones to shifted ones."""
    d = np.random.default_rng(n).normal(0, 0.05, (n, columns)) + np.linspace(0, 0.02, columns)
    return SignedRanks.of(d.round(2), zeros)


@pytest.mark.parametrize("zeros", ZERO_RULES)
@pytest.mark.parametrize("n", [2, 7, 40])
def test_up_to_forty_ranks_the_tails_are_exact(n, zeros):
    signed = tied(n, 90, zeros)
    for statistic in (signed.plus, signed.minus):
        found = signed_rank_tails(signed.ranks, statistic)
        columns = zip(signed.ranks.T, statistic, strict=True)
        assert found.tolist() == [float(counted(*column)) for column in columns]


@pytest.mark.parametrize("n", [41, 80, 130])
def test_tails_of_more_ranks_have_eleven_digits(n):
    signed = tied(n, 100)
    found = signed_rank_tails(signed.ranks, signed.minus)
    assert found.min() < 0.01
    assert found.max() > 0.5
    for at in range(0, 100, 7):
        exact = float(counted(signed.ranks[:, at], signed.minus[at]))
        assert found[at] == pytest.approx(exact, rel=1e-11)


def test_ranks_that_are_all_equal_or_all_even_have_further_angles_that_matter():
    equal = np.full((44, 70), 22.5)
    even = np.tile(np.arange(1.0, 45)[:, None], 70)
    for ranks in (equal, even):
        sums = (ranks * (np.random.default_rng(5).random(ranks.shape) < 0.5)).sum(axis=0)
        found = signed_rank_tails(ranks, sums)
        exact = [float(counted(*column)) for column in zip(ranks.T, sums, strict=True)]
        np.testing.assert_allclose(found, exact, rtol=1e-11)


def test_a_column_does_not_depend_on_its_neighbours():
    signed = tied(60, 100)
    doubled = np.rint(2 * signed.ranks).astype(int)
    counts = np.stack([np.bincount(c, minlength=122)[1:] for c in doubled.T]).astype(float)
    away = doubled.sum(axis=0) - 2 * np.floor(2 * signed.plus)
    alone = [_central_tails(counts[[at]], away[[at]])[0] for at in (0, 50, 99)]
    np.testing.assert_allclose(_central_tails(counts, away)[[0, 50, 99]], alone, rtol=0, atol=2e-15)


def test_columns_without_ranks_and_sums_beyond_all_have_no_doubt():
    ranks = np.zeros((5, 80))
    assert (signed_rank_tails(ranks, np.zeros(80)) == 1).all()
    ranks[0] = 1.0
    assert (signed_rank_tails(ranks, np.full(80, -0.5)) == 0).all()
    assert (signed_rank_tails(ranks, np.full(80, 7.0)) == 1).all()

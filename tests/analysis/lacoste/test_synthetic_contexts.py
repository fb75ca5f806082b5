import numpy as np
import pytest
from contexts import (
    BIMODAL,
    MULTIPLE,
    SINGLE,
    Context,
    context_from_counts,
)

from mlaut.errors import AnalysisError


@pytest.mark.parametrize("context", [SINGLE, BIMODAL, MULTIPLE], ids=lambda c: c.name)
def test_the_share_is_that_of_sampling(context):
    rng = np.random.default_rng(0)
    which = rng.choice(len(context.weights), p=context.weights, size=200_000)
    gammas = rng.standard_gamma(context.alphas[which])
    p = gammas / gammas.sum(axis=1, keepdims=True)
    assert context.share == pytest.approx((p[:, 0] < p[:, 1]).mean(), abs=0.005)
    assert context.a_is_better


def test_the_contexts_of_the_paper():
    # Lacoste, Laviolette & Marchand (2012), section 6.4 and Table 5.
    assert SINGLE.alphas.tolist() == [[100, 110, 790]]
    assert BIMODAL.weights == pytest.approx([2 / 3, 1 / 3])
    assert MULTIPLE.alphas.shape == (22, 3)
    assert MULTIPLE.alphas.sum(axis=0).tolist() == [597, 1802, 25881]


def test_draws_have_the_expected_counts_and_swap_at_random():
    draws = SINGLE.draw(20_000, 5, n_points=500, seed=1)
    assert draws.only_a.shape == draws.only_b.shape == draws.n.shape == (20_000, 5)
    assert (draws.only_a + draws.only_b <= draws.n).all()
    better = np.where(draws.a_is_better[:, None], draws.only_a, draws.only_b)
    worse = np.where(draws.a_is_better[:, None], draws.only_b, draws.only_a)
    assert better.mean() == pytest.approx(50, abs=0.2)
    assert worse.mean() == pytest.approx(55, abs=0.2)
    assert draws.a_is_better.mean() == pytest.approx(0.5, abs=0.02)


def test_draws_follow_the_seed():
    same, again, other = (MULTIPLE.draw(50, 7, seed=s) for s in (3, 3, 4))
    assert (same.only_a == again.only_a).all()
    assert (same.only_a != other.only_a).any()


def test_a_context_from_a_study_has_its_datasets_as_components():
    context = context_from_counts([3, 0], [8, 2], [100, 50], prior=1.0)
    assert context.alphas.tolist() == [[4, 9, 90], [1, 3, 49]]
    draws = context.draw(2000, 3, seed=0)
    assert set(np.unique(draws.n)) == {50, 100}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: context_from_counts([30], [80], [100]), "together at most n"),
        (lambda: context_from_counts([], [], []), "one pair of counts for each dataset"),
        (lambda: context_from_counts([-1], [1], [10]), "only_first_wrong = -1 is not a count"),
        (
            lambda: Context("x", np.zeros((1, 3)), np.ones(1), np.ones(1)),
            "context 'x': alphas must be positive",
        ),
        (
            lambda: Context("x", np.ones((2, 3)), np.ones(2), np.ones(2)),
            "context 'x': weights must be C probabilities",
        ),
        (
            lambda: Context("x", np.ones((1, 3)), np.ones(1), np.zeros(1)),
            "context 'x': sizes must be C numbers",
        ),
    ],
)
def test_bad_contexts_are_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()

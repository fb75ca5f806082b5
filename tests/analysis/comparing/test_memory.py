"""Memory of the tests of many pairs, beside that of the differences of their losses."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, nemenyi_test, trinomial_test
from mlaut.analysis.pairwise.pairs import paired_losses

MEGABYTE = 1_000_000


def prepared(n_datasets: int, n_strategies: int) -> Results:
    """Return results whose differences are computed; their scores have three decimals."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0.7, 0.05, (n_datasets, 1)) + rng.normal(
        0, 0.02, (n_datasets, n_strategies)
    )
    results = Results.from_table(pd.DataFrame(scores.round(3)).add_prefix("s"), metric="accuracy")
    assert paired_losses(results).differences.size
    return results


def peak(of: Callable[[], object]) -> float:
    """Return the largest memory of a call, in megabytes."""
    tracemalloc.start()
    try:
        of()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("n_datasets", "n_strategies", "test", "most"),
    [
        (6, 400, nemenyi_test, 40),  # 79,800 pairs: 560 with the nodes of an integral for each
        (1000, 100, trinomial_test, 60),  # 4,950 pairs: 120 with all numbers of ties for each
    ],
)
def test_a_test_holds_no_row_for_each_pair(n_datasets, n_strategies, test, most):
    results = prepared(n_datasets, n_strategies)
    assert peak(lambda: test(results)) < most

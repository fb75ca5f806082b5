"""Time the Bayesian tests on a 121 x 27 matrix, and the signed rank test against baycomp.

All 351 pairs at the same number of samples; baycomp, a pair at a time, is timed on a few pairs and
multiplied. Run with one thread for BLAS (OMP_NUM_THREADS=1).

    python benchmarks/bayesian_speed.py
"""

import time
from collections.abc import Callable

import baycomp
import numpy as np

from mlaut.analysis.bayesian import sign_probabilities, signed_rank_probabilities
from mlaut.analysis.lacoste import prob_better_classifier
from mlaut.analysis.poisson_binomial import poisson_binomial_probability

N, K, ROPE, SAMPLES = 121, 27, 0.01, 50_000


def seconds(function: Callable[[], object], times: int = 1) -> float:
    """Give the best of some runs."""
    best = np.inf
    for _ in range(times):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    losses = rng.random((N, 1)) * 0.3 + rng.normal(0, 0.03, (N, K))
    first, second = np.triu_indices(K, 1)
    pairs = losses[:, first] - losses[:, second]
    counts = rng.integers(0, 60, (2, len(first), N))

    def poisson_binomial() -> object:
        """Start from counts of errors."""
        return poisson_binomial_probability(prob_better_classifier(*counts)[0])

    poisson_binomial()  # imports
    print(f"Poisson binomial, from counts, all pairs: {1e3 * seconds(poisson_binomial, 5):.1f} ms")
    sign = seconds(lambda: sign_probabilities(pairs, ROPE), 3)
    print(f"Bayesian sign test, exact, all pairs: {1e3 * sign:.0f} ms")
    ours = seconds(lambda: signed_rank_probabilities(pairs, ROPE, n_samples=SAMPLES))
    print(f"Bayesian signed rank test, {SAMPLES} samples, all pairs: {ours:.1f} s")
    theirs = [
        seconds(
            lambda i=i: baycomp.SignedRankTest.probs(
                losses[:, first[i]], losses[:, second[i]], ROPE, nsamples=SAMPLES
            )
        )
        for i in (0, 100, 200)
    ]
    total = len(first) * float(np.mean(theirs))
    print(f"baycomp, the same: {total:.0f} s, {total / ours:.0f} times as long")

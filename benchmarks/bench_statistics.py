"""Time the analysis of a 121 x 27 matrix, all 351 pairs, against autorank and baycomp.

The times are CPU seconds of one process. The programs take turns in each round, and the median of
the rounds is printed. baycomp takes one pair at a time: it is timed on three pairs and multiplied.

    OMP_NUM_THREADS=1 python benchmarks/bench_statistics.py [--rounds 5] [--samples 50000]
"""

import argparse
import io
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from statistics import median

import baycomp
import numpy as np
import pandas as pd
from autorank import autorank, create_report

from mlaut.analysis import Results, bayesian_sign_test, compare
from mlaut.analysis.methods.bayes import signed_rank_probabilities
from mlaut.analysis.methods.frequentist import conover_test, kendalls_w, post_hoc_test
from mlaut.analysis.methods.lacoste import poisson_binomial_probability, prob_better_classifier
from mlaut.analysis.pairwise import adjust

N, K, ROPE = 121, 27, 0.01
UPPER = np.triu_indices(K, 1)
CORRECTIONS = ("bonferroni", "holm", "hochberg", "shaffer", "benjamini-hochberg")


def seconds(function: Callable[[], object]) -> float:
    """Return the CPU time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def everything_frequentist(results: Results) -> None:
    """Run every frequentist test, correction, effect size and interval."""
    found = compare(results, control=results.strategies[0], n_samples=0)
    post_hoc_test(results)
    conover_test(results)
    kendalls_w(results)
    for pairs in found.pairs.values():
        p = pairs.tables.get("p (unadjusted)", pairs.p_values).to_numpy()[UPPER]
        for method in CORRECTIONS:
            adjust(p, method)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=50_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of the peers

    rng = np.random.default_rng(0)
    losses = rng.random((N, 1)) * 0.3 + rng.normal(0, 0.03, (N, K))
    table = pd.DataFrame(losses, columns=[f"s{i}" for i in range(K)])
    first, second = UPPER
    differences = losses[:, first] - losses[:, second]
    counts = rng.integers(0, 60, (2, len(first), N))

    def ours() -> None:
        """Start from the table, so that nothing is kept from the round before."""
        everything_frequentist(Results.from_table(table, greater_is_better=False))

    def rounded() -> None:
        """Compute the same for losses with three decimals; with ties exact tests take longer."""
        everything_frequentist(Results.from_table(table.round(3), greater_is_better=False))

    def report(of: pd.DataFrame) -> None:
        """Compare, and write the text."""
        with redirect_stdout(io.StringIO()):
            create_report(autorank(of))

    def signed_rank() -> None:
        """Compute the Bayesian signed rank test of all pairs."""
        signed_rank_probabilities(differences, ROPE, n_samples=given.samples)

    def theirs() -> None:
        """Compute baycomp's signed rank test of three pairs."""
        for i in (0, 100, 200):
            a, b = losses[:, first[i]], losses[:, second[i]]
            baycomp.SignedRankTest.probs(a, b, ROPE, nsamples=given.samples)

    def poisson_binomial() -> None:
        """Compute the Poisson binomial test of all pairs, from counts of errors."""
        poisson_binomial_probability(prob_better_classifier(*counts)[0])

    timed = {
        "everything frequentist, all pairs": ours,
        "the same, losses of three decimals": rounded,
        "autorank, its one report": lambda: report(table),
        "autorank, losses of three decimals": lambda: report(table.round(3)),
        "Bayesian sign test, exact, all pairs": lambda: bayesian_sign_test(
            Results.from_table(table, greater_is_better=False), rope=ROPE
        ),
        f"Bayesian signed rank test, {given.samples} draws, all pairs": signed_rank,
        f"baycomp, the same, {given.samples} draws, three pairs": theirs,
        "Poisson binomial test, all pairs": poisson_binomial,
    }
    for function in timed.values():
        if function not in (signed_rank, theirs):
            function()  # imports
    rounds = [{name: seconds(call) for name, call in timed.items()} for _ in range(given.rounds)]
    middle = {name: median(one[name] for one in rounds) for name in timed}
    for name, took in middle.items():
        print(f"{name}: {1e3 * took:.1f} ms")
    frequentist, tied, theirs_all, theirs_tied, _, bayes, three, _ = middle.values()
    print(f"autorank takes {theirs_all / frequentist:.2f} times as long as everything frequentist")
    print(f"with three decimals {theirs_tied / tied:.2f} times")
    print(f"baycomp takes {three / 3 * len(first) / bayes:.0f} times as long for all pairs")

"""Share of studies without structure in which `explain_differences` and `dataset_groups` find some.

python benchmarks/explaining.py [number of studies]

Differences: three strategies do not differ, or differ by the same amount on all datasets, and four
properties have nothing to do with them: sizes with a long tail, a rare third class, gaps on half of
the datasets, noise. With "size" the losses of large datasets vary less, as in real studies.

Groups: the losses of all datasets are one normal population, in which strategies are independent,
or alike in random ways.
"""

import sys

import numpy as np
import pandas as pd

from mlaut.analysis import dataset_groups, explain_differences


def study(rng, n, kind):
    """Return losses of three strategies on n datasets, and properties of the datasets."""
    rows = rng.lognormal(6, 2, n)
    about = pd.DataFrame(
        {
            "rows": rows,
            "classes": 2 + (rng.random(n) < 0.15),
            "gaps": np.maximum(rng.normal(size=n), 0),
            "noise": rng.random(n),
        }
    )
    spread = 1 / np.sqrt(rows) if kind == "size" else np.ones(n)
    losses = rng.normal([0, 0, 0.5], spread[:, None], (n, 3))
    if kind == "tied":
        losses = losses.round()
    return pd.DataFrame(losses, columns=[*"ABC"]), about


def groups(n_studies):
    """Print the shares of studies without groups in which some are found."""
    print("\n| strategies are | 6 strategies, 20 datasets | 6, 60 | 12, 20 | 12, 60 |")
    print("| --- | --- | --- | --- | --- |")
    for kind in ("independent", "alike"):
        shares = []
        for k, n in ((6, 20), (6, 60), (12, 20), (12, 60)):
            rng, found = np.random.default_rng(n), 0
            for at in range(n_studies):
                mixed = np.eye(k) if kind == "independent" else rng.normal(size=(k, k))
                losses = rng.normal(size=(n, k)) @ mixed + rng.normal(size=k)
                table = pd.DataFrame(losses, columns=[f"s{i}" for i in range(k)])
                one = dataset_groups(
                    table, metric="loss", greater_is_better=False, n_samples=99, seed=at
                )
                found += one.p_value <= 0.05
            shares.append(f"{100 * found / n_studies:.1f}")
        print(f"| {kind} | " + " | ".join(shares) + " |")


def differences(n_studies):
    """Print the shares of studies of noise in which something is explained."""
    print("| losses | datasets | a rank correlation | a model | either |")
    print("| --- | --- | --- | --- | --- |")
    for kind in ("normal", "tied", "size"):
        for n in (8, 12, 30, 100):
            rng = np.random.default_rng(n)
            found = np.zeros((n_studies, 2), dtype=bool)
            for at in range(n_studies):
                table, about = study(rng, n, kind)
                about = about.loc[:, np.ptp(about.to_numpy(), axis=0) > 0]
                one = explain_differences(
                    table, about, metric="loss", greater_is_better=False, n_samples=99, seed=at
                )
                found[at] = len(one.found) > 0, len(one.predicted) > 0
            shares = [*found.mean(axis=0), found.any(axis=1).mean()]
            print(f"| {kind} | {n} | " + " | ".join(f"{100 * x:.1f}" for x in shares) + " |")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    differences(number)
    groups(number)

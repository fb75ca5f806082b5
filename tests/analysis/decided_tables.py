"""Tables of scores whose decision is known, and their decisions."""

import numpy as np
import pandas as pd

from mlaut.analysis import compare


def table(n=20, **worse):
    """Return accuracies around 0.8, lower by ``worse`` for each strategy."""
    rng = np.random.default_rng(3)
    level = rng.uniform(0.7, 0.9, n)
    return pd.DataFrame({k: level - w + rng.normal(0, 0.01, n) for k, w in worse.items()})


def decided(frame, metric="accuracy", **terms):
    comparison = compare(frame, metric=metric, rope=terms.get("rope", 0.0))
    return comparison.decision(**terms)

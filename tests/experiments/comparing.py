"""Return whether two studies hold the same."""

import numpy as np


def arrays(study):
    return {
        block.dataset: (block.status, block.predictions, block.probabilities)
        for block in study.blocks()
    }


def assert_same(one, other):
    assert one.keys() == other.keys()
    for dataset in one:
        for left, right in zip(one[dataset], other[dataset], strict=True):
            np.testing.assert_array_equal(left, right)

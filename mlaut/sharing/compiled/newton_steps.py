"""Compiled Newton steps of the leaves of a boosted tree, bit for bit those of scikit-learn.

Needs numba (extra ``fast``). scikit-learn sums over the rows of each leaf with NumPy, whose order
of additions is followed here: up to 7 numbers in turn; up to 128 in eight sums side by side, which
are then added in pairs, and after them the numbers that are left over; more numbers in two halves.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 8  # sums that NumPy adds up side by side
MOST = 128  # numbers that NumPy adds up without halving them


@njit(cache=True)
def _sum(numbers, start, stop):
    """Return the sum of ``numbers[start:stop]`` as NumPy adds them; zero may have another sign."""
    n = stop - start
    if n > MOST:
        half = n // 2
        half -= half % LANES
        return _sum(numbers, start, start + half) + _sum(numbers, start + half, stop)
    if n < LANES:
        total, rest = 0.0, start
    else:
        rest = stop - n % LANES
        lanes = numbers[start : start + LANES].copy()
        for i in range(start + LANES, rest, LANES):
            for lane in range(LANES):
                lanes[lane] += numbers[i + lane]
        total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + (
            (lanes[4] + lanes[5]) + (lanes[6] + lanes[7])
        )
    for i in range(rest, stop):
        total += numbers[i]
    return total


@njit(cache=True)
def add_steps(values, leaves, target, gradient, raw, column, rules):
    """Set each leaf of a tree to its Newton step, and add the steps to the predictions.

    Parameters
    ----------
    values : ndarray, shape (n_nodes,)
        Values of the nodes; those of leaves are set.
    leaves : ndarray of int, shape (n_rows,)
        Leaf of each row.
    target, gradient : ndarray, shape (n_rows,)
        Targets, 0 or 1, and negative gradients, which are target minus probability.
    raw : ndarray, shape (n_rows, n_columns)
        Predictions of the training rows, to one column of which the steps are added.
    column : int
    rules : tuple of float
        Learning rate, the factor of steps of several classes, and the least mean hessian.
    """
    rate, factor, least = rules
    n_rows, n_nodes = len(leaves), len(values)
    ends = np.zeros(n_nodes + 1, np.int64)
    for row in range(n_rows):
        ends[leaves[row] + 1] += 1
    for node in range(n_nodes):
        ends[node + 1] += ends[node]
    slopes, curvatures = np.empty(n_rows), np.empty(n_rows)
    next_place = ends[:-1].copy()
    for row in range(n_rows):
        place = next_place[leaves[row]]
        next_place[leaves[row]] += 1
        probability = target[row] - gradient[row]
        slopes[place] = gradient[row]
        curvatures[place] = probability * (1 - probability)
    for node in range(n_nodes):
        start, stop = ends[node], ends[node + 1]
        if start == stop:
            continue
        slope = _sum(slopes, start, stop) / (stop - start) * factor
        curvature = _sum(curvatures, start, stop) / (stop - start)
        values[node] = slope / curvature if abs(curvature) >= least else 0.0
    for row in range(n_rows):
        raw[row, column] += rate * values[leaves[row]]

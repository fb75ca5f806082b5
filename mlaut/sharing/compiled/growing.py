"""Compiled growth of histogram trees, with the arithmetic of scikit-learn's in the same order.

Needs numba (extra ``fast``). Nothing here may be reordered or simplified: each sum, comparison and
tie decides bits of a tree. Three things save time: the whole tree is grown in one compiled call,
rows of codes are read once for all columns, and positions of a histogram whose sums equal those of
the position before (most, in small nodes) are not evaluated, for their gain is the same.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import carray, cfunc, njit, types

LEAST_HESSIAN = 1e-3  # scikit-learn's bound for the sum of hessians of a child
CATEGORY_SUPPORT = 10.0  # scikit-learn's: rarer categories go right, and values are shrunk by it
TINY = 1e-15  # scikit-learn's guard against division by zero
SCREEN = 1 - 1e-9  # a gain is divided out only if it can reach the best, up to rounding (1e-15)

INTEGERS = FEATURE, CODE, LEFT, RIGHT, START, STOP, DEPTH, GAPS_LEFT, SLOT = range(9)
"""Columns of whole numbers of a node; FEATURE is -1 in leaves, SLOT the place of its histogram."""

FLOATS = VALUE, GAIN, GRADIENT, HESSIAN, VALUE_LEFT, VALUE_RIGHT, GRADIENT_LEFT, HESSIAN_LEFT = (
    range(8)
)
"""Columns of numbers of a node: its own value and sums, and those of its best split."""

# The C library's sort, which scikit-learn uses for categories: ties come out in its order.
_qsort = types.ExternalFunction("qsort", types.void(types.intp, types.intp, types.intp, types.intp))


@cfunc(types.int32(types.CPointer(types.float64), types.CPointer(types.float64)), cache=True)
def _by_value(one, other):
    return -1 if carray(one, 2)[1] < carray(other, 2)[1] else 1


BY_VALUE: int = _by_value.address


def node_arrays(n_leaves: int, n_positions: int) -> tuple[np.ndarray, ...]:
    """Return empty arrays for `grow`: nodes (whole numbers, numbers, categories), histograms, heap.

    Parameters
    ----------
    n_leaves : int
        Largest number of leaves.
    n_positions : int
        Positions of a histogram: the bins of all columns.
    """
    size = 2 * n_leaves
    return (
        np.empty((size, len(INTEGERS)), np.int64),
        np.empty((size, len(FLOATS))),
        np.empty((size, 256), np.bool_),  # a bin is a byte
        np.empty((n_leaves + 1, n_positions, 3)),
        np.empty(size, np.int64),
    )


@njit(cache=True)
def _fill(histogram, codes, rows, gradient, hessian):
    histogram[:] = 0.0
    for i in range(len(rows)):
        row = rows[i]
        g, h = gradient[row], hessian[row]
        for column in range(codes.shape[1]):
            at = codes[row, column]
            histogram[at, 0] += g
            histogram[at, 1] += h
            histogram[at, 2] += 1.0


@njit(cache=True)
def _subtract(histogram, other):
    numbers, others = histogram.reshape(histogram.size), other.reshape(other.size)
    for i in range(numbers.size):
        numbers[i] -= others[i]


@njit(cache=True)
def _value(gradient, hessian, l2):
    return -gradient / (hessian + l2 + TINY)


@njit(cache=True)
def _scan(histogram, begin, stop, step, sums, found, rules):
    """Scan the bins of a column in one direction; return whether a split beats the one found."""
    least_rows, l2 = rules
    gradient, hessian, n_rows, loss = sums
    best, best_at = found[0], -1
    bar = (max(best, 0.0) - loss) * SCREEN
    g = h = n = 0.0
    last_g = last_h = last_n = -1.0
    for at in range(begin, stop, step):
        n += histogram[at, 2]
        h += histogram[at, 1]
        g += histogram[at, 0]
        if n < least_rows or (n == last_n and h == last_h and g == last_g):
            continue
        last_n, last_h, last_g = n, h, g
        other_h = hessian - h
        if n_rows - n < least_rows:
            break
        if h < LEAST_HESSIAN:
            continue
        if other_h < LEAST_HESSIAN:
            break
        other_g = gradient - g
        weight, other_weight = h + l2 + TINY, other_h + l2 + TINY
        if g * g * other_weight + other_g * other_g * weight < bar * weight * other_weight:
            continue
        first, second = g * (-g / weight), other_g * (-other_g / other_weight)
        gain = loss - first - second if step > 0 else loss - second - first
        if gain > best and gain > 0.0:
            best, best_at = gain, at
            found[2], found[3] = (g, h) if step > 0 else (other_g, other_h)
            bar = (best - loss) * SCREEN
    if best_at < 0:
        return False
    found[0], found[1] = best, best_at - (step < 0)
    return True


@njit(cache=True)
def _scan_categories(histogram, first, n_bins, sums, found, rules, chosen, by_value):
    """Scan the categories of a column, by value, from both ends; mark those on the left."""
    least_rows, l2 = rules
    gradient, hessian, n_rows, loss = sums
    factor = n_rows / hessian
    order = np.empty((n_bins, 2))
    used = 0
    for code in range(n_bins):
        h = histogram[first + code, 1]
        if h * factor >= CATEGORY_SUPPORT:
            order[used, 0] = code
            order[used, 1] = histogram[first + code, 0] / (h + CATEGORY_SUPPORT)
            used += 1
    if used <= 1:
        return False
    _qsort(order.ctypes.data, used, 16, by_value)
    best, direction = -1, 0
    for step in (1, -1):
        g = h = n = 0.0
        for i in range((used + 1) // 2 - (step < 0)):
            place = i if step == 1 else used - 1 - i
            at = first + int(order[place, 0])
            n += histogram[at, 2]
            h += histogram[at, 1]
            g += histogram[at, 0]
            other_h = hessian - h
            other_g = gradient - g
            if n < least_rows or h < LEAST_HESSIAN:
                continue
            if n_rows - n < least_rows or other_h < LEAST_HESSIAN:
                break
            gain = loss - g * _value(g, h, l2)
            gain -= other_g * _value(other_g, other_h, l2)
            if gain > found[0] and gain > 0.0:
                found[0], found[1], found[2], found[3] = gain, first, g, h
                best, direction = place, step
    if best < 0:
        return False
    chosen[:] = False
    begin, stop = (0, best + 1) if direction == 1 else (best, used)
    for place in range(begin, stop):
        chosen[int(order[place, 0])] = True
    return True


@njit(cache=True)
def _split(node, whole, real, chosen, histogram, first, gaps, categorical, rules, by_value):
    """Find the best split of a node; return whether there is one."""
    gradient, hessian = real[node, GRADIENT], real[node, HESSIAN]
    n_rows = float(whole[node, STOP] - whole[node, START])
    sums = (gradient, hessian, n_rows, real[node, VALUE] * gradient)
    found = np.empty(4)  # gain, position, and sums of the left side, of the best split so far
    found[0] = -1.0
    for column in range(len(gaps)):
        begin, after = first[column], first[column + 1] - 1  # the last bin is that of gaps
        if categorical[column]:
            n_bins = after - begin + gaps[column]
            if _scan_categories(
                histogram, begin, n_bins, sums, found, rules, chosen[node], by_value
            ):
                whole[node, FEATURE] = column
                whole[node, GAPS_LEFT] = gaps[column] and chosen[node, after - begin]
            continue
        if _scan(histogram, begin, after - 1 + gaps[column], 1, sums, found, rules):
            whole[node, FEATURE], whole[node, GAPS_LEFT] = column, 0
        if gaps[column] and _scan(histogram, after - 1, begin, -1, sums, found, rules):
            whole[node, FEATURE], whole[node, GAPS_LEFT] = column, 1
    best = found[0]
    whole[node, CODE] = int(found[1])
    real[node, GRADIENT_LEFT], real[node, HESSIAN_LEFT] = found[2], found[3]
    real[node, GAIN] = best
    if best <= 0:
        return False
    g, h, l2 = real[node, GRADIENT_LEFT], real[node, HESSIAN_LEFT], rules[1]
    real[node, VALUE_LEFT] = _value(g, h, l2)
    real[node, VALUE_RIGHT] = _value(gradient - g, hessian - h, l2)
    return True


@njit(cache=True)
def _goes_left(code, node, whole, chosen, first, categorical):
    column = whole[node, FEATURE]
    if code == first[column + 1] - 1:
        return whole[node, GAPS_LEFT] != 0
    if categorical[column]:
        return chosen[node, code - first[column]]
    return code <= whole[node, CODE]


@njit(cache=True)
def _part(rows, spare, lefts, node, codes, whole, chosen, first, categorical):
    """Move the rows of a node that go left before the others; return the place of the first."""
    column = whole[node, FEATURE]
    start = first[column]
    for code in range(start, first[column + 1]):
        lefts[code - start] = _goes_left(code, node, whole, chosen, first, categorical)
    left, right, stop = whole[node, START], 0, whole[node, STOP]
    for i in range(left, stop):
        row = rows[i]
        goes = lefts[codes[row, column] - start]
        rows[left] = spare[right] = (
            row  # without a branch, which would be guessed wrong half the time
        )
        left += goes
        right += 1 - goes
    for i in range(right):
        rows[left + i] = spare[i]
    return left


@njit(cache=True)
def _push(heap, size, node, real):
    """Add a node to the heap, as `heapq` does."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if not real[node, GAIN] > real[heap[above], GAIN]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = node
    return size + 1


@njit(cache=True)
def _pop(heap, size, real):
    """Move the node of the largest gain to the end of the heap, as `heapq` does: same ties."""
    top, node = heap[0], heap[size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and not real[heap[child], GAIN] > real[heap[child + 1], GAIN]:
            child += 1
        heap[place] = heap[child]
        place = child
    while place > 0:
        above = (place - 1) >> 1
        if not real[node, GAIN] > real[heap[above], GAIN]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = node
    heap[size] = top
    return size


@njit(cache=True)
def grow(table, gradient, hessian, root, rules, limits, nodes, rows, spare, by_value):
    """Grow a tree; return the number of its nodes.

    Parameters
    ----------
    table : tuple
        Codes of all rows (int32, rows x columns; bin plus first position of the column), first
        positions of all columns and the end, whether columns have gaps, whether they are
        categorical.
    gradient, hessian : ndarray of float32
    root : tuple of float
        Sums of both over all rows, as scikit-learn adds them.
    rules : tuple
        Least number of rows of a leaf, and penalty.
    limits : tuple of int
        Largest number of leaves, and depth.
    nodes : tuple of ndarray
        Result of `node_arrays`; filled.
    rows, spare : ndarray
        All row numbers, which are sorted by leaf, and room for as many.
    by_value : int
        `BY_VALUE`.
    """
    codes, first, gaps, categorical = table
    whole, real, chosen, histograms, heap = nodes
    n_rows = len(rows)
    least_rows, max_leaves, max_depth = rules[0], limits[0], limits[1]
    whole[0, START], whole[0, STOP], whole[0, DEPTH], whole[0, SLOT] = 0, n_rows, 0, 0
    whole[0, FEATURE] = -1
    real[0, VALUE], real[0, GRADIENT], real[0, HESSIAN] = 0.0, root[0], root[1]
    if n_rows < 2 * least_rows or root[1] < LEAST_HESSIAN:
        return 1
    _fill(histograms[0], codes, rows, gradient, hessian)
    if not _split(0, whole, real, chosen, histograms[0], first, gaps, categorical, rules, by_value):
        return 1
    lefts = np.empty(256, np.int64)
    n_nodes, n_slots, n_leaves, waiting = 1, 1, 1, _push(heap, 0, 0, real)
    while waiting > 0:
        waiting = _pop(heap, waiting, real)
        node = heap[waiting]
        left, right = n_nodes, n_nodes + 1
        n_nodes += 2
        n_leaves += 1
        middle = _part(rows, spare, lefts, node, codes, whole, chosen, first, categorical)
        whole[node, LEFT], whole[node, RIGHT] = left, right
        n_left, n_right = middle - whole[node, START], whole[node, STOP] - middle
        if not gaps[whole[node, FEATURE]]:
            whole[node, GAPS_LEFT] = n_left > n_right
        whole[left, START], whole[left, STOP] = whole[node, START], middle
        whole[right, START], whole[right, STOP] = middle, whole[node, STOP]
        real[left, VALUE], real[right, VALUE] = real[node, VALUE_LEFT], real[node, VALUE_RIGHT]
        g, h = real[node, GRADIENT_LEFT], real[node, HESSIAN_LEFT]
        real[left, GRADIENT], real[left, HESSIAN] = g, h
        real[right, GRADIENT] = real[node, GRADIENT] - g
        real[right, HESSIAN] = real[node, HESSIAN] - h
        depth = whole[node, DEPTH] + 1
        for child in (left, right):
            whole[child, DEPTH], whole[child, FEATURE] = depth, -1
        if n_leaves == max_leaves:
            break
        if depth == max_depth or max(n_left, n_right) < 2 * least_rows:
            continue
        small, large = (left, right) if n_left < n_right else (right, left)
        whole[small, SLOT], whole[large, SLOT] = n_slots, whole[node, SLOT]
        n_slots += 1
        less, more = histograms[whole[small, SLOT]], histograms[whole[large, SLOT]]
        _fill(less, codes, rows[whole[small, START] : whole[small, STOP]], gradient, hessian)
        _subtract(more, less)
        for child in (left, right):
            if whole[child, STOP] - whole[child, START] < 2 * least_rows:
                continue
            histogram = histograms[whole[child, SLOT]]
            if _split(
                child, whole, real, chosen, histogram, first, gaps, categorical, rules, by_value
            ):
                waiting = _push(heap, waiting, child, real)
    for i in range(waiting):
        whole[heap[i], FEATURE] = -1
    return n_nodes


@njit(cache=True)
def add_leaves(raw, other_raw, other_codes, table, nodes, n_nodes, rows, rate):
    """Add the values of the leaves to the predictions of the training rows and of other rows."""
    _, first, _, categorical = table
    whole, real, chosen, _, _ = nodes
    for node in range(n_nodes):
        if whole[node, FEATURE] < 0:
            real[node, VALUE] *= rate
            for i in range(whole[node, START], whole[node, STOP]):
                raw[rows[i]] += real[node, VALUE]
    for row in range(len(other_raw)):
        node = 0
        while whole[node, FEATURE] >= 0:
            code = other_codes[row, whole[node, FEATURE]]
            left = _goes_left(code, node, whole, chosen, first, categorical)
            node = whole[node, LEFT] if left else whole[node, RIGHT]
        other_raw[row] += real[node, VALUE]

"""Joint tests of all pairs of strategies by flips of whole sources.

If two strategies are equally good, then the signs of all differences of a source may be flipped
together. A flip changes the signs of all pairs at once, so the largest statistic of many pairs
keeps its distribution, and no correction for the number of pairs is needed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.blocks import in_blocks
from mlaut.analysis.common.draws import hashed
from mlaut.analysis.common.numerics import ranked

FLIPS = 1 << 13  # all flips up to 14 sources, else as many at random; the first one flips nothing
FEWEST = 6  # sources: with fewer, flips cannot reach a p-value of .05
WEIGHTS = ("learned", "source", "dataset")
_STREAM = 16  # of random numbers
_SIGNS = 20_000_000  # of sources, that are drawn at a time
_SAME = 1e-5  # relative: two sums of single precision that are equal but for rounding
_FAR = -3.0  # a rival with a smaller statistic cannot be the reason why a strategy is not the best
_BLOCK = 1 << 22  # numbers held in memory at a time
_MANY = 5000  # pairs of strategies, from which steps down and most flips would take too long


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint test of all P pairs of K strategies.

    Attributes
    ----------
    statistic : ndarray, shape (P,)
        Above 0 where the first strategy of a pair has the higher losses. Its variance over flips
        is 1.
    p, adjusted : ndarray, shape (P,)
        Two-sided p-values of the single pairs, and of all pairs together (step-down).
    best : ndarray, shape (K,)
        p-values of the hypotheses that a strategy is the best or shares this place.
    drawn : int, default 0
        Number of random flips; 0 if all flips are used.
    """

    statistic: np.ndarray
    p: np.ndarray
    adjusted: np.ndarray
    best: np.ndarray
    drawn: int = 0

    def notes(self) -> tuple[str, ...]:
        """Return a note on the Monte Carlo error; none if all flips are used."""
        if not self.drawn:
            return ()
        error = np.sqrt(0.05 * 0.95 / self.drawn)
        return (
            f"{self.drawn} random flips of signs: a p-value of 0.05 has a Monte Carlo error of "
            f"{error:.1g}, and none is below {1 / self.drawn:.1g}",
        )

    def top(self, alpha: float = 0.05) -> np.ndarray:
        """Return a mask of the strategies that may be the best.

        With probability ``1 - alpha`` or more, a given best strategy is among them.
        """
        return self.best > min(alpha, np.nextafter(self.best.max(), 0))


def joint_test(
    differences: np.ndarray,
    source: np.ndarray,
    weights: str = "learned",
    seed: int = 0,
    shift: float = 0.0,
) -> Joint:
    """Test all pairs of strategies jointly by the signed ranks of their differences.

    Parameters
    ----------
    differences : ndarray, shape (N, P)
        Loss of the first minus loss of the second strategy of each pair, without rounding noise;
        the order of pairs is that of ``np.triu_indices(K, 1)``.
    source : ndarray of int, shape (N,)
        The source of each dataset, 0 to G - 1.
    weights : {"learned", "source", "dataset"}, default "learned"
        Weights of the sources. ``"learned"``: best for the correlation within sources that the data
        show; ``"source"``: the same for each source; ``"dataset"``: the same for each dataset.
    seed : int, default 0
        Seed of the flips of more than 14 sources, of which 8,192 are drawn; of more than 5,000
        pairs, a quarter of this number.
    shift : float, default 0
        What is taken from each rank. With 1/2, a table whose every dataset stands in it twice has
        the same p-values, if the copies are of one source.

    Notes
    -----
    Null hypothesis: the differences of a source are jointly distributed symmetrically about 0.
    Weights are learned from numbers that no flip changes, so the test stays exact. Differences of 0
    are ranked and then left out (Pratt 1959). Flips of sources: Rosner, Glynn and Lee (2006); joint
    step-down tests (a single step for more than 5,000 pairs): Westfall and Young (1993), Romano and
    Wolf (2005).

    Examples
    --------
    >>> rng, source = np.random.default_rng(0), np.arange(12) // 2
    >>> losses = rng.normal([0, 0.1, 2], 0.3, size=(12, 3))
    >>> first, second = np.triu_indices(3, 1)
    >>> joint = joint_test(losses[:, first] - losses[:, second], source)
    >>> joint.adjusted.round(3), joint.top()
    (array([0.188, 0.031, 0.031]), array([ True,  True, False]))
    """
    statistic, smallest, single = _unit_sums(differences, source, weights, shift)
    most = FLIPS if len(single) <= _MANY else FLIPS >> 2
    joint = joint_of(statistic, smallest, _blocks(single, seed, most))
    return replace(joint, drawn=most if single.shape[1] > most.bit_length() else 0)


@in_blocks
def _unit_sums(
    differences: np.ndarray, source: np.ndarray, weights: str, shift: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return statistic and smallest statistic of pairs, and their sums of sources of length 1."""
    sums = source_sums(signed_ranks(differences, shift), source, weights)
    size = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
    unit = np.divide(sums, size, out=np.zeros_like(sums), where=size > 0)
    return unit.sum(axis=1), -np.abs(unit).sum(axis=1), unit.astype(np.float32)


def signed_ranks(differences: np.ndarray, shift: float = 0.0) -> np.ndarray:
    """Return the ranks of the sizes of differences, less a shift, with the signs, by column."""
    if differences.dtype == np.int8:  # signs: all but zeros share the upper ranks
        zeros = (differences == 0).sum(axis=0)
        return differences * ((len(differences) + zeros + 1) / 2 - shift)
    return np.sign(differences) * (ranked(np.abs(differences)) - shift)


def source_sums(scores: np.ndarray, source: np.ndarray, weights: str = "learned") -> np.ndarray:
    """Return the weighted sum of the scores of each source, shape (P, G), for scores (N, P)."""
    one_of("weights", weights, WEIGHTS)
    sizes = np.bincount(source)
    starts = np.cumsum([0, *sizes[:-1]])
    sums = np.add.reduceat(scores[np.argsort(source, kind="stable")], starts, axis=0)
    if weights == "dataset":
        return sums.T
    means = sums / sizes[:, None]
    if weights == "source":
        return means.T
    n, g = len(source), len(sizes)
    within = np.square(scores - means[source]).sum(axis=0) / max(n - g, 1)
    between = np.maximum((sizes @ np.square(means) - g * within) / n, 0.0)
    within = np.where(within + between > 0, within, 1.0)
    return (means / (between + within / sizes[:, None])).T


def flips(
    g: int, seed: int = 0, most: int = FLIPS, start: int = 0, stop: int | None = None
) -> np.ndarray:
    """Return flips of g sources, 1 or -1, shape (flips, g); the first source keeps its sign.

    ``start`` and ``stop`` choose a part of the flips.
    """
    every = 1 << min(g - 1, most.bit_length())
    draws = np.arange(start, min(most if every > most else every, stop or most))
    if every <= most:
        minus = draws[:, None] >> np.arange(g)[::-1] & 1 == 1
    else:
        minus = hashed(seed, _STREAM, draws, g) >> np.uint32(31) == 1
        minus[draws == 0] = False
    return np.where(minus, np.float32(-1), np.float32(1))


def _blocks(single: np.ndarray, seed: int, most: int) -> Iterator[np.ndarray]:
    """Yield the statistics of all pairs under some flips at a time, shape (P, flips)."""
    g = single.shape[1]
    width = _BLOCK * (1 if len(single) <= _MANY else 4) // len(single)
    width = max(1, min(width, _SIGNS // g))
    for start in range(0, min(most, 1 << min(g - 1, most.bit_length())), width):
        yield single @ flips(g, seed, most, start, start + width).T


def joint_of(statistic: np.ndarray, smallest: np.ndarray, blocks: Iterable[np.ndarray]) -> Joint:
    """Return the joint test of pairs from their statistics under the null hypothesis.

    Parameters
    ----------
    statistic, smallest : ndarray, shape (P,)
        Observed statistics, and the smallest possible ones.
    blocks : iterable of ndarray, shape (P, any)
        Statistics under the null hypothesis; the test overwrites them.
    """
    k = round((1 + np.sqrt(1 + 8 * len(statistic))) / 2)
    above = np.abs(statistic) * (1 - _SAME)
    single = above.astype(np.float32)  # or the next one, which as many statistics reach
    bound = np.where(single < above, np.nextafter(single, np.float32(np.inf)), single)[:, None]
    steps = len(above) <= _MANY  # else each pair is compared with the largest of all
    order = np.argsort(above, kind="stable") if steps else np.arange(0)
    largest = []
    rivals, worst = _rivals(statistic, np.maximum(_FAR, smallest * (1 - _SAME)), k)
    alone, together, best = np.zeros(len(above)), np.zeros(len(above)), np.zeros(k)
    count = 0
    for block in blocks:
        count += block.shape[1]
        for at, rows in enumerate(rivals):
            lead, follow = (block[own] for own in rows)
            high = np.maximum(
                lead.max(axis=0, initial=-np.inf), -follow.min(axis=0, initial=np.inf)
            )
            low = np.minimum(lead.min(axis=0, initial=np.inf), -follow.max(axis=0, initial=-np.inf))
            best[at] += np.count_nonzero(high >= worst[at]) + np.count_nonzero(-low >= worst[at])
        size = np.abs(block, out=block)
        alone += _count(size >= bound)
        if steps:
            most = size[order]
            for before, now in pairwise(most):  # accumulate would take ten times as long
                np.maximum(before, now, out=now)
            together[order] += _count(most >= bound[order])
        else:
            largest.append(size.max(axis=0))
        del block, size  # before the next block is made
    if steps:
        down = order[::-1]
        together[down] = np.maximum.accumulate(together[down])
    else:
        together = count - np.searchsorted(np.sort(np.concatenate(largest)), above)
    return Joint(statistic, alone / count, together / count, best / (2 * count))


def _count(reached: np.ndarray) -> np.ndarray:
    """Count the true values of each row; numpy adds bytes four times as fast as bools."""
    return np.add.reduce(reached.view(np.uint8), axis=1, dtype=np.uint32)


def _rivals(
    statistic: np.ndarray, far: np.ndarray, k: int
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Return for each strategy the pairs that it leads and follows, and the largest statistic.

    Rivals that are far worse, or worse on every source, are left out, so that a poor strategy does
    not change the results of the others.
    """
    pair = np.zeros((k, k), dtype=int)
    pair[np.triu_indices(k, 1)] = np.arange(len(statistic))
    rivals, worst = [], np.zeros(k)
    for at in range(k):
        lead, follow = pair[at, at + 1 :], pair[:at, at]
        lead, follow = lead[statistic[lead] > far[lead]], follow[-statistic[follow] > far[follow]]
        rivals.append((lead, follow))
        top = max(statistic[lead].max(initial=-np.inf), -statistic[follow].min(initial=np.inf))
        worst[at] = top - _SAME * abs(top)
    return rivals, worst

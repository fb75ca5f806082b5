"""Measure how often a race errs at any time if nothing differs, in percent (Markdown).

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_levels.py 2000 9 sign 121 best "all pairs"
equal adversary``. The arguments are number of races, number of strategies, kind of evidence,
number of datasets, and kinds of errors. Each race looks after every dataset. This takes some
minutes of CPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from mlaut_races.evidence import BETS, KINDS, grow, log_mean

LOOKS = (10, 30, 121, 500)
_AT_ONCE = 250  # races; their arrays take less than a gigabyte
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Return losses between 0 and 1 on datasets of different difficulty."""
    return np.clip(0.5 + 0.1 * rng.normal(size=(n, 1)) + 0.05 * rng.normal(size=(n, k)), 0, 1)


def skewed(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Return losses with a heavy upper tail."""
    return np.minimum(0.05 * rng.exponential(size=(n, k)), 1)


def tied(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Return error rates on 8 test points."""
    return rng.binomial(8, 0.3, (n, k)) / 8


def uneven(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Return losses whose spread differs by dataset and by strategy."""
    spread = np.exp(rng.normal(size=(n, 1))) * np.linspace(0.5, 2, k) * 0.03
    return np.clip(0.5 + spread * rng.normal(size=(n, k)), 0, 1)


def closed(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Return a closed collection in random order on which all strategies are exactly equal.

    Each vector of losses occurs once for every cyclic shift of the strategies, so that each
    strategy wins, ties and loses equally often.
    """
    bases = rng.random((max(n // k, 1), k))
    table = np.concatenate([np.roll(bases, turn, axis=1) for turn in range(k)])
    return rng.permutation(table)


LOSSES: dict[str, Draw] = {
    "normal": normal,
    "skewed": skewed,
    "tied": tied,
    "uneven": uneven,
    "closed collection": closed,
}


def dropped_after(losses: np.ndarray, kind: str, alpha: float = 0.05) -> np.ndarray:
    """Return after how many datasets each strategy of each race leaves; infinity for never.

    This is `mlaut_races.course.follow` for the question ``"best"`` and many races at
    once: losses of shape (N, races, K). A test compares the two.
    """
    return _dropped_after(lambda t, _: losses[t], losses.shape, kind, alpha)


def _dropped_after(
    draw: Callable[[int, np.ndarray], np.ndarray],
    shape: tuple[int, int, int],
    kind: str,
    alpha: float = 0.05,
) -> np.ndarray:
    """Return the same for losses that may depend on the log evidence so far: (races, K)."""
    n, races, k = shape
    evidence = _Evidence(kind, shape)
    left, against = np.full((races, k), np.inf), np.zeros((races, k))
    for t in range(n):
        racing = np.isinf(left)
        racing &= racing.sum(axis=1, keepdims=True) > 1
        against = evidence.see(differences(draw(t, against)), racing)
        left[racing & (against >= -np.log(alpha))] = t + 1
    return left


class _Evidence:
    """Evidence of many races at once."""

    def __init__(self, kind: str, shape: tuple[int, int, int]) -> None:
        n, races, k = shape
        self.logs, self.points = np.zeros((len(BETS), races, k, k)), np.zeros((races, k, k))
        self.leader_logs = np.zeros((len(BETS), races, k))
        self.steps, self.others = KINDS[kind].steps(1.0, (n, races, k, k)), ~np.eye(k, dtype=bool)

    def see(self, d: np.ndarray, racing: np.ndarray) -> np.ndarray:
        """Take in a dataset; return the log evidence against each strategy: (races, K)."""
        races, k = racing.shape
        steps = self.steps(d * (racing[:, :, None] & racing[:, None]))
        lost = (self.points * racing[:, None]).sum(axis=2)[:, None]
        lost = np.where(racing[:, None] & self.others, lost, np.inf)
        leads = lost <= lost.min(axis=2, keepdims=True) + 1e-10
        grow(self.leader_logs, (steps * leads).sum(axis=2) / leads.sum(axis=2))
        self.points += steps
        grow(self.logs, steps)
        rivals = log_mean(self.logs)[:, self.others].reshape(races, k, k - 1)
        return np.logaddexp(log_mean(rivals, axis=2), log_mean(self.leader_logs)) - np.log(2)


def differences(row: np.ndarray) -> np.ndarray:
    """Return the differences of all ordered pairs of losses; rounding differences are ties."""
    d = row[..., :, None] - row[..., None, :]
    return np.where(np.abs(d) <= 1e-10 * np.maximum(row[..., :, None], row[..., None, :]), 0.0, d)


def best_errors(times: int, k: int, kind: str, draw: Draw, n: int) -> np.ndarray:
    """Return after how many datasets each race dropped the strategy in the middle."""
    found = [dropped_after(drawn, kind)[:, k // 2] for drawn in batches(times, k, draw, n)]
    return np.concatenate(found)


def batches(times: int, k: int, draw: Draw, n: int) -> Iterator[np.ndarray]:
    """Yield the losses of some races at once, of shape (N, races, K)."""
    for first in range(0, times, _AT_ONCE):
        seeds = range(first, min(first + _AT_ONCE, times))
        yield np.stack([draw(np.random.default_rng([seed, k, n]), n, k) for seed in seeds], axis=1)


def adversary_errors(times: int, k: int, kind: str, n: int) -> np.ndarray:
    """Return the same where an adversary, who knows the evidence, chooses each dataset.

    The strategy in the middle is as good as each other one on every dataset. While the evidence
    against it is small, it wins or loses against all others together. When the evidence is larger,
    the others differ by little; for the mean, it often wins by little and rarely loses by much.
    """
    rng = np.random.default_rng([times, k, n, 2])
    middle = k // 2

    def draw(_: int, against: np.ndarray) -> np.ndarray:
        races = len(against)
        coin = rng.integers(0, 2, (races, 1)).astype(float)
        all_or_nothing = np.where(np.arange(k) == middle, coin, 1 - coin)
        if kind == "mean":
            careful = np.full((races, k), 0.1)
            careful[:, middle] += np.where(rng.random(races) < 0.2, 0.4, -0.1)  # 0 on average
        else:
            careful = 0.5 + 0.01 * rng.normal(size=(races, k))
        return np.where(against[:, [middle]] < np.log(5), all_or_nothing, careful)

    return np.concatenate(
        [_dropped_after(draw, (n, size, k), kind)[:, middle] for size in _sizes(times)]
    )


def _sizes(times: int) -> list[int]:
    return [min(_AT_ONCE, times - first) for first in range(0, times, _AT_ONCE)]


def pair_errors(times: int, k: int, kind: str, draw: Draw, n: int) -> np.ndarray:
    """Return after how many datasets each race first called a strategy worse than another."""
    found = []
    for drawn in batches(times, k, draw, n):
        steps_of = KINDS[kind].steps(1.0, (n, drawn.shape[1], k, k))
        steps = (steps_of(differences(row)) for row in drawn)
        found.append(first_claim(steps, (drawn.shape[1], k, k), k * (k - 1)))
    return np.concatenate(found)


def first_claim(steps: Iterable[np.ndarray], shape: tuple[int, int, int], pairs: int) -> np.ndarray:
    """Return when each race makes its first claim about pairs; infinity for never.

    The first claim with Holm's correction is that with Bonferroni's.
    """
    logs, found = np.zeros((len(BETS), *shape)), np.full(shape[0], np.inf)
    for t, step in enumerate(steps, start=1):
        grow(logs, step)
        reached = log_mean(logs).max(axis=(1, 2)) >= np.log(pairs / 0.05)
        found[reached & np.isinf(found)] = t
    return found


def equal_errors(times: int, k: int, kind: str, n: int) -> np.ndarray:
    """Return when practical equality was first claimed for strategies on the edge of the region.

    Each difference is inside the region with probability one half; for the mean, the expected
    difference of the first strategy and each other one is the end of the region.
    """
    found = []
    for first, size in enumerate(_sizes(times)):
        rng = np.random.default_rng([first, k, n, 1])
        steps = (_inside(rng, (size, k), kind) for _ in range(n))
        found.append(first_claim(steps, (size, k, k), k * (k - 1) // 2))
    return np.concatenate(found)


def _inside(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> np.ndarray:
    """Return how far inside the region the differences of the next dataset are; 0 for no pair."""
    if kind == "mean":  # the evidence of the direction that is on the edge; the other only grows
        losses, rope = rng.random(shape) * 0.5, 0.2
        losses[:, 0] += rope
        of_first = (np.arange(shape[1]) == 0)[:, None] & (np.arange(shape[1]) > 0)
        return np.where(of_first, (rope - differences(losses)) / (1 + rope), 0.0)
    rope = 0.6744897501960817 * 2**0.5  # the median of the size of a difference
    return np.triu(np.where(np.abs(differences(rng.normal(size=shape))) <= rope, 1.0, -1.0), 1)


def row(name: str, found: np.ndarray, n: int) -> str:
    """Return a line of the table: the share of races that erred by each look."""
    return f"| {name} | " + " | ".join(f"{100 * (found <= t).mean():.1f}" for t in looks(n)) + " |"


def looks(n: int) -> list[int]:
    """Return the numbers of datasets after which errors are counted."""
    return [t for t in LOOKS if t <= n]


def main(times: int, k: int, kind: str, n: int, questions: Sequence[str]) -> None:
    """Print the table."""
    heads = " | ".join(map(str, looks(n)))
    print(f"| {times} races, {k} strategies, {kind}: error within | {heads} |")
    print("| --- " * (1 + len(looks(n))) + "|")
    of_losses = {"best": best_errors, "all pairs": pair_errors}
    others = {"adversary": adversary_errors, "equal": equal_errors}
    for question in questions:
        if question in others:
            print(row(question, others[question](times, k, kind, n), n), flush=True)
            continue
        for name, draw in LOSSES.items():
            found = of_losses[question](times, k, kind, draw, n)
            print(row(f"{question}, {name}", found, n), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5:])

"""How often a race errs at any time, where nothing differs: a table in Markdown, in percent.

Run it as ``OMP_NUM_THREADS=1 python benchmarks/race_levels.py 2000 9 sign 121 best "all pairs"
equal``: number of races, number of strategies, kind of evidence, number of datasets, and what may
err. Each race looks after every dataset.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from mlaut.analysis.racing.course import Terms, follow
from mlaut.analysis.racing.evidence import BETS, Steps, grow, log_mean

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

    Each vector of losses is there once for every turn of the strategies, so that each wins, ties
    and loses as often as each other one.
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

    It is `mlaut.analysis.racing.course.follow` for the question ``"best"``, for many races at once:
    losses of shape (N, races, K). A test compares the two.
    """
    n, races, k = losses.shape
    logs, points = np.zeros((len(BETS), races, k, k)), np.zeros((races, k, k))
    leader_logs = np.zeros((len(BETS), races, k))
    left = np.full((races, k), np.inf)
    steps_of = Steps(kind, 1.0, (n, races, k, k))
    others = ~np.eye(k, dtype=bool)
    for t, row in enumerate(losses):
        racing = np.isinf(left)
        racing &= racing.sum(axis=1, keepdims=True) > 1
        d = row[:, :, None] - row[:, None]
        d[np.abs(d) <= 1e-10 * np.maximum(row[:, :, None], row[:, None])] = 0.0
        steps = steps_of.of(d * (racing[:, :, None] & racing[:, None]))
        lost = (points * racing[:, None]).sum(axis=2)[:, None]
        lost = np.where(racing[:, None] & others, lost, np.inf)
        leads = lost <= lost.min(axis=2, keepdims=True) + 1e-10
        grow(leader_logs, (steps * leads).sum(axis=2) / leads.sum(axis=2))
        points += steps
        grow(logs, steps)
        rivals = log_mean(logs)[:, others].reshape(races, k, k - 1)
        against = np.logaddexp(log_mean(rivals, axis=2), log_mean(leader_logs)) - np.log(2)
        left[racing & (against >= -np.log(alpha))] = t + 1
    return left


def best_errors(times: int, k: int, kind: str, draw: Draw, n: int) -> np.ndarray:
    """Return after how many datasets each race dropped the strategy in the middle."""
    found = []
    for first in range(0, times, _AT_ONCE):
        seeds = range(first, min(first + _AT_ONCE, times))
        drawn = [draw(np.random.default_rng([seed, k, n]), n, k) for seed in seeds]
        found.append(dropped_after(np.stack(drawn, axis=1), kind)[:, k // 2])
    return np.concatenate(found)


def pair_errors(times: int, k: int, kind: str, draw: Draw, n: int) -> np.ndarray:
    """Return after how many datasets each race first called a strategy worse than another."""
    found = []
    for seed in range(times):
        losses = draw(np.random.default_rng([seed, k, n]), n, k)
        course = follow(losses, losses, Terms(question="all pairs", kind=kind, span=1.0))
        found.append(min((d.after for d in course.decisions), default=np.inf))
    return np.array(found)


def equal_errors(times: int, k: int, kind: str, n: int) -> np.ndarray:
    """Return when a claim of practical equality was first made of strategies on its edge.

    Each difference is inside the region with probability one half; for the mean, the expected
    difference of the first strategy and each other one is the end of the region.
    """
    found = []
    for seed in range(times):
        rng = np.random.default_rng([seed, k, n, 1])
        if kind == "mean":
            losses = rng.random((n, k)) * 0.5
            losses[:, 0] += 0.2
            rope = 0.2
        else:
            losses = rng.normal(size=(n, k))
            rope = 0.6744897501960817 * 2**0.5  # the median of the size of a difference
        course = follow(losses, losses, Terms(kind=kind, rope=rope, span=1.0, drop=False))
        wrong = [d.after for d in course.decisions if d.equal and (kind != "mean" or d.first == 0)]
        found.append(min(wrong, default=np.inf))
    return np.array(found)


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
    errors = {"best": best_errors, "all pairs": pair_errors}
    for question in [question for question in questions if question in errors]:
        for name, draw in LOSSES.items():
            found = errors[question](times, k, kind, draw, n)
            print(row(f"{question}, {name}", found, n), flush=True)
    if "equal" in questions:
        print(row("practically equal", equal_errors(times, k, kind, n), n), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5:])

"""Training of the listed networks by jax alone: one compiled function per architecture and shape.

keras traces and compiles the training step of every new model, although all folds of a dataset and
all datasets of one shape could use the same one. Here the compiled function of an epoch stays in
the process: it scans over the batches, and tables are padded to whole batches, so that folds of
about the same size share it. Initial weights, Adam and the losses are those of keras.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

Weights = list[tuple[Any, Any]]
"""Weights and biases of each dense layer."""

LOSSES = {
    "sparse_categorical_crossentropy": "entropy",
    "categorical_crossentropy": "entropy",
    "mean_squared_error": "squares",
    "mse": "squares",
}
"""Losses of keras that `train` has, by name."""

FIRST, SECOND, GUARD = 0.9, 0.999, 1e-7  # keras's defaults of Adam
STEPS_AT_ONCE = 10_000  # without a return to Python; their row numbers take a megabyte
KEPT = 16  # compiled functions that a process keeps, about half a megabyte each


@dataclass(frozen=True)
class Job:
    """All that is compiled into the function of an epoch, besides the shapes of arrays.

    Attributes
    ----------
    layers : tuple of int or float
        As in `Architecture`, for the table at hand.
    n_outputs : int
        Number of classes; 1 for regression.
    softmax : bool
        Whether the outputs are probabilities.
    loss : str
        Value of `LOSSES`.
    shares : tuple of float
        Share of the learning rate that each dense layer gets.
    shrinks : tuple of float
        Decay of the weights of each dense layer, summed over all steps; empty: none.
    dropping : float
        Share of the epochs over which dropout falls to 0; 0: it stays.
    """

    layers: tuple[int | float, ...]
    n_outputs: int
    softmax: bool
    loss: str
    shares: tuple[float, ...]
    shrinks: tuple[float, ...] = ()
    dropping: float = 0.0


class Rows(NamedTuple):
    """Table of training rows: float32 features and targets (one-hot or numbers), and weights."""

    X: np.ndarray
    target: np.ndarray
    weight: np.ndarray


class Falls(NamedTuple):
    """Changes from epoch to epoch: rate, decay of a step, and the part of dropout left."""

    rate: np.ndarray
    decay: np.ndarray
    left: np.ndarray

    @classmethod
    def of(cls, rates: list[float], n_batches: int, dropping: float) -> Falls:
        """Return what belongs to these rates; decay falls as they do, and sums to 1."""
        total = sum(rates) * n_batches or 1.0  # of a learning rate of 0
        done = np.arange(len(rates)) / max(dropping * len(rates), 1)
        falls = rates, [rate / total for rate in rates], np.maximum(1 - done, 0)
        return cls(*(np.array(fall, np.float32) for fall in falls))


def initial_weights(job: Job, n_features: int, rng: np.random.Generator) -> Weights:
    """Draw initial weights as keras does: uniform by Glorot and Bengio (2010), biases 0."""
    widths = [n_features, *(n for n in job.layers if isinstance(n, int)), job.n_outputs]
    weights = []
    for before, after in pairwise(widths):
        bound = np.float32(np.sqrt(6 / (before + after)))
        drawn = rng.random((before, after), dtype=np.float32)
        weights.append(((2 * drawn - 1) * bound, np.zeros(after, np.float32)))
    return weights


def _logits(job: Job, weights: Weights, X: Any, key: Any = None, left: Any = 1.0) -> Any:
    """Return the outputs before softmax; dropout only with a key, of the part that is left."""
    import jax

    dense = iter(weights)
    for place, size in enumerate(job.layers):
        if isinstance(size, int):
            w, b = next(dense)
            X = jax.nn.relu(X @ w + b)
        elif key is not None and size > 0:
            share = 1 - size * left
            kept = jax.random.bernoulli(jax.random.fold_in(key, place), share, X.shape)
            X = jax.numpy.where(kept, X / share, 0)
    w, b = next(dense)
    return X @ w + b


def _losses(job: Job, weights: Weights, rows: Rows, key: Any = None, left: Any = 1.0) -> Any:
    """Return the weighted loss of each row."""
    import jax

    given = _logits(job, weights, rows.X, key, left)
    if job.loss == "entropy":
        losses = -(rows.target * jax.nn.log_softmax(given)).sum(axis=1)
    else:
        given = jax.nn.softmax(given) if job.softmax else given
        losses = ((given - rows.target) ** 2).mean(axis=1)
    return losses * rows.weight


@lru_cache(maxsize=KEPT)
def _epochs(job: Job, shapes: tuple[int, ...]) -> Callable[..., Any]:  # noqa: ARG001 - a key
    """Return the compiled function of some epochs on tables of these shapes."""
    import jax
    from jax import numpy as jnp

    shrinks = job.shrinks or (0.0,) * len(job.shares)

    def mean_loss(weights: Weights, rows: Rows, real: Any, key: Any, left: Any) -> Any:
        left = left if job.dropping else 1.0
        return (_losses(job, weights, rows, key, left) * real).sum() / real.sum()

    def decayed(weights: Weights, part: Any) -> Weights:
        layers = zip(weights, shrinks, strict=True)
        return [(w * (1 - part * shrink) if shrink else w, b) for (w, b), shrink in layers]

    def epochs(state: Any, rows: Rows, n_rows: Any, orders: Any, falls: Falls, keys: Any) -> Any:
        def step(state: Any, batch: Any) -> Any:
            weights, first, second, count = state
            places, (rate, part_of_decay, left), key = batch
            real = (places < n_rows).astype(jnp.float32)
            part = Rows(*(column[places] for column in rows))
            loss, slope = jax.value_and_grad(mean_loss)(weights, part, real, key, left)
            count = count + 1
            size = rate * jnp.sqrt(1 - SECOND**count) / (1 - FIRST**count)
            first = jax.tree.map(lambda m, g: m + (g - m) * (1 - FIRST), first, slope)
            second = jax.tree.map(lambda v, g: v + (g * g - v) * (1 - SECOND), second, slope)
            weights = jax.tree.map(
                lambda w, m, v, share: w - share * size * m / (jnp.sqrt(v) + GUARD),
                decayed(weights, part_of_decay),
                first,
                second,
                [(share, share) for share in job.shares],
            )
            return (weights, first, second, count), loss * real.sum()

        def epoch(state: Any, now: Any) -> Any:
            order, fall, key = now
            n = len(order)
            each = jax.tree.map(lambda value: jnp.full(n, value), fall)
            state, losses = jax.lax.scan(step, state, (order, each, jax.random.split(key, n)))
            return state, losses.sum() / n_rows

        return jax.lax.scan(epoch, state, (orders, falls, keys))

    return jax.jit(epochs, donate_argnums=0)


@lru_cache(maxsize=KEPT)
def _mean_loss(job: Job, shapes: tuple[int, ...]) -> Callable[..., Any]:  # noqa: ARG001 - a key
    import jax

    return jax.jit(lambda weights, rows: _losses(job, weights, rows).mean())


@lru_cache(maxsize=KEPT)
def _outputs(job: Job, n_features: int) -> Callable[..., Any]:  # noqa: ARG001 - a key
    import jax

    last = jax.nn.softmax if job.softmax else lambda given: given
    return jax.jit(lambda weights, X: last(_logits(job, weights, X)))


def outputs(job: Job, weights: Weights, X: np.ndarray, at_once: int) -> np.ndarray:
    """Return the outputs for float32 rows, computed in blocks, the last of which is padded."""
    blocks = np.concatenate([X, np.zeros((-len(X) % at_once, X.shape[1]), X.dtype)])
    function = _outputs(job, X.shape[1])
    parts = [
        np.asarray(function(weights, blocks[i : i + at_once]))
        for i in range(0, len(blocks), at_once)
    ]
    return np.concatenate(parts)[: len(X)] if parts else np.zeros((0, job.n_outputs), np.float32)


def train(
    job: Job,
    weights: Weights,
    rows: Rows,
    held_out: Rows | None,
    *,
    rates: list[float],
    batch_size: int,
    seed: int,
) -> Iterator[tuple[Weights, list[float], float | None]]:
    """Train for some epochs, with Adam; without held-out rows, a small table for all at once.

    Parameters
    ----------
    job : Job
    weights : list
        Initial weights.
    rows, held_out : Rows
        Rows to train on, and rows to evaluate after each epoch.
    rates : list of float
        Learning rate of each epoch.
    batch_size : int
    seed : int
        Seed of the order of the rows and of dropout.

    Yields
    ------
    tuple
        Weights (valid until the next epoch), losses of the epochs since the last time, and loss on
        the held-out rows.
    """
    import jax

    n_rows = len(rows.X)
    n_batches = -(-n_rows // batch_size)
    missing = n_batches * batch_size - n_rows
    padded = jax.device_put(Rows(*(np.pad(a, [(0, missing), (0, 0)][: a.ndim]) for a in rows)))
    at_once = len(rates) if held_out is None and len(rates) * n_batches <= STEPS_AT_ONCE else 1
    run = _epochs(job, (*padded.X.shape, batch_size, at_once))
    check = None if held_out is None else _mean_loss(job, held_out.X.shape)
    state: Any = (weights, *(jax.tree.map(np.zeros_like, weights) for _ in "mv"), np.float32(0))
    falls = Falls.of(rates, n_batches, job.dropping)
    rng, keys = np.random.default_rng(seed), jax.random.split(jax.random.key(seed), len(rates))
    last = np.arange(n_rows, n_rows + missing)
    for begin in range(0, len(rates), at_once):
        part = slice(begin, begin + at_once)
        orders = np.array([np.concatenate([rng.permutation(n_rows), last]) for _ in rates[part]])
        orders = orders.astype(np.int32).reshape(-1, n_batches, batch_size)
        state, losses = run(
            state, padded, n_rows, orders, Falls(*(fall[part] for fall in falls)), keys[part]
        )
        outside = None if check is None else float(check(state[0], held_out))
        yield state[0], np.asarray(losses).tolist(), outside

"""The keras networks by the default protocol against scikit-learn's multilayer perceptrons.

Prints a Markdown table over random splits, a third of the rows tested: the mean accuracy of
scikit-learn's network (R2 for regression) in percent, and the mean differences from it in points,
with their standard errors over the splits and CPU seconds of a fit.

    python benchmarks/bench_networks.py
    python benchmarks/bench_networks.py --networks NN-12-layer_wide_with_dropout --datasets iris
    python benchmarks/bench_networks.py --task Regression --repeats 3
    python benchmarks/bench_networks.py --params '{"epochs": 200, "validation_fraction": 0.1}'

With ``--plain``, it prints CPU seconds of five fits of the thin network in this process, beside
those of a loop over steps that is written in jax alone for this network (20 s).

    python benchmarks/bench_networks.py --plain --datasets iris contrac
"""

import argparse
import itertools
import json
import time
import warnings

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor

from mlaut.data import collection, load_sklearn
from mlaut.estimators import Generic_Estimator, Preprocessor, as_strategies
from mlaut.records import CLASSIFICATION, REGRESSION

DATASETS = {
    CLASSIFICATION: [
        "iris",
        "wine",
        "heart-cleveland",
        "ecoli",
        "ionosphere",
        "dermatology",
        "congressional-voting",
        "breast-cancer-wisc-diag",
        "breast-cancer-wisc",
        "credit-approval",
    ],
    REGRESSION: [
        "servo",
        "auto-mpg",
        "automobile-price",
        "computer-hardware",
        "liver-disorders",
        "concrete-strength",
        "diabetes",
    ],
}
"""Tables that the protocol was not chosen on."""
NETWORKS = ["NN-4-layer_thin_dropout", "NN-2-layer-dropout-input-layer"]
"""The two that take seconds; `docs/networks.md` has all six."""


def multilayer_perceptron(task):
    """Return scikit-learn's network with the same preprocessing."""
    kind = MLPClassifier if task == CLASSIFICATION else MLPRegressor
    return Generic_Estimator(
        kind(max_iter=1000),
        preprocessing=Preprocessor(normalize_features=True),
        normalize_labels=task == REGRESSION,
    )


def measured(strategy, dataset, seeds):
    """Return scores in percent, and CPU seconds, of a strategy on the splits of a dataset."""
    results = []
    for seed in seeds:
        X, X_test, y, y_test = train_test_split(
            dataset.features,
            dataset.labels.to_numpy(),
            test_size=1 / 3,
            stratify=dataset.labels if dataset.task == CLASSIFICATION else None,
            random_state=seed,
        )
        begun = time.process_time()
        model = strategy.assemble(random_state=seed, n_jobs=1).fit(X, y)
        results.append((100 * model.score(X_test, y_test), time.process_time() - begun))
    return np.array(results).T


def tables(names):
    """Yield the datasets: of the starter collection, and scikit-learn's diabetes."""
    starter = [name for name in names if name != "diabetes"]
    yield from collection("starter", names=starter) if starter else ()
    if len(starter) < len(names):
        yield from load_sklearn(["diabetes"])


def difference(values):
    """Return a mean and its standard error as text."""
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{np.mean(values):+.1f} ± {error:.1f}"


def compared(strategies, datasets, seeds):
    """Print a row for each dataset, and one of the means over datasets."""
    means = []
    for dataset in datasets:
        (base, _), *others = (measured(strategy, dataset, seeds) for strategy in strategies)
        cells = [f"{difference(s - base)} ({np.median(t):.1f} s)" for s, t in others]
        print(f"| {dataset.name} | {base.mean():.1f} | {' | '.join(cells)} |", flush=True)
        means.append([base.mean(), *((scores - base).mean() for scores, _ in others)])
    first, *rest = np.array(means).T
    print(f"| mean | {first.mean():.1f} | {' | '.join(map(difference, rest))} |")


def plain_jax(X, target, seed, epochs, layers=(288, 144, 0.5, 12), batch=32):
    """Train the thin network by a loop in jax, compiled for all epochs at once, for this table."""
    import jax
    from jax import numpy as jnp

    def outputs(weights, X, key):
        dense = iter(weights)
        for size in layers:
            if isinstance(size, int):
                w, b = next(dense)
                X = jax.nn.relu(X @ w + b)
            else:
                X = jnp.where(jax.random.bernoulli(key, 1 - size, X.shape), X / (1 - size), 0)
        w, b = next(dense)
        return X @ w + b

    def step(state, batch):
        weights, m, v, n = state
        rows, rate, key = batch

        def loss(weights):
            given = jax.nn.log_softmax(outputs(weights, X[rows], key))
            return -(given * target[rows]).sum(axis=1).mean()

        slope = jax.grad(loss)(weights)
        n += 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, slope)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, slope)
        size = rate * jnp.sqrt(1 - 0.999**n) / (1 - 0.9**n)
        weights = jax.tree.map(lambda w, m, v: w - size * m / (jnp.sqrt(v) + 1e-7), weights, m, v)
        return (weights, m, v, n), None

    rng = np.random.default_rng(seed)
    widths = [X.shape[1], *(n for n in layers if isinstance(n, int)), target.shape[1]]
    weights = [
        (rng.normal(0, (2 / a) ** 0.5, (a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in itertools.pairwise(widths)
    ]
    X, target = jnp.asarray(X), jnp.asarray(target)
    n_steps = -(-len(X) // batch)
    orders = [np.resize(rng.permutation(len(X)), (n_steps, batch)) for _ in range(epochs)]
    rates = np.repeat(0.001 * (1 - np.arange(epochs) / epochs), n_steps).astype(np.float32)
    keys = jax.random.split(jax.random.key(seed), len(rates))
    zeros = jax.tree.map(np.zeros_like, weights)
    if "run" not in _COMPILED:
        _COMPILED["run"] = jax.jit(lambda state, steps: jax.lax.scan(step, state, steps)[0][0])
    steps = (np.concatenate(orders).astype(np.int32), rates, keys)
    return jax.block_until_ready(_COMPILED["run"]((weights, zeros, zeros, 0.0), steps))


_COMPILED = {}


def beside_plain_jax(dataset, n_fits=5):
    """Return CPU seconds of our fits and of the plain loop: of the first, and the median after."""
    from sklearn.preprocessing import StandardScaler

    from mlaut.estimators import KerasClassifier
    from mlaut.estimators.networks.architectures import ARCHITECTURES

    X = StandardScaler().fit_transform(dataset.features.fillna(0)).astype(np.float32)
    y = dataset.labels.to_numpy()
    target = (y[:, None] == np.unique(y)).astype(np.float32)
    thin = ARCHITECTURES["NN-4-layer_thin_dropout"]
    seconds = {"ours": [], "plain": []}
    _COMPILED.clear()
    for seed in range(n_fits):
        begun = time.process_time()
        model = KerasClassifier(thin, random_state=seed).fit(X, y)
        seconds["ours"].append(time.process_time() - begun)
        begun = time.process_time()
        plain_jax(X, target, seed, model._n_epochs(len(X)))
        seconds["plain"].append(time.process_time() - begun)
    return {name: (taken[0], np.median(taken[1:])) for name, taken in seconds.items()}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", choices=DATASETS, default=CLASSIFICATION)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--params", type=json.loads, help="of the networks, as JSON")
    parser.add_argument("--plain", action="store_true", help="beside a loop in jax alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.plain:
        for dataset in collection("starter", names=options.datasets or ["iris", "contrac"]):
            (first, ours), (plain_first, plain) = beside_plain_jax(dataset).values()
            print(
                f"{dataset.name}: {ours:.2f} s a fit, plain {plain:.2f} s, ratio "
                f"{ours / plain:.1f}; first {first:.1f} s and {plain_first:.1f} s"
            )
        return
    ending = "_lr001" + ("_Regressor" if options.task == REGRESSION else "")
    networks = as_strategies([stem.removesuffix(ending) + ending for stem in options.networks])
    networks = [network.set_params(params=options.params) for network in networks]
    strategies = [multilayer_perceptron(options.task), *networks]
    print("| dataset | " + " | ".join(strategy.name for strategy in strategies) + " |")
    print("|---" * (len(strategies) + 1) + "|")
    seeds = range(options.first, options.first + options.repeats)
    compared(strategies, tables(options.datasets or DATASETS[options.task]), seeds)


if __name__ == "__main__":
    main()

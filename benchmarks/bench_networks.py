"""Compare keras networks by the default protocol with scikit-learn's multilayer perceptrons.

It prints a Markdown table over random splits that test a third of the rows. The table has the mean
accuracy of scikit-learn's network (R2 for regression) in percent, and the mean differences from it
in points, with standard errors over the splits and CPU seconds of a fit.

    python benchmarks/bench_networks.py
    python benchmarks/bench_networks.py --networks NN-12-layer_wide_with_dropout --datasets iris
    python benchmarks/bench_networks.py --task Regression --repeats 3
    python benchmarks/bench_networks.py --params '{"epochs": 200, "validation_fraction": 0.1}'
"""

import argparse
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
    """Yield the named datasets of the starter collection, and scikit-learn's diabetes."""
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


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", choices=DATASETS, default=CLASSIFICATION)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split")
    parser.add_argument("--datasets", nargs="+")
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--params", type=json.loads, help="of the networks, as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
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

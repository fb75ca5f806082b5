"""The keras networks by the default protocol against scikit-learn's multilayer perceptrons.

Prints a Markdown table of the mean over random splits, a third of the rows tested: accuracy, or R2
for regression, and CPU seconds.

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

from mlaut.data import collection
from mlaut.estimators import Generic_Estimator, Preprocessor, as_strategies
from mlaut.records import CLASSIFICATION, REGRESSION

DATASETS = {
    CLASSIFICATION: ["iris", "wine", "breast-cancer-wisc-diag", "ionosphere", "heart-cleveland"],
    REGRESSION: ["auto-mpg", "concrete-strength"],
}
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


def measured(strategy, dataset, repeats):
    """Mean score and CPU seconds of a strategy on a dataset."""
    results = []
    for seed in range(repeats):
        X, X_test, y, y_test = train_test_split(
            dataset.features,
            dataset.labels.to_numpy(),
            test_size=1 / 3,
            stratify=dataset.labels if dataset.task == CLASSIFICATION else None,
            random_state=seed,
        )
        begun = time.process_time()
        model = strategy.assemble(random_state=seed, n_jobs=1).fit(X, y)
        results.append((model.score(X_test, y_test), time.process_time() - begun))
    return np.mean(results, axis=0)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", choices=DATASETS, default=CLASSIFICATION)
    parser.add_argument("--repeats", type=int, default=3)
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
    for dataset in collection("starter", names=options.datasets or DATASETS[options.task]):
        cells = (measured(strategy, dataset, options.repeats) for strategy in strategies)
        shown = " | ".join(f"{score:.3f} ({seconds:.1f} s)" for score, seconds in cells)
        print(f"| {dataset.name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()

"""The keras networks by the default protocol against scikit-learn's MLPClassifier.

Prints a Markdown table: accuracy on a third of the rows, the mean of random splits; CPU seconds.

    python benchmarks/bench_networks.py --repeats 3
    python benchmarks/bench_networks.py --networks NN-4-layer_thin_dropout_lr001 --datasets iris
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from mlaut.data import collection
from mlaut.estimators import Generic_Estimator, Preprocessor, as_strategies
from mlaut.estimators.architectures import ARCHITECTURES

DATASETS = ["iris", "wine", "breast-cancer-wisc-diag", "ionosphere", "heart-cleveland"]
NETWORKS = [f"{stem}_lr001" for stem in ARCHITECTURES if "12" not in stem]


def multilayer_perceptron():
    """Give scikit-learn's network with the same preprocessing."""
    return Generic_Estimator(
        MLPClassifier(max_iter=1000),
        name="MLPClassifier",
        preprocessing=Preprocessor(normalize_features=True),
    )


def measured(strategy, dataset, repeats):
    """Mean accuracy and CPU seconds of a strategy on a dataset."""
    results = []
    for seed in range(repeats):
        X, X_test, y, y_test = train_test_split(
            dataset.features,
            dataset.labels.to_numpy(),
            test_size=1 / 3,
            stratify=dataset.labels,
            random_state=seed,
        )
        begun = time.process_time()
        model = strategy.assemble(random_state=seed, n_jobs=1).fit(X, y)
        results.append((model.score(X_test, y_test), time.process_time() - begun))
    return np.mean(results, axis=0)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    strategies = [multilayer_perceptron(), *as_strategies(options.networks)]
    print("| dataset | " + " | ".join(strategy.name for strategy in strategies) + " |")
    print("|---" * (len(strategies) + 1) + "|")
    for dataset in collection("starter", names=options.datasets):
        cells = (measured(strategy, dataset, options.repeats) for strategy in strategies)
        shown = " | ".join(f"{accuracy:.3f} ({seconds:.1f} s)" for accuracy, seconds in cells)
        print(f"| {dataset.name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()

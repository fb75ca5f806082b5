"""The networks of the MLaut study, and keras networks as scikit-learn estimators."""

import os
import pickle
import random
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split

from mlaut import Orchestrator, Study
from mlaut.errors import DataError, DivergedError, OptionalPackageError, StrategyError
from mlaut.estimators import (
    DataShape,
    KerasClassifier,
    KerasRegressor,
    as_strategies,
    keras_network,
)
from mlaut.estimators.catalogue import listed
from mlaut.estimators.catalogue.catalogue import NETWORKS
from mlaut.estimators.networks import keras_backend as backend
from mlaut.estimators.networks.architectures import ARCHITECTURES, Architecture
from mlaut.estimators.networks.keras_estimator import _held_out
from mlaut.experiments.plans.run_options import parse_retry
from mlaut.experiments.workers.copies import shared_process
from mlaut.files_io import StudyStore
from mlaut.records import CLASSIFICATION, REGRESSION, Status

from .tables import SHAPE, awkward, labels

needs_keras = pytest.mark.skipif(
    find_spec("keras") is None, reason="keras is not installed: pip install 'mlaut[keras]'"
)

SLOW = pytest.mark.slow
SMALL = Architecture((8,))
D = 0.5


def by_keras(shape):
    """Return a network that keras trains, for it is not one of the listed architectures."""
    return SMALL(shape)


def small(task=CLASSIFICATION, **settings):
    kind = KerasClassifier if task == CLASSIFICATION else KerasRegressor
    return kind(SMALL, **{"epochs": 3, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array(["setosa", "versi", "virgin"])[y]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: small(CLASSIFICATION).predict(np.zeros((2, 3))),
        lambda: small(CLASSIFICATION).predict_proba(np.zeros((2, 3))),
        lambda: small(REGRESSION).predict(np.zeros((2, 3))),
        lambda: small(REGRESSION).model_,
    ],
)
def test_a_network_without_a_fit_says_so(ask):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ask()


# ---- the list of the paper

# Name, layers, weights for 10 columns and 3 classes, by hand: sum of (before + 1) * after.
PAPER = {
    "NN-4-layer_thin_dropout": (
        (288, 144, D, 12),
        11 * 288 + 289 * 144 + 145 * 12 + 13 * 3,
    ),
    "NN-4-layer_wide_no_dropout": (
        (2500, 2000, 1500),
        11 * 2500 + 2501 * 2000 + 2001 * 1500 + 1501 * 3,
    ),
    "NN-4-layer_wide_with_dropout": (
        (2500, 2000, D, 1500),
        11 * 2500 + 2501 * 2000 + 2001 * 1500 + 1501 * 3,
    ),
    "NN-12-layer_wide_with_dropout": (
        (5000, 4500, 4000, D, 3500, 3000, 2500, D, 2000, 1500, 1000, D, 500, 250),
        82_703_503,
    ),
    "NN-4-layer-dropout-each-layer": (
        (2000, D, 1000, D, 1000, D, 50, D),
        11 * 2000 + 2001 * 1000 + 1001 * 1000 + 1001 * 50 + 51 * 3,
    ),
    "NN-2-layer-dropout-input-layer": ((0.7, 1024, D), 11 * 1024 + 1025 * 3),
}
RATES = {"_lr001": 0.001, "_lr01": 0.1, "_lr1": 1.0}


def test_the_list_is_that_of_the_paper():
    assert {name: architecture.layers for name, architecture in ARCHITECTURES.items()} == {
        name: layers for name, (layers, _) in PAPER.items()
    }
    rates = {n.name: n.settings["learning_rate"] for n in NETWORKS if CLASSIFICATION in n.tasks}
    assert rates == {stem + suffix: RATES[suffix] for stem in PAPER for suffix in RATES}
    regression = [n.name for n in NETWORKS if REGRESSION in n.tasks]
    assert regression == [f"{name}_Regressor" for name in rates]


@pytest.mark.parametrize("stem", PAPER)
def test_weights_are_as_counted_by_hand(stem):
    assert ARCHITECTURES[stem].n_weights(n_features=10, n_outputs=3) == PAPER[stem][1]


@pytest.mark.parametrize("strategy", [listed.NN_4_layer_thin_dropout_lr001(), keras_network(SMALL)])
def test_identities_name_the_libraries_that_a_fit_imports(strategy):
    assert {"keras", backend.choose_backend()} < strategy.identified().libraries
    assert shared_process(strategy, pickle.dumps(strategy)) != b""


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_every_listed_network_is_a_strategy(network):
    (strategy,) = as_strategies(network.name)
    assert strategy.estimator_family == ("Neural_Networks",)
    assert strategy.tasks == network.tasks
    assert strategy.metadata.package == "keras"
    assert strategy.normalize_labels == (REGRESSION in network.tasks)
    wrapped = strategy.build()
    assert type(wrapped) is (KerasClassifier if CLASSIFICATION in network.tasks else KerasRegressor)
    assert (wrapped.network.layers, wrapped.learning_rate) == (
        PAPER[network.name.rpartition("_lr")[0]][0],
        RATES["_lr" + network.name.rpartition("_lr")[2].removesuffix("_Regressor")],
    )
    assert pickle.loads(pickle.dumps(strategy)).fingerprint() == strategy.fingerprint()


def test_the_papers_protocol_is_another_strategy_with_its_settings():
    ours = listed.NN_4_layer_thin_dropout_lr001()
    paper = listed.NN_4_layer_thin_dropout_lr001(protocol="paper")
    assert ours.fingerprint() != paper.fingerprint()
    wrapped = paper.build().get_params()
    assert {
        key: wrapped[key]
        for key in ("loss", "epochs", "decay", "batch_size", "validation_fraction")
    } == {
        "loss": "mean_squared_error",
        "epochs": 1,
        "decay": False,
        "batch_size": 32,
        "validation_fraction": 0,
    }
    with pytest.raises(StrategyError, match="no protocol is called 'papers'; did you mean 'paper'"):
        listed.NN_4_layer_thin_dropout_lr001(protocol="papers").build()


def test_the_size_limit_follows_from_the_epochs():
    largest = listed.NN_12_layer_wide_with_dropout_lr001
    by_default, paper, short = (
        strategy.size_limit.rows
        for strategy in (
            largest(),
            largest(protocol="paper"),
            largest(protocol="paper", params={"epochs": 10}),
        )
    )
    assert paper == pytest.approx(50 * by_default, rel=0.01) == pytest.approx(10 * short, rel=0.01)
    assert clone(largest(protocol="paper")).size_limit.rows == paper
    assert largest(protocol="paper").too_large(32_561, 14, 2) is None
    assert str(largest().too_large(200_000, 14, 2)).startswith(
        "200,000 training rows, more than its"
    )
    assert largest(size_limit=None).too_large(10**9, 14, 2) is None


@needs_keras
@pytest.mark.parametrize(
    "stem",
    [pytest.param(s, marks=pytest.mark.slow if "12" in s else ()) for s in PAPER],
)
def test_the_built_network_has_these_layers(stem):
    layers, n_weights = PAPER[stem]
    model = ARCHITECTURES[stem](DataShape(50, 10, 3))
    assert model.count_params() == n_weights
    *hidden, last = [layer.get_config() for layer in model.layers]
    assert tuple(layer.get("units") or layer["rate"] for layer in hidden) == layers
    assert {layer["activation"] for layer in hidden if "units" in layer} == {"relu"}
    assert (last["units"], last["activation"]) == (3, "softmax")
    regression = ARCHITECTURES["NN-4-layer_thin_dropout"](DataShape(50, 10)).layers[-1].get_config()
    assert (regression["units"], regression["activation"]) == (1, "linear")


@needs_keras
@pytest.mark.parametrize(
    ("protocol", "n_features", "share"),
    [("paper", 4, 0.7), ("default", 5, 0.2), ("default", 2, 0), ("default", 20, 0.7)],
)
def test_dropout_on_the_input_leaves_four_columns_but_for_the_paper(protocol, n_features, share):
    wrapped = listed.NN_2_layer_dropout_input_layer_lr001(protocol=protocol).build()
    first = wrapped.network(DataShape(100, n_features, 3)).layers[0]
    assert first.rate == pytest.approx(share)
    assert wrapped.network.rescaled == (protocol == "default")
    others = listed.NN_4_layer_dropout_each_layer_lr001(protocol=protocol).build().network
    assert others.layers_for(1) == PAPER["NN-4-layer-dropout-each-layer"][0]


@needs_keras
def test_a_regression_with_dropout_has_the_scale_of_its_target():
    """The best straight line through the outputs has slope 1 and leaves the mean 0."""
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    y, weight = X @ [1.0, 2.0, 0.0], np.linspace(0, 1, 200)
    slopes = []
    for rescaled in (False, True):
        network = Architecture((0.5, 16, 0.5), rescaled=rescaled)
        model = KerasRegressor(network, epochs=40, learning_rate=0.01, random_state=0)
        given = model.fit(X, y, weight).predict(X)
        slopes.append(np.polynomial.Polynomial.fit(given, y, 1, w=weight**0.5, domain=[]).coef[1])
    assert slopes[0] > 1.05
    assert slopes[1] == pytest.approx(1, abs=1e-4)
    assert np.average(given - y, weights=weight) == pytest.approx(0, abs=1e-4)


@needs_keras
def test_it_is_compiled_with_adam_at_the_learning_rate():
    seen = []

    class Spying(KerasClassifier):
        def _run(self, keras, *data):
            seen.append((type(self._model.optimizer).__name__, self._model.optimizer.get_config()))
            return super()._run(keras, *data)

    Spying(by_keras, learning_rate=0.1, epochs=1).fit([[0.0], [1.0]], [0, 1])
    assert seen[0][0] == "Adam"
    assert seen[0][1]["learning_rate"] == pytest.approx(0.1)


# ---- training


@needs_keras
def test_the_papers_protocol_is_one_epoch_of_bare_keras(iris):
    X, y = iris
    strategy = keras_network(by_keras, protocol="paper", random_state=5)
    ours = strategy.build().fit(X, y)
    keras = backend.start_keras()
    seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
    with backend.quiet(), backend.seeded(keras, seed):
        model = SMALL(DataShape(150, 4, 3))
        model.compile(optimizer=keras.optimizers.Adam(0.001), loss="mse")
        onehot = (y[:, None] == np.unique(y)).astype(np.float32)
        history = model.fit(X.astype(np.float32), onehot, batch_size=32, epochs=1, verbose=0)
        expected = model.predict(X.astype(np.float32), verbose=0)
    np.testing.assert_allclose(ours.predict_proba(X), expected, rtol=1e-5)
    assert ours.history_ == {"loss": [pytest.approx(history.history["loss"][0])]}


@needs_keras
@pytest.mark.parametrize(
    "names",
    [
        np.array(["über", "unter", "um"]),
        np.array([-7, -1, 3]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([2.0, 1.0, 0.0]),
    ],
    ids=lambda names: names.dtype.str,
)
def test_labels_of_any_type(iris, names):
    X, y = iris
    given = names[np.unique(y, return_inverse=True)[1]]
    model = small(epochs=60, learning_rate=0.02).fit(X, given)
    assert model.classes_.tolist() == sorted(names.tolist())
    predicted = model.predict(X)
    assert predicted.dtype == given.dtype
    assert np.mean(predicted == given) > 0.9
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert (model.classes_[probabilities.argmax(axis=1)] == predicted).all()


@needs_keras
def test_booleans_one_row_a_class_and_a_single_class(iris):
    X, y = iris
    assert small().fit(X, y == "virgin").predict(X).dtype == bool
    one_row = small().fit(X[:6], list("abcdef"))
    assert one_row.predict_proba(X[:1]).shape == (1, 6)
    assert "val_loss" not in one_row.history_
    assert set(small().fit(X, np.full(150, "only")).predict(X)) == {"only"}


@needs_keras
def test_labels_that_are_amounts_are_refused(iris):
    with pytest.raises(ValueError, match="Unknown label type"):
        small().fit(iris[0], np.linspace(0, 1, 150))


@needs_keras
@pytest.mark.parametrize("task", [CLASSIFICATION, REGRESSION])
def test_a_table_with_everything_that_a_column_can_be(task):
    X = awkward()
    y = labels(X, task)
    strategy = keras_network(SMALL, task=task, epochs=40, learning_rate=0.02)
    model = strategy.assemble(SHAPE, random_state=0, n_jobs=1).fit(X, y)
    predicted = model.predict(awkward(25, seed=1, unseen=True))
    if task == CLASSIFICATION:
        assert set(predicted) <= {"over", "under"}
        assert model.score(X, y) > 0.8
    else:
        assert predicted.dtype == np.float64
        assert model.score(X, y) > 0.8  # the target is about 1000: it is scaled for fitting


def global_states():
    return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


@needs_keras
def test_equal_seeds_give_equal_networks_and_leave_the_global_states_alone(iris):
    X, y = iris
    before = global_states()
    one, same, other = (small(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert global_states() == before
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))
    assert one.history_ == same.history_
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


@needs_keras
def test_a_row_is_predicted_alike_in_any_company(iris):
    X, y = iris
    model = small().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[140:], model.predict_proba(X[140:]))


@needs_keras
def test_the_rate_falls_to_nothing_unless_it_is_ones_own(iris):
    X, y = iris
    rates = []

    class Spying(KerasClassifier):
        def _stop_if_lost(self, epoch, logs=None):
            rates.append(float(self._model.optimizer.learning_rate))
            return super()._stop_if_lost(epoch, logs)

    def compiled(shape):
        model = SMALL(shape)
        model.compile(optimizer="adam", loss="categorical_crossentropy")
        return model

    fitted = Spying(by_keras, epochs=4).fit(X, y)
    assert set(fitted.history_) == {"loss"}
    Spying(by_keras, epochs=2, decay=False).fit(X, y)
    Spying(compiled, epochs=2).fit(X, y)
    assert rates == pytest.approx([1e-3, 7.5e-4, 5e-4, 2.5e-4, *[1e-3] * 4])


def test_small_tables_get_as_many_epochs_as_make_300_steps():
    epochs = {n: KerasClassifier(SMALL)._n_epochs(n) for n in (1, 33, 64, 100, 192, 193, 10**6)}
    assert epochs == {1: 300, 33: 150, 64: 150, 100: 75, 192: 50, 193: 50, 10**6: 50}
    assert KerasClassifier(SMALL, epochs=7)._n_epochs(10) == 7


@needs_keras
def test_stopping_early_restores_the_best_epoch(iris):
    X, y = iris
    model = small(learning_rate=0.3, patience=5, epochs=200, validation_fraction=0.2).fit(X, y)
    losses = model.history_["val_loss"]
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 5 < 200
    rng = np.random.RandomState(0)
    rng.randint(np.iinfo(np.int32).max)
    positions = np.unique(y, return_inverse=True)[1]
    held_out = _held_out(positions, 0.2, rng)
    given = model.predict_proba(X[held_out])[np.arange(30), positions[held_out]]
    assert -np.log(given).mean() == pytest.approx(losses[best], rel=1e-4)
    assert losses[best] < losses[-1]


def test_rows_are_held_out_of_each_class():
    groups = np.repeat([0, 1, 2, 3], [100, 20, 4, 1])
    held_out = _held_out(groups, 0.1, np.random.RandomState(0))
    assert np.bincount(groups[held_out], minlength=4).tolist() == [10, 2, 0, 0]
    assert not _held_out(groups, 0.0, np.random.RandomState(0)).any()


@needs_keras
def test_class_weights_move_the_border(iris):
    X, y = iris
    X, y = X[50:, :1], y[50:]
    shares = [
        np.mean(small(class_weight=weight, epochs=60).fit(X, y).predict(X) == "virgin")
        for weight in ({"versi": 20, "virgin": 1}, None, {"versi": 1, "virgin": 20})
    ]
    assert shares[0] < 0.1 < shares[1] < 0.9 < shares[2]
    balanced = small(class_weight="balanced").fit(X[:75], y[:75])
    by_row = small().fit(X[:75], y[:75], np.where(y[:75] == "versi", 0.75, 1.5))
    np.testing.assert_array_equal(balanced.predict_proba(X), by_row.predict_proba(X))
    with pytest.raises(DataError, match="sample_weight is 0 for every row"):
        small().fit(X, y, np.zeros(100))


@needs_keras
def test_a_network_that_diverges_is_an_error(iris):
    X, y = iris
    with pytest.raises(DivergedError, match=r"diverged in epoch 1 .* use a smaller learning rate"):
        KerasClassifier(SMALL, epochs=3, random_state=0, learning_rate=1e38).fit(X, y)
    with pytest.raises(DivergedError, match="diverged in epoch 1"):  # nor as before training
        small(learning_rate=1e38, validation_fraction=0.3).fit(X, y)


@needs_keras
def test_a_cell_whose_network_diverged_has_no_predictions(tmp_path):
    strategy = keras_network(SMALL, name="lost", epochs=3, learning_rate=1e38)
    study = studied(tmp_path, strategy, incomplete=True)
    for name in ("iris", "wine"):
        (details,) = study.details(name)
        assert details["status"] == "diverged"
        assert details["reason"].startswith("the network diverged in epoch 1 ")
        assert np.isnan(study.block(name).probabilities).all()
    assert parse_retry("diverged", ["lost"]) == {"lost": {Status.DIVERGED}}
    assert Status.DIVERGED.failed


@needs_keras
def test_it_is_tuned_and_takes_parameters_as_any_strategy(iris):
    X, y = iris
    search = GridSearchCV(small(), {"learning_rate": [1e-6, 0.05]}, cv=2).fit(X, y)
    assert search.best_params_ == {"learning_rate": 0.05}
    strategy = listed.NN_4_layer_thin_dropout_lr001(params={"epochs": 7})
    assert strategy.build().epochs == 7
    assert clone(strategy).params == {"epochs": 7}


# ---- one's own network


def two_layers(shape):
    import keras

    return keras.Sequential(
        [keras.layers.Dense(5, "relu"), keras.layers.Dense(shape.n_classes or 1, "softmax")]
    )


@needs_keras
def test_ones_own_network_is_wrapped_in_one_line(iris):
    X, y = iris
    strategy = keras_network(two_layers, epochs=2)
    assert strategy.name == "two_layers"
    fitted = strategy.fit(pd.DataFrame(X), y)
    assert fitted.estimator_[-1].model_.count_params() == 5 * 5 + 6 * 3
    (given,) = as_strategies({"mine": KerasClassifier(two_layers)})
    assert given.name == "mine"
    assert given.tasks == (CLASSIFICATION,)


@needs_keras
def test_the_convolutional_networks_of_the_examples_learn_from_arrays(tmp_path):
    network = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "networks.py"))
    digits, rng = load_digits(), np.random.default_rng(0)
    kind = np.arange(90) % 2
    waves = np.sin(np.arange(40) / (2 + 2 * kind[:, None]) + rng.uniform(0, 6, (90, 1)))[:, None]
    given = {
        "digits": ("image_network", digits.images[:500].astype("u1"), digits.target[:500]),
        "colour": ("image_network", digits.images[:90, ..., None] + np.zeros(3), kind),
        "waves": ("series_network", waves, kind),
        "numbers": ("series_network", waves, waves[:, 0, 0]),
    }
    right = {}
    for dataset, (name, X, y) in given.items():
        task = REGRESSION if dataset == "numbers" else CLASSIFICATION
        epochs = 20 if dataset in ("digits", "waves") else 1
        study = Study(tmp_path / f"{dataset}.h5", seed=1)
        study.add_datasets((X, y), name=dataset)
        strategy = keras_network(network[name], name="convolutional", task=task, epochs=epochs)
        assert study.run([strategy], engine="inline", verbose=0).counts == {Status.DONE: 1}
        block = StudyStore(study.path).block(dataset)
        test = block.split.rows(0, 0)[1]
        right[dataset] = (block.predictions[0, 0, test] == block.truth[test]).mean()
    assert right["digits"] > 0.6  # one in ten by chance
    assert right["waves"] > 0.9


@needs_keras
def test_what_ones_own_function_compiled_stays(iris):
    X, y = iris
    seen = []

    def compiled(shape):
        model = two_layers(shape)
        model.compile(optimizer="sgd", loss="categorical_crossentropy")
        seen.append(model)
        return model

    fitted = KerasClassifier(compiled, epochs=2).fit(X, y)
    assert np.isfinite(fitted.history_["loss"]).all()
    assert fitted.model_ is seen[0]


def four_units(shape):
    import keras

    return keras.Sequential([keras.layers.Input((shape.n_features,)), keras.layers.Dense(4)])


def logits(shape):
    import keras

    return keras.Sequential([keras.layers.Dense(shape.n_classes)])


@needs_keras
@pytest.mark.parametrize(
    ("network", "message"),
    [
        (four_units, r"gives 4 numbers a row where 3 are needed; end it with Dense"),
        (logits, r"not probabilities; end it with .*shape.activation"),
        (lambda _: None, "gave a NoneType, not a keras model; let it return the model"),
        ("dense", "network is a str, not a function; give a function"),
        (None, "loaded from a file and cannot be trained again"),
    ],
    ids=["units", "logits", "none", "text", "loaded"],
)
def test_a_wrong_network_is_one_line(iris, network, message):
    with pytest.raises(StrategyError, match=message):
        KerasClassifier(network, epochs=1).fit(*iris)


@needs_keras
def test_a_model_in_place_of_a_function_is_told(iris):
    backend.start_keras()
    model = four_units(DataShape(1, 4, 3))
    with pytest.raises(StrategyError, match="network is a Sequential, not a function"):
        KerasClassifier(model).fit(*iris)


# ---- keeping it


@needs_keras
@pytest.mark.parametrize("names", [["a", "b", "c"], [-1, 0, 1], [1.0, 2.0, 3.0]])
def test_saved_as_keras_and_loaded(iris, tmp_path, names):
    X, y = iris
    y = np.array(names)[np.unique(y, return_inverse=True)[1]]
    model = small().fit(X, y)
    path = model.save(tmp_path / "network.keras")
    loaded = KerasClassifier.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.history_ == model.history_
    alone = backend.start_keras().saving.load_model(path)
    with backend.quiet():
        np.testing.assert_allclose(
            alone.predict(X.astype(np.float32), verbose=0), model.predict_proba(X), rtol=1e-5
        )
    assert [file.name for file in tmp_path.iterdir()] == ["network.keras"]


@needs_keras
def test_a_regressor_is_saved_too(iris, tmp_path):
    X, _ = iris
    model = small(REGRESSION).fit(X, X[:, 0])
    path = model.save(tmp_path / "network.keras")
    np.testing.assert_array_equal(KerasRegressor.load(path).predict(X), model.predict(X))
    with pytest.raises(StrategyError, match=r"holds a KerasRegressor; use KerasRegressor\.load"):
        KerasClassifier.load(path)
    with backend.quiet():
        model.model_.save(tmp_path / "bare.keras")
    with pytest.raises(StrategyError, match=r"bare\.keras: not written by KerasRegressor\.save"):
        KerasRegressor.load(tmp_path / "bare.keras")
    with pytest.raises(StrategyError, match=r"absent\.keras: no such file; check the path"):
        KerasRegressor.load(tmp_path / "absent.keras")
    with pytest.raises(StrategyError, match=r"in keras's format; end it in \.keras"):
        model.save(tmp_path / "network.h5")


@needs_keras
def test_labels_that_json_has_not_are_told_before_a_file_is_written(iris, tmp_path):
    X, y = iris
    days = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")
    model = small(epochs=1).fit(X, days[np.unique(y, return_inverse=True)[1]])
    with pytest.raises(StrategyError, match=r"cannot be written to a \.keras file; pickle"):
        model.save(tmp_path / "network.keras")
    assert not list(tmp_path.iterdir())


@needs_keras
def test_pickled_before_and_after_it_is_fitted(iris, tmp_path):
    X, y = iris
    model = pickle.loads(pickle.dumps(small())).fit(X, y)
    content = pickle.dumps(model)
    assert len(content) < 30_000  # the weights alone, without the optimizer's memory
    assert model.model_ is not None  # what is pickled is left as it was
    again = pickle.loads(pickle.dumps(pickle.loads(content)))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    (tmp_path / "model.pickle").write_bytes(content)
    code = (
        "import pickle, sys, pathlib; "
        "model = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()); "
        "print('keras' in sys.modules, model.predict([[0.0, 0, 0, 0]])[0])"
    )
    told = in_python(code, tmp_path / "model.pickle")
    assert told == f"False {model.predict([[0.0, 0, 0, 0]])[0]}"


# ---- keras itself


def in_python(code, *arguments, **environment):
    kept = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_without_keras_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(OptionalPackageError) as error:
        small().fit([[0.0], [1.0]], [0, 1])
    assert str(error.value).startswith("A neural network needs ")
    assert "keras" in str(error.value)
    assert str(error.value).endswith("not installed here: pip install 'mlaut[keras]'")


@pytest.mark.parametrize(
    ("chosen", "installed", "expected"),
    [
        ("", ("jax", "torch", "tensorflow"), "jax"),
        ("", ("tensorflow", "torch"), "torch"),
        ("", (), "jax"),
        ("torch", ("jax", "torch"), "torch"),
    ],
)
def test_the_backend_is_the_users_or_the_first_that_is_installed(
    monkeypatch, chosen, installed, expected
):
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    monkeypatch.setenv("KERAS_BACKEND", chosen)
    monkeypatch.setattr(backend, "find_spec", lambda name: name in installed or None)
    assert backend.choose_backend() == expected
    assert os.environ["KERAS_BACKEND"] == expected


@needs_keras
@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
def test_keras_starts_with_jax_and_bounded_threads_and_leaves_the_environment_alone(tmp_path):
    # jax sets a few TF_ and TPU_ variables of its own.
    code = (
        "import os, pathlib; before = dict(os.environ)\n"
        "from mlaut.estimators.networks.keras_backend import start_keras\n"
        "keras = start_keras(3); keras.ops.ones((500, 500)) @ keras.ops.ones((500, 500))\n"
        "import keras, jax\n"
        "now = dict(os.environ)\n"
        "changed = {k for k in {*before, *now} if before.get(k) != now.get(k)}\n"
        "print(keras.config.backend(), [k for k in changed if not k.startswith(('TF_', 'TPU_'))])\n"
        "print(jax.config.jax_compilation_cache_dir)\n"
        "tasks = pathlib.Path('/proc/self/task')\n"
        "print(sum('XLAEigen' in t.read_text() for t in tasks.glob('*/comm')) or 3)\n"
    )
    first, cache, threads = in_python(code, XDG_CACHE_HOME=str(tmp_path)).splitlines()
    assert first == "jax ['KERAS_BACKEND']"
    assert threads == "3"
    assert cache == str(tmp_path / "mlaut" / "jax")


@needs_keras
@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize(
    ("own", "read"), [({}, "deterministic_ops=true"), ({"XLA_FLAGS": "--no_such"}, "--no_such")]
)
def test_jax_reads_the_flag_of_equal_bits_on_a_gpu_or_those_of_the_user(own, read, tmp_path):
    """XLA reads its flags once, and ends the process if it does not know one."""
    code = (
        "import os, jax; from mlaut.estimators.networks import keras_backend as backend\n"
        "jax.devices = lambda: print(os.environ['XLA_FLAGS'])\n"
        "backend.start_keras()\n"
    )
    assert read in in_python(code, XDG_CACHE_HOME=str(tmp_path), **own)


ONE_EPOCH_OF_EACH = """
import keras
from sklearn.datasets import load_digits, load_iris
from mlaut.estimators import instantiate_default_estimators
X, y = load_iris(return_X_y=True)
names = [f"{stem}_lr001" for stem in %s]
for strategy in instantiate_default_estimators(names, protocol="paper"):
    model = strategy.build().fit(X[::5], y[::5])
    assert model.predict_proba(X).shape == (150, 3)
    assert set(model.predict(X)) <= {0, 1, 2}
print(keras.config.backend(), len(names))
"""


@needs_keras
@pytest.mark.slow
@pytest.mark.parametrize("name", backend.BACKENDS)
def test_all_architectures_of_the_paper_run_under_a_backend(name):
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    code = ONE_EPOCH_OF_EACH % list(ARCHITECTURES)
    assert in_python(code, KERAS_BACKEND=name) == f"{name} 6"


def studied(folder, strategy, scheme="", incomplete=False, **how):
    from mlaut import Data, Orchestrator
    from mlaut.data import load_sklearn
    from mlaut.files_io import StudyStore

    folder.mkdir(exist_ok=True)
    data = Data()
    tables = data.open_hdf5(folder / "tables.h5", mode="a")
    tables.save_datasets(load_sklearn(["iris", "wine"]), "tables")
    study = data.open_hdf5(folder / "study.h5", mode="a")
    data.split_datasets(tables, study, scheme=scheme)
    summary = Orchestrator(tables, study).run(strategy, verbose=0, **how)
    assert summary.complete != incomplete, summary
    return StudyStore(study.path)


@needs_keras
def test_workers_give_the_same_bits_as_this_process(tmp_path):
    strategy = keras_network(SMALL, name="small", epochs=3)
    here = studied(tmp_path / "here", strategy, engine="inline", n_jobs=1)
    there = studied(tmp_path / "there", strategy, engine="local", n_jobs=2)
    for name in ("iris", "wine"):
        ours, theirs = (study.block(name).probabilities for study in (here, there))
        np.testing.assert_array_equal(ours, theirs)
        assert np.isfinite(ours).any()


# ---- longer checks


@needs_keras
@pytest.mark.slow
@pytest.mark.parametrize("stem", ["NN-2-layer-dropout-input-layer", "NN-4-layer_thin_dropout"])
def test_the_default_protocol_learns_a_narrow_table(stem):
    X, y = load_iris(return_X_y=True)
    (strategy,) = as_strategies(f"{stem}_lr001")
    scores = []
    for seed in range(3):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, stratify=y, random_state=seed
        )
        model = strategy.assemble(random_state=seed, n_jobs=1).fit(X_train, y_train)
        scores.append(model.score(X_test, y_test))
    assert np.mean(scores) > 0.943  # scikit-learn's MLPClassifier has 0.973


@needs_keras
@pytest.mark.slow
def test_the_largest_network_trains():
    X = np.random.default_rng(0).normal(size=(40, 10))
    strategy = listed.NN_12_layer_wide_with_dropout_lr001(protocol="paper", random_state=0)
    model = strategy.fit(X, X[:, 0] > 0)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.estimator_[-1].model_.count_params() == 82_703_503 - 251  # one class fewer


@needs_keras
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", [CLASSIFICATION, REGRESSION])
def test_it_is_a_scikit_learn_estimator(task):
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(small(task, epochs=15, learning_rate=0.1), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= {
        # It raises a DataError, which is no ValueError.
        "check_all_zero_sample_weights_error",
        # Rows are drawn into batches at random, so that a row twice is not a row of weight 2.
        "check_sample_weight_equivalence_on_dense_data",
    }


@needs_keras
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are reset on Linux only")
def test_fifty_cells_in_a_row_in_one_worker_do_not_grow(tmp_path):
    from mlaut.data import KFold

    # MLaut's own code, whose cells share a process; ten megabytes with what Adam remembers.
    broad = keras_network(Architecture((100_000,)), epochs=2)
    study = studied(tmp_path, broad, KFold(5, n_repeats=5), n_jobs=1)
    cells = [cell for name in study.datasets for cell in study.details(name)]
    peaks = [
        cell["peak_memory"] / 2**20 for cell in sorted(cells, key=lambda cell: cell["started"])
    ]
    assert len(peaks) == 50
    # Compiling for another table takes memory. Cells of one must not: 15 networks kept were 80 MiB.
    assert max(peaks[20:25]) - max(peaks[5:10]) < 60
    assert max(peaks[45:]) - max(peaks[30:35]) < 60


# ---- several outputs


@needs_keras
@pytest.mark.parametrize(
    "kind", ["labels", "numbers", *(pytest.param(k, marks=SLOW) for k in ("images", "listed"))]
)
def test_a_network_has_an_output_for_each_target(tmp_path, kind):
    X = np.random.default_rng(0).normal(size=(240, 4))
    y = X[:, :3] if kind == "numbers" else (X[:, :3] > 0).astype(int)
    task = REGRESSION if kind == "numbers" else CLASSIFICATION
    given = keras_network(by_keras, epochs=60, learning_rate=0.02, task=task)
    if kind == "images":
        network = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "networks.py"))
        X, given = X.reshape(240, 2, 2), keras_network(network["image_network"], epochs=1)
    elif kind == "listed":
        given = listed.NN_4_layer_thin_dropout_lr001(params={"epochs": 2})
    study = Study(tmp_path / "study.h5", seed=1)
    study.add_datasets((X, y), name="several")
    study.run([given], engine="inline", verbose=0, save_models=True)
    block = StudyStore(study.path).block("several")
    assert [*block.status.ravel()] == [Status.DONE], block.reasons
    assert block.predictions.shape == (1, 1, 240, 3)
    test = block.split.rows(0, 0)[1]
    if kind == "numbers":
        assert np.abs(block.predictions[0, 0, test] - y[test]).mean() < 0.3
    else:
        shares = block.probabilities[0, 0, test]
        assert np.array_equal(block.predictions[0, 0, test], shares > 0.5)
        assert kind != "labels" or (block.predictions[0, 0, test] == y[test]).mean() > 0.9
    again = Orchestrator(*study._prepared("", True)).predict_all(trusted=True).sort_values("row")
    assert np.array_equal(again.filter(like="prediction."), block.predictions[0, 0, np.sort(test)])


@needs_keras
@pytest.mark.slow
def test_a_network_of_several_targets_is_saved_loaded_and_rescaled(iris, tmp_path):
    X, several = iris[0], iris[0][:, :2] * [1.0, 100.0]
    loaded = []
    for model, y in ((small(), several > 0), (small(REGRESSION), several)):
        fitted = model.fit(X, y)
        loaded.append(type(model).load(fitted.save(tmp_path / f"{len(loaded)}.keras")))
        np.testing.assert_array_equal(loaded[-1].predict(X), fitted.predict(X))
        assert fitted.predict(X).shape == (150, 2)
    line = KerasRegressor(Architecture((8,), rescaled=True), epochs=1, random_state=0)
    off = line.fit(X, several).predict(X) - several
    assert np.abs(off.mean(axis=0)) == pytest.approx([0, 0], abs=1e-3)
    with pytest.raises(StrategyError, match=r"gives numbers up to .*, not probabilities"):
        KerasClassifier(four_units, epochs=1).fit(X, X > 0)

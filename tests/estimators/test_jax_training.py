"""The listed networks are trained as keras trains them, by one compiled function per shape."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

pytest.importorskip("jax")
pytest.importorskip("keras")

from mlaut.estimators import DataShape, KerasClassifier, KerasRegressor
from mlaut.estimators.networks import jax_training
from mlaut.estimators.networks import keras_backend as backend
from mlaut.estimators.networks.architectures import Adapted, Architecture
from mlaut.estimators.networks.jax_training import Job, Rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 6)).astype(np.float32)
CLASSES = RNG.integers(0, 3, 50)
WEIGHT = RNG.random(50).astype(np.float32)
LAYERS = (0.5, 32, 0.5)
RATE, SEED = 0.01, 7
ONES = (1.0, 1.0, 1.0)  # full rates for three dense layers
EVEN = ((4000, 1), 1.0), ((4000, 1), 0.0), (4000, 1.0)  # shapes and values of equal rows


def jobs():
    one_hot = np.eye(3, dtype=np.float32)[CLASSES]
    numbers = X[:, :1] * 2 + 1
    yield Job((8, 5), 3, True, "entropy", ONES), one_hot, "categorical_crossentropy"
    yield Job((8, 5), 3, True, "squares", ONES), one_hot, "mean_squared_error"
    yield Job((8, 5), 1, False, "squares", ONES), numbers, "mean_squared_error"


def start():
    keras = backend.start_keras()
    assert keras.config.backend() == "jax"
    return keras


def trained(job, rows, weights, rates, **changes):
    settings = {"batch_size": 16, "seed": SEED, "rates": rates, **changes}
    *_, last = jax_training.train(job, weights, rows, None, **settings)
    return last


@pytest.mark.parametrize(
    ("job", "target", "loss"), list(jobs()), ids=["entropy", "squares", "numbers"]
)
def test_each_step_is_that_of_keras(job, target, loss):
    """Weighted rows, a last batch of two rows, and a rate that changes between epochs."""
    keras = start()
    rates = [RATE, RATE / 2, RATE / 4]
    weights = jax_training.initial_weights(job, X.shape[1], np.random.default_rng(SEED))
    given, means, _ = trained(job, Rows(X, target, WEIGHT), weights, rates)
    model = Architecture(job.layers)(DataShape(50, 6, job.n_outputs if job.softmax else 0))
    model.set_weights([part for layer in weights for part in layer])
    model.compile(optimizer=keras.optimizers.Adam(RATE), loss=loss)
    order = np.random.default_rng(SEED)
    for rate in rates:
        model.optimizer.learning_rate = rate
        rows, total = order.permutation(50), 0.0
        for begin in range(0, 50, 16):
            part = rows[begin : begin + 16]
            model.reset_metrics()
            with backend.quiet():
                told = model.train_on_batch(X[part], target[part], sample_weight=WEIGHT[part])
            total += float(np.asarray(told)) * len(part)
    assert means[-1] == pytest.approx(total / 50, rel=1e-4)
    with backend.quiet():
        expected = model.get_weights()
    flat = [part for layer in given for part in layer]
    for ours, theirs in zip(flat, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-6)
    outputs = jax_training.outputs(job, given, X, 16)
    with backend.quiet():
        np.testing.assert_allclose(outputs, model.predict(X, verbose=0), rtol=1e-3, atol=1e-5)


def test_initial_weights_are_uniform_in_the_bounds_of_glorot():
    job = Job((40, 0.5), 10, True, "entropy", (1.0, 1.0))
    weights = jax_training.initial_weights(job, 60, np.random.default_rng(0))
    assert [w.shape for w, _ in weights] == [(60, 40), (40, 10)]
    bound = np.sqrt(6 / 100)
    assert np.abs(weights[0][0]).max() == pytest.approx(bound, rel=0.01)
    assert weights[0][0].std() == pytest.approx(bound / np.sqrt(3), rel=0.05)
    assert not np.concatenate([b for _, b in weights]).any()


def test_folds_of_about_the_same_size_share_one_compiled_function():
    start()
    jax_training._epochs.cache_clear()
    network = Architecture((8, 0.5))
    for n_rows in (33, 40, 64):
        KerasClassifier(network, epochs=1, random_state=0).fit(
            X[:1].repeat(n_rows, 0), X[:1].repeat(n_rows, 0)[:, 0] > np.arange(n_rows) - 20
        )
    assert jax_training._epochs.cache_info().misses == 1


def test_dropout_drops_that_share_in_training_alone():
    """A network that is one dropout layer before an output: its mean loss shows what is kept."""
    start()
    job = Job((0.5,), 1, False, "squares", (1.0,))
    rows = Rows(*(np.full(shape, value, np.float32) for shape, value in EVEN))
    one = [(np.ones((1, 1), np.float32), np.zeros(1, np.float32))]
    _, (loss,), _ = trained(job, rows, one, [0.0], batch_size=4000)
    assert loss == pytest.approx(2.0, rel=0.1)  # half of the rows are doubled: mean of 0 and 4
    assert jax_training.outputs(job, one, rows.X[:3], 4).ravel().tolist() == [1.0, 1.0, 1.0]


def test_batches_of_rows_that_are_only_padding_change_nothing():
    start()
    wide = KerasRegressor(Architecture((4,)), epochs=4, batch_size=64, random_state=0)
    narrow = KerasRegressor(Architecture((4,)), epochs=4, batch_size=50, random_state=0)
    ours, theirs = (model.fit(X, X[:, 0]).predict(X) for model in (wide, narrow))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_keras_gets_the_same_network():
    start()
    rows, y = load_iris(return_X_y=True)
    model = KerasClassifier(Architecture((8, 0.5)), epochs=2, random_state=0).fit(rows, y)
    with backend.quiet():
        given = model.model_.predict(rows.astype(np.float32), verbose=0)
    np.testing.assert_allclose(given, model.predict_proba(rows), rtol=1e-5)


def test_a_layer_gets_its_share_of_the_rate():
    start()
    rows = Rows(X, X[:, :1], WEIGHT)
    moved = {}
    for share in (0.0, 0.5, 1.0):
        job = Job((8, 5), 1, False, "squares", (1.0, share, 1.0))
        weights = jax_training.initial_weights(job, X.shape[1], np.random.default_rng(SEED))
        after, *_ = trained(job, rows, weights, [RATE], batch_size=50)
        moved[share] = [
            np.abs(np.asarray(a[0]) - b[0]) for a, b in zip(after, weights, strict=True)
        ]
    assert not moved[0.0][1].any()
    np.testing.assert_allclose(moved[0.5][1], moved[1.0][1] / 2, rtol=1e-3, atol=1e-7)
    np.testing.assert_array_equal(moved[0.5][0], moved[1.0][0])


def test_a_regression_with_dropout_has_the_scale_of_its_target():
    """Outputs are a straight line of those without the correction, with slope 1 and mean 0 left."""
    start()
    y, weight = X[:, 0] * 3 + 1, WEIGHT
    plain, adapted = (
        KerasRegressor(network, epochs=30, random_state=0).fit(X, y, weight).predict(X)
        for network in (Architecture(LAYERS), Adapted(LAYERS, dropping=0.0))
    )
    left = y - adapted
    assert np.average(left, weights=weight) == pytest.approx(0, abs=1e-5)
    assert np.average(left * adapted, weights=weight) == pytest.approx(0, abs=1e-4)
    assert np.corrcoef(plain, adapted)[0, 1] == pytest.approx(1, abs=1e-6)
    assert adapted.std() > plain.std()


@pytest.mark.parametrize("rates", [[RATE, RATE], [0.004, 0.003, 0.002, 0.001]])
def test_weights_that_the_data_do_not_hold_shrink_as_asked_whatever_the_steps(rates):
    start()
    job = Job((8, 5), 1, False, "squares", ONES, (0.0, 0.5, 0.2))
    rows = Rows(X, X[:, :1], np.zeros(50, np.float32))  # of weight 0: Adam stands still
    weights = jax_training.initial_weights(job, X.shape[1], np.random.default_rng(SEED))
    after, *_ = trained(job, rows, weights, rates)
    for (now, _), (before, _), shrink in zip(after, weights, job.shrinks, strict=True):
        steps = 1 - shrink * np.repeat(rates, 4) / (4 * sum(rates))  # 50 rows are 4 batches
        np.testing.assert_allclose(now, before * steps.prod(), rtol=1e-5)


def test_dropout_that_falls_is_gone_after_its_share_of_the_epochs():
    start()
    job = Job((0.5,), 1, False, "squares", (1.0,), dropping=0.5)
    rows = Rows(*(np.full(shape, value, np.float32) for shape, value in EVEN))
    one = [(np.ones((1, 1), np.float32), np.zeros(1, np.float32))]
    _, losses, _ = trained(job, rows, one, [0.0] * 4, batch_size=4000)
    # Of 1 / (1 - share) for the shares 0.5, 0.25, 0 and 0.
    assert losses == pytest.approx([2.0, 4 / 3, 1.0, 1.0], rel=0.1)
    assert losses[2:] == [1.0, 1.0]

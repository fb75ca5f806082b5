"""Keras networks as scikit-learn estimators.

Existing wrappers are not suitable here. SciKeras imports keras, including private parts, when it is
imported itself. ``keras.wrappers.SKLearnClassifier`` has no seed, predicts no probabilities, and
loses its settings of ``fit`` when it is cloned. For early stopping, both hold out the last rows of
the table, whatever its order.
"""

import json
import math
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mlaut.errors import DataError, DivergedError, StrategyError
from mlaut.estimators.networks.architectures import Architecture
from mlaut.estimators.networks.keras_backend import (
    choose_backend,
    forget_earlier_networks,
    quiet,
    seeded,
    start_keras,
)
from mlaut.estimators.strategy.metadata import DataShape

ROWS_AT_ONCE = 128
"""Size of the blocks for prediction. The last block is padded, so one compilation is enough."""

ABOUT = "mlaut.json"
"""Name of the entry that MLaut adds to a ``.keras`` file: class of the estimator and labels."""

EPOCHS = 50
STEPS = 300
"""Default epochs, and minimum training steps for small tables; `docs/networks.md` says why."""

choose_backend()  # unpickling a user's function may import keras right after this module


@dataclass(eq=False, repr=False)
class _KerasEstimator(BaseEstimator):
    """Base of classifier and regressor: builds, trains, applies and stores a network."""

    _auto_loss = "mean_squared_error"
    _archive = b""
    _model: Any = field(default=None, init=False)  # made from the archive when it is needed

    network: Callable[[DataShape], Any] | None
    _: KW_ONLY
    loss: Any = "auto"
    learning_rate: float = 0.001
    decay: bool = True
    epochs: int | str = "auto"
    batch_size: int = 32
    validation_fraction: float = 0.0
    patience: int = 20
    random_state: Any = None
    n_jobs: int = 1
    verbose: int = 0

    @classmethod
    def late_libraries(cls) -> tuple[str, str]:
        """Return the libraries that a fit imports: keras and its backend."""
        return "keras", choose_backend()

    # ---- training

    @quiet()
    def _train(
        self, X: np.ndarray, target: np.ndarray, weight: np.ndarray | None, n_classes: int
    ) -> None:
        """Train on float32 rows and class positions, or numbers where ``n_classes`` is 0."""
        self._check_network()
        keras = start_keras(effective_n_jobs(self.n_jobs))
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        self.n_targets_ = target.shape[1] if target.ndim > 1 else 0
        one = n_classes and not self.n_targets_
        groups = target if one else np.zeros(len(X), dtype=int)
        held_out = _held_out(groups, self.validation_fraction, rng)
        shape = DataShape.of(X, len(X), n_classes, n_targets=self.n_targets_)
        self._archive, self._model = b"", None
        forget_earlier_networks()
        with seeded(keras, seed):
            self._model = self._compiled(keras, shape)
            rows = self._as_loss_takes(target, shape)
            self.history_ = self._run(keras, X, rows, weight, held_out)
            self._forget_training()
            if getattr(self.network, "rescaled", False) and not n_classes:
                self._rescale(X, target, weight)
        self._check_outputs(X[:1024], shape)

    def _loss_for(self, shape: DataShape) -> Any:
        auto = "binary_crossentropy" if shape.activation == "sigmoid" else self._auto_loss
        return auto if str(self.loss) == "auto" else self.loss

    def _rescale(self, X: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        """Change the last layer so that a straight line corrects the outputs of a regression."""
        outputs = self._outputs(X)
        w, b = map(np.array, self._model.layers[-1].get_weights())
        for n, wanted in enumerate(target.reshape(len(X), -1).T):
            given = outputs[:, n].astype(np.float64)
            centre, goal = np.average(given, weights=weight), np.average(wanted, weights=weight)
            spread = np.average((given - centre) ** 2, weights=weight)
            if not np.isfinite(spread) or spread <= 0:
                continue  # diverged or constant: nothing to scale
            slope = np.average((given - centre) * (wanted - goal), weights=weight) / spread
            w[:, n], b[n] = w[:, n] * slope, b[n] * slope + goal - slope * centre
        self._model.layers[-1].set_weights([w, b])

    def _check_network(self) -> None:
        if self.network is None:
            raise StrategyError(
                f"this {type(self).__name__} was loaded from a file and cannot be trained again; "
                "give it a function: set_params(network=...)"
            )
        if not callable(self.network) or hasattr(self.network, "compile"):
            raise StrategyError(
                f"network is a {type(self.network).__name__}, not a function; give a function that "
                "gets the shape of the data and returns a new keras model: lambda shape: ..."
            )

    def _compiled(self, keras: Any, shape: DataShape) -> Any:
        """Return a new network, compiled with the default settings if its function did not."""
        model = self.network(shape)  # type: ignore[misc]
        if not isinstance(model, keras.Model):
            raise StrategyError(
                f"the network function gave a {type(model).__name__}, not a keras model; "
                "let it return the model"
            )
        if not model.built:
            model.build((None, *shape.row))
        given = getattr(model, "output_shape", (None, None))[-1]
        if given not in (None, shape.n_outputs):
            raise StrategyError(
                f"the network gives {given} numbers a row where {shape.n_outputs} are needed; "
                "end it with Dense(shape.n_outputs, shape.activation)"
            )
        self._own_optimizer = not model.compiled
        if self._own_optimizer:
            optimizer = keras.optimizers.Adam(learning_rate=self.learning_rate)
            model.compile(optimizer=optimizer, loss=self._loss_for(shape))
        return model

    def _as_loss_takes(self, target: np.ndarray, shape: DataShape) -> np.ndarray:
        """Return the target in the form of the loss: positions, one-hot rows, or numbers."""
        if not shape.n_classes or shape.n_targets:
            return target.astype(np.float32).reshape(len(target), -1)
        loss = self._model.loss
        name = loss if isinstance(loss, str) else getattr(loss, "name", repr(loss))
        if "sparse" in name:
            return target.astype(np.int32)
        return np.eye(shape.n_classes, dtype=np.float32)[target]

    def _run(
        self,
        keras: Any,
        X: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray | None,
        held_out: np.ndarray,
    ) -> dict[str, list[float]]:
        """Train the network, stop early by the held-out rows, and return the losses by epoch."""
        parts = [X, target] if weight is None else [X, target, weight.astype(np.float32)]
        training = [part[~held_out] for part in parts]
        epochs = self._n_epochs(len(training[0]))
        callbacks = [keras.callbacks.LambdaCallback(on_epoch_end=self._stop_if_lost)]
        if self.decay and self._own_optimizer:
            callbacks.append(
                keras.callbacks.LearningRateScheduler(
                    lambda epoch: self.learning_rate * (1 - epoch / epochs)
                )
            )
        validation: dict[str, Any] = {}
        if held_out.any():
            validation["validation_data"] = tuple(part[held_out] for part in parts)
            validation["validation_batch_size"] = min(int(held_out.sum()), 1024)
            callbacks.append(
                keras.callbacks.EarlyStopping(
                    monitor="val_loss", patience=self.patience, restore_best_weights=True
                )
            )
        history = self._model.fit(
            training[0],
            training[1],
            sample_weight=training[2] if weight is not None else None,
            epochs=epochs,
            batch_size=self.batch_size,
            callbacks=callbacks,
            verbose=self.verbose,
            **validation,
        )
        return {
            key: [float(value) for value in values]
            for key, values in history.history.items()
            if key != "learning_rate"
        }

    def _n_epochs(self, n_rows: int) -> int:
        if self.epochs != "auto":
            return int(self.epochs)
        return max(EPOCHS, math.ceil(STEPS / math.ceil(n_rows / self.batch_size)))

    def _stop_if_lost(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        if not np.isfinite((logs or {}).get("loss", 0.0)):
            self._model.stop_training = True

    def _forget_training(self) -> None:
        """Drop the loss and the optimizer; the optimizer is twice as large as the weights."""
        self._model.compile(optimizer=None)
        self._model.compiled = False

    def _check_outputs(self, X: np.ndarray, shape: DataShape) -> None:
        outputs = self._outputs(X)
        if not np.isfinite(outputs).all():
            raise DivergedError(
                f"the network diverged in epoch {len(self.history_['loss'])} (its outputs are not "
                "finite); use a smaller learning rate"
            )
        if shape.n_classes and shape.n_targets:
            good, are = 0 <= outputs.min() <= outputs.max() <= 1, f"up to {outputs.max():g}"
        else:
            good = np.allclose(outputs.sum(axis=1), 1, atol=1e-3)
            are = f"that sum to {outputs[0].sum():g} for the first row"
        if shape.n_classes and not good:
            raise StrategyError(
                f"the network gives numbers {are}, not probabilities; end it with "
                "Dense(shape.n_outputs, shape.activation)"
            )

    # ---- asking

    @property
    def model_(self) -> Any:
        """Fitted keras model."""
        check_is_fitted(self, "history_")
        if self._model is None:
            self._model = _from_bytes(self._archive, effective_n_jobs(self.n_jobs))
        return self._model

    @quiet()
    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs of the network for float32 rows: shape (n_rows, n_outputs)."""
        start_keras(effective_n_jobs(self.n_jobs))
        missing = -len(X) % ROWS_AT_ONCE
        blocks = np.concatenate([X, np.zeros((missing, *X.shape[1:]), X.dtype)])
        given = self.model_.predict(blocks, batch_size=ROWS_AT_ONCE, verbose=0)
        return np.asarray(given)[: len(X)]

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "history_")
        return validate_data(self, X, dtype=np.float32, reset=False, allow_nd=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = not isinstance(self.network, Architecture)
        tags.target_tags.multi_output = True
        if tags.classifier_tags:
            tags.classifier_tags.multi_label = True
        return tags

    # ---- keeping it

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_model") is not None:
            state["_archive"] = _to_bytes(state["_model"])
            state["_model"] = None
        return state

    @quiet()
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted network to a ``.keras`` file, which keras can load without MLaut.

        Raises
        ------
        StrategyError
            The file does not end in ``.keras``, or the labels are not text, numbers or booleans.
        """
        target = Path(path)
        if target.suffix != ".keras":
            raise StrategyError(f"{target}: a network is saved in keras's format; end it in .keras")
        about = self._about()
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            written = Path(folder, target.name)
            self.model_.save(written)
            with zipfile.ZipFile(written, "a") as archive:
                archive.writestr(ABOUT, about)
            written.replace(target)
        return target

    def _about(self) -> str:
        labels = getattr(self, "classes_", np.empty(0))
        about = {
            "kind": type(self).__name__,
            "history": self.history_,
            "labels": labels.tolist(),
            "dtype": labels.dtype.str,
            "columns": list(getattr(self, "feature_names_in_", ())),
            "targets": self.n_targets_,
        }
        try:
            return json.dumps(about)
        except TypeError as error:
            raise StrategyError(
                f"labels like {labels[0]!r} cannot be written to a .keras file; "
                "pickle the estimator instead"
            ) from error

    @classmethod
    @quiet()
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the fitted network of a file that `save` wrote. No code in the file is run.

        Raises
        ------
        StrategyError
            There is no such file, or it was not written by `save` of this class.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                about = json.loads(archive.read(ABOUT))
        except FileNotFoundError as error:
            raise StrategyError(f"{path}: no such file; check the path") from error
        except (KeyError, zipfile.BadZipFile) as error:
            raise StrategyError(
                f"{path}: not written by {cls.__name__}.save; keras.saving.load_model may read it"
            ) from error
        if about["kind"] != cls.__name__:
            raise StrategyError(f"{path}: holds a {about['kind']}; use {about['kind']}.load")
        estimator = cls(network=None)
        estimator.history_ = about["history"]
        estimator._model = start_keras().saving.load_model(path)
        estimator.n_features_in_ = estimator._model.input_shape[1]
        estimator.n_targets_ = about.get("targets", 0)
        if about.get("columns"):
            estimator.feature_names_in_ = np.array(about["columns"], dtype=object)
        if about["labels"]:
            estimator.classes_ = np.array(about["labels"], dtype=about["dtype"])
        return estimator


@dataclass(kw_only=True, eq=False, repr=False)
class KerasClassifier(ClassifierMixin, _KerasEstimator):
    """Classifier that trains a keras network.

    Rows should be scaled; a strategy (`keras_network`) does that. Equal seeds produce equal
    networks in any process, on the same machine, backend and version.

    Parameters
    ----------
    network : callable
        Function of the `DataShape` of the training table that returns a new keras model, which
        ends in ``Dense(shape.n_outputs, shape.activation)``. A model that the function has not
        compiled is compiled with ``loss`` and Adam.
    loss : str or keras loss, default "auto"
        Loss for training; ``"auto"`` is cross-entropy. The loss gets labels as one-hot rows, or as
        positions if its name contains "sparse"; several labels of a row as they are.
    learning_rate : float, default 0.001
        Learning rate of Adam.
    decay : bool, default True
        Whether the learning rate falls linearly over the epochs, from ``learning_rate`` to 0. It
        has no effect on a model that ``network`` has compiled.
    epochs : int or "auto", default "auto"
        Largest number of passes through the training rows. ``"auto"`` is 50; a small table gets as
        many epochs as make 300 steps (batches).
    batch_size : int, default 32
        Number of rows of a batch.
    validation_fraction : float, default 0.0
        Share of the rows of each class that is held out for early stopping. Training stops after
        ``patience`` epochs without a smaller loss on these rows, and the weights of the best epoch
        are used. 0: train for all ``epochs`` on all rows.
    patience : int, default 20
        Number of epochs without improvement before training stops.
    class_weight : mapping, "balanced" or None, default None
        Weight of the rows of each class, by label.
    random_state : int, RandomState or None, default None
        Seed of the weights, the order of the rows, dropout, and the choice of held-out rows.
    n_jobs : int, default 1
        Number of threads of keras. jax and TensorFlow keep the number of the first network of a
        process.
    verbose : int, default 0
        Verbosity of keras.

    Attributes
    ----------
    model_ : keras.Model
        Trained model, which is no longer compiled.
    classes_ : ndarray, shape (n_classes,)
        Sorted labels, in the order of the columns of `predict_proba`; positions of several.
    history_ : dict
        Lists by epoch: ``loss``, and ``val_loss`` if rows were held out.
    n_features_in_, n_targets_ : int
        Length of the first dimension of a row; number of several targets, or 0.

    Raises
    ------
    OptionalPackageError
        Raised by ``fit`` if keras is not installed.

    Examples
    --------
    >>> def small(shape):
    ...     import keras
    ...     last = keras.layers.Dense(shape.n_outputs, shape.activation)
    ...     return keras.Sequential([keras.layers.Dense(8, "relu"), last])
    >>> KerasClassifier(small, epochs=5).get_params()["epochs"]
    5
    """

    _auto_loss = "sparse_categorical_crossentropy"

    class_weight: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows of shape (n_rows, ...), labels of any type, and row weights."""
        X, y = validate_data(self, X, y, dtype=np.float32, allow_nd=True, multi_output=True)
        check_classification_targets(y)
        y = _one_or_several(y)
        if y.ndim > 1:
            self.classes_, positions = np.arange(y.shape[1]), y
        else:
            self.classes_, positions = np.unique(y, return_inverse=True)
        weight = _weights(sample_weight, X)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weight = by_class if weight is None else weight * by_class
        self._train(X, positions, weight, len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities: float32, shape (n_rows, n_classes), columns as ``classes_``."""
        return self._outputs(self._rows(X))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of the largest probability, or each of several: shape of ``y``."""
        shares = self.predict_proba(X)  # tells first that there is no fit
        return (shares > 0.5).astype(int) if self.n_targets_ else self.classes_[shares.argmax(1)]


class KerasRegressor(RegressorMixin, _KerasEstimator):
    """Regressor that trains a keras network.

    Rows and target should be scaled; a strategy (`keras_network`) does that.

    Parameters
    ----------
    network : callable
        Function of the `DataShape` of the training table, with ``n_classes`` 0, that returns a new
        keras model, which ends in ``Dense(shape.n_outputs)``.
    loss : str or keras loss, default "auto"
        Loss for training; ``"auto"`` is the mean squared error.
    learning_rate, decay, epochs, batch_size, validation_fraction, patience
        As for `KerasClassifier`; held-out rows are drawn from all rows.
    random_state, n_jobs, verbose
        As for `KerasClassifier`.

    Attributes
    ----------
    model_, history_, n_features_in_, n_targets_
        As for `KerasClassifier`.

    Examples
    --------
    >>> KerasRegressor(lambda shape: ..., patience=5).get_params()["patience"]
    5
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on rows of shape (n_rows, ...), numbers, and row weights."""
        how: dict[str, Any] = {"dtype": np.float32, "allow_nd": True, "y_numeric": True}
        X, y = validate_data(self, X, y, multi_output=True, **how)
        self._train(X, _one_or_several(y), _weights(sample_weight, X), 0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict numbers: float64, shape of ``y``."""
        outputs = self._outputs(self._rows(X)).astype(np.float64)
        return outputs if self.n_targets_ else outputs[:, 0]


def _one_or_several(y: np.ndarray) -> np.ndarray:
    return y if y.ndim > 1 and y.shape[1] > 1 else column_or_1d(y, warn=True)


def _weights(given: Any, X: np.ndarray) -> np.ndarray | None:
    if given is None:
        return None
    check_consistent_length(X, given)
    weights = np.asarray(given, dtype=np.float64)
    if not weights.any():
        raise DataError("sample_weight is 0 for every row; give some rows a weight")
    return weights


def _held_out(groups: np.ndarray, fraction: float, rng: np.random.RandomState) -> np.ndarray:
    """Return a mask with a random share of each group, rounded; small groups may have no row."""
    order = rng.permutation(len(groups))
    held_out = np.zeros(len(groups), dtype=bool)
    for group in np.unique(groups):
        rows = order[groups[order] == group]
        held_out[rows[: int(fraction * len(rows) + 0.5)]] = True
    return held_out


@quiet()
def _to_bytes(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.keras")
        model.save(path)
        return path.read_bytes()


@quiet()
def _from_bytes(archive: bytes, threads: int) -> Any:
    keras = start_keras(threads)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network.keras")
        path.write_bytes(archive)
        # The archive comes from this object's own state, which is trusted like any pickle.
        return keras.saving.load_model(path, safe_mode=False)

"""Strategies with keras networks: the networks of the MLaut study, and networks of the user.

Keras is imported only when a network is built.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mlaut.errors import StrategyError, refuse_unknown
from mlaut.estimators.networks.architectures import Architecture
from mlaut.estimators.networks.keras_estimator import EPOCHS, KerasClassifier, KerasRegressor
from mlaut.estimators.preparing.preprocessing import Preprocessor
from mlaut.estimators.sizes import SizeLimit
from mlaut.estimators.strategy.generic_estimator import Generic_Estimator
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.estimators.strategy.metadata import DEFAULT, DataShape, Properties
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.records import CLASSIFICATION, REGRESSION

FAMILY = "Neural_Networks"
PROTOCOLS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "paper": {"loss": "mean_squared_error", "decay": False, "epochs": 1},
}
"""Training protocols, as parameters of `KerasClassifier` that differ from its defaults."""

COLUMNS_LEFT = 4
"""Columns that dropout on the input leaves on average, at least, by the default protocol.

`docs/networks.md` says why.
"""


def _estimator(
    network: Callable[[DataShape], Any], task: str, protocol: str, **settings: Any
) -> KerasClassifier | KerasRegressor:
    refuse_unknown([protocol], PROTOCOLS, StrategyError, "no protocol is called")
    kind = KerasClassifier if task == CLASSIFICATION else KerasRegressor
    return kind(network, **{**PROTOCOLS[protocol], **settings})


def _metadata(name: str, task: str) -> dict[str, Any]:
    return {
        "name": name,
        "estimator_family": [FAMILY],
        "tasks": [task],
        "preprocessing": Preprocessor(normalize_features=True),
        "normalize_labels": task == REGRESSION,
        "package": "keras",
    }


def keras_network(
    network: Callable[[DataShape], Any],
    *,
    name: str | None = None,
    task: str = CLASSIFICATION,
    protocol: str = DEFAULT,
    **settings: Any,
) -> Generic_Estimator:
    """Return a strategy that trains a keras network of the user.

    The preprocessing is the same as for the listed networks: gaps are filled, categories are
    one-hot coded, and numbers and the target of a regression are scaled.

    Parameters
    ----------
    network : callable
        Function of the `DataShape` of the preprocessed table that returns a keras model, which
        ends in ``Dense(shape.n_outputs, shape.activation)``. If the function does not compile it,
        it is compiled by the protocol.
    name : str, optional
        Name of the strategy; by default the name of the function.
    task : {"Classification", "Regression"}, default "Classification"
    protocol : {"default", "paper"}, default "default"
        Training protocol, as for the listed networks.
    **settings
        Parameters of `KerasClassifier` or `KerasRegressor`; they override the protocol.

    Raises
    ------
    StrategyError
        The task or the protocol is not known.

    Examples
    --------
    >>> def wide(shape):
    ...     from keras import Sequential, layers
    ...     last = layers.Dense(shape.n_outputs, shape.activation)
    ...     return Sequential([layers.Dense(99, "relu"), last])
    >>> strategy = keras_network(wide, epochs=50)
    >>> strategy.name, strategy.tasks
    ('wide', ('Classification',))
    """
    metadata = _metadata(name or str(getattr(network, "__name__", "Keras network")), task)
    estimator = _estimator(network, task, protocol, **settings)
    return Generic_Estimator(estimator, properties=Properties(**metadata))


@dataclass(kw_only=True, eq=False, repr=False)
class Listed_Network(MlautEstimator):
    """Strategy with a network of the MLaut study (section 5.4.3).

    Parameters
    ----------
    protocol : {"default", "paper"}, default "default"
        ``"paper"`` trains as the study did: mean squared error on one-hot labels, one epoch,
        batches of 32. ``"default"`` trains by common practice: cross-entropy (regression: mean
        squared error), 50 epochs or more, a learning rate that falls to 0; dropout on the input
        leaves at least 4 columns on average, and a straight line corrects outputs of a regression.
    **parameters
        Parameters of `MlautEstimator`; ``params`` are parameters of `KerasClassifier` or
        `KerasRegressor`, for example ``{"epochs": 50, "class_weight": "balanced"}``.

    Examples
    --------
    >>> from mlaut.estimators import instantiate_default_estimators
    >>> (network,) = instantiate_default_estimators(
    ...     ["NN-4-layer_thin_dropout_lr001"], protocol="paper"
    ... )
    >>> network.describe()["wraps"]
    "KerasClassifier(decay=False, epochs=1, loss='mean_squared_error', ...)"
    """

    entry: ClassVar[Strategy]

    protocol: str = DEFAULT

    @property
    def metadata(self) -> Properties:
        """Metadata with the size limit of the protocol and of the number of epochs."""
        network = self.entry.settings["network"]
        limit = default_size_limit(network, self.protocol, self.params)
        return replace(super().metadata, size_limit=limit)

    def build(self, **_: Any) -> Any:
        """Return a `KerasClassifier` or `KerasRegressor` with the architecture."""
        network = self.entry.settings["network"]
        if self.protocol == DEFAULT:
            network = replace(network, columns_left=COLUMNS_LEFT, rescaled=True)
        return self.tuned(
            _estimator(
                network,
                self.entry.tasks[0],
                self.protocol,
                learning_rate=self.entry.settings["learning_rate"],
            )
        )


def default_size_limit(
    architecture: Architecture, protocol: str = DEFAULT, params: Mapping[str, Any] | None = None
) -> SizeLimit:
    """Return the number of rows on which training takes a day, on a core of 30 GFLOP/s.

    The estimate is 6 operations per weight and row, and at most 5,000 rows per second.
    """
    epochs = {**PROTOCOLS.get(protocol, {}), **(params or {})}.get("epochs", "auto")
    epochs = max(1, epochs) if isinstance(epochs, int) else EPOCHS
    operations = 6 * architecture.n_weights(n_features=20, n_outputs=2)
    rows_a_second = min(5_000, 30e9 / operations)
    return SizeLimit(rows=1000 * round(rows_a_second * 24 * 3600 / epochs / 1000))

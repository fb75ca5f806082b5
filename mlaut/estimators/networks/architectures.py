"""Networks of the MLaut study as plain data; keras is imported only when a network is built.

Source: Kazakov and Király (2019), *Machine Learning Automation Toolbox (MLaut)*, section 5.4.3:
six architectures at three learning rates, the 18 network rows of its Table 8.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mlaut.estimators.strategy.metadata import DataShape


@dataclass(frozen=True)
class Architecture:
    """Stack of layers; calling it with the shape of the data builds a keras model.

    The task adds the last layer (`DataShape.n_outputs`, `DataShape.activation`).

    Attributes
    ----------
    layers : tuple of int or float
        Layers from the input on. A whole number is a dense layer with that many rectified linear
        units; a fraction is a dropout layer that drops this share.
    columns_left : int, default 0
        Smallest average number of columns that dropout on the input may leave. Dropout removes a
        smaller share of a narrow table, and nothing of a table with at most this many columns.
    rescaled : bool, default False
        Whether a straight line, fitted to the training rows, corrects the outputs of a regression:
        dropout shrinks them towards the mean.

    Examples
    --------
    >>> Architecture((4, 0.5)).n_weights(n_features=3, n_outputs=2)  # (3 + 1) * 4 + (4 + 1) * 2
    26
    """

    layers: tuple[int | float, ...]
    columns_left: int = 0
    rescaled: bool = False

    def layers_for(self, n_features: int) -> tuple[int | float, ...]:
        """Return the layers for a preprocessed table with ``n_features`` columns.

        Examples
        --------
        >>> gentle = Architecture((0.7, 1024, 0.5), columns_left=3)
        >>> gentle.layers_for(4), gentle.layers_for(3), gentle.layers_for(30)
        ((0.25, 1024, 0.5), (0.0, 1024, 0.5), (0.7, 1024, 0.5))
        """
        first, *others = self.layers
        if isinstance(first, float):
            first = min(first, max(0.0, 1 - self.columns_left / n_features))
        return (first, *others)

    def n_weights(self, n_features: int, n_outputs: int) -> int:
        """Return the number of weights, including one bias for each unit."""
        widths = [n_features, *(n for n in self.layers if isinstance(n, int)), n_outputs]
        return sum((before + 1) * after for before, after in pairwise(widths))

    def __call__(self, shape: DataShape) -> Any:
        """Return a new keras model that is not compiled.

        Parameters
        ----------
        shape : DataShape
            Shape of the preprocessed table; ``n_classes`` is 0 for regression.
        """
        from mlaut.estimators.networks.keras_backend import start_keras

        keras = start_keras()
        model = keras.Sequential([keras.layers.Input((shape.n_features,))])
        for size in self.layers_for(shape.n_features):
            dense = isinstance(size, int)
            model.add(
                keras.layers.Dense(size, activation="relu") if dense else keras.layers.Dropout(size)
            )
        model.add(keras.layers.Dense(shape.n_outputs, activation=shape.activation))
        return model


ARCHITECTURES = {
    "NN-4-layer_thin_dropout": Architecture((288, 144, 0.5, 12)),
    "NN-4-layer_wide_no_dropout": Architecture((2500, 2000, 1500)),
    "NN-4-layer_wide_with_dropout": Architecture((2500, 2000, 0.5, 1500)),
    "NN-12-layer_wide_with_dropout": Architecture(
        (5000, 4500, 4000, 0.5, 3500, 3000, 2500, 0.5, 2000, 1500, 1000, 0.5, 500, 250)
    ),
    "NN-4-layer-dropout-each-layer": Architecture((2000, 0.5, 1000, 0.5, 1000, 0.5, 50, 0.5)),
    "NN-2-layer-dropout-input-layer": Architecture((0.7, 1024, 0.5)),
}
LEARNING_RATES = {"lr001": 0.001, "lr01": 0.1, "lr1": 1.0}

"""The networks of the MLaut study as plain data; nothing here imports keras until one is built.

Kazakov and Király (2019), *Machine Learning Automation Toolbox (MLaut)*, section 5.4.3: six
architectures at three learning rates, the 18 network rows of its Table 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mlaut.records import CLASSIFICATION, REGRESSION

if TYPE_CHECKING:
    from mlaut.estimators.metadata import DataShape

__all__ = ["ARCHITECTURES", "LEARNING_RATES", "LISTED", "Architecture", "ListedNetwork"]


@dataclass(frozen=True)
class Architecture:
    """A stack of layers that becomes a keras model when it is called with the shape of the data.

    The last layer is added by the task: softmax over the classes, or one linear unit.

    Attributes
    ----------
    layers : tuple of int or float
        From the input on: a whole number is a dense layer of so many rectified linear units, a
        fraction the share that a dropout layer drops.
    columns_left : int, default 0
        Columns that dropout on the input leaves on average, at the least: of a narrow table it
        drops a smaller share, and nothing of one that has no more columns than that.

    Examples
    --------
    >>> Architecture((4, 0.5)).n_weights(n_features=3, n_outputs=2)  # (3 + 1) * 4 + (4 + 1) * 2
    26
    """

    layers: tuple[int | float, ...]
    columns_left: int = 0

    def layers_for(self, n_features: int) -> tuple[int | float, ...]:
        """Return the layers for a table of so many columns, once it is prepared.

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
        """Count the weights, a bias for each unit among them."""
        widths = [n_features, *(n for n in self.layers if isinstance(n, int)), n_outputs]
        return sum((before + 1) * after for before, after in pairwise(widths))

    def __call__(self, shape: DataShape) -> Any:
        """Build the keras model, not compiled.

        Parameters
        ----------
        shape : DataShape
            Of the table that the network gets; ``n_classes`` is 0 for regression.
        """
        from mlaut.estimators.keras_backend import start_keras

        keras = start_keras()
        model = keras.Sequential([keras.layers.Input((shape.n_features,))])
        for size in self.layers_for(shape.n_features):
            dense = isinstance(size, int)
            model.add(
                keras.layers.Dense(size, activation="relu") if dense else keras.layers.Dropout(size)
            )
        activation = "softmax" if shape.n_classes else "linear"
        model.add(keras.layers.Dense(shape.n_classes or 1, activation=activation))
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


@dataclass(frozen=True)
class ListedNetwork:
    """One of the study's networks: an architecture at a learning rate, for a task.

    Attributes
    ----------
    name : str
        As in the study's Table 8; with ``_Regressor`` for regression.
    architecture : Architecture
    learning_rate : float
    task : str
    """

    name: str
    architecture: Architecture
    learning_rate: float
    task: str

    @property
    def class_name(self) -> str:
        """Name of its class."""
        return self.name.replace("-", "_")


def _listed() -> Iterator[ListedNetwork]:
    for task, ending in ((CLASSIFICATION, ""), (REGRESSION, "_Regressor")):
        for stem, architecture in ARCHITECTURES.items():
            for suffix, rate in LEARNING_RATES.items():
                yield ListedNetwork(f"{stem}_{suffix}{ending}", architecture, rate, task)


LISTED = tuple(_listed())
"""All of them: 18 for classification, then 18 for regression."""

"""Networks of the MLaut study as plain data; keras is imported only when a network is built.

Source: Kazakov and Király (2019), *Machine Learning Automation Toolbox (MLaut)*, section 5.4.3:
six architectures at three learning rates, the 18 network rows of its Table 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlaut.estimators.strategy.metadata import DataShape


@dataclass(frozen=True)
class Architecture:
    """Stack of layers; calling it with the shape of the data builds a keras model.

    The task adds the last layer: softmax over the classes, or one linear unit.

    Attributes
    ----------
    layers : tuple of int or float
        Layers from the input on. A whole number is a dense layer with that many rectified linear
        units; a fraction is a dropout layer that drops this share.
    columns_left : int, default 0
        Smallest average number of columns that dropout on the input may leave. It drops a smaller
        share of a narrow table, and nothing of a table with at most this many columns.

    Examples
    --------
    >>> Architecture((4, 0.5)).n_weights(n_features=3, n_outputs=2)  # (3 + 1) * 4 + (4 + 1) * 2
    26
    """

    layers: tuple[int | float, ...]
    columns_left: int = 0

    rescaled = False  # whether a regression corrects the scale of its outputs after training
    dropping = 0.0  # share of training over which dropout falls to 0; 0: it stays

    def rate_shares(self) -> tuple[float, ...]:
        """Return the share of the learning rate that each dense layer gets, the last included."""
        return (1.0,) * (1 + sum(isinstance(size, int) for size in self.layers))

    def shrinks(self) -> tuple[float, ...]:
        """Return the logarithm by which training shrinks the weights of each dense layer."""
        return (0.0,) * len(self.rate_shares())

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
        activation = "softmax" if shape.n_classes else "linear"
        model.add(keras.layers.Dense(shape.n_classes or 1, activation=activation))
        return model


@dataclass(frozen=True)
class Adapted(Architecture):
    """Architecture as the default protocol trains it.

    A hidden layer behind more than `FULL_RATE` units gets a smaller learning rate, in proportion,
    as in Yang et al. (2021), *Tuning large neural networks via zero-shot hyperparameter transfer*:
    the steps of Adam do not depend on the width, but their sum over all inputs of a unit does. The
    weights of these layers decay, or they would learn a small table by heart. In a regression,
    dropout shrinks outputs towards the mean; a straight line, fitted to the training rows, corrects
    it.

    Attributes
    ----------
    shrink : float, default 3.0
        Decay of the layers behind very many units, over all of training and all these layers: so
        many times their weights would fall by the factor e, if the data did not hold them.
    dropping : float, default 0.5
        Share of training in which dropout falls to 0; the rest trains the network that predicts.

    Examples
    --------
    >>> Adapted((288, 0.5, 16)).rate_shares()
    (1.0, 0.8888888888888888, 1.0)
    >>> [round(power, 2) for power in Adapted((2560, 1280, 16)).shrinks()]
    [0.0, 1.35, 1.2, 0.0]
    """

    shrink: float = 3.0  # by development tables, as the next; docs/networks.md
    dropping: float = 0.5
    rescaled = True

    def rate_shares(self) -> tuple[float, ...]:
        """Return the share of the learning rate that each dense layer gets, the last included."""
        widths = [size for size in self.layers if isinstance(size, int)]
        return (1.0, *(min(1.0, FULL_RATE / width) for width in widths[:-1]), 1.0)

    def shrinks(self) -> tuple[float, ...]:
        """Return the logarithm by which training shrinks the weights of each dense layer."""
        shares = self.rate_shares()
        slower = sum(share < 1 for share in shares)
        return tuple((1 - share) * self.shrink / max(slower, 1) for share in shares)


FULL_RATE = 256  # by development tables; 64 is too small for the thin network; docs/networks.md

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

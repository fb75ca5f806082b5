"""Two small convolutional networks: for series and for images.

Copy one, change it, and give it to a study::

    from mlaut.estimators import keras_network
    from networks import image_network, series_network

    study.run([keras_network(image_network, epochs=20)])

``shape.row`` is the shape of a row as it was stored: ``(channels, points)`` of series, in the
layout of aeon and sktime; ``(height, width)`` of grey images, ``(height, width, 3)`` of others.
Both networks learn the scale of the values first, since arrays are not scaled before them, and end
by a mean over all places, so that they have few weights.
"""


def _ended(layers, shape):
    import keras

    last = keras.layers.Dense(shape.n_outputs, activation=shape.activation)
    return keras.Sequential([keras.layers.Input(shape.row), *layers, last])


def series_network(shape):
    """Return a network for rows of shape (channels, points)."""
    from keras import layers

    return _ended(
        [
            layers.Permute((2, 1)),  # keras has the channels last
            layers.BatchNormalization(),
            layers.Conv1D(32, 7, padding="same", activation="relu"),
            layers.MaxPooling1D(2, padding="same"),
            layers.Conv1D(64, 5, padding="same", activation="relu"),
            layers.GlobalAveragePooling1D(),
        ],
        shape,
    )


def image_network(shape):
    """Return a network for rows of shape (height, width) or (height, width, channels)."""
    from keras import layers

    return _ended(
        [
            layers.Reshape((*shape.row, 1) if len(shape.row) == 2 else shape.row),
            layers.BatchNormalization(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2, padding="same"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
        ],
        shape,
    )

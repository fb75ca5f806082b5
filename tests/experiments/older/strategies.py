"""Strategies with functions, constants and a class of their own."""

import functools

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

POWER = 2


def to_power(table, power):
    """Return the table to a power."""
    return np.asarray(table, dtype=float) ** power


def stretched(table):
    """Return the table to the power of this module."""
    return to_power(table, POWER)


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearest mean."""

    metric = 2

    def __init__(self, shrink=0.0):
        self.shrink = shrink

    def fit(self, X, y):
        X = np.asarray(X, dtype=float)
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == one].mean(axis=0) for one in self.classes_])
        self.means_ *= 1 - self.shrink
        return self

    def predict(self, X):
        gaps = np.abs(np.asarray(X, dtype=float)[:, None] - self.means_[None]) ** self.metric
        return self.classes_[gaps.sum(axis=2).argmin(axis=1)]


strategies = {
    "stretched": make_pipeline(FunctionTransformer(stretched), GaussianNB()),
    "partial": make_pipeline(
        FunctionTransformer(functools.partial(to_power, power=0.5)), GaussianNB()
    ),
    "lambda": KNeighborsClassifier(weights=lambda d: 1 / (1 + d)),
    "nearest": Nearest(shrink=0.1),
}

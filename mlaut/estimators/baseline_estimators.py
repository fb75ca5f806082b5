"""Baseline strategies, which predict without the features."""

from mlaut.estimators.listed import strategy_classes

globals().update(strategy_classes(__name__))

"""Generalised linear models."""

from mlaut.estimators.listed import strategy_classes

globals().update(strategy_classes(__name__))

"""Nearest-neighbour strategies, which predict a row from similar training rows."""

from mlaut.estimators.listed import strategy_classes

globals().update(strategy_classes(__name__))

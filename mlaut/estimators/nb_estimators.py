"""Naive Bayes strategies, which assume that features are independent within each class."""

from mlaut.estimators.listed import strategy_classes

globals().update(strategy_classes(__name__))

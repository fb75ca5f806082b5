"""Keras networks as estimators."""

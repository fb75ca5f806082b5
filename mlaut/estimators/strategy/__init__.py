"""Strategies: estimators with their metadata, preprocessing and tuning."""

"""Runs that check: verify, preview, simulation."""

"""Runs that check: verify, preview."""

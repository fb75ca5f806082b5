"""Readers of results and predictions that other programs stored."""

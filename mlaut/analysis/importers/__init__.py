"""Readers of results that other programs stored."""

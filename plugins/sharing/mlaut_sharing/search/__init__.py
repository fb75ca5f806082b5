"""Searches that share work between candidates."""

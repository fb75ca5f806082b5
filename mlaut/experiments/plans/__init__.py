"""Decide which cells a run has, under which options, and in which rounds."""

"""Helpers of all packages: downloads, locks, lazy imports, markup, libraries that may lack."""

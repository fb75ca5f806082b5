"""Further methods of comparison; the docstring of each subpackage states its question."""

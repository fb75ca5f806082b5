"""Plug-ins: what finds them, and names that they may use besides those of the public packages.

docs/plug-ins.md shows how to write one. A plug-in may import the public names of MLaut's packages,
of `errors`, `records`, `markup` and `downloads`, and those of this package. What is elsewhere may
change in any version.
"""

from mlaut.helpers.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

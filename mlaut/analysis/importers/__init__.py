"""Readers of results and predictions that other programs stored."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "automlbenchmark": ("read_automlbenchmark",),
        "openml": ("read_openml_evaluations", "read_openml_runs"),
        "sktime_results": ("read_sktime",),
        "tabarena": ("read_tabarena",),
    },
)

"""Methods that few comparisons need: the hierarchical test, and figures of every score and rank.

A plug-in of MLaut. `mlaut.analysis` has its names while it is installed.
"""

from mlaut.plugins import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "hierarchical": ("hierarchical_probabilities", "hierarchical_test"),
        "overview_plots": ("heat_map", "rank_plot"),
        "posterior_plots": ("simplex_plot",),
    },
)

"""Figures of results that the other packages of the analysis computed."""

from mlaut.lazy import attach
from mlaut.optional import load_matplotlib

load_matplotlib()  # before a module of this folder imports it

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "level_plots": ("budget_plot", "calibration_plot"),
        "posterior_plots": ("simplex_plot",),
        "pair_plots": ("multi_comparison_matrix", "pareto_front", "time_plot"),
        "overview_plots": ("rank_plot",),
        "rank_plots": ("draw_ranks",),
    },
)

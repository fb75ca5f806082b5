"""Figures of results that the other packages of the analysis computed."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "level_plots": ("auc_plot", "calibration_plot", "roc_plot"),
        "posterior_plots": ("simplex_plot",),
        "pair_plots": ("pareto_front", "time_plot"),
        "budget_plots": ("budget_plot",),
        "comparison_matrix": ("multi_comparison_matrix",),
        "overview_plots": ("rank_plot",),
        "rank_plots": ("draw_ranks",),
    },
)

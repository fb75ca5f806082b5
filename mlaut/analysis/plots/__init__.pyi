"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.plots.overview_plots import rank_plot as rank_plot
from mlaut.analysis.plots.pair_plots import pareto_front as pareto_front
from mlaut.analysis.plots.pair_plots import time_plot as time_plot
from mlaut.analysis.plots.rank_plots import draw_ranks as draw_ranks

"""Results and predictions that other programs stored: OpenML, sktime, AMLB and TabArena."""

from mlaut_boards.programs.openml import EVALUATIONS, read_openml_evaluations, read_openml_runs
from mlaut_boards.programs.sktime_results import BENCHMARK, read_sktime

__all__ = ["TABLES", "read_openml_evaluations", "read_openml_runs", "read_sktime"]

TABLES = {
    EVALUATIONS.required: read_openml_evaluations,
    BENCHMARK.required: read_sktime,
}
"""Readers of tables, by the columns that show what a table is."""

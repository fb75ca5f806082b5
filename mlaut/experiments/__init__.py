"""Run studies: plan cells, run them in worker processes or on a cluster, store their outcomes."""

from mlaut.lazy import attach

_HOME = {
    "Forecast": "mlaut.experiments.forecast",
    "InlineEngine": "mlaut.experiments.engines.engine",
    "LocalEngine": "mlaut.experiments.engines.engine",
    "Orchestrator": "mlaut.experiments.runs.orchestrator",
    "Plan": "mlaut.experiments.plans.plan",
    "Preview": "mlaut.experiments.preview",
    "RunOptions": "mlaut.experiments.plans.run_options",
    "RunSummary": "mlaut.experiments.runs.summary",
    "StudyFile": "mlaut.experiments.study_file",
    "StudyStatus": "mlaut.experiments.status",
    "Verification": "mlaut.experiments.verify",
    "load_model": "mlaut.experiments.cells.saved_models",
    "make_forecast": "mlaut.experiments.forecast",
    "null_table": "mlaut.experiments.simulation",
    "plan_study": "mlaut.experiments.preview",
    "read_study_file": "mlaut.experiments.study_file",
    "run_study": "mlaut.experiments.study_file",
    "simulate_study": "mlaut.experiments.simulation",
    "study_status": "mlaut.experiments.status",
    "verify_study": "mlaut.experiments.verify",
}

__all__ = [*_HOME]
__getattr__, __dir__ = attach(__name__, _HOME)

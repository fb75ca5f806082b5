"""Run studies: plan cells, run them in worker processes or on a cluster, store their outcomes."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "following.forecast": ("Forecast", "make_forecast"),
        "engines.engine": ("InlineEngine", "LocalEngine"),
        "runs.orchestrator": ("Orchestrator",),
        "plans.plan": ("Plan",),
        "checking.preview": ("Preview", "plan_study"),
        "options": ("RunOptions",),
        "runs.summary": ("RunSummary",),
        "study_files.study_file": ("StudyFile", "read_study_file", "run_study"),
        "following.status": ("StudyStatus", "study_status"),
        "checking.verify": ("Verification", "verify_study"),
        "cells.saved_models": ("load_model",),
    },
)

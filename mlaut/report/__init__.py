"""Reports on a study: its conclusions as tables and sentences computed from the same results."""

from mlaut.lazy import attach

_HOME = {
    "Report": "mlaut.report.report",
    "Section": "mlaut.report.records",
    "make_report": "mlaut.report.report",
    "write_report": "mlaut.report.writing",
}

__all__ = [*_HOME]
__getattr__, __dir__ = attach(__name__, _HOME)

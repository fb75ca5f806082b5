"""Reports on a study: its conclusions as tables and sentences computed from the same results."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "content": ("Report",),
        "report": ("make_report",),
        "records": ("Section",),
        "writing": ("write_report",),
    },
)

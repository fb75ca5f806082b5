"""Boards: repositories of entries that are fitted again and tested before they are listed."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "board": ("Board", "add_entry", "init_board"),
        "refits": ("refit_entry",),
        "judging": ("judge_entry",),
        "verdict": ("Verdict",),
    },
)

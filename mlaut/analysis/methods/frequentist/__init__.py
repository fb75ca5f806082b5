"""Frequentist tests over datasets, and on the test points of one dataset."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "paired_tests": ("ranksum_test", "unpaired_t_test"),
        "mcnemar": ("mcnemar_p", "mcnemar_test"),
        "portmanteau": ("conover_test", "kendalls_w", "post_hoc_test", "quade_test"),
        "ranks": ("bonferroni_dunn_test", "critical_difference", "pair_groups"),
    },
)

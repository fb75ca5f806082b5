"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Names are imported when they are first used, so that ``import mlaut.analysis`` stays quick.
"""

from mlaut.lazy import attach

_NAMES = {
    "analyse_results": ("AnalyseResults",),
    "comparison": ("Comparison", "compare"),
    "corrections": ("CORRECTIONS", "adjust", "adjust_pairs"),
    "frequentist": ("ranksum_test", "sign_test", "t_test", "trinomial_test", "wilcoxon_test"),
    "intervals": ("dataset_estimates", "mean_estimates"),
    "mcnemar": ("mcnemar_p", "mcnemar_test"),
    "missing": ("TREATMENTS", "Robustness", "treat_missing", "under_treatments"),
    "plots": ("box_plot", "critical_difference_diagram", "draw_ranks"),
    "portmanteau": (
        "aligned_ranks_test",
        "conover_test",
        "friedman_test",
        "kendalls_w",
        "post_hoc_test",
        "quade_test",
    ),
    "ranks": (
        "average_ranks",
        "bonferroni_dunn_test",
        "critical_difference",
        "nemenyi_test",
        "rank_groups",
        "rank_table",
    ),
    "result_types": ("Estimate", "Pairwise", "ResultTable", "TestResult"),
    "results": ("Results",),
    "scores": (
        "LossAbsolute",
        "LossBrier",
        "LossLog",
        "LossMisclassification",
        "LossQuantile",
        "LossRMSE",
        "LossSquared",
        "MLautScore",
        "ScoreAUC",
        "ScoreAccuracy",
        "ScoreBalancedAccuracy",
        "ScoreF1",
        "ScoreMCC",
        "ScorePrecision",
        "ScoreR2",
        "ScoreSensitivity",
        "ScoreSpecificity",
        "metric",
        "metric_names",
    ),
}
_HOME = {name: f"mlaut.analysis.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)
__getattr__, __dir__ = attach(__name__, _HOME)

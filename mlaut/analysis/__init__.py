"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Names are imported when they are first used, so that ``import mlaut.analysis`` stays quick.
"""

from mlaut.lazy import attach

_NAMES = {
    "bayesian": (
        "bayesian_sign_test",
        "bayesian_signed_rank_test",
        "sign_probabilities",
        "signed_rank_posterior",
        "signed_rank_probabilities",
    ),
    "bayesian_bootstrap": ("bootstrap_prob_better",),
    "calibration": ("Calibration", "calibrate", "rejection_rates", "replicability"),
    "context_tests": ("CONTEXT_TESTS", "Roc", "auc_table", "judge_on_context"),
    "contexts": ("BIMODAL", "MULTIPLE", "SINGLE", "Context", "context_from_counts"),
    "correlated_t": ("correlated_t_datasets", "correlated_t_probabilities", "correlated_t_test"),
    "cv_statistics": ("CV_TESTS",),
    "cv_tests": ("cv_test", "cv_test_datasets", "cv_test_overview"),
    "decisions": ("Cycle", "Decisions", "decide", "non_transitive_cycles"),
    "design": (
        "ContextDesign",
        "datasets_needed_for_ranks",
        "datasets_needed_in_context",
        "pilot_design",
        "resolution",
    ),
    "hierarchical": ("hierarchical_probabilities", "hierarchical_test"),
    "lacoste": (
        "RiskPosterior",
        "joint_errors",
        "langford_bounds",
        "prob_better_classifier",
        "risk_posterior",
    ),
    "lacoste_tests": ("lacoste_comparison", "lacoste_sign_test", "lacoste_signed_rank_test"),
    "pair_probabilities": (
        "PairProbabilities",
        "error_counts",
        "poisson_binomial_from_probabilities",
        "poisson_binomial_pairs",
        "poisson_binomial_test",
        "probabilities_by_dataset",
    ),
    "poisson_binomial": (
        "poisson_binomial_pmf",
        "poisson_binomial_probability",
        "poisson_binomial_share",
    ),
    "power": ("dataset_sd", "datasets_needed", "power_of_test", "smallest_difference"),
    "repeated_cv": ("cv_interval", "cv_p_values", "cv_statistic"),
    "retrained": ("retrained_estimates", "retrained_mean_estimates"),
    "analyse_results": ("AnalyseResults",),
    "comparison": ("Comparison", "compare"),
    "corrections": ("CORRECTIONS", "adjust", "adjust_pairs"),
    "figures": ("forest_plot", "pairwise_matrix", "pareto_front", "time_plot"),
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

"""Statistics of a study, or of any table of losses: estimates, tests, effect sizes, figures.

Most analyses need only the names listed here. All others are in rooms: `methods` (Lacoste's
methods, folds of one dataset, ratings, planning, explaining, ...), `plots`, `scores`, `importers`,
`pairwise`; they can be imported from here, too.
"""

from mlaut.lazy import attach

ROOMS = (
    *("importers", "methods.aggregates", "methods.bayes", "methods.cross_validation"),
    *("methods.frequentist", "methods.lacoste", "methods.planning", "methods.tuning"),
    *("pairwise", "plots", "results", "scores"),
)

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "methods.aggregates.best": ("probability_of_best",),
        "methods.aggregates.scale_free": ("performance_profile", "scale_free_table"),
        "methods.bayes.sign_tests": ("bayesian_sign_test", "bayesian_signed_rank_test"),
        "plots.level_plots": ("profile_plot",),
        "pairwise.decisions": ("decide",),
        "methods.planning.power": ("datasets_needed",),
        "methods.cross_validation.repeated_cv": ("retrained_estimates",),
        "analyse_results": ("AnalyseResults",),
        "comparing.compare": ("compare",),
        "comparing.comparison": ("Comparison",),
        "deciding.decision": ("Decision",),
        "pairwise.corrections": ("CORRECTIONS", "adjust_pairs"),
        "plots.pair_plots": ("forest_plot", "pairwise_matrix"),
        "importers.any_table": ("read_results",),
        "importers.foreign": ("read_predictions",),
        "methods.ratings.elo": ("elo_ratings",),
        "methods.frequentist.paired_tests": (
            *("multi_comparison", "sign_test", "t_test", "trinomial_test", "wilcoxon_test"),
        ),
        "estimates.intervals": ("dataset_estimates", "mean_estimates"),
        "results.missing": ("treat_missing",),
        "comparing.robustness": ("Robustness", "under_treatments"),
        "plots.decision_plot": ("decision_plot", "race_plot"),
        "racing.study_race": ("StudyRace",),
        "racing.race": ("Race", "drawn_order", "race"),
        "plots.look": ("Look",),
        "plots.overview_plots": ("heat_map",),
        "plots.rank_plots": ("box_plot", "critical_difference_diagram"),
        "methods.frequentist.portmanteau": ("friedman_test",),
        "methods.frequentist.ranks": ("average_ranks", "nemenyi_test", "rank_table"),
        "common.result_types": ("Estimate", "Pairwise", "ResultTable", "TestResult"),
        "importers.published": ("PUBLISHED", "Benchmark", "published"),
        "results.results": ("Results",),
        "scores.base": ("MLautScore",),
        "scores.catalogue": ("describe_metrics", "metric", "metric_names"),
        "methods.tuning.budgets": ("budget_use", "score_against_budget", "search_traces"),
    },
    rooms=ROOMS,
)

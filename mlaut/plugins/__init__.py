"""Plug-ins: what finds them, and names that they may use besides those of the public packages.

docs/plug-ins.md shows how to write one. A plug-in may import the public names of MLaut's packages,
of `errors`, `records`, `markup` and `downloads`, and those of this package. What is elsewhere may
change in any version.
"""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        # what finds plug-ins
        "finding": ("found",),
        "mlaut.former_names": ("without_plugin",),
        # commands
        "mlaut.cli.inputs": ("PATH", "database_and_options", "read_pairs"),
        "mlaut.cli.output": ("Answer", "records", "show", "show_rows"),
        # readers of tables of results
        "mlaut.analysis.importers.reading": ("Format", "choose", "in_one_line"),
        "mlaut.analysis.importers.json_files": ("objects",),
        "mlaut.files_io.tables.tables": ("stem_of",),
        "mlaut.files_io.kinds": ("Kind", "kind_of"),
        "mlaut.analysis.results.contamination": ("with_contaminated",),
        "mlaut.analysis.results.missing": ("with_reason",),
        "mlaut.analysis.results.tables": ("TableMetric",),
        # functions of results: their arguments, and parts of tests
        "mlaut.analysis.common.arguments": (
            *("check", "checked", "names", "not_negative", "one_of", "optional"),
            *("position", "positions", "shown", "where"),
        ),
        "mlaut.analysis.common.display": ("SMALLEST_P", "number"),
        "mlaut.analysis.common.numerics": ("RELATIVE_NOISE", "ranked"),
        "mlaut.analysis.pairwise.corrections": ("adjust",),
        "mlaut.analysis.results.given": ("check_sources", "of_results", "takes_sources"),
        "mlaut.analysis.results.scales": ("ranks_of",),
        "mlaut.analysis.pairwise.effects": ("mean_difference",),
        "mlaut.analysis.pairwise.pairs": ("Pairs", "paired_losses"),
        "mlaut.analysis.pairwise.signed_rank": ("SignedRanks", "signed_rank_p"),
        "mlaut.analysis.sources.flips": ("FEWEST", "flips", "signed_ranks", "source_sums"),
        "mlaut.analysis.racing.evidence": ("log_mean",),
        "mlaut.analysis.deciding.terms": ("Chosen", "DEFAULT_METRICS"),
        # reports
        "mlaut.report.state": ("environment_differences",),
        "mlaut.report.page": ("as_html", "environment_of", "source_of"),
        "mlaut.report.shown": ("ShownCell", "ShownTable", "TableColumn", "decision_table"),
        # studies, their datasets and their runs
        "mlaut.files_io.outcomes.study_records": (
            *("extends", "foreign_sources", "merged_strategies", "split_change"),
        ),
        "mlaut.files_io.studies.study_checks": ("problems_of",),
        "mlaut.files_io.tables.fingerprints": ("dataset_fingerprint",),
        "mlaut.data.tables.archive": ("tuning_split",),
        "mlaut.estimators.libraries.parameters": ("without",),
        "mlaut.estimators.searches.words": ("parse_budget",),
        "mlaut.experiments.cells.memory": ("parse_bytes",),
        "mlaut.experiments.cells.cell": ("CellOptions",),
        "mlaut.experiments.engines.engine": ("Engine", "make_engine"),
        "mlaut.experiments.workers.batches": ("make_batches", "pickled"),
        "mlaut.experiments.plans.entries": ("strategy_entries",),
        "mlaut.experiments.runs.refit": ("fitted_again", "usable_strategies"),
        "mlaut.experiments.study_files.study_file": (
            *("choose_strategies", "own_strategies", "prepare_data"),
        ),
        # work that candidates share in tuning
        "mlaut.sharing.interface": (
            *("Candidate", "CannotShareError", "Fold", "Shared", "Sharer"),
        ),
        "mlaut.sharing.private": ("_safe_indexing", "take"),
        # bundles
        "mlaut.bundles.extending": ("datasets_io", "disagreement", "strategies_of_bundle"),
        "mlaut.bundles.manifest": ("DATASETS", "BundledDataset"),
        "mlaut.bundles.opening": ("read_small",),
        # files
        "mlaut.files_io.safe_files.plain_files": (
            *("MOST_JSON", "check_plain", "read_plain", "read_text", "read_toml", "strict_json"),
            *("write_file", "write_files"),
        ),
        "mlaut.files_io.safe_files.system_errors": ("explained",),
        "mlaut.files_io.safe_files.untrusted": ("read_json",),
        "mlaut.held": ("unfinished",),
        "mlaut.optional": ("need",),
        "mlaut.identity.digests": ("digest",),
    },
)

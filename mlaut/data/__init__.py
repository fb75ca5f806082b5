"""Datasets: collections, loaders, and the splits of their rows."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "api": ("Data", "list_datasets"),
        "sources.references": ("DatasetReference", "fetch", "is_reference", "parse_reference"),
        "splits.by_role": (
            "GroupFolds",
            "GroupTimeSeries",
            "LeakWarning",
            "LeaveOneGroupOut",
            "TimeSeries",
        ),
        "splits.resampling": (
            "ByRole",
            "HoldOut",
            "KFold",
            "make_split",
            "parse_scheme",
            "split_of_pairs",
        ),
        "splits.targets": ("encode_target", "positions"),
        "tables.collections": (
            "CollectionEntry",
            "collection",
            "collection_entries",
            "list_collections",
            "load_sklearn",
        ),
        "tables.folders": ("load_folder",),
        "tables.frames": ("from_frame", "with_roles"),
        "mlaut.downloads": ("cache_folder",),
        "mlaut.files_io.tables.datasets": ("infer_task",),
        "mlaut.files_io.tables.tables": ("read_table",),
    },
)

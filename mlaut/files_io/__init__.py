"""Reading and writing of files: input databases of datasets, and studies (output databases).

Studies are read without pandas, so that ``mlaut status`` is fast; modules that handle tables are
imported at their first use.
"""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "files_io": ["FilesIO", "Files_IO"],
        "outcomes.study_records": ["SplitEntry", "StrategyEntry"],
        "safe_files.hdf5": ["accept_changes"],
        "studies.foreign": ["import_predictions"],
        "studies.study": ["StudyStore"],
        "studies.study_merge": ["merge_studies"],
        "studies.study_writer": ["StudyWriter"],
        "tables.datasets": ["DatasetInfo"],
        "tables.fingerprints": ["fingerprint"],
    },
)

"""Reading and writing of files: input databases of datasets, and studies (output databases).

Studies are read without pandas, so that ``mlaut status`` is fast; modules that handle tables are
imported at their first use.
"""

from typing import TYPE_CHECKING

from mlaut.files_io.outcomes.study_records import SplitEntry, StrategyEntry
from mlaut.files_io.safe_files.hdf5 import accept_changes
from mlaut.files_io.studies.study import StudyStore
from mlaut.files_io.studies.study_writer import StudyWriter
from mlaut.lazy import attach

if TYPE_CHECKING:
    from mlaut.files_io.files_io import Files_IO, FilesIO
    from mlaut.files_io.studies.foreign import import_predictions
    from mlaut.files_io.studies.study_merge import merge_studies
    from mlaut.files_io.tables.datasets import DatasetInfo
    from mlaut.files_io.tables.fingerprints import fingerprint

__all__ = [
    "DatasetInfo",
    "FilesIO",
    "Files_IO",
    "SplitEntry",
    "StrategyEntry",
    "StudyStore",
    "StudyWriter",
    "accept_changes",
    "fingerprint",
    "import_predictions",
    "merge_studies",
]

__getattr__, __dir__, _ = attach(
    __name__,
    {
        "files_io": ["FilesIO", "Files_IO"],
        "studies.foreign": ["import_predictions"],
        "studies.study_merge": ["merge_studies"],
        "tables.datasets": ["DatasetInfo"],
        "tables.fingerprints": ["fingerprint"],
    },
)

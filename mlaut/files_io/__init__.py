"""Reading and writing of files: input databases of datasets, and studies (output databases).

Studies are read without pandas, so that ``mlaut status`` is fast; modules that handle tables are
imported at their first use.
"""

from typing import TYPE_CHECKING

from mlaut.files_io.hdf5 import accept_changes
from mlaut.files_io.study import Study, StudyWriter
from mlaut.files_io.study_records import SplitEntry, StrategyEntry
from mlaut.lazy import attach

if TYPE_CHECKING:
    from mlaut.files_io.datasets import DatasetInfo
    from mlaut.files_io.files_io import FilesIO
    from mlaut.files_io.foreign import import_predictions
    from mlaut.files_io.frames import fingerprint
    from mlaut.files_io.study_merge import merge_studies

__all__ = [
    "DatasetInfo",
    "FilesIO",
    "SplitEntry",
    "StrategyEntry",
    "Study",
    "StudyWriter",
    "accept_changes",
    "fingerprint",
    "import_predictions",
    "merge_studies",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "DatasetInfo": "mlaut.files_io.datasets",
        "FilesIO": "mlaut.files_io.files_io",
        "fingerprint": "mlaut.files_io.frames",
        "import_predictions": "mlaut.files_io.foreign",
        "merge_studies": "mlaut.files_io.study_merge",
    },
)

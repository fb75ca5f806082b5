"""The only place that touches files: input databases of datasets, and output databases.

Studies come without pandas, so that ``mlaut status`` is quick; what handles tables is imported when
it is first used.
"""

from typing import TYPE_CHECKING

from mlaut.files_io.memory import MemoryStudy
from mlaut.files_io.study import Study, StudyWriter
from mlaut.files_io.study_records import SplitEntry, StrategyEntry
from mlaut.lazy import attach

if TYPE_CHECKING:
    from mlaut.files_io.datasets import DatasetInfo
    from mlaut.files_io.files_io import FilesIO
    from mlaut.files_io.frames import fingerprint

__all__ = [
    "DatasetInfo",
    "FilesIO",
    "MemoryStudy",
    "SplitEntry",
    "StrategyEntry",
    "Study",
    "StudyWriter",
    "fingerprint",
]

__getattr__, __dir__ = attach(
    __name__,
    {
        "DatasetInfo": "mlaut.files_io.datasets",
        "FilesIO": "mlaut.files_io.files_io",
        "fingerprint": "mlaut.files_io.frames",
    },
)

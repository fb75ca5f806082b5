"""The only place that touches files: input databases of datasets, and output databases (studies)."""

from mlaut.files_io.memory import MemoryStudy
from mlaut.files_io.study import Study, StudyWriter
from mlaut.files_io.study_records import SplitEntry, StrategyEntry

__all__ = ["MemoryStudy", "SplitEntry", "StrategyEntry", "Study", "StudyWriter"]

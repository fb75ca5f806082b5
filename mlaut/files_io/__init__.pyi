"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.files_io.files_io import FilesIO as FilesIO
from mlaut.files_io.files_io import Files_IO as Files_IO
from mlaut.files_io.outcomes.study_records import SplitEntry as SplitEntry
from mlaut.files_io.outcomes.study_records import StrategyEntry as StrategyEntry
from mlaut.files_io.safe_files.hdf5 import accept_changes as accept_changes
from mlaut.files_io.studies.study import StudyStore as StudyStore
from mlaut.files_io.studies.study_merge import merge_studies as merge_studies
from mlaut.files_io.studies.study_writer import StudyWriter as StudyWriter
from mlaut.files_io.tables.datasets import DatasetInfo as DatasetInfo
from mlaut.files_io.tables.fingerprints import fingerprint as fingerprint

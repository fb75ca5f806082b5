"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis import AnalyseResults as AnalyseResults
from mlaut.analysis import Results as Results
from mlaut.analysis import compare as compare
from mlaut.data import Data as Data
from mlaut.errors import MlautError as MlautError
from mlaut.estimators import Generic_Estimator as Generic_Estimator
from mlaut.estimators import MlautEstimator as MlautEstimator
from mlaut.estimators import instantiate_default_estimators as instantiate_default_estimators
from mlaut.estimators import properties as properties
from mlaut.experiments import Orchestrator as Orchestrator
from mlaut.experiments import run_study as run_study
from mlaut.files_io import FilesIO as FilesIO
from mlaut.files_io import Files_IO as Files_IO
from mlaut.intervals import compare_learners as compare_learners
from mlaut.intervals import error_difference as error_difference
from mlaut.intervals import error_interval as error_interval
from mlaut.study import Study as Study

__version__: str

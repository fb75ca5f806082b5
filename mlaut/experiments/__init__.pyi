"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.experiments.cells.saved_models import load_model as load_model
from mlaut.experiments.checking.preview import Preview as Preview
from mlaut.experiments.checking.preview import plan_study as plan_study
from mlaut.experiments.checking.verify import Verification as Verification
from mlaut.experiments.checking.verify import verify_study as verify_study
from mlaut.experiments.engines.engine import InlineEngine as InlineEngine
from mlaut.experiments.engines.engine import LocalEngine as LocalEngine
from mlaut.experiments.following.forecast import Forecast as Forecast
from mlaut.experiments.following.forecast import make_forecast as make_forecast
from mlaut.experiments.following.status import StudyStatus as StudyStatus
from mlaut.experiments.following.status import study_status as study_status
from mlaut.experiments.options import RunOptions as RunOptions
from mlaut.experiments.plans.plan import Plan as Plan
from mlaut.experiments.runs.orchestrator import Orchestrator as Orchestrator
from mlaut.experiments.runs.summary import RunSummary as RunSummary
from mlaut.experiments.study_files.study_file import StudyFile as StudyFile
from mlaut.experiments.study_files.study_file import read_study_file as read_study_file
from mlaut.experiments.study_files.running import run_study as run_study

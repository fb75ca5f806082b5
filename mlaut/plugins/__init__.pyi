"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

# what finds plug-ins
from mlaut.plugins.finding import found as found
from mlaut.helpers.former_names import without_plugin as without_plugin

# commands
from mlaut.cli.inputs import PATH as PATH
from mlaut.cli.inputs import database_and_options as database_and_options
from mlaut.cli.inputs import race_of as race_of
from mlaut.cli.inputs import read_pairs as read_pairs
from mlaut.cli.output import Answer as Answer
from mlaut.cli.output import one_line as one_line
from mlaut.cli.output import records as records
from mlaut.cli.output import show as show
from mlaut.cli.output import show_rows as show_rows

# readers of tables of results
from mlaut.analysis.importers.reading import Format as Format
from mlaut.analysis.importers.reading import choose as choose
from mlaut.analysis.importers.reading import in_one_line as in_one_line
from mlaut.analysis.importers.reading import last_counts as last_counts
from mlaut.analysis.importers.reading import read_without_twins as read_without_twins
from mlaut.files_io.tables.tables import ending_of as ending_of
from mlaut.files_io.tables.tables import stem_of as stem_of
from mlaut.files_io.kinds import Kind as Kind
from mlaut.files_io.kinds import kind_of as kind_of
from mlaut.analysis.results.missing import with_reason as with_reason
from mlaut.analysis.results.tables import TableMetric as TableMetric

# functions of results: their arguments, and parts of tests
from mlaut.analysis.common.arguments import NotNegative as NotNegative
from mlaut.analysis.common.arguments import Pair as Pair
from mlaut.analysis.common.arguments import Positive as Positive
from mlaut.analysis.common.arguments import Seed as Seed
from mlaut.analysis.common.arguments import Share as Share
from mlaut.analysis.common.arguments import checked as checked
from mlaut.analysis.common.arguments import names as names
from mlaut.analysis.common.arguments import not_negative as not_negative
from mlaut.analysis.common.arguments import one_of as one_of
from mlaut.analysis.common.arguments import position as position
from mlaut.analysis.common.arguments import positions as positions
from mlaut.analysis.common.arguments import share as share
from mlaut.analysis.common.arguments import shown as shown
from mlaut.analysis.common.arguments import the_results as the_results
from mlaut.analysis.common.display import SMALLEST_P as SMALLEST_P
from mlaut.analysis.common.display import number as number
from mlaut.analysis.common.display import p_text as p_text
from mlaut.analysis.common.numerics import RELATIVE_NOISE as RELATIVE_NOISE
from mlaut.analysis.common.numerics import range_ppf as range_ppf
from mlaut.analysis.common.numerics import ranked as ranked
from mlaut.analysis.common.numerics import signed_rank_ppf as signed_rank_ppf
from mlaut.analysis.methods.bayes.sign_tests import region_statistics as region_statistics
from mlaut.analysis.methods.cross_validation.fold_tests import FoldDifferences as FoldDifferences
from mlaut.analysis.methods.cross_validation.fold_tests import fold_differences as fold_differences
from mlaut.analysis.methods.cross_validation.repeated_cv import noise_of_folds as noise_of_folds
from mlaut.analysis.pairwise.corrections import adjust as adjust
from mlaut.analysis.results.given import check_sources as check_sources
from mlaut.analysis.results.given import of_results as of_results
from mlaut.analysis.results.given import takes_sources as takes_sources
from mlaut.analysis.results.study_results import open_study as open_study
from mlaut.analysis.results.scales import ranks_of as ranks_of
from mlaut.analysis.pairwise.effects import cohens_d as cohens_d
from mlaut.analysis.pairwise.effects import mean_difference as mean_difference
from mlaut.analysis.pairwise.pairs import Pairs as Pairs
from mlaut.analysis.pairwise.pairs import paired_losses as paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics as PairStatistics
from mlaut.analysis.pairwise.runner import pair_test as pair_test
from mlaut.analysis.pairwise.signed_rank import SignedRanks as SignedRanks
from mlaut.analysis.pairwise.signed_rank import signed_rank_p as signed_rank_p
from mlaut.analysis.sources.flips import FEWEST as FEWEST
from mlaut.analysis.sources.flips import flips as flips
from mlaut.analysis.sources.flips import signed_ranks as signed_ranks
from mlaut.analysis.sources.flips import source_sums as source_sums
from mlaut.analysis.deciding.terms import Chosen as Chosen
from mlaut.analysis.deciding.terms import check_targets as check_targets
from mlaut.analysis.deciding.terms import control_of as control_of
from mlaut.analysis.common.display import Shown as Shown
from mlaut.analysis.common.tests import TESTS as TESTS

# figures
from mlaut.analysis.common.arguments import Size as Size
from mlaut.analysis.plots.canvas import BLUE as BLUE
from mlaut.analysis.plots.canvas import FONT as FONT
from mlaut.analysis.plots.canvas import GREY as GREY
from mlaut.analysis.plots.canvas import ORANGE as ORANGE
from mlaut.analysis.plots.canvas import canvas as canvas
from mlaut.analysis.plots.canvas import legend_below as legend_below
from mlaut.analysis.plots.canvas import line_axes as line_axes
from mlaut.analysis.plots.canvas import line_style as line_style
from mlaut.analysis.plots.canvas import log_scale as log_scale
from mlaut.analysis.plots.canvas import row_size as row_size
from mlaut.analysis.plots.canvas import style as style
from mlaut.analysis.plots.canvas import text_width as text_width
from mlaut.analysis.plots.look import PALETTE as PALETTE
from mlaut.analysis.plots.look import PLAIN as PLAIN
from mlaut.analysis.plots.pair_plots import label_matrix as label_matrix
from mlaut.analysis.plots.pair_plots import name_points as name_points

# reports
from mlaut.report.page import as_html as as_html
from mlaut.report.page import environment_of as environment_of
from mlaut.report.page import source_of as source_of
from mlaut.report.shown import ShownCell as ShownCell
from mlaut.report.shown import ShownTable as ShownTable
from mlaut.report.shown import TableColumn as TableColumn
from mlaut.report.shown import decision_table as decision_table
from mlaut.report.shown import in_words_of as in_words_of
from mlaut.report.screen import Screen as Screen
from mlaut.report.screen import screen_table as screen_table
from mlaut.analysis.deciding.margins import margins as margins
from mlaut.analysis.deciding.margins import own_scores as own_scores
from mlaut.analysis.deciding.verdict_table import Step as Step
from mlaut.analysis.deciding.verdict_table import VerdictTable as VerdictTable
from mlaut.analysis.deciding.verdicts import BASELINE as BASELINE
from mlaut.analysis.deciding.verdicts import OPEN as OPEN
from mlaut.analysis.deciding.verdicts import USE as USE
from mlaut.analysis.deciding.verdicts import VERDICTS as VERDICTS
from mlaut.analysis.deciding.verdicts import is_baseline as is_baseline
from mlaut.analysis.deciding.words import NOW as NOW
from mlaut.analysis.deciding.words import listed as listed
from mlaut.analysis.deciding.words import where as where
from mlaut.analysis.deciding.certainty import with_relatives as with_relatives
from mlaut.analysis.sources.relatives import related_hint as related_hint

# studies, their datasets and their runs
from mlaut.files_io.outcomes.study_records import extends as extends
from mlaut.files_io.outcomes.study_records import foreign_sources as foreign_sources
from mlaut.files_io.outcomes.study_records import merged_strategies as merged_strategies
from mlaut.files_io.outcomes.study_records import split_change as split_change
from mlaut.files_io.studies.study_checks import checking as checking
from mlaut.files_io.studies.study_checks import problems_of as problems_of
from mlaut.files_io.tables.fingerprints import dataset_fingerprint as dataset_fingerprint
from mlaut.data.tables.frames import Unread as Unread
from mlaut.data.tables.parts import PARTS as PARTS
from mlaut.data.tables.parts import split_of_parts as split_of_parts
from mlaut.estimators.libraries.parameters import without as without
from mlaut.estimators.searches.wanted import parse_budget as parse_budget
from mlaut.experiments.cells.memory import parse_bytes as parse_bytes
from mlaut.experiments.cells.cell_input import CellOptions as CellOptions
from mlaut.experiments.engines.engine import Engine as Engine
from mlaut.experiments.engines.engine import make_engine as make_engine
from mlaut.experiments.workers.batches import make_batches as make_batches
from mlaut.experiments.workers.batches import pickled as pickled
from mlaut.experiments.plans.entries import strategy_entries as strategy_entries
from mlaut.experiments.runs.refit import fitted_again as fitted_again
from mlaut.experiments.runs.refit import usable_strategies as usable_strategies
from mlaut.experiments.study_files.choices import choose_strategies as choose_strategies
from mlaut.experiments.study_files.choices import own_strategies as own_strategies
from mlaut.experiments.study_files.choices import prepare_data as prepare_data

# engines
from mlaut.experiments.cells.cell_input import FoldTable as FoldTable
from mlaut.experiments.cells.cell_input import failed_outcome as failed_outcome
from mlaut.experiments.cells.memory import parse_seconds as parse_seconds
from mlaut.experiments.cells.messages import GarbledError as GarbledError
from mlaut.experiments.cells.messages import Inbox as Inbox
from mlaut.experiments.cells.messages import frame as frame
from mlaut.experiments.engines.engine import limited as limited
from mlaut.experiments.options import SlurmOptions as SlurmOptions
from mlaut.experiments.workers.batches import Batch as Batch
from mlaut.experiments.workers.batches import BatchQueue as BatchQueue
from mlaut.experiments.workers.batches import DatasetRef as DatasetRef
from mlaut.experiments.workers.batches import OpenGroup as OpenGroup
from mlaut.experiments.workers.environment import describe_environment as describe_environment
from mlaut.experiments.workers.isolation import hide as hide
from mlaut.experiments.workers.pool import Team as Team
from mlaut.experiments.workers.pool import run_batches as run_batches
from mlaut.experiments.workers.tables import load_table as load_table
from mlaut.files_io.outcomes.packs import pack_outcomes as pack_outcomes
from mlaut.files_io.outcomes.packs import unpack_outcomes as unpack_outcomes

# batch systems
from mlaut.cli.output import in_own_words as in_own_words
from mlaut.cli.runs import check_report as check_report
from mlaut.experiments.following.forecast import NOTHING as NOTHING
from mlaut.experiments.following.forecast import mean_seconds as mean_seconds
from mlaut.experiments.following.forecast import predicted_seconds as predicted_seconds
from mlaut.experiments.runs.progress import FEW_CELLS as FEW_CELLS
from mlaut.experiments.runs.progress import duration as duration
from mlaut.experiments.plans.shards import Shard as Shard
from mlaut.experiments.plans.shards import open_shards as open_shards
from mlaut.experiments.plans.shards import requested_cells as requested_cells
from mlaut.experiments.plans.shards import shard_counts as shard_counts
from mlaut.files_io.safe_files.lock import holder_of as holder_of
from mlaut.files_io.safe_files.lock import holder_words as holder_words

# races
from mlaut.experiments.plans.plan import Group as Group
from mlaut.experiments.plans.plan import PlannedDataset as PlannedDataset
from mlaut.experiments.plans.races import MakeRace as MakeRace
from mlaut.experiments.study_files.study_file import read_race as read_race
from mlaut.files_io.outcomes.study_records import USAGE as USAGE
from mlaut.files_io.tables.datasets import clusters_of as clusters_of

# searches, in a space and within a budget
from mlaut.experiments.cells.memory import CPU_WAITS as CPU_WAITS
from mlaut.experiments.cells.memory import cpu_seconds as cpu_seconds
from mlaut.estimators.searches.spaces import is_finite as is_finite
from mlaut.estimators.searches.spaces import spaces_of as spaces_of
from mlaut.estimators.searches.traces import trace_of as trace_of
from mlaut.estimators.searches.wanted import Budget as Budget
from mlaut.estimators.searches.wanted import Wanted as Wanted
from mlaut.estimators.searches.wanted import parse_search as parse_search
from mlaut.helpers.optional import need as need

# bundles
from mlaut.data.sources.references import load_reference as load_reference
from mlaut.data.sources.sources import SOURCES as SOURCES
from mlaut.experiments.checking.verify import recorded_input as recorded_input
from mlaut.files_io.kinds import MANIFEST as MANIFEST
from mlaut.files_io.kinds import is_address as is_address
from mlaut.files_io.tables.datasets import checked_dataset as checked_dataset

# files
from mlaut.files_io.safe_files.hdf5 import fsync_folder as fsync_folder
from mlaut.files_io.safe_files.plain_files import MEMORY as MEMORY
from mlaut.files_io.safe_files.plain_files import MOST_JSON as MOST_JSON
from mlaut.files_io.safe_files.plain_files import check_plain as check_plain
from mlaut.files_io.safe_files.plain_files import open_plain as open_plain
from mlaut.files_io.safe_files.plain_files import read_plain as read_plain
from mlaut.files_io.safe_files.plain_files import read_text as read_text
from mlaut.files_io.safe_files.plain_files import read_toml as read_toml
from mlaut.files_io.safe_files.plain_files import strict_json as strict_json
from mlaut.files_io.safe_files.plain_files import write_file as write_file
from mlaut.files_io.safe_files.plain_files import write_files as write_files
from mlaut.files_io.safe_files.system_errors import explained as explained
from mlaut.files_io.safe_files.system_errors import refuse_error_of_machine as refuse_error_of_machine
from mlaut.files_io.safe_files.untrusted import read_json as read_json
from mlaut.helpers.held import unfinished as unfinished
from mlaut.identity.digests import digest as digest

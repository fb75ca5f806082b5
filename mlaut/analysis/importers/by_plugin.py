"""Results that plug-ins read: files and folders in forms of their own."""

import re
from collections.abc import Callable, Hashable, Iterator, Set
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from mlaut.analysis.importers.asked import QuestionError
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, DataError
from mlaut.helpers.former_names import without_plugin
from mlaut.plugins.finding import found

# Words in the first lines of files of leaderboards.
_OF_BOARDS = re.compile(
    r"trained_on_this_dataset|learner_id|eval_metrics/|evaluation_results|lower_is_better|doc_id|"
    r"evaluation_name|main_score|resolved|^\W*(Resamples|folds|Estimators)\b"
)
# Columns of tables of programs, which read as any table would be something else.
_OF_PROGRAMS = {
    "OpenML": {"run_id", "task_id", "data_name", "function", "value"},
    "sktime": {"validation_id", "model_id"},
}
_SEEN, _FILES = 4096, 20  # bytes of a file, and files, in which such a word is looked for


def read_by_plugin(
    path: Path, metric: str | None, greater_is_better: bool | None
) -> Results | None:
    """Return the results that the first plug-in reads; None if none knows the form of the files.

    A plug-in offers a function in the group ``mlaut.readers`` that takes a path, a metric and
    ``greater_is_better``, and returns `Results`, or None for files that are not its own.
    """
    for read in found("readers").values():
        results: Results | None = read(path, metric, greater_is_better=greater_is_better)
        if results is not None:
            return results
    return None


def tables_of_plugins() -> dict[tuple[str, ...], Callable[..., Results]]:
    """Return the readers of tables that plug-ins offer, by the columns of their tables."""
    return {k: read for tables in found("tables").values() for k, read in tables.items()}


def check_program(path: Path, columns: Set[Hashable]) -> None:
    """Raise `AnalysisError` if a table is of a program whose reader is in a missing plug-in."""
    for program, known in _OF_PROGRAMS.items():
        if known <= columns and "boards" not in found("tables"):
            missing = without_plugin(f"tables of {program} are read by", "boards")
            raise AnalysisError(f"{path}: {missing}; or say by columns what its columns are")


@contextmanager
def boards_named(path: Path) -> Iterator[None]:
    """Let errors about files that may be of a leaderboard name the plug-in, if it is missing."""
    try:
        yield
    except (AnalysisError, DataError) as error:
        if not (hint := _of_boards()) or not path.exists():
            raise
        files = path.rglob("*.*") if path.is_dir() else [path]
        if not any(map(_is_of_a_board, islice(filter(Path.is_file, files), _FILES))):
            raise
        if isinstance(error, QuestionError):  # its commands come last
            asked = (error.ways, error.readings, error.sheet)
            raise QuestionError(f"{error.text}{hint}", *asked) from error
        raise type(error)(f"{error}{hint}") from error


def _is_of_a_board(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return bool(_OF_BOARDS.search(file.read(_SEEN)))


def _of_boards() -> str:
    missing = "boards" not in found("readers")
    return f"; {without_plugin('leaderboards are read by', 'boards')}" * missing

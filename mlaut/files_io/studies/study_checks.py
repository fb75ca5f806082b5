"""Checks of a study, and of the files beside it, that need no datasets and no strategies."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

import h5py
import numpy as np

from mlaut.errors import MlautError, StoreError, some_of
from mlaut.files_io.outcomes.journal import index_journal, kept_journals
from mlaut.files_io.outcomes.study_records import SplitEntry, StrategyEntry, foreign_sources
from mlaut.files_io.safe_files.changes import change_path
from mlaut.files_io.safe_files.lock import holder_of
from mlaut.files_io.safe_files.names import from_h5
from mlaut.files_io.studies.models import is_recorded, models_folder
from mlaut.files_io.studies.study import StudyStore
from mlaut.files_io.studies.study_arrays import StudyArrays, tested_rows
from mlaut.files_io.studies.study_layout import PREDICTIONS, SPLITS, arrays_of, strategies_of
from mlaut.helpers.held import leftovers
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, UNUSED, Block, Cell, Status, not_distributions


def problems_of(study: StudyStore) -> Iterator[tuple[str, str]]:
    """Yield the place and the description of each problem of a study.

    The checks are: the seal holds; arrays have the shape and dtype that their split requires;
    splits and classes are valid; each cell matches its checksum; predictions of done cells are
    classes or finite numbers, and their probabilities are distributions; saved models exist and
    are the recorded ones.
    """
    try:
        with study.reading() as file:
            strategies = strategies_of(file)
            for problem in _stray_outcomes(file):
                yield "study", problem
            for name in map(from_h5, file[SPLITS]):
                for problem in _dataset_problems(study, file, name, strategies):
                    yield f"dataset {name!r}", problem
    except MlautError as error:
        yield "study", str(error)


def _stray_outcomes(file: h5py.File) -> Iterator[str]:
    if stray := {*map(from_h5, file[PREDICTIONS])} - {*map(from_h5, file[SPLITS])}:
        yield f"outcomes of datasets without split: {some_of(sorted(stray))}"


def checking(
    study: StudyStore, refuse: Callable[[str, str], None]
) -> Callable[[StudyArrays], None]:
    """Return a check of the arrays of each dataset for `StudyStore.copy_to`, as `problems_of`.

    ``refuse`` is called with the place and the description of each problem, and raises an error.
    """
    with study.reading() as file:
        strategies = strategies_of(file)
        for what in _stray_outcomes(file):
            refuse("study", what)

    def check(arrays: StudyArrays) -> None:
        for what in _problems_in(study, arrays, strategies):
            refuse(f"dataset {arrays.entry.name!r}", what)

    return check


def _dataset_problems(
    study: StudyStore, file: h5py.File, name: str, strategies: Sequence[StrategyEntry]
) -> Iterator[str]:
    try:
        yield from _problems_in(study, arrays_of(file, name), strategies)
    except (KeyError, ValueError, TypeError, IndexError, OSError, MlautError) as error:
        yield f"cannot be read ({' '.join(str(error).split())})"


def _problems_in(
    study: StudyStore, arrays: StudyArrays, strategies: Sequence[StrategyEntry]
) -> Iterator[str]:
    yield from _split_problems(arrays.entry)
    if unknown := set(arrays.names) - {entry.name for entry in strategies}:
        names = some_of(sorted(unknown))
        yield f"outcomes of strategies that the study does not know: {names}"
    name, (block, torn) = arrays.entry.name, arrays.block()
    lost = np.zeros_like(torn)
    # A run that clears cells has such ones for a moment.
    if (block.status == Status.MISSING).any() and holder_of(study.path) is None:
        lost = arrays.without_status()
    status = "its outcome is whole, but its status is lost"
    for what, cells in (("its checksum does not hold", torn), (status, lost)):
        for s, repeat, fold in np.argwhere(cells).tolist():
            yield f"{Cell(name, arrays.names[s], repeat, fold)}: {what}; --mend clears it"
    yield from _value_problems(block, foreign_sources(strategies))
    yield from _model_problems(study, name)


def _split_problems(entry: SplitEntry) -> Iterator[str]:
    folds, numbers = entry.split.folds, np.arange(entry.split.n_folds)
    if folds.size and folds.min() < min(TRAIN_ONLY, UNUSED):
        yield f"its split has fold {folds.min()}, which means nothing"
    sizes = (folds[:, None, :] == numbers[:, None]).sum(axis=2)
    for repeat, fold in np.argwhere(sizes == 0).tolist():
        yield f"no row is tested in repeat {repeat}, fold {fold}"
    if entry.task == CLASSIFICATION:
        if any(a == b for a, b in pairwise(entry.classes)):
            yield "a class occurs twice"
        unseen = set(range(len(entry.classes))) - set(np.unique(entry.truth).tolist())
        if unseen and not entry.targets:
            yield f"{len(unseen)} of its classes have no row"
    elif not np.isfinite(entry.truth).all():
        yield "its truth is not finite"


def _value_problems(block: Block, foreign: Collection[str]) -> Iterator[str]:
    tested = tested_rows(block.split.folds, block.done)
    predictions = block.predictions[tested]
    if block.task == CLASSIFICATION:
        wrong = (predictions < 0) | (predictions >= (2 if block.targets else len(block.classes)))
    else:
        wrong = ~np.isfinite(predictions)
    if wrong.any():
        yield f"{int(wrong.sum())} predictions are no class, or no finite number"
    yield from _probability_problems(block, tested)
    own = np.array([name not in foreign for name in block.strategies], dtype=bool)[:, None, None]
    untimed = block.done & own & ~(block.seconds >= 0).all(axis=3)
    if untimed.any():
        yield f"{int(untimed.sum())} cells are done without times"


def _probability_problems(block: Block, tested: np.ndarray) -> Iterator[str]:
    """Yield a problem for each strategy with invalid probabilities.

    Studies of older versions may hold them.
    """
    if block.probabilities is None:
        return
    for name, of_strategy, rows in zip(block.strategies, block.probabilities, tested, strict=True):
        values = of_strategy[rows]
        given = values[~np.isnan(values).all(axis=1)]
        odd = not_distributions(given, several=bool(block.targets))
        if odd.any():
            yield (
                f"{name!r} gave {int(odd.sum())} rows of probabilities that are not in [0, 1] "
                "with the sum 1; mend the strategy, and run it with "
                "--set overwrite_predictions=true"
            )


def _model_problems(study: StudyStore, name: str) -> Iterator[str]:
    folder = models_folder(study.path)
    if not folder.exists():
        return
    for record in study.details(name):
        if "model" in record and not is_recorded(folder, record["model"]):
            yield f"model {record['model'].get('file')} is not there, or not the one recorded"


# --------------------------------------------------- files beside a study


def remains_of(study: StudyStore) -> tuple[str, ...]:
    """Return a line on each file that killed writers or damage left beside a study."""
    lines = [
        f"{file.name}: an unfinished copy of {file.stat().st_size} bytes that a killed writer "
        "left; the next writer removes it"
        for file in leftovers(study.path)
    ]
    lines += [
        f"{file.name}: a damaged journal that was put aside; what was whole in it is in the study"
        for file in kept_journals(study.journal_path)
    ]
    if change_path(study.path).exists() and holder_of(study.path) is None:
        lines.append(
            f"{change_path(study.path).name}: a change that a killed writer had decided; the next "
            "writer completes it, and readers already see it"
        )
    return tuple(lines)


def journal_problems(study: StudyStore) -> list[str]:
    """Return a line on what cannot be read of the journal of a study that no run writes to."""
    if holder_of(study.path) is not None:
        return []
    try:
        damaged = index_journal(study.journal_path, study.id).damaged
    except StoreError as error:
        return [str(error)]
    if not damaged:
        return []
    return [
        f"{study.journal_path.name}: {damaged} bytes of this journal are damaged; "
        "the next run goes on from what is whole, and keeps the journal under another name"
    ]

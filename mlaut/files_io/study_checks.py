"""Everything of a study that can be checked without its datasets and its strategies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import h5py
import numpy as np

from mlaut.errors import MlautError
from mlaut.files_io.models import is_recorded, models_folder
from mlaut.files_io.names import from_h5
from mlaut.files_io.study import Study
from mlaut.files_io.study_arrays import StudyArrays, array_layout, tested_rows
from mlaut.files_io.study_layout import PREDICTIONS, SPLITS, arrays_of, strategies_of
from mlaut.files_io.study_records import SplitEntry
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, UNUSED, Block, Cell, not_distributions

__all__ = ["problems_of"]


def problems_of(study: Study) -> Iterator[tuple[str, str]]:
    """Return what is wrong in a study, and where; nothing where all is well.

    Checked are the seal; that arrays have the shape and type that their split asks for; that splits
    and classes make sense; that each cell has its checksum; that predictions of a cell that is done
    are classes or finite numbers, and probabilities such; that saved models are there and the ones
    that were recorded.
    """
    try:
        with study.reading() as file:
            known = {entry.name for entry in strategies_of(file)}
            names = [from_h5(name) for name in file[SPLITS]]
            if stray := {from_h5(name) for name in file[PREDICTIONS]} - set(names):
                yield "study", f"outcomes of datasets without split: {', '.join(sorted(stray))}"
            for name in names:
                for problem in _of_dataset(study, file, name, known):
                    yield f"dataset {name!r}", problem
    except MlautError as error:
        yield "study", str(error)


def _of_dataset(study: Study, file: h5py.File, name: str, known: set[str]) -> Iterator[str]:
    try:
        arrays = arrays_of(file, name)
        yield from _of_split(arrays.entry)
        yield from _of_layout(arrays, known)
        block, torn = arrays.block()
        for s, repeat, fold in np.argwhere(torn).tolist():
            cell = Cell(name, arrays.names[s], repeat, fold)
            yield f"{cell}: its checksum does not hold; --mend clears it"
        yield from _of_values(block)
        yield from _of_models(study, name)
    except (KeyError, ValueError, TypeError, IndexError, OSError, MlautError) as error:
        yield f"cannot be read ({' '.join(str(error).split())})"


def _of_split(entry: SplitEntry) -> Iterator[str]:
    folds, numbers = entry.split.folds, np.arange(entry.split.n_folds)
    if folds.size and folds.min() < min(TRAIN_ONLY, UNUSED):
        yield f"its split has fold {folds.min()}, which means nothing"
    sizes = (folds[:, None, :] == numbers[:, None]).sum(axis=2)
    for repeat, fold in np.argwhere(sizes == 0).tolist():
        yield f"no row is tested in repeat {repeat}, fold {fold}"
    if entry.task == CLASSIFICATION:
        if any(a == b for a, b in pairwise(entry.classes)):
            yield "a class is there twice"
        unseen = set(range(len(entry.classes))) - set(np.unique(entry.truth).tolist())
        if unseen:
            yield f"{len(unseen)} of its classes have no row"
    elif not np.isfinite(entry.truth).all():
        yield "its truth is not finite"


def _of_layout(arrays: StudyArrays, known: set[str]) -> Iterator[str]:
    if unknown := set(arrays.names) - known:
        yield f"outcomes of strategies that the study does not know: {', '.join(sorted(unknown))}"
    for name, (shape, dtype, _) in array_layout(arrays.entry, len(arrays.names)).items():
        item = arrays.group[name]
        if (item.shape, item.dtype) != (shape, dtype):
            yield f"{name} is {item.dtype} {item.shape}, and must be {dtype} {shape}"


def _of_values(block: Block) -> Iterator[str]:
    tested = tested_rows(block.split.folds, block.done)
    predictions = block.predictions[tested]
    if block.task == CLASSIFICATION:
        wrong = (predictions < 0) | (predictions >= len(block.classes))
    else:
        wrong = ~np.isfinite(predictions)
    if wrong.any():
        yield f"{int(wrong.sum())} predictions are no class, or no finite number"
    yield from _of_probabilities(block, tested)
    untimed = block.done & ~(block.seconds >= 0).all(axis=3)
    if untimed.any():
        yield f"{int(untimed.sum())} cells are done without times"


def _of_probabilities(block: Block, tested: np.ndarray) -> Iterator[str]:
    """Name the strategies whose probabilities are none, as studies made before may hold them."""
    if block.probabilities is None:
        return
    for name, of_strategy, rows in zip(block.strategies, block.probabilities, tested, strict=True):
        given = of_strategy[rows]
        odd = not_distributions(given[~np.isnan(given).all(axis=1)])
        if odd.any():
            yield (
                f"{name!r} gave {int(odd.sum())} rows of probabilities that are not in [0, 1] "
                "with the sum 1; mend the strategy, and run it with --overwrite-predictions"
            )


def _of_models(study: Study, name: str) -> Iterator[str]:
    folder = models_folder(study.path)
    if not folder.exists():
        return
    for record in study.details(name):
        if "model" in record and not is_recorded(folder, record["model"]):
            yield f"model {record['model'].get('file')} is not there, or not the one recorded"

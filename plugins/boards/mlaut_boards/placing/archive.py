"""Loader of a local copy of the 121 datasets of Fernandez-Delgado et al. (JMLR 15, 2014).

The archive has one folder per dataset, with these files:

- ``<name>.txt`` names one or two tables.
- The tables are ``<name>_R.dat``, or ``<name>_train_R.dat`` and ``<name>_test_R.dat``. They are
  separated by tabs. The first column holds row numbers, the last one, ``clase``, class numbers.
- ``conxuntos_kfold.dat`` holds row positions from 0: alternately a line of training rows and a
  line of test rows.
- ``conxuntos.dat`` has one such pair of lines: the halves on which the authors chose parameters.
  For a dataset with its own test set, they are rows of the training table.

Features are used as the authors prepared them: texts are coded as numbers, missing values are
replaced by 0, and columns are scaled to mean 0 and standard deviation 1.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.data import from_frame, split_of_pairs
from mlaut.errors import DataError
from mlaut.plugins import MOST_JSON, Unread, read_text, refuse_error_of_machine
from mlaut.records import CLASSIFICATION, TRAIN_ONLY, Dataset, Split

TARGET = "clase"
FOLDS = "conxuntos_kfold.dat"
HALVES = "conxuntos.dat"
SOURCE = "Fernandez-Delgado et al. (2014), archive of 121 UCI datasets"


def archive_tables(folder: Path) -> dict[str, Unread]:
    """Return the datasets of a copy of the archive by name; empty if the folder has another layout.

    A dataset with a test set of the authors has one hold-out split with that test set. Other
    datasets have the four pairs of training and test rows of ``conxuntos_kfold.dat``, which
    overlap. All datasets are for classification.
    """
    return {
        name: Unread(partial(_load, folder / name), CLASSIFICATION) for name in _datasets(folder)
    }


def tuning_split(folder: Path, name: str) -> Split:
    """Return the split of a dataset of the archive on which its authors chose parameters.

    Raises
    ------
    DataError
        The dataset has no ``conxuntos.dat``, or it does not fit the tables.
    """
    split = _folds(folder / name / HALVES, sum(len(_table(file)) for file in _files(folder / name)))
    if split is None:
        raise DataError(
            f"{folder / name / HALVES}: no such file, so the rows for tuning are not known; "
            "restore it, or run strategies without a tuning grid"
        )
    return split


def _datasets(folder: Path) -> Iterator[str]:
    """Yield the names of the folders that hold a dataset."""
    for path in sorted(folder.iterdir()):
        tables = (f"{path.name}_R.dat", f"{path.name}_train_R.dat")
        named = (f"{path.name}.txt", HALVES)
        if any((path / file).is_file() for file in tables) or all(
            (path / file).is_file() for file in named
        ):
            yield path.name


def _load(folder: Path) -> Dataset:
    files = _files(folder)
    frames = [_table(file) for file in files]
    frame = pd.concat(frames, ignore_index=True)
    dataset = from_frame(
        frame,
        TARGET,
        name=folder.name,
        task=CLASSIFICATION,
        source=SOURCE,
        dataset_id=folder.name,
    )
    split = _holdout(frames) if len(frames) > 1 else _folds(folder / FOLDS, len(frame))
    return replace(dataset, split=split)


def _files(folder: Path) -> list[Path]:
    about = folder / f"{folder.name}.txt"
    if about.is_file():
        pairs = (line.split("=", 1) for line in read_text(about).splitlines() if "=" in line)
        known = {key.strip(): value.strip() for key, value in pairs}
        named = [known[key] for key in ("fich1", "fich2") if key in known]
    else:
        named = [path.name for path in sorted(folder.glob("*_R.dat"), reverse=True)]
    if not named:
        raise DataError(f"{about}: it names no table (fich1=); restore the file")
    if outside := [file for file in named if Path(file).name != file]:
        raise DataError(f"{about}: {outside[0]!r} is not a table of this folder; restore the file")
    return [folder / file for file in named]


def _table(file: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(file, sep="\t", index_col=0)
    except (OSError, ValueError) as error:
        refuse_error_of_machine(error, file, "reading a table")
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise DataError(f"{file}: cannot be read ({reason}); restore the file") from error
    if frame.columns[-1:].tolist() != [TARGET]:
        raise DataError(f"{file}: its last column is not {TARGET!r}; restore the file")
    return frame


def _holdout(frames: list[pd.DataFrame]) -> Split:
    train, test = (len(frame) for frame in frames)
    folds = np.repeat([TRAIN_ONLY, 0], [train, test]).astype(np.int16)
    return Split(folds[None], "the test set of the archive")


def _folds(file: Path, n_rows: int) -> Split | None:
    """Return the split of a file of training and test rows, or None where there is no file."""
    if not file.is_file():
        return None
    try:
        lines = [
            np.array(line.split(), dtype=int) for line in read_text(file, MOST_JSON).splitlines()
        ]
        lines = [line for line in lines if len(line)]
        return split_of_pairs(zip(lines[::2], lines[1::2], strict=True), n_rows, file.name)
    except ValueError as error:
        raise DataError(f"{file}: {error}; correct the file, or remove it") from error

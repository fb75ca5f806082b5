"""Reader of the files of MLaut 0.1.

They hold tables in the fixed format of pandas' ``HDFStore``, predictions and splits without a
study, and pickles. A pickle can run any code when it is loaded, so none is: its texts are taken
from its list of instructions, which are decoded and never executed.
"""

from __future__ import annotations

import pickletools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
import pandas as pd

from mlaut.errors import StoreError
from mlaut.files_io.safe_files.hdf5 import read_h5
from mlaut.files_io.safe_files.old_files import tables_of_pandas
from mlaut.files_io.safe_files.untrusted import stored_array

_SPLITS, _PREDICTIONS, _TIMES = "split_dts_idx", "experiments/predictions", "run_times"
_LARGEST_PICKLE = 2**24  # bytes; those of 0.1 hold three short texts for each strategy


@dataclass(frozen=True, eq=False)
class OldDataset:
    """Table of an input file of MLaut 0.1.

    Attributes
    ----------
    name, path : str
        Name of the dataset, and its path in the file.
    target : str
        Name of the target column.
    frame : DataFrame
    """

    name: str
    path: str
    target: str
    frame: pd.DataFrame


@dataclass(frozen=True, eq=False)
class OldResults:
    """Results of one dataset in an output file of MLaut 0.1.

    Attributes
    ----------
    dataset : str
    train, test : ndarray of int
        Positions of the training rows, and of the test rows in the order of the predictions.
    predictions : mapping of str to ndarray, shape (n_test,)
        By strategy: class labels (whole numbers) or numbers.
    seconds : mapping of str to float
        Seconds of each strategy, tuning and fitting together; empty if none are stored.
    """

    dataset: str
    train: np.ndarray
    test: np.ndarray
    predictions: Mapping[str, np.ndarray]
    seconds: Mapping[str, float]


def old_datasets(path: Path) -> list[OldDataset]:
    """Return the tables of an input file of MLaut 0.1; no pickle in it is loaded.

    Raises
    ------
    StoreError
        The file holds no such table, or one in a form that MLaut 0.1 did not write.
    """
    with read_h5(path) as file:
        datasets = [_dataset(path, group) for group in tables_of_pandas(file)]
    if not datasets:
        raise StoreError(f"{path}: holds no table that MLaut 0.1 wrote")
    return datasets


def old_results(path: Path) -> list[OldResults]:
    """Return the splits, predictions and run times in an output file of MLaut 0.1.

    Raises
    ------
    StoreError
        The file holds no such results, or results in a form that MLaut 0.1 did not write.
    """
    with read_h5(path) as file:
        splits = file.get(_SPLITS)
        if not isinstance(splits, h5py.Group):
            raise StoreError(f"{path}: holds no splits that MLaut 0.1 wrote ({_SPLITS})")
        return [_results(path, file, name) for name in splits]


def _dataset(path: Path, group: h5py.Group) -> OldDataset:
    about = _pickled_texts(group.attrs.get("metadata"), f"{path}: {group.name}")
    pairs = dict(zip(about[::2], about[1::2], strict=False))
    if "class_name" not in pairs:
        raise StoreError(f"{path}: {group.name}: its metadata have no 'class_name', the target")
    name = pairs.get("dataset_name", group.name.rpartition("/")[2])
    return OldDataset(name, group.name, pairs["class_name"], _frame(path, group))


def _frame(path: Path, group: h5py.Group) -> pd.DataFrame:
    """Return a table in the fixed format of ``HDFStore``: blocks of columns of one type."""
    columns: dict[str, np.ndarray] = {}
    try:
        order = _texts(group["axis0"])
        for number in range(int(group.attrs["nblocks"])):
            values = group[f"block{number}_values"]
            names = _texts(group[f"block{number}_items"])
            if h5py.check_vlen_dtype(values.dtype) is not None:
                block = _pickled_block(values, len(names), f"{path}: {values.name}")
            else:
                block = stored_array(values.id).read()
            columns |= dict(zip(names, block.T, strict=True))
        return pd.DataFrame({name: columns[name] for name in order})
    except (AttributeError, IndexError, KeyError, ValueError, TypeError) as error:
        raise StoreError(
            f"{path}: {group.name}: no table as MLaut 0.1 wrote it ({error})"
        ) from error


def _texts(item: h5py.Dataset) -> list[str]:
    return [text.decode("utf-8") for text in stored_array(item.id).read().tolist()]


def _pickled_block(item: h5py.Dataset, n_columns: int, place: str) -> np.ndarray:
    """Return the texts of a pickled array as an array with a column for each name."""
    if item.shape != (1,):
        raise StoreError(f"{place}: holds {item.shape} pickles, and MLaut 0.1 wrote one")
    # The length of an array of any length is that of bytes in the file, which are not compressed.
    texts = _pickled_texts(item[0].tobytes(), place)
    n_rows = item.parent["axis1"].shape[0]
    if len(texts) < n_rows * n_columns:
        raise StoreError(f"{place}: holds other values than texts, which need their pickle loaded")
    # pickles of arrays begin with the names of their classes
    return np.array(texts[-n_rows * n_columns :], dtype=object).reshape(n_rows, n_columns)


def _pickled_texts(content: Any, place: str) -> list[str]:
    """Return the texts in a pickle in their order, including those that it repeats.

    Its instructions are decoded; none is executed, so that no code of the file can run.
    """
    if content is None:
        return []
    if not isinstance(content, bytes):
        raise StoreError(f"{place}: holds {content!r} in place of texts")
    texts: list[str] = []
    memo: dict[int, str | None] = {}
    last: str | None = None
    try:
        if len(content) > _LARGEST_PICKLE:
            raise ValueError(f"{len(content)} bytes")
        for code, value, _ in pickletools.genops(bytes(content)):
            if "UNICODE" in code.name or code.name in ("STRING", "SHORT_BINSTRING", "BINSTRING"):
                last = str(value)
                texts.append(last)
            elif code.name == "MEMOIZE":
                memo[len(memo)] = last
            elif code.name.endswith("PUT"):
                memo[cast(int, value)] = last
            elif code.name.endswith("GET"):
                text = memo.get(cast(int, value))
                texts += [] if text is None else [text]
            else:
                last = None
    except (ValueError, IndexError) as error:
        raise StoreError(f"{place}: is no pickle that MLaut 0.1 wrote ({error})") from error
    return texts


def _results(path: Path, file: h5py.File, name: str) -> OldResults:
    try:
        split, stored = file[f"{_SPLITS}/{name}"], file[f"{_PREDICTIONS}/{name}"]
        train, test = (stored_array(split[name].id).read() for name in ("train_idx", "test_idx"))
        predictions = {strategy: stored_array(stored[strategy].id).read() for strategy in stored}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StoreError(f"{path}: {name!r} has no split with predictions ({error})") from error
    if any(rows.dtype.kind not in "iu" or rows.ndim != 1 for rows in (train, test)):
        raise StoreError(f"{path}: the rows of {name!r} are no whole numbers")
    for strategy, values in predictions.items():
        if values.shape != test.shape or values.dtype.kind not in "iuf":
            raise StoreError(
                f"{path}: {strategy!r} has {values.dtype} predictions of shape {values.shape} on "
                f"{name!r}, which has {len(test)} test rows"
            )
    times = file.get(f"{_TIMES}/{name}")
    return OldResults(name, train, test, predictions, {} if times is None else _times(path, times))


def _times(path: Path, group: h5py.Group) -> dict[str, float]:
    table = _frame(path, group)
    try:
        return dict(zip(table["strategy_name"], table["total_seconds"].astype(float), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{path}: {group.name}: no run times as MLaut 0.1 wrote them ({error})"
        ) from error

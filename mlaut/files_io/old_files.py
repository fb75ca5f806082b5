"""Recognition of files of MLaut 0.1 and 0.2, so that they are not taken for empty databases.

They hold tables in the format of pandas' ``HDFStore``, with metadata as pickles, and predictions
and splits without a study. Their content is not read here, because a pickle can run any code.
"""

from __future__ import annotations

from pathlib import Path

import h5py

from mlaut.errors import StoreError

__all__ = ["check_not_old"]

_MOST = 2000  # groups that are looked at: the first table of an old file is among them


def check_not_old(file: h5py.File, path: Path) -> None:
    """Check that a file is not one of MLaut 0.1 or 0.2 without any content of this version.

    Raises
    ------
    StoreError
        It is such a file; the message says how to get its data into this version.
    """
    if "study_id" in file.attrs:
        return
    what = ""
    if isinstance(file.get("split_dts_idx"), h5py.Group):
        what = "results of MLaut 0.1 or 0.2 (splits and predictions without a study)"
        instead = "run the study again"
    elif "PYTABLES_FORMAT_VERSION" in file.attrs and _has_only_tables_of_pandas(file):
        what = "tables that pandas' HDFStore wrote, as MLaut 0.1 and 0.2 did"
        instead = "where you trust it, pandas.read_hdf gives a table for save_pandas_dataset"
    if what:
        raise StoreError(
            f"{path}: {what}; this version reads neither, for they hold pickles, which can run any "
            f"code; {instead}, or load the original tables again"
        )


def _has_only_tables_of_pandas(file: h5py.File) -> bool:
    found = False
    waiting: list[h5py.Group] = [file]
    for _ in range(_MOST):
        if not waiting:
            break
        group = waiting.pop()
        if "encoding-type" in group.attrs:
            return False
        if "pandas_type" in group.attrs:
            found = True
        else:
            waiting += [item for item in group.values() if isinstance(item, h5py.Group)]
    return found

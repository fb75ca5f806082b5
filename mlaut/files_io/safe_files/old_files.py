"""Files of MLaut 0.1: recognised, so that none is taken for an empty database."""

from pathlib import Path

import h5py

from mlaut.errors import StoreError

_MOST = 2000  # groups that are looked at: the first table of an old file is among them
_SPLITS = "split_dts_idx"


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
    if isinstance(file.get(_SPLITS), h5py.Group):
        what = "results of MLaut 0.1 or 0.2 (splits and predictions without a study)"
    elif "PYTABLES_FORMAT_VERSION" in file.attrs and tables_of_pandas(file):
        what = "tables that pandas' HDFStore wrote, as MLaut 0.1 and 0.2 did"
    if what:
        raise StoreError(
            f"{path}: {what}; 'python examples/old_files/convert.py INPUT OUTPUT -o FOLDER' in a "
            "copy of MLaut's repository, with ./plugins/exchange, makes a study of today "
            "from the two files of MLaut 0.1"
        )


def tables_of_pandas(file: h5py.File) -> list[h5py.Group]:
    """Return the groups in which pandas stored a table; none if the file has datasets of today."""
    tables: list[h5py.Group] = []
    waiting: list[h5py.Group] = [file]
    for _ in range(_MOST):
        if not waiting:
            break
        group = waiting.pop(0)
        if "encoding-type" in group.attrs:
            return []
        if "pandas_type" in group.attrs:
            tables.append(group)
        else:
            waiting += [item for item in group.values() if isinstance(item, h5py.Group)]
    return tables

"""Cut each dataset of the study down to at most 600 rows: ``python prepare.py``.

The tables that the page of studies lists are in the folder ``datasets`` beside this one, or in the
folder that is named: ``python prepare.py FOLDER``. Rows are drawn by lot; a class keeps its share
of them, and two rows at least. Datasets that ``input.h5`` has already are left alone.
"""

import sys
from pathlib import Path

import pandas as pd

from mlaut import Data
from mlaut.data import from_frame, load_folder
from mlaut.errors import DataError
from mlaut.experiments.study_files.study_file import read_study_file

HERE = Path(__file__).parent
MOST_ROWS = 600
"""So the two races and the full study take half an hour of CPU."""


def cut(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return at most about `MOST_ROWS` rows, in their order."""
    share = min(1.0, MOST_ROWS / len(table))
    parts = [
        rows.sample(min(len(rows), max(2, round(share * len(rows)))), random_state=0)
        for _, rows in table.groupby(target)
    ]
    return pd.concat(parts).sort_index().reset_index(drop=True)


def main(folder: str | Path = HERE.parent / "datasets") -> None:
    """Fill the input database."""
    names = read_study_file(HERE / "study.toml").data.datasets
    datasets = [
        from_frame(cut(one.frame, one.target), one.target, name=one.name, task=one.task)
        for one in load_folder(folder, names=names)
    ]
    Data().open_hdf5(HERE / "input.h5", mode="a").save_datasets(datasets)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except DataError as error:
        sys.exit(f"{error}: python ../load.py loads the tables")

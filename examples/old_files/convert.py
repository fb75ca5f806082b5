"""Make a study from the two files of MLaut 0.1.

    python examples/old_files/convert.py input.hdf5 output.hdf5 -o converted

The plug-in mlaut-exchange stores the predictions. The study has the tables, splits and predictions
of the files. No pickle in them is loaded. The folder gets study.h5 and study.datasets.h5.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from mlaut_exchange import import_predictions
from old_files import OldDataset, OldResults, old_datasets, old_results

from mlaut.data import Data
from mlaut.errors import MlautError, StoreError, StudyError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.tables.datasets import checked_dataset
from mlaut.helpers.markup import counted, printable
from mlaut.records import CLASSIFICATION, REGRESSION, TRAIN_ONLY, UNUSED, Dataset, Split

SOURCE = "MLaut 0.1"


def convert_old_study(
    old_input: Path, old_output: Path, new_input: Path, new_study: Path
) -> dict[str, int]:
    """Make a database of datasets and a study from the two files of MLaut 0.1.

    Datasets, splits, predictions and run times are converted. The strategies are marked as foreign:
    their code and parameters were not stored. MLaut 0.1 let classifiers and regressors predict the
    same table; the regressors then become strategies of a second dataset, ``<name>_regression``.
    The run times of MLaut 0.1 cover tuning and fitting together; they become seconds of fitting.

    Parameters
    ----------
    old_input, old_output : Path
        Files of MLaut 0.1: tables, and splits with predictions. No pickle in them is loaded.
    new_input, new_study : Path
        Files to make. They must not exist, unless a killed call of the same conversion left them;
        this conversion is then completed.

    Returns
    -------
    dict of str to int
        Number of strategies of each dataset of the new study.

    Raises
    ------
    StoreError
        A file is not of MLaut 0.1, an output exists, or the two files do not fit each other.
    """
    tables = {old.name: old for old in old_datasets(old_input)}
    parts: dict[str, tuple[OldResults, list[str]]] = {}
    datasets = []
    for results in old_results(old_output):
        table = tables.get(results.dataset)
        if table is None:
            raise StoreError(
                f"{old_output}: has results on {results.dataset!r}, which {old_input} has not "
                f"({', '.join(tables)})"
            )
        for name, task, strategies in _tasks(results):
            datasets.append(_dataset(table, results, name, task, old_output))
            parts[name] = results, strategies
    strategies = list(dict.fromkeys(s for _, names in parts.values() for s in names))
    _check_new(new_input, new_study, datasets, strategies)
    data = Data()
    new_io = data.open_hdf5(new_input, mode="a")
    new_io.save_datasets(datasets)
    data.split_datasets(new_io, FilesIO(new_study, "a"), scheme="own")
    for strategy in strategies:
        rows = pd.concat(_predictions(parts, strategy), ignore_index=True)
        import_predictions(StudyStore(new_study), rows, strategy=strategy, source=SOURCE)
    return {name: len(strategies) for name, (_, strategies) in parts.items()}


def _check_new(
    new_input: Path, new_study: Path, datasets: Sequence[Dataset], strategies: Sequence[str]
) -> None:
    """Check that existing files hold nothing but a part of this conversion."""
    expected = {dataset.name: checked_dataset(dataset).fingerprint for dataset in datasets}
    if new_input.exists():
        stored = {info.name: info.fingerprint for info in FilesIO(new_input).dataset_infos()}
        _refuse_others(new_input, stored.items() <= expected.items())
    if new_study.exists():
        with suppress(StudyError):  # a file without a study yet
            known = StudyStore(new_study).strategies
            sources = {entry.metadata.get("foreign") for entry in known}
            names = {entry.name for entry in known}
            _refuse_others(new_study, sources <= {SOURCE} and names <= set(strategies))


def _refuse_others(path: Path, is_part: bool) -> None:
    if not is_part:
        raise StoreError(f"{path}: exists, and converting makes new files; name others")


def _tasks(results: OldResults) -> Iterable[tuple[str, str, list[str]]]:
    """Yield name, task and strategies of each dataset that is made from the results."""
    labels = [s for s, values in results.predictions.items() if values.dtype.kind in "iu"]
    numbers = [s for s in results.predictions if s not in labels]
    if labels:
        yield results.dataset, CLASSIFICATION, labels
    if numbers:
        yield results.dataset + ("_regression" if labels else ""), REGRESSION, numbers


def _dataset(
    table: OldDataset, results: OldResults, name: str, task: str, old_output: Path
) -> Dataset:
    folds = np.full((1, len(table.frame)), UNUSED, dtype=np.int16)
    rows = np.concatenate([results.train, results.test])
    if len(np.unique(rows)) < len(rows) or rows.min() < 0 or rows.max() >= folds.size:
        raise StoreError(
            f"{old_output}: the split of {results.dataset!r} has rows twice, or rows that its "
            f"table of {folds.size} rows does not have"
        )
    folds[0, results.train], folds[0, results.test] = TRAIN_ONLY, 0
    metadata = {"dataset_name": name, "source": f"{SOURCE}, {table.path}"}
    split = Split(folds, f"as stored by {SOURCE}")
    frame = table.frame
    if task == REGRESSION:
        frame = frame.astype({table.target: float})
    return Dataset(name, frame, table.target, task, metadata, split=split)


def _predictions(
    parts: Mapping[str, tuple[OldResults, list[str]]], strategy: str
) -> Iterable[pd.DataFrame]:
    for name, (results, strategies) in parts.items():
        if strategy in strategies:
            rows = pd.DataFrame(
                {
                    "dataset": name,
                    "repeat": 0,
                    "fold": 0,
                    "row": results.test,
                    "prediction": results.predictions[strategy],
                }
            )
            if strategy in results.seconds:
                rows["tuning_seconds"] = 0.0
                rows["fitting_seconds"] = results.seconds[strategy]
            yield rows


def main(words: Sequence[str] | None = None) -> None:
    """Convert the files that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old_input", type=Path)
    parser.add_argument("old_output", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the study")
    given = parser.parse_args(words)
    study = given.output / "study.h5"
    given.output.mkdir(parents=True, exist_ok=True)
    try:
        made = convert_old_study(
            given.old_input, given.old_output, given.output / "study.datasets.h5", study
        )
    except MlautError as error:
        sys.exit(str(error))
    for name, strategies in made.items():
        number = counted(strategies, "strategy", "strategies")
        sys.stdout.write(f"{printable(name)}: {number}\n")
    sys.stdout.write(f"stored in {study}: mlaut report {study}\n")


if __name__ == "__main__":
    main()

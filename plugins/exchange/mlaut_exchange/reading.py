"""Predictions of other programs as the table that `import_predictions` takes."""

import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from mlaut.errors import AnalysisError
from mlaut.files_io import SplitEntry
from mlaut.plugins import (
    check_plain,
    ending_of,
    found,
    in_one_line,
    read_without_twins,
    without_plugin,
)


@in_one_line
def read_predictions(
    source: str | os.PathLike[str],
    entries: Mapping[str, SplitEntry],
    *,
    model: str = "",
    dataset: str = "",
    splits: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    r"""Return the predictions that another program stored, with their rows, folds and truth.

    Parameters
    ----------
    source : path-like
        A table (CSV, TSV, parquet) with the columns of `import_predictions`; or with
        the plug-in mlaut-boards, ``predictions.arff`` of an OpenML run, or a folder of runs of
        OpenML, of the AutoML benchmark, of TabArena or TabRepo, or of sktime's ``HDDResults``.
    entries : mapping of str to SplitEntry
        Datasets of the study, as `mlaut.files_io.StudyStore.load_splits` returns them.
    model : str, optional
        Name of the flow, model or estimator; required if the source has several.
    dataset : str, optional
        Name of the dataset in the study; default its name in the source. Required for a single
        ``predictions.arff``, unless the study has one dataset.
    splits : path-like, optional
        ``datasplits.arff`` of the OpenML task, for predictions of the AutoML benchmark. These have
        no row numbers; they are in the order of this file. Without the file, they are assumed to be
        in the order of the dataset.

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``repeat``, ``fold``, ``prediction``, and if they are known ``row``,
        ``truth``, ``confidence.<label>``, ``fitting_seconds`` and ``predicting_seconds``.

    Raises
    ------
    AnalysisError
        The source is none of these, a model or a dataset must be chosen, or a file is damaged.
    DataError
        A file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("dataset,fold,row,prediction\niris,0,3,setosa\n")
    ...     read_predictions(path, {}).loc[0].to_dict()
    {'dataset': 'iris', 'fold': 0, 'row': 3, 'prediction': 'setosa'}
    """
    path = Path(source)
    if not path.exists():
        raise AnalysisError(f"{path}: no such file or folder; check the path")
    if not path.is_dir():
        check_plain(path)
    if path.is_file() and path.suffix.lower() != ".arff":
        if not ending_of(path.name):
            raise AnalysisError(f"{path}: neither a table (CSV, TSV, parquet), ARFF nor a folder")
        table = read_without_twins(path)
        return table.assign(dataset=dataset) if dataset else table
    how = {"model": model, "dataset": dataset, "splits": splits and Path(splits)}
    for read in found("predictions").values():
        theirs: pd.DataFrame | None = read(path, entries, **how)
        if theirs is not None:
            return theirs
    missing = without_plugin("predictions of other programs are read by", "boards")
    raise AnalysisError(f"{path}: no table (CSV, TSV, parquet); {missing}")

"""Reader of the results of Weka's Experimenter."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mlaut.analysis.importers.reading import Format, Source, in_one_line
from mlaut.analysis.results.results import Results
from mlaut.files_io.tables.tables import read_table


def _read_weka_table(path: Path) -> pd.DataFrame:
    """Read a file of Weka, whose CSV has texts in single quotes, as ARFF has."""
    if path.suffix.lower() == ".csv" and path.is_file() and _single_quotes(path):
        return pd.read_csv(path, quotechar="'", escapechar="\\", na_values=["?"])
    return read_table(path)


def _single_quotes(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return ",'" in text and ',"' not in text


FORMAT = Format(
    kind="table of Weka's Experimenter",
    required=("Key_Dataset", "Key_Scheme", "Key_Run"),
    columns={
        "dataset": "Key_Dataset",
        "repeat": "Key_Run",
        "fold": "Key_Fold",
        "n_test": "Number_of_testing_instances",
        "n_train": "Number_of_training_instances",
        "fit_seconds": "Elapsed_Time_training",
        "predict_seconds": "Elapsed_Time_testing",
    },
    metrics={
        "Percent_correct": "accuracy",
        "Percent_incorrect": "misclassification",
        "Root_mean_squared_error": "rmse",
        "Mean_absolute_error": "mae",
    },
    read=_read_weka_table,
)


@in_one_line
def read_weka(
    source: Source, metric: str = "Percent_correct", *, greater_is_better: bool | None = None
) -> Results:
    """Read results of Weka's Experimenter: ARFF or CSV with ``Key_Dataset``, ``Key_Run``, ...

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
    metric : str, default "Percent_correct"
        A column of scores; percentages become shares.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.

    Returns
    -------
    Results
        Strategies are named by ``Key_Scheme`` without its package, and with its options if a scheme
        has several. Runs are the repeats. The results have the sizes of test and training sets and
        the times of the table.

    Raises
    ------
    AnalysisError
        The table is not of this kind, or the metric is not in it.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "Key_Dataset": "iris", "Key_Run": 1, "Key_Fold": [1, 2, 1, 2],
    ...     "Key_Scheme": ["weka.classifiers.rules.ZeroR"] * 2 + ["weka.classifiers.trees.J48"] * 2,
    ...     "Percent_correct": [33.0, 33.0, 96.0, 94.0]})
    >>> read_weka(table).scores
    strategy  ZeroR   J48
    dataset
    iris       0.33  0.95
    """
    frame = FORMAT.rows(source)
    numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]
    given = [name for name in numbers if not str(name).startswith("Key_")]
    column = FORMAT.score_column(frame, metric, given)
    percent = column.startswith("Percent_")
    cells = FORMAT.cells(frame, frame[column] / (100 if percent else 1))
    cells = cells.assign(strategy=_schemes(frame))
    return FORMAT.results(cells, column, greater_is_better=greater_is_better)


def _schemes(frame: pd.DataFrame) -> pd.Series:
    """Return the names of the schemes, with their options if a scheme has several."""
    names = frame["Key_Scheme"].astype(str).str.rpartition(".")[2]
    if "Key_Scheme_options" not in frame:
        return names
    options = frame["Key_Scheme_options"].astype(object).fillna("").astype(str).str.strip("'\" ")
    several = options.groupby(names).transform("nunique") > 1
    return names.where(~several, (names + " " + options).str.strip())

"""Reader of the results of ``sktime.benchmarking``: its benchmarks and its older Orchestrator."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from mlaut.analysis import Results
from mlaut.errors import AnalysisError, nearest, some_of
from mlaut.plugins import MOST_JSON, Format, in_one_line, read_text, strict_json
from mlaut_boards.programs.predicted import Predicted, blocks_of

WHAT = "file of sktime.benchmarking"
FORMS = (
    re.compile(r"folds\.(?P<fold>\d+)\.scores\.(?P<score>[^.]+)"),
    re.compile(r"(?P<score>.+)_fold_(?P<fold>\d+)_test"),
)
TIMES = {"fit_time": "fit_seconds", "pred_time": "predict_seconds", "runtime_secs": ""}
BENCHMARK = Format(
    kind=WHAT,
    required=("validation_id", "model_id"),
    metrics={"accuracy_score": "accuracy", "AccuracyScore": "accuracy"},
)
PREDICTIONS = Format(kind=WHAT, required=("index", "y_true", "y_pred"))


@in_one_line
def read_sktime(
    source: str | os.PathLike[str], metric: Any = None, *, greater_is_better: bool | None = None
) -> Results:
    r"""Read results of sktime's benchmarks.

    Parameters
    ----------
    source : path-like
        The file that ``benchmark.run(...)`` wrote: JSON, CSV or parquet, in the current format or
        the older one with columns ``<score>_fold_<i>_test``; the folder ``<file>.parts`` of an
        unfinished run; or the folder of ``HDDResults``, with files
        ``<strategy>/<dataset>/<strategy>_test_<i>.csv``.
    metric : str, optional
        Name of the score; required if the file has several. ``HDDResults`` stores predictions, so
        it requires a metric, and any metric can be used (`mlaut.analysis.metric`).
    greater_is_better : bool, optional
        Direction of a score that is not known by its name.

    Returns
    -------
    Results
        ``validation_id`` is the dataset, ``model_id`` the strategy.

    Raises
    ------
    AnalysisError
        The source is not such a file or folder, or a metric must be chosen.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "results.csv")
    ...     _ = path.write_text("validation_id,model_id,runtime_secs,accuracy_score_fold_0_test\n"
    ...                         "[dataset=arrow],tsf-v1,2,0.8\n[dataset=arrow],knn-v1,1,0.7\n")
    ...     read_sktime(path).scores
    strategy         tsf-v1  knn-v1
    dataset
    [dataset=arrow]     0.8     0.7
    """
    path = Path(source)
    if path.is_dir() and not list(path.glob("*.json")):
        if metric is None:
            raise AnalysisError(f"{path}: it holds predictions; name a metric to score them by")
        return Results.from_blocks(blocks_of(stored_predictions(path)), metric)
    rows = _of_json(path) if path.is_dir() or path.suffix.lower() == ".json" else _of_table(path)
    scores = pd.DataFrame(list(rows), columns=["dataset", "strategy", "fold", "name", "value"])
    names = [name for name in pd.unique(scores["name"]) if name not in TIMES]
    chosen = _chosen(path, names, metric)
    keys = ["dataset", "strategy", "fold"]
    cells = scores[scores["name"] == chosen].rename(columns={"value": "score"})
    for name, column in TIMES.items():
        times = scores[scores["name"] == name].drop_duplicates(keys, keep="last")
        if column and len(times):
            cells = cells.merge(times[[*keys, "value"]], on=keys, how="left")
            cells = cells.rename(columns={"value": column})
    cells = cells.drop(columns="name").assign(repeat=0)
    return BENCHMARK.results(cells, chosen, greater_is_better=greater_is_better)


def _chosen(path: Path, names: list[str], metric: str | None) -> str:
    if metric in names:
        return str(metric)
    if metric is None and len(names) == 1:
        return names[0]
    if not names:
        raise AnalysisError(f"{path}: no {WHAT}: it has no scores of folds")
    shown = some_of(names)
    if metric is None:
        raise AnalysisError(f"{path}: several scores, {shown}; choose one by metric=")
    raise AnalysisError(
        f"{path}: no score {metric!r}{nearest(metric, names) or f'; it has {shown}'}"
    )


def _of_table(path: Path) -> Iterator[dict[str, Any]]:
    frame = BENCHMARK.rows(path)
    for column in frame:
        match = next((m for form in FORMS if (m := form.fullmatch(str(column)))), None)
        if match is None or not pd.api.types.is_numeric_dtype(frame[column]):
            continue
        for dataset, strategy, value in zip(
            frame["validation_id"], frame["model_id"], frame[column], strict=True
        ):
            yield _score(dataset, strategy, match["fold"], match["score"], value)


def _of_json(path: Path) -> Iterator[dict[str, Any]]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    for file in files:
        try:
            content = strict_json(read_text(file, MOST_JSON))
            for record in content if isinstance(content, list) else [content]:
                yield from _of_record(record)
        except OSError as error:
            raise AnalysisError(f"{file}: cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise AnalysisError(f"{file}: no {WHAT} ({type(error).__name__}: {error})") from error


def _of_record(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for fold, held in record["folds"].items():
        for name, value in held["scores"].items():
            if not isinstance(value, dict):  # a dict is a table with scores of several variables
                yield _score(record["validation_id"], record["model_id"], fold, name, value)


def _score(dataset: Any, strategy: Any, fold: Any, name: str, value: Any) -> dict[str, Any]:
    return {
        "dataset": str(dataset),
        "strategy": str(strategy),
        "fold": int(fold),
        "name": name,
        "value": float("nan") if value is None else float(value),
    }


# ------------------------------------------------------------------ HDDResults


def stored_predictions(folder: Path) -> Iterator[Predicted]:
    """Yield the predictions of each strategy on each dataset in a folder of ``HDDResults``."""
    files: dict[tuple[str, str], list[tuple[int, Path]]] = {}
    for file in sorted(folder.glob("*/*/*_test_*.csv")):
        strategy, dataset = file.parts[-3:-1]
        number = file.stem.removeprefix(f"{strategy}_test_")
        if number.isdigit():
            files.setdefault((dataset, strategy), []).append((int(number), file))
    if not files:
        raise AnalysisError(
            f"{folder}: no results of sktime.benchmarking in it: neither *.json nor "
            "<strategy>/<dataset>/<strategy>_test_<fold>.csv"
        )
    for (dataset, strategy), folds in files.items():
        frames = {fold: PREDICTIONS.rows(file) for fold, file in folds}
        every = pd.concat(frames, names=["fold"]).reset_index("fold")
        rows = pd.DataFrame(
            {
                "repeat": 0,
                "fold": every["fold"].to_numpy(),
                "row": _row_numbers(every["index"], folds[0][1]),
                "truth": every["y_true"].to_numpy(),
                "prediction": every["y_pred"].to_numpy(),
            }
        )
        seconds = {(0, fold): _seconds(frame) for fold, frame in frames.items()}
        yield Predicted(dataset, strategy, rows, str(folds[0][1]), seconds=seconds)


def _row_numbers(index: pd.Series, file: Path) -> Any:
    if not pd.api.types.is_integer_dtype(index) or (index < 0).any():
        raise AnalysisError(f"{file}: 'index' holds no row numbers; only such can be put together")
    return index.to_numpy()


def _seconds(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the times of fitting and predicting in seconds; NaN where they were not stored."""
    spans = []
    for step in ("fit", "predict"):
        columns = [f"{step}_estimator_{end}_time" for end in ("start", "end")]
        if all(column in frame and frame[column].notna().any() for column in columns):
            start, end = (pd.to_datetime(frame[column].iloc[0]) for column in columns)
            spans.append((end - start).total_seconds())
        else:
            spans.append(float("nan"))
    return spans[0], spans[1]

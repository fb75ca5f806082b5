"""Readers of public leaderboards, which turn the files of each board into rows."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.data import read_table
from mlaut.errors import AnalysisError, DataError
from mlaut.helpers.markup import counted
from mlaut.plugins import (
    MOST_JSON,
    Format,
    TableMetric,
    check_plain,
    choose,
    in_one_line,
    read_text,
    stem_of,
    strict_json,
)
from mlaut_boards.contamination import with_contaminated

_OWN = ("dataset", "strategy", "repeat", "fold", "fit_seconds", "predict_seconds")
_ABOUT = {*_OWN, "source", "contaminated", "less"}  # columns that are no scores
_FIRST = ("Resamples:", "Resamples", "folds:", "Estimators:")  # of the columns of tsml and aeon
_MOST_TRIED = 3  # files of a folder that are read to find out what it is: some are descriptions


@dataclass(frozen=True, kw_only=True)
class BoardForm(Format):
    """Form of a leaderboard; its ``read`` returns the rows of a file, with MLaut's column names.

    The columns are those of a cell, ``source`` and ``contaminated``. There is either a column for
    each metric, or the columns ``score``, ``metric`` and ``less`` (whether less is better).

    Attributes
    ----------
    files : str
        Pattern of its files in a folder.
    score : str, default "score"
        Column of the scores, unless another metric is wanted.
    greater_is_better : bool, optional
        Direction of all scores of the board.
    source : str
        Regular expression whose match in the name of a dataset is its source.
    absent : float, default NaN
        Score of a cell that no file names.
    """

    files: str
    required: tuple[str, ...] = ("dataset", "strategy")
    columns: Mapping[str, str] = field(default_factory=lambda: dict(zip(_OWN, _OWN, strict=True)))
    score: str = "score"
    greater_is_better: bool | None = None
    source: str = ""
    absent: float = np.nan


def objects(path: Path) -> Iterator[Any]:
    """Yield the object of a JSON file, or the objects of a file with one object in each line."""
    try:
        if path.suffix != ".jsonl":
            yield strict_json(read_text(path, MOST_JSON))
            return
        check_plain(path)
        with path.open(encoding="utf-8") as file:
            yield from (strict_json(line) for line in file if line.strip())
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON ({error}); check the file") from error


# ------------------------------------------------------------------ one function a board


def _gift_eval(path: Path) -> pd.DataFrame:
    """Return the rows of a model, and whether its ``config.json`` declares leakage."""
    config = path.with_name("config.json")
    declared = next(objects(config)).get("testdata_leakage") if config.is_file() else ""
    rows = read_table(path).drop(columns="num_variates", errors="ignore")
    if not any(str(x).startswith("eval_metrics/") for x in rows):
        raise LookupError(path)  # of others that call a file so
    # Two files name other models than their folders do.
    return rows.assign(strategy=path.parent.name, contaminated=str(declared).lower() == "yes")


def _fev(path: Path) -> pd.DataFrame:
    """Return the rows of models, and which tasks they were trained on."""
    rows = read_table(path).rename(columns=_FEV)
    trained = rows["trained_on_this_dataset"].astype(str).str.lower() == "true"
    return rows.assign(contaminated=trained)


def _mteb(path: Path) -> pd.DataFrame:
    """Return the rows of a task, one for each subset and experiment; experiments are repeats."""
    content = next(objects(path))
    scores, task = content["scores"], content["task_name"]
    subsets = scores["test" if "test" in scores else next(iter(scores))]
    rows = [
        (f"{task} {subset['hf_subset']}".removesuffix(" default"), repeat, score)
        for subset in subsets
        for repeat, score in enumerate(_experiments(subset))
    ]
    table = pd.DataFrame(rows, columns=["dataset", "repeat", "score"])
    model = path.parts[-3].replace("__", "/")
    return table.assign(strategy=model, source=task, metric=f"main score of {task}")


def _experiments(subset: Mapping[str, Any]) -> list[float]:
    """Return the scores of the experiments by the metric whose mean is the main score."""
    main, each = subset["main_score"], subset.get("scores_per_experiment") or [{}]
    for name in each[0]:
        values = [experiment.get(name) for experiment in each]
        if all(isinstance(x, float | int) for x in values) and np.isclose(np.mean(values), main):
            return values
    return [main]


def _tsml(path: Path) -> pd.DataFrame:
    """Return the rows of a measure: one estimator by resample, or the means of several."""
    table = read_table(path)
    first, (name, _, last) = table.columns[0], stem_of(path.name).rpartition("_")
    if first not in _FIRST:
        return pd.DataFrame()
    table = table.rename(columns={first: "dataset"})
    if first == "Estimators:":  # accuracy_mean.csv
        return table.melt("dataset", var_name="strategy", value_name=name)
    rows = table.melt("dataset", var_name="repeat", value_name=last).dropna()  # HC2_accuracy.csv
    return rows.astype({"repeat": int}).assign(strategy=name)


def _mlr3(path: Path) -> pd.DataFrame:
    """Return the rows of a ``BenchmarkAggr``, or of the scores by iteration."""
    rows = read_table(path).drop(columns=["nr", "iters"], errors="ignore")
    rows.columns = rows.columns.str.removeprefix("classif.").str.removeprefix("regr.")
    rows = rows.rename(columns={"iteration": "fold"})
    return rows.assign(dataset=rows["task_id"], strategy=rows["learner_id"])


def _helm(path: Path) -> pd.DataFrame:
    """Return the cells of the tables of a group; a metric counts if it has a direction."""
    tables = content if isinstance(content := next(objects(path)), list) else [content]
    rows = [
        (row[0]["value"], about["run_group"], about["metric"], less, row[column].get("value"))
        for table in tables
        for column, head in enumerate(table["header"])
        if "run_group" in (about := head.get("metadata") or {})
        and (less := head.get("lower_is_better")) is not None
        for row in table["rows"]
    ]
    return pd.DataFrame(rows, columns=["strategy", "dataset", "metric", "less", "score"])


def _swe_bench(path: Path) -> pd.DataFrame:
    """Return whether a submission solved each instance that its files name."""
    folder, lists = path.parent.parent, next(objects(path))
    resolved, logs = set(lists["resolved"]), folder / "logs"
    named = {name for names in lists.values() if isinstance(names, list) for name in names}
    named |= {log.name for log in logs.iterdir()} if logs.is_dir() else set()
    solved = [float(name in resolved) for name in sorted(named)]
    return pd.DataFrame({"dataset": sorted(named), "accuracy": solved, "strategy": folder.name})


def _swe_bench_items(path: Path) -> pd.DataFrame:
    """Return whether a submission of ``bash-only`` solved each instance."""
    solved = {name: float(item["resolved"]) for name, item in next(objects(path)).items()}
    rows = {"dataset": solved.keys(), "accuracy": solved.values()}
    return pd.DataFrame(rows).assign(strategy=path.parent.name)


def _every_eval_ever(path: Path) -> pd.DataFrame:
    """Return the scores of evaluations."""
    content = next(objects(path))
    rows = [
        (row["evaluation_name"], about.get("metric_name", "score"), about["lower_is_better"], score)
        for row in content["evaluation_results"]
        for about, score in [(row["metric_config"], row["score_details"]["score"])]
    ]
    table = pd.DataFrame(rows, columns=["dataset", "metric", "less", "score"])
    return table.assign(strategy=content["model_info"]["id"])


def _items_of_every_eval_ever(path: Path) -> pd.DataFrame:
    """Return the scores of items, whose evaluations are their sources."""
    rows = [
        (row["model_id"], row["evaluation_name"], str(row["sample_id"]), row["evaluation"]["score"])
        for row in objects(path)
    ]
    table = pd.DataFrame(rows, columns=["strategy", "source", "item", "score"])
    return table.assign(dataset=table["source"] + "/" + table["item"])


def _lm_eval(path: Path) -> pd.DataFrame:
    """Return the scores of items, with a column for each metric and filter of answers."""
    task = path.stem.removeprefix("samples_").rpartition("_")[0]
    items: dict[Any, dict[str, float]] = {}
    for item in objects(path):
        of_filter = "" if item.get("filter", "none") == "none" else f",{item['filter']}"
        given = {f"{name}{of_filter}": item[name] for name in item["metrics"]}
        items.setdefault(item["doc_id"], {}).update(given)
    table = pd.DataFrame.from_dict(items, orient="index").astype(float)
    names = [f"{task}/{doc}" for doc in table.index]
    return table.assign(dataset=names, source=task, strategy=path.parent.name)


_FEV = {"model_name": "strategy", "task_name": "dataset", "eval_metric": "metric"}
_FEV |= {"test_error": "score", "training_time_s": "fit_seconds"}
_FEV |= {"inference_time_s": "predict_seconds"}
_CRPS = "eval_metrics/mean_weighted_sum_quantile_loss"
_MLR3 = {"acc": "accuracy", "ce": "misclassification", "bacc": "balanced_accuracy"}
_MLR3 |= {"auc": "roc_auc", "logloss": "log_loss"}
_LM_EVAL = {"acc": "accuracy", "exact_match": "accuracy"}
BOARDS = (
    BoardForm(
        kind="GIFT-Eval",
        files="*/all[_-]results.csv",
        read=_gift_eval,
        metrics={_CRPS: "crps", "eval_metrics/MASE[0.5]": "mase"},
        score=_CRPS,
        source="^[^/]+",
        greater_is_better=False,
    ),
    BoardForm(
        kind="fev",
        files="*.csv",
        read=_fev,
        source="^(monash_)?[^_]+",  # Monash is a collection of sources
        greater_is_better=False,
    ),
    BoardForm(kind="tsml", files="*_*.csv", read=_tsml),
    BoardForm(kind="mlr3", files="*.csv", read=_mlr3, metrics=_MLR3),
    BoardForm(
        kind="SWE-bench",
        files="*/results/results.json",
        read=_swe_bench,
        source="^.+(?=-)",
        absent=0.0,
    ),
    BoardForm(
        kind="SWE-bench, bash-only",
        files="*/per_instance_details.json",
        read=_swe_bench_items,
        source="^.+(?=-)",
        absent=0.0,
    ),
    BoardForm(kind="lm-eval", files="**/samples_*.jsonl", read=_lm_eval, metrics=_LM_EVAL),
    BoardForm(
        kind="Every Eval Ever, items",
        files="**/*.jsonl",
        read=_items_of_every_eval_ever,
        greater_is_better=True,
    ),
    BoardForm(kind="Every Eval Ever", files="**/*.json", read=_every_eval_ever),
    BoardForm(kind="HELM", files="*.json", read=_helm),
    BoardForm(kind="MTEB", files="*/*/*.json", read=_mteb, greater_is_better=True),
)


# ------------------------------------------------------------------- all of them


def board_of(path: Path) -> BoardForm | None:
    """Return the form of a folder or file of results, or None if the form is not known."""
    each = ((board, file) for board in BOARDS for file in _files(board, path)[:_MOST_TRIED])
    return next((board for board, file in each if _is_of(board, file)), None)


def _is_of(board: BoardForm, file: Path) -> bool:
    """Return whether a file is of a form; one that no reader of boards can read is a table."""
    try:
        return _read(board, file) is not None
    except DataError:
        return False


def _files(board: BoardForm, path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(path.glob(board.files))
    return [path] if path.match(board.files.rpartition("/")[2]) and path.is_file() else []


def _read(board: BoardForm, file: Path) -> pd.DataFrame | None:
    """Return the rows of a file; None if it is of another form."""
    try:
        table = board.read(file)
    except (LookupError, TypeError, AttributeError):
        return None
    return table if set(board.required) <= set(table) else None


@in_one_line
def read_board(
    source: str | os.PathLike[str],
    metric: str | None = None,
    *,
    greater_is_better: bool | None = None,
) -> Results | None:
    """Read the results of a public leaderboard; the files show which board it is.

    Parameters
    ----------
    source : path-like
        A folder, or one of its files: fev (a CSV for each model), GIFT-Eval
        (``MODEL/all_results.csv`` and ``config.json``), MTEB (``MODEL/REVISION/TASK.json``; the
        split ``test`` if there is one), tsml and aeon (``HC2_accuracy.csv``,
        ``accuracy_mean.csv``), HELM
        (``groups/json/GROUP.json``), SWE-bench (``SUBMISSION/results/results.json``, or
        ``SUBMISSION/per_instance_details.json``), Every Eval Ever (JSON, or JSON lines of items),
        lm-eval (``MODEL/samples_TASK_DATE.jsonl``), mlr3 (a ``BenchmarkAggr`` or its scores as
        CSV).
    metric : str, optional
        Name of a metric; required if the board has several and no main one. By default the first
        metric of each task is used.
    greater_is_better : bool, optional
        Direction of a metric that is not known by its name.

    Returns
    -------
    Results or None
        None if the files are of no known form. Models are the strategies, and tasks are the
        datasets. If scores are of single items, items are the datasets, and their tasks are the
        sources. `Results.contaminated` marks the cells whose model was trained on the task, as its
        submitters declare.

    Raises
    ------
    AnalysisError
        A metric must be chosen.
    DataError
        A file cannot be read.
    """
    path = Path(source)
    board = board_of(path)
    if board is None:
        return None
    tables = {file: _read(board, file) for file in _files(board, path)}
    others = [file.name for file, table in tables.items() if table is None]
    notes = [f"read as {board.kind}: {counted(len(tables) - len(others), 'file')}"]
    left = counted(len(others), "file")
    notes += [f"{left} of another form left out: {', '.join(others[:3])}"] if others else []
    frame = pd.concat([table for table in tables.values() if table is not None], ignore_index=True)
    frame, column, name = _chosen(board, frame, metric)
    score, better = frame[column].astype(float), board.greater_is_better
    if "less" in frame:
        better = not frame["less"].all()
        score = score.where(~(frame["less"].astype(bool) & better), -score)
    if better is not None and greater_is_better == (not better):
        raise AnalysisError(f"more of {name} is {'' if better else 'not '}better on {board.kind}")
    better = greater_is_better if better is None else better
    cells = _even(board.cells(frame, score), notes)
    results = board.results(cells, name or "score", greater_is_better=better, notes=notes)
    if not name:
        own = TableMetric("score", bool(better), "tasks have metrics of their own")
        results = replace(results, metric=own)
    return _about(board, frame, results)


def _chosen(
    board: BoardForm, frame: pd.DataFrame, metric: str | None
) -> tuple[pd.DataFrame, str, str]:
    """Return the rows with the wanted scores, their column, and their metric if all have one."""
    numbers = [str(column) for column in frame.select_dtypes("number") if column not in _ABOUT]
    named = {board.metrics.get(column, column).lower(): column for column in numbers}
    metric = (metric or "").removeprefix("classif.").removeprefix("regr.") or None  # of mlr3
    wanted = (metric or "").lower()
    if wanted in named or metric in numbers:
        column = named.get(wanted, str(metric))
    elif "metric" in frame:
        first = frame.groupby("dataset")["metric"].transform("first")
        what = f"the {board.kind}"
        frame = (
            frame[frame["metric"] == first] if not metric else choose(frame, "metric", metric, what)
        )
        kinds = frame["metric"].unique()
        return frame, board.score, str(kinds[0]) if len(kinds) == 1 else ""
    elif metric or (board.score not in numbers and len(numbers) != 1):
        problem = f"no scores {metric!r}" if metric else "several scores"
        raise AnalysisError(f"{board.kind} has {problem}: choose one of {', '.join(sorted(named))}")
    else:
        column = board.score if board.score in numbers else numbers[0]
    return frame, column, board.metrics.get(column, column)


def _even(cells: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return cells; where strategies of a dataset have unequal repeats, repeats are averaged."""
    pairs = cells.groupby(["dataset", "strategy"])["repeat"]
    number = pairs.transform("nunique").groupby(cells["dataset"])
    uneven = number.transform("nunique") > 1
    if not uneven.any():
        return cells
    names = counted(cells.loc[uneven, "dataset"].nunique(), "dataset")
    notes.append(f"{names} with unequal numbers of repeats: the means of strategies count")
    means = cells[uneven].groupby(["dataset", "strategy"], sort=False)["score"].mean()
    return pd.concat([cells[~uneven], means.reset_index().assign(repeat=0, fold=0)])


def _about(board: BoardForm, frame: pd.DataFrame, results: Results) -> Results:
    """Return results with the sources and the contaminated cells that a board states."""
    if not np.isnan(board.absent):
        cells = np.nan_to_num(results.cells, nan=board.absent)
        results = replace(results, cells=cells, cell_losses=results.metric.loss(cells))
    names = frame["dataset"].astype(str)
    matches = (re.search(board.source, name) for name in names if board.source)
    sources = [hit.group() if hit else name for hit, name in zip(matches, names, strict=False)]
    clusters = dict(zip(names, frame.get("source", sources), strict=False))
    if 1 < len(set(clusters.values())) < len(results.datasets):
        results = results.with_clusters(clusters)
    if "contaminated" not in frame or not frame["contaminated"].any():
        return results
    rows = frame[frame["contaminated"]]
    pairs = set(zip(rows["dataset"].astype(str), rows["strategy"].astype(str), strict=True))
    marked = [[(name, k) in pairs for k in results.strategies] for name in results.datasets]
    return with_contaminated(results, np.array(marked))

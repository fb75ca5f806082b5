"""Reader of the results of the AutoML benchmark."""

from dataclasses import replace

import pandas as pd

from mlaut.analysis.importers.reading import Format, Source, choose, in_one_line
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import TableMetric
from mlaut.analysis.scores.metric_names import direction
from mlaut.errors import AnalysisError

FORMAT = Format(
    kind="table of the AutoML benchmark",
    required=("task", "framework", "fold"),
    columns={
        "dataset": "task",
        "strategy": "framework",
        "fold": "fold",
        "reason": "info",
        "fit_seconds": ("training_duration", "duration"),
        "predict_seconds": "predict_duration",
    },
    metrics={"acc": "accuracy", "balacc": "balanced_accuracy", "logloss": "log_loss"},
)


@in_one_line
def read_automlbenchmark(
    source: Source, metric: str | None = None, *, constraint: str | None = None
) -> Results:
    """Read results of the AutoML benchmark (AMLB): one or more ``results.csv``.

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
    metric : str, optional
        A column of scores, for example ``"acc"``, ``"auc"`` or ``"logloss"``. Default: ``result``,
        the optimised metric; greater is better. If tasks have different optimised metrics, a
        note says so: ranks and signs can be compared, means over tasks cannot.
    constraint : str, optional
        The constraint, for example ``"1h8c"``; required if the table has several.

    Returns
    -------
    Results
        Tasks are the datasets, frameworks the strategies. A failed fold is a missing cell with the
        text of ``info`` as its reason. If a fold ran several times, its last row counts.

    Raises
    ------
    AnalysisError
        The table is not of this kind, a constraint must be chosen, or the metric is not in it.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "task": ["iris", "iris"], "framework": ["flaml", "tpot"], "fold": [0, 0],
    ...     "constraint": "1h8c", "metric": "acc", "result": [0.9, None], "info": ["", "timeout"]})
    >>> read_automlbenchmark(table).missing.to_dict("records")
    [{'dataset': 'iris', 'strategy': 'tpot', 'repeat': 0, 'fold': 0, 'reason': 'timeout'}]
    """
    frame = choose(FORMAT.rows(source), "constraint", constraint, f"the {FORMAT.kind}")
    if metric is None:
        return _optimised(frame)
    # The columns of scores stand behind the fixed ones, of which "info" is the last.
    fixed = list(frame.columns).index("info") + 1 if "info" in frame else 0
    column = FORMAT.score_column(frame, metric, frame.columns[fixed:])
    cells = FORMAT.cells(frame, frame[column])
    defined = cells.groupby("dataset")["score"].transform("count") > 0
    if not defined.any():
        raise AnalysisError(f"the {FORMAT.kind} has no value of {metric!r}; choose another metric")
    without = ", ".join(map(str, pd.unique(cells.loc[~defined, "dataset"])))
    notes = [f"{metric} is on none of these tasks, left out: {without}"] if without else []
    return FORMAT.results(cells[defined], metric, notes=notes)


def _optimised(frame: pd.DataFrame) -> Results:
    """Return the values of the metric that each task optimised."""
    if "metric" not in frame or "result" not in frame:
        raise AnalysisError(
            f"the {FORMAT.kind} has no column 'metric' (nor had it before 2020), so the "
            "direction of 'result' is not known; name a column of scores, as in metric='auc'"
        )
    kinds = frame["metric"].astype("string")
    tasks = frame.groupby(kinds)["task"].nunique()
    if len(tasks) == 1:
        return FORMAT.results(FORMAT.cells(frame, frame["result"]), str(tasks.index[0]))
    # Older tables have losses under their own names, without "neg_" and without a changed sign.
    is_loss = kinds.map(lambda kind: direction(kind) is False, na_action="ignore").fillna(False)
    scores = frame["result"].where(~is_loss.astype(bool), -frame["result"])
    counts = ", ".join(f"{kind} on {number}" for kind, number in tasks.items())
    note = f"not one metric for all tasks ({counts}): ranks and signs compare, means do not"
    cells = FORMAT.cells(frame, scores)
    results = FORMAT.results(cells, "result", greater_is_better=True, notes=[note])
    return replace(results, metric=TableMetric("result", True, "tasks have metrics of their own"))

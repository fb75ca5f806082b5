"""Reader of the results of TabArena and TabRepo."""

from dataclasses import replace

import numpy as np
import pandas as pd

from mlaut.analysis.importers.reading import Format, Source, choose, in_one_line
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.tables import TableMetric
from mlaut.errors import AnalysisError

FORMAT = Format(
    kind="table of TabArena",
    required=("dataset", "fold", "metric_error"),
    columns={
        "dataset": "dataset",
        "strategy": ("method", "framework"),
        "fold": "fold",
        "reason": "reason",
        "fit_seconds": "time_train_s",
        "predict_seconds": "time_infer_s",
    },
)


@in_one_line
def read_tabarena(source: Source, metric: str | None = None, *, imputed: bool = False) -> Results:
    """Read results of TabArena or TabRepo: one row for each method and fold of a dataset.

    Parameters
    ----------
    source : path-like, sequence of path-like, or DataFrame
        Table with columns ``dataset``, ``fold``, ``method`` (in TabRepo ``framework``) and
        ``metric_error``, the error by the metric of the dataset (1 - AUC, log loss, RMSE). The
        columns ``metric``, ``time_train_s``, ``time_infer_s`` and ``imputed`` are optional. Parquet
        files need the extra ``parquet``.
    metric : str, optional
        Keep only the datasets with this metric, for example ``"rmse"``.
    imputed : bool, default False
        Whether to keep the results of the default random forest, which TabArena inserts for methods
        that cannot run on a dataset. By default these are missing cells with this reason.

    Returns
    -------
    Results
        Folds are numbered through all repeats, as in the table. If datasets have different metrics,
        a note says so: ranks and signs can be compared, means cannot.

    Raises
    ------
    AnalysisError
        The table is not of this kind, or no dataset has the metric.

    Examples
    --------
    >>> table = pd.DataFrame({
    ...     "dataset": "anneal", "fold": [0, 0], "method": ["LightGBM (tuned)", "TabPFNv2"],
    ...     "metric_error": [0.02, 0.05], "imputed": [False, True]})
    >>> read_tabarena(table).missing["reason"].tolist()
    ['imputed there, as the method does not run on this dataset']
    """
    frame = FORMAT.rows(source)
    if not {"method", "framework"} & set(frame):
        frame = replace(FORMAT, required=("method",)).rows(frame)  # its error names what is there
    if metric is not None:
        if "metric" not in frame:
            raise AnalysisError(f"the {FORMAT.kind} has no column 'metric'; leave metric= out")
        frame = choose(frame, "metric", metric, f"the {FORMAT.kind}")
    errors = pd.to_numeric(frame["metric_error"], errors="coerce")
    errors = errors.where(np.isfinite(errors))
    if "imputed" in frame and not imputed:
        put_in = frame["imputed"].fillna(False).astype(bool)
        errors = errors.mask(put_in)
        reason = "imputed there, as the method does not run on this dataset"
        frame = frame.assign(reason=put_in.map({True: reason, False: ""}))
    cells = FORMAT.cells(frame, errors)
    kinds = frame["metric"].nunique() if "metric" in frame else 0
    if kinds == 1:
        return FORMAT.results(cells, f"{frame['metric'].iloc[0]} error", greater_is_better=False)
    counts = dict(frame.groupby("metric")["dataset"].nunique()) if kinds else {}
    listed = ", ".join(f"{kind} on {number}" for kind, number in counts.items())
    note = f"not one metric for all datasets ({listed or 'see the benchmark'}): ranks and signs "
    results = FORMAT.results(
        cells, "metric_error", greater_is_better=False, notes=[f"{note}compare, means do not"]
    )
    own = TableMetric("metric_error", False, "datasets have metrics of their own")
    return replace(results, metric=own)

"""`make_report`, which chooses the results, metrics, strategies and datasets of a report."""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from mlaut.analysis import MLautScore, Results
from mlaut.analysis import metric as find_metric
from mlaut.analysis.results.given import results_of
from mlaut.analysis.results.study_results import open_study
from mlaut.analysis.results.tables import as_table, never_run
from mlaut.errors import AnalysisError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.kinds import Kind, kind_of
from mlaut.helpers.former_names import of_plugin
from mlaut.report.content import Choice, Report, results_content, study_content
from mlaut.report.contents import NO_FILE


def make_report(
    study: str | os.PathLike[str] | StudyStore | FilesIO | Results | pd.DataFrame,
    metric: str | MLautScore | Sequence[str | MLautScore] | None = None,
    *,
    missing: str | None = None,
    greater_is_better: bool | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    trust: bool = False,
    clusters: Mapping[str, Any] | pd.Series | str | None = None,
    contaminated: str = "keep",
    title: str = "",
    only: Iterable[str] = (),
    without: Iterable[str] = (),
    datasets: Iterable[str] = (),
    **terms: Any,
) -> Report:
    """Return a report on a study or a table of scores: its state, scores and conclusions.

    The study may still be running; the report then covers the cells that are done.

    Parameters
    ----------
    study : path-like, Study, FilesIO, Results, or DataFrame
        Study to report on; a `FilesIO` is the output database that `mlaut.Data.open_hdf5` returns.
        Or results, a table that `Results.from_table` accepts, or the file of a table or the folder
        of a leaderboard that `mlaut.analysis.read_results` reads.
    metric : str, metric, or sequence of these, optional
        Metrics that `mlaut.analysis.metric` accepts, each with a section of its own; the first one
        is the primary metric, which decides. Default that of the study's analysis, or
        accuracy for classification and R2 for regression. Tables need one, and `Results` have
        theirs.
    missing : str, optional
        Treatment of missing cells (`mlaut.analysis.treat_missing`). The headline and the notes of
        each section describe its effect. By default a strategy ranks last on a dataset on which it
        failed, so that no failure makes it look better. If leaving out datasets or strategies would
        leave none, the report shows the scores and compares nothing.
    greater_is_better : bool, optional
        Direction of a table's metric that is not known by its name.
    columns, trust
        Columns of a table by what they are, and whether a pickle may be read:
        `mlaut.analysis.read_results`.
    clusters : mapping, Series or str, optional
        Source of each dataset: see `mlaut.analysis.compare`. For a study, a mapping that takes the
        place of the sources in its analysis.
    contaminated : str, default "keep"
        Treatment of scores of strategies that were trained on the dataset, where a leaderboard
        declares them: `mlaut.analysis.treat_contaminated`.
    title : str
        Title of the report; default that of the study, or the name of the file.
    only, without : iterable of str, optional
        Strategies to report on, and those to leave out; a mapping also has the reason of each. The
        report begins with what it leaves out.
    datasets : iterable of str, optional
        Datasets to report on; default all.
    **terms
        Terms of the analysis: ``question``, ``secondary``, ``test``, ``alpha``, ``rope``, ``least``
        (`mlaut.records.Analysis`). Terms that differ from those of the study are named where
        the report says how sure it is.

    Returns
    -------
    Report

    Raises
    ------
    StoreError, StudyError, DataError
        The file cannot be read, or is neither a study nor a table.
    AnalysisError
        The metric is not known or does not suit any dataset, or no cell is done.

    Examples
    --------
    >>> table = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.8, 0.6, 0.5]})
    >>> report = make_report(table, "accuracy")
    >>> report.sections[0].title
    'accuracy of 2 strategies on 3 datasets'
    >>> print(report.sections[0].decision.answer().partition("It is ")[2].partition(". O")[0])
    first on all 3 datasets. B has accuracy 0.17 below A on average
    """
    listed = [metric] if isinstance(metric, str) or not isinstance(metric, Iterable) else metric
    metrics = [item if isinstance(item, str) else find_metric(item) for item in listed if item]
    terms |= {} if missing is None else {"missing": missing}
    if not isinstance(without, Mapping):
        without = dict.fromkeys([without] if isinstance(without, str) else without, "")
    only, datasets = ([names] if isinstance(names, str) else names for names in (only, datasets))
    choice = Choice(tuple(only), tuple(datasets), without)
    how: dict[str, Any] = {"columns": columns, "trust": trust}
    scored = _scored(study, metrics, greater_is_better, clusters, how)
    if scored and any(results.scores.equals(scored[0].scores) for results in scored[1:]):
        raise AnalysisError("the table has one set of scores, so it has one metric: give one")
    if scored is not None:
        name = str(study) if isinstance(study, str | os.PathLike) else NO_FILE
        if any(results.contaminated is not None for results in scored):  # the plug-in marked them
            treat = of_plugin("treat_contaminated")
            scored = [treat(results, contaminated) for results in scored]
        content = results_content(name, scored, title, terms, choice)
    else:
        primary: dict[str, Any] = {}
        if metrics:
            primary = {"metric": metrics[0], "secondary": tuple(metrics[1:])}
        if isinstance(clusters, Mapping | pd.Series) and len(clusters):
            primary["clusters"] = {str(name): str(source) for name, source in clusters.items()}
        content = study_content(open_study(study), title, primary | terms, choice)
    names = (x if isinstance(x, str) else x.name for x in metrics)
    options = [f"--metric {shlex.quote(name)}" for name in names]
    if greater_is_better is not None:
        options.append("--greater-is-better" if greater_is_better else "--less-is-better")
    if columns:
        each = [f"{x}={y if isinstance(y, str) else '+'.join(y)}" for x, y in columns.items()]
        options.append(f"--columns {shlex.quote(','.join(each))}")
    return replace(content, options=" ".join(options))


def _scored(
    source: Any,
    metrics: Sequence[Any],
    greater_is_better: bool | None,
    clusters: Any,
    how: Mapping[str, Any],
) -> list[Results] | None:
    """Return the results of a table by each metric; None if the source is a study."""
    source = as_table(source)
    if isinstance(source, Results):
        if metrics or greater_is_better is not None:
            raise AnalysisError(
                f"these results are of {source.metric.name}: metric and greater_is_better are for "
                "studies and tables"
            )
        return [results_of(source, clusters=clusters)]
    is_frame = isinstance(source, pd.DataFrame)
    if is_frame and not how["columns"] and _is_wide(source):
        own = (greater_is_better, clusters)
        return [never_run(results_of(source, name, *own)) for name in metrics or [""]]
    if is_frame or (isinstance(source, str | os.PathLike) and kind_of(source) is Kind.RESULTS):
        from mlaut.analysis import read_results  # imports all readers, a fifth of a small report

        options = {"greater_is_better": greater_is_better, **how}
        options["clusters"] = clusters if isinstance(clusters, str) else ""
        read = [read_results(source, name, **options) for name in metrics or [None]]
        return read if options["clusters"] else [results_of(x, clusters=clusters) for x in read]
    for name, given in (("greater_is_better", greater_is_better), ("columns", how["columns"])):
        if given is not None:
            raise AnalysisError(f"{name} is for tables: the metrics of a study are known")
    if isinstance(clusters, str):
        raise AnalysisError(
            f"clusters = {clusters!r} is a column, and only tables have columns: give the source "
            "of each dataset in a mapping, on the command line in a CSV file"
        )
    return None


def _is_wide(table: pd.DataFrame) -> bool:
    """Return whether a table has the form of `Results.from_table`: numbers, named by its index."""
    kinds = [
        dtype for name, dtype in table.dtypes.items() if str(name) not in ("source", "cluster")
    ]
    return table.columns.nlevels == 1 and all(kind.kind in "iuf" for kind in kinds)

"""Report on a study: its content, and how it is shown in a terminal and in a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from mlaut.analysis import Results, read_results
from mlaut.analysis.results.sources import open_study
from mlaut.errors import AnalysisError
from mlaut.files_io import FilesIO, Study
from mlaut.files_io.tables import ending_of
from mlaut.report.content import Content, results_content, study_content
from mlaut.report.writing import as_text

__all__ = ["Report", "make_report"]

_FRAME = "width: 100%; height: 40rem; border: 1px solid #888"


class Report(Content):
    """Report on a study that prints as text and is shown as an HTML page in a notebook."""

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        from mlaut.report.page import as_html  # matplotlib and jinja2 are slow to load

        page = escape(as_html(self))
        return f'<iframe srcdoc="{page}" title="Report" style="{_FRAME}"></iframe>'


def make_report(
    study: str | os.PathLike[str] | Study | FilesIO | Results | pd.DataFrame,
    metric: str | Sequence[str] | None = None,
    *,
    missing: str | None = None,
    greater_is_better: bool | None = None,
    title: str = "",
    **terms: Any,
) -> Report:
    """Return a report on a study or a table of scores: its state, scores and conclusions.

    The study may still be running; the report then covers the cells that are done.

    Parameters
    ----------
    study : path-like, Study, FilesIO, Results, or DataFrame
        Study to report on; a `FilesIO` is the output database that `mlaut.Data.open_hdf5` returns.
        Or results, a table that `Results.from_table` accepts, or the file of a table that
        `mlaut.analysis.read_results` reads.
    metric : str or sequence of str, optional
        Names of metrics that `mlaut.analysis.metric` accepts, each with a section of its own; the
        first one is the primary metric, which decides. Default that of the study's analysis, or
        accuracy for classification and R2 for regression. Tables need one, and `Results` have
        theirs.
    missing : str, optional
        Treatment of missing cells (`mlaut.analysis.treat_missing`). The headline and the notes of
        each section describe its effect. By default a strategy ranks last on a dataset on which it
        failed, so that no failure makes it look better. If leaving out datasets or strategies would
        leave none, the report shows the scores and compares nothing.
    greater_is_better : bool, optional
        Direction of a table's metric that is not known by its name.
    title : str
        Title of the report; default that of the study, or the name of the file.
    **terms
        Terms of the analysis: ``question``, ``secondary``, ``test``, ``alpha``, ``rope``, ``least``
        (`mlaut.records.Analysis`). Terms that differ from those of the study are named in the
        headline.

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
    >>> report.sections[0].decision.answer()
    'Too few datasets to decide: there are 3, and at least 6 are needed for 2 strategies.'
    """
    metrics = [metric] if isinstance(metric, str) else list(metric or ())
    terms |= {} if missing is None else {"missing": missing}
    scored = _scored(study, metrics, greater_is_better)
    if scored is not None:
        name = str(study) if isinstance(study, str | os.PathLike) else "results"
        content = results_content(name, scored, title, terms)
    else:
        primary = {"metric": metrics[0], "secondary": tuple(metrics[1:])} if metrics else {}
        content = study_content(open_study(study), title, primary | terms)
    return Report(**vars(content))


def _scored(
    source: Any, metrics: list[str], greater_is_better: bool | None
) -> list[Results] | None:
    """Return the results of a table by each metric; None if the source is a study."""
    how: dict[str, Any] = {"greater_is_better": greater_is_better}
    if isinstance(source, Results):
        if metrics or greater_is_better is not None:
            raise AnalysisError(
                f"these results are of {source.metric.name}: metric and greater_is_better are for "
                "studies and tables"
            )
        return [source]
    if isinstance(source, pd.DataFrame):
        if not metrics:
            raise AnalysisError("a table does not say what its scores are: name their metric")
        return [Results.from_table(source, metric=one, **how) for one in metrics]
    if isinstance(source, str | os.PathLike) and ending_of(Path(source).name):
        if not metrics:
            return [read_results(source, **how)]
        return [read_results(source, one, **how) for one in metrics]
    if greater_is_better is not None:
        raise AnalysisError("greater_is_better is for tables: the metrics of a study are known")
    return None

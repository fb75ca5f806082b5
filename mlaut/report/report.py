"""Report on a study: its content, and how it is shown in a terminal and in a notebook."""

from __future__ import annotations

import os
from html import escape

from mlaut.analysis.results.sources import open_study
from mlaut.files_io import FilesIO, Study
from mlaut.report.content import Content, make_content
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
    study: str | os.PathLike[str] | Study | FilesIO,
    metric: str | None = None,
    *,
    missing: str = "failures last",
) -> Report:
    """Return a report on a study: its state, scores and conclusions.

    The study may still be running; the report then covers the cells that are done.

    Parameters
    ----------
    study : path-like, Study, or FilesIO
        Study to report on. A `FilesIO` is the output database that `mlaut.Data.open_hdf5` returns.
    metric : str, optional
        Name of a metric that `mlaut.analysis.metric` accepts. Default accuracy for classification
        and R2 for regression, each in a section of its own.
    missing : str, default "failures last"
        Treatment of missing cells (`mlaut.analysis.treat_missing`). The first sentence and the
        notes of each section describe its effect. By default a strategy ranks last on a dataset on
        which it failed, so that no failure makes it look better. If leaving out datasets or
        strategies would leave none, the report shows the scores and compares nothing.

    Returns
    -------
    Report

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    AnalysisError
        The metric is not known or does not suit any dataset, or no cell is done.
    """
    content = make_content(open_study(study), metric, missing)
    return Report(content.study, content.state, content.sections)

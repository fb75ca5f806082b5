"""A report: its content, and the forms in which it shows itself."""

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
    """A report on a study; it prints itself as text, and is a page in a notebook."""

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
    """Say what may be concluded from a study; also while it runs.

    Parameters
    ----------
    study : path-like, Study, or FilesIO
        A `FilesIO` is the output database as `mlaut.Data.open_hdf5` opens it.
    metric : str, optional
        As `mlaut.analysis.metric` knows it. Default accuracy for classification and R2 for
        regression, in a section each.
    missing : str, default "failures last"
        Treatment of missing cells (`mlaut.analysis.treat_missing`); what it does is said in the
        first sentence and in the notes of each section. By default a strategy ranks last where it
        failed, so that no failure makes it look better. Where leaving out datasets or strategies
        would leave none, the report has the scores and compares nothing.

    Returns
    -------
    Report

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    AnalysisError
        The metric is not known or suits no dataset, or no cell is done.
    """
    content = make_content(open_study(study), metric, missing)
    return Report(content.study, content.state, content.sections)

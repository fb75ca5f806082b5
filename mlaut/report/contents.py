"""What a report has, whatever its form: the state of the study, and a section for each metric."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from mlaut.report.records import Section
from mlaut.report.state import ReadOnce, State

NO_FILE = "results"  # name of the study of a report on results in memory


@dataclass(frozen=True, eq=False, repr=False)
class Contents:
    """Content of a report on a study or on results, which each form shows in its own way.

    Attributes
    ----------
    study : Path
        File of the study.
    title : str
        Title of the study, or the metric and the numbers of its strategies and datasets.
    state : State
        State of the study: what was run, how many cells are done, and what failed.
    sections : tuple of Section
        One section for each metric.
    source : ReadOnce or None
        The study, from which a page reads what lies behind the scores; None for a table.
    options : str
        Metrics, their direction and columns as options of ``mlaut report``, if they were given.
    """

    study: Path
    title: str
    state: State
    sections: tuple[Section, ...]
    source: ReadOnce | None = None
    options: str = ""

    @property
    def command(self) -> str:
        """Return the call that writes every table of the report."""
        if self.source is None and self.study == Path(NO_FILE):
            return "mlaut.report.write_report(report, 'tables/')"
        parts = ("mlaut report", shlex.quote(self.study.name), self.options, "-o tables/")
        return " ".join(filter(None, parts))

    @property
    def studied(self) -> str:
        """Return in one line what the report is about, as far as it is known."""
        results = self.sections[0].results
        return self.state.studied(0 if results.clusters is None else results.n_sources)

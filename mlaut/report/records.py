"""Records of a report: a table with the places that show it, and the results by one metric."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import pandas as pd

from mlaut.analysis import Comparison, Decision, Race, Results, ResultTable, Robustness
from mlaut.analysis.comparing.one_comparison import OneComparison
from mlaut.report.shown import ShownTable

PAGE, TEXT, LATEX = "page", "text", "latex"  # TEXT is text and Markdown; CSV has all tables
MOST_ROWS = 60  # rows of a table in text and Markdown; HTML and CSV have all


@dataclass(frozen=True)
class ReportTable:
    """Table of a report: how it is made, and where and how it is shown.

    Attributes
    ----------
    name : str
        Name of the table and of its CSV file.
    make : callable
        Returns the unrounded table of a `Section` (or of a study, in `mlaut.report.state`), or None
        where there is nothing to show.
    forms : tuple of str
        Forms that show the table: `PAGE`, `TEXT`, `LATEX`. Each table is a CSV file too.
    caption, heading, fold : str
        Caption; heading above it on the page; and text of the fold that hides it there. They may
        contain ``{metric}``, ``{correction}`` and ``{rows}``. Default: no heading, no fold.
    needs : str
        Attribute of the section without which there is no table, for example ``"comparison"``.
    shown : callable
        Returns the form for reading of the section and the table: a `ShownTable`, or a table whose
        columns need no other headers; default the table itself. A form without a row is not shown.
    of_failures : bool, default False
        Whether the page shows the table under "Cells without a result".
    """

    name: str
    make: Callable[[Any], pd.DataFrame | None]
    forms: tuple[str, ...] = ()
    caption: str = ""
    _: KW_ONLY
    heading: str = ""
    fold: str = ""
    needs: str = ""
    shown: Callable[[Any, pd.DataFrame], pd.DataFrame | ShownTable] = lambda _, frame: frame
    of_failures: bool = False


def made(tables: Iterable[ReportTable], source: Any) -> dict[str, pd.DataFrame]:
    """Return the tables that ``source`` has data for, by name."""
    able = [table for table in tables if not table.needs or getattr(source, table.needs)]
    frames = {table.name: table.make(source) for table in able}
    return {name: frame for name, frame in frames.items() if frame is not None}


def shown_in(
    form: str, tables: Iterable[ReportTable], source: Any
) -> Iterator[tuple[ReportTable, ShownTable]]:
    """Yield each of the source's ``tables`` that a form shows, as text."""
    for table in tables:
        if form in table.forms and table.name in source.tables:
            shown = table.shown(source, source.tables[table.name])
            shown = shown if isinstance(shown, ShownTable) else ShownTable.of(shown)
            if shown.rows:
                yield table, shown


@dataclass(frozen=True, eq=False)
class Section:
    """Section of a report: the results by one metric.

    Attributes
    ----------
    title : str
    sentences : tuple of str
        Conclusions, each with its scenario.
    tables : mapping of str to DataFrame
        Unrounded tables by name.
    notes : tuple of str
        Notes that a reader needs to interpret the numbers.
    scored : Results
        All scores of the study; missing cells are missing.
    results : Results
        Compared results, with missing cells treated; equal to ``scored`` if the treatment would
        leave nothing.
    comparison : Comparison or None
        Comparison of the strategies; None if there are fewer than two strategies or datasets.
    decision : Decision or None
        What is decided; None without a comparison.
    estimates : mapping of str to ResultTable
        Means of the metric, in its own direction, by scenario; only for the scenarios that the
        results can estimate.
    robustness : Robustness or None
        Whether missing cells change a conclusion; None if no cell is missing or nothing can be
        compared.
    race : Race or None
        Race of the study as it stands; None for a study that is no race, or by another metric.
    budgets : DataFrame or None
        Scores against the budget of tuning; None where a study does not have what smaller budgets
        would have predicted.
    shared : ResultTable or None
        Comparison of each two strategies on the datasets that they share, in place of one over
        all; None unless most datasets lack a strategy that was never run there.
    one : OneComparison or None
        Comparison on the only dataset, in place of ``comparison``.
    groups : sequence or None
        Group of each row of the only dataset, where its table is known and has groups.
    secondary : bool, default False
        Whether another metric of the same report decides.
    """

    title: str
    sentences: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...]
    scored: Results
    results: Results
    comparison: Comparison | None = None
    decision: Decision | None = None
    estimates: Mapping[str, ResultTable] = field(default_factory=dict)
    robustness: Robustness | None = None
    race: Race | None = None
    budgets: pd.DataFrame | None = None
    shared: ResultTable | None = None
    secondary: bool = False
    one: OneComparison | None = None
    groups: Sequence[Any] | None = None

    @property
    def words(self) -> dict[str, str]:
        """Words that fill captions and headings."""
        correction = "" if self.comparison is None else self.comparison.correction
        reading = "" if self.decision is None else self.decision.reading()
        scenario = "(c)" if self.decision is None else self.decision.scenario
        words = {"metric": self.scored.metric.name, "correction": correction, "reading": reading}
        leader = "" if self.decision is None else self.decision.first[0]
        return words | {"scenario": scenario, "leader": leader}

    @property
    def headline(self) -> tuple[str, ...]:
        """Sentences of the decision, or else of the section."""
        return self.sentences if self.decision is None else self.decision.headline()

    @property
    def findings(self) -> tuple[str, ...]:
        """Sentences below the first screen: how it was decided, and the findings."""
        decided = () if self.decision is None else self.decision.details()
        return (*decided, *(text for text in self.sentences if text not in self.headline))

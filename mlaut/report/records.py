"""Records of a report: a table with the places that show it, and the results by one metric."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd

from mlaut.analysis import Comparison, Decision, Results, ResultTable, Robustness
from mlaut.analysis.common.display import SCENARIOS
from mlaut.analysis.comparing.one_comparison import OneComparison
from mlaut.analysis.deciding.certainty import numbered
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.deciding.verdict_table import Step
from mlaut.helpers.markup import beside
from mlaut.report.shown import ShownTable, reading

PAGE, TEXT, LATEX = "page", "text", "latex"  # TEXT is text and Markdown; CSV has all tables
MOST_ROWS = 60  # rows of a table in text and Markdown; HTML and CSV have all


_Make = Callable[[Any], pd.DataFrame | None]
_Shown = Callable[[Any, Any], pd.DataFrame | ShownTable]


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
    forms : sequence of str
        Forms that show the table: `PAGE`, `TEXT`, `LATEX`. Each table is a CSV file too.
    caption, heading, fold : str
        Caption; heading above it on the page; and text of the fold that hides it there. They may
        contain ``{metric}``, ``{correction}`` and ``{rows}``. Default: no heading, no fold.
    needs : str
        Attribute of the section without which there is no table, for example ``"comparison"``.
    shown : callable
        Returns the form for reading of the section and the table: a `ShownTable`, or a table whose
        columns need no other headers; default the table itself. A form without a row is not shown.
    part : str, default ""
        Folded part of the page that shows it: one of the folds of `page.html`, ``"decided"``
        (how it was decided), or ``"failures"``; default: every other test and number, and of a
        table of `mlaut.report.state` what was run.
    alone : bool, default False
        Whether ``shown`` needs the section alone: the table has more, and is made for its CSV file.
    """

    name: str
    make: _Make
    forms: Sequence[str] = ()
    caption: str = ""
    _: KW_ONLY
    heading: str = ""
    fold: str = ""
    needs: str = ""
    shown: _Shown = lambda _, frame: frame
    part: str = ""
    alone: bool = False


def described(
    module: str, make: Mapping[str, _Make], shown: Mapping[str, _Shown] = MappingProxyType({})
) -> tuple[ReportTable, ...]:
    """Return tables by the functions that make them; the rest is in the TOML file of the module."""
    about, as_made = beside(module), ReportTable.shown
    return tuple(
        ReportTable(name, function, shown=shown.get(name, as_made), **about.get(name, {}))
        for name, function in make.items()
    )


class Made(Mapping[str, pd.DataFrame]):
    """Tables that a source has data for, by name; each is made when it is first asked for."""

    def __init__(self, tables: Iterable[ReportTable], source: Any) -> None:
        self.able = {x.name: x for x in tables if not x.needs or getattr(source, x.needs)}
        self._source = source
        self._made: dict[str, pd.DataFrame | None] = {}

    def _get(self, name: str) -> pd.DataFrame | None:
        if name in self.able and name not in self._made:
            self._made[name] = self.able[name].make(self._source)
        return self._made.get(name)

    def __contains__(self, name: object) -> bool:
        return self._get(str(name)) is not None

    def __getitem__(self, name: str) -> pd.DataFrame:
        if (frame := self._get(name)) is None:
            raise KeyError(name)
        return frame

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.able if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def shown_in(
    form: str, tables: Iterable[ReportTable], source: Any
) -> Iterator[tuple[ReportTable, ShownTable]]:
    """Yield each of the source's ``tables`` that a form shows, as text."""
    for table in tables:
        if form in table.forms and table.name in (
            source.tables.able if table.alone else source.tables
        ):
            shown = table.shown(source, None if table.alone else source.tables[table.name])
            shown = shown if isinstance(shown, ShownTable) else ShownTable.of(shown)
            if shown.rows:
                yield table, shown


@dataclass(frozen=True, eq=False)
class Section:
    """Section of a report: the results by one metric.

    The first screen needs the results and the decision; the rest is computed when it is asked for.

    Attributes
    ----------
    title : str
    scored : Results
        All scores of the study; missing cells are missing.
    results : Results
        Compared results, with missing cells treated; equal to ``scored`` if the treatment would
        leave nothing.
    later : object
        Computes the other attributes.
    chosen : Chosen
        The analysis.
    problem : tuple of str
        Why nothing can be compared.
    tested : Comparison or None
        The comparison without the tests that the decision does not need; None if there are fewer
        than two strategies or datasets.
    decision : Decision or None
        What is decided; None without a comparison.
    race : mlaut_races.Race or None
        Race of the study as it stands; None for a study that is no race, or by another metric.
    budgets : DataFrame or None
        Scores against the budget of tuning; None where a study does not have what smaller budgets
        would have predicted.
    shared : ResultTable or None
        Comparison of each two strategies on the datasets that they share, in place of one over
        all; None unless most datasets lack a strategy that was never run there.
    one : OneComparison or None
        Comparison on the only dataset, in place of ``tested`` and ``comparison``.
    groups : sequence or None
        Group of each row of the only dataset, where its table is known and has groups.
    secondary : str, default ""
        Sentence on the metric that decides, in the section of another metric.
    cautions : tuple of Step
        What was run that weakens the answer; a decision has them too.
    """

    title: str
    scored: Results
    results: Results
    later: Any  # `content._Later`
    chosen: Chosen
    problem: tuple[str, ...] = ()
    tested: Comparison | None = None
    decision: Decision | None = None
    race: Any = None
    budgets: pd.DataFrame | None = None
    shared: ResultTable | None = None
    one: OneComparison | None = None
    groups: Sequence[Any] | None = None
    secondary: str = ""
    cautions: tuple[Step, ...] = ()

    @cached_property
    def comparison(self) -> Comparison | None:
        """Comparison of the strategies by all tests; None as ``tested``."""
        return self.later.comparison(self)

    @cached_property
    def estimates(self) -> Mapping[str, ResultTable]:
        """Means of the metric, in its own direction, by scenario, as far as they are known."""
        return self.later.estimates(self)

    @cached_property
    def robustness(self) -> Robustness | None:
        """Whether missing cells change a conclusion; None if none is missing or compared."""
        return self.later.robustness(self)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Conclusions, each with its scenario."""
        return self.later.sentences(self)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes that a reader needs to interpret the numbers."""
        return self.later.notes(self)

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Unrounded tables by name."""
        return self.later.tables(self)

    @property
    def words(self) -> dict[str, str]:
        """Words that fill captions and headings."""
        correction = "" if self.tested is None else self.tested.correction
        told = "" if self.decision is None else reading(self.decision, below=True)
        scenario = "(c)" if self.decision is None else self.decision.scenario
        words = {"metric": self.scored.metric.name, "correction": correction, "reading": told}
        leader = "" if self.decision is None else self.decision.first[0]
        known = "; ".join(f"{each}: {what}" for each, what in SCENARIOS.items())
        words |= {"scenario": scenario, "what": SCENARIOS[scenario], "scenarios": known}
        return words | {"leader": leader}

    @cached_property
    def headline(self) -> tuple[str, ...]:
        """Sentences of the decision, or else of the section, as of a race, and what to do next."""
        if (made := self.decision) is None:
            return (*self.sentences, *(numbered(self.cautions) if self.cautions else ()))
        return made.headline()

    @property
    def findings(self) -> tuple[str, ...]:
        """Sentences below the first screen: how it was decided, and the findings."""
        decided = () if self.decision is None else self.decision.details()
        return (*decided, *(text for text in self.sentences if text not in self.headline))

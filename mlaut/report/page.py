"""Reports as one self-contained page of HTML, which needs no network and no other file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from mlaut import __version__
from mlaut.analysis import Comparison
from mlaut.analysis.common.display import SCENARIOS, SMALLEST_P, number
from mlaut.report.content import Content, Section
from mlaut.report.drawing import Picture, pictures
from mlaut.report.tables import dataset_table, pair_table

__all__ = ["as_html"]


_LONG = 30  # characters; a cell with a longer text has the kind "long"
_MANY = 8  # columns; the headers of a wider table of numbers are vertical


@dataclass(frozen=True)
class _Cell:
    text: str
    value: str  # sort key of the column
    kind: str  # "number", "text" or "long"


@dataclass(frozen=True)
class _Table:
    labels: tuple[str, ...]  # headers of the columns that name the rows
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[_Cell, ...]], ...]

    @property
    def wide(self) -> bool:
        """Whether all cells are numbers in so many columns that the headers are vertical."""
        numbers = all(cell.kind == "number" for _, cells in self.rows for cell in cells)
        return len(self.columns) > _MANY and numbers


@dataclass(frozen=True)
class _Part:
    section: Section
    pictures: dict[str, Picture]
    tables: dict[str, _Table]
    datasets: dict[str, _Table]


def as_html(report: Content) -> str:
    """Return the report as one page of HTML.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        HTML that contains its styles, script and figures.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mlaut.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    parts = [_part(section, f"s{place}") for place, section in enumerate(report.sections, start=1)]
    return environment.get_template("page.html").render(
        report=report,
        state={name: _table(table) for name, table in report.state.tables.items()},
        parts=parts,
        scenarios=SCENARIOS,
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _part(section: Section, prefix: str) -> _Part:
    tables = {name: _table(table) for name, table in _shown(section).items()}
    datasets = {name: _table(dataset_table(section, name)) for name in section.scored.datasets}
    return _Part(section, pictures(section, prefix), tables, datasets)


def _shown(section: Section) -> dict[str, pd.DataFrame]:
    """Return the tables of a section that the page shows, in the form for reading."""
    names = ("summary", "scores", "intervals", "missing cells")
    tables = {name: section.tables[name] for name in names if name in section.tables}
    tables["scores"] = tables["scores"][_best_first(section)]
    if section.comparison is not None:
        tables["pairs"] = pair_table(section.comparison)
        probabilities = section.comparison.probabilities()
        tables["probabilities"] = probabilities.rename_axis(["strategy", "against"])
        tables["tests of all strategies"] = _tests(section.comparison)
    if section.robustness is not None:
        tables["conclusions that flip"] = section.robustness.flips.rename_axis(
            ["strategy", "against"]
        )
    if "missing cells" in tables:
        tables["missing cells"] = tables["missing cells"].set_index("dataset")
    return tables


def _best_first(section: Section) -> list[str]:
    """Return the strategies in the order of the summary, then those that the summary leaves out."""
    return list(dict.fromkeys([*section.tables["summary"].index, *section.scored.strategies]))


def _tests(comparison: Comparison) -> pd.DataFrame:
    rows = {
        name: {
            "statistic": f"{test.statistic_name} = {number(test.statistic)}",
            "degrees of freedom": number(test.df),
            "p": test.p_value,
            "null hypothesis": test.null,
            "source": test.source,
        }
        for name, test in comparison.portmanteau.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")


def _table(frame: pd.DataFrame) -> _Table:
    labels = tuple(str(name or "") for name in frame.index.names)
    rows = tuple(
        (_labels(label), tuple(_cell(value) for value in row))
        for label, row in zip(frame.index, frame.to_numpy(dtype=object), strict=True)
    )
    return _Table(labels, tuple(str(name) for name in frame.columns), rows)


def _labels(label: Any) -> tuple[str, ...]:
    return tuple(str(part) for part in label) if isinstance(label, tuple) else (str(label),)


def _cell(value: Any) -> _Cell:
    text = f"< {SMALLEST_P:.1e}" if value == SMALLEST_P else number(value)
    numeric = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    if numeric:
        return _Cell(text, repr(float(value)), "number")
    return _Cell(text, text, "long" if len(text) > _LONG else "text")

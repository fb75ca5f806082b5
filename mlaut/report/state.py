"""State of a study: what was run, how many cells are done, and what failed.

The tables come from the study itself, without any analysis.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from mlaut.analysis import budget_use
from mlaut.files_io import Study
from mlaut.markup import counted
from mlaut.records import Status
from mlaut.report.records import PAGE, TEXT, Table, made

__all__ = ["STATE_TABLES", "State", "study_state"]

_TIMES = re.compile(r" \(\d+ times\)$")  # end of a warning that one cell raised repeatedly
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Fields of a run that the table of runs shows.
_RUN = ("started", "python", "platform", "processor", "cores", "seed", "n_jobs", "timeout")


@dataclass(frozen=True, eq=False)
class State:
    """State of a study.

    Attributes
    ----------
    lines : tuple of str
        Sentences on the size of the study, the last run, its machine and its software versions.
    partial : str
        Sentence with the number of cells that were not run yet; empty for a complete study.
    tables : mapping of str to DataFrame
        ``"datasets"``, ``"strategies"`` and ``"runs"``, and ``"failures"`` and ``"warnings"`` if
        there are any.
    parameters : mapping of str to str
        Identity of each strategy (its class and parameters), as JSON.
    cells : mapping of Status to int
        Number of cells of each status.
    """

    lines: tuple[str, ...]
    partial: str
    tables: Mapping[str, pd.DataFrame]
    parameters: Mapping[str, str]
    cells: Mapping[Status, int]


def study_state(study: Study) -> State:
    """Return the state of a study."""
    cells = _cells(study)
    counts = {status: int((cells["status"] == status).sum()) for status in Status}
    counts = {status: n for status, n in counts.items() if n}
    details = [record for _, records in study.all_details() for record in records]
    tables = made(STATE_TABLES, _Stored(study, cells, details))
    schemes = " and ".join(sorted(tables["datasets"]["split"].unique()))
    words = ", ".join(f"{n} {status.word}" for status, n in counts.items())
    lines = [
        f"{counted(len(tables['datasets']), 'dataset')}, "
        f"{counted(len(study.strategies), 'strategy', 'strategies')}, split by {schemes}; "
        f"{counted(len(cells), 'cell')}: {words}.",
        *(_run_line(run) for run in study.runs[-1:]),
    ]
    warned = sum(bool(record.get("warnings")) for record in details)
    if warned:
        lines.append(f"{warned} cells warned while they were fitted: see the table of warnings.")
    missing = counts.get(Status.MISSING, 0)
    partial = f"PARTIAL: {missing} of {len(cells)} cells were not run yet; what follows may change."
    identities = {entry.name: json.dumps(entry.identity, indent=1) for entry in study.strategies}
    return State(tuple(lines), partial if missing else "", tables, identities, counts)


class _Stored(NamedTuple):
    """Sources of the tables: the study, its cells, and the details of its cells."""

    study: Study
    cells: pd.DataFrame
    details: Sequence[Mapping[str, Any]]


def _cells(study: Study) -> pd.DataFrame:
    """Return one row for each cell: dataset, strategy, status."""
    rows = [
        (dataset, name, int(status))
        for dataset, (names, statuses) in study.statuses().items()
        for name, of_strategy in zip(names, statuses, strict=True)
        for status in of_strategy.ravel()
    ]
    return pd.DataFrame(rows, columns=["dataset", "strategy", "status"])


def _counted(cells: pd.DataFrame, by: str) -> pd.DataFrame:
    """Count the cells that are done, failed, were skipped, raced out or not run, by a column."""
    kinds = {
        "done": [Status.DONE],
        "failed": [status for status in Status if status.failed],
        "skipped": [Status.SKIPPED],
        "raced out": [Status.RACED_OUT],
        "not run": [Status.MISSING],
    }
    if not (cells["status"] == Status.RACED_OUT).any():  # most studies are no race
        del kinds["raced out"]
    counts = {kind: cells["status"].isin(words) for kind, words in kinds.items()}
    return pd.DataFrame(counts).groupby(cells[by]).sum()


def _datasets(stored: _Stored) -> pd.DataFrame:
    rows = {
        name: {
            "task": entry.task,
            "rows": entry.split.n_rows,
            "classes": len(entry.classes) or float("nan"),
            "split": entry.split.scheme,
            "repeats": entry.split.n_repeats,
            "folds": entry.split.n_folds,
            "fingerprint": entry.fingerprint[:12],
        }
        for name, entry in stored.study.load_splits().items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index").dropna(axis="columns", how="all")
    return table.join(_counted(stored.cells, "dataset")).rename_axis("dataset")


def _strategies(stored: _Stored) -> pd.DataFrame:
    rows = {
        entry.name: {
            "family": ", ".join(_texts(entry.metadata.get("estimator_family"))),
            "class": _class(entry.identity),
            "fingerprint": entry.fingerprint[:12],
        }
        for entry in stored.study.strategies
    }
    columns = ["family", "class", "fingerprint"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.join(_counted(stored.cells, "strategy")).rename_axis("strategy")


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _class(identity: Mapping[str, Any]) -> str:
    """Return the class of a strategy, or else the class of the estimator that it assembles."""
    for key in ("strategy", "assembled"):
        part = identity.get(key)
        if isinstance(part, Mapping) and "class" in part:
            return str(part["class"])
    return str(identity.get("class", ""))


def _runs(stored: _Stored) -> pd.DataFrame:
    rows = [
        {key: run[key] for key in _RUN if run.get(key) is not None}
        | {"versions": ", ".join(_versions(run))}
        for run in stored.study.runs
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="run"))


def _versions(run: Mapping[str, Any]) -> list[str]:
    versions = run.get("versions")
    known = versions if isinstance(versions, Mapping) else {}
    return [f"{name} {version}" for name, version in known.items()]


def _run_line(run: Mapping[str, Any]) -> str:
    if "versions" not in run:  # predictions of another program were imported
        return f"Last change {run.get('started', '?')}: {run.get('engine', '?')}."
    software = ", ".join(_versions(run))
    return f"Last run {run.get('started', '?')} on {run.get('processor', '?')}: {software}."


def _failures(stored: _Stored) -> pd.DataFrame | None:
    """Return one row for each strategy, status and reason, the most frequent first."""
    rows = pd.DataFrame(
        [{**record} for record in stored.details if record["reason"]],
        columns=["strategy", "status", "reason", "dataset"],
    )
    if rows.empty:
        return None
    groups = rows.groupby(["strategy", "status", "reason"], sort=False)["dataset"]
    table = groups.agg(cells="size", datasets=_some).reset_index()
    table = table.sort_values("cells", ascending=False, kind="stable")
    return table[["strategy", "status", "cells", "datasets", "reason"]].set_index("strategy")


def _warnings(stored: _Stored) -> pd.DataFrame | None:
    """Return one row for each strategy and warning with its number of cells, most frequent first.

    Warnings that differ only in their numbers count as one warning; the first text is shown.
    """
    columns = ["strategy", "warning", "dataset"]
    rows = pd.DataFrame(
        [
            (record["strategy"], _TIMES.sub("", text), record["dataset"])
            for record in stored.details
            for text in record.get("warnings", ())
        ],
        columns=columns,
    )
    if rows.empty:
        return None
    kinds = rows["warning"].str.replace(_NUMBER, "#", regex=True).rename("kind")
    groups = rows.groupby(["strategy", kinds], sort=False)
    table = groups.agg(
        cells=("dataset", "size"), datasets=("dataset", _some), warning=("warning", "first")
    )
    table = table.reset_index("kind", drop=True)
    return table.sort_values("cells", ascending=False, kind="stable")


def _budgets(stored: _Stored) -> pd.DataFrame | None:
    """Return the use of the budgets; None where every search was that of a whole grid."""
    searched = (json.dumps(entry.identity) for entry in stored.study.strategies)
    if not any("BudgetedSearch" in text for text in searched):
        return None
    return budget_use(stored.study)


def _some(names: pd.Series) -> str:
    """Return up to five different names, and the number of the others."""
    different = list(dict.fromkeys(names))
    more = f" and {len(different) - 5} more" if len(different) > 5 else ""
    return ", ".join(different[:5]) + more


STATE_TABLES = (
    Table("failures", _failures, (PAGE, TEXT), "Why cells have no result", of_failures=True),
    Table(
        "warnings",
        _warnings,
        (PAGE, TEXT),
        "What cells warned of while they were fitted; numbers within a warning are those of its "
        "first cell",
        heading="Warnings of fits",
        of_failures=True,
    ),
    Table("strategies", _strategies, (PAGE,), "Strategies and their cells", heading="Strategies"),
    Table("datasets", _datasets, (PAGE,), "Datasets and their cells", heading="Datasets"),
    Table(
        "budgets of tuning",
        _budgets,
        (PAGE, TEXT),
        "What each strategy used of the budget of its search, and where it was not kept; means "
        "over cells, and `most` of a cell in the unit of the budget",
        heading="Budgets of tuning",
    ),
    Table("runs", _runs, (PAGE,), "Machine and versions of each run", heading="Runs"),
)
"""Tables of a state. Those of failures come first on the page, with what was run behind them."""

"""State of a study: what was run, how many cells are done, and what failed.

The tables come from the study itself, without any analysis.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis import budget_use
from mlaut.errors import some_of
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes.reason_counts import raised_once, rows_by_kind
from mlaut.files_io.outcomes.study_records import SplitEntry, general_reason
from mlaut.helpers.markup import counted
from mlaut.records import Block, Status, scheme_in_words
from mlaut.report.records import Made, described

_MOST_CELLS = 300_000  # whose details a report keeps
_MOST_PREDICTIONS = 20_000_000  # predictions and probabilities that a report keeps: 80 MB
_ENDS = re.compile(r"([\d,]+) to ([\d,]+)")  # of the lengths of series
_UNKNOWN = "Not recorded: what the datasets are, how a score was measured, what was tuned"
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
    left_out : str
        Sentence on the strategies and datasets that the report leaves out; empty for none.
    """

    lines: tuple[str, ...]
    partial: str
    tables: Mapping[str, pd.DataFrame]
    parameters: Mapping[str, str]
    cells: Mapping[Status, int]
    left_out: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings before any number: what was left out, and that cells were not run yet."""
        return tuple(filter(None, (self.left_out, self.partial)))

    def studied(self, n_sources: int = 0) -> str:
        """Return in one line what was studied, as far as it is known.

        Parameters
        ----------
        n_sources : int, default 0
            Number of sources of the datasets; 0 where they are independent.
        """
        of = f" of {n_sources} sources (datasets of one source count as one)" if n_sources else ""
        if "datasets" not in self.tables:
            if self.lines[0].startswith("Read: "):  # a table says itself how it was read
                return f"{self.lines[0]} {_UNKNOWN}."
            line = self.lines[0][:-1].replace(", from", f"{of}, from")
            return f"Studied: {line}. {_UNKNOWN}."
        data, strategies = self.tables["datasets"], self.tables["strategies"]
        tasks = " and ".join(sorted(data["task"].str.lower().unique()))
        tuned = strategies["candidates"].dropna()
        schemes = map(scheme_in_words, data["split"])
        known = data["classes"].dropna() if "classes" in data else data["rows"][:0]
        classes = f", {_range(known)} classes" if len(known) else ""
        shapes = list(data.get("values in a row", data["task"][:0]).dropna())
        both = [_ENDS.sub(end, x) for end in (r"\1", r"\2") for x in shapes]
        both.sort(key=_n_values)
        ends = " to ".join(dict.fromkeys([*both[:1], *both[-1:]]))
        some = f"{len(shapes)} with " * (len(shapes) < len(data))
        arrays = f" ({some}rows of {ends} values)" if shapes else ""
        who = "all" if len(tuned) == len(strategies) else f"{len(tuned)} of them"
        tuning = f"{who} tuned over {_range(tuned)} settings" if len(tuned) else "none tuned"
        return (
            f"Studied: {counted(len(data), 'dataset')}{of}{arrays} for {tasks}, "
            f"{_range(data['rows'])} rows{classes}; "
            f"scored by {' and '.join(sorted(set(schemes)))}; "
            f"{counted(len(strategies), 'strategy', 'strategies')}, {tuning}."
        )


def study_state(study: StudyStore) -> State:
    """Return the state of a study."""
    cells = _cells(study)
    total = cells.sum()
    counts = {status: int(total[status]) for status in Status if total[status]}
    n_cells = sum(counts.values())
    details = [record for _, records in study.all_details() for record in records]
    tables = dict(Made(STATE_TABLES, _OfStudy(study, cells, details)))
    words = ", ".join(f"{n} {status.word}" for status, n in counts.items())
    lines = [f"{counted(n_cells, 'cell')}: {words}.", *map(_run_line, study.runs[-1:])]
    if mixed := study.mixed_versions():
        lines.append(f"{mixed[0].upper()}{mixed[1:]}: they may differ.")
    scores: dict[str, list[str]] = {}
    for entry in study.strategies:
        if score := entry.metadata.get("tunes_by"):
            scores.setdefault(str(score), []).append(entry.name)
    lines += [f"Tuned by {score}: {some_of(names)}." for score, names in scores.items()]
    if warned := sum(bool(record.get("warnings")) for record in details):
        lines.append(f"{counted(warned, 'cell')} warned in fitting: see the table of warnings.")
    missing = counts.get(Status.MISSING, 0)
    partial = f"PARTIAL: {missing} of {n_cells} cells were not run yet; what follows may change."
    identities = {entry.name: json.dumps(entry.identity, indent=1) for entry in study.strategies}
    return State(tuple(lines), partial if missing else "", tables, identities, counts)


class ReadOnce(StudyStore):
    """Study as it stands when a report is made: what several of its parts need is read once.

    Attributes
    ----------
    few, small : bool
        Whether there are few cells, whose details are kept, and few predictions and probabilities,
        whose blocks are kept. A larger study is read again where it is needed.
    """

    def __init__(self, study: StudyStore) -> None:
        super().__init__(study.path)
        self._splits = super().load_splits()
        n, entries = len(self.strategies), self._splits.values()
        self.few = n * sum(e.split.n_repeats * e.split.n_folds for e in entries) <= _MOST_CELLS
        numbers = n * sum(e.split.folds.size * (1 + len(e.classes)) for e in entries)
        self.small = numbers <= _MOST_PREDICTIONS
        if self.few and self.small:
            read = [*super().blocks_and_details()]
            self._blocks = {block.dataset: block for block, _ in read}
            self._details = [(block.dataset, details) for block, details in read]
            return
        self._blocks = {b.dataset: b for b in super().blocks()} if self.small else {}
        self._details = list(super().all_details()) if self.few else []

    def load_splits(self, group: str | None = None) -> dict[str, SplitEntry]:
        """Return the kept splits of all datasets, or read those of a group."""
        return super().load_splits(group) if group else dict(self._splits)

    def statuses(self, datasets: Any = None) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Return the strategies and the status of cells of the kept blocks, or read them."""
        if not self.small:
            return super().statuses(datasets)
        return {b.dataset: (b.strategies, b.status) for b in self.parts(datasets)}

    def all_details(self, *given: Any, **only: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the kept details; details of chosen datasets or statuses are read again."""
        is_kept = self.few and not (given or only)
        return iter(self._details) if is_kept else super().all_details(*given, **only)

    def block(self, dataset: str) -> Block:
        """Return the kept block of a dataset, or read it."""
        return self._blocks.get(dataset) or super().block(dataset)

    def parts(self, datasets: Iterable[str] | None = None) -> Iterator[Block]:
        """Yield the kept blocks, or the parts of those that are read."""
        if not self.small:
            return super().parts(datasets)
        return map(self._blocks.__getitem__, self._blocks if datasets is None else datasets)


class _OfStudy(NamedTuple):
    """Sources of the tables: the study, its cells, and the details of its cells."""

    study: StudyStore
    cells: pd.DataFrame
    details: Sequence[Mapping[str, Any]]


def _cells(study: StudyStore) -> pd.DataFrame:
    """Return the number of cells of each status by dataset and strategy."""
    rows = {
        (dataset, name): np.bincount(of_strategy.ravel(), minlength=len(Status))
        for dataset, (names, statuses) in study.statuses().items()
        for name, of_strategy in zip(names, statuses, strict=True)
    }
    index = pd.MultiIndex.from_tuples(list(rows), names=["dataset", "strategy"])
    return pd.DataFrame(list(rows.values()), index, list(Status))


def _counted(cells: pd.DataFrame, level: str) -> pd.DataFrame:
    """Count the cells that are done, failed, were skipped, left a race or not run, by a level."""
    counts = cells.groupby(level=level).sum()
    failed = [status for status in Status if status.failed]
    table = pd.DataFrame({"done": counts[Status.DONE], "failed": counts[failed].sum(axis=1)})
    table["skipped"] = counts[Status.SKIPPED]
    if cells[Status.RACED_OUT].any():  # most studies are no race
        table["stopped"] = counts[Status.RACED_OUT]
    return table.assign(**{"not run": counts[Status.MISSING]})


def _datasets(stored: _OfStudy) -> pd.DataFrame:
    rows = {
        name: {
            "task": entry.task,
            "rows": entry.split.n_rows,
            "values in a row": _values_of(entry) or float("nan"),
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


def _range(values: pd.Series) -> str:
    """Return whole numbers from the least to the greatest."""
    return " to ".join(dict.fromkeys(f"{value:,.0f}" for value in (values.min(), values.max())))


def _values_of(entry: SplitEntry) -> str:
    """Return the shape of a row; of series, from the shortest to the longest."""
    *sizes, points = [f"{n:,}" for n in entry.shape] or [""]
    unequal = entry.shortest and entry.shortest != entry.shape[-1]
    return " x ".join([*sizes, f"{entry.shortest:,} to {points}" if unequal else points])


def _n_values(shape: str) -> int:
    return prod(int(n.replace(",", "")) for n in shape.split(" x "))


def _strategies(stored: _OfStudy) -> pd.DataFrame:
    searched: dict[str, int] = {}
    for record in stored.details:
        name = record["strategy"]
        searched[name] = max(searched.get(name, 0), record.get("candidates") or 0)
    rows = {
        entry.name: {
            "family": ", ".join(_texts(entry.metadata.get("estimator_family"))),
            "class": _class(entry.identity),
            "candidates": searched.get(entry.name) or float("nan"),
            "fingerprint": entry.fingerprint[:12],
        }
        for entry in stored.study.strategies
    }
    columns = ["family", "class", "candidates", "fingerprint"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.join(_counted(stored.cells, "strategy")).rename_axis("strategy")


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []


def _class(identity: Mapping[str, Any]) -> str:
    """Return the class of a strategy, or else the class of the estimator that it assembles."""
    for key in ("strategy", "assembled"):
        part = identity.get(key)
        if isinstance(part, Mapping) and "class" in part:
            return str(part["class"])
    return str(identity.get("class", ""))


def _runs(stored: _OfStudy) -> pd.DataFrame:
    rows = [
        {key: run[key] for key in _RUN if run.get(key) is not None}
        | {"versions": ", ".join(_versions(run))}
        for run in stored.study.runs
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="run"))


def _versions(run: Mapping[str, Any]) -> list[str]:
    versions = run.get("versions")
    valid = versions if isinstance(versions, Mapping) else {}
    return [f"{name} {version}" for name, version in valid.items()]


def _run_line(run: Mapping[str, Any]) -> str:
    if "versions" not in run:  # predictions of another program were imported
        return f"Last change {run.get('started', '?')}: {run.get('engine', '?')}."
    software = ", ".join(_versions(run))
    return f"Last run {run.get('started', '?')} on {run.get('processor', '?')}: {software}."


def _failures(stored: _OfStudy) -> pd.DataFrame | None:
    """Return one row for each strategy, status and kind of reason, the most frequent first."""
    keys = ("strategy", "status")
    reasons = (
        ({x: record[x] for x in keys}, general_reason(record), record["dataset"], 1)
        for record in stored.details
        if record["reason"]
    )
    return _by_strategy(rows_by_kind("reason", reasons))


def _warnings(stored: _OfStudy) -> pd.DataFrame | None:
    """Return one row for each strategy and kind of warning, the most frequent first."""
    texts = (
        ({"strategy": record["strategy"]}, raised_once(text), record["dataset"], 1)
        for record in stored.details
        for text in record.get("warnings", ())
    )
    return _by_strategy(rows_by_kind("warning", texts))


def _by_strategy(rows: list[dict[str, Any]]) -> pd.DataFrame | None:
    return pd.DataFrame(rows).set_index("strategy") if rows else None


def _budgets(stored: _OfStudy) -> pd.DataFrame | None:
    """Return the use of the budgets; None where every search was that of a whole grid."""
    if not any("BudgetedSearch" in json.dumps(x.identity) for x in stored.study.strategies):
        return None
    return budget_use(stored.study)


STATE_TABLES = described(
    __file__,
    {
        "failures": _failures,
        "warnings": _warnings,
        "strategies": _strategies,
        "datasets": _datasets,
        "budgets of tuning": _budgets,
        "runs": _runs,
    },
)
"""Tables of a state. Those of failures come first on the page, with what was run behind them."""

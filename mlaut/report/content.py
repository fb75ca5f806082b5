"""The content of a report: tables and sentences, from the analysis alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mlaut.analysis import (
    AnalyseResults,
    Results,
    compare,
    dataset_estimates,
    mean_estimates,
    rank_table,
    treat_missing,
)
from mlaut.errors import AnalysisError
from mlaut.files_io import Study
from mlaut.records import TASKS, Status

__all__ = ["Report", "Section", "make_report"]

_METRICS = dict(zip(TASKS, ("accuracy", "rmse"), strict=True))


@dataclass(frozen=True)
class Section:
    """The results by one metric.

    Attributes
    ----------
    title : str
    sentences : tuple of str
        What may be concluded, each with its scenario.
    tables : mapping of str to DataFrame
        Unrounded, by name.
    notes : tuple of str
        What must be known to read the numbers.
    """

    title: str
    sentences: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """A report on a study.

    Attributes
    ----------
    study : Path
    state : tuple of str
        What was run, on what, and how much of it is done.
    sections : tuple of Section
        One a metric.
    """

    study: Path
    state: tuple[str, ...]
    sections: tuple[Section, ...]

    def __str__(self) -> str:
        from mlaut.report.writing import as_text

        return as_text(self)


def make_report(
    study: str | os.PathLike[str] | Study,
    metric: str | None = None,
    *,
    missing: str = "drop datasets",
) -> Report:
    """Say what may be concluded from a study; also while it runs.

    Parameters
    ----------
    study : path-like or Study
    metric : str, optional
        As `mlaut.analysis.metric` knows it. Default accuracy for classification and the root mean
        squared error for regression, in a section each.
    missing : str, default "drop datasets"
        Treatment of missing cells (`mlaut.analysis.treat_missing`); what it does is said in the
        notes of each section.

    Returns
    -------
    Report

    Raises
    ------
    StoreError, StudyError
        The file cannot be read, or is not a study.
    AnalysisError
        The metric is not known or suits no dataset, or nothing is left to analyse.
    """
    opened = study if isinstance(study, Study) else Study(study)
    state = _state(opened)
    if metric is not None:
        metrics = [metric]
    else:
        tasks = {entry.task for entry in opened.load_splits().values()}
        metrics = [_METRICS[task] for task in TASKS if task in tasks]
    return Report(opened.path, state, tuple(_section(opened, m, missing) for m in metrics))


def _state(study: Study) -> tuple[str, ...]:
    statuses = study.statuses()
    counts = dict.fromkeys(Status, 0)
    for _, status in statuses.values():
        for word in Status:
            counts[word] += int((status == word).sum())
    total = sum(counts.values())
    if not counts[Status.DONE]:
        raise AnalysisError(f"{study.path}: none of {total} cells is done; run the study first")
    schemes = sorted({entry.split.scheme for entry in study.load_splits().values()})
    cells = ", ".join(f"{n} {status.word}" for status, n in counts.items() if n)
    lines = [
        f"{len(statuses)} datasets, {len(study.strategies)} strategies, split by "
        f"{' and '.join(schemes)}; {total} cells: {cells}.",
        *(_told(run) for run in study.runs[-1:]),
    ]
    if counts[Status.MISSING]:
        lines.append(
            f"PARTIAL: {counts[Status.MISSING]} of {total} cells were not run yet; "
            "what follows may change."
        )
    return tuple(lines)


def _told(run: Mapping[str, object]) -> str:
    versions = run.get("versions")
    known = versions if isinstance(versions, Mapping) else {}
    software = ", ".join(f"{name} {version}" for name, version in known.items())
    return f"Last run {run.get('started', '?')} on {run.get('processor', '?')}: {software}."


def _section(study: Study, metric: str, missing: str) -> Section:
    all_results = Results.from_study(study, metric)
    results = treat_missing(all_results, missing)
    tables = {"summary": _summary(study, results), "losses": results.losses}
    sentences: tuple[str, ...] = ()
    notes = list(results.notes_text())
    if results.variances is not None:
        tables["estimates by dataset"] = dataset_estimates(results).to_frame()
    if len(results.strategies) > 1 and len(results.datasets) > 1:
        comparison = compare(results)
        sentences = comparison.sentences()
        tables["ranks"] = rank_table(results)
        tables["pairs"] = comparison.to_frame()
        tables["portmanteau tests"] = pd.concat(
            [test.to_frame() for test in comparison.portmanteau.values()]
        )
        notes += comparison.notes
    else:
        sentences = ("Tests need at least two strategies on two datasets.",)
    if len(all_results.missing):
        tables["missing cells"] = all_results.missing
    words = f"{results.metric.name} of {len(results.strategies)} strategies"
    title = f"{words} on {len(results.datasets)} datasets"
    return Section(title, tuple(sentences), tables, tuple(dict.fromkeys(notes)))


def _summary(study: Study, results: Results) -> pd.DataFrame:
    """Give the paper's Table 8: rank, score, standard error and training time, best first."""
    table = pd.DataFrame({"average rank": rank_table(results).mean()})
    if len(results.datasets) > 1:
        mean = mean_estimates(results, method="t", as_scores=True).frame
        table[f"mean {results.metric.name}"] = mean["value"]
        table["std error (c)"] = mean["standard_error"]
        table["low (c)"] = mean["low"]
        table["high (c)"] = mean["high"]
    else:
        table[f"mean {results.metric.name}"] = results.scores.mean()
    seconds = AnalyseResults(study).average_training_time(list(results.strategies))
    table["training seconds"] = seconds["training"]
    table.index.name = "strategy"
    return table.sort_values("average rank")

"""Content of a report: tables and sentences, independent of the format that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Comparison,
    Results,
    ResultTable,
    Robustness,
    adjust_pairs,
    compare,
    dataset_estimates,
    mean_estimates,
    rank_table,
    treat_missing,
    trinomial_test,
    under_treatments,
    wilcoxon_test,
)
from mlaut.analysis.cross_validation.retrained_estimates import retrained_mean_estimates
from mlaut.analysis.results.missing import with_means
from mlaut.errors import AnalysisError
from mlaut.files_io import Study
from mlaut.records import TASKS, Status
from mlaut.report.state import State, study_state

__all__ = ["Content", "Section", "make_content", "seconds_of_done"]

# R2 has no unit. Errors in the units of each target cannot be averaged over datasets.
_METRICS = dict(zip(TASKS, ("accuracy", "r2"), strict=True))
_MOST_TESTS = 20_000  # tests of two strategies; they take about ten seconds
_NO_BOUNDS = (
    "there are too many pairs to examine the best and the worst case of missing cells here: see "
    "mlaut.analysis.under_treatments"
)
_TREATMENTS = ("failures last", "drop datasets")


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
    estimates : mapping of str to ResultTable
        Means of the metric, in its own direction, by scenario; only for the scenarios that the
        results can estimate.
    robustness : Robustness or None
        Whether missing cells change a conclusion; None if no cell is missing or nothing can be
        compared.
    """

    title: str
    sentences: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    notes: tuple[str, ...]
    scored: Results
    results: Results
    comparison: Comparison | None = None
    estimates: Mapping[str, ResultTable] = field(default_factory=dict)
    robustness: Robustness | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """Content of a report, independent of its format.

    Attributes
    ----------
    study : Path
        File of the study.
    state : State
        State of the study: what was run, how many cells are done, and what failed.
    sections : tuple of Section
        One section for each metric.
    """

    study: Path
    state: State
    sections: tuple[Section, ...]


def make_content(study: Study, metric: str | None, missing: str) -> Content:
    """Return the content of a report on a study; see `mlaut.report.make_report`."""
    state = study_state(study)
    if not state.cells.get(Status.DONE):
        total = sum(state.cells.values())
        raise AnalysisError(f"{study.path}: none of {total} cells is done; run the study first")
    metrics = [metric] if metric is not None else _metrics(state)
    return Content(study.path, state, tuple(_section(study, m, missing) for m in metrics))


def _metrics(state: State) -> list[str]:
    """Return the default metric of each task that has a done cell."""
    datasets = state.tables["datasets"]
    tasks = set(datasets.loc[datasets["done"] > 0, "task"])
    return [_METRICS[task] for task in TASKS if task in tasks]


def _section(study: Study, metric: str, missing: str) -> Section:
    """Return the section on one metric."""
    scored = Results.from_study(study, metric)
    results, problem = _treat(scored, missing)
    comparison = None if problem else _compared(results)
    tables = {"summary": _summary(scored, results, comparison), "scores": scored.scores}
    tables["losses"] = _own_losses(results)
    notes = [*results.notes_text(), *problem]
    valued = None if problem else with_means(results)
    estimates = {} if valued is None else _estimates(valued, comparison)
    if estimates:
        frames = {scenario: table.frame for scenario, table in estimates.items()}
        tables["intervals"] = pd.concat(frames, names=["scenario", "strategy"])
    if scored.variances is not None:
        tables["estimates by dataset"] = dataset_estimates(scored, as_scores=True).to_frame()
    if comparison is not None:
        tables["ranks"] = rank_table(results)
        tables["pairs"] = comparison.to_frame()
        tests = [test.to_frame() for test in comparison.portmanteau.values()]
        tables["portmanteau tests"] = pd.concat(tests)
        notes += comparison.notes
    notes += [note for table in estimates.values() for note in table.notes_text()]
    if len(scored.missing):
        tables["missing cells"] = _missing_cells(scored, results)
    robustness = _robustness(scored, missing)
    if robustness is not None:
        tables["treatments of missing cells"] = robustness.to_frame()
        notes += robustness.notes_text()
        if "best for the first" not in robustness.frame:
            notes.append(_NO_BOUNDS)
    return Section(
        f"{results.metric.name} of {_count(len(results.strategies), 'strategy')} "
        f"on {_count(len(results.datasets), 'dataset')}",
        _sentences(comparison, robustness, problem, results.gaps),
        tables,
        tuple(dict.fromkeys(notes)),
        scored,
        results,
        comparison,
        estimates,
        robustness,
    )


def _missing_cells(scored: Results, results: Results) -> pd.DataFrame:
    """Return the missing cells, with the imputed score of each if scores were imputed.

    If missing cells count as last, no score is imputed: the table then shows which cells count as
    last and which are left out.
    """
    table = scored.missing
    if results.imputed is None:
        return table
    if results.ranks_only:
        kept = table["dataset"].isin(results.datasets)
        kept &= table["strategy"].isin(results.strategies)
        return table.assign(**{"counts as": np.where(kept, "last", "left out")})
    return table.assign(imputed=results.cells[results.imputed])


def _count(n: int, word: str) -> str:
    plural = word.removesuffix("y") + "ies" if word.endswith("y") else word + "s"
    return f"{n} {word if n == 1 else plural}"


def _treat(scored: Results, missing: str) -> tuple[Results, tuple[str, ...]]:
    """Return treated results, or the scored results and the reason why none can be compared."""
    try:
        return treat_missing(scored, missing), ()
    except AnalysisError as error:
        if not missing.startswith("drop ") and missing != "failures last":
            raise
        return scored, (str(error),)


def _compared(results: Results) -> Comparison | None:
    enough = len(results.strategies) > 1 and len(results.datasets) > 1
    return compare(results) if enough else None


def _sentences(
    comparison: Comparison | None,
    robustness: Robustness | None,
    problem: tuple[str, ...],
    gaps: tuple[str, ...],
) -> tuple[str, ...]:
    said: tuple[str, ...]
    if comparison is not None:
        said = comparison.sentences()
    elif problem:
        said = (f"Nothing can be compared yet: {problem[0]}.",)
    else:
        left = f" ({'; '.join(gaps)})" if gaps else ""
        said = (f"Tests need at least two strategies on two datasets{left}.",)
    return said if robustness is None else (*said, robustness.sentence())


def _own_losses(results: Results) -> pd.DataFrame:
    """Return the losses, without the placeholders of cells that count as last."""
    if results.imputed is None or not results.ranks_only:
        return results.losses
    return results.losses.mask(results.imputed.any(axis=(2, 3)))


def _summary(scored: Results, results: Results, comparison: Comparison | None) -> pd.DataFrame:
    """Return the paper's Table 8: rank, mean score, standard error and training time, best first.

    A strategy has a mean score if it has every cell and if scores of different datasets have
    comparable scales. If no strategy has a mean score, the standard error and the interval belong
    to the average rank. Without a comparison the table has the number of datasets of each mean.
    """
    mean = f"mean {results.metric.name}"
    ends = {"standard_error": "std error (c)", "low": "low (c)", "high": "high (c)"}
    if comparison is None:
        scores = results.scores
        table = pd.DataFrame({"datasets": scores.notna().sum()})
        order, ascending = ["datasets"], [False]
        if not results.incomparable:
            table[mean] = scores.mean()
            # A mean over fewer datasets, where others were too hard, must not lead the table.
            order, ascending = [*order, mean], [False, not results.metric.greater_is_better]
    else:
        ranks = comparison.ranks.frame
        table = ranks[["average_rank"]].rename(columns={"average_rank": "average rank"})
        order, ascending = ["average rank"], [True]
        of = comparison.estimates["(c)"].frame if comparison.mean_strategies else ranks
        if comparison.mean_strategies:
            table[mean] = of["value"].reindex(table.index)
        else:
            ends = {name: f"rank {label}" for name, label in ends.items()}
        table[list(ends.values())] = of[list(ends)].reindex(table.index)
        if results.ranks_only:
            table[f"datasets without {results.metric.name}"] = _failed_on(results)
    table["training seconds"] = _training_seconds(scored, results)
    return table.rename_axis("strategy").sort_values(order, ascending=ascending, kind="stable")


def _failed_on(results: Results) -> pd.Series:
    """Count the datasets on which a cell of each strategy counts as last."""
    assert results.imputed is not None
    return pd.Series(results.imputed.any(axis=(2, 3)).sum(axis=0), index=list(results.strategies))


def _training_seconds(scored: Results, results: Results) -> pd.Series:
    """Return the seconds that a done cell took to tune and fit, averaged over datasets."""
    times = scored.select(datasets=results.datasets, strategies=results.strategies)
    seconds = seconds_of_done(times)[..., :2].sum(axis=-1)
    return pd.DataFrame(seconds, columns=list(results.strategies)).mean()


def seconds_of_done(results: Results) -> np.ndarray:
    """Return the mean seconds of done cells for tuning, fitting and predicting: shape (N, K, 3)."""
    done = ~np.isnan(results.cells)[..., None]
    if results.seconds is None:
        return np.full((*results.cells.shape[:2], 3), np.nan)
    total = np.where(done, results.seconds, 0.0).sum(axis=(2, 3))
    number = done.sum(axis=(2, 3))
    return total / np.where(number > 0, number, np.nan)


def _estimates(results: Results, comparison: Comparison | None) -> dict[str, ResultTable]:
    """Estimate the means in every scenario that the results allow."""
    found = dict(comparison.estimates) if comparison is not None else {}
    if "(a)" not in found and results.variances is not None:
        with suppress(AnalysisError):  # imputed cells have no variance
            found["(a)"] = mean_estimates(results, scenario="(a)", as_scores=True)
    with suppress(AnalysisError):  # scenario (b) needs more than one test set
        found["(b)"] = _as_scores(retrained_mean_estimates(results), results)
    return dict(sorted(found.items()))


def _as_scores(table: ResultTable, results: Results) -> ResultTable:
    """Convert estimates of losses to the direction of the metric."""
    metric, frame = results.metric, table.frame
    if not metric.greater_is_better:
        return table
    low, high = metric.loss(frame["high"]), metric.loss(frame["low"])
    turned = frame.assign(value=metric.loss(frame["value"]), low=low, high=high)
    return replace(table, frame=turned, metric=metric.name)


def _robustness(scored: Results, missing: str) -> Robustness | None:
    """Repeat the tests of pairs under several treatments of missing cells.

    The first treatment is the one of the report. Datasets without any done cell are left out.
    """
    seen = ~np.isnan(scored.cells).all(axis=(1, 2, 3))
    begun = scored.select(
        datasets=[name for name, any_done in zip(scored.datasets, seen, strict=True) if any_done]
    )
    if not len(begun.missing) or len(begun.strategies) < 2 or len(begun.datasets) < 2:
        return None

    # If the scales of datasets are not comparable, only the signs of differences are.
    test = trinomial_test if scored.metric.incomparable else wilcoxon_test

    def corrected(results: Results) -> object:
        return adjust_pairs(test(results), "holm")

    treatments = list(dict.fromkeys([missing, *_TREATMENTS]))
    found = under_treatments(begun, corrected, treatments=treatments, bounds=_affordable(begun))
    return None if found.frame.empty else found


def _affordable(results: Results) -> bool:
    """Return whether there is time for the best and worst case of each strategy's missing cells.

    The bounds repeat all tests once for each strategy with missing cells, and once more.
    """
    runs, n = results.missing["strategy"].nunique() + 1, len(results.strategies)
    return runs * n * (n - 1) // 2 <= _MOST_TESTS

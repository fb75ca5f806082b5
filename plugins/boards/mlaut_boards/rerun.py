"""Comparison of a new run with an old one of the same strategies on the same datasets."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from mlaut.analysis import Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.files_io import StudyStore
from mlaut.helpers.markup import counted
from mlaut.plugins import (
    FEWEST,
    RELATIVE_NOISE,
    SMALLEST_P,
    NotNegative,
    Share,
    adjust,
    number,
    of_results,
    shown,
    takes_sources,
)
from mlaut_boards.skill import mean_by_source

_Runs = tuple[Results, Results]
_COLUMNS = ["difference", "low", "high", "p same", "p differs", "power"]
_COLUMNS += ["changed", "datasets", "largest", "on"]
SAME, DIFFERS, UNSURE = "same", "differs", "cannot tell"
_OF_ONE_RUN = ("id", "started", "input", "versions")  # differ in any two runs, or are made of parts
_ROPE = 0.01  # one point of a score that is at most 1 (Benavoli et al. 2017), or 1 % of a score


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Rerun(ResultTable):
    """Table of `same_results`, with one answer for all strategies.

    Attributes
    ----------
    rope : float
        The region: differences of at most this size count as the same.
    """

    rope: float

    @property
    def answer(self) -> str:
        """Return ``differs`` if any strategy does, ``same`` if all are, else ``cannot tell``."""
        answers = set(self.frame["answer"])
        return DIFFERS if DIFFERS in answers else UNSURE if UNSURE in answers else SAME

    def sentence(self) -> str:  # noqa: D102 - inherited
        same, differ, unsure = ((self.frame["answer"] == x).sum() for x in (SAME, DIFFERS, UNSURE))
        where = " on these datasets" * (self.answer == SAME and not self.frame["changed"].all())
        strategies = counted(len(self.frame), "strategy", "strategies")
        return (
            f"{self.answer.capitalize()}{where}. Of {strategies}, "
            f"the same within {number(self.rope)} of {self.metric}: {same}; different by more: "
            f"{differ}; undecided: {unsure}."
        )


@of_results
@takes_sources
def same_results(
    results: Results, new: Results, *, rope: NotNegative | None = None, alpha: Share = 0.05
) -> Rerun:
    """Compute which strategies have the same scores in a new run as in an old one.

    Scenario (c): new datasets, or new sources if sources are known.

    Parameters
    ----------
    results, new : Results
        The old and the new run, by the same metric. Their common strategies and datasets count.
    rope : float, optional
        Half width of the region in which mean differences count as the same. It is in units of the
        metric; if the unit of the metric differs between datasets, it is a share of the old score.
        Default .01 for a share and for metrics whose largest value is 1; required for others.
    alpha : float, default 0.05
        Bound of the probability that any strategy is falsely the same, and of the probability that
        any falsely differs.

    Returns
    -------
    Rerun
        A row for each strategy. ``answer`` is ``same`` if its mean difference is shown to be within
        the region and no dataset has a score in one run only, ``differs`` if the difference is
        shown to be outside, else ``cannot tell``. ``difference`` is the mean of new minus old
        scores, or of the logarithms of their ratios, with its interval ``low``, ``high``
        (confidence 1 - 2 alpha for a single strategy). ``p same`` and ``p differs`` are adjusted
        p-values; they and ``power`` are NaN where no score has changed, since a spread of zero
        shows nothing about new datasets. ``run to run`` is the standard deviation of the score of
        one run; a note states its origin. ``power`` is the probability of ``same`` for a strategy
        that has not changed.
        ``changed`` is the number of ``datasets`` with another score; ``largest`` is the largest
        change, ``on`` its dataset.

    Raises
    ------
    AnalysisError
        The runs have different metrics, or no strategy or dataset in common; a region is required;
        or ratios are needed and a score is not above 0.

    Notes
    -----
    There are two null hypotheses: the mean difference of new sources is outside the region, and it
    is within the region. The first is tested by two one-sided tests of Student's t on the means of
    sources (Schuirmann 1987), the second by the same t against the nearer end, two-sided. Holm's
    procedure corrects each family, so no assumption is made on the dependence of strategies. Both
    tests assume normal means of sources. A change that is rare and large is seen only if its
    datasets are in the sample: where changes were skewed or rare, 9 to 16 % instead of 5 % were
    falsely the same (``benchmarks/rerun_levels.py``). With fewer than 6 sources nothing is claimed.
    Equal scores on all datasets are called the same.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old = pd.DataFrame(rng.uniform(0.6, 0.9, (12, 2)), columns=["tree", "forest"])
    >>> noise = rng.normal([0.0, -0.05], 0.005, (12, 2))
    >>> run = [Results.from_table(x, metric="accuracy") for x in (old, old + noise)]
    >>> same_results(*run).frame["answer"].to_dict()
    {'tree': 'same', 'forest': 'differs'}
    """
    old, later = both = _common(results, new)
    unit = old.incomparable
    if rope is None and not unit and old.metric.bounds[1] != 1:
        raise AnalysisError(f"{old.metric.name} has no usual region: give rope (--rope)")
    if unit and any((run.cells <= 0).any() for run in both):
        raise AnalysisError(f"{unit}; and a score is not above 0: choose another metric")
    rope, of = _ROPE if rope is None else rope, np.log if unit else np.asarray
    before, after = (run.scores.to_numpy() for run in both)
    noise = RELATIVE_NOISE * np.maximum(old.noise_scale, later.noise_scale)
    differences = np.where(np.abs(after - before) <= noise, 0.0, of(after) - of(before))
    rows = [_of_strategy(old, column, rope, alpha) for column in differences.T]
    index = pd.Index(old.strategies, name="strategy")
    frame = pd.DataFrame(rows, index=index, columns=_COLUMNS)
    for name in ("p same", "p differs"):
        frame[name] = adjust(frame[name].to_numpy(), "holm")
    frame.loc[frame["changed"] == 0, ["p same", "p differs", "power"]] = np.nan
    gaps = (np.isnan(before) != np.isnan(after)).sum(axis=0)
    same = ((frame["p same"] <= alpha) | (frame["changed"] == 0)) & (gaps == 0)
    answers = np.select([same, frame["p differs"] <= alpha], [SAME, DIFFERS], UNSURE)
    frame.insert(0, "answer", answers)
    frame["run to run"], how = _run_to_run(both, of, differences)
    lacking = [f"{name} ({n})" for name, n in zip(index, gaps, strict=True) if n]
    notes = [f"datasets with a score in one run only: {', '.join(lacking)}"] if lacking else []
    return Rerun(
        name="New minus old run" + (", logarithms of ratios" if unit else ""),
        frame=frame,
        source="Schuirmann 1987; Holm 1979",
        metric=old.metric.name,
        notes=(*notes, *_notes((results, new), both, frame, alpha), f"run to run: {how}"),
        rope=rope,
    )


def _common(old: Results, new: Results) -> _Runs:
    """Return both runs on their common datasets and strategies; the old run has the sources."""
    if old.metric.name != new.metric.name:
        raise AnalysisError(f"runs by {old.metric.name} and {new.metric.name}: choose one metric")
    if old.metric.bounds != new.metric.bounds:
        raise AnalysisError(f"{old.metric.name} has other units in one of the runs: change them")
    datasets = [name for name in old.datasets if name in new.datasets]
    scored = (old.scores * new.scores).notna().any()
    names = [name for name in old.strategies if scored[name]]
    if not names:
        raise AnalysisError(
            f"no strategy has a score on the same dataset in both runs: the old one has "
            f"{shown(old.strategies)} on {shown(old.datasets)}; rename those that are the same"
        )
    old, new = (run.select(datasets=datasets, strategies=names) for run in (old, new))
    return replace(old, clusters=old.clusters or new.clusters), new


def _of_strategy(results: Results, differences: np.ndarray, rope: float, alpha: float) -> list[Any]:
    """Return the row of a strategy, with p-values that are not adjusted yet."""
    known = np.flatnonzero(~np.isnan(differences))
    some = [results.datasets[i] for i in known]
    used = results if len(some) == len(differences) else results.select(datasets=some)
    degrees, largest = used.n_sources - 1, int(np.nanargmax(np.abs(differences)))
    with np.errstate(divide="ignore", invalid="ignore"):  # one source, or equal differences
        mean, error = mean_by_source(used, differences[known, None], "source")[:, 0]
        inside, half = (rope - abs(mean)) / error, stdtrit(degrees, 1 - alpha) * error
        needed = stdtrit(degrees, 1 - alpha / len(results.strategies))
        power = max(0.0, 2 * stdtr(degrees, rope / error - needed) - 1)
    p = np.array([stdtr(degrees, -inside), 2 * stdtr(degrees, inside)])
    p = np.where(used.n_sources < FEWEST, 1.0, np.clip(np.nan_to_num(p, nan=1.0), SMALLEST_P, 1))
    row = [mean, mean - half, mean + half, *p, power, np.count_nonzero(differences[known])]
    return [*row, len(known), differences[largest], results.datasets[largest]]


def _run_to_run(both: _Runs, of: Any, differences: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the standard deviation of one run's score by strategy, and a text on its origin."""
    old, new = both
    if np.array_equal(old.expected, new.expected) and (old.expected.sum(axis=(1, 2)) > 1).any():
        cells, how = of(new.cells) - of(old.cells), "of a cell, by repeats and folds"
    else:
        cells, how = differences.T[None], "by datasets, without common repeats; all changes count"
    variances = [pd.DataFrame(each.reshape(len(each), -1)).var(axis=1) for each in cells]
    return np.sqrt(pd.DataFrame(variances).mean() / 2).to_numpy(), how


def _notes(given: _Runs, both: _Runs, frame: pd.DataFrame, alpha: float) -> list[str]:
    """Return notes on what was left out, on changed data, and on how to read the numbers."""
    notes, (kept, later) = [], both
    for run, results in zip(("old", "new"), given, strict=True):
        lone = {*results.strategies, *results.datasets} - {*kept.strategies, *kept.datasets}
        notes += [f"not compared, of the {run} run: {', '.join(sorted(lone))}"] if lone else []
    marks = zip(kept.datasets, kept.fingerprints or (), later.fingerprints or (), strict=False)
    if other := [name for name, before, after in marks if before != after]:
        notes.append(f"the data differ: {', '.join(other)}")
    if kept.n_sources < FEWEST:
        notes.append(f"{kept.n_sources} sources: claims about new ones need at least {FEWEST}")
    if same := [str(name) for name in frame.index[frame["changed"] == 0]]:
        share, which = 1 - alpha ** (1 / kept.n_sources), f" of {', '.join(same)}"
        score = f"no score{which if len(same) < len(frame) else ''} has changed"
        notes.append(f"{score}; those of up to {share:.0%} of new sources still may")
    return [*notes, f"low to high: confidence {1 - 2 * alpha:g}, each strategy alone"]


def environment_differences(old: StudyStore, new: StudyStore) -> list[dict[Any, str]]:
    """Return what differs between the runs of two studies: versions, machine, options, strategies.

    Each row has ``what``, and its values in the ``old`` and the ``new`` study; several values where
    the runs of a study differ, and none where it stores none.
    """
    both = pd.DataFrame({"old": _environment(old), "new": _environment(new)}).fillna("")
    return both[both["old"] != both["new"]].rename_axis("what").reset_index().to_dict("records")


def _environment(study: StudyStore) -> dict[str, str]:
    """Return the values that the runs of a study record, and identities of its strategies."""
    values = {f"strategy {entry.name}": [entry.fingerprint[:12]] for entry in study.strategies}
    for run in study.runs:
        for name, value in (run | run.get("versions", {})).items():
            values.setdefault(name, []).append(str(value))
    names = (name for name in values if name not in _OF_ONE_RUN)
    return {name: ", ".join(dict.fromkeys(values[name])) for name in names}

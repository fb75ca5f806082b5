"""New records on a board that grows."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np
import pandas as pd

from mlaut.analysis import Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    check_sources,
    flips,
    log_mean,
    names,
    of_results,
    optional,
    paired_losses,
    position,
    signed_ranks,
    source_sums,
    takes_sources,
    where,
)

_SLOPES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # of the e-value: best for a z-score of that size
_DATE = re.compile(r"\d{4}-?[01]\d-?[0-3]\d")  # 2026-07-31, or 20260731 as in names of SWE-bench
_SPLITS = 1024  # of the sources, which choose a leader and measure it


@of_results
@takes_sources
@where(order=optional(names, Mapping, type(None)))
def new_records(
    results: Results,
    order: Sequence[str] | Mapping[str, str] | None = None,
    *,
    since: str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> ResultTable:
    """Compute which submissions were new records when they came, with one level for all claims.

    Scenario (c): new datasets, or new sources if sources are known.

    Parameters
    ----------
    results : Results or DataFrame
    order : sequence of str, or mapping of str to str, optional
        Strategies, the oldest first; or the date of each strategy, such as 2026-07-31. By default
        the dates with which all names begin, as on SWE-bench, or else the order of the results.
    since : str, optional
        Name of the first submission that may be a record, or the first date of such submissions.
        Those before it are the board at its start. Default the second submission.
    alpha : float, default 0.05
        Level of all claims together, at any time, however long the board grows.
    seed : int, default 0
        Seed of the splits that measure the leader's advantage.

    Returns
    -------
    ResultTable
        A row for each submission since then. ``rival`` is the earlier submission with the smallest
        evidence; ``evidence`` is the e-value against "not better than this rival", and ``needed``
        the evidence that a claim needs. ``claim`` is ``record`` if this is reached, ``provisional``
        if the submission is only ahead of every earlier one, else empty. A note has the leader's
        advantage in average rank, as observed and without the winner's curse. The latter is a mean
        over splits of the sources: one half chooses the leader and the runner-up, and the other
        half measures them.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        There are fewer than two datasets, sources or strategies; a name is not known; or a date is
        missing, is not a date, or is later than all submissions.

    Notes
    -----
    Null hypothesis of a pair: the signs of all differences of a source may be flipped together. The
    e-value of sums x of the signed ranks of each source, with length 1, is the mean over slopes c
    of prod exp(c x) / cosh(c x), whose expectation over flips is 1. A record is better than all
    earlier submissions, so the smallest e-value counts. The j-th submission needs pi^2 j^2 / (6
    alpha): the levels add up to alpha (Markov's inequality), whatever the dependence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(40, 3))
    >>> table = pd.DataFrame(noise - [0.0, 0.1, 3.0], columns=["first", "same", "better"])
    >>> new_records(table, greater_is_better=False, metric="cost").frame["claim"].to_dict()
    {'same': '', 'better': 'record'}
    """
    order, since = _ordered(results.strategies, order, since)
    results = results.select(strategies=order)
    losses = results.complete(datasets=2, strategies=2).to_numpy()
    check_sources(results)
    start, rows = max(1, position("strategy", since, results.strategies) if since else 1), []
    for j in range(start, losses.shape[1]):
        gain = losses[:, :j] - losses[:, [j]]
        scores = np.sign(gain) if results.incomparable else signed_ranks(gain)
        sums = source_sums(scores, results.source)
        logs = log_evidence(sums)
        needed = np.log((j - start + 1) ** 2 * np.pi**2 / (6 * alpha))
        ahead = "provisional" if (sums.sum(axis=1) > 0).all() else ""
        rival, least = results.strategies[int(logs.argmin())], logs.min()
        rows.append((rival, np.exp(least), np.exp(needed), "record" if least >= needed else ahead))
    index = pd.Index(results.strategies[start:], name="strategy")
    frame = pd.DataFrame(rows, index=index, columns=["rival", "evidence", "needed", "claim"])
    records, ahead = (", ".join(index[frame["claim"] == x]) for x in ("record", "provisional"))
    claims = (
        f"Of {len(index)} submissions from {index[0]} on, new records when they came: "
        f"{records or 'none'}; ahead, provisional without more evidence: {ahead or 'none'}"
    )
    ranks = results.by_source(paired_losses(results).ranks)
    first, second = np.argsort(ranks.mean(axis=0), kind="stable")[:2]
    seen, fair = (ranks[:, second] - ranks[:, first]).mean(), advantage(ranks, seed)
    note = (
        f"{results.strategies[first]} is ahead of {results.strategies[second]} by {seen:.3g} in "
        f"average rank as seen, and a leader of half of the sources by {fair:.3g} on the other half"
    )
    return ResultTable(
        name=f"New records, error over all claims at most {alpha:g}",
        frame=frame,
        source="Vovk and Wang 2021",
        metric=results.metric.loss_name,
        notes=(*results.notes_text(), claims, note),
    )


def _ordered(
    strategies: tuple[str, ...], order: Sequence[str] | Mapping[str, str] | None, since: str | None
) -> tuple[Sequence[str], str | None]:
    """Return the strategies in their order, and the first one that may be a record."""
    of_names = {name: match.group() for name in strategies if (match := _DATE.match(name))}
    dates = of_names if order is None and len(of_names) == len(strategies) else order
    ordered = [*(dates or strategies)]
    if isinstance(dates, Mapping):
        try:
            days = {name: str(date.fromisoformat(str(dates[name]))) for name in strategies}
        except (KeyError, ValueError) as error:
            raise AnalysisError(f"each submission needs a date, as 2026-07-31: {error}") from error
        ordered = sorted(strategies, key=days.__getitem__)
        if since and since not in strategies:
            since = next((name for name in ordered if days[name] >= since), since)
    if since and since not in strategies:
        raise AnalysisError(
            f"since {since!r} is no submission, nor a date (2026-07-31) up to that of the last; "
            "dates that no name begins with are given with order (--submitted FILE.csv)"
        )
    return ordered, since


def log_evidence(sums: np.ndarray) -> np.ndarray:
    """Return the logarithms of e-values for sums (P, G) that are symmetric in each source."""
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    x = _SLOPES[:, None, None] * (sums / np.where(length > 0, length, 1.0))
    return log_mean((x - np.logaddexp(x, -x) + np.log(2)).sum(axis=2))


def advantage(rows: np.ndarray, seed: int = 0) -> float:
    """Return the leader's lead over the runner-up, on rows (G, K) that did not choose them."""
    half = flips(len(rows), seed, _SPLITS)
    chooses = np.vstack([half, -half]) > 0  # each row chooses as often as it measures
    chooses = chooses[(chooses.sum(axis=1) > 0) & ~chooses.all(axis=1)]
    top = np.argsort(chooses @ rows / chooses.sum(axis=1, keepdims=True), axis=1)[:, :2]
    others = ~chooses @ rows / (~chooses).sum(axis=1, keepdims=True)
    measured = np.take_along_axis(others, top, axis=1)
    return float((measured[:, 1] - measured[:, 0]).mean())

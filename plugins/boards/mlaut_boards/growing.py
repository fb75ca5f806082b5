"""New records on a board that grows."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from mlaut.analysis import Results, ResultTable
from mlaut.errors import AnalysisError
from mlaut.plugins import (
    Seed,
    Share,
    check_sources,
    flips,
    of_results,
    paired_losses,
    position,
    signed_ranks,
    source_sums,
    takes_sources,
)

_SLOPES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # of the e-value: best for a z-score of that size
_DATE = re.compile(r"\d{4}-?[01]\d-?[0-3]\d")  # 2026-07-31, or 20260731 as in names of SWE-bench
_POWER, _ALL = 1.4, 3.1055472779775815  # of the levels, and zeta(1.4): their sum
_EXACT = 32  # sources: of more, the halves of all flips are too many
_SPLITS = 1024  # of the sources, which choose a leader and measure it


@of_results
@takes_sources
def new_records(
    results: Results,
    order: Sequence[str] | Mapping[str, str] | None = None,
    *,
    since: str | None = None,
    alpha: Share = 0.05,
    seed: Seed = 0,
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
        evidence; ``evidence`` is 1 / p for "not better than this rival", and ``needed`` what a
        claim needs. ``claim`` is ``record`` if this is reached, ``provisional`` if the submission
        is only ahead of every earlier one, else empty. Notes say how many more submissions the
        sources can show to be records, and the leader's
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
    Null hypothesis of a pair: the signs of all differences of a source may be flipped together. p
    is the share of all flips with a sum of signed ranks that is as large, one-sided. Above 32
    sources 1 / p is an e-value, which is a lower bound: of sums x of the signed ranks of each
    source, with length 1, the mean over slopes c of prod exp(c x) / cosh(c x), whose expectation
    over flips is 1. A record is better than all earlier submissions, so the smallest evidence
    counts. The j-th submission has the level alpha / (3.11 j^1.4): the levels add up to alpha,
    whatever the dependence. G sources can show the j-th while 2^G is at least what it needs.

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
        at, evidence = least_evidence(sums)
        needed = claim_needs(j - start + 1, alpha)
        ahead = "provisional" if (sums.sum(axis=1) > 0).all() else ""
        claim = "record" if evidence >= needed else ahead
        rows.append((results.strategies[at], evidence, needed, claim))
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
        notes=(*results.notes_text(), claims, _lasting(results, len(index), alpha), note),
    )


def _lasting(results: Results, n: int, alpha: float) -> str:
    """Return a note on the last submission that the sources can show to be a record."""
    units = "datasets" if results.clusters is None else "sources"
    last = int((alpha * 2.0**results.n_sources / _ALL) ** (1 / _POWER) + 1e-9)
    what = f"{results.n_sources} {units} can show a record up to submission {last} since the start"
    return f"{what} (this is {n}); later ones need more {units}"


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


def claim_needs(claim: int, alpha: float) -> float:
    """Return the evidence that a claim needs, so that all claims together err with ``alpha``.

    Examples
    --------
    >>> [round(claim_needs(j, 0.05)) for j in (1, 10)]
    [62, 1560]
    """
    return float(_ALL * claim**_POWER / alpha)


def least_evidence(sums: np.ndarray) -> tuple[int, float]:
    """Return the rival with the smallest evidence, and this evidence, for sums (P, G)."""
    if sums.shape[1] > _EXACT:
        logs = log_evidence(sums)
        return int(logs.argmin()), float(np.exp(logs.min()))
    length = np.linalg.norm(sums, axis=1)
    scores = np.divide(sums.sum(axis=1), length, out=np.zeros(len(sums)), where=length > 0)
    order = np.argsort(scores, kind="stable").tolist()
    at, largest = order[0], one_sided(sums[order[0]])
    for rival in order[1:] if scores.min() > 0 else ():
        if np.exp(-(scores[rival] ** 2) / 2) < largest:  # Hoeffding's bound, also of the next ones
            break
        if (p := one_sided(sums[rival])) > largest:
            at, largest = rival, p
    return at, 1 / largest


@lru_cache(maxsize=2)
def _signs(n: int) -> np.ndarray:
    """Return all flips of n signs, shape (2 ** n, n)."""
    return 1.0 - 2 * (np.arange(1 << n)[:, None] >> np.arange(n) & 1)


def one_sided(sums: np.ndarray) -> float:
    """Return the share of all flips of numbers (G,) with a sum that is at least the observed one.

    Examples
    --------
    >>> one_sided(np.array([1.0, 2.0, 4.0])), one_sided(np.array([-1.0, 2.0, 4.0]))
    (0.125, 0.25)
    """
    halves = [_signs(len(half)) @ half for half in np.array_split(sums, 2)]
    bar = sums.sum() - 1e-9 * np.abs(sums).sum()
    below = np.searchsorted(np.sort(halves[0]), bar - halves[1])
    return float(1 - below.sum() / 2.0 ** len(sums))


def log_evidence(sums: np.ndarray) -> np.ndarray:
    """Return the logarithms of e-values for sums (P, G) that are symmetric in each source."""
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    x = _SLOPES[:, None, None] * (sums / np.where(length > 0, length, 1.0))
    logs = (x - np.logaddexp(x, -x) + np.log(2)).sum(axis=2)
    return np.asarray(logsumexp(logs, axis=0) - np.log(len(logs)))


def advantage(rows: np.ndarray, seed: int = 0) -> float:
    """Return the leader's lead over the runner-up, on rows (G, K) that did not choose them."""
    half = flips(len(rows), seed, _SPLITS)
    chooses = np.vstack([half, -half]) > 0  # each row chooses as often as it measures
    chooses = chooses[(chooses.sum(axis=1) > 0) & ~chooses.all(axis=1)]
    top = np.argsort(chooses @ rows / chooses.sum(axis=1, keepdims=True), axis=1)[:, :2]
    others = ~chooses @ rows / (~chooses).sum(axis=1, keepdims=True)
    measured = np.take_along_axis(others, top, axis=1)
    return float((measured[:, 1] - measured[:, 0]).mean())

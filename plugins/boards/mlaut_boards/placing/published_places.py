"""Strategies of one's own beside the results that a paper published."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import (
    PUBLISHED,
    Results,
    ResultTable,
    average_ranks,
    elo_ratings,
    probability_of_best,
    published,
    treat_missing,
)
from mlaut.analysis.pairwise import adjust
from mlaut.errors import AnalysisError
from mlaut.plugins import Pairs, SignedRanks, paired_losses, position, signed_rank_p
from mlaut_boards.placing.few_datasets import DECIDED, Placing, compared, place_few

_EXPLAINED = 2.0  # standard errors of a mean difference over datasets that chance explains
_WITHIN = 0.975  # quantile of Student's t with which folds explain a difference on a dataset
_RARE = 0.05  # probability below which so many datasets beyond their folds are not chance


def beside_published(
    results: Results, against: str, strategies: Iterable[str] | None = None
) -> Results:
    """Return published results with further strategies, on the datasets that both have.

    Parameters
    ----------
    results : Results
        Results of strategies of one's own, in the benchmark's metric.
    against : str
        Name of a published benchmark; a key of `mlaut.analysis.PUBLISHED`.
    strategies : iterable of str, optional
        Names of the strategies to add; default all.

    Returns
    -------
    Results
        One loss for each strategy and dataset, a mean over folds. A strategy that has the name of
        a published one gets the ending " (here)". Notes name what differs between the protocols,
        and the datasets that are left out.

    Raises
    ------
    AnalysisError
        The metrics or their units differ, or fewer than two datasets have the same name.
    """
    theirs = published(against)
    compared(results, theirs)
    common = [name for name in theirs.datasets if name in results.datasets]
    if len(common) < 2:
        raise AnalysisError(
            f"{len(common)} datasets have the same name in {against} and in these results; two are "
            f"needed ({', '.join(results.datasets[:3])}; there: {', '.join(theirs.datasets[:3])})"
        )
    mine = results.select(datasets=common, strategies=strategies).scores
    known = theirs.select(datasets=common).scores
    table = known.merge(mine, left_index=True, right_index=True, suffixes=("", " (here)"))
    joined, benchmark = Results.from_table(table, metric=theirs.metric), PUBLISHED[against]
    folds = results.cells[0, 0].size
    notes = (
        f"{len(common)} of the {len(theirs.datasets)} datasets of {against} are compared",
        f"splits there: {benchmark.splits}; here: "
        f"{'one result' if folds == 1 else f'{folds} folds'} a dataset",
        f"tuning there: {benchmark.tuning}",
        "other versions of libraries, and other preprocessing, are not corrected for",
    )
    return replace(joined, notes=notes)


def place(
    results: Results,
    against: str | Results,
    *,
    budget: float | None = None,
    strategies: Iterable[str] | None = None,
    missing: str = "row mean",
    alpha: float | None = None,
    seed: int = 0,
    **few: Any,
) -> Placing:
    """Compute where strategies of one's own stand among published ones.

    Scenario (c). The published strategies are not run again: the datasets and, if the benchmark has
    them, the folds must be those of the benchmark.

    With a budget few datasets are enough. The average rank over all N published datasets is
    predicted from those that were run (BLUP under a shrunk covariance of the published ranks). The
    coverage of the intervals was measured. They are about these N datasets only.

    Parameters
    ----------
    results : Results
        Results of strategies of one's own, in the benchmark's metric.
    against : str or Results
        Name of a published benchmark, a key of `mlaut.analysis.PUBLISHED`; with a budget also the
        results of any board.
    budget : float, optional
        Number of datasets, from 5 on; or with ``costs`` their sum, in the same unit. Default: all
        datasets, by tests.
    strategies : iterable of str, optional
        Names of the strategies to place; default all.
    missing : str, default "row mean"
        Treatment of cells that were not published (`mlaut.analysis.treat_missing`). The default
        reproduces the ranks that Fernandez-Delgado et al. (2014) printed. With a budget, a failed
        cell is beaten by all, and a cell without a reason, such as NaN in a table, was not run.
    alpha : float, optional
        Without a budget: the familywise level of the tests against the published strategies,
        default 0.05. With a budget: intervals have confidence 1 - alpha, default 0.1.
    seed : int, default 0
        With a budget: a number that the board's maker draws after the entry is closed.
    **few
        Options with a budget. ``arm``: "designed" (default), the most informative datasets, for a
        question of one's own; it needs 30 learners of 8 families or more. Or "random", for a public
        claim or a small board. ``entry``: text that seeds the draw; default the names of the
        strategies. ``rival``: a published strategy. The analysis looks after 5, 10, 15, ...
        datasets, with an equal part of alpha each, and ends when the rival is separated.
        ``audit=True``: 5 further random datasets, which show whether a learner was tuned to the
        list. ``costs``: cost of each dataset. ``families``: family of each published strategy;
        default those of the benchmark, else clusters with a mean correlation of ranks above 0.55.

    Returns
    -------
    Placing
        One row for each strategy of one's own: ``rank`` by the average rank, ``of`` (the number of
        strategies), ``average rank``, ``P(best)``, ``P(top 10)`` (1 if there are at most ten),
        ``Elo`` with the ends ``Elo low`` and ``Elo high`` of its interval, and ``better than``,
        ``worse than`` and ``undecided``: numbers of published strategies by Wilcoxon's signed rank
        test with Holm's correction. Notes name what is not comparable. ``pairs`` has one row
        for each strategy of one's own and each published one: ``better`` and ``worse``, the numbers
        of datasets on which one's own has the smaller and the larger loss; ``mean difference`` of
        the scores, one's own minus published; ``p``, adjusted; and ``verdict``.

        With a budget there are ``datasets``; ``average rank`` and ``score`` with their intervals;
        ``better than`` and ``worse than``, simultaneously for all; and ``strange p`` and ``audit
        p``. These are shares of published learners, predicted without their families, that are as
        unlike the others, or as much worse on the audit than the list predicts. The score of a
        dataset is the distance of the loss below the published median, in median absolute
        deviations, clipped at -3 and 3. ``pairs`` has the ``difference`` of the average ranks
        (below 0, one's own is better) and of the ``score`` (above 0), with intervals, and ``more``:
        the number of further datasets that would separate the two if the estimates did not change.
        ``more`` of the result has the datasets to run next.

    Raises
    ------
    AnalysisError
        The metrics differ, fewer than two datasets have the same name, or a list or a budget is
        not possible.

    Examples
    --------
    >>> garcia = published("garcia2008")
    >>> mine = Results.from_table(garcia.scores[["C4.5"]].add_suffix(" of mine") + 0.01,
    ...                           metric="accuracy")
    >>> placed = place(mine, "garcia2008")
    >>> placed.frame[["rank", "of", "better than", "worse than"]]
                  rank  of  better than  worse than
    strategy
    C4.5 of mine     1   6            4           0
    >>> placed.pairs["verdict"].loc["C4.5 of mine", "NaiveBayes"]
    'undecided'
    >>> wainer = published("wainer2023")
    >>> mine = Results.from_table(wainer.scores[["svm"]].add_suffix(" of mine"), metric="accuracy")
    >>> few = place(mine, "wainer2023", budget=15, arm="random")
    >>> few.frame.filter(like="average rank").round(1)
                 average rank  average rank low  average rank high
    strategy
    svm of mine           7.1               6.2                8.0
    """
    if budget is not None:
        few |= {"budget": budget, "seed": seed, "alpha": alpha or 0.1}
        return place_few(results.select(strategies=strategies), against, **few)
    if few or not isinstance(against, str):
        raise AnalysisError(f"{', '.join(few) or 'a board of Results'} needs a budget")
    alpha, theirs = alpha or 0.05, published(against).strategies
    complete = treat_missing(beside_published(results, against, strategies), missing)
    rivals = len(set(theirs).intersection(complete.strategies))
    if rivals == len(complete.strategies):
        raise AnalysisError(
            f"missing={missing!r} leaves no strategy to place; treat them otherwise"
        )
    pairs, n = _pairs(complete, rivals, alpha), len(complete.datasets)
    mean = average_ranks(complete).frame["average_rank"]
    columns = {"rank": mean.rank(method="min").astype(int), "of": len(mean), "average rank": mean}
    columns |= probability_of_best(complete, top=10, seed=seed).frame.filter(like="P(")
    elo = elo_ratings(complete, seed=seed).frame
    columns |= {"Elo": elo["Elo"], "Elo low": elo["low"], "Elo high": elo["high"]}
    frame = pd.DataFrame(columns).loc[[*complete.strategies[rivals:]]].rename_axis("strategy")
    for word, column in DECIDED.items():
        frame[column] = (pairs["verdict"] == word).groupby(level=0).sum()
    smallest = rivals * 2.0 ** (1 - n)
    note = f"{n} datasets are too few: no p of {rivals} can be below {min(1.0, smallest):.2g}"
    return Placing(
        name=f"Place among {rivals} of the {len(theirs)} strategies of {against}, {n} datasets",
        frame=frame.sort_values("rank", kind="stable"),
        source=PUBLISHED[against].source,
        metric=complete.metric.loss_name,
        notes=complete.notes + (note,) * (smallest > alpha),
        pairs=pairs,
    )


def _pairs(complete: Results, n: int, alpha: float) -> pd.DataFrame:
    """Return the comparison of each strategy of one's own with each of the n published ones."""
    first, second = np.mgrid[n : len(complete.strategies), :n].reshape(2, -1)
    pairs = Pairs(complete.strategies, first, second)
    d = replace(paired_losses(complete), pairs=pairs).differences
    signed, scores = SignedRanks.of(d), complete.scores.to_numpy()
    p = signed_rank_p(signed, "two-sided").reshape(-1, n)
    p = np.concatenate([adjust(row, "holm") for row in p])
    verdict = np.where(signed.plus < signed.minus, "better", "worse")
    columns = {"better": (d < 0).sum(axis=0), "worse": (d > 0).sum(axis=0)}
    columns["mean difference"] = (scores[:, first] - scores[:, second]).mean(axis=0)
    columns |= {"p": p, "verdict": np.where(p <= alpha, verdict, "undecided")}
    return pd.DataFrame(columns, index=pairs.labels.set_names(["strategy", "published"]))


def reproduction(results: Results, against: str, same: Mapping[str, str]) -> ResultTable:
    """Compare strategies that were run again with the columns that were published for them.

    Run it before `place`: if a published strategy cannot be reproduced, a new one cannot be
    compared with the published ones either.

    Parameters
    ----------
    results : Results
        Results of the strategies that were run here, with their folds.
    against : str
        Name of a published benchmark; a key of `mlaut.analysis.PUBLISHED`.
    same : mapping of str to str
        Names of strategies of ``results``, each with the name of the published one.

    Returns
    -------
    ResultTable
        One row for each pair. ``datasets`` is their number. ``mean difference`` is that of the
        scores, here minus published, with its ``standard error`` over datasets. ``largest`` is the
        largest difference, ``on`` its dataset. ``equal`` is the share of datasets with the
        published digits. ``beyond folds`` is the share of datasets whose difference is outside a
        95 % interval by the spread over folds (Student's t), counted for both runs. ``agrees`` says
        whether the mean difference is within two standard errors, and no more datasets are beyond
        folds than chance explains (5 % of each, at the level 5 %). Datasets with one fold do not
        count in ``beyond folds``, which is NaN if all have one.

    Raises
    ------
    AnalysisError
        A name is not known, the metrics differ, or fewer than two datasets have the same name.
    """
    from scipy.special import bdtrc, stdtrit

    rows, joined = {}, beside_published(results, against, same or None)
    notes, scores = joined.notes, joined.scores
    for i, (name, other) in enumerate(same.items(), -len(same)):  # one's own are the last columns
        position("strategy", other, published(against).strategies)
        d = (scores.iloc[:, i] - scores[other]).dropna()
        if len(d) < 2:
            raise AnalysisError(
                f"{name} and {other} of {against} have {len(d)} datasets with results of both; two "
                "are needed"
            )
        off, error = d.abs(), float(d.std(ddof=1) / np.sqrt(len(d)))
        cells = results.select(datasets=d.index, strategies=[name]).cells
        folds = pd.DataFrame(cells.reshape(len(d), -1).T)
        # by how much two runs may differ: this spread counts for both; few folds need Student's t
        margin = (stdtrit(folds.count() - 1, _WITHIN) * np.sqrt(2) * folds.sem()).to_numpy()
        n_known, odd = int(np.isfinite(margin).sum()), d.index[off > margin]
        if len(odd):
            notes += (f"{name} is beyond its folds on {', '.join(odd)}",)
        # so many are beyond their folds by chance
        likely = not n_known or bdtrc(len(odd) - 1, n_known, 2 * (1 - _WITHIN)) >= _RARE
        rows[f"{name} / {other}"] = {
            "datasets": len(d),
            "mean difference": float(d.mean()),
            "standard error": error,
            "largest": float(d.iloc[off.argmax()]),
            "on": off.idxmax(),
            "equal": float((off <= _rounding(scores[other])).mean()),
            "beyond folds": len(odd) / n_known if n_known else np.nan,
            "agrees": bool(abs(d.mean()) <= _EXPLAINED * error and likely),
        }
    return ResultTable(
        name=f"Strategies run again, and as {against} published them",
        frame=pd.DataFrame.from_dict(rows, orient="index").rename_axis("here / published"),
        source=PUBLISHED[against].source,
        metric=results.metric.name,
        notes=notes,
    )


def _rounding(published: pd.Series) -> float:
    """Return half of the last digit of published numbers, and a little more for rounding noise."""
    scores = published.dropna().to_numpy()
    digits = next((k for k in range(1, 17) if np.allclose(scores, scores.round(k), 0, 1e-9)), 17)
    return 0.5000001 * 10.0**-digits

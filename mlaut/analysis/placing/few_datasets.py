"""Place a new learner by few datasets of a board, with intervals that were measured to cover."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import check, checked, one_of, position
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.importers.published import families_of, published
from mlaut.analysis.placing.board import CLIP, Board, HeldOut
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.identity.digests import digest
from mlaut.markup import counted
from mlaut.records import NOT_RUN

# With fewer learners lists covered 78 to 100 % in place of 90, and draws were not measured.
_LEARNERS = {"designed": 30, "random": 9}
_FAMILIES = 8
_FEWEST = 5  # datasets: with fewer nothing was measured
_LOOKS = (5, 10, 15, 20, 25, 30, 40, 60, 80)
_STRANGE = 0.1  # p-value at or below which a learner is unlike the published ones
_RELATED = 0.55  # mean correlation of ranks from which learners are of one family
_FAILURES = 0.1  # share of failed datasets above which a learner says little about others
_NOISE = 1e-9  # below it a difference of relative ranks is 0: a copy is neither better nor worse
_HALVES = 20  # splits of the families into those that choose a list and those that judge it
_SOURCE = "shrunk BLUP; calibrated by leave-one-family-out (docs/other-results.md)"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Placing(ResultTable):
    """Places among published strategies.

    Attributes
    ----------
    pairs : DataFrame
        One row for each strategy of one's own and each published one; see `place`.
    more : tuple of str
        With a budget: datasets to run next; empty where the question is answered or the budget is
        spent.
    """

    pairs: pd.DataFrame
    more: tuple[str, ...] = ()


class Course(NamedTuple):
    """Datasets by which a new learner is placed.

    Attributes
    ----------
    board : Board
    theirs : Results
        Results of its learners.
    drawn, order : ndarray of int, shape (N,)
        Datasets in the random order that follows from the entry; and in the order of the arm.
    unknown : ndarray, shape (N + 1,)
        Variance of the mean relative rank before the first dataset of ``order`` and after each.
    looks : list of int
        Numbers of datasets after which the course may end.
    designed : bool
    notes : tuple of str
    """

    board: Board
    theirs: Results
    drawn: np.ndarray
    order: np.ndarray
    unknown: np.ndarray
    looks: list[int]
    designed: bool
    notes: tuple[str, ...]


@checked
def course_of(
    against: str | Results,
    budget: float,
    entry: str,
    *,
    arm: str = "designed",
    rival: str = "",
    costs: Mapping[str, float] | None = None,
    families: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Course:
    """Return the datasets by which an entry is placed; the parameters are those of `place`."""
    theirs = published(against) if isinstance(against, str) else against
    known = families or (families_of(against) if isinstance(against, str) else {})
    failures = theirs.losses.isna().mean()
    theirs = theirs.select(strategies=failures.index[failures <= _FAILURES])
    if costs and (lacking := [name for name in theirs.datasets if not costs.get(name, 0) > 0]):
        raise AnalysisError(f"costs lacks {counted(len(lacking), 'dataset')}, such as {lacking[0]}")
    price = np.array([costs[name] if costs else 1.0 for name in theirs.datasets])
    losses = theirs.losses.fillna(np.inf).to_numpy()
    board = Board(losses, np.array([known.get(name, name) for name in theirs.strategies]), price)
    if not known:
        board = replace(board, families=_related(board.own[0]))
    n, learners, n_families = *losses.shape, len(set(board.families))
    designed = one_of("arm", arm, ("designed", "random")) == "designed"
    least = _LEARNERS[arm]
    if learners < least or n_families < _FAMILIES:
        raise AnalysisError(
            f"the {arm} arm needs {least} published learners of {_FAMILIES} families, and there "
            f"are {learners} of {n_families}: {'take arm=random' if designed else 'run all'}"
        )
    random = np.random.default_rng(int(digest([entry, seed, *theirs.datasets])[:16], 16))
    drawn = random.permutation(n)
    order, unknown = board.listed(n, None if designed else drawn)
    # a draw that ends when the money does would have the cheap datasets
    spent = price[order].cumsum() if designed else price.mean() * np.arange(1, n + 1)
    if (most := int((spent <= budget).sum())) < _FEWEST:
        raise AnalysisError(f"budget={budget:g} buys {most} datasets, and {_FEWEST} are needed")
    if rival:
        position("strategy", rival, theirs.strategies)
    how = f"the draw follows from entry={entry!r}, seed={seed}"
    notes = (
        f"{arm} arm: {'a learner can be tuned to the list; see audit' if designed else how}",
        f"{learners} learners of {n_families} families {'as given' if known else 'by their ranks'};"
        f" {len(failures) - learners} with more than 10 % failures are left out",
        f"among these {n} datasets, and for no others",
        "intervals of 90 % covered 85 to 97 % of published learners without their families",
    )
    looks = [m for m in _LOOKS if rival and m < most] + [most]
    return Course(board, theirs, drawn, order, unknown, looks, designed, notes)


def _related(ranks: np.ndarray) -> np.ndarray:
    """Return families by average linkage of the correlations of ranks."""
    from scipy.cluster.hierarchy import fcluster, linkage

    apart = 1 - np.nan_to_num(np.corrcoef(ranks))
    tree = linkage(apart[np.triu_indices(len(ranks), 1)], "average")
    return fcluster(tree, 1 - _RELATED, "distance")


def place_few(
    results: Results,
    against: str | Results,
    budget: float,
    *,
    entry: str = "",
    rival: str = "",
    audit: bool = False,
    alpha: float = 0.1,
    **how: Any,
) -> Placing:
    """Place strategies by few datasets; the parameters are those of `place`."""
    check(alpha=alpha, results=results)
    entry = entry or ", ".join(sorted(results.strategies))
    course = course_of(against, budget, entry, rival=rival, **how)
    board, theirs, alpha = course.board, course.theirs, alpha / len(course.looks)
    if (metric := results.metric.name) != theirs.metric.name:
        raise AnalysisError(f"the published scores are {theirs.metric.name}, and these {metric}")
    losses = results.losses
    for (i, k, *_), why in results.reasons.items():
        if why not in NOT_RUN:
            losses.iloc[i, k] = np.inf
    losses = losses.reindex(theirs.datasets)
    values, known = board.of(losses.to_numpy()), losses.notna().to_numpy()
    held = board.held_out(course.looks, course.drawn, designed=course.designed)
    rows, pairs, more = {}, {}, dict[int, None]()
    for k, name in enumerate(results.strategies):
        for i, m in enumerate(course.looks):
            needed = course.order[:m]
            if not known[needed, k].all():
                break
            own = [value[k] for value in values]
            rows[name], pairs[name] = _look(course, held, i, own, alpha)
            if rival and pairs[name].loc[rival, "verdict"] != "undecided":
                break
        if audit and course.designed and known[needed, k].all():
            worse, needed = board.audited(needed, course.drawn, own[0][None])
            if known[needed, k].all():
                rows[name]["audit p"] = _p(held[2][i], worse[0])
        more |= dict.fromkeys(needed[~known[needed, k]])
    told = [f"the level is {alpha:.3g} at each of {counted(len(course.looks), 'look')}"]
    wanted = tuple(theirs.datasets[j] for j in more)
    told += [f"to run next: {', '.join(wanted)}"] if wanted else []
    told += _told(rows, pairs, rival, len(board.losses))
    return Placing(
        name=f"Place of {entry} by {budget:g} of {len(board.losses)} datasets",
        frame=pd.DataFrame.from_dict(rows, orient="index").rename_axis("strategy"),
        source=_SOURCE,
        metric=theirs.metric.loss_name,
        scenario="(b)",
        notes=(*course.notes, *told),
        pairs=pd.concat(pairs, names=["strategy", "published"]) if pairs else pd.DataFrame(),
        more=wanted,
    )


def _told(
    rows: Mapping[str, Mapping[str, Any]], pairs: Mapping[str, pd.DataFrame], rival: str, n: int
) -> list[str]:
    """Return notes on strategies: strange ones, those that an audit flags, and their rival."""
    told = []
    for name, row in rows.items():
        if row["strange p"] <= _STRANGE:
            told.append(f"{name} is unlike the published ones: its interval may be too short")
        if row.get("audit p", 1) <= _STRANGE:
            told.append(f"{name} may be tuned to the list, so do not trust it: take arm='random'")
        if rival:
            gap, low, high, *_, verdict, further = list(pairs[name].loc[rival])
            apart = f"by {gap:.1f} ranks ({low:.1f} to {high:.1f})"
            told.append(f"{name} is {verdict} against {rival}, {apart}")
            if verdict == "undecided":
                further = np.fmin(further, n - row["datasets"])
                told.append(f"{further:g} more datasets would separate {name} from {rival}")
    return told


def _look(
    course: Course, held: HeldOut, i: int, values: Sequence[np.ndarray], alpha: float
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the place of a strategy, and its differences from all others, after a look."""
    from scipy.special import stdtrit

    board, m = course.board, course.looks[i]
    n, learners = board.losses.shape
    at, sizes = course.order[:m], np.arange(m, n + 1)
    found = {}
    for kind, lowest, highest in ((1, -CLIP, CLIP), (0, 0, 1)):
        seen = values[kind][at]
        middle, sd, strange = (x[0] for x in board.predicted(kind, at, seen[None]))
        if course.designed:
            reach = board.reach(held[0][kind, i], alpha) * sd
            half = reach * np.sqrt(course.unknown[m:] / course.unknown[m])
        else:
            spread = np.sqrt((board.without_each(kind, at, seen) ** 2).mean())
            half = stdtrit(sizes - 1, 1 - alpha / 2) * spread * np.sqrt(1 / sizes - 1 / n)
        possible = seen.sum() / n + (1 - m / n) * np.array([lowest, highest])
        found[kind] = np.clip([middle, middle - half[0], middle + half[0]], *possible)
    ranks, scores = (found[kind][:, None] - board.means[kind] for kind in (0, 1))
    apart = half < np.abs(ranks[0])[:, None]
    words = np.select([ranks[2] < -_NOISE, ranks[1] > _NOISE], ["better", "worse"], "undecided")
    pairs = pd.DataFrame(
        {**with_ends("difference", learners * ranks), **with_ends("score", scores)}
    )
    pairs["verdict"] = words
    pairs["more"] = np.where(apart.any(axis=1), apart.argmax(axis=1), np.nan)
    row = {"datasets": m, **with_ends("average rank", 1 + learners * found[0]), "of": learners + 1}
    row |= {f"{word} than": int((words == word).sum()) for word in ("better", "worse")}
    row["undecided"] = learners - row["better than"] - row["worse than"]
    row |= {**with_ends("score", found[1]), "strange p": _p(held[1][i], strange)}
    return row, pairs.set_axis(course.theirs.strategies)


def with_ends(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """Return an estimate and the ends of its interval by the names of columns."""
    return dict(zip((name, f"{name} low", f"{name} high"), values, strict=True))


def _p(others: np.ndarray, value: float) -> float:
    """Return the p-value of a value among those of learners that were held out."""
    return float((1 + (others >= value).sum()) / (1 + len(others)))


def choose_datasets(against: str | Results, n: int, *, entry: str = "", **how: Any) -> ResultTable:
    """Choose the datasets that say most about the average rank of a new learner.

    Parameters
    ----------
    against, entry, **how
        As in `place`: with ``arm="random"`` the draw of an entry.
    n : int
        Number of datasets, from 5 on.

    Returns
    -------
    ResultTable
        One row for each dataset, in order: ``left``, the standard deviation of a new learner's
        average rank after it, in ranks; and how the ranking by a list of this length, chosen by
        half of the families, agrees with the ranking of the other half by all datasets:
        ``Spearman`` and ``Kendall``, means over 20 splits, and the standard deviation of the first
        over splits, ``SD``.

    Examples
    --------
    >>> choose_datasets("wainer2023", 5, arm="random", entry="mine").frame["left"].round(2).tolist()
    [2.0, 1.72, 1.68, 1.45, 1.22]
    """
    course = course_of(against, n, entry, **how)
    board, random, kept = course.board, np.random.default_rng(0), []
    for _ in range(_HALVES):
        names = random.permutation(np.unique(board.families))
        judges = np.isin(board.families, names[::2])
        half = board.without(judges)
        ranks = half.of(board.losses[:, judges])[0]
        given = None if course.designed else course.drawn
        order = half.listed(n, given)[0]
        lists = [order[:m] for m in range(1, n + 1)]
        by_size = pd.DataFrame({len(at): half.predicted(0, at, ranks[:, at])[0] for at in lists})
        truth = pd.Series(ranks.mean(axis=1))
        kept.append([by_size.corrwith(truth, method=how) for how in ("spearman", "kendall")])
    agreed: np.ndarray = np.array(kept)
    columns = {
        "left": board.losses.shape[1] * np.sqrt(course.unknown[1 : n + 1]),
        "Spearman": agreed[:, 0].mean(axis=0),
        "SD": agreed[:, 0].std(axis=0, ddof=1),
        "Kendall": agreed[:, 1].mean(axis=0),
    }
    chosen = pd.Index([course.theirs.datasets[j] for j in course.order[:n]], name="dataset")
    return ResultTable(
        name=f"{n} datasets that say most about an average rank",
        frame=pd.DataFrame(columns, index=chosen),
        source=_SOURCE,
        scenario="(b)",
        notes=course.notes,
    )

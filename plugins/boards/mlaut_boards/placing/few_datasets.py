"""Place a new learner by few datasets of a board, with intervals whose coverage was measured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlaut.analysis import Results, ResultTable, published
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import counted
from mlaut.plugins import Seed, checked, digest, one_of, positions, share, the_results, with_reason
from mlaut.records import NOT_RUN
from mlaut_boards.placing.loss_board import CLIP, LossBoard, relative_ranks

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
_Look = tuple[dict[str, Any], pd.DataFrame]
_SOURCE = "shrunk BLUP; calibrated by leave-one-family-out (docs/other-results.md)"
DECIDED = {"better": "better than", "worse": "worse than", "undecided": "undecided"}
"""Columns of a placement that count the verdicts on published strategies."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Placing(ResultTable):
    """Places among published strategies.

    Attributes
    ----------
    pairs : DataFrame
        One row for each strategy of one's own and each published one; see `place`.
    more : tuple of str
        With a budget: datasets to run next. Empty if the question is answered or the budget is
        spent.
    check : ResultTable, optional
        Strategies that were run again, beside their published columns (`reproduction`).
    """

    pairs: pd.DataFrame
    more: tuple[str, ...] = ()
    check: ResultTable | None = None

    def sentence(self) -> str:
        """Return the place of the best of one's own strategies, and what supports it."""
        if self.frame.empty:
            return f"No strategy was run on the datasets of the first look. {self.trust}"
        row = self.frame.sort_values("average rank").iloc[0]
        has, by = f"{row['average rank']:.1f}", "by tests"
        if "datasets" in row:
            has += f" ({row['average rank low']:.1f} to {row['average rank high']:.1f})"
            strange = f"{100 * row['strange p']:.0f} % of the published ones look as strange"
            by = f"by {row['datasets']:.0f} datasets, on which {strange} or stranger"
        return (
            f"{row.name} has an average rank of {has} of {row['of']:.0f}: better than "
            f"{row['better than']:.0f} published strategies, worse than {row['worse than']:.0f}, "
            f"undecided from {row['undecided']:.0f}, {by}. {self.name}. {self.trust}"
        )

    @property
    def trust(self) -> str:
        """Sentence on whether strategies that were run again agree with the published ones."""
        if self.check is None:
            return "No published strategy was run again, so nothing checks the comparison."
        agrees = self.check.frame["agrees"].astype(bool)
        if agrees.all():
            return f"Agrees with what was published: {', '.join(agrees.index)}."
        return (
            f"Beyond what folds explain: {', '.join(agrees.index[~agrees])}. So others that were "
            "run here may not be comparable with the published ones either."
        )


class PlacingCourse(NamedTuple):
    """Datasets by which a new learner is placed.

    Attributes
    ----------
    board : LossBoard
    theirs : Results
        Results of its learners.
    random, order : ndarray of int, shape (N,)
        Datasets in the random order that depends on the entry; and in the order of the arm.
    unknown : ndarray, shape (N + 1,)
        Variance of the mean relative rank before the first dataset of ``order`` and after each.
    looks : list of int
        Numbers of datasets after which the course may end.
    notes : tuple of str
    """

    board: LossBoard
    theirs: Results
    random: np.ndarray
    order: np.ndarray
    unknown: np.ndarray
    looks: list[int]
    notes: tuple[str, ...]

    def look(self, held: np.ndarray, m: int, own: Sequence[np.ndarray], alpha: float) -> _Look:
        """Return the place of a strategy, and its differences from all others, after m datasets.

        Parameters
        ----------
        held : ndarray, shape (4, K)
            Result of `LossBoard.held_out` for m datasets.
        own : sequence of two ndarray, shape (N,)
            Relative ranks and clipped scores of the strategy.
        """
        from scipy.special import stdtrit

        n, k = self.board.losses.shape
        at, sizes, means = self.order[:m], np.arange(m, n + 1), {}
        for kind, lowest, highest in ((1, -CLIP, CLIP), (0, 0, 1)):
            middle, sd, strange = (x[0] for x in self.board.predicted(kind, at, own[kind][None]))
            if self.board.drawn is None:
                reach = self.board.reach(held[kind], alpha) * sd
                half = reach * np.sqrt(self.unknown[m:] / self.unknown[m])
            else:
                spread = np.sqrt((self.board.without_each(kind, at, own[kind]) ** 2).mean())
                half = stdtrit(sizes - 1, 1 - alpha / 2) * spread * np.sqrt(1 / sizes - 1 / n)
            possible = own[kind][at].sum() / n + (1 - m / n) * np.array([lowest, highest])
            means[kind] = np.clip([middle, middle - half[0], middle + half[0]], *possible)
        ranks, scores = (means[kind][:, None] - self.board.means[kind] for kind in (0, 1))
        words = np.select([ranks[2] < -_NOISE, ranks[1] > _NOISE], ["better", "worse"], "undecided")
        columns = with_ends("difference", k * ranks) | with_ends("score", scores)
        apart = half < np.abs(ranks[0])[:, None]
        columns |= {"verdict": words, "more": np.where(apart.any(1), apart.argmax(1), np.nan)}
        row = {"datasets": m, **with_ends("average rank", 1 + k * means[0]), "of": k + 1}
        row |= {column: int((words == word).sum()) for word, column in DECIDED.items()}
        row |= {**with_ends("score", means[1]), "strange p": _p(held[2], strange)}
        return row, pd.DataFrame(columns, index=self.theirs.strategies)


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
    seed: Seed = 0,
) -> PlacingCourse:
    """Return the datasets by which an entry is placed; the parameters are those of `place`."""
    theirs = published(against) if isinstance(against, str) else against
    known = families or (families_of(against) if isinstance(against, str) else {})
    failures = theirs.losses.isna().mean()
    theirs = theirs.select(strategies=failures.index[failures <= _FAILURES])
    price = np.array([(costs or {}).get(name, 0 if costs else 1.0) for name in theirs.datasets])
    if lacking := [name for name, cost in zip(theirs.datasets, price, strict=True) if not cost > 0]:
        raise AnalysisError(f"costs lacks {counted(len(lacking), 'dataset')}, as {lacking[0]}")
    losses = theirs.losses.fillna(np.inf).to_numpy()
    given = [known.get(name, name) for name in theirs.strategies]
    designed, least = one_of("arm", arm, _LEARNERS) == "designed", _LEARNERS[arm]
    seeded = np.random.default_rng(int(digest([entry, seed, *theirs.datasets])[:16], 16))
    random, groups = seeded.permutation(len(losses)), np.array(given) if known else _related(losses)
    board = LossBoard(losses, groups, price, None if designed else random)
    n, learners, n_families = *losses.shape, len(set(groups))
    if learners < least or n_families < _FAMILIES:
        raise AnalysisError(
            f"the {arm} arm needs {least} published learners of {_FAMILIES} families, and there "
            f"are {learners} of {n_families}: {'take arm=random' if designed else 'run all'}"
        )
    order, unknown = board.listed(n)
    # a draw that ends when the money does would have the cheap datasets
    spent = price[order].cumsum() if designed else price.mean() * np.arange(1, n + 1)
    if (most := int((spent <= budget).sum())) < _FEWEST:
        raise AnalysisError(f"budget={budget:g} buys {most} datasets, and {_FEWEST} are needed")
    positions("strategy", rival or None, theirs.strategies)
    how = "a learner can be tuned to the list, which a small audit p shows"
    notes = (
        f"{arm} arm: {how if designed else f'the draw follows from {entry=}, {seed=}'}",
        f"families {'as given' if known else 'by the correlation of ranks'}; published strategies "
        f"with more than 10 % failures are left out: {len(failures) - learners}",
        f"among these {n} datasets, and for no others",
        "intervals of 90 % held the truth for 85 to 97 % of published strategies, each placed by "
        "the other families alone",
        "score: the distance of a loss below the published median, in median absolute deviations, "
        f"from {-CLIP:g} to {CLIP:g}",
    )
    looks = [m for m in _LOOKS if rival and m < most] + [most]
    return PlacingCourse(board, theirs, random, order, unknown, looks, notes)


def _related(losses: np.ndarray) -> np.ndarray:
    """Return families of learners, by average linkage of the correlations of their ranks."""
    from scipy.cluster.hierarchy import fcluster, linkage

    apart = 1 - np.nan_to_num(np.corrcoef(relative_ranks(losses, losses)))
    tree = linkage(apart[np.triu_indices(len(apart), 1)], "average")
    return fcluster(tree, 1 - _RELATED, "distance")


def compared(results: Results, theirs: Results) -> None:
    """Raise `AnalysisError` if published results have another metric."""
    if (own := results.metric.name) != (metric := theirs.metric.name):
        raise AnalysisError(
            f"the published scores are {metric}, and these {own}; score them by {metric=}"
        )


def place_few(results: Results, against: str | Results, *, alpha: float, **how: Any) -> Placing:
    """Place strategies by few datasets; the parameters are those of `place`."""
    alpha, results = share("alpha", alpha), the_results("results", results)
    how["entry"] = how.get("entry") or ", ".join(sorted(results.strategies))
    audit, rival = how.pop("audit", False), how.get("rival", "")
    course = course_of(against, **how)
    board, theirs, alpha = course.board, course.theirs, alpha / len(course.looks)
    compared(results, theirs)
    failed = with_reason(results, {*results.reasons.values()}.difference(NOT_RUN))
    losses = results.losses.mask(failed, np.inf).reindex(theirs.datasets)
    values, known = board.of(losses.to_numpy()), losses.notna().to_numpy()
    held = board.held_out(course.looks, course.random)
    level, looks = f"{100 - 100 * alpha:.3g} %", counted(len(course.looks), "look")
    notes = [f"intervals have {level} at each of {looks}"]
    rows, pairs, more = {}, {}, dict[str, None]()
    for k, name in enumerate(results.strategies):
        own = [value[k] for value in values]
        for i, m in enumerate(course.looks):
            needed = course.order[:m]
            if not known[needed, k].all():
                break
            rows[name], pairs[name] = row, apart = course.look(held[:, i], m, own, alpha)
            if rival and apart.loc[rival, "verdict"] != "undecided":
                break
        if audit and board.drawn is None and known[needed, k].all():
            worse, needed = board.audited(needed, course.random, own[0][None])
            row |= {"audit p": _p(held[3, i], worse[0])} if known[needed, k].all() else {}
        more |= dict.fromkeys(losses.index[needed[~known[needed, k]]])
        if name in rows:
            notes += _notes_on(name, (row, apart), rival, len(board.losses))
    notes += [f"to run next: {', '.join(more)}"] if more else []
    (n, learners), families = board.losses.shape, len(set(board.families))
    return Placing(
        name=f"{how.get('arm', 'designed').capitalize()} arm, among these {n} datasets: place "
        f"beside {learners} strategies of {families} families, by ranks",
        frame=pd.DataFrame.from_dict(rows, orient="index").rename_axis("strategy"),
        source=_SOURCE,
        metric=theirs.metric.loss_name,
        scenario="(b)",
        notes=(*course.notes, *notes),
        pairs=pd.concat(pairs, names=["strategy", "published"]) if pairs else pd.DataFrame(),
        more=tuple(more),
    )


def _notes_on(name: str, look: _Look, rival: str, n: int) -> Iterator[str]:
    """Yield notes on a strategy: whether it is strange or was flagged, and on its rival."""
    row, pairs = look
    if row["strange p"] <= _STRANGE:
        yield f"{name} is unlike the published ones: its interval may be too short"
    if row.get("audit p", 1) <= _STRANGE:
        yield f"{name} may be tuned to the list, so do not trust it: take arm='random'"
    if rival:
        gap, low, high, *_, verdict, more = list(pairs.loc[rival])
        ends = f"{gap:.1f} ({low:.1f} to {high:.1f}; below 0 {name} is better)"
        yield f"{name} against {rival}: {verdict}; their average ranks differ by {ends}"
        if verdict == "undecided":
            further = np.fmin(more, n - row["datasets"])
            yield f"{further:g} more datasets would separate {name} from {rival}, if all stays so"


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
        The same as in `place`; with ``arm="random"`` the datasets are the draw of an entry.
    n : int
        Number of datasets, from 5 on.

    Returns
    -------
    ResultTable
        One row for each dataset, in order. ``left`` is the standard deviation of a new learner's
        average rank after this dataset, in ranks. For the other columns, half of the families
        choose a list of this length. The ranking of the other half by this list is compared with
        their ranking by all datasets: ``Spearman`` and ``Kendall`` are mean correlations over 20
        splits, ``SD`` is the standard deviation of the first over splits.

    Examples
    --------
    >>> choose_datasets("wainer2023", 5, arm="random", entry="mine").frame["left"].round(2).tolist()
    [2.0, 1.72, 1.68, 1.45, 1.22]
    """
    course = course_of(against, n, entry, **how)
    board, random, kept = course.board, np.random.default_rng(0), []
    for _ in range(_HALVES):
        judges = np.isin(board.families, random.permutation(np.unique(board.families))[::2])
        half, (ranks, _), order = board.without(judges, n)
        lists = [half.predicted(0, order[:m], ranks)[0] for m in range(1, n + 1)]
        by_size, truth = pd.DataFrame(lists).T, pd.Series(ranks.mean(axis=1))
        kept.append([by_size.corrwith(truth, method=how) for how in ("spearman", "kendall")])
    left = board.losses.shape[1] * np.sqrt(course.unknown[1 : n + 1])
    (spearman, kendall), (sd, _) = np.mean(kept, axis=0), np.std(kept, axis=0, ddof=1)
    columns = {"left": left, "Spearman": spearman, "SD": sd, "Kendall": kendall}
    return ResultTable(
        name=f"{n} datasets that say most about an average rank",
        frame=pd.DataFrame(columns, index=course.theirs.losses.index[course.order[:n]]),
        source=_SOURCE,
        scenario="(b)",
        notes=course.notes,
    )


def families_of(name: str) -> dict[str, str]:
    """Return the family of each strategy of a published benchmark; empty where none are known."""
    path = Path(__file__).with_name("tables") / f"{name}_families.csv.xz"
    return dict(pd.read_csv(path).to_numpy().tolist()) if path.exists() else {}

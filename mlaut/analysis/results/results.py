"""`Results`: the scores of a study, or of a table from any source, as one labelled object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from mlaut.analysis.common.arguments import position, positions, shown
from mlaut.analysis.common.display import Shown, number, tabulated
from mlaut.analysis.common.numerics import RELATIVE_NOISE, SINGLE_NOISE
from mlaut.analysis.common.result_types import ResultTable
from mlaut.analysis.results import study_results, tables
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError, MissingCellsError, some_of, with_checked_options
from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import counted
from mlaut.records import Block, Status

_OF_DATASETS = ("expected", "n_test", "n_train")  # arrays of shape (N, R, F)
_OF_CELLS = (
    *("cells", "cell_losses", "variances", "seconds"),
    *("imputed", "contaminated", "spreads", "runs"),
)
_ARRAYS = (*_OF_CELLS, *_OF_DATASETS)


@with_checked_options(AnalysisError)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Results(Shown):
    """Scores of strategies on datasets, by repeat and fold, with sizes, times and notes.

    Make one with `from_study`, `from_blocks`, `from_table` or `from_long`. Results are immutable:
    the arrays are read-only copies, and each returned table is a copy.

    Attributes
    ----------
    metric : MLautScore
        Metric of the scores, with its direction.
    datasets : tuple of str, length N
    strategies : tuple of str, length K
    cells, cell_losses : ndarray, shape (N, K, R, F)
        Scores of the metric, and their loss form (lower is better); NaN where a cell has none. R
        and F are the largest numbers of repeats and folds.
    expected : ndarray of bool, shape (N, R, F)
        Whether a dataset has the cell; datasets may differ in their repeats and folds.
    reasons : mapping of (dataset, strategy, repeat, fold) positions to str
        Reason why an expected cell is NaN.
    variances : ndarray, shape (N, K, R, F), or None
        Variances of the point losses within a test set (divisor M - 1) for a metric that is an
        average; None for an aggregate.
    n_test, n_train : ndarray, shape (N, R, F), or None
        Sizes of test and training sets.
    seconds : ndarray, shape (N, K, R, F, 3), or None
        Times of tuning, fitting and predicting, in seconds.
    fingerprints : tuple of str, length N, or None
        Fingerprints of the contents of the datasets.
    clusters : tuple of str, length N, or None
        Source of each dataset; datasets of one source are related. None: all are independent.
    notes : tuple of str
        Notes on left-out and filled-in cells; every test repeats them.
    imputed : ndarray of bool, shape (N, K, R, F), or None
        Whether the score of a cell was filled in for a missing one.
    contaminated : ndarray of bool, shape (N, K), or None
        Whether the strategy was trained on the data that it is scored on; see
        `mlaut.analysis.treat_contaminated`.
    ranks_only : str
        Reason why filled-in scores are valid for ranks within datasets only; empty where they are
        valid for means too.
    gaps : tuple of str
        Phrases on what was left out or filled in for missing cells, which the first sentence of
        every conclusion includes.
    single : bool
        Whether some scores have single precision, so that differences in the eighth digit are none.
    percent : bool
        Whether the scores were percentages, and were divided by 100.
    load_block : callable or None
        Returns the block of predictions of a dataset; None for results from a table.
    spreads : ndarray, shape (N, K, R, F), or None
        Spreads that a table of others prints beside its scores, in their units: standard deviations
        or others, as its authors say. They are shown, and no test uses them.
    runs : ndarray, shape (N, K, R, F), or None
        Scores of the repeats where their numbers pair nothing (runs), or where a strategy lacks
        some, so that ``cells`` has their means. Comparisons on one dataset use them.
    how_read : str
        Sentence on how a table of others was read: what its columns are, and which are not used.

    Examples
    --------
    >>> table = pd.DataFrame({"tree": [0.9, 0.8], "forest": [0.95, 0.85]}, index=["iris", "wine"])
    >>> results = Results.from_table(table, metric="accuracy")
    >>> results.losses.round(2)
    strategy  tree  forest
    dataset
    iris       0.1    0.05
    wine       0.2    0.15
    >>> Results.from_table(table, metric="gain")
    Traceback (most recent call last):
    mlaut.errors.DirectionError: the direction of 'gain' is not known: give greater_is_better=\
True or False, or the name of a metric
    """

    metric: MLautScore
    datasets: tuple[str, ...]
    strategies: tuple[str, ...]
    cells: np.ndarray
    cell_losses: np.ndarray
    expected: np.ndarray
    reasons: Mapping[tuple[int, int, int, int], str] = field(default_factory=dict)
    variances: np.ndarray | None = None
    n_test: np.ndarray | None = None
    n_train: np.ndarray | None = None
    seconds: np.ndarray | None = None
    fingerprints: tuple[str, ...] | None = None
    clusters: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    imputed: np.ndarray | None = None
    contaminated: np.ndarray | None = None
    ranks_only: str = ""
    gaps: tuple[str, ...] = ()
    percent: bool = False
    single: bool = False
    load_block: Callable[[str], Block] | None = None
    spreads: np.ndarray | None = None
    runs: np.ndarray | None = None
    how_read: str = ""

    def __post_init__(self) -> None:
        self._freeze()
        _check_names("strategy", self.strategies)
        _check_names("dataset", self.datasets)
        if np.isinf(self.cells).any():
            i, k = np.argwhere(np.isinf(self.cells))[0][:2]
            raise AnalysisError(
                f"the score of {self.strategies[k]!r} on {self.datasets[i]!r} is infinite: "
                "leave it empty (NaN), so that it counts as missing"
            )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled or copied state; its arrays are writable and are frozen again."""
        known = {field.name for field in fields(self)}
        self.__dict__.update({name: value for name, value in state.items() if name in known})
        self._freeze()

    def _freeze(self) -> None:
        """Replace the arrays by read-only copies, since tests cache what they compute from them."""
        for name in _ARRAYS:
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _read_only(given))

    # ------------------------------------------------------------------ sources

    @classmethod
    def from_study(
        cls,
        study: Any,
        metric: Any,
        *,
        strategies: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
    ) -> Results:
        """Return the scores of a study.

        Parameters
        ----------
        study : Study, FilesIO, or path-like
            The study whose predictions are scored.
        metric : str or MLautScore
            See `mlaut.analysis.metric`.
        strategies, datasets : iterable of str, optional
            Names to include. Default: all strategies that were tried, and all datasets of the
            metric's task; ``notes`` names the others.

        Raises
        ------
        AnalysisError
            A name is not in the study, or the study has no dataset for the metric.
        """
        return study_results.of_study(cls, study, metric, strategies, datasets)

    @classmethod
    def from_blocks(
        cls, blocks: Iterable[Block], metric: Any, *, strategies: Iterable[str] | None = None
    ) -> Results:
        """Return the scores of blocks, one for each dataset; see `from_study`."""
        return study_results.of_blocks(cls, blocks, metric, strategies)

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        *,
        metric: str | MLautScore = "",
        greater_is_better: bool | None = None,
        n_test: Any = None,
        n_train: Any = None,
        clusters: str = "",
    ) -> Results:
        """Return a table of scores from any source as `Results`.

        Parameters
        ----------
        table : DataFrame
            Scores with one column for each strategy. The index is the dataset, or a MultiIndex of
            dataset and fold, or of dataset, repeat and fold. Levels are identified by their names;
            levels without names must be in this order, with folds and repeats as whole numbers. NaN
            is a missing cell.
        metric : str or MLautScore, optional
            A metric that `mlaut.analysis.metric` accepts, in whose units the table is; percentages
            of a metric from 0 to 1 are divided by 100, as a note says. Or any other name, together
            with ``greater_is_better`` unless the name shows the direction, as "my loss" does.
            Default ``"score"`` or ``"loss"``, as ``greater_is_better`` says.
        greater_is_better : bool, optional
            Direction of a metric that is not known by name. With it, values of a known metric may
            be outside its range (percentages stay such); the range is then taken as unknown.
        n_test, n_train : int, array or Series with the index of the table, optional
            Sizes of the test and training sets. With ``n_test`` and a metric whose point losses are
            0 or 1 (accuracy), scenario (a) has standard errors.
        clusters : str, optional
            Column with the source of each dataset: datasets of one source are related. Default
            ``source``, ``cluster`` or ``group``, if that column has texts.

        Raises
        ------
        AnalysisError
            The direction is unknown or contradicts the metric; a name occurs twice; a level of the
            index is neither dataset, repeat nor fold; a value is infinite, not a real number or
            outside the metric's range; or the number of sizes is not the number of rows.
        """
        return tables.of_table(cls, table, metric, greater_is_better, clusters, n_test, n_train)

    @classmethod
    def from_long(
        cls,
        table: pd.DataFrame,
        *,
        value: str,
        dataset: str = "dataset",
        strategy: str = "strategy",
        repeat: str | None = None,
        fold: str | None = None,
        metric: str | MLautScore = "",
        greater_is_better: bool | None = None,
        clusters: str = "",
    ) -> Results:
        """Return a table with one row for each cell as `Results`.

        Parameters
        ----------
        table : DataFrame
            Scores, one row for each cell.
        value, dataset, strategy, repeat, fold : str
            Names of columns. ``value`` is the column of scores; ``repeat`` and ``fold`` are None
            for a table without such columns. Where a strategy lacks some repeats of a dataset,
            strategies count there with the means of their own, as a note says.
        metric, greater_is_better, clusters
            The same as in `from_table`.

        Examples
        --------
        >>> rows = pd.DataFrame({"task": ["iris", "iris"], "framework": ["A", "B"],
        ...                      "fold": [0, 0], "loss": [0.1, 0.2]})
        >>> Results.from_long(rows, value="loss", dataset="task", strategy="framework",
        ...                   fold="fold", greater_is_better=False).losses
        strategy    A    B
        dataset
        iris      0.1  0.2
        """
        columns = {"dataset": dataset, "strategy": strategy, "repeat": repeat, "fold": fold}
        results = tables.of_long(cls, table, value, columns, metric, greater_is_better, clusters)
        even, text = tables.even_repeats(results) if repeat else (results, "")
        return replace(even, notes=(*even.notes, text)) if text else results

    # ------------------------------------------------------------------ sources of datasets

    def with_clusters(self, clusters: Mapping[str, Any] | pd.Series) -> Results:
        """Return the results with the source of each dataset; tests then take sources as units.

        Parameters
        ----------
        clusters : mapping or Series
            The source of each dataset, by the name of the dataset.

        Raises
        ------
        AnalysisError
            A dataset has no source.

        Examples
        --------
        >>> table = pd.DataFrame({"A": [0.9, 0.8, 0.7]}, index=["wine red", "wine white", "iris"])
        >>> results = Results.from_table(table, metric="accuracy")
        >>> results.with_clusters({name: name.split()[0] for name in table.index}).clusters
        ('wine', 'wine', 'iris')
        """
        if not isinstance(clusters, Mapping | pd.Series):
            raise AnalysisError(
                f"clusters must be a dict or a Series of sources by dataset, not {shown(clusters)}"
            )
        known = {str(name): source for name, source in clusters.items()}
        lacking = [name for name in self.datasets if pd.isna(known.get(name))]
        if lacking:
            raise AnalysisError(f"clusters has no source for {', '.join(lacking[:5])}")
        return replace(self, clusters=tuple(str(known[name]) for name in self.datasets))

    @property
    def source(self) -> np.ndarray:
        """Number of the source of each dataset; a dataset without known source is its own."""
        if self.clusters is None:
            return np.arange(len(self.datasets))
        return np.unique(self.clusters, return_inverse=True)[1]

    def by_source(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of values (N, ...) over the datasets of each source, shape (G, ...)."""
        if self.clusters is None:
            return values
        member = (self.source == np.arange(self.n_sources)[:, None]).astype(float)
        means: np.ndarray = (member @ values) / member.sum(axis=1, keepdims=True)
        return means

    @property
    def n_sources(self) -> int:
        """Number of sources, or of datasets where no sources are known."""
        return len(set(self.clusters or self.datasets))

    # ------------------------------------------------------------------- values

    @property
    def scores(self) -> pd.DataFrame:
        """Mean score of each strategy on each dataset; NaN where one of its cells is missing."""
        return self._frame(self._means[0])

    @property
    def losses(self) -> pd.DataFrame:
        """Mean loss of each strategy on each dataset; NaN where one of its cells is missing."""
        return self._frame(self._means[1])

    def region(self, rope: float) -> float:
        """Return the half width of a region of equivalence, in the units of ``scores``.

        A table of percentages has regions of percentage points.

        Raises
        ------
        AnalysisError
            The region is as wide as the metric itself, so that all scores would be equal.

        Examples
        --------
        >>> table = pd.DataFrame({"A": [90.0, 80.0], "B": [85.0, 81.0]})
        >>> Results.from_table(table, metric="accuracy").region(1.0)
        0.01
        """
        within = rope / 100 if self.percent else rope
        if within and within >= self.metric.span:
            raise AnalysisError(
                f"rope = {rope:g} is as wide as {self.metric.name} itself, so that any two "
                "strategies would be equal: give a difference that does not matter to you"
            )
        return within

    @property
    def incomparable(self) -> str:
        """Reason why a mean over these datasets is meaningless; empty where it has a meaning."""
        of_metric = self.metric.incomparable if len(self.datasets) > 1 else ""
        if of_metric:
            return f"{self.metric.name}: {of_metric}"
        stands_in = self.imputed is None or bool(self.imputed.any())
        return self.ranks_only if stands_in else ""

    def notes_on_means(self) -> tuple[str, ...]:
        """Return the note for results that average over datasets, if such means are meaningless."""
        if not self.incomparable:
            return ()
        return (f"means over datasets do not compare ({self.incomparable}): take ranks",)

    @property
    def noise(self) -> float:
        """Largest relative difference of two scores that is rounding noise."""
        return SINGLE_NOISE if self.single else RELATIVE_NOISE

    @property
    def noise_scale(self) -> np.ndarray:
        """Size of the numbers that each mean loss was computed from: shape (N, K).

        Equal losses can differ by `RELATIVE_NOISE` times this size, which is therefore larger where
        the scores have single precision.
        """
        largest: np.ndarray = np.abs(self._means).max(axis=0)
        return largest * (self.noise / RELATIVE_NOISE)

    @property
    def fold_losses(self) -> pd.DataFrame:
        """Loss by (dataset, repeat, fold) and strategy."""
        at = np.argwhere(self.expected)
        index = pd.MultiIndex.from_arrays(
            [[self.datasets[i] for i in at[:, 0]], at[:, 1], at[:, 2]],
            names=["dataset", "repeat", "fold"],
        )
        losses = np.moveaxis(self.cell_losses, 1, -1)[self.expected]
        return pd.DataFrame(losses, index=index, columns=self._columns)

    @property
    def standard_errors(self) -> pd.DataFrame:
        """Standard error of each mean loss for scenario (a): the fitted models, re-used.

        For a single test set it is ``sqrt(v / M)`` (MLaut 2019, Table 3). The variances of the
        folds of one repeat are added as independent. Repeats share their test points, so their
        standard errors are averaged, which is an upper bound.

        Raises
        ------
        AnalysisError
            The metric is an aggregate, or a table came without ``n_test``.
        """
        if self.variances is None or self.n_test is None:
            raise AnalysisError(
                f"scenario (a) needs the point losses of {self.metric.name}, and there are none: "
                "it is an aggregate, the table has no n_test, or a dataset has weights; errors "
                "from several test sets need none: results.errors_of_sets, or of scenario (b) "
                "retrained_estimates(results)"
            )
        of_mean = self.variances / np.maximum(self.n_test, 1)[:, None]
        expected = self.expected[:, None]
        folds = expected.sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            by_repeat = np.sqrt(np.where(expected, of_mean, 0).sum(axis=-1)) / folds
        has = (folds > 0) & np.ones_like(by_repeat, dtype=bool)
        return self._frame(np.where(has, by_repeat, 0).sum(axis=-1) / has.sum(axis=-1))

    @property
    def errors_of_sets(self) -> pd.DataFrame:
        """Standard error of each mean loss from the losses of the test sets of a repeat.

        Standard errors of repeats are averaged, as in `standard_errors`. NaN for a single test set.
        """
        folds = self.expected.sum(axis=2)
        expected, count = self.expected[:, None], np.maximum(folds, 1)[:, None]
        losses = np.where(expected, self.cell_losses, 0)
        away = np.where(expected, losses - losses.sum(axis=3, keepdims=True) / count[..., None], 0)
        of_repeats = np.sqrt(np.square(away).sum(axis=3) / np.maximum(count - 1, 1) / count)
        errors = of_repeats.sum(axis=2) / (folds > 0).sum(axis=1, keepdims=True)
        single = (folds == 1).any(axis=1, keepdims=True)
        return self._frame(np.where(single, np.nan, errors))

    @property
    def missing(self) -> pd.DataFrame:
        """Missing cells, one in each row: dataset, strategy, repeat, fold, reason."""
        at = np.argwhere(np.isnan(self.cells) & self.expected[:, None])
        rows = [
            (self.datasets[i], self.strategies[k], r, f, self.reasons.get((i, k, r, f), "missing"))
            for i, k, r, f in at.tolist()
        ]
        return pd.DataFrame(rows, columns=["dataset", "strategy", "repeat", "fold", "reason"])

    @property
    def duplicates(self) -> tuple[tuple[str, ...], ...]:
        """Groups of datasets that are the same table under several names."""
        groups: dict[str, list[str]] = {}
        for name, mark in zip(self.datasets, self.fingerprints or (), strict=False):
            groups.setdefault(mark, []).append(name)
        return tuple(tuple(names) for mark, names in groups.items() if mark and len(names) > 1)

    def points(self, dataset: str) -> np.ndarray:
        """Return the loss of every test point: shape (K, R, n_rows), NaN for untested rows.

        Raises
        ------
        AnalysisError
            The results come from a table, or the metric is an aggregate.
        """
        if self.load_block is None:
            raise AnalysisError("these results come from a table, which has no single test points")
        block = self.load_block(self.datasets[position("dataset", dataset, self.datasets)])
        rows = [block.strategies.index(name) for name in self.strategies]
        return self.metric.point_losses(block)[rows]

    # ------------------------------------------------------------------ choices

    def select(
        self, *, datasets: Iterable[str] | None = None, strategies: Iterable[str] | None = None
    ) -> Results:
        """Return the results of some datasets and strategies, in the order given."""
        rows = positions("dataset", datasets, self.datasets)
        columns = positions("strategy", strategies, self.strategies)
        row, column = ({old: new for new, old in enumerate(p)} for p in (rows, columns))
        reasons = {
            (row[i], column[k], r, f): why
            for (i, k, r, f), why in self.reasons.items()
            if i in row and k in column
        }
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        chosen: dict[str, Any] = {
            name: array[rows] if name in _OF_DATASETS else array[np.ix_(rows, columns)]
            for name, array in arrays.items()
            if array is not None
        }
        for name in ("datasets", "fingerprints", "clusters"):
            if (labels := getattr(self, name)) is not None:
                chosen[name] = tuple(labels[i] for i in rows)
        strategies = tuple(self.strategies[k] for k in columns)
        return replace(self, strategies=strategies, reasons=reasons, **chosen)

    @cached_property
    def in_order(self) -> Results:
        """These results with the datasets in the order of their names.

        A random draw belongs to a place of its array. Functions that draw begin with this order, so
        that the same table has the same numbers however its rows are sorted.
        """
        names = sorted(self.datasets)
        return self if names == list(self.datasets) else self.select(datasets=names)

    def complete(self, *, datasets: int = 1, strategies: int = 1) -> pd.DataFrame:
        """Return ``losses``; raise an error if a cell is missing or there are too few of them.

        Parameters
        ----------
        datasets, strategies : int, default 1
            Smallest numbers of datasets and strategies that the caller can use.

        Raises
        ------
        MissingCellsError
            Some cells are missing.
        AnalysisError
            There are too few datasets or strategies.
        """
        for word, names, least in (
            ("strategies", self.strategies, strategies),
            ("datasets", self.datasets, datasets),
        ):
            if not isinstance(least, int):
                raise AnalysisError(f"{shown(least)} is not a number of {word}")
            if len(names) < least:
                raise AnalysisError(
                    f"this needs at least {least} {word}, and there "
                    f"{'is' if len(names) == 1 else 'are'} {len(names)} ({', '.join(names)})"
                    + "".join(f"; {gap}" for gap in self.gaps)
                )
        if np.isnan(self._means[1]).any():
            self.check_not_raced()
            raise MissingCellsError(self._missing_text())
        return self.losses

    def check_not_raced(self) -> None:
        """Raise `AnalysisError` if strategies left a race, so that their cells are missing."""
        word = Status.RACED_OUT.word
        names = {self.strategies[k]: 1 for (_, k, _, _), why in self.reasons.items() if why == word}
        if names:
            raise AnalysisError(
                f"{', '.join(list(names)[:5])} left a race because of results, so ranks and tests "
                "of the full table are not valid, whatever stands in for missing cells: see "
                "mlaut.analysis.race, or complete the race with 'mlaut run --complete'"
            )

    def _missing_text(self) -> str:
        missing = self.missing
        n = int(self.expected.sum()) * len(self.strategies)
        why = ", ".join(f"{c} {word}" for word, c in missing["reason"].value_counts().items())
        who = ", ".join(f"{s} ({c})" for s, c in missing["strategy"].value_counts()[:5].items())
        on = missing["dataset"].unique()
        where = ", ".join(on[:5]) + (f" and {len(on) - 5} more" if len(on) > 5 else "")
        return (
            f"{len(missing)} of {n} cells have no {self.metric.name} ({why}): strategies {who}, "
            f"datasets {where}; treat them by treat_missing(results, 'failures last'), or by "
            "missing='failures last' where there is the option (also 'drop datasets' or the name "
            "of a fallback; TREATMENTS has all)"
        )

    # ------------------------------------------------------------------ display

    @cached_property
    def _labels(self) -> tuple[pd.Index, pd.Index]:
        """Labels of rows and columns, cached: they take longer to make than a table's numbers."""
        return pd.Index(self.datasets, name="dataset"), pd.Index(self.strategies, name="strategy")

    @property
    def _columns(self) -> pd.Index:
        return self._labels[1].view()

    def _frame(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values, index=self._labels[0].view(), columns=self._columns, copy=True)

    @cached_property
    def _means(self) -> np.ndarray:
        """Mean scores and mean losses: shape (2, N, K)."""
        expected = self.expected[:, None]
        both = np.where(expected, np.stack([self.cells, self.cell_losses]), 0)
        means: np.ndarray = both.sum(axis=(3, 4)) / expected.sum(axis=(2, 3))
        means.flags.writeable = False
        return means

    def title(self) -> str:  # noqa: D102 - inherited
        repeats, folds = self.expected.shape[1:]
        missing = len(self.missing)
        filled = 0 if self.imputed is None else int(self.imputed.sum())
        cells = [f"{missing or 'no'} missing cells"] if missing or not filled else []
        cells += [f"{filled} missing cells filled in"] if filled else []
        return (
            f"{self.metric.name} of {counted(len(self.strategies), 'strategy', 'strategies')} on "
            f"{counted(len(self.datasets), 'dataset')}, {repeats} x {folds} folds, "
            f"{', '.join(cells)}"
        )

    def table(
        self,
        name: str,
        frame: pd.DataFrame,
        source: str,
        *,
        scenario: str = "(c)",
        notes: Iterable[str] = (),
        as_scores: bool = False,
    ) -> ResultTable:
        """Return estimates from these results as a table, with the notes of both."""
        return ResultTable(
            name=name,
            frame=frame,
            source=source,
            metric=self.metric.name if as_scores else self.metric.loss_name,
            scenario=scenario,
            notes=(*self.notes_text(), *notes),
        )

    def notes_text(self) -> tuple[str, ...]:
        """Return the notes, and a note on each group of datasets that are the same table."""
        same = (f"the same table: {some_of(names)}" for names in self.duplicates)
        return (*self.notes, *same)

    def to_frame(self) -> pd.DataFrame:
        """Return the mean scores."""
        return self.scores

    def sentence(self) -> str:  # noqa: D102 - inherited
        return f"{self.title()}."

    def to_latex(self, *, errors: bool = False) -> str:
        """Return the mean scores, with rounded numbers, in LaTeX (booktabs).

        Parameters
        ----------
        errors : bool, default False
            Whether to add the standard error of scenario (a) to each score, in brackets: from test
            points, or for an aggregate such as ``rmse`` from the test sets of each repeat.

        Raises
        ------
        AnalysisError
            Nothing tells the standard errors: there is a single test set, without point losses.
        """
        if not errors:
            return super().to_latex()
        by_points = self.variances is not None and self.n_test is not None
        known = self.standard_errors if by_points else self.errors_of_sets
        if known.isna().all(axis=None):
            raise AnalysisError(
                f"{self.metric.name} of a single test set of each dataset has no standard error: "
                "leave errors out, or use results with several folds, or with n_test"
            )
        scores = self.scores.map(lambda score: _in_print(score, 4))
        texts = scores + known.map(lambda error: f" ({_in_print(error, 2)})")
        texts = texts.where(self.scores.notna(), "-")
        source = "test points" if by_points else "the test sets of a repeat"
        table = tabulated(texts, "latex_booktabs")
        return f"{table}\n% in brackets: standard errors of scenario (a), from {source}"


def _in_print(value: float, digits: int) -> str:
    """Return a number without an exponent where it is large: 312, not 3.1e+02."""
    large = 10**digits - 0.5 <= abs(value) < 1e9
    return f"{value:.0f}" if large else number(value, digits)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of a read-only copy; unlike the copy, the view cannot be made writable."""
    kept = np.array(array)
    kept.flags.writeable = False
    return kept.view()


def _check_names(word: str, names: Sequence[str]) -> None:
    if not names:
        raise AnalysisError(f"there is no {word} in these results")
    if len(set(names)) < len(names):
        doubled = sorted(str(name) for name, times in Counter(names).items() if times > 1)
        raise AnalysisError(
            f"{word} {', '.join(map(repr, doubled))} comes more than once: names must differ"
        )

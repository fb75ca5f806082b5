"""`mlaut.analysis.Results` from a table of scores, with a row a dataset or a cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlaut.analysis.common.arguments import floats, position, yes_or_no
from mlaut.analysis.scores.base import IN_TARGET_UNITS, MLautScore, in_target_units
from mlaut.analysis.scores.metric_names import GREATER, LESS, direction, metric_names
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.analysis.scores.usual_names import is_fraction, usual_name
from mlaut.errors import AnalysisError, DirectionError, nearest, some_of
from mlaut.files_io.tables.tables_of_others import as_pandas
from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import counted
from mlaut.records import NO_RESULT

if TYPE_CHECKING:
    from mlaut.analysis.results.results import Results


class TableMetric(MLautScore):
    """Metric of a table of scores; its range is known only if its name is."""

    def __init__(
        self,
        name: str,
        greater_is_better: bool,
        incomparable: str = "",
        known: MLautScore | None = None,
    ) -> None:
        self.name, self.greater_is_better = name, greater_is_better
        self.incomparable = incomparable or (IN_TARGET_UNITS if in_target_units(name) else "")
        if known is not None:
            self.bounds, self.zero_one = known.bounds, known.zero_one
            self.incomparable = self.incomparable or known.incomparable


def as_table(given: Any) -> Any:
    """Return a table of scores of another library as a table of pandas.

    Its columns of datasets, folds and repeats become the index. Any other value is unchanged.
    """
    if isinstance(given, pd.DataFrame) or not any(
        hasattr(given, name) for name in ("__arrow_c_stream__", "collect")
    ):
        return given
    table = as_pandas(given)
    index = [n for n in table if str(n).lower() in {"dataset", *FOLDS, *REPEATS}]
    return table.set_index(index) if index else table


def of_table(
    kind: type[Results],
    table: pd.DataFrame,
    metric: str | MLautScore,
    greater_is_better: bool | None,
    clusters: str,
    n_test: Any = None,
    n_train: Any = None,
) -> Results:
    """Return a table of scores as results; see `Results.from_table`."""
    table = as_table(table)
    if not isinstance(table, pd.DataFrame) or table.empty:
        raise AnalysisError(f"a DataFrame with rows and columns is needed, not {_what(table)}")
    column = source_column(table, clusters)
    if column:
        of_dataset = sources_of_rows(table[column], _places(table.index)[0], table.index)
        table = table.drop(columns=column)
    values, single = _numbers(table), _has_single_precision(table)
    score = _metric_of_table(metric, greater_is_better, values)
    if percent := _are_percentages(values, score):
        values = (values / 100).round(15)
    _check_bounds(table, values, score)
    _check_sizes(values)
    datasets, at = _places(table.index)
    shape = (len(datasets), int(at[1].max()) + 1, int(at[2].max()) + 1)
    expected = np.zeros(shape, dtype=bool)
    expected[at] = True
    cells = np.full((shape[0], values.shape[1], *shape[1:]), np.nan)
    cells[at[0], :, at[1], at[2]] = values
    sizes = [
        _sizes(name, given, table.index, at, shape)
        for name, given in (("n_test", n_test), ("n_train", n_train))
    ]
    return kind(
        metric=score,
        datasets=datasets,
        strategies=tuple(str(name) for name in table.columns),
        cells=cells,
        cell_losses=score.loss(cells),
        expected=expected,
        variances=_zero_one_variances(cells, sizes[0]) if score.zero_one else None,
        n_test=sizes[0],
        n_train=sizes[1],
        clusters=of_dataset if column else None,
        notes=("the scores are percentages, and were divided by 100",) * percent,
        percent=percent,
        single=single,
    )


def even_repeats(results: Results, failed: Collection[tuple[int, ...]] = ()) -> tuple[Results, str]:
    """Return results whose repeats are exchangeable, with the mean of those that are there.

    Where a strategy lacks some repeats of a dataset, all strategies count there with the mean of
    their own; the text says who lacks what. Cells that ``failed`` keep their place.
    """
    none = np.isnan(results.cells) & results.expected[:, None]
    begun = np.asarray(results.expected.any(axis=2))  # (N, R)
    whole: np.ndarray = ~none.any(axis=3) & begun[:, None]  # (N, K, R)
    some: np.ndarray = whole.any(axis=2) & none.any(axis=(2, 3))
    for i, k, *_ in failed:
        some[i, k] = False
    at = np.flatnonzero(some.any(axis=1))
    if not len(at):
        return results, ""
    lacking = [
        f"{name}: {int(low)} to {int(high)} of {int(most)} repeats"
        if low < high
        else f"{name}: {int(low)} of {int(most)} repeats"
        for k, name in enumerate(results.strategies)
        if some[:, k].any()
        for have in [whole[some[:, k], k].sum(axis=1)]
        for low, high, most in [(have.min(), have.max(), begun[some[:, k]].sum(axis=1).max())]
    ]
    cells, expected = results.cells.copy(), results.expected.copy()
    kept = np.where(whole[at, :, :, None], cells[at], np.nan)
    folds = np.asarray(expected[at].any(axis=1))
    has = np.asarray(whole[at].any(axis=2))[..., None] & folds[:, None]
    total = (
        np.where(np.isnan(kept), 0, kept).sum(axis=2)
        / np.maximum(whole[at].sum(axis=2), 1)[..., None]
    )
    cells[at] = np.nan
    cells[at, :, 0] = np.where(has, total, np.nan)
    expected[at] = False
    expected[at, 0] = folds
    more = [f"and {len(lacking) - _TOLD} strategies more"] * (len(lacking) > _TOLD)
    text = f"means of the repeats that are there ({'; '.join([*lacking[:_TOLD], *more])})"
    return replace(
        results,
        cells=cells,
        cell_losses=results.metric.loss(cells),
        expected=expected,
        runs=results.cells,
    ), text


def repeats_are_paired(results: Results) -> bool:
    """Return whether a repeat is harder than another for all strategies, as one of patients is.

    Means over different repeats then differ by what was repeated. Seeds of trainings mostly have
    no such effect. Its share of the variance (intraclass correlation) is estimated from the
    strategies that have all repeats, or where there are not two, from the repeats that all have.
    """
    if results.cells.shape[2] < _CASES:
        return False
    each = [_squares(x) for x in results.cells.mean(axis=3).swapaxes(1, 2)]
    between, within, df, df_within = np.sum(each, axis=0).tolist()
    if not df_within or not between:
        return False
    between, within, k = between / df, within / df_within, 1 + df_within / df
    return bool((between - within) / (between + (k - 1) * within) > _PAIRED)


def _squares(scores: np.ndarray) -> tuple[float, float, int, int]:
    """Return sums of squares between and within repeats of a dataset, and degrees of freedom."""
    scores = scores[~np.isnan(scores).all(axis=1)]  # (R, K)
    none = np.isnan(scores)
    whole = ~none.any(axis=0)
    scores = scores[:, whole] if whole.sum() > 1 else scores[~none.any(axis=1)]
    df, k = len(scores) - 1, scores.shape[1]
    if df < 1:
        return 0.0, 0.0, 0, 0
    own = scores - scores.mean(axis=0)
    common = own.mean(axis=1, keepdims=True)
    squares = k * float((common**2).sum()), float(((own - common) ** 2).sum())
    return (*squares, df, df * (k - 1))


def shared_folds(
    results: Results, failed: Collection[tuple[int, ...]] = (), what: str = "fold"
) -> tuple[Results, str]:
    """Return results without folds that some strategies lack, where most of a dataset's are left.

    All strategies count there on the folds that they share; the text says how many are left out.
    Cells that ``failed`` keep their place.
    """
    none = np.isnan(results.cells) & results.expected[:, None]
    for place in failed:
        none[place] = False
    gone: np.ndarray = none.any(axis=1)
    few = 2 * gone.sum(axis=(1, 2)) < results.expected.sum(axis=(1, 2))
    gone &= few[:, None, None]
    if not gone.any():
        return results, ""
    whose = (none & gone[:, None]).any(axis=(0, 2, 3))
    names = some_of(name for name, lacks in zip(results.strategies, whose, strict=True) if lacks)
    n, on = int(gone.sum()), int(gone.any(axis=(1, 2)).sum())
    text = f"{counted(n, what)} left out on {counted(on, 'dataset')}, without result of {names}"
    cells = np.where(gone[:, None], np.nan, results.cells)
    losses = results.metric.loss(cells)
    return replace(
        results, cells=cells, cell_losses=losses, expected=results.expected & ~gone
    ), text


def never_run(results: Results) -> Results:
    """Return results in which a cell without a score and without a reason was never run."""
    empty = np.argwhere(np.isnan(results.cells) & results.expected[:, None])
    places = ((i, k, r, f) for i, k, r, f in empty.tolist())
    reasons = dict.fromkeys(places, NO_RESULT) | dict(results.reasons)
    return replace(results, reasons=reasons)


def source_column(table: pd.DataFrame, wanted: str) -> Any:
    """Return the column with the source of each dataset, or None if there is no such column."""
    names = {str(name): name for name in table.columns}
    if wanted:
        position("column", wanted, list(names))
        return names[wanted]
    columns = (
        name
        for text, name in names.items()
        if text.lower() in _SOURCES and not pd.api.types.is_numeric_dtype(table[name])
    )
    return next(columns, None)


def sources_of_rows(
    labels: pd.Series, datasets: tuple[str, ...], index: pd.Index
) -> tuple[str, ...]:
    """Return the source of each dataset from a column; rows of a dataset must agree."""
    of_row = np.array(_places(index)[1][0])
    at_row: dict[int, str] = {}
    for at, label in zip(of_row.tolist(), labels, strict=True):
        if pd.isna(label) or at_row.setdefault(at, str(label)) != str(label):
            raise AnalysisError(
                f"dataset {datasets[at]!r} has {'no' if pd.isna(label) else 'two'} sources in the "
                f"column {labels.name!r}: each needs one"
            )
    return tuple(at_row[at] for at in range(len(datasets)))


def of_long(
    kind: type[Results],
    table: pd.DataFrame,
    value: str,
    columns: Mapping[str, str | None],
    metric: str | MLautScore,
    greater_is_better: bool | None,
    clusters: str,
) -> Results:
    """Return a table with one row for each cell as results; see `Results.from_long`."""
    if not isinstance(table, pd.DataFrame):
        raise AnalysisError(f"a DataFrame with a row for each cell is needed, not {_what(table)}")
    have = [str(name) for name in table.columns]
    table = table.set_axis(have, axis=1)
    for word, name in {"value": value, **columns}.items():
        if name is None and word in ("repeat", "fold"):
            continue
        position("column", str(name), have)
        if word != "value" and table[name].isna().any():
            row = int(np.flatnonzero(table[name].isna())[0])
            raise AnalysisError(
                f"row {row} of the table (the first is 0) has no {name!r}: name it, or drop it"
            )
    keys = {word: name for word, name in columns.items() if name and word != "strategy"}
    index = [*keys.values(), str(columns["strategy"])]
    doubled = table.duplicated(index)
    if doubled.any():
        first = ", ".join(str(part) for part in table.loc[doubled, index].iloc[0])
        rows = counted(int(doubled.sum()), "repeated row")
        raise AnalysisError(
            f"the table has {rows}, the first: {first}; drop one of each two, or give each a name, "
            "or a fold, of its own"
        )
    check_cells(table[index[0]].nunique(), table[index[-1]].nunique())
    wide = table.set_index(index)[value].unstack()
    order = [pd.unique(table[index[0]]), pd.unique(table[index[-1]])]
    wide = wide.reindex(order[0], level=0) if len(keys) > 1 else wide.reindex(order[0])
    wide = wide[list(order[1])]
    wide.index.names = list(keys)
    column = source_column(table.drop(columns=[*index, value]), clusters)
    if column is not None:
        labels = table.drop_duplicates(index[:-1]).set_index(index[:-1])[column]
        wide = wide.assign(**{_LABEL: labels.set_axis(labels.index.set_names(list(keys)))})
    return of_table(kind, wide, metric, greater_is_better, _LABEL if column else "")


def check_cells(n_datasets: int, n_strategies: int) -> None:
    """Raise `AnalysisError` where a long table is too large to be made wide."""
    if n_datasets * n_strategies > _MOST_CELLS:
        raise AnalysisError(
            f"the table names {n_datasets} datasets and {n_strategies} strategies, which have "
            f"{n_datasets * n_strategies:,} cells, and at most {_MOST_CELLS:,} are read: check "
            "which columns have their names"
        )


def _metric_of_table(which: Any, greater_is_better: bool | None, values: np.ndarray) -> MLautScore:
    """Return the metric of a table: a known metric, or any other name with a direction."""
    if greater_is_better is not None:
        yes_or_no("greater_is_better", greater_is_better)
    if isinstance(which, str) and not which and greater_is_better is not None:
        which = "score" if greater_is_better else "loss"
    try:
        known = find_metric(which)
    except AnalysisError as error:
        if not isinstance(which, str):
            raise
        if not which.strip():
            raise DirectionError(
                "a table does not say what its scores are: give metric='accuracy', or another one "
                "('mlaut list metrics' has all), or greater_is_better=True or False"
            ) from error
        given = greater_is_better
        greater_is_better = direction(which) if given is None else given
        if greater_is_better is None:
            raise DirectionError(
                f"the direction of {which!r} is not known: give greater_is_better=True or False, "
                f"or the name of a metric{nearest(which, (*metric_names(), *GREATER, *LESS))}"
            ) from error
        usual = usual_metric(which, greater_is_better)
        beyond = given is not None and usual is not None and bool(_outside(values, usual).any())
        if isinstance(usual, TableMetric) and not _are_percentages(values, usual):
            mostly, far = _in_percent(values, usual)  # some of which may be fractions
            beyond |= mostly and not far.any()
        return TableMetric(which, greater_is_better, known=None if beyond else usual)
    if greater_is_better is None:
        return known
    if known.greater_is_better != greater_is_better:
        raise AnalysisError(
            f"greater_is_better={greater_is_better} contradicts metric {known.name!r}: leave it "
            "out, or give your score a name of its own"
        )
    name = which if isinstance(which, str) else known.name
    other_units = bool(_outside(values, known).any())
    return TableMetric(name, bool(greater_is_better), known=None if other_units else known)


def usual_metric(name: str, greater_is_better: bool) -> MLautScore | None:
    """Return the metric that others call so, with its range; None if there is none."""
    usual = usual_name(name)
    if usual is None or usual.metric == "error":  # which may be any
        return None
    try:
        known = find_metric(usual.metric)
    except AnalysisError:
        if not is_fraction(name):
            return None
        known = TableMetric(usual.metric, usual.greater)
        known.bounds = (0.0, 1.0)
    return known if known.greater_is_better == greater_is_better else None


def _what(table: Any) -> str:
    return "an empty one" if isinstance(table, pd.DataFrame) else type(table).__name__


def _numbers(table: pd.DataFrame) -> np.ndarray:
    if table.columns.nlevels > 1:
        raise AnalysisError(
            f"the columns of the table have {table.columns.nlevels} levels, and a column is a "
            "strategy: give each one name, for example table.columns.map('/'.join)"
        )
    for name, column in table.items():
        kind = column.dtype
        if not pd.api.types.is_numeric_dtype(kind) or kind.kind not in "iuf":
            numbers = pd.to_numeric(column, errors="coerce")
            wrong = column[numbers.isna() & column.notna()].head(1).tolist()
            example = f", for example {wrong[0]!r}" if wrong else " (see DataFrame.astype)"
            raise AnalysisError(
                f"column {name!r} of the table holds {column.dtype}, not numbers{example}: a "
                "column is a strategy; names of datasets belong in the index, those of strategies, "
                f"if a row has one score, in a column 'strategy'; {_OTHER_FORMS}"
            )
    return table.to_numpy(dtype=float, na_value=np.nan)


def _has_single_precision(table: pd.DataFrame) -> bool:
    """Return whether a column has numbers of single precision: by its type, or by their digits."""
    columns = (table.iloc[:, place] for place in range(table.shape[1]))
    return any(
        str(column.dtype) in ("float16", "float32")
        or (column.dtype.kind == "f" and _are_single(column.to_numpy(dtype=float)))
        for column in columns
    )


def _are_single(values: np.ndarray) -> bool:
    """Return whether all numbers are those of single precision, and most have all its digits.

    Programs write such a number with as many digits as tell it from its neighbours (0.42857143), or
    with all digits of the double that it became.

    Examples
    --------
    >>> third = np.array([1 / 3, 2 / 3, 0.5])
    >>> _are_single(third), _are_single(third.astype(np.float32).astype(float)), _are_single(
    ...     np.array([0.33333334, 0.6666667])
    ... )
    (False, True, True)
    """
    known = values[np.isfinite(values) & (np.abs(values) < 1e30)][:_LOOKED_AT]
    long = known != np.round(known, 6)
    if not len(known) or 2 * long.sum() < len(known):
        return False
    near = known.astype(np.float32)
    exact = near.astype(float) == known
    return bool(exact.all() or np.array_equal([float(str(x)) for x in near], known))


def _check_bounds(table: pd.DataFrame, values: np.ndarray, score: MLautScore) -> None:
    low, high = score.bounds
    outside = _outside(values, score)
    mostly, far = _in_percent(values, score)
    if mostly and far.any():
        high, outside = 100.0, far
    if outside.any():
        i, k = np.argwhere(outside)[0]
        fits = np.flatnonzero(~outside.any(axis=0))
        few = 2 * outside[:, k].sum() < np.isfinite(values[:, k]).sum()
        mend = f"mend it{likely_meant(values[i, k], values)}, or empty it, so that it has no result"
        keep = (
            f"pass greater_is_better={score.greater_is_better} to keep them (percent, for example)"
        )
        if len(fits):  # to keep both would compare units
            keep = f"drop the column if it is no strategy; {table.columns[fits[0]]!r} is within"
        raise AnalysisError(
            f"{score.name} is within {low:g} and {high:g}, and {table.columns[k]!r} has "
            f"{values[i, k]:g} on {_row(table.index[i])}: "
            + (mend if few else f"change the units, or {keep}")
        )


def _check_sizes(values: np.ndarray) -> None:
    """Raise `AnalysisError` for numbers whose squares a computer cannot tell from 0 or infinity."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest > _LARGEST:
        raise AnalysisError(
            f"a score is as large as {largest:.1g}, and squares of such numbers have no value: "
            "change the units, or leave it empty (NaN), so that it counts as missing"
        )
    if 0 < largest < 1 / _LARGEST:
        raise AnalysisError(
            f"no score is larger than {largest:.1g}, and squares of such numbers are 0 to a "
            "computer: change the units"
        )


def _are_percentages(values: np.ndarray, score: MLautScore) -> bool:
    """Return whether scores of a metric up to 1 are percentages, in each row and column.

    Numbers up to 10 may be ranks or grades.
    """
    most = np.concatenate([np.fmax.reduce(values, axis) for axis in (0, 1)])
    above = score.bounds in ((0, 1), (-np.inf, 1)) and not (most <= 1).any() and (most > 10).any()
    return bool(above and not _beyond_percent(values).any())


def _beyond_percent(values: np.ndarray) -> np.ndarray:
    slack = 100 * _SLACK
    return np.isfinite(values) & ((values < -slack) | (values > 100 + slack))


def _in_percent(values: np.ndarray, score: MLautScore) -> tuple[bool, np.ndarray]:
    """Return whether most scores of a metric up to 1 are in percent, and which are in no units."""
    far = _beyond_percent(values)
    most = np.isfinite(values).sum() / 2
    fits = score.bounds == (0, 1) and 2 * far.sum() < most
    return bool(fits and _outside(values, score).sum() > most), far


def likely_meant(value: float, others: np.ndarray) -> str:
    """Return in brackets the number that lacks its point, as others have it; or nothing.

    Examples
    --------
    >>> likely_meant(1820.0, np.array([0.7655, 0.25])), likely_meant(7.82, np.array([0.7655]))
    (' (0.1820 is likely meant)', '')
    """
    known = others[np.isfinite(others) & (np.abs(others) <= 1)]
    digits = next((d for d in range(1, 7) if np.allclose(known, np.round(known, d), 0, 1e-9)), 0)
    meant = value / 10.0**digits
    point = digits > 0 and value % 1 == 0 and 0 < meant < 1
    return f" ({meant:.{digits}f} is likely meant)" if point else ""


def _row(label: Any) -> str:
    """Return the label of a row as in a message: a dataset, or its dataset, repeat and fold."""
    return ", ".join(map(str, label)) if isinstance(label, tuple) else repr(label)


def _outside(values: np.ndarray, score: MLautScore) -> np.ndarray:
    """Return whether each finite value is outside the metric's range by more than rounding."""
    low, high = score.bounds
    return np.isfinite(values) & ((values < low - _SLACK) | (values > high + _SLACK))


_SLACK = 1e-9  # of rounding, beyond a range of scores
_CASES = 10  # repeats from which they may be cases; seeds are mostly fewer
_PAIRED = 0.5  # share of the variance of repeats that is common to all strategies
_TOLD = 5  # strategies that lack repeats
_MOST_CELLS = 50_000_000  # 400 MB for each array of them
_LARGEST = 1e150  # score: its square is below the largest number, which is about 1e308
# names that other programs use for folds and repeats in an index
_LOOKED_AT = 1000  # numbers of a column of which the precision is looked at
_SOURCES = ("source", "cluster", "group")  # columns with the source of a dataset
_LABEL = "source of the dataset"  # column of a long table that is made wide
FOLDS = {"fold", "folds", "fold_id", "cv_fold", "split", "split_id"}
REPEATS = {"repeat", "repeats", "repetition", "rep", "run", "replication", "seed", "random_state"}


def _levels(index: pd.Index) -> dict[str, int]:
    """Return the positions of the levels of an index by meaning: dataset, repeat, fold."""
    n = index.nlevels
    unnamed = ("dataset", "fold") if n == 2 else ("dataset", "repeat", "fold")
    levels: dict[str, int] = {}
    for at, name in enumerate(index.names):
        word = str(name).strip().lower().replace(" ", "_")
        meaning = "fold" if word in FOLDS else "repeat" if word in REPEATS else "dataset"
        if name is None and at < len(unnamed):
            whole = pd.api.types.is_integer_dtype(index.get_level_values(at).dtype)
            meaning = unnamed[at] if at == 0 or whole else "unknown"
        levels[meaning] = at
    if len(levels) < n or "dataset" not in levels or "unknown" in levels or n > 3:
        names = ", ".join("no name" if name is None else repr(name) for name in index.names)
        raise AnalysisError(
            f"the levels of the index ({names}) are not dataset and fold, or dataset, repeat and "
            "fold: name them so with index.set_names, or make one name of those that together name "
            f"a dataset, for example index.map('/'.join); {_OTHER_FORMS}"
        )
    return levels


_OTHER_FORMS = "mlaut.analysis.read_results(table, metric) takes other forms, as of one dataset"


def _places(index: pd.Index) -> tuple[tuple[str, ...], tuple[np.ndarray, ...]]:
    """Return the datasets in order, and each row's position by dataset, repeat and fold."""
    levels = _levels(index)
    for word, level in levels.items():
        empty = np.flatnonzero(index.get_level_values(level).isna())
        if len(empty):
            raise AnalysisError(
                f"row {empty[0]} of the table (the first is 0) has no {word}: name it, or drop it"
            )
    codes, datasets = pd.factorize(index.get_level_values(levels["dataset"]))
    at = (codes, *(_numbered(index, levels.get(word)) for word in ("repeat", "fold")))
    doubled = pd.MultiIndex.from_arrays(at).duplicated()
    if doubled.any():
        raise AnalysisError(
            f"the table has several rows for {_row(index[doubled][0])}: dataset names must differ; "
            "number runs and folds in columns 'repeat' and 'fold' (of a DataFrame, in its index)"
        )
    return tuple(str(name) for name in datasets), at


def _numbered(index: pd.Index, level: int | None) -> np.ndarray:
    """Return the position of each row's fold or repeat; 0 for all rows without such a level."""
    if level is None:
        return np.zeros(len(index), dtype=int)
    values = index.get_level_values(level)
    try:
        return pd.factorize(values, sort=True)[0]
    except TypeError:  # numbers and texts have no order
        raise AnalysisError(f"the level {index.names[level]!r} mixes numbers and texts") from None


def _sizes(
    name: str, given: Any, index: pd.Index, at: tuple[np.ndarray, ...], shape: tuple[int, ...]
) -> np.ndarray | None:
    """Return the sizes of test or training sets by dataset, repeat and fold."""
    if given is None:
        return None
    if isinstance(given, pd.Series):
        if given.index.has_duplicates:
            raise AnalysisError(f"the index of {name} names a row of the table more than once")
        given = given.reindex(index)
    rows = floats(name, given)
    if rows.shape not in ((), (1,), (len(index),)):
        raise AnalysisError(
            f"{name} has shape {rows.shape}, and the table {len(index)} rows: give one number, or "
            "one for each row"
        )
    rows = np.broadcast_to(rows, len(index))
    if not ((rows > 0) & (rows < 2**53) & (rows == np.floor(rows))).all():
        raise AnalysisError(f"{name} must be a positive number for every row, and a whole one")
    sizes = np.zeros(shape, dtype=int)
    sizes[at] = rows.astype(int)
    return sizes


def _zero_one_variances(cells: np.ndarray, n_test: np.ndarray | None) -> np.ndarray | None:
    if n_test is None:
        return None
    n = n_test[:, None].astype(float)
    return cells * (1 - cells) * np.where(n > 1, n / np.maximum(n - 1, 1), np.nan)

"""Predictions of other programs, stored in a study as a strategy that is marked as foreign."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd

from mlaut.errors import StudyError, nearest, some_of
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.plugins import digest
from mlaut.records import CLASSIFICATION, Cell, Outcome, Status, check_name, not_distributions

_WHOLE = ("repeat", "fold", "row")
_SECONDS = ("tuning_seconds", "fitting_seconds", "predicting_seconds")
_ROUNDING = 1e-9  # relative difference of two truths that is rounding of a text file


def import_predictions(
    study: StudyStore, table: pd.DataFrame, *, strategy: str, source: str, overwrite: bool = False
) -> int:
    """Store the predictions of another program as a strategy of a study.

    Everything is checked before anything is written. A stored prediction is as safe as one of a
    run: it survives the death of the process.

    Parameters
    ----------
    study : StudyStore
        A study with the splits of the datasets.
    table : DataFrame
        One row for each test row of each fold, with these columns:

        - ``dataset``, a name in the study; may be absent if the study has one dataset;
        - ``repeat`` and ``fold``, from 0; may be absent where the study has one;
        - ``row``, the position of the row in its dataset, from 0. Without it the rows of each fold
          must stand in the order of the dataset, and ``truth`` must be there to check that;
        - ``prediction``, a class label or a number;
        - ``truth``, optional, is compared with the truth of the study;
        - ``confidence.<label>``, optional, for every class: its probability;
        - ``tuning_seconds``, ``fitting_seconds``, ``predicting_seconds``, optional, the same in
          all rows of a fold.
    strategy : str
        Name of the strategy in the study.
    source : str
        Origin of the predictions, for example ``"ranger 0.16, R 4.3"``; every report shows it.
    overwrite : bool, default False
        Whether to replace predictions of this strategy that differ from the new ones.

    Returns
    -------
    int
        Number of cells that were stored; cells that hold the same predictions are left alone.

    Raises
    ------
    StrategyError
        The name cannot name a strategy.
    StudyError
        A column, dataset, fold, row or label does not fit the study; a fold has not exactly its
        test rows; the truth differs; or other predictions are stored already.

    Examples
    --------
    >>> import tempfile
    >>> from mlaut.records import Split
    >>> folds = np.array([[0, 1, 0]], dtype=np.int16)
    >>> entry = SplitEntry("iris", "/uci/iris", "Classification", "f", ("n", "y"),
    ...                    np.array([0, 1, 1], dtype=np.int32), Split(folds, "kfold(2)"))
    >>> table = pd.DataFrame({"fold": [0, 0, 1], "row": [0, 2, 1], "prediction": ["n", "n", "y"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = StudyStore(folder + "/study.h5")
    ...     study.save_splits([entry])
    ...     import_predictions(study, table, strategy="ranger", source="R")
    ...     study.block("iris").predictions.tolist()
    2
    [[[0, 1, 0]]]
    """
    check_name(strategy)
    entries = study.load_splits()
    _check_study(study, strategy, "" if overwrite else source)
    outcomes = list(_outcomes(_named(table, entries), entries, strategy))
    stored = next((s for s in study.strategies if s.name == strategy), None)
    earlier = stored.metadata.get("tasks", ()) if stored else ()
    tasks = dict.fromkeys([*earlier, *(entries[o.cell.dataset].task for o in outcomes)])
    identity = {"foreign": source}  # no code is known
    about = {"estimator_family": ["foreign"], "tasks": list(tasks), "foreign": source}
    entry = StrategyEntry(strategy, digest(identity), identity, about)
    new = outcomes
    if stored is not None and stored.is_same(entry):  # else all its outcomes are discarded
        new = _differing(study, outcomes, overwrite)
    by_dataset = {name: [strategy] for name in dict.fromkeys(o.cell.dataset for o in outcomes)}
    study.allocate([entry], by_dataset, replace=overwrite)
    if not new:
        return 0
    record = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "engine": f"import from {source}",
    }
    with study.writing(record) as writer:
        writer.write(*new)
    return len(new)


def _check_study(study: StudyStore, strategy: str, source: str) -> None:
    """Check that a study can take a foreign strategy; an empty ``source`` fits every source."""
    if study.race is not None:
        raise StudyError(
            f"{study.path}: is a race, and a strategy cannot join a race that has begun; import "
            f"{strategy!r} into a study of the same datasets without [race]"
        )
    for entry in study.strategies:
        if entry.name != strategy:
            continue
        origin = entry.metadata.get("foreign")
        if not origin:
            raise StudyError(
                f"{study.path}: {strategy!r} is a strategy that was run here; import the "
                "predictions under another name"
            )
        if source and origin != source:
            raise StudyError(
                f"{study.path}: the predictions of {strategy!r} come from {origin!r}, and these "
                f"from {source!r}; import them under another name, or replace all with overwrite"
            )


def _named(table: pd.DataFrame, entries: Mapping[str, SplitEntry]) -> pd.DataFrame:
    """Return the table with columns dataset, repeat and fold, where only one value is possible."""
    if not isinstance(table, pd.DataFrame) or table.empty:
        raise StudyError("predictions are a DataFrame with one row for each test row of each fold")
    table = table.rename(columns=str)
    if "prediction" not in table:
        hint = nearest("prediction", list(table.columns))
        raise StudyError(f"the table has no column 'prediction'{hint}")
    for at, name in enumerate(table):
        table.isetitem(at, _checked(table.iloc[:, at], str(name)).array)
    if table.columns.has_duplicates:
        twice = table.columns[table.columns.duplicated()][0]
        raise StudyError(f"the table has two columns {twice!r}; leave one of them out")
    only: dict[str, list[Any]] = {
        "dataset": list(entries),
        "repeat": list(range(max(entry.split.n_repeats for entry in entries.values()))),
        "fold": list(range(max(entry.split.n_folds for entry in entries.values()))),
    }
    for column, values in only.items():
        if column not in table:
            if len(values) != 1:
                raise StudyError(
                    f"the table has no column {column!r}, and the study has {len(values)} of them"
                )
            table = table.assign(**{column: values[0]})
    if "row" not in table and "truth" not in table:
        raise StudyError(
            "the table has neither 'row' nor 'truth', so nothing says which prediction belongs to "
            "which row of the dataset; add one of the two columns"
        )
    return table


def _checked(values: pd.Series, name: str) -> pd.Series:
    """Return a column, as numbers where it must hold numbers."""
    try:
        values.nunique()
    except TypeError as error:
        raise StudyError(f"column {name!r} has lists; write one value in each row") from error
    whole = name in _WHOLE
    if not whole and name not in _SECONDS and not name.startswith("confidence."):
        return values
    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    wrong = numbers.isna() & (whole | values.notna()) | np.isinf(numbers) | (numbers < 0)
    if whole:
        wrong |= numbers % 1 != 0
    if values.dtype.kind in "mM":
        wrong[:] = True
    if wrong.any():
        what = "position, counted from 0" if whole else "number that can stand there"
        raise StudyError(f"column {name!r} has {values[wrong].tolist()[0]!r}, which is no {what}")
    return numbers.astype(int) if whole else numbers


def _outcomes(
    table: pd.DataFrame, entries: Mapping[str, SplitEntry], strategy: str
) -> Iterator[Outcome]:
    keys = ["dataset", "repeat", "fold"]
    for key, rows in table.groupby(keys, sort=False, dropna=False):
        dataset, repeat, fold = cast("tuple[str, Any, Any]", key)
        if dataset not in entries:
            raise StudyError(
                f"the study has no dataset {dataset!r}{nearest(str(dataset), entries)}"
            )
        entry = entries[dataset]
        split = entry.split
        if entry.targets:
            raise StudyError(
                f"dataset {dataset!r} has several targets, of which no predictions of other "
                "programs are taken; run the learner as a strategy"
            )
        if repeat not in range(split.n_repeats) or fold not in range(split.n_folds):
            raise StudyError(
                f"{dataset}: repeat {repeat}, fold {fold}: the study has {split.n_repeats} repeats "
                f"of {split.n_folds} folds, numbered from 0"
            )
        yield _outcome(Cell(dataset, strategy, int(repeat), int(fold)), rows, entry)


def _outcome(cell: Cell, rows: pd.DataFrame, entry: SplitEntry) -> Outcome:
    test = entry.split.rows(cell.repeat, cell.fold)[1]
    if "row" in rows:
        rows = rows.sort_values("row")
        at = rows["row"].to_numpy()
        if not np.array_equal(at, test):
            odd = [*np.setdiff1d(at, test)[:1], *np.setdiff1d(test, at)[:1]]
            which = f"the first that differs: {odd[0]}" if odd else "a row occurs twice"
            raise StudyError(
                f"{cell}: its {len(test)} test rows and the {len(rows)} rows of the table are not "
                f"the same ({which}); predictions must come from the split of the study"
            )
    elif len(rows) != len(test):
        raise StudyError(
            f"{cell}: {len(rows)} predictions for {len(test)} test rows; predictions must come "
            "from the split of the study"
        )
    if "truth" in rows:
        _check_truth(cell, _encoded(rows["truth"], entry, cell), entry.truth[test], test)
    return Outcome(
        cell=cell,
        status=Status.DONE,
        predictions=_encoded(rows["prediction"], entry, cell),
        probabilities=_probabilities(rows, entry, cell),
        seconds=_seconds(rows),
    )


def _check_truth(cell: Cell, table_truth: np.ndarray, truth: np.ndarray, test: np.ndarray) -> None:
    if table_truth.dtype.kind == "f":
        wrong = ~np.isclose(table_truth, truth, rtol=_ROUNDING, atol=0)
    else:
        wrong = table_truth != truth
    if wrong.any():
        raise StudyError(
            f"{cell}: {int(wrong.sum())} of {len(wrong)} rows have another truth than in the study "
            f"(the first: row {test[wrong][0]}); the predictions are of other rows or of other data"
        )


def _encoded(values: pd.Series, entry: SplitEntry, cell: Cell) -> np.ndarray:
    """Return labels as positions in the classes (int32), or numbers (float64)."""
    if entry.task != CLASSIFICATION:
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            bad = values[~np.isfinite(numbers)].tolist()[0]
            raise StudyError(f"{cell}: {bad!r} in column {values.name!r} is no finite number")
        return numbers
    places: dict[Any, int] = {}
    for place, label in enumerate(entry.classes):
        for form in (str(label), label):  # a text file has the labels as text
            places[form] = place
    unknown = [label for label in values.unique().tolist() if label not in places]
    if unknown:
        raise StudyError(
            f"{cell}: {unknown[0]!r} in column {values.name!r} is no class of the dataset "
            f"({some_of(entry.classes)})"
        )
    return values.map(places).to_numpy(dtype=np.int32)


def _probabilities(rows: pd.DataFrame, entry: SplitEntry, cell: Cell) -> np.ndarray | None:
    columns = [f"confidence.{label}" for label in entry.classes]
    have = [name for name in columns if name in rows]
    if not have:
        return None
    if len(have) < len(columns):
        missing = next(name for name in columns if name not in rows)
        raise StudyError(f"{cell}: the table has no column {missing!r}, and has {have[0]!r}")
    probabilities = rows[columns].to_numpy(dtype=np.float32)
    if not_distributions(probabilities).any():
        raise StudyError(f"{cell}: the confidences of some rows are no probabilities with sum 1")
    return probabilities


def _seconds(rows: pd.DataFrame) -> tuple[float, float, float]:
    first = [float(rows[name].iloc[0]) if name in rows else np.nan for name in _SECONDS]
    return first[0], first[1], first[2]


def _differing(study: StudyStore, outcomes: Sequence[Outcome], overwrite: bool) -> list[Outcome]:
    """Return the outcomes that the study does not hold yet."""
    block_of, new = cache(study.block), []
    for outcome in outcomes:
        cell = outcome.cell
        block = block_of(cell.dataset)
        test = block.split.rows(cell.repeat, cell.fold)[1]
        done = same = False
        if cell.strategy in block.strategies:
            s = block.strategies.index(cell.strategy)
            done = bool(block.done[s, cell.repeat, cell.fold])
            predictions = cast(np.ndarray, outcome.predictions)  # the outcomes are all done
            same = done and np.array_equal(block.predictions[s, cell.repeat, test], predictions)
        if done and not same and not overwrite:
            raise StudyError(
                f"{cell}: other predictions are stored already; import under another name, or "
                "replace them with overwrite"
            )
        new += [] if same else [outcome]
    return new

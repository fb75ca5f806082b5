"""One cell: preprocess, tune, fit, predict and time, and say how it ended. Touches no study."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlaut.data.targets import positions
from mlaut.errors import MlautError
from mlaut.estimators import DataShape, MlautEstimator, search_limits
from mlaut.estimators.labels import fit_classifier
from mlaut.estimators.tuning import TuningRecord, tuning_record
from mlaut.experiments.answers import checked_predictions, checked_probabilities
from mlaut.experiments.cell_memory import (
    TuningBudget,
    lacked_memory,
    limited_memory,
    peak_memory,
    reset_peak_memory,
)
from mlaut.experiments.search_checkpoints import checkpoint_of
from mlaut.records import Cell, Dataset, Outcome, Status

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CellOptions", "Table", "cell_seed", "run_cell"]

_WARNINGS_KEPT = 10
_MOST_WARNINGS = 1000
_LONGEST_WARNING = 300
_LONGEST_REASON = 500
_LONGEST_LINE = 300  # of a traceback: a message may be a whole table
_LONGEST_VALUE = 1000  # of a chosen parameter, as JSON
_MOST_VALUES = 100
_TRACEBACK_LINES = 40
_LONGEST_CHAIN = 20


@dataclass(frozen=True)
class CellOptions:
    """How cells are run.

    Attributes
    ----------
    threads : int, default 1
        Threads that a cell may use inside.
    memory : int or None
        Bytes that a cell may allocate beyond what its process has.
    models : Path or None
        Folder that fitted models are saved to; None saves none.
    tuning_timeout : float or None
        CPU seconds after which a search chooses among the candidates that it has scored.
    checkpoints : Path or None
        Folder in which the scores of a search are kept while it runs; None keeps none.
    """

    threads: int = 1
    memory: int | None = None
    models: Path | None = None
    tuning_timeout: float | None = None
    checkpoints: Path | None = None


def cell_seed(seed: int, cell: Cell) -> int:
    """Derive the seed of a cell from its key, so that neither order nor workers change a result.

    Examples
    --------
    >>> cell_seed(0, Cell("iris", "SVC")) == cell_seed(0, Cell("iris", "SVC", fold=1))
    False
    """
    key = "\0".join([str(seed), cell.dataset, cell.strategy, str(cell.repeat), str(cell.fold)])
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little")


@dataclass(frozen=True, eq=False)
class Table:
    """A dataset as cells need it, taken apart once for all of them.

    Attributes
    ----------
    features : DataFrame, shape (n_rows, n_features)
    labels : ndarray, shape (n_rows,)
    classes : tuple
        Sorted class labels of the whole dataset; empty for regression.
    """

    features: pd.DataFrame
    labels: np.ndarray
    classes: tuple[Any, ...]

    @classmethod
    def of(cls, dataset: Dataset, classes: tuple[Any, ...]) -> Table:
        """Take a dataset apart."""
        labels = dataset.labels.to_numpy()
        if classes:
            labels = np.asarray(classes)[positions(dataset.labels, classes)]
        return cls(dataset.features, labels, classes)


def run_cell(
    cell: Cell,
    strategy: Callable[[], MlautEstimator],
    table: Table,
    rows: tuple[np.ndarray, np.ndarray],
    seed: int,
    options: CellOptions,
) -> Outcome:
    """Run one cell; whatever the strategy does in Python becomes an outcome.

    Parameters
    ----------
    cell : Cell
    strategy : callable
        Gives the strategy; it is unpickled within the bounds of the cell.
    table : Table
    rows : tuple of two ndarray of int
        Positions of the training and of the test rows.
    seed : int
        Of everything random in the cell.
    options : CellOptions
    """
    started, begun = time.time(), time.perf_counter()
    reset_peak_memory()
    with _warnings_counted() as warned:
        try:
            with _bounded(seed, options):
                outcome = _fit_and_predict(cell, strategy(), table, rows, seed, options)
        except (Exception, SystemExit) as error:
            outcome = _failed(cell, error)
    details = {
        **outcome.details,
        "warnings": _told(warned),
        "peak_memory": peak_memory(),
        "started": round(started, 3),
        "elapsed": time.perf_counter() - begun,
    }
    return replace(outcome, seed=seed, details=details)


@contextlib.contextmanager
def _bounded(seed: int, options: CellOptions) -> Iterator[None]:
    """Bound threads and memory, and seed the global generators that some estimators use."""
    from joblib import parallel_config

    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    backend = "sequential" if options.threads == 1 else "threading"
    with (
        _thread_pools(len(sys.modules)).limit(limits=options.threads),
        parallel_config(backend=backend),
        limited_memory(options.memory),
    ):
        yield


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> Any:  # noqa: ARG001 - looked for again when there are more
    """Find the thread pools of the libraries that are loaded, which takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _fit_and_predict(
    cell: Cell,
    strategy: MlautEstimator,
    table: Table,
    rows: tuple[np.ndarray, np.ndarray],
    seed: int,
    options: CellOptions,
) -> Outcome:
    train, test = rows
    shape = DataShape(len(train), table.features.shape[1], len(table.classes))
    begun = time.perf_counter()
    model = strategy.assemble(shape, random_state=seed, n_jobs=options.threads)
    with _limited_search(cell, options):
        known, labels = table.features.iloc[train], table.labels[train]
        if table.classes:
            model = fit_classifier(model, known, labels)
        else:
            model.fit(known, labels)
    fitted = time.perf_counter()
    tested = table.features.iloc[test]
    predicted = model.predict(tested)
    ended = time.perf_counter()
    tuning = tuning_record(model)
    tuned = max(0.0, fitted - begun - tuning.fit_seconds) if tuning else 0.0
    details = _details_of(tuning) if tuning else {}
    if options.models:
        from mlaut.experiments.saved_models import save_model

        details["model"] = save_model(options.models, cell, model)
    return Outcome(
        cell=cell,
        status=Status.DONE,
        predictions=checked_predictions(predicted, table.classes, len(test)),
        probabilities=checked_probabilities(model, tested, table.classes),
        seconds=(tuned, fitted - begun - tuned, ended - fitted),
        details=details,
    )


def _limited_search(cell: Cell, options: CellOptions) -> contextlib.AbstractContextManager[None]:
    """Let a search inside of the strategy stop in time, and go on from where it was killed."""
    timeout = options.tuning_timeout
    return search_limits(
        deadline=None if timeout is None else TuningBudget(timeout).over,
        checkpoint=checkpoint_of(options.checkpoints, cell),
    )


def _details_of(tuning: TuningRecord) -> dict[str, Any]:
    """Return what is stored of a search; of what is usual, nothing is said."""
    details: dict[str, Any] = {
        "best_params": _shortened_values(tuning.best_params),
        "tuning_score": tuning.best_score,
        "candidates": tuning.n_candidates,
    }
    if tuning.n_scored < tuning.n_candidates:
        details["candidates_scored"] = tuning.n_scored
    if tuning.n_resumed:
        details["scores_resumed"] = tuning.n_resumed
    return details


def _shortened(text: str, most: int) -> str:
    """Cut the middle out of a text that is longer than what is stored of it."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} [...] {text[-half:]}"


def _shortened_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters whose values are of a size to be read; of others the ends, as text."""
    shown: dict[str, Any] = {}
    for name, value in list(params.items())[:_MOST_VALUES]:
        text = json.dumps(value, ensure_ascii=False)
        long = len(text) > _LONGEST_VALUE
        shown[_shortened(name, _LONGEST_LINE)] = _shortened(text, _LONGEST_VALUE) if long else value
    return shown


def _failed(cell: Cell, error: BaseException) -> Outcome:
    told = "".join(traceback.format_exception(error)).splitlines()[-_TRACEBACK_LINES:]
    return Outcome(
        cell,
        status=Status.MEMORY if _for_lack_of_memory(error) else Status.ERROR,
        reason=_shortened(_reason(error), _LONGEST_REASON),
        details={"traceback": "\n".join(_shortened(line, _LONGEST_LINE) for line in told)},
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, MlautError):
        return str(error)
    lines = _text(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _text(error: BaseException) -> str:
    """Return what an error says: nothing where it cannot be written."""
    try:
        return str(error)
    except Exception:
        return ""


def _for_lack_of_memory(error: BaseException) -> bool:
    """Return whether an error, or one that led to it, says that an allocation failed."""
    led: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if led is None:
            return False
        if lacked_memory(led):
            return True
        led = led.__cause__ or led.__context__
    return False


@contextlib.contextmanager
def _warnings_counted() -> Iterator[dict[str, int]]:
    """Count each different warning, however often it comes, instead of showing it."""
    counts: dict[str, int] = {}

    def count(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = f"{category.__name__}: {' '.join(str(message).split())}"[:_LONGEST_WARNING]
        if text in counts or len(counts) < _MOST_WARNINGS:
            counts[text] = counts.get(text, 0) + 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = count
        yield counts


def _told(counts: dict[str, int]) -> list[str]:
    """Each different warning once, with how often it came."""
    told = [text if n == 1 else f"{text} ({n} times)" for text, n in counts.items()]
    more = len(told) - _WARNINGS_KEPT
    return told[:_WARNINGS_KEPT] + ([f"and {more} further warnings"] if more > 0 else [])

"""Run one cell: preprocess, tune, fit, predict, measure the times, and return the outcome.

Nothing here opens a study.
"""

import contextlib
import json
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from time import perf_counter, time  # bound before a strategy could replace them
from typing import Any

import numpy as np

from mlaut.errors import DivergedError, MlautError, StoreError
from mlaut.estimators import DataShape, MlautEstimator
from mlaut.estimators.libraries.session import in_session
from mlaut.estimators.preparing.preprocessing import explained_texts
from mlaut.estimators.preparing.related_rows import relate, relation_of_fold
from mlaut.estimators.searches.traces import search_in, trace_of
from mlaut.estimators.searches.tuning import TuningRecord, limited_search, tuning_record
from mlaut.experiments.cells import memory as limits
from mlaut.experiments.cells.cell_input import CellOptions, FoldTable
from mlaut.experiments.cells.fold_models import FoldModel, new_model
from mlaut.experiments.cells.prediction_checks import checked_predictions, checked_probabilities
from mlaut.experiments.cells.search_checkpoints import checkpoint_of
from mlaut.files_io.outcomes.traces import pack_trace
from mlaut.records import UNSAVED, Cell, Outcome, Status, Trace

# Bounds on the texts that are stored with a cell. Lengths are in characters.
_WARNINGS_KEPT = 10  # different warnings that are stored
_MOST_WARNINGS = 1000  # different warnings that are counted
_LONGEST_WARNING = 300  # characters, here and below: a message of a library may be a whole table
_LONGEST_REASON = 500
_LONGEST_LINE = 300  # line of a traceback; the message of an error may be a whole table
_LONGEST_VALUE = 1000  # value of a chosen parameter, as JSON
_MOST_VALUES = 100  # chosen parameters
_TRACEBACK_LINES = 40  # the last lines, which name the cause
_LONGEST_CHAIN = 20  # errors that led to one another


def run_cell(
    cell: Cell,
    strategy: Callable[[], MlautEstimator],
    table: FoldTable,
    rows: tuple[np.ndarray, np.ndarray],
    seed: int,
    options: CellOptions,
    labels: np.ndarray | None = None,
) -> Outcome:
    """Run one cell and return its outcome; an exception of the strategy becomes a failed outcome.

    Parameters
    ----------
    cell : Cell
    strategy : callable
        Function that returns the strategy. It is called inside the cell, so that the limits of
        the cell also hold for unpickling.
    table : FoldTable
    rows : tuple of two ndarray of int
        Positions of the training rows and of the test rows.
    seed : int
        Seed of the cell.
    options : CellOptions
    labels : ndarray, shape (n_train,), optional
        Labels of the training rows; default those of the table, which has none in a worker.
    """
    started, begun = time(), perf_counter()
    limits.reset_peak_memory()
    with _warnings_counted() as warned:
        try:
            with _bounded(seed, options):
                outcome = _fit_and_predict(cell, strategy(), table, rows, labels, seed, options)
        except (Exception, SystemExit) as error:
            outcome = _failed(cell, error)
    details = {
        **outcome.details,
        "warnings": _listed_warnings(warned),
        "peak_memory": limits.peak_memory(),
        "started": round(started, 3),
        "elapsed": perf_counter() - begun,
    }
    return replace(outcome, seed=seed, details=details)


@contextlib.contextmanager
def _bounded(seed: int, options: CellOptions) -> Iterator[None]:
    """Limit threads and memory, seed the global generators, and set what the session has set."""
    from joblib import parallel_config

    backend = "sequential" if options.threads == 1 else "threading"
    with in_session(options.settings):  # it may import what draws random numbers
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        with (
            limited_threads(options.threads),
            parallel_config(backend=backend),
            limits.limited_memory(options.memory),
        ):
            yield


def limited_threads(threads: int) -> contextlib.AbstractContextManager[object]:
    """Limit the threads of the loaded libraries; in workers they mostly have the limit already."""
    pools = _thread_pools(len(sys.modules))
    if all(pool.num_threads == threads for pool in pools.lib_controllers):
        return contextlib.nullcontext()
    return pools.limit(limits=threads)


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> Any:  # noqa: ARG001 - key of the cache
    """Return the thread pools of the loaded libraries.

    Finding them takes milliseconds, so they are cached until more modules are loaded.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _fit_and_predict(
    cell: Cell,
    strategy: MlautEstimator,
    table: FoldTable,
    rows: tuple[np.ndarray, np.ndarray],
    labels: np.ndarray | None,
    seed: int,
    options: CellOptions,
) -> Outcome:
    train, test = rows
    counts = len(train), len(table.classes), cell.dataset, table.n_targets
    shape = DataShape.of(table.features, *counts)
    begun = perf_counter()
    assembled, traits = new_model(strategy, shape, seed, options.threads)
    if related := relation_of_fold(table.groups, table.times, train, test):
        relate(assembled, related)
    model = FoldModel(assembled, traits, table, saved=options.models is not None)
    with _limited_search(cell, seed, options), explained_texts(table.features):
        model.fit(train, labels)
    fitted = perf_counter()
    tested = model.test_rows(test)
    predicted = model.asked.predict(tested)
    ended = perf_counter()
    tuning = tuning_record(model.asked)
    details = _details_of(tuning) if tuning else {}
    trace = _trace(model, tested, table, len(test), seed) if tuning else None
    traced = 0.0  # wall seconds of the fits of incumbents
    if trace and trace.incumbents:
        details["incumbent_seconds"] = traced = search_in(model.asked).incumbent_seconds_
    searched = max(0.0, fitted - begun - traced)  # of tuning and the final fit
    tuned = min(max(0.0, searched - tuning.fit_seconds), searched) if tuning else 0.0
    if options.models:
        from mlaut.experiments.cells.saved_models import save_model

        try:
            details["model"] = save_model(options.models, cell, model.model)
        except StoreError as error:  # the disk failed, not the strategy: the run ends
            return Outcome(cell, Status.ERROR, reason=str(error), details={UNSAVED: True})
    return Outcome(
        cell=cell,
        status=Status.DONE,
        predictions=checked_predictions(predicted, table.classes, len(test), table.n_targets),
        probabilities=checked_probabilities(model.asked, tested, table.classes, table.n_targets),
        seconds=(tuned, searched - tuned, ended - fitted),
        details=details,
        trace=pack_trace(trace) if trace else b"",
    )


def _limited_search(
    cell: Cell, seed: int, options: CellOptions
) -> contextlib.AbstractContextManager[None]:
    """Set the deadline of a search inside the strategy, and the checkpoint that it resumes from."""
    timeout = options.tuning_timeout
    return limited_search(timeout is not None or options.trace_predictions)(
        seconds=timeout,
        checkpoint=checkpoint_of(options.checkpoints, cell),
        order=seed if options.trace_predictions else None,
    )


def _trace(model: FoldModel, tested: Any, table: FoldTable, n_test: int, seed: int) -> Trace | None:
    """Return the trace of the search, with what its incumbents predict where they were fitted."""
    search, trace = search_in(model.asked), trace_of(model.asked, seed)
    fitted = getattr(search, "incumbents_", None)
    if trace is None or not fitted:
        return trace
    chosen, predicted = search.best_estimator_, {}
    for candidate, search.best_estimator_ in fitted.items():
        predicted[candidate] = (
            checked_predictions(
                model.asked.predict(tested), table.classes, n_test, table.n_targets
            ),
            checked_probabilities(model.asked, tested, table.classes, table.n_targets),
        )
    search.best_estimator_ = chosen
    del search.incumbents_  # a saved model does not need them
    return replace(trace, incumbents=predicted)


def _details_of(tuning: TuningRecord) -> dict[str, Any]:
    """Return the details of a search that are stored with its cell.

    The numbers of scored and of resumed candidates are left out when they are as expected: all
    and none.
    """
    details: dict[str, Any] = {
        "best_params": _shortened_values(tuning.best_params),
        "tuning_score": tuning.best_score,
        "candidates": tuning.n_candidates,
    }
    if tuning.honest_score is not None:
        details["honest_score"] = tuning.honest_score
    if tuning.n_scored < tuning.n_candidates:
        details["candidates_scored"] = tuning.n_scored
    if tuning.n_resumed:
        details["scores_resumed"] = tuning.n_resumed
    return details


def _shortened(text: str, most: int) -> str:
    """Return a text, without its middle if it is longer than ``most`` characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} [...] {text[-half:]}"


def _shortened_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for storing; a value that is too long becomes shortened JSON text."""
    shown: dict[str, Any] = {}
    for name, value in list(params.items())[:_MOST_VALUES]:
        text = json.dumps(value, ensure_ascii=False)
        long = len(text) > _LONGEST_VALUE
        shown[_shortened(name, _LONGEST_LINE)] = _shortened(text, _LONGEST_VALUE) if long else value
    return shown


def _failed(cell: Cell, error: BaseException) -> Outcome:
    lines = "".join(traceback.format_exception(error)).splitlines()[-_TRACEBACK_LINES:]
    status = Status.MEMORY if _for_lack_of_memory(error) else Status.ERROR
    return Outcome(
        cell,
        status=Status.DIVERGED if isinstance(error, DivergedError) else status,
        reason=_shortened(_reason(error), _LONGEST_REASON),
        details={"traceback": "\n".join(_shortened(line, _LONGEST_LINE) for line in lines)},
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, MlautError):
        return str(error)
    lines = _text(error).strip().splitlines() or [""]
    cause = f" {lines[-1].strip()}" if lines[0].endswith("fits failed.") and lines[1:] else ""
    return f"{type(error).__name__}: {lines[0]}{cause}".removesuffix(": ")


def _text(error: BaseException) -> str:
    """Return the message of an error; empty if ``str`` fails on it."""
    try:
        return str(error)
    except Exception:
        return ""


def _for_lack_of_memory(error: BaseException) -> bool:
    """Return whether an error, or one in its chain of causes, reports a failed allocation."""
    led: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if led is None:
            return False
        if limits.lacked_memory(led):
            return True
        led = led.__cause__ or led.__context__
    return False


@contextlib.contextmanager
def _warnings_counted() -> Iterator[dict[str, int]]:
    """Yield the counts of each different warning of the block; no warning is shown."""
    counts: dict[str, int] = {}

    def count(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = f"{category.__name__}: {' '.join(str(message).split())}"[:_LONGEST_WARNING]
        if text in counts or len(counts) < _MOST_WARNINGS:
            counts[text] = counts.get(text, 0) + 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = count
        yield counts


def _listed_warnings(counts: dict[str, int]) -> list[str]:
    """Return each different warning once, with its number of occurrences."""
    listed = [text if n == 1 else f"{text} ({n} times)" for text, n in counts.items()]
    more = len(listed) - _WARNINGS_KEPT
    return listed[:_WARNINGS_KEPT] + ([f"and {more} further warnings"] if more > 0 else [])

"""Check the options of a run, and read from them what its cells need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mlaut.errors import MlautError, StudyError, nearest
from mlaut.experiments.cells import memory as limits
from mlaut.experiments.cells.search_checkpoints import checkpoints_folder
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.shards import Shard
from mlaut.files_io.studies.models import models_folder
from mlaut.records import Status

if TYPE_CHECKING:  # reading a study file must not import scikit-learn, which takes a second
    from mlaut.experiments.cells.cell import CellOptions

T = TypeVar("T")


def checked_options(options: Mapping[str, Any], strategies: Sequence[str]) -> RunOptions:
    """Return the options of a run of these strategies; raise the first error of `mistakes_in`."""
    chosen = RunOptions().replaced(options)
    for mistake in mistakes_in(chosen, strategies):
        raise mistake
    return chosen


def mistakes_in(options: RunOptions, strategies: Sequence[str]) -> list[MlautError]:
    """Return an error for each option that is invalid, in a run of these strategies."""
    from mlaut.estimators.searches.words import parse_budget, parse_search
    from mlaut.experiments.engines.engine import check_engine

    mistakes: list[MlautError] = []
    collect(mistakes, limits.parse_seconds, options.timeout)
    collect(mistakes, limits.parse_seconds, options.tuning_timeout, "tuning_timeout")
    collect(mistakes, parse_search, options.search or "grid")
    collect(mistakes, parse_budget, options.budget)
    collect(mistakes, limits.parse_memory, options.memory)
    collect(mistakes, check_engine, options)
    collect(mistakes, parse_retry, options.retry, strategies)
    collect(mistakes, Shard.parse, options.shard or "1/1")
    for name in ("limits", "overwrite_predictions", "save_models", "trace_predictions"):
        if not isinstance(value := getattr(options, name), bool):
            own = "; a strategy has a limit of its own in size_limit" if name == "limits" else ""
            mistakes.append(StudyError(f"{name} {value!r}: must be True or False{own}"))
    return mistakes


def cell_options(options: RunOptions, study: Path) -> CellOptions:
    """Return the options that all cells of a run share.

    Parameters
    ----------
    options : RunOptions
    study : Path
        Path of the study's database, beside which models and unfinished searches are stored.

    Raises
    ------
    StudyError
        A limit cannot be parsed, or this system cannot enforce it.
    """
    from mlaut.estimators.libraries.session import session_settings
    from mlaut.experiments.cells.cell import CellOptions

    memory = limits.parse_memory(options.memory)
    if options.engine != "dask":
        if memory is not None:
            limits.check_memory_can_be_limited()
        if isinstance(limits.parse_seconds(options.timeout), limits.CpuSeconds):
            limits.check_cpu_can_be_measured()
    return CellOptions(
        threads=options.threads,
        memory=memory,
        models=models_folder(study).absolute() if options.save_models else None,
        tuning_timeout=limits.parse_seconds(options.tuning_timeout, "tuning_timeout"),
        checkpoints=checkpoints_folder(study).absolute(),
        trace_predictions=options.trace_predictions,
        settings=session_settings(),
    )


def collect(mistakes: list[MlautError], call: Callable[..., T], *arguments: Any) -> T | None:
    """Return the value of a call; append a `MlautError` that it raises to ``mistakes``."""
    try:
        return call(*arguments)
    except MlautError as error:
        mistakes.append(error)
        return None


def parse_retry(
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]], strategies: Sequence[str]
) -> dict[str, frozenset[Status]]:
    """Return the statuses of the cells that are tried again, by strategy.

    Parameters
    ----------
    retry : str, sequence of str, or mapping of str to either
        Statuses (``"error"``, ``"timeout"``, ``"memory"``, ``"crashed"``, ``"diverged"``,
        ``"skipped"``), for all strategies or by strategy.
    strategies : sequence of str
        Names of the strategies of the run.

    Raises
    ------
    StudyError
        A word is not one of these statuses, or a strategy is not part of the run.

    Examples
    --------
    >>> sorted(parse_retry("timeout", ["SVC"])["SVC"])
    [<Status.TIMEOUT: 3>]
    """
    by_strategy = retry if isinstance(retry, Mapping) else dict.fromkeys(strategies, retry)
    words = {status.word: status for status in Status if status.failed or status is Status.SKIPPED}
    parsed = dict.fromkeys(strategies, frozenset[Status]())
    for name, statuses in by_strategy.items():
        if name not in parsed:
            raise StudyError(f"retry: strategy {name!r} is not part of this run; check its name")
        if not isinstance(statuses, Iterable):
            raise StudyError(
                f"retry {statuses!r}: not the status of a failed cell; use {', '.join(words)}"
            )
        chosen = [statuses] if isinstance(statuses, str) else list(statuses)
        for word in chosen:
            if word not in words:
                hint = nearest(word, words) or f"; use {', '.join(words)}"
                raise StudyError(f"retry {word!r}: not the status of a failed cell{hint}")
        parsed[name] = frozenset(words[word] for word in chosen)
    return parsed

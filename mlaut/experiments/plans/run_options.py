"""Check the options of a run, and read from them what its cells need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mlaut.errors import MlautError, StudyError, refuse_unknown
from mlaut.experiments.cells import memory as limits
from mlaut.experiments.cells.cell_input import CellOptions
from mlaut.experiments.cells.search_checkpoints import checkpoints_folder
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.shards import Shard
from mlaut.experiments.workers.allotted import allotted_cores, allotted_memory
from mlaut.files_io.studies.models import models_folder
from mlaut.records import Status

T = TypeVar("T")
_OF_THE_RUN = 2**30  # bytes that a run itself, its server and its workers take


def checked_options(options: Mapping[str, Any], strategies: Sequence[str]) -> RunOptions:
    """Return the options of a run of these strategies; raise the first error of `mistakes_in`."""
    chosen = RunOptions().replaced(options)
    for mistake in mistakes_in(chosen, strategies):
        raise mistake
    return chosen


def mistakes_in(options: RunOptions, strategies: Sequence[str]) -> list[MlautError]:
    """Return an error for each option that is invalid, in a run of these strategies."""
    from mlaut.estimators.searches.wanted import parse_budget, parse_search
    from mlaut.experiments.engines.engine import check_engine

    mistakes: list[MlautError] = []
    collect(mistakes, limits.parse_seconds, options.timeout)
    collect(mistakes, limits.parse_seconds, options.tuning_timeout, "tuning_timeout")
    if options.tuning_timeout is not None or options.trace_predictions:
        from mlaut.estimators.searches.tuning import limited_search

        collect(mistakes, limited_search, True)
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

    memory = limits.parse_memory(options.memory) or _memory_of_job(options)
    if not options.elsewhere:
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


def _memory_of_job(options: RunOptions) -> int | None:
    """Return the memory limit of a cell that names none: what its job leaves it, if it has one."""
    allotted = allotted_memory()
    if allotted is None or options.elsewhere or not limits.memory_can_be_limited():
        return None
    return allotted[0] - min(allotted[0] // 4, _OF_THE_RUN)


def beyond_the_job(options: RunOptions, n_workers: int) -> list[str]:
    """Return a line on each limit of a local run that its job or container does not have.

    Where the run has no limit of memory, the line says which one cells get.
    """
    if options.elsewhere:
        return []
    lines, cores, allotted = [], allotted_cores(), allotted_memory()
    if cores and n_workers * options.threads > cores:
        lines.append(
            f"{n_workers} cells at a time with {options.threads} threads each, and the job has "
            f"{cores} cores: they wait for each other; n_jobs=-1 takes what there is"
        )
    if allotted and (memory := limits.parse_memory(options.memory)):
        if memory * n_workers > allotted[0]:
            lines.append(
                f"{n_workers} cells at a time may take {_gib(memory)} each, and {allotted[1]} has "
                f"{_gib(allotted[0])}: beyond that the whole run is killed; ask for more, or "
                "lower memory or n_jobs"
            )
    elif allotted and (given := _memory_of_job(options)):
        lines.append(f"a cell may take {_gib(given)}, of the {_gib(allotted[0])} of {allotted[1]}")
    return lines


def _gib(size: int) -> str:
    return f"{size / 2**30:.3g} GiB"


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
        of = ": not the status of a failed cell"
        refuse_unknown(chosen, words, StudyError, "retry", of, "use")
        parsed[name] = frozenset(words[word] for word in chosen)
    return parsed

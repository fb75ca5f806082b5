"""Options of a run, declared once: `Orchestrator.run`, study files and the command line read them.

This module imports errors only, so that the command line begins quickly.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypedDict, TypeVar

from mlaut.errors import StudyError, refuse_unknown

ENGINES = {
    "local": "mlaut.experiments.engines.engine:LocalEngine",
    "inline": "mlaut.experiments.engines.engine:InlineEngine",
}
"""Class of each engine with a name; plug-ins add more."""

TUNING = ("search", "budget", "trace_predictions")
"""Options of a run that a study file has in its section ``[tuning]``."""

_LIMIT = (str, int, float)

F = TypeVar("F", bound=Callable[..., Any])


def _option(
    default: Any, kinds: tuple[type, ...], *flags: str, text: str = "", recorded: bool = True
) -> Any:
    """Return a field of `RunOptions`.

    Parameters
    ----------
    default : object
    kinds : tuple of type
        Types that a study file may use for the value.
    *flags : str
        Flags of the command line; without any, ``--set NAME=VALUE`` sets the option.
    text : str
        Text of the flag in ``mlaut run --help``.
    recorded : bool, default True
        Whether the record of the run stores the value.
    """
    metadata = {"kinds": kinds, "flags": flags, "text": text, "recorded": recorded}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class RunOptions:
    """Options of a run: the arguments of ``Orchestrator.run``, and ``[run]`` of a study file.

    Attributes
    ----------
    n_jobs : int or None, default -1
        Number of worker processes; -1 uses one per core.
    timeout : float or str, optional
        Time limit of a cell: seconds of wall time, or for example ``"10m"``; ``"10m cpu"`` limits
        the CPU time of the cell with all its threads and processes, which other programs on the
        machine hardly change. A cell that mostly waits then ends after ten times as long by the
        clock.
    tuning_timeout : float or str, optional
        CPU time, of all threads of a cell together, after which tuning starts no further fit and
        chooses among the candidates that are scored on all folds. The details of the cell record
        their number. Other programs on the machine do not use up this time. A search that mostly
        waits ends after ten times as long by the clock.
    memory : float or str, optional
        Memory limit of a cell: bytes, or for example ``"4GiB"``.
    threads : int, default 1
        Threads inside each worker. Their number can change the last bits of a result, so it does
        not depend on ``n_jobs``.
    retry : str, sequence of str, or mapping by strategy, default ()
        Statuses of failed cells to try again: ``"timeout"`` or ``["timeout", "crashed"]``.
    overwrite_predictions : bool, default False
        Run strategies again that are stored under the same name with other parameters, and replace
        their stored outcomes.
    save_models : bool, default False
        Save each fitted model in the folder ``<study>.models``, for `Orchestrator.predict_all` and
        `mlaut.experiments.load_model`.
    limits : bool, default True
        Skip the datasets that are above the size limit of a strategy. Their cells get the status
        ``skipped``, with the reason; ``retry=["skipped"]`` tries them later.
    engine : {"local", "inline", "dask"} or Engine, default "local"
        Where cells run: in processes of this machine, in this process, or on a Dask cluster (with
        the plug-in ``mlaut-dask``). An engine of your own is an object with the methods ``run`` and
        ``of``, and fulfils the contract of `mlaut.experiments.engines.engine.Engine`.
    scheduler : str or distributed.Client, optional
        Address or client of the Dask cluster, for example ``"tls://10.0.0.1:8786"``.
    search : str, default ""
        How strategies that tune choose their candidates: ``"grid"``, ``"random(50)"``,
        ``"halving(81)"`` or ``"optuna(50)"``, of the plug-in mlaut-sharing. Empty: the
        grid. A strategy with a search of its own keeps that. Part of the identity of a strategy,
        as ``budget`` is. In a study file, these three stand in ``[tuning]``.
    budget : str or float, optional
        Budget of each search: ``"50 evaluations"`` or 50, ``"10m cpu"``, or ``"10m"`` (wall time).
    trace_predictions : bool, default False
        Also fit what tuning would have chosen with budgets of 1, 2, 4, ... candidates, and store
        what that predicts, for `mlaut.analysis.score_against_budget`. This takes at most as many
        further fits for each cell as the number of its candidates can be halved.
    shard : str, optional
        Share of the cells to run, for example ``"2/10"``: the second of ten. Each shard is a
        database of its own; `mlaut.merge_studies` joins them.
    """

    n_jobs: int | None = _option(
        -1, (int,), "-j", "--n-jobs", text="Worker processes; -1: one per core."
    )
    timeout: str | float | None = _option(
        None, _LIMIT, "--timeout", text="Limit of a cell: 10m (wall time), or '10m cpu' (CPU time)."
    )
    tuning_timeout: str | float | None = _option(None, _LIMIT)
    memory: str | float | None = _option(None, _LIMIT)
    threads: int = _option(1, (int,))
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]] = _option(
        (),
        (str, list),
        "--retry",
        text="Try failed cells of this status again (repeatable).",
        recorded=False,
    )
    overwrite_predictions: bool = _option(False, (bool,), recorded=False)
    save_models: bool = _option(False, (bool,), recorded=False)
    limits: bool = _option(True, (bool,))
    engine: Any = _option("local", (str,), recorded=False)  # noqa: RUF009
    scheduler: Any = _option(None, (str,), recorded=False)  # noqa: RUF009
    search: str = _option("", (str,))
    budget: str | float | None = _option(None, _LIMIT)
    trace_predictions: bool = _option(False, (bool,))
    shard: str | None = _option(
        None,
        (str,),
        "--shard",
        text="Run a share of the cells, as 2/10, into a file of its own; 'mlaut merge' joins them.",
    )

    def replaced(self, changes: Mapping[str, Any]) -> Self:
        """Return the options with some values replaced.

        Raises
        ------
        StudyError
            There is no option of that name.

        Examples
        --------
        >>> RunOptions().replaced({"n_jobs": 2}).n_jobs
        2
        >>> RunOptions().replaced({"timeot": "1h"})
        Traceback (most recent call last):
        mlaut.errors.StudyError: unknown option 'timeot' of a run; did you mean 'timeout'?
        """
        names = [option.name for option in dataclasses.fields(self)]
        refuse_unknown(changes, names, StudyError, "unknown option", " of a run", "known are")
        return dataclasses.replace(self, **changes)

    @property
    def engine_name(self) -> str:
        """Name of the engine, for the record of the run."""
        return self.engine if isinstance(self.engine, str) else type(self.engine).__name__

    @property
    def elsewhere(self) -> bool:
        """Whether cells run on other machines, whose cores and memory are not those of this one."""
        from mlaut.plugins.finding import found

        named = isinstance(self.engine, str)
        kind = found("engines").get(self.engine) if named else self.engine
        return getattr(kind, "elsewhere", False) is True

    def record(self) -> dict[str, Any]:
        """Return the options that a study stores of a run; the engine by its name."""
        names = (item.name for item in dataclasses.fields(self) if item.metadata["recorded"])
        return {"engine": self.engine_name} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class SlurmOptions:
    """Section ``[slurm]``: what is asked of Slurm by the plug-ins mlaut-slurm and mlaut-dask.

    Attributes
    ----------
    jobs : int, default 10
        Number of shards at the most, each a task of a job array; with Dask, of jobs at a time.
    time : str, default "1h"
        Time limit of a task. A task that reaches it is put into the queue again.
    cpus : int, default 1
        Cores of a task.
    memory : str, default "4GB"
        Memory of a task, of all its cells together.
    partition : str
        Partition of the cluster; default that of the cluster.
    options : mapping
        Further options of sbatch, such as ``{ account = "x", qos = "long" }``.
    setup : tuple of str
        Lines of the shell before the run, such as ``"module load python"``; `mlaut` is then the
        command that they make available.
    scratch : str
        Folder of each node in which a task works, such as ``"$TMPDIR"``; it copies its shard back.
    image : str
        Image of Apptainer in which a task runs.
    interface : str
        Network interface of the login node for ``scheduler = "slurm"``, such as ``"ib0"``.
    """

    jobs: int = _option(10, (int,))
    time: str = _option("1h", (str,))
    cpus: int = _option(1, (int,))
    memory: str = _option("4GB", (str,))
    partition: str = _option("", (str,))
    options: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, metadata={"kinds": (dict,)}
    )
    setup: Sequence[str] = _option((), (list,))
    scratch: str = _option("", (str,))
    image: str = _option("", (str,))
    interface: str = _option("", (str,))


class RunKeywords(TypedDict, total=False):
    """Options of a run as keywords, for editors and type checkers: the fields of `RunOptions`."""

    n_jobs: int | None
    timeout: str | float | None
    tuning_timeout: str | float | None
    memory: str | float | None
    threads: int
    retry: str | Sequence[str] | Mapping[str, str | Sequence[str]]
    overwrite_predictions: bool
    save_models: bool
    limits: bool
    engine: Any
    scheduler: Any
    search: str
    budget: str | float | None
    trace_predictions: bool
    shard: str | None


def shows_options(function: F) -> F:
    """Return a function whose signature has the options of a run in place of ``**options``."""
    shown = inspect.signature(function)
    own = [p for p in shown.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
        for option in dataclasses.fields(RunOptions)
    ]
    function.__signature__ = shown.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function

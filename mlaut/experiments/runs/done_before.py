"""Runs that find nothing to do, told without importing scikit-learn, which takes a second.

A run stores the identities of the strategies that it was given by a name of MLaut alone, beside the
versions of all that makes them and a digest of MLaut's own code of strategies. Where these are what
they were, the same names mean the same strategies, and nothing of them must be looked at again.
"""

import hashlib
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import mlaut
from mlaut.errors import MlautError
from mlaut.estimators.libraries.library import LIBRARIES
from mlaut.experiments.cells.memory import parse_seconds
from mlaut.experiments.options import ENGINES, RunOptions
from mlaut.experiments.plans.ledger import count_cells
from mlaut.experiments.runs.summary import RunSummary
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.names import beside
from mlaut.identity.distributions import installed_version
from mlaut.records import Status

NAMED = "named"
"""Key of the identities in the record of a run."""

_NEEDLESS = {"n_jobs", "threads", "timeout", "engine"}  # options that matter only to cells that run
_ENDED = [status for status in Status if status is Status.DONE or status.failed]


@cache
def _code() -> str:
    """Return a digest of the code of MLaut on which an identity depends."""
    files = (
        file
        for room in ("estimators", "identity", "sharing")
        for file in sorted((Path(mlaut.__file__).parent / room).rglob("*.*"))
        if file.suffix in (".py", ".toml")
    )
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def record_of_named(strategies: Any, identities: Mapping[str, str]) -> dict[str, Any]:
    """Return what a run stores of strategies that are given by their names alone, if any are."""
    names = names_alone(strategies)
    named = {name: identities[name] for name in names if name in identities}
    return {NAMED: {"code": _code(), "identities": named}} if names and named else {}


def names_alone(strategies: Any) -> list[str]:
    """Return the names of strategies of MLaut; none if anything else is among them."""
    from mlaut.estimators.catalogue.registry import REGISTRY

    given = [strategies] if isinstance(strategies, str) else strategies
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        return []
    own = {spec.name for spec in REGISTRY if spec.cls is None}
    return list(dict.fromkeys(given)) if own.issuperset(given) else []


def named_before(
    study: StudyStore, strategies: Any, options: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return names and tasks of strategies that the last run of a study ran as they are now.

    None are returned if one must be looked at, or if an option could make a cell run again.
    """
    if _has_loaded_libraries() or not study.exists or _is_unusual(options):
        return {}
    names, runs, stored = names_alone(strategies), study.all_runs, study.strategies
    if not names or not runs or any(run.get("race") or run.get("shard") for run in runs):
        return {}
    last = runs[-1]
    versions = {name: installed_version(name) for name in last.get("versions", {})}
    known = last.get(NAMED, {})
    now = {
        "python": platform.python_version(),
        "versions": {**versions, "mlaut": mlaut.__version__},
        "settings": None,
        **{key: value for key, value in RunOptions().record().items() if key in _TUNING},
    }
    identities = {entry.name: entry.fingerprint for entry in stored}
    if any(last.get(key) != value for key, value in now.items()) or known.get("code") != _code():
        return {}
    if any(known["identities"].get(name, "") != identities.get(name) for name in names):
        return {}
    tasks = {entry.name: entry.metadata.get("tasks", []) for entry in stored}
    return {name: tasks[name] for name in names}


def _has_loaded_libraries() -> bool:
    """Return whether this process may have changed a setting of a library: it has loaded one."""
    return not {"sklearn", *LIBRARIES}.isdisjoint(sys.modules)


_TUNING = ("search", "budget")


def _is_unusual(options: Mapping[str, Any]) -> bool:
    """Return whether an option is not the default, and decides or refuses more than it does."""
    defaults = vars(RunOptions())
    chosen = {key for key, value in options.items() if value != defaults.get(key, options)}
    try:
        parse_seconds(options.get("timeout"))
    except MlautError:
        return True
    valid = all(type(options.get(key, 1)) in (int, type(None)) for key in ("n_jobs", "threads"))
    engine = options.get("engine", "local")
    kept = engine == "local" or (engine in ENGINES and options.get("timeout") is None)
    return not (chosen <= _NEEDLESS and valid and kept)


def nothing_to_do(
    study: StudyStore,
    database: FilesIO,
    tasks: Mapping[str, Iterable[str]],
    datasets: Iterable[str] | None = None,
) -> RunSummary | None:
    """Return the summary of a run that has no cell to do; None if it may have one, or is refused.

    Parameters
    ----------
    study : StudyStore
    database : FilesIO
        Database of the datasets.
    tasks : mapping of str to iterable of str
        Tasks of the requested strategies, by name, as `named_before` returns them.
    datasets : iterable of str, optional
        Names of the requested datasets; default all that have a split.
    """
    begun = time.monotonic()
    left_behind = (
        study.journal_path,
        *(beside(study.path, end) for end in (".begun", ".searches")),
    )
    if any(path.exists() for path in left_behind):
        return None
    splits = study.load_splits()
    names = list(splits if datasets is None else dict.fromkeys(datasets))
    if not names or not splits.keys() >= {*names}:
        return None
    now = database.fingerprints(splits[name].path for name in names)
    suited = {name: [s for s, of in tasks.items() if splits[name].task in of] for name in names}
    if [splits[name].fingerprint for name in names] != [*now] or not all(suited.values()):
        return None
    if {s for of in suited.values() for s in of} != {*tasks}:
        return None
    cells = dict[str, tuple[list[str], np.ndarray]]()
    for name, (known, status) in study.statuses(names).items():
        if not {*suited[name]} <= {*known}:
            return None
        cells[name] = suited[name], status[[known.index(s) for s in suited[name]]]
        if not np.isin(cells[name][1], _ENDED).all():
            return None
    nothing = {name: np.zeros(status.shape, dtype=bool) for name, (_, status) in cells.items()}
    before, tried = count_cells(cells), count_cells(cells, where=nothing)
    seconds, versions = time.monotonic() - begun, study.mixed_versions()
    return RunSummary(study.path, before, tried, Counter(), (), seconds, versions=versions)

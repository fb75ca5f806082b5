"""Protocol of a published benchmark: how its strategies were tuned, and on which rows scored."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ParameterGrid

from mlaut.analysis import Results, published
from mlaut.data import Data
from mlaut.data.tables.archive import tuning_split
from mlaut.errors import DataError, StudyError, nearest
from mlaut.estimators import MlautEstimator, as_strategies
from mlaut.estimators.libraries.parameters import without
from mlaut.experiments import Orchestrator, read_study_file
from mlaut.experiments.study_files.study_file import StudyFile, choose_strategies, prepare_data
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.placing.by_dataset import UNTUNED, ByDataset

BENCHMARK = "delgado2014"
"""Published benchmark whose datasets can be had with their splits, so that its protocol can run."""

CHECKS = {"lda_R": LinearDiscriminantAnalysis(), "rforest_R": RandomForestClassifier(500)}
"""Published strategies, not tuned, that are run again to check that data and folds are the same.

The first has no random part, so that equal digits show equal rows and folds. The second, the fifth
best of 179, does not depend on how the features were scaled.
"""


@dataclass(frozen=True)
class ProtocolRun:
    """Study that was run by the protocol of a published benchmark.

    Attributes
    ----------
    path : Path
        Path of the study.
    candidates : mapping of str to int
        Names of the strategies of the study file, with the number of candidates that were tuned.
    same : mapping of str to str
        Names of the strategies that were run as a check, each with that of the published one.
    """

    path: Path
    candidates: Mapping[str, int]
    same: Mapping[str, str]


def run_protocol(
    path: str | os.PathLike[str],
    against: str,
    *,
    check: Collection[str] | None = None,
    datasets: Collection[str] | None = None,
    part: str = "",
    verbose: int = 1,
    **changes: Any,
) -> ProtocolRun:
    """Run the strategies of a study file by the protocol of a published benchmark, or resume it.

    Each candidate of a strategy's grid is fitted on the training part of the split for tuning. The
    candidate with the best accuracy on its test part (of equal ones the first) is fitted on the
    folds of the benchmark. Both runs are studies beside the output of the study file:
    ``<output>.<benchmark>-tuning.h5`` and ``<output>.<benchmark>.h5``.

    Parameters
    ----------
    path : path-like
        Path of the study file. ``folder`` in ``[data]`` names a copy of the benchmark's datasets.
    against : str
        `BENCHMARK`.
    check : collection of str, optional
        Published strategies to run again; default all of `CHECKS`.
    datasets : collection of str, optional
        Datasets to run; default all that the folder and the benchmark have.
    part : str, optional
        Ending of the name of the final study, for a part of the datasets: strategies with chosen
        parameters are others on other datasets.
    verbose : int, default 1
        0 shows nothing, 1 the progress, 2 also each failure.
    **changes
        Keys of ``[run]`` that replace those of the file, for example ``n_jobs=2``.

    Returns
    -------
    ProtocolRun

    Raises
    ------
    StudyError
        The benchmark has no protocol here; the file names no folder, or splits or a race of its
        own; or fewer than two datasets of the folder are those of the benchmark.
    DataError
        A dataset of the folder lacks its splits.
    """
    file, input_io, entries = _prepared(path, against, changes)
    folder = file.path.parent / file.data.folder
    strategies = choose_strategies(file)
    checks = _checks(check, [strategy.name for strategy in strategies])
    every = (*strategies, *checks)
    if datasets is not None:
        entries = [entry for entry in entries if entry.name in datasets]
    candidates = {strategy.name: _candidates(strategy) for strategy in every}
    trials = [trial for several in candidates.values() for trial, _ in several]
    chosen: Mapping[str, Mapping[str, Any]] = {}
    if trials:
        halves = [replace(entry, split=tuning_split(folder, entry.name)) for entry in entries]
        tuning = _run(file, f"{against}-tuning", input_io, halves, trials, verbose)
        chosen = _chosen(tuning, candidates, [entry.name for entry in entries])
    final = [ByDataset(strategy, chosen.get(strategy.name, {})) for strategy in every]
    return ProtocolRun(
        path=_run(file, against + part, input_io, entries, final, verbose),
        candidates={strategy.name: len(candidates[strategy.name]) for strategy in strategies},
        same={strategy.name: known for strategy, known in checks.items()},
    )


def protocol_datasets(path: str | os.PathLike[str], against: str) -> tuple[list[str], str]:
    """Return the datasets of a study file that the benchmark has, and the names of strategies."""
    file, _, entries = _prepared(path, against, {})
    names = sorted(strategy.name for strategy in choose_strategies(file))
    return [entry.name for entry in entries], ", ".join(names)


def _prepared(
    path: str | os.PathLike[str], against: str, changes: Mapping[str, Any]
) -> tuple[StudyFile, FilesIO, list[SplitEntry]]:
    """Return a study file that can be run by the protocol, its data, and its datasets."""
    if against != BENCHMARK:
        raise StudyError(
            f"{against!r} has no protocol that can be run; there is one for {BENCHMARK}"
        )
    file = read_study_file(path).changed(changes)
    _check_file(file, against)
    input_io, paths = prepare_data(file)
    folder, known = file.path.parent / file.data.folder, published(against).datasets
    infos = {path: input_io.dataset_info(path) for path in paths}
    found = [path for path, info in infos.items() if info.name in known]
    if len(found) < 2:
        raise StudyError(
            f"{folder}: {len(found)} datasets of {against} in it; two are needed, under the names "
            f"that the benchmark has for them ({', '.join(known[:3])}, ...)"
        )
    for path in found:
        if not infos[path].split:
            raise DataError(f"{folder / infos[path].name}: has no folds; restore its files")
    return file, input_io, Data().make_splits(input_io, found)


def _check_file(file: StudyFile, against: str) -> None:
    if not file.data.folder:
        raise StudyError(
            f"{file.path}: [data] names no folder; name your copy of the datasets of {against}, "
            f"which has their splits; or place the study as it is ({file.output})"
        )
    if file.split.scheme or file.race is not None or file.run.shard:
        raise StudyError(
            f"{file.path}: the splits of {against} are fixed, and all strategies run on all of "
            "them; remove scheme in [split], [race] and shard"
        )


def _checks(wanted: Collection[str] | None, taken: Collection[str]) -> dict[MlautEstimator, str]:
    """Return the strategies that repeat published ones, with the names of these."""
    unknown = [name for name in wanted or () if name not in CHECKS]
    if unknown:
        hint = nearest(unknown[0], CHECKS) or f"; there are {', '.join(CHECKS)}"
        raise StudyError(f"no check runs {unknown[0]!r} again{hint}")
    found = {}
    for other in CHECKS if wanted is None else wanted:
        again = f"{other} (again)"
        if again not in taken:
            (strategy,) = as_strategies({again: clone(CHECKS[other])})
            found[strategy] = other
    return found


def _candidates(strategy: MlautEstimator) -> list[tuple[MlautEstimator, Mapping[str, Any]]]:
    """Return a strategy for each candidate of the grid, with the parameters that it sets."""
    if (strategy.search or "grid") != "grid" or strategy.budget is not None:
        raise StudyError(
            f"strategy {strategy.name!r}: the benchmark tries a list of candidates on one split; "
            "give it a param_grid, without search and budget"
        )
    fixed = dict(strategy.params or {})
    grid = without(strategy.param_grid, fixed)
    found = []
    for number, chosen in enumerate(ParameterGrid(grid) if grid else ()):
        trial = clone(strategy).set_params(
            name=f"{strategy.name} {number}", params={**fixed, **chosen}, **UNTUNED
        )
        found.append((trial, chosen))
    return found


def _run(
    file: StudyFile,
    ending: str,
    input_io: FilesIO,
    entries: Sequence[SplitEntry],
    strategies: Sequence[MlautEstimator],
    verbose: int,
) -> Path:
    """Run strategies on splits, in a study beside the output of the study file; return its path."""
    path = file.output.with_suffix(f".{ending}.h5")
    path.parent.mkdir(parents=True, exist_ok=True)
    out_io = FilesIO(path, mode="a")
    StudyStore(path).save_splits(entries)
    names = [entry.name for entry in entries]
    orchestrator = Orchestrator(input_io, out_io, names, seed=file.study.seed)
    orchestrator.run(strategies, verbose=verbose, **vars(file.run))
    return path


def _chosen(
    tuning: Path,
    candidates: Mapping[str, Sequence[tuple[MlautEstimator, Mapping[str, Any]]]],
    datasets: Sequence[str],
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the parameters of the best candidate, by strategy and dataset.

    A dataset on which every candidate failed is left out.
    """
    scores = Results.from_study(tuning, "accuracy", datasets=datasets).scores
    chosen: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, several in candidates.items():
        for dataset in scores.index if several else ():
            found = scores.loc[dataset, [trial.name for trial, _ in several]].to_numpy(dtype=float)
            if not np.isnan(found).all():
                chosen.setdefault(name, {})[str(dataset)] = several[int(np.nanargmax(found))][1]
    return chosen

"""Forecasts of a plan from the times of the cells done so far."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.experiments.plans.plan import Plan, PlannedDataset
from mlaut.experiments.runs.progress import duration
from mlaut.files_io import StudyStore
from mlaut.files_io.outcomes.study_records import USAGE
from mlaut.files_io.studies.models import models_folder
from mlaut.files_io.studies.study_arrays import array_layout, room_of
from mlaut.helpers.markup import Displayed, counted
from mlaut.records import Status

OWN, OTHER_DATASETS, OTHER_STRATEGIES, NOTHING = (
    "the same strategy on the same dataset",
    "the same strategy on other datasets",
    "other strategies",
    "nothing",
)
_BASES = (OWN, OTHER_DATASETS, OTHER_STRATEGIES, NOTHING)
_ROUNDS = 20  # alternating fits of the effects of strategies and of datasets
_STRUCTURE = 45_000  # bytes that HDF5 uses for names and layout of one dataset


@dataclass(frozen=True, repr=False)
class Forecast(Displayed):
    """Expected time and disk space of the cells to do.

    Attributes
    ----------
    cells : int
        Number of cells to do.
    n_workers : int
        Number of worker processes.
    seconds : float
        Expected seconds of all workers together; cells without any known time are left out.
    basis : mapping of str to int
        Number of cells by the kind of cells whose times are used for them.
    bytes_now, bytes_then : int
        Room that the study takes on the disk now, and with all its cells.
    bytes_models : int or None
        Expected size of the models that will be saved; None if no model was saved before.
    bytes_free : int
        Free bytes on the disk of the study.
    """

    cells: int
    n_workers: int
    seconds: float
    basis: Mapping[str, int]
    bytes_now: int
    bytes_then: int
    bytes_models: int | None
    bytes_free: int

    @property
    def wall_seconds(self) -> float:
        """Expected wall seconds of the run, if no worker ever waits."""
        return self.seconds / self.n_workers

    @property
    def fits(self) -> bool:
        """Return whether the disk has enough free space."""
        return self.bytes_then - self.bytes_now + (self.bytes_models or 0) <= self.bytes_free

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**asdict(self), "wall_seconds": self.wall_seconds, "fits": self.fits}

    def _lines(self) -> list[str]:
        if self.basis.get(NOTHING, 0) == self.cells:
            lines = ["time: not known, because no cell has run yet"]
        else:
            lines = [
                f"time: about {_time(self.wall_seconds)} on {counted(self.n_workers, 'worker')}"
            ]
            for basis, n in self.basis.items():
                if n and basis == NOTHING:
                    lines.append(f"  {counted(n, 'cell')} without a known time left out")
                elif n:
                    lines.append(f"  {counted(n, 'cell')} estimated from the times of {basis}")
        lines.append(
            f"disk space: {_size(self.bytes_then)} (now {_size(self.bytes_now)}); "
            f"free: {_size(self.bytes_free)}"
            + ("" if self.fits else ": NOT ENOUGH, free some, or put the study on another disk")
        )
        if self.bytes_models != 0:
            size = "not known" if self.bytes_models is None else f"about {_size(self.bytes_models)}"
            lines.append(f"disk space of the models: {size}")
        return lines


def make_forecast(
    plan: Plan, study: str | Path, *, n_workers: int = 1, save_models: bool = False
) -> Forecast:
    """Return the expected time and disk space of a plan.

    Parameters
    ----------
    plan : Plan
    study : path-like
        Path of the study's database; it need not exist.
    n_workers : int, default 1
        Number of worker processes.
    save_models : bool, default False
        Whether the run will save fitted models.
    """
    path = Path(study)
    expected, reasons = expected_seconds(plan, StudyStore(path) if path.exists() else None)
    cells = plan.todo.cells.sum(axis=2)
    now = path.stat().st_blocks * 512 if path.exists() else 0  # without the holes of the file
    above = next(folder for folder in path.absolute().parents if folder.exists())
    return Forecast(
        cells=plan.n_todo,
        n_workers=n_workers,
        seconds=float(np.nansum(cells * expected)),
        basis={basis: int(cells[reasons == basis].sum()) for basis in _BASES},
        bytes_now=now,
        bytes_then=now + sum(map(_growth, plan.datasets)),
        bytes_models=_models(path, plan.n_todo) if save_models else 0,
        bytes_free=shutil.disk_usage(above).free,
    )


def expected_seconds(plan: Plan, study: StudyStore | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected seconds of a cell, by dataset and strategy of the plan, and their basis.

    The time of a strategy on a dataset is its mean there, if it has done cells there. Otherwise an
    additive model predicts the logarithm of the mean time: an effect of the strategy plus an
    effect of the dataset.

    Returns
    -------
    seconds : ndarray of float64, shape (datasets, strategies)
        Expected seconds; NaN if no time is known at all.
    basis : ndarray of str, shape (datasets, strategies)
        Kind of cells whose times were used.
    """
    names = plan.todo.strategies
    stored_names = (name for planned in plan.datasets for name in planned.known)
    rows = {name: s for s, name in enumerate(dict.fromkeys([*names, *stored_names]))}
    means = _mean_seconds(plan.datasets, study, rows)
    seconds = predicted_seconds(means)[:, : len(names)]
    own = ~np.isnan(means[:, : len(names)])
    elsewhere = np.broadcast_to(~np.isnan(means).all(axis=0)[: len(names)], own.shape)
    others = np.full(own.shape, not np.isnan(means).all())
    return seconds, np.select([own, elsewhere, others], _BASES[:3], NOTHING)


def predicted_seconds(means: np.ndarray) -> np.ndarray:
    """Return mean seconds of cells, with predictions of unknown ones: (datasets, strategies).

    An additive model of the logarithms predicts them: an effect of the strategy plus an effect of
    the dataset. A strategy that has run nowhere has the effect of a usual one. All are NaN if no
    time is known.

    Examples
    --------
    >>> predicted_seconds(np.array([[1.0, 4.0], [2.0, np.nan]])).round(3).tolist()
    [[1.0, 4.0], [2.0, 8.0]]
    """
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(means, 1e-6))  # a microsecond: below what the clock resolves
    of_strategy, of_dataset = _effects(logs)
    usual = float(np.nanmean(of_strategy)) if np.isfinite(of_strategy).any() else np.nan
    effect = np.where(np.isnan(of_strategy), usual, of_strategy)
    predicted = np.exp(effect + np.nan_to_num(of_dataset)[:, None])
    return np.where(np.isnan(means), predicted, means)


def _mean_seconds(
    datasets: Sequence[PlannedDataset], study: StudyStore | None, rows: Mapping[str, int]
) -> np.ndarray:
    """Return the mean wall seconds of the done cells: shape (datasets, strategies)."""
    means = np.full((len(datasets), len(rows)), np.nan)
    place = {planned.entry.name: d for d, planned in enumerate(datasets) if planned.stored}
    if study is None or not place:
        return means
    for name, strategies, numbers in study.numbers(list(place)):
        means[place[name], [rows[strategy] for strategy in strategies]] = mean_seconds(numbers)
    return means


def mean_seconds(numbers: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the mean wall seconds of the done cells of each strategy on a dataset; NaN for none.

    Parameters
    ----------
    numbers : mapping
        Arrays of `mlaut.files_io.StudyStore.numbers`.
    """
    elapsed, done = numbers["usage"][..., USAGE.index("elapsed")], numbers["status"] == Status.DONE
    seconds = np.where(np.isnan(elapsed), numbers["seconds"].sum(axis=3), elapsed)
    total = np.nansum(seconds, axis=(1, 2), where=done)
    with np.errstate(invalid="ignore"):
        means: np.ndarray = total / done.sum(axis=(1, 2))
    return means


def _effects(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the effects of strategies and of datasets in a table (dataset, strategy) of logs."""
    seen = ~np.isnan(logs)
    filled = np.where(seen, logs, 0.0)
    of_dataset = np.zeros(len(logs))
    of_strategy = np.zeros(logs.shape[1])
    n_of_strategy, n_of_dataset = seen.sum(axis=0), seen.sum(axis=1)
    for _ in range(_ROUNDS):
        of_strategy = ((filled - of_dataset[:, None]) * seen).sum(axis=0) / np.maximum(
            1, n_of_strategy
        )
        of_dataset = ((filled - of_strategy) * seen).sum(axis=1) / np.maximum(1, n_of_dataset)
        of_dataset -= of_dataset[n_of_dataset > 0].mean() if n_of_dataset.any() else 0.0
    return (
        np.where(n_of_strategy > 0, of_strategy, np.nan),
        np.where(n_of_dataset > 0, of_dataset, np.nan),
    )


def _growth(planned: PlannedDataset) -> int:
    """Return the bytes by which a dataset will grow in the study: cells take room as they come."""
    split = planned.entry.split
    layout = array_layout(planned.entry, 1).values()
    of_strategy = sum(int(np.prod(shape)) * dtype.itemsize for shape, dtype, _ in layout)
    cells = of_strategy * int(planned.todo.sum()) // (split.n_repeats * split.n_folds)
    if planned.stored is None:
        room = room_of(planned.entry, len(planned.strategies)) * float(planned.todo.mean())
        return max(cells, int(room)) + _split_bytes(planned.entry) + _STRUCTURE
    return cells + _split_bytes(planned.entry) - _split_bytes(planned.stored)


def _split_bytes(entry: Any) -> int:
    return int(entry.truth.nbytes + entry.split.folds.nbytes)


def _models(path: Path, cells: int) -> int | None:
    sizes = [file.stat().st_size for file in models_folder(path).rglob("*") if file.is_file()]
    return round(sum(sizes) / len(sizes) * cells) if sizes else None


def _size(n_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else duration(seconds)

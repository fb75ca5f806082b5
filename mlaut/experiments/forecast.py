"""Forecast of the time and the disk space of a plan, from the times of the cells done so far."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.experiments.plan import Plan, PlannedDataset
from mlaut.experiments.progress import clock
from mlaut.files_io import Study
from mlaut.files_io.models import models_folder
from mlaut.files_io.study_arrays import array_layout
from mlaut.records import Status

__all__ = ["Forecast", "expected_seconds", "make_forecast"]

OWN, OTHER_DATASETS, OTHER_STRATEGIES, NOTHING = (
    "the same strategy on the same dataset",
    "the same strategy on other datasets",
    "other strategies",
    "nothing",
)
_ROUNDS = 20  # alternating fits of the effects of strategies and of datasets
_STRUCTURE = 18_000  # bytes that HDF5 uses for names and layout of one dataset


@dataclass(frozen=True)
class Forecast:
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
        Size of the study now, and with all its cells.
    bytes_models : int or None
        Expected size of the models that will be saved; None if no model was saved before.
    bytes_free : int
        Free bytes on the disk of the study. While a study grows, or a journal is merged into it,
        the old and the new file exist together.
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
        """Whether the disk has enough free space."""
        return 2 * self.bytes_then - self.bytes_now + (self.bytes_models or 0) <= self.bytes_free

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**asdict(self), "wall_seconds": self.wall_seconds, "fits": self.fits}

    def __str__(self) -> str:
        unknown = self.basis.get(NOTHING, 0)
        lines = [
            f"time: about {_time(self.wall_seconds)} on {self.n_workers} workers"
            if unknown < self.cells
            else "time: not known, for nothing was seen yet"
        ]
        for basis, n in self.basis.items():
            if n and unknown < self.cells:
                left_out = ", left out" if basis == NOTHING else ""
                lines.append(f"  {n} cells by the times of {basis}{left_out}")
        lines.append(
            f"room: {_size(self.bytes_then)} (now {_size(self.bytes_now)}), "
            f"and as much again while it changes; free {_size(self.bytes_free)}"
            + ("" if self.fits else ": NOT ENOUGH, free some or name an output elsewhere")
        )
        if self.bytes_models != 0:
            size = "not known" if self.bytes_models is None else f"about {_size(self.bytes_models)}"
            lines.append(f"models: {size}")
        return "\n".join(lines)


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
    seconds, basis = (
        0.0,
        Counter(dict.fromkeys((OWN, OTHER_DATASETS, OTHER_STRATEGIES, NOTHING), 0)),
    )
    expected, reasons = expected_seconds(plan, Study(path) if path.exists() else None)
    for d, planned in enumerate(plan.datasets):
        cells = planned.todo.sum(axis=(1, 2))
        seconds += float(np.nansum(cells * expected[d]))
        for reason, n in zip(reasons[d], cells.tolist(), strict=True):
            basis[reason] += n
    now = path.stat().st_size if path.exists() else 0
    above = next(folder for folder in path.absolute().parents if folder.exists())
    return Forecast(
        cells=plan.n_todo,
        n_workers=n_workers,
        seconds=seconds,
        basis=dict(basis),
        bytes_now=now,
        bytes_then=now + sum(map(_growth, plan.datasets)),
        bytes_models=_models(path, plan.n_todo) if save_models else 0,
        bytes_free=shutil.disk_usage(above).free,
    )


def expected_seconds(plan: Plan, study: Study | None) -> tuple[list[np.ndarray], list[list[str]]]:
    """Return the expected seconds of a cell, by dataset and strategy, and their basis.

    The time of a strategy on a dataset is its mean there, if it has done cells there. Otherwise an
    additive model predicts the logarithm of the mean time: an effect of the strategy plus an
    effect of the dataset.

    Returns
    -------
    seconds : list of ndarray, shape (S,)
        Expected seconds, one array per dataset of the plan; NaN if no time is known at all.
    basis : list of list of str
        Kind of cells whose times were used, for each dataset and strategy.
    """
    rows: dict[str, int] = {}
    for planned in plan.datasets:
        for name in (*planned.strategies, *planned.known):
            rows.setdefault(name, len(rows))
    means = _mean_seconds(plan.datasets, study, rows)
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(means, 1e-6))
    of_strategy, of_dataset = _effects(logs)
    usual = float(np.nanmean(of_strategy)) if np.isfinite(of_strategy).any() else np.nan
    seconds, basis = [], []
    for d, planned in enumerate(plan.datasets):
        at = [rows[name] for name in planned.strategies]
        own = means[d, at]
        here = 0.0 if np.isnan(of_dataset[d]) else of_dataset[d]
        effect = np.where(np.isnan(of_strategy[at]), usual, of_strategy[at])
        seconds.append(np.where(np.isnan(own), np.exp(effect + here), own))
        basis.append(
            [
                OWN
                if not np.isnan(mean)
                else OTHER_DATASETS
                if not np.isnan(of_strategy[s])
                else NOTHING
                if np.isnan(usual)
                else OTHER_STRATEGIES
                for mean, s in zip(own, at, strict=True)
            ]
        )
    return seconds, basis


def _mean_seconds(
    datasets: Sequence[PlannedDataset], study: Study | None, rows: Mapping[str, int]
) -> np.ndarray:
    """Return the mean wall seconds of the done cells: shape (datasets, strategies)."""
    means = np.full((len(datasets), len(rows)), np.nan)
    place = {planned.entry.name: d for d, planned in enumerate(datasets) if planned.stored}
    if study is None or not place:
        return means
    for name, numbers in study.numbers(list(place)):
        known = datasets[place[name]].known
        elapsed = numbers["usage"][..., 1]
        total = np.nansum(
            np.where(np.isnan(elapsed), numbers["seconds"].sum(axis=3), elapsed),
            axis=(1, 2),
            where=numbers["status"] == Status.DONE,
        )
        count = (numbers["status"] == Status.DONE).sum(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            means[place[name], [rows[strategy] for strategy in known]] = total / count
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
    """Return the bytes by which a dataset will grow in the study."""
    names = set(planned.known) | set(planned.strategies)
    then = _bytes(planned.entry, len(names)) + _split_bytes(planned.entry)
    if planned.stored is None:
        return then + _STRUCTURE
    return then - _bytes(planned.stored, len(planned.known)) - _split_bytes(planned.stored)


def _bytes(entry: Any, n_strategies: int) -> int:
    layout = array_layout(entry, n_strategies).values()
    return sum(int(np.prod(shape)) * dtype.itemsize for shape, dtype, _ in layout)


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
    return f"{seconds:.1f} s" if seconds < 60 else clock(seconds)

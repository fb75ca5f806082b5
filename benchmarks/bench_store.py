"""Measure what changes of a database and of a study write, and the room that they take.

    python benchmarks/bench_store.py [--cells 700]

The bytes are those that this process hands to the system (``wchar`` of ``/proc/self/io``), journal
included. CPU seconds are of this process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, Study
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status

MB = 1e6


def entry(name: str, n_rows: int, n_folds: int, n_repeats: int = 1) -> SplitEntry:
    """Return a dataset of three classes."""
    folds = np.stack([np.arange(n_rows) % n_folds] * n_repeats).astype(np.int16)
    truth = (np.arange(n_rows) % 3).astype(np.int32)
    split = Split(folds, f"kfold({n_folds})")
    return SplitEntry(name, f"/{name}", CLASSIFICATION, "f", ("a", "b", "c"), truth, split)


def outcome(of: SplitEntry, strategy: str, repeat: int, fold: int) -> Outcome:
    """Return an outcome with random probabilities."""
    generator = np.random.default_rng([repeat, fold])
    given = generator.random((len(of.split.rows(repeat, fold)[1]), 3), dtype=np.float32)
    labels = given.argmax(axis=1).astype(np.int32)
    cell = Cell(of.name, strategy, repeat, fold)
    return Outcome(cell, Status.DONE, labels, given, seconds=(0, 1, 2))


def measure(what: str, step: Callable[[], object], folder: Path) -> None:
    """Do a step, and print what it has cost."""
    before, cpu, size = _written(), time.process_time(), _room(folder)
    ended, peak = threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(0.005):
            peak[0] = max(peak[0], _room(folder))

    watcher = threading.Thread(target=watch)
    watcher.start()
    step()
    cpu, written = time.process_time() - cpu, _written() - before
    ended.set()
    watcher.join()
    now = _room(folder)
    sys.stdout.write(
        f"{what}: wrote {written / MB:.2f} MB, {cpu:.2f} CPU s, room {size / MB:.1f} -> "
        f"{now / MB:.1f} MB, at most {max(0, peak[0] - max(size, now)) / MB:.2f} MB beside it\n"
    )


def _written() -> int:
    with Path("/proc/self/io").open() as file:
        return int(dict(line.split(": ") for line in file)["wchar"])


def _room(folder: Path) -> int:
    total = 0
    for file in folder.iterdir():
        try:
            total += file.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


def write(study: Study, of: SplitEntry, cells: list[tuple[str, int, int]]) -> None:
    """Store some cells in one run."""
    with study.writing({"threads": 1}) as writer:
        for cell in cells:
            writer.write(outcome(of, *cell))


def main() -> None:
    """Measure all steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=700, help="cells of 1.6 MB")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        large(Path(name), given.cells)
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        many(Path(name))
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        tables(Path(name))


def large(folder: Path, n_cells: int) -> None:
    """Measure a study of large cells."""
    study, of = Study(folder / "study.h5"), entry("large", 1_000_000, 10)
    names = [f"s{k}" for k in range(n_cells // 10 + 1)]
    study.save_splits([of])
    measure(
        "place for all cells", lambda: study.allocate([StrategyEntry(n, n) for n in names]), folder
    )
    cells = [(name, 0, fold) for name in names for fold in range(10)]
    measure(f"{n_cells} cells", lambda: write(study, of, cells[:n_cells]), folder)
    measure("one cell", lambda: write(study, of, cells[n_cells : n_cells + 1]), folder)
    measure("one strategy", lambda: study.allocate([StrategyEntry("new", "new")]), folder)


def many(folder: Path) -> None:
    """Measure a study of 100 datasets, 100 strategies and 10 times 10 folds."""
    study, entries = Study(folder / "study.h5"), [entry(f"d{k}", 100, 10, 10) for k in range(100)]
    study.save_splits(entries)
    strategies = [StrategyEntry(f"s{k}", "f") for k in range(100)]
    measure("place for a million cells", lambda: study.allocate(strategies), folder)
    measure(
        "one strategy to 100 x 100 x 10",
        lambda: study.allocate([StrategyEntry("new", "f")]),
        folder,
    )
    cells = [(f"s{s}", r, f) for s in range(10) for r in range(10) for f in range(10)]
    measure("1000 cells", lambda: write(study, entries[0], cells), folder)
    measure("find what is done", study.statuses, folder)


def tables(folder: Path) -> None:
    """Measure 100 datasets that are saved one by one."""
    io, generator = FilesIO(folder / "input.h5", mode="a"), np.random.default_rng(0)

    def save() -> None:
        for k in range(100):
            frame = pd.DataFrame(generator.normal(size=(2000, 20))).rename(columns=str)
            frame["y"] = np.arange(2000) % 2
            io.save_pandas_dataset(frame, "/", {"class_name": "y", "dataset_name": f"d{k}"})

    measure("100 datasets one by one", save, folder)
    measure("one dataset removed", lambda: io.delete_dataset("/d7"), folder)


if __name__ == "__main__":
    main()

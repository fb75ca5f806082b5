"""Measure the bytes that changes of a database and of a study write, and their disk space.

    python benchmarks/bench_store.py [--cells 700]
    python benchmarks/bench_store.py --strategies 100     a million cells, some 4 CPU minutes
    python benchmarks/bench_store.py --strategies 1000    ten million, some 20 CPU minutes

If ``--strategies`` is set, each cell of a study of 100 datasets and 10 times 10 folds gets an
outcome with chosen parameters; for a million cells, a second study is killed while it is closed.

The bytes are those that this process hands to the system (``wchar`` of ``/proc/self/io``),
including the journal. CPU seconds are those of this process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis import Results
from mlaut.experiments.plans.plan import make_plan
from mlaut.files_io import FilesIO, SplitEntry, StrategyEntry, StudyStore, merge_studies
from mlaut.files_io.studies import study_writer
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
    """Do a step, and print its cost."""
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
        f"{now / MB:.1f} MB, at most {max(0, peak[0] - max(size, now)) / MB:.2f} MB beside it; "
        f"memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB\n"
    )
    sys.stdout.flush()


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


def write(study: StudyStore, of: SplitEntry, cells: list[tuple[str, int, int]]) -> None:
    """Store some cells in one run."""
    with study.writing({"threads": 1}) as writer:
        for cell in cells:
            writer.write(outcome(of, *cell))


def main() -> None:
    """Measure all steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=700, help="cells of 1.6 MB")
    parser.add_argument("--strategies", type=int, default=0, help="strategies x 10,000 cells")
    given = parser.parse_args()
    if given.strategies:
        with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
            full(Path(name), given.strategies)
        if given.strategies <= 100:
            with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
                killed(Path(name), given.strategies)
        return
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        large(Path(name), given.cells)
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        many(Path(name))
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        tables(Path(name))
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        shards(Path(name))
    with tempfile.TemporaryDirectory(prefix="mlaut-store-") as name:
        losses(Path(name))


def large(folder: Path, n_cells: int) -> None:
    """Measure a study of large cells."""
    study, of = StudyStore(folder / "study.h5"), entry("large", 1_000_000, 10)
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
    study, entries = (
        StudyStore(folder / "study.h5"),
        [entry(f"d{k}", 100, 10, 10) for k in range(100)],
    )
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


def shards(folder: Path) -> None:
    """Measure the merge of two shards of 60 strategies on a dataset of 200,000 rows."""
    of, names = entry("large", 200_000, 10), [f"s{k}" for k in range(60)]
    paths = [folder / "1.h5", folder / "2.h5"]
    for number, path in enumerate(paths):
        study = StudyStore(path)
        study.save_splits([of])
        study.allocate([StrategyEntry(name, "f") for name in names])
        write(study, of, [(name, 0, fold) for name in names for fold in range(number, 10, 2)])
    measure("two shards merged", lambda: merge_studies(paths, folder / "merged.h5"), folder)


def losses(folder: Path) -> None:
    """Measure the accuracies of a study of 20 datasets of 100,000 rows and 35 strategies."""
    study, entries = (
        StudyStore(folder / "study.h5"),
        [entry(f"d{k}", 100_000, 10) for k in range(20)],
    )
    names = [f"s{k}" for k in range(35)]
    study.save_splits(entries)
    study.allocate([StrategyEntry(name, "f") for name in names])
    for of in entries:
        write(study, of, [(name, 0, fold) for name in names for fold in range(10)])
    measure("accuracies", lambda: Results.from_study(study, "accuracy"), folder)


def full(folder: Path, n_strategies: int) -> StudyStore:
    """Measure a study of 100 datasets and 10 times 10 folds, all of whose cells are done."""
    study, entries = (
        StudyStore(folder / "study.h5"),
        [entry(f"d{k}", 20, 10, 10) for k in range(100)],
    )
    names = [f"s{k}" for k in range(n_strategies)]
    study.save_splits(entries)
    places = [StrategyEntry(name, "f") for name in names]
    measure("places", lambda: study.allocate(places), folder)
    wanted = dict.fromkeys(study.datasets, names)
    measure("plan", lambda: make_plan(study, wanted, {}).n_todo, folder)
    run = study.writing({"threads": 1})
    writer = run.__enter__()
    measure("all cells", lambda: fill(writer, entries, names), folder)
    measure("closing", lambda: run.__exit__(None, None, None), folder)
    measure("finding what is done", study.statuses, folder)
    measure("plan", lambda: make_plan(study, wanted, {}).n_todo, folder)
    measure("reading all cells", lambda: sum(int(b.done.sum()) for b in study.parts()), folder)
    measure("reading all details", lambda: sum(len(d) for _, d in study.all_details()), folder)
    return study


def fill(writer: study_writer.StudyWriter, entries: list[SplitEntry], names: list[str]) -> None:
    """Store an outcome with details for every cell, ten at a time."""
    one = outcome(entries[0], names[0], 0, 0)
    details = {"started": 1.0, "elapsed": 2.0, "best_params": {"C": 1.0}, "tuning_score": 0.5}
    for of in entries:
        for name in names:
            for repeat in range(10):
                cells = [Cell(of.name, name, repeat, fold) for fold in range(10)]
                writer.write(*(replace(one, cell=cell, details=details) for cell in cells))


def killed(folder: Path, n_strategies: int) -> None:
    """Kill a process in the middle of closing a study, and resume it."""

    def live() -> None:
        def die(*_: object) -> None:
            fold_in(*_)
            os.kill(os.getpid(), signal.SIGKILL)

        fold_in = study_writer.fold_in
        with study.writing({"threads": 1}) as writer:
            fill(writer, entries, names)
            study_writer.fold_in = die

    study, entries = (
        StudyStore(folder / "study.h5"),
        [entry(f"d{k}", 20, 10, 10) for k in range(100)],
    )
    names = [f"s{k}" for k in range(n_strategies)]
    study.save_splits(entries)
    study.allocate([StrategyEntry(name, "f") for name in names])
    child = multiprocessing.get_context("fork").Process(target=live)
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL, child.exitcode
    journal = study.journal_path.stat().st_size
    measure(f"settled after a kill (journal {journal / MB:.1f} MB)", study.settle, folder)
    done = sum(int((status == Status.DONE).sum()) for _, status in study.statuses().values())
    records = sum(len(told) for _, told in study.all_details())
    sys.stdout.write(f"{done} cells are done, {records} have details\n")


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

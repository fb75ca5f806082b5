"""Measure memory and time of studies of arrays and sparse matrices beside the bare loop.

``texts``: a matrix of 100,000 x 50,000 with .1 % filled and five linear learners on a hold-out:
peak of the proportional memory of all processes, of a run with a worker process (which has an
interpreter of its own, and a server from which it is forked) and of one without, and of a loop in
one process that reads the same matrix from the file. ``array``: a made-up array of so many
gigabytes of bytes (uint8) on the disk, and a strategy that reads each row of its training part
once: peak memory of the run without pages of files, and the time of a cell beside that in which
h5py reads the same rows.

    OMP_NUM_THREADS=1 python benchmarks/bench_arrays.py texts [--scale 0.1]
    OMP_NUM_THREADS=1 TMPDIR=/large python benchmarks/bench_arrays.py array [--gigabytes 10]
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.svm import LinearSVC

from mlaut import Study
from mlaut.files_io import FilesIO, StudyStore

N_ROWS, N_WORDS, FILLED = 100_000, 50_000, 0.001
ROW = (64, 64)  # of the array, in bytes


class Reads(ClassifierMixin, BaseEstimator):
    """Reads each training row once; predicts the first class."""

    def fit(self, X: Any, y: Any) -> "Reads":
        """Add up all values."""
        self.classes_ = np.unique(y)
        self.sum_ = sum(int(X[at : at + 1000].sum()) for at in range(0, len(X), 1000))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the first class for each row."""
        return np.full(len(X), self.classes_[0])


def texts(scale: float) -> tuple[csr_matrix, np.ndarray]:
    """Return a matrix as TF-IDF makes it, and two classes."""
    rng = np.random.default_rng(0)
    n_rows, n_words = int(N_ROWS * scale), int(N_WORDS * scale)
    n = int(n_rows * n_words * FILLED)
    words = np.sort(rng.integers(0, n_words, (n_rows, n // n_rows)).astype(np.int32), axis=1)
    values = rng.random(words.size)
    ends = np.arange(0, words.size + 1, words.shape[1])
    return csr_matrix((values, words.ravel(), ends), (n_rows, n_words)), (words[:, 0] % 2)


def linear() -> dict[str, Any]:
    """Return five linear learners."""
    return {
        "svc": LinearSVC(),
        "logistic": LogisticRegression(solver="liblinear"),
        "ridge": RidgeClassifier(solver="sag", max_iter=5),
        "sgd": SGDClassifier(),
        "perceptron": Perceptron(),
    }


def loop(path: Path, split: np.ndarray) -> None:
    """Fit and predict with each learner in this process."""
    dataset = FilesIO(path).load_dataset("texts")
    X, y = dataset.features, dataset.labels.to_numpy()
    for learner in linear().values():
        learner.fit(X[split != 0], y[split != 0]).predict(X[split == 0])


def run(path: Path, learners: dict[str, Any], engine: str = "local") -> None:
    """Run the study, in one worker process or in this process."""
    Study(path).run(learners, n_jobs=1, engine=engine, verbose=0)


def processes(pid: int) -> Iterator[int]:
    """Yield a process and all that it started."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from processes(int(child))


def memory(pid: int, anonymous: bool) -> int:
    """Return the proportional memory of a process and what it started, in bytes."""
    total = 0
    for one in processes(pid):
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:" if anonymous else "Pss:"):
                total += 1024 * int(line.split()[1])
    return total


def measured(function: Callable[..., None], *arguments: Any, anonymous: bool) -> tuple[float, int]:
    """Return the seconds of a call in a new process, and the peak of its memory."""
    process = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    begun, peak = time.perf_counter(), 0
    process.start()
    while process.is_alive():
        try:
            peak = max(peak, memory(int(process.pid or 0), anonymous))
        except OSError:  # a process ended just now
            continue
        time.sleep(0.02)
    process.join()
    assert process.exitcode == 0
    return time.perf_counter() - begun, peak


def measure_texts(folder: Path, scale: float) -> None:
    """Print the memory of the loop and of the run."""
    bare = 0
    for engine in ("local", "inline"):
        study = Study(folder / f"{engine}.h5", seed=1)
        study.add_datasets(texts(scale), name="texts")
        run(study.path, {"first": Perceptron()})  # makes the split
        if not bare:
            folds = StudyStore(study.path).load_split("texts").split.folds[0]
            seconds, bare = measured(loop, study.datasets_path, folds, anonymous=False)
            print(f"loop: {bare / 2**20:,.0f} MiB, {seconds:.0f} s")
        seconds, peak = measured(run, study.path, linear(), engine, anonymous=False)
        told = f"{peak / 2**20:,.0f} MiB, {seconds:.0f} s; {peak / bare:.2f} of the loop"
        print(f"run, {engine}: {told}", flush=True)


def measure_array(folder: Path, gigabytes: float) -> None:
    """Print memory and time of a cell on an array that is larger than a gigabyte."""
    n_rows = int(gigabytes * 2**30 / np.prod(ROW))
    rows = np.lib.format.open_memmap(folder / "X.npy", "w+", np.uint8, (n_rows, *ROW))
    pattern = np.random.default_rng(0).integers(0, 9, (1024, *ROW), dtype=np.uint8)
    for at in range(0, n_rows, 1024):
        rows[at : at + 1024] = pattern[: n_rows - at]
        rows[at : at + 1024, 0, 0] = at // 1024 % 251
    del rows
    np.save(folder / "y.npy", np.arange(n_rows) % 2)
    study = Study(folder / "study.h5", seed=1)
    begun = time.perf_counter()
    study.add_datasets(folder / "X.npy", name="array")
    print(f"stored {n_rows:,} rows in {time.perf_counter() - begun:.0f} s: "
          f"{study.datasets_path.stat().st_size / 2**30:.2f} GiB")  # fmt: skip
    (folder / "X.npy").unlink()
    seconds, peak = measured(run, study.path, {"reads": Reads()}, anonymous=True)
    found = StudyStore(study.path).block("array")
    cell = float(found.seconds[0, 0, 0].sum())
    test = found.split.folds[0] == 0
    begun, total = time.perf_counter(), 0
    with h5py.File(study.datasets_path) as file:
        item = file["array/X"]
        for at in range(0, n_rows, 4096):
            block = item[at : at + 4096]
            total += int(block[~test[at : at + 4096]].sum())
    read = time.perf_counter() - begun
    print(f"run: {seconds:.0f} s, {peak / 2**20:,.0f} MiB without pages of files")
    print(f"cell: {cell:.1f} s; h5py reads the fold in {read:.1f} s")


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["texts", "array"])
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--gigabytes", type=float, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        if given.what == "texts":
            measure_texts(Path(folder), given.scale)
        else:
            measure_array(Path(folder), given.gigabytes)


if __name__ == "__main__":
    import bench_arrays  # workers find the strategy by the name of its module

    bench_arrays.main()

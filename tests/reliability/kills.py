"""Kill a study with SIGKILL at random instants, and see that nothing of it is lost.

    python tests/reliability/kills.py --kills 1000 [--seed 0] [--seconds 3600]

A *life* of a study is: datasets are stored and split, two strategies run, a third is added, a
repeat is added, a dataset is added, and a strategy runs whose models are saved. It is killed and
begun again until it has come to its end; then the next life begins. Half of the kills come at a
random instant of the life, half up to 25 ms after the beginning of a step drawn at random. In one
life of 25, cells run in worker processes up to the first kill.

After each kill: the databases open and pass every check of ``mlaut verify``; each cell that was
reported as stored is done; each cell that is done has, bit for bit, what it has in a life that
nobody interrupted; no process is left. At the end of each life all arrays are compared.

A cell during which a run died three times is given up as ``crashed``, by design. Kills that aim at
the begin of a step may meet one cell three times, the more so on a slow machine. Each run tries
such cells again, and a life is at its end when there are none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from guess import Guess
from processes import none_left

from mlaut import Data, Orchestrator
from mlaut.errors import MlautError
from mlaut.estimators import Generic_Estimator
from mlaut.experiments.engines.engine import InlineEngine, LocalEngine
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.studies.study_checks import problems_of
from mlaut.files_io.tables.tables_of_others import of_pair
from mlaut.records import Cell, Dataset, Status

STEPS = ("data", "split", "allocate", "cells", "models", "settle")
AIMED_SECONDS = 0.025
ONE_IN_WORKERS = 25


# ------------------------------------------------------------------ one life of a study


class Reporting:
    """An engine that reports outcomes when the next are asked for: then they are stored."""

    def __init__(self, engine, step, report):
        self._engine, self._step, self._report = engine, step, report

    def of(self, options):
        return self

    def run(self, groups):
        self._report(self._step)
        for outcomes in self._engine.run(groups):
            yield outcomes
            for outcome in outcomes:
                cell = outcome.cell
                self._report(f"cell {cell.dataset} {cell.strategy} {cell.repeat} {cell.fold}")
        self._report("settle")


def live(folder: Path, report, workers: bool = False) -> None:
    """Do whatever is not done yet of the life of a study; ``report`` gets each step and cell."""
    engine = LocalEngine() if workers else InlineEngine()
    data = Data()
    report("data")
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    input_io.save_datasets(tables()[:2], "tables")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")

    def split(scheme):
        report("split")
        paths = input_io.list_datasets("tables")[1]
        data.split_datasets(input_io, out_io, paths, scheme=scheme, seed=1)

    def run(strategies, step="cells", **options):
        report("allocate")
        Orchestrator(input_io, out_io).run(
            strategies,
            engine=Reporting(engine, step, report),
            verbose=0,
            retry=["crashed"],
            **options,
        )

    one, other, third, saved = (plain(name) for name in ("one", "other", "third", "saved"))
    two, three = [one, other], [one, other, third]
    study = StudyStore(out_io.path)
    if not study.exists or all(e.split.n_repeats == 1 for e in study.load_splits().values()):
        split("kfold(2)")
    run(two)
    run(three)
    split("repeated_kfold(2, 2)")
    run(three)
    report("data")
    input_io.save_datasets(tables(), "tables")
    split("repeated_kfold(2, 2)")
    run(three)
    run(saved, "models", save_models=True)


def plain(name: str) -> Generic_Estimator:
    """Return a strategy of this name that takes the table as it is."""
    return Generic_Estimator(Guess(), name=name, preprocessing=None)


def tables(n_rows: int = 60) -> list[Dataset]:
    """Three small datasets: a table, an array with several labels, and series of any length."""
    made = []
    for k, name in enumerate(("first", "second", "third")):
        generator = np.random.default_rng(k)
        X = generator.normal(size=(n_rows, 3))
        y = np.where(X[:, 0] + generator.normal(size=n_rows) > 0, "yes", "no")
        series = [row[None, : 1 + n % 3] for n, row in enumerate(X)]
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        labels = (X[:, :2] > 0) * 1 if k == 1 else y
        frame, array, named = of_pair([table, X[:, None], series][k], labels, "y", {})
        made.append(Dataset(name, frame, named.get("target", "y"), "Classification", array=array))
    return made


# ------------------------------------------------------------------------- killing it


class Child:
    """A process that lives the life of a study, and reports through a pipe."""

    def __init__(
        self, folder: Path, life: Callable[..., None], before: Callable[[], object] = tuple
    ) -> None:
        self.mark = f"MLAUT_KILLS={uuid.uuid4().hex}"
        self._reports, pipe = os.pipe()
        self._told = b""
        self.pid = os.fork()
        if not self.pid:
            self._be_born(folder, pipe, life, before)
        os.close(pipe)

    def _be_born(
        self, folder: Path, pipe: int, life: Callable[..., None], before: Callable[[], object]
    ) -> None:
        code = 1
        try:
            os.close(self._reports)
            os.environ.update([self.mark.split("=")])
            before()
            life(folder, lambda text: os.write(pipe, f"{text}\n".encode()))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)

    def wait(self, seconds: float, step: str = "") -> bool:
        """Wait for a time, or for a step to begin; say whether that is what happened."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if step and f"{step}\n".encode() in self._told:
                return True
            if select.select([self._reports], [], [], left)[0]:
                text = os.read(self._reports, 2**16)
                if not text:
                    return False
                self._told += text
        return not step

    def kill(self) -> tuple[bool, list[str]]:
        """Kill it; say whether it had come to its end by itself, and what it has reported."""
        os.kill(self.pid, signal.SIGKILL)
        return self.ended()

    def ended(self) -> tuple[bool, list[str]]:
        """Wait for its end; say whether it came by itself, and what it has reported."""
        status = os.waitpid(self.pid, 0)[1]
        while text := os.read(self._reports, 2**16):
            self._told += text
        os.close(self._reports)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise SystemExit("a life ended with an error, see above")
        *whole, _ = self._told.decode().split("\n")
        return os.WIFEXITED(status), whole


def arrays(study: StudyStore) -> dict[str, np.ndarray]:
    """Return everything that must not depend on kills, under a name each."""
    found = {}
    for block in study.blocks():
        for s, name in enumerate(block.strategies):
            key = f"{block.dataset}/{name}"
            found[f"{key}/status"] = block.status[s]
            found[f"{key}/predictions"] = block.predictions[s]
            found[f"{key}/probabilities"] = block.probabilities[s]
        found[f"{block.dataset}/folds"] = block.split.folds
    return found


def problems(folder: Path, reported: set[str], reference: StudyStore) -> Iterator[str]:
    """Say what is wrong with a study after a kill."""
    study = StudyStore(folder / "study.h5")
    try:
        if (folder / "input.h5").exists():
            input_io = FilesIO(folder / "input.h5")
            for path in input_io.list_datasets()[1][-1:]:
                input_io.load_dataset(path)
        if not study.exists:
            if reported:
                yield "the study is not there"
            return
        yield from _lost(study, reported, "before it is settled")
        study.settle()
        yield from _lost(study, reported, "after it is settled")
        yield from (f"{where}: {what}" for where, what in problems_of(study))
        yield from _torn(study, reference)
    except (MlautError, OSError) as error:
        yield f"it does not open: {error}"


def _lost(study: StudyStore, reported: set[str], when: str) -> Iterator[str]:
    statuses = study.statuses()
    for cell in sorted(reported):
        _, dataset, strategy, repeat, fold = cell.split()
        names, status = statuses[dataset]
        found = Status(status[names.index(strategy), int(repeat), int(fold)])
        if found is not Status.DONE:
            yield f"lost {when}: {cell} is {found.word}"


def _torn(study: StudyStore, reference: StudyStore) -> Iterator[str]:
    for block in study.blocks():
        known = reference.block(block.dataset)
        for s, repeat, fold in np.argwhere(block.done).tolist():
            name = block.strategies[s]
            at = known.strategies.index(name), repeat, known.split.rows(repeat, fold)[1]
            here = s, repeat, block.split.rows(repeat, fold)[1]
            same = np.array_equal(known.predictions[at], block.predictions[here])
            if not same or known.probabilities[at].tobytes() != block.probabilities[here].tobytes():
                yield f"torn: {block.dataset} {name} {repeat} {fold}"


def cells_given_up(folder: Path) -> list[Cell]:
    """Return the cells of a study during which a run died three times: the next life tries them."""
    return [*StudyStore(folder / "study.h5").cells(Status.CRASHED)]


def survive(kills: int, seed: int, folder: Path, seconds: float) -> dict[str, object]:
    """Kill studies so many times, or so long; give the figures, or leave with what was lost."""
    generator = np.random.default_rng(seed)
    live(_empty(folder / "reference"), len)  # here, so that children need not import anything
    begun = time.monotonic()
    live(_empty(folder / "life"), len)
    length = time.monotonic() - begun
    reference = StudyStore(folder / "reference" / "study.h5")
    expected = arrays(reference)
    during: Counter[str] = Counter()
    n_reported = lives = 0
    while during.total() < kills and time.monotonic() - begun < seconds:
        lives += 1
        reported: set[str] = set()
        here = _empty(folder / "life")
        workers = lives % ONE_IN_WORKERS == 2
        ended = False
        while not ended and during.total() < kills:
            child = Child(here, partial(live, workers=workers))
            if generator.random() < 0.5 or workers:
                child.wait(generator.uniform(0, (4 if workers else 0.7) * length))
            elif child.wait(60, str(generator.choice(STEPS))):
                time.sleep(generator.uniform(0, AIMED_SECONDS))
            ended, told = child.kill()
            cells = {line for line in told if line.startswith("cell ")}
            reported |= cells
            n_reported += len(cells)
            if not ended:
                steps = [line for line in told if line in STEPS]
                during[steps[-1] if steps else "data"] += 1
            found = [*problems(here, reported, reference)]
            if not none_left(child.mark):
                found.append("a process is left")
            workers = False
            if found:
                kept = keep(here)
                raise SystemExit("\n".join([f"after {during.total()} kills, see {kept}:", *found]))
            ended = ended and not cells_given_up(here)
        if ended:
            assert_same(StudyStore(here / "study.h5"), expected)
    return {
        "kills": during.total(),
        "while": dict(sorted(during.items())),
        "lives": lives,
        "cells reported": n_reported,
        "studies that do not open": 0,
        "reported cells lost": 0,
        "torn cells": 0,
        "seconds": round(time.monotonic() - begun, 1),
        "result": hashlib.sha256(b"".join(v.tobytes() for v in expected.values())).hexdigest()[:12],
    }


def keep(folder: Path) -> Path:
    """Copy the folder of a study in which something was found, to be looked at."""
    return Path(shutil.copytree(folder, Path(tempfile.mkdtemp(prefix="mlaut-lost-")) / "life"))


def assert_same(study: StudyStore, expected: dict[str, np.ndarray]) -> None:
    """Compare all `arrays` of a study that has come to its end."""
    found = arrays(study)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def _tell(figures: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def main() -> None:
    """Read the command line, kill, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--folder", type=Path, help="where to work; default a passing folder")
    given = parser.parse_args()
    if given.folder:
        _tell(survive(given.kills, given.seed, given.folder, given.seconds))
        return
    with tempfile.TemporaryDirectory(prefix="mlaut-kills-") as folder:
        _tell(survive(given.kills, given.seed, Path(folder), given.seconds))


if __name__ == "__main__":
    main()

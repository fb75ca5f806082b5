"""Judge honest and forged entries of a board, and count by kind how many are refused.

    python benchmarks/board_forgeries.py [--each 100] [--python OTHER] [--folder F]

The board has ten small datasets and four strategies. Honest entries are runs of many learners, with
other numbers of threads, in a process with another environment, and with another Python. A forged
entry begins with an honest run or with its code, and is consistent: its manifest has the right
digests, its scores are those of its predictions, and its study has no problem.

It needs the plug-in mlaut-boards: pip install ./plugins/exchange ./plugins/boards
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from mlaut_boards.board import Board, init_board
from mlaut_boards.judging import judge_entry
from mlaut_boards.refits import refit_entry
from mlaut_exchange import Bundle, extend_bundle
from mlaut_exchange.publishing import _sealed, _with_files
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from mlaut import Study
from mlaut.analysis import Results
from mlaut.experiments.study_files.choices import own_strategies
from mlaut.files_io import FilesIO, StudyStore
from mlaut.records import Cell, Outcome, Status

SEED = 11
REAL = ("iris", "new-thyroid", "ecoli", "glass", "wine")
LEARNERS = (
    "DecisionTreeClassifier(max_depth={n})",
    "RandomForestClassifier(n_estimators={n})",
    "ExtraTreesClassifier(n_estimators={n})",
    "KNeighborsClassifier({n})",
    "LogisticRegression(C={n}, max_iter=20)",
    "SVC(C={n})",
    'LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1 / {n})',
    "MLPClassifier(hidden_layer_sizes=({n},), max_iter=15)",
    "AdaBoostClassifier(n_estimators={n})",
    "BaggingClassifier(n_estimators={n})",
    "GradientBoostingClassifier(n_estimators={n})",
    "SGDClassifier(alpha=0.001 * {n})",
    "RidgeClassifier(alpha={n})",
    "NearestCentroid(shrink_threshold=0.01 * {n})",
)
CODE = """
import warnings
from sklearn.base import *
from sklearn.discriminant_analysis import *
from sklearn.ensemble import *
from sklearn.linear_model import *
from sklearn.neighbors import *
from sklearn.neural_network import *
from sklearn.svm import *
from sklearn.tree import *
import numpy as np

{more}
strategies = [("{name}", {learner})]
"""
MEMORY = """
KNOWN = {known}
class Remembers(ClassifierMixin, BaseEstimator):
    def __init__(self, wrong=0.0):
        self.wrong = wrong
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        keys = [repr([round(float(x), 6) for x in row]) for row in np.asarray(X, dtype=float)]
        return np.array([self.classes_[KNOWN.get(k, 0) % len(self.classes_)] for k in keys])
"""
SEEDS = """
CHOSEN = {seeds}
class Chosen(ClassifierMixin, BaseEstimator):
    def __init__(self, n=3):
        self.n = n
    def fit(self, X, y):
        seed = CHOSEN.get(X.shape[1], 0)
        self.made_ = RandomForestClassifier(n_estimators=self.n, random_state=seed).fit(X, y)
        self.classes_ = self.made_.classes_
        return self
    def predict(self, X):
        return self.made_.predict(X)
    def predict_proba(self, X):
        return self.made_.predict_proba(X)
"""


def learner(number: int) -> str:
    """Return the code of a learner."""
    return LEARNERS[number % len(LEARNERS)].format(n=2 + number // len(LEARNERS))


def make_board(folder: Path) -> Board:
    """Make the board of five real and five drawn datasets with different numbers of columns."""
    study = Study(folder / "base.h5", seed=SEED)
    study.add_datasets([f"starter/{name}" for name in REAL])
    for d in (3, 6, 8, 10, 11):
        X, y = make_classification(
            140, d, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.7, random_state=d
        )
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(d)]).assign(target=y)
        study.add_datasets(frame, name=f"drawn-{d}", task="Classification")
    first = [
        ("forest", RandomForestClassifier(n_estimators=15)),
        ("neighbours", KNeighborsClassifier()),
        ("logistic", LogisticRegression(max_iter=20)),
    ]
    study.run(["BaselineClassifier", *first], split="kfold(2)", engine="inline", verbose=0)
    return init_board(folder / "board", study.path, include="all", licence="CC0-1.0")


def bundled(folder: Path, study: Path, code: str) -> Path:
    """Make a bundle like 'mlaut leaderboard add', but without its report, which is not judged."""
    folder.mkdir(parents=True)
    store = StudyStore(study).copy_to(folder / "study.h5", dict)
    scores = Results.from_study(store, "accuracy").scores.rename_axis(columns="strategy")
    long = scores.melt(ignore_index=False, value_name="score").reset_index()
    long.assign(metric="accuracy").to_csv(folder / "scores.csv", index=False)
    (folder / "strategies.py").write_text(code, encoding="utf-8")
    board = Board.open(folder.parents[1] / "board")
    datasets = tuple(
        replace(one, included=False) for one in board.bundle.datasets if one.name in store.datasets
    )
    fingerprints = {name: entry.fingerprint for name, entry in store.load_splits().items()}
    datasets = tuple(replace(one, fingerprint=fingerprints[one.name]) for one in datasets)
    made = Bundle(folder, folder.name, ("Somebody",), "CC0-1.0", "2026-01-01", datasets, {}, "")
    _sealed(_with_files(made))
    return folder


def honest(folder: Path, number: int, code: str = "", threads: int = 1) -> Path:
    """Run a learner on the board, and return its entry."""
    name = f"honest-{number}"
    target = folder / "honest" / name
    if target.exists():
        return target
    code = code or CODE.format(more="", name=name, learner=learner(number))
    return run_code(folder, target, code, threads=threads)


def run_code(folder: Path, target: Path, code: str, **options) -> Path:
    """Run code on the board, and return the entry."""
    with tempfile.TemporaryDirectory() as made:
        file, study = Path(made, "mine.py"), Path(made, "mine.h5")
        file.write_text(code, encoding="utf-8")
        extend_bundle(
            folder / "board" / "board",
            own_strategies(file),
            study,
            verbose=0,
            n_jobs=1,  # in a guarded process, as the board measures its times
            **options,
        )
        return bundled(target, study, code)


def rewritten(entry: Path, target: Path, change, code: str = "", splits=None) -> Path:
    """Return a forged entry: every outcome of an honest entry is changed, and sealed again."""
    store = StudyStore(entry / "study.h5")
    with tempfile.TemporaryDirectory() as made:
        forged = StudyStore(Path(made, "forged.h5"))
        forged.save_splits((splits or store.load_splits()).values())
        forged.allocate(store.strategies)
        with forged.writing(dict(store.runs[-1])) as writer:
            for block in store.blocks():
                details = {(r["repeat"], r["fold"]): r for r in store.details(block.dataset)}
                for (repeat, fold), record in details.items():
                    test = block.split.folds[repeat] == fold
                    p = block.probabilities
                    outcome = Outcome(
                        Cell(block.dataset, block.strategies[0], repeat, fold),
                        Status.DONE,
                        predictions=block.predictions[0, repeat, test].copy(),
                        probabilities=None if p is None else p[0, repeat, test].copy(),
                        seconds=tuple(record["seconds"]),
                        seed=record["seed"],
                        details={k: record[k] for k in ("started", "elapsed", "peak_memory")},
                    )
                    writer.write(change(outcome, block, test))
        return bundled(target, forged.path, code or (entry / "strategies.py").read_text())


def with_predictions(outcome: Outcome, predictions: np.ndarray) -> Outcome:
    """Return an outcome with other predictions, and probabilities that agree with them."""
    p = outcome.probabilities
    if p is not None and not np.isnan(p).any():
        p = p.copy()
        for i in np.flatnonzero(predictions != outcome.predictions):
            j, k = p[i].argmax(), predictions[i]
            p[i, j], p[i, k] = p[i, k], p[i, j]
    return replace(outcome, predictions=predictions.astype(np.int32), probabilities=p)


# ------------------------------------------------------------------- the forgeries


def changed_predictions(folder, number, rng, target):
    """Correct a share of the wrong predictions."""
    share = rng.choice([0.1, 0.2, 0.4, 0.8])

    def change(outcome, block, test):
        truth = block.truth[test]
        mend = (outcome.predictions != truth) & (rng.random(len(truth)) < share)
        return with_predictions(outcome, np.where(mend, truth, outcome.predictions))

    return rewritten(honest(folder, number), target, change)


def trained_on_the_test_rows(folder, number, rng, target):
    """Fit on all rows, or carry the answers in the code."""
    io = FilesIO(folder / "board" / "board" / "datasets.h5")
    splits = StudyStore(folder / "board" / "board" / "study.h5").load_splits()
    if number % 2 == 0:  # answers in the code, with some that are wrong
        known = {}
        for entry in splits.values():
            for row, label in zip(
                io.load_dataset(entry.path).features.to_numpy(dtype=float), entry.truth, strict=True
            ):
                if rng.random() > 0.03:
                    known[repr([round(float(x), 6) for x in row])] = int(label)
        more = MEMORY.format(known=known)
        return run_code(
            folder, target, CODE.format(more=more, name=target.name, learner="Remembers()")
        )
    name = f"honest-{number}"
    ((_, model),) = own_strategies(folder / "honest" / name / "strategies.py")

    def change(outcome, block, test):
        X = io.load_dataset(splits[block.dataset].path).features.to_numpy(dtype=float)
        fitted = clone(model).fit(X, block.truth)
        return with_predictions(outcome, fitted.predict(X[test]))

    return rewritten(honest(folder, number), target, change)


def other_splits(folder, number, rng, target):
    """Split in another way, in part or everywhere, and claim the predictions for these splits."""
    entry = honest(folder, number)
    splits = StudyStore(entry / "study.h5").load_splits()
    names = list(splits)[: rng.integers(1, len(splits) + 1)]
    orders = {name: rng.permutation(splits[name].split.n_rows) for name in names}
    made = dict(splits)
    for name, order in orders.items():
        split = splits[name].split
        made[name] = replace(splits[name], split=replace(split, folds=split.folds[:, order]))
    everywhere = {name: one.split.folds for name, one in made.items()}
    predicted = {b.dataset: b.predictions[0, 0] for b in StudyStore(entry / "study.h5").blocks()}

    def change(outcome, block, _):
        rows = everywhere[block.dataset][0] == outcome.cell.fold
        p = outcome.probabilities
        if p is not None:
            p = np.full((rows.sum(), p.shape[1]), 1 / p.shape[1], dtype=np.float32)
        return replace(outcome, predictions=predicted[block.dataset][rows], probabilities=p)

    return rewritten(entry, target, change, splits=made)


def copied_with_noise(folder, number, rng, target):
    """Take the predictions of an entry of the board, change a few, and name another learner."""
    blocks = {b.dataset: b for b in StudyStore(folder / "board" / "board" / "study.h5").blocks()}
    share, s = rng.choice([0.0, 0.01, 0.03]), int(rng.integers(1, 4))

    def change(outcome, block, test):
        copied = blocks[block.dataset].predictions[s, outcome.cell.repeat, test].copy()
        noisy = rng.random(len(copied)) < share
        copied[noisy] = rng.integers(0, len(block.classes), noisy.sum())
        return with_predictions(outcome, copied)

    return rewritten(honest(folder, number), target, change)


def results_of_another_learner(folder, number, rng, target):
    """Take the predictions of another honest entry."""
    other = 1 + int(rng.integers(len(LEARNERS) - 1))
    entry = honest(folder, number)
    others = StudyStore(
        honest(folder, number // GROUP * GROUP + (number + other) % GROUP) / "study.h5"
    )
    blocks = {block.dataset: block for block in others.blocks()}

    def change(outcome, block, test):
        there = blocks[block.dataset].predictions[0, outcome.cell.repeat, test]
        return with_predictions(outcome, there)

    return rewritten(entry, target, change)


def best_of_many_seeds(folder, number, _, target):
    """Choose the seed of the run, a seed as a parameter, or hidden seeds, one for each dataset."""
    name, how = target.name, number % 3
    if how == 1:
        more, made = "", f"RandomForestClassifier(n_estimators=3, random_state={number})"
        return run_code(folder, target, CODE.format(more=more, name=name, learner=made))
    if how == 2:
        with tempfile.TemporaryDirectory() as work:
            study = Study(Path(work, "x.h5"), seed=1000 + number)
            board = StudyStore(folder / "board" / "board" / "study.h5")
            StudyStore(study.path).save_splits(board.load_splits().values())
            code = CODE.format(more="", name=name, learner="RandomForestClassifier(n_estimators=3)")
            Path(work, "mine.py").write_text(code)
            from mlaut.experiments import Orchestrator

            io = FilesIO(folder / "board" / "board" / "datasets.h5")
            Orchestrator(io, FilesIO(study.path, "a"), seed=1000 + number).run(
                own_strategies(Path(work, "mine.py")), verbose=0, engine="inline"
            )
            return bundled(target, study.path, code)
    io = FilesIO(folder / "board" / "board" / "datasets.h5")
    splits = StudyStore(folder / "board" / "board" / "study.h5").load_splits()
    seeds = {}
    for entry in splits.values():
        X = io.load_dataset(entry.path).features.to_numpy(dtype=float)
        folds, scores = entry.split.folds[0], []
        for seed in range(number, number + 25):
            right = 0
            for fold in (0, 1):
                train, test = folds != fold, folds == fold
                model = RandomForestClassifier(n_estimators=3, random_state=seed)
                predicted = model.fit(X[train], entry.truth[train]).predict(X[test])
                right += (predicted == entry.truth[test]).sum()
            scores.append(right)
        seeds[X.shape[1]] = number + int(np.argmax(scores))
    more = SEEDS.format(seeds=seeds)
    return run_code(folder, target, CODE.format(more=more, name=name, learner="Chosen()"))


def forged_costs(folder, number, rng, target):
    """Divide the times by 20 to 1,000, or claim the same short time everywhere."""
    factor = rng.choice([20, 50, 200, 1000])

    def change(outcome, *_):
        times = tuple(x / factor for x in outcome.seconds)
        return replace(outcome, seconds=(0.0, 1e-5, 1e-5) if number % 4 == 0 else times)

    return rewritten(honest(folder, number), target, change)


KINDS = (
    changed_predictions,
    trained_on_the_test_rows,
    other_splits,
    copied_with_noise,
    results_of_another_learner,
    best_of_many_seeds,
    forged_costs,
)
GROUP = 20  # entries that are made together


def make_honest(folder: Path, numbers, threads: int) -> None:
    """Make some honest entries."""
    for number in numbers:
        honest(folder, number, threads=threads)


def judged(board: Board, entry: Path, seed: str):
    """Return the verdict on an entry, and the seconds; nothing is fitted if its content fails."""
    begun = time.perf_counter(), time.process_time()
    found = judge_entry(board, entry, {}, seed=seed, claim=1)
    if found.why.startswith("Its fits cannot be read"):
        fits = refit_entry(board, entry, seed, trusted=True, n_jobs=1)
        found = judge_entry(board, entry, fits, seed=seed, claim=1)
    return found, time.perf_counter() - begun[0], time.process_time() - begun[1]


def table_of(log: Path) -> pd.DataFrame:
    """Return counts and times by kind."""
    frame = pd.read_csv(log)
    by = frame.groupby("kind", sort=False)
    counts = (
        pd.crosstab(frame["kind"], frame["verdict"])
        .reindex(frame["kind"].unique())
        .reindex(columns=["accepted", "provisional", "refused"], fill_value=0)
    )
    return counts.assign(
        **{"seconds, median": by["seconds"].median(), "CPU seconds": by["cpu"].median()}
    )


def main() -> None:
    """Make the board and all entries, judge them, and print the table; a second call resumes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--python", default="", help="another Python, with MLaut's packages")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--make", default="", help="numbers of honest entries to make, and end")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    if given.make:
        make_honest(folder, map(int, given.make.split(",")), given.threads)
        return
    board = Board.open(folder / "board") if (folder / "board").exists() else make_board(folder)
    log = folder / "log.csv"
    if not log.exists():
        log.write_text("kind,number,learner,verdict,seconds,cpu,why\n")
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    other = {"OMP_NUM_THREADS": "4", "PYTHONHASHSEED": "3", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    ways = (
        ("as the board", sys.executable, 1, here),
        ("another process, 4 threads", sys.executable, 4, {**here, **other}),
        ("another Python", given.python or sys.executable, 1, here),
    )

    def note(kind, number, found, *seconds):
        with log.open("a", newline="") as file:
            row = [kind, number, learner(number), found.verdict, *seconds, found.why]
            csv.writer(file).writerow(row)
        print(kind, number, learner(number), found.verdict, found.why[:90], flush=True)

    for begin in range(0, given.each, GROUP):
        numbers = list(range(begin, min(begin + GROUP, given.each)))
        done = set(zip(*(pd.read_csv(log)[name] for name in ("kind", "number")), strict=True))
        for way, (_, python, threads, environment) in enumerate(ways):
            some = ",".join(str(n) for n in numbers if n % len(ways) == way)
            command = [python, __file__, "--folder", str(folder), "--make", some]
            command += ["--threads", str(threads)]
            subprocess.run(command, check=True, env=environment)
        for number in numbers:
            kind = "honest: " + ways[number % len(ways)][0]
            if (kind, number) not in done:
                entry = folder / "honest" / f"honest-{number}"
                note(kind, number, *judged(board, entry, f"h{number}"))
            forge = KINDS[number % len(KINDS)]
            kind = "forged: " + forge.__name__.replace("_", " ")
            if (kind, number) not in done:
                rng = np.random.default_rng((SEED, number))
                entry = folder / "forged" / f"forged-{number}"
                shutil.rmtree(entry, ignore_errors=True)
                forge(folder, number, rng, entry)
                note(kind, number, *judged(board, entry, f"f{number}"))
    print(table_of(log).to_string())


if __name__ == "__main__":
    main()

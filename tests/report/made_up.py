"""Studies made up for the tests of reports: every number follows from names and a seed."""

from dataclasses import replace

import numpy as np

from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, REGRESSION, Cell, Outcome, Split, Status

ROWS = 40


def made_up_study(
    path,
    strategies,
    datasets,
    *,
    task=CLASSIFICATION,
    regression=(),
    failed=(),
    not_run=(),
    folds=1,
    warned=(),
):
    """Make a study of strategies, the first of which are the better ones.

    ``regression`` names datasets of that task among others; ``failed`` and ``not_run`` are pairs
    of dataset and strategy; ``warned`` are strategies whose fits on dataset number n warn of n.
    """
    generator = np.random.default_rng(1)
    study = StudyStore(path)
    tasks = dict.fromkeys(datasets, task) | dict.fromkeys(regression, REGRESSION)
    study.save_splits([_entry(name, tasks[name], folds) for name in datasets])
    study.allocate([_strategy(name) for name in strategies])
    told = {"started": "2026-01-02T03:04:05+00:00", "processor": "any", "versions": {"mlaut": "0"}}
    with study.writing(told) as writer:
        for dataset in datasets:
            entry = study.load_split(dataset)
            for place, name in enumerate(strategies):
                for fold in range(folds):
                    if (dataset, name) not in not_run:
                        cell = Cell(dataset, name, 0, fold)
                        broken = (dataset, name) in failed
                        outcome = _outcome(entry, cell, place, broken, generator)
                        if name in warned:
                            text = f"FitFailedWarning: {datasets.index(dataset)} fits of 80 failed"
                            outcome = replace(outcome, details={"warnings": [f"{text} (2 times)"]})
                        writer.write(outcome)
    return study


def _entry(name, task, folds):
    generator = np.random.default_rng(sum(name.encode()))
    places = np.arange(ROWS)
    of_row = places % folds if folds > 1 else np.where(places < ROWS // 2, 0, -1)
    classification = task == CLASSIFICATION
    return SplitEntry(
        name=name,
        path=f"/group/{name}",
        task=task,
        fingerprint=f"print of {name}",
        classes=("no", "yes") if classification else (),
        truth=(
            generator.integers(0, 2, ROWS).astype(np.int32)
            if classification
            else generator.normal(size=ROWS)
        ),
        split=Split(of_row[None].astype(np.int16), f"{folds} folds", seed=0),
    )


def _strategy(name):
    identity = {"strategy": {"class": f"package.{name}"}}
    return StrategyEntry(name, f"print of {name}", identity, {"estimator_family": ["Some"]})


def _outcome(entry, cell, place, broken, generator):
    if broken:
        return Outcome(cell, Status.ERROR, reason="ValueError: <b>no</b> & no", seed=0)
    truth = entry.truth[entry.split.rows(0, cell.fold)[1]]
    if entry.task == REGRESSION:
        predictions = truth + generator.normal(scale=0.5 + 0.1 * place, size=len(truth))
    else:
        wrong = generator.uniform(size=len(truth)) < min(0.08 + 0.02 * place, 0.5)
        predictions = np.where(wrong, 1 - truth, truth).astype(np.int32)
    seconds = (0.0, 0.01 * 1.3**place, 0.001)
    return Outcome(cell, Status.DONE, predictions, seconds=seconds, seed=0)

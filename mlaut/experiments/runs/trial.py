"""Trial fits: each strategy that has cells to do is fitted on a few rows before the first cell."""

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlaut.experiments.engines.engine import make_engine
from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.plan import Group, Plan
from mlaut.experiments.plans.run_options import cell_options
from mlaut.experiments.workers.batches import make_batches
from mlaut.files_io import SplitEntry
from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import counted
from mlaut.records import CLASSIFICATION, UNUSED, Outcome, Split, Status

# A failure on the first number of training rows counts only if it is repeated on the second one:
# few rows alone may be too few for a strategy's folds or neighbours.
_ROWS = (30, 1000)
_OF_CLASS = 6  # rows of each class, at the least
_TESTED = 10
_SECONDS = 5.0  # of a fit; one that takes longer is slow, which is no fault
_ALL_SECONDS = 20.0  # of all fits


def trial_fits(plan: Plan, database: Path, options: RunOptions) -> list[str]:
    """Return a line for each strategy that cannot be fitted on some rows of a dataset.

    Only strategies with cells to do are tried, in guarded processes, and nothing is stored. A fit
    that takes too long is left alone. Engines other than ``"local"`` have no trial.
    """
    if options.engine != "local":
        return []
    groups = _smallest(plan)
    settings = replace(cell_options(options, database), models=None, checkpoints=None)
    until = time.monotonic() + _ALL_SECONDS
    failed: Mapping[str, Outcome] = {}
    for n_rows in _ROWS:
        tried = {name: _sampled(group, n_rows) for name, group in groups.items()}
        strategies = [strategy for strategy in plan.strategies if strategy.name in tried]
        batches = make_batches(tried.values(), strategies, database, 0, settings)
        engine = make_engine(replace(options, timeout=_SECONDS))
        failed = {}
        with closing(engine.run(batches)) as ended:
            for outcomes in ended:
                failed |= {o.cell.strategy: o for o in outcomes if _is_fault(o)}
                if time.monotonic() > until:
                    break
        groups = {name: group for name, group in groups.items() if name in failed}
        if not groups:
            break
    return [_line(outcome, tried[name][0]) for name, outcome in failed.items()]


def _is_fault(outcome: Outcome) -> bool:
    return outcome.status.failed and outcome.status not in (Status.TIMEOUT, Status.DIVERGED)


def _smallest(plan: Plan) -> dict[str, Group]:
    """Return the first cell to do of each strategy, on its smallest dataset."""
    groups: dict[str, Group] = {}
    for entry, name, cells in plan.groups():
        if name not in groups or entry.split.n_rows < groups[name][0].split.n_rows:
            groups[name] = entry, name, cells[:1]
    return groups


def _sampled(group: Group, n_rows: int) -> Group:
    """Return a group of one cell, whose only fold trains on a sample that has all classes."""
    entry, name, ((repeat, fold),) = group
    train, test = entry.split.rows(repeat, fold)
    rng = np.random.default_rng(0)
    train, test = rng.permutation(train), rng.permutation(test)[:_TESTED]
    if entry.task == CLASSIFICATION and not entry.targets:
        truth = pd.Series(entry.truth[train])
        place = truth.groupby(truth).cumcount().to_numpy()  # of a row among those of its class
        train = train[np.argsort(place, kind="stable")]
        n_rows = max(n_rows, _OF_CLASS * len(entry.classes))
    folds = np.full((1, entry.split.n_rows), UNUSED, dtype=np.int16)
    folds[0, train[:n_rows]], folds[0, test] = -1, 0
    return replace(entry, split=Split(folds, entry.split.scheme)), name, ((0, 0),)


def _line(outcome: Outcome, entry: SplitEntry) -> str:
    rows = counted(len(entry.split.rows(0, 0)[0]), "row")
    return (
        f"{outcome.cell.strategy} failed in a trial fit on {rows} of {entry.name}: "
        f"{outcome.reason or outcome.status.word}"
    )

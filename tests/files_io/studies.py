"""Small studies for the tests of the store."""

import contextlib

import numpy as np

from mlaut.errors import StoreError
from mlaut.files_io import SplitEntry, StrategyEntry
from mlaut.records import CLASSIFICATION, REGRESSION, Cell, Outcome, Split, Status


def entry(name="iris", n_rows=6, n_folds=2, n_repeats=1, task=CLASSIFICATION, fingerprint="f0"):
    generator = np.random.default_rng(sum(name.encode()))
    rows = np.arange(n_rows)
    folds = np.stack([(rows + r) % n_folds for r in range(n_repeats)]).astype(np.int16)
    classification = task == CLASSIFICATION
    return SplitEntry(
        name=name,
        path=f"/group/{name}",
        task=task,
        fingerprint=fingerprint,
        classes=("no", "yes", "ü") if classification else (),
        truth=(
            generator.integers(0, 3, n_rows).astype(np.int32)
            if classification
            else generator.normal(size=n_rows)
        ),
        split=Split(folds, f"kfold({n_folds})", seed=0),
    )


def strategy(name, version=0):
    return StrategyEntry(name, f"{name}-{version}", {"class": name, "C": version}, {"tasks": ["x"]})


def outcome(of, name, repeat=0, fold=0, status=Status.DONE, seed=1, probabilities=True):
    """Make an outcome whose numbers follow from its key and seed."""
    cell = Cell(of.name, name, repeat, fold)
    if status is not Status.DONE:
        return Outcome(cell, status, reason=f"{status.word} of seed {seed}", seed=seed)
    generator = np.random.default_rng([seed, repeat, fold])
    n_test = len(of.split.rows(repeat, fold)[1])
    if of.task == REGRESSION:
        return Outcome(cell, status, generator.normal(size=n_test), seconds=(0.5, 1.0, seed))
    given = generator.dirichlet([1] * 3, n_test).astype(np.float32) if probabilities else None
    return Outcome(
        cell,
        status,
        predictions=generator.integers(0, 3, n_test).astype(np.int32),
        probabilities=given,
        seconds=(0.5, 1.0, float(seed)),
        seed=seed,
        details={"best_params": {"C": seed}},
    )


def assert_same_block(one, other):
    assert one.strategies == other.strategies
    assert (one.task, one.classes, one.fingerprint) == (
        other.task,
        other.classes,
        other.fingerprint,
    )
    for name in ("truth", "status", "predictions", "probabilities", "seconds"):
        left, right = getattr(one, name), getattr(other, name)
        if left is None or right is None:
            assert left is right, name
        else:
            np.testing.assert_array_equal(left, right, err_msg=name)
            assert left.dtype == right.dtype, name
    np.testing.assert_array_equal(one.split.folds, other.split.folds)


def broken_off(study, *outcomes):
    """Write outcomes, and leave the journal behind as a killed run does."""
    with contextlib.suppress(StoreError), study.writing() as writer:
        for one in outcomes:
            writer.write(one)
        raise StoreError("as when the disk is full: the journal stays")
    assert study.journal_path.exists()

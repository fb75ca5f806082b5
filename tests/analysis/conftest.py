"""Published matrices, and small blocks as a study would give them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results
from mlaut.records import CLASSIFICATION, Block, Split, Status

FIXTURES = Path(__file__).with_name("fixtures")


def _table(name):
    return pd.read_csv(FIXTURES / name, index_col=0)


@pytest.fixture(scope="session")
def demsar():
    """14 x 4 AUCs of Demsar 2006, Table 6, as printed."""
    return Results.from_table(_table("demsar2006_auc.csv"), metric="auc")


@pytest.fixture(scope="session")
def demsar_ranks():
    """The ranks that Demsar computed from the unrounded AUCs."""
    return Results.from_table(
        _table("demsar2006_ranks.csv"), metric="rank", greater_is_better=False
    )


@pytest.fixture(scope="session")
def garcia():
    """30 x 5 accuracies of Garcia and Herrera 2008."""
    return Results.from_table(_table("garcia_herrera2008_accuracy.csv"), metric="accuracy")


@pytest.fixture(scope="session")
def mlaut2018():
    """121 x 9 errors that MLaut published in 2018."""
    return Results.from_table(_table("mlaut2018_error.csv"), metric="misclassification")


@pytest.fixture
def losses():
    """Make results of losses from columns."""

    def make(table, **how):
        return Results.from_table(pd.DataFrame(table), **({"greater_is_better": False} | how))

    return make


@pytest.fixture
def make_block():
    """Make a block of predictions for one repeat of folds."""

    def make(
        truth,
        predictions,
        folds,
        *,
        dataset="d",
        task=CLASSIFICATION,
        classes=("no", "yes"),
        probabilities=None,
        status=None,
        strategies=None,
        fingerprint="",
    ):
        folds = np.atleast_2d(np.asarray(folds, dtype=np.int16))
        predictions = np.asarray(predictions)
        if predictions.ndim == 2:
            predictions = predictions[:, None]
        split = Split(folds, "by hand")
        shape = (len(predictions), split.n_repeats, split.n_folds)
        return Block(
            dataset=dataset,
            task=task,
            fingerprint=fingerprint or dataset,
            strategies=strategies or tuple("ABCDEFGH"[: len(predictions)]),
            classes=classes if task == CLASSIFICATION else (),
            truth=np.asarray(truth),
            split=split,
            status=np.full(shape, Status.DONE, dtype=np.uint8) if status is None else status,
            predictions=predictions,
            probabilities=probabilities,
            seconds=np.ones((*shape, 3)),
        )

    return make

"""Published matrices, and small blocks as a study would give them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from mlaut.analysis import Results, published
from mlaut.records import CLASSIFICATION, Block, Split, Status


@pytest.fixture(scope="session")
def demsar():
    """14 x 4 AUCs of Demsar 2006, Table 6, as printed."""
    return published("demsar2006")


@pytest.fixture(scope="session")
def demsar_ranks():
    """The ranks that Demsar computed from the unrounded AUCs."""
    return published("demsar2006_ranks")


@pytest.fixture(scope="session")
def garcia():
    """30 x 5 accuracies of Garcia and Herrera 2008."""
    return published("garcia2008")


@pytest.fixture(scope="session")
def mlaut2018():
    """121 x 9 errors that MLaut published in 2018."""
    return replace(published("mlaut2018"), notes=())


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


def _extents(figure):
    """Extents of all that is written, in pixels; not of ticks beyond the ends of an axis."""
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", lambda text, _: drawn.append(text))
        figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    written = {id(t): t for t in drawn if t.get_text() and t.get_visible()}.values()
    return [(t.get_text(), t.get_window_extent(renderer)) for t in written]


@pytest.fixture
def assert_readable():
    """Nothing written in a figure is cut off or lies over another."""
    return _assert_readable


def _assert_readable(figure):
    extents = _extents(figure)
    for place, (text, box) in enumerate(extents):
        if box.width == 0:
            continue
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.width + 1, text
        assert box.y1 <= figure.bbox.height + 1, text
        for other, another in extents[place + 1 :]:
            assert another.width == 0 or not box.overlaps(another), (text, other)

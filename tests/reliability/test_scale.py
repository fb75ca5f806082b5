"""A plan of a million cells; ``benchmarks/bench_plan.py`` stores and resumes one as well."""

import gc
import tracemalloc

import numpy as np

from mlaut.experiments.plans.plan import make_plan
from mlaut.experiments.plans.run_options import parse_retry
from mlaut.experiments.workers.batches import Batch, BatchQueue, DatasetRef
from mlaut.files_io import SplitEntry
from mlaut.records import Split

REF = DatasetRef("input.h5", "/d", "d", "f", ("n", "y"))


def test_a_million_cells_are_no_million_objects():
    folds = np.tile(np.arange(100, dtype=np.int16), (100, 1))
    truth = np.zeros(100, dtype=np.int32)
    entry = SplitEntry("d", "/d", "Classification", "f", ("n", "y"), truth, Split(folds, "k"))
    names = [f"s{i}" for i in range(100)]
    gc.collect()
    before = len(gc.get_objects())
    tracemalloc.start()
    try:
        plan = make_plan(None, {"d": names}, parse_retry((), names), splits={"d": entry})
        assert (plan.n_cells, plan.n_todo, plan.n_skipped) == (1_000_000, 1_000_000, 0)
        assert plan.before.total.total() == 1_000_000
        assert [row["todo"] for row in plan.why()] == [10_000] * 100
        groups = (
            Batch(REF, name, b"", cells, dict.fromkeys(range(100), folds[0]), 0, None)
            for _, name, cells in plan.groups()
        )
        queue, taken = BatchQueue(groups), 0
        while (batch := queue.next()) is not None and taken < 20_000:
            taken += len(batch.cells)
        gc.collect()
        assert len(gc.get_objects()) - before < 25_000
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()

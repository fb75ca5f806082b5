"""Size limits of strategies, checked before a run.

The method ``too_large(n_rows, n_columns, n_classes)`` of a strategy returns the reason why it
cannot fit a dataset of that size in reasonable time, or None. Its cells on such a dataset are
stored as skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlaut.estimators import MlautEstimator
from mlaut.files_io import FilesIO, SplitEntry
from mlaut.records import Status

__all__ = ["too_large"]


def too_large(
    input_io: FilesIO,
    entries: Mapping[str, SplitEntry],
    wanted: Mapping[str, Sequence[str]],
    strategies: Sequence[MlautEstimator],
    retry: Mapping[str, frozenset[Status]],
) -> dict[str, dict[str, str]]:
    """Return the strategies whose size limit is exceeded by the training rows of each dataset.

    Parameters
    ----------
    input_io : FilesIO
        Database of the datasets.
    entries : mapping of str to SplitEntry
        Dataset and split, by name; the size is that of the first training set.
    wanted : mapping of str to sequence of str
        Names of the strategies to run on each dataset.
    strategies : sequence of MlautEstimator
    retry : mapping of str to frozenset of Status
        Statuses to try again, by strategy; with ``skipped``, its size limit is not checked.

    Returns
    -------
    dict of str to dict of str to str
        For each dataset, the strategies whose limit it exceeds, with the reason.
    """
    asked = {
        strategy.name: strategy.too_large
        for strategy in strategies
        if Status.SKIPPED not in retry.get(strategy.name, ())
    }
    found = {}
    for dataset, names in wanted.items():
        entry = entries[dataset]
        n_rows = len(entry.split.rows(0, 0)[0])
        n_columns = input_io.dataset_info(entry.path).n_features
        reasons = {
            name: asked[name](n_rows, n_columns, len(entry.classes))
            for name in names
            if name in asked
        }
        found[dataset] = {name: reason for name, reason in reasons.items() if reason}
    return found

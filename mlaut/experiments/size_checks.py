"""Sensible limits: which strategies cannot do a dataset in reasonable time, asked before they run.

A strategy that has such limits has the method ``too_large(n_rows, n_columns, n_classes)``, which
gives the reason, or None. Its cells on such a dataset are stored as skipped, with the reason.
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
    """Ask strategies about the training part of each dataset.

    Parameters
    ----------
    input_io : FilesIO
        The database of the datasets.
    entries : mapping of str to SplitEntry
    wanted : mapping of str to sequence of str
        Strategies of each dataset.
    strategies : sequence of MlautEstimator
    retry : mapping of str to frozenset of Status
        A strategy whose skipped cells are to be tried is not asked.

    Returns
    -------
    dict of str to dict of str to str
        For each dataset the strategies that cannot do it, and why.
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

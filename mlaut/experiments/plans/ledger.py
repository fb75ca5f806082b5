"""The ledger of cells: how many cells of each strategy on each dataset have which status.

Plans, forecasts, statuses, summaries and verifications count cells here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlaut.files_io.outcomes.reason_counts import without_numbers
from mlaut.helpers.markup import counted
from mlaut.records import Status


@dataclass(frozen=True, eq=False)
class Ledger:
    """Number of cells by dataset, strategy and status.

    Attributes
    ----------
    datasets, strategies : tuple of str
        Names, in the order of the axes of ``cells``.
    cells : ndarray of int, shape (datasets, strategies, statuses)
        Number of cells of each `mlaut.records.Status`.

    Examples
    --------
    >>> status = np.array([[[1, 1, 3]], [[0, 0, 0]]], dtype=np.uint8)
    >>> ledger = count_cells({"iris": (("SVC", "tree"), status)})
    >>> ledger.n_cells, ledger.n_done, ledger.n_failed, str(ledger)
    (6, 2, 1, '3 missing, 2 done, 1 timeout')
    """

    datasets: tuple[str, ...]
    strategies: tuple[str, ...]
    cells: np.ndarray

    def __str__(self) -> str:
        return counts_text(self.total)

    @property
    def total(self) -> Counter[Status]:
        """Number of cells of each status."""
        return _counter(self.cells.sum(axis=(0, 1)))

    def of_strategy(self, strategy: str) -> Counter[Status]:
        """Return the number of cells of one strategy by status."""
        return _counter(self.cells[:, self.strategies.index(strategy)].sum(axis=0))

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cells.sum())

    @property
    def n_done(self) -> int:
        """Number of cells that have predictions."""
        return self.total[Status.DONE]

    @property
    def n_failed(self) -> int:
        """Number of cells that were run and have no predictions."""
        return sum(n for status, n in self.total.items() if status.failed)

    @property
    def complete(self) -> bool:
        """Return whether there are cells, and every cell has predictions."""
        return 0 < self.n_cells == self.n_done

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each strategy, with its number of cells of each status."""
        kinds = sorted(self.total)
        return [
            {"strategy": name, **{kind.word: self.of_strategy(name)[kind] for kind in kinds}}
            for name in self.strategies
        ]


def count_cells(
    statuses: Mapping[str, tuple[Sequence[str], np.ndarray]],
    strategies: Iterable[str] = (),
    where: Mapping[str, np.ndarray] | None = None,
) -> Ledger:
    """Return the ledger of some cells.

    Parameters
    ----------
    statuses : mapping of str to (sequence of str, ndarray of uint8)
        Strategies, and status of shape (strategies, repeats, folds), of each dataset.
    strategies : iterable of str
        Strategies to list first, with or without cells.
    where : mapping of str to ndarray of bool, optional
        Cells of each dataset to count, in the shape of its status; default all.
    """
    names = (name for of_dataset, _ in statuses.values() for name in of_dataset)
    place = {name: s for s, name in enumerate(dict.fromkeys([*strategies, *names]))}
    kinds = np.array(Status, dtype=np.uint8)[:, None, None, None]
    cells = np.zeros((len(statuses), len(place), len(Status)), dtype=np.intp)
    for d, (dataset, (of_dataset, status)) in enumerate(statuses.items()):
        chosen = status if where is None else np.where(where[dataset], status, len(Status))
        cells[d, [place[name] for name in of_dataset]] = (chosen == kinds).sum(axis=(2, 3)).T
    return Ledger(tuple(statuses), tuple(place), cells)


def _counter(numbers: np.ndarray) -> Counter[Status]:
    return Counter({Status(kind): int(n) for kind, n in enumerate(numbers) if n})


def counts_words(counts: Mapping[Status, int]) -> dict[str, int]:
    """Return numbers of cells by the word of their status, as JSON stores them."""
    return {status.word: n for status, n in sorted(counts.items())}


def counts_text(counts: Mapping[Status, int]) -> str:
    """Return numbers of cells as text, such as ``10 done, 2 timeout``."""
    return ", ".join(f"{n} {word}" for word, n in counts_words(counts).items() if n)


def alike(reasons: Iterable[tuple[Any, str, int]]) -> list[tuple[Any, str, int]]:
    """Return reasons with one for all that differ only in numbers, in the order of the first.

    Parameters
    ----------
    reasons : iterable of (hashable, str, int)
        Whose reason it is, the reason, and its number of cells. The numbers are added up.

    Examples
    --------
    >>> alike([("a", "needs 3 rows, got 2", 1), ("a", "needs 3 rows, got 1", 4), ("b", "no", 1)])
    [('a', 'needs 3 rows, got 2 (and 1 reason that differs in numbers)', 5), ('b', 'no', 1)]
    """
    groups: dict[Any, list[tuple[str, int]]] = {}
    for whose, reason, cells in reasons:
        groups.setdefault((whose, without_numbers(reason)), []).append((reason, cells))
    found = []
    for (whose, _), several in groups.items():
        others = len({reason for reason, _ in several}) - 1
        differ = f"{counted(others, 'reason')} that differ{'s' * (others == 1)} in numbers"
        more = f" (and {differ})" if others else ""
        found.append((whose, several[0][0] + more, sum(cells for _, cells in several)))
    return found

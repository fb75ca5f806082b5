"""Shards: one run does the cells of one share of a study, in a file of its own.

Which cells a shard has depends only on the datasets, the splits, the names of the strategies and
the number of shards. So several machines divide a study without talking to each other.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np

from mlaut.errors import StudyError
from mlaut.files_io import SplitEntry, StudyStore

_WORD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_FILE = re.compile(r"\.shard-\d+-of-(\d+)$")  # of the stem of a shard's file


@dataclass(frozen=True)
class Shard:
    """Share of the cells of a study.

    Attributes
    ----------
    number : int
        Number of the shard, from 1 on.
    count : int
        Number of shards.

    Examples
    --------
    >>> shard = Shard.parse("2/10")
    >>> str(shard), shard.path(Path("study.h5")).name
    ('2/10', 'study.shard-2-of-10.h5')
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard of a text such as ``"2/10"``.

        Raises
        ------
        StudyError
            The text has another form, or the number is not one of 1 to the number of shards.
        """
        match = _WORD.fullmatch(text) if isinstance(text, str) else None
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise StudyError(
                f"shard {text!r}: not a share of the cells; write '2/10' for the second of ten"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def path(self, study: Path) -> Path:
        """Return the path of the shard's file, beside a study."""
        name = f"{study.stem}.shard-{self.number}-of-{self.count}{study.suffix}"
        return study.with_name(name)

    def cells(
        self,
        datasets: Mapping[str, tuple[SplitEntry, Sequence[str]]],
        first_names: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, np.ndarray]:
        """Return which cells the shard has: for each dataset, bool, shape (S, R, F).

        Each cell belongs to one shard. For each strategy, the largest datasets are dealt out first,
        each fold to the shard that has the fewest rows of this strategy, and then of all: the cost
        of a cell is taken to grow with the rows, and nothing is assumed of the strategies.

        Parameters
        ----------
        datasets : mapping of str to (SplitEntry, sequence of str)
            Split and names of the strategies of each dataset, by name.
        first_names : mapping of str to str
            First names of the strategies that were renamed: renaming changes no share.
        """
        shares = {
            name: np.zeros((len(strategies), *_shape(entry)), dtype=bool)
            for name, (entry, strategies) in datasets.items()
        }
        entries = {name: entry for name, (entry, _) in datasets.items()}
        by_size = sorted(
            entries, key=lambda name: (-entries[name].split.n_rows, entries[name].first_name, name)
        )
        total = np.zeros(self.count, dtype=np.int64)  # rows that each shard has to test
        present = {name for _, names in datasets.values() for name in names}
        for strategy in sorted(present, key=lambda name: (first_names.get(name, name), name)):
            of_strategy = np.zeros(self.count, dtype=np.int64)
            for name in by_size:
                entry, strategies = datasets[name]
                if strategy not in strategies:
                    continue
                shape = _shape(entry)
                dealt = np.arange(np.prod(shape)) % self.count
                order = np.lexsort((total, of_strategy))
                shares[name][strategies.index(strategy)] = (
                    order[dealt].reshape(shape) == self.number - 1
                )
                rows = np.bincount(dealt, minlength=self.count) * entry.split.n_rows
                of_strategy[order] += rows
                total[order] += rows
        return shares


def _shape(entry: SplitEntry) -> tuple[int, int]:
    return entry.split.n_repeats, entry.split.n_folds


def shard_counts(study: Path, queued: Iterable[Path] = ()) -> list[int]:
    """Return the numbers of shards in which a study was begun, by its files and those in a queue.

    There is one, unless a study was divided twice.
    """
    files = [*study.parent.glob(f"{study.stem}.shard-*{study.suffix}"), *queued]
    return sorted({int(match[1]) for file in files if (match := _FILE.search(file.stem))})


def open_shards(study: Path, queued: Iterable[Path] = ()) -> list[Path]:
    """Return the files of the shards of a study in their order; none once they are merged."""
    counts = shard_counts(study, queued)
    shards = [Shard(n, count).path(study) for count in counts for n in range(1, count + 1)]
    newest = max((path.stat().st_mtime for path in shards if path.exists()), default=0.0)
    return [] if study.exists() and study.stat().st_mtime >= newest else shards


def held_shard(study: StudyStore) -> Shard | None:
    """Return the shard that all runs of a study belong to; None for a study without one."""
    return Shard.parse(study.shard) if study.shard else None


def requested_cells(study: StudyStore, shard: Shard | None) -> dict[str, np.ndarray]:
    """Return the cells of a study that its shard has, as `Shard.cells`; all without a shard."""
    if shard is None:
        return dict.fromkeys(study.datasets, np.array(True))
    splits, statuses = study.load_splits(), study.statuses()
    first_names = {entry.name: entry.first_name for entry in study.strategies}
    return shard.cells({name: (splits[name], statuses[name][0]) for name in statuses}, first_names)


def check_shard(study: StudyStore, text: str | None, race: bool) -> None:
    """Check that a run of a shard may write to a study.

    Raises
    ------
    StudyError
        The study holds another shard, or the run is a race.
    """
    if not text:
        return
    shard = Shard.parse(text)
    if race:
        raise StudyError(
            "a race decides on the results of all cells, which no shard has; leave out the shard, "
            "or the race"
        )
    held = held_shard(study) if study.exists else None
    if held is not None and held != shard:
        raise StudyError(
            f"{study.path}: holds shard {held}; write shard {shard} to a file of its own, such as "
            f"{shard.path(Path('study.h5'))}, and join them with 'mlaut merge'"
        )

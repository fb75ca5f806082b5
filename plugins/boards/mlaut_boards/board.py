"""Repository of a board: functions that make it, read it, and add entries."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from mlaut_exchange import Bundle, extend_bundle, open_bundle, publish_study

from mlaut.errors import StudyError
from mlaut.files_io import StrategyEntry, StudyStore
from mlaut.helpers.markup import json_text
from mlaut.plugins import Chosen, read_toml, write_file
from mlaut_boards.pages import build_leaderboard
from mlaut_boards.verdict import REFUSED, Verdict

TERMS, BASE, ENTRIES, VERDICTS, WORK = "board.toml", "board", "entries", "verdicts", "work"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")  # of an entry: a folder on any system
_FLOWS = ".github/workflows"


@dataclass(frozen=True)
class Board:
    """Board: a folder with a published study, entries, and the verdicts on them.

    Attributes
    ----------
    folder : Path
    title : str
    minutes : float
        Time for fitting cells of an entry again.
    limit : int
        Largest size of an entry in bytes.
    bundle : Bundle
        The published study: its datasets, splits, sealed analysis and first strategies.
    """

    folder: Path
    title: str
    minutes: float
    limit: int
    bundle: Bundle

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Board:
        """Return the board in a folder.

        Raises
        ------
        StudyError
            The folder is not a board.
        StoreError
            The study of the board cannot be opened.
        """
        place = Path(folder)
        try:
            terms = read_toml(place / TERMS)
            title, minutes = str(terms["title"]), float(terms["minutes"])
            limit = int(terms["mebibytes"]) * 2**20
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise StudyError(
                f"{place}: is no board ({type(error).__name__} with {TERMS}: {error}); "
                "'mlaut leaderboard init' makes one"
            ) from error
        return cls(place, title, minutes, limit, open_bundle(place / BASE))

    @cached_property
    def study(self) -> StudyStore:
        """The study of the board."""
        return StudyStore(self.bundle.study)

    @cached_property
    def chosen(self) -> Chosen:
        """The sealed analysis of the board."""
        terms = Chosen.of(self.study)
        if terms is None:
            raise StudyError(f"{self.folder}: its study has no analysis; run it, and publish again")
        return terms

    @property
    def seed(self) -> int:
        """Seed of the study, from which the seeds of all cells of all entries follow."""
        return next((int(run["seed"]) for run in reversed(self.study.runs) if "seed" in run), 0)

    @property
    def entries(self) -> list[Path]:
        """Folders of the entries, by name; a link is no entry."""
        places = (self.folder / ENTRIES).glob("*/")
        return sorted(x for x in places if _NAME.fullmatch(x.name) and not x.is_symlink())

    def verdict_on(self, entry: Path) -> Verdict | None:
        """Return the stored verdict on an entry, or None if it has none."""
        path = self.folder / VERDICTS / f"{entry.name}.json"
        return Verdict.read(path) if path.exists() else None

    def verdicts(self) -> list[Verdict]:
        """Return the verdicts on all entries, in the order of their claims."""
        judged = [verdict for entry in self.entries if (verdict := self.verdict_on(entry))]
        return sorted(judged, key=lambda verdict: (verdict.claim, verdict.entry))

    def listed(self) -> list[Path]:
        """Return the entries that were not refused, in the order of their claims.

        Raises
        ------
        StudyError
            An entry was changed after its verdict.
        """
        verdicts = [verdict for verdict in self.verdicts() if verdict.verdict != REFUSED]
        for verdict in verdicts:
            place = self.folder / ENTRIES / verdict.entry
            if open_bundle(place, limit=self.limit).digest != verdict.digest:
                raise StudyError(f"{place}: was changed after its verdict; restore it")
        return [self.folder / ENTRIES / verdict.entry for verdict in verdicts]

    def build_pages(self, output: str | os.PathLike[str]) -> Path:
        """Write the static pages (`mlaut_boards.pages.build_leaderboard`), and return the index.

        The index also has the history of all judged entries, in the order of their claims: verdict,
        rank at that time, evidence that the entry is a record, what was verified, and costs.
        """
        places, rows = [self.bundle.folder, *self.listed()], [v.row() for v in self.verdicts()]
        return build_leaderboard(places, output, title=self.title, history=rows)


def init_board(
    folder: str | os.PathLike[str], study: str | os.PathLike[str], *, title: str = "", **about: Any
) -> Board:
    """Make the repository of a board from a study: its bundle, terms, workflows and README.

    Parameters
    ----------
    folder : path-like
        Folder of the board. It must not exist, or have only hidden files such as those of Git.
    study : path-like
        A study that was run with the first strategies of the board, or its study file. All entries
        use its datasets, splits and analysis.
    title : str
        Default: the title of the study.
    **about
        ``authors``, ``licence``, ``datasets`` and ``include`` of `mlaut_exchange.publish_study`.

    Returns
    -------
    Board

    Raises
    ------
    StudyError
        The folder has files, the study cannot be published, is a race, or has datasets of both
        tasks.
    """
    place = Path(folder)
    if place.exists() and any(path.name[0] != "." for path in place.iterdir()):
        raise StudyError(f"{place}: has files, and a board is a new folder; name another one")
    bundle = publish_study(study, place / BASE, title=title, **about)
    source = StudyStore(bundle.study)
    tasks = {entry.task for entry in source.load_splits().values()}
    if len(tasks) > 1 or any(run.get("race") for run in source.runs):
        shutil.rmtree(place / BASE)
        raise StudyError(
            f"{study}: {'is a race' if len(tasks) == 1 else 'has datasets of both tasks'}, and a "
            "board has one record over all its cells; make a study of one task for it"
        )
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    values = {"title": bundle.title, "toml_title": json_text(bundle.title), "python": python}
    for template in (files(__package__) / "repository").iterdir():
        # No template has a leading dot, which packaging tools may leave out.
        name = template.name.replace("gitignore", ".gitignore")
        where = f"{_FLOWS}/{name}" if name.endswith(".yml") else name
        text = template.read_text(encoding="utf-8")
        for word, value in values.items():
            text = text.replace(f"@{word}@", value)
        write_file(place / where, text)
    for name in (ENTRIES, VERDICTS):
        (place / name).mkdir(exist_ok=True)
        (place / name / ".gitkeep").touch()
    return Board.open(place)


def add_entry(
    folder: str | os.PathLike[str],
    strategy: Any,
    name: str,
    *,
    n_jobs: int | None = -1,
    engine: str = "local",
    **about: Any,
) -> Bundle:
    """Run a strategy on the splits of a board and publish it as an entry; a second call resumes.

    Parameters
    ----------
    folder : path-like
        The board.
    strategy : str, path-like or strategies
        Name of a strategy that comes with MLaut, or a Python file of your own, which is run, is
        published with the entry, and defines ``strategies`` with one strategy.
    name : str
        Name of the folder of the entry: letters, digits, ``_`` and ``-``.
    n_jobs, engine
        The same as for ``Orchestrator.run``.
    **about
        ``authors``, ``licence`` and ``title`` of `mlaut_exchange.publish_study`; the default title
        is the name of the strategy.

    Returns
    -------
    Bundle

    Raises
    ------
    StudyError
        The name cannot be used or is taken; there is not exactly one strategy; the strategy has its
        own seed; or the board has a strategy of the same name.
    """
    from mlaut.estimators import as_strategies
    from mlaut.plugins import own_strategies, strategy_entries

    board = Board.open(folder)
    target, work = board.folder / ENTRIES / name, board.folder / WORK / f"{name}.h5"
    if not _NAME.fullmatch(name) or target.exists():
        what = "is taken" if _NAME.fullmatch(name) else "is no letters, digits, '_' and '-'"
        raise StudyError(f"entry {name!r}: the name {what}; choose another")
    own = isinstance(strategy, str | os.PathLike) and Path(strategy).suffix == ".py"
    new = as_strategies(own_strategies(Path(strategy)) if own else strategy)
    if len(new) != 1:
        raise StudyError(f"{len(new)} strategies, and an entry has one; make an entry for each")
    if fixed := own_seed(strategy_entries(new, board.study)[0]):
        raise StudyError(
            f"{new[0].name}: has a seed of its own ({fixed}), and the board draws all seeds, so "
            "that none is chosen; leave it None"
        )
    extend_bundle(board.bundle.folder, new, work, n_jobs=n_jobs, engine=engine)
    bundle = publish_study(
        work,
        target,
        title=about.pop("title", "") or new[0].name,
        include="none",
        code=strategy if own else None,
        **about,
    )
    for path in board.folder.glob(f"{WORK}/{name}.*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return bundle


def own_seed(entry: StrategyEntry) -> str:
    """Return the first parameter of a strategy that is a chosen seed, or an empty text.

    A seed of 0 does not count as chosen: it is the default of some classes of scikit-learn.

    Examples
    --------
    >>> tree = {"class": "Tree", "parameters": {"depth": 3, "random_state": 17}}
    >>> own_seed(StrategyEntry("tree", "", {"strategy": tree, "seed": None}))
    'random_state: 17'
    """
    match = re.search(
        r'"((?:random_state|random_seed|seed)": (?!null|0[,}])[^,}]*)', json_text(entry.identity)
    )
    return match[1].replace('"', "") if match else ""

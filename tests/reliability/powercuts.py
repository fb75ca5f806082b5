"""Simulate power cuts of a study from a log of its calls, and see what each leaves.

    python tests/reliability/powercuts.py --cuts 500 [--seed 0] [--seconds 3600]

The life of a study that ``kills.py`` kills is lived once, and each call that changes a file is
logged (``shim.c``). A power cut is a place in that log. What was synced before it is there. Of what
was not, each cut keeps something else, drawn at random: of the writes to a file nothing, all, the
first ones, or any pages of 4096 bytes; of the changes of names in a folder the first ones, or any.
This is more than file systems lose.

Each state must open and pass every check of ``mlaut verify`` when it is settled; each cell that was
reported before the last sync of the journal must be done, and each that is done must have, bit for
bit, what it has in a life that nobody interrupted. Of each 25th state the life goes on to its end,
and all arrays are compared.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import shim
from processes import MEMORY

PAGE = 4096
ONE_IN_TO_THE_END = 25
_HEAD = struct.Struct("=cIIqQ")


@dataclass(frozen=True)
class Call:
    """One call that changed a file: ``kind`` is the letter that ``shim.c`` gives it."""

    kind: str
    path: Path
    other: Path
    offset: int
    content: bytes


def read_log(path: Path) -> list[Call]:
    """Read what ``shim.c`` has logged."""
    calls, content, at = [], path.read_bytes(), 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return content[at - size : at]

    while at < len(content):
        kind, one, other, offset, size = _HEAD.unpack(take(_HEAD.size))
        paths = (Path(take(length).decode()) for length in (one, other))
        calls.append(Call(kind.decode(), *paths, offset, take(size)))
    return calls


@dataclass(eq=False)
class File:
    """What is on the disk of a file, and what of its calls is not there yet."""

    durable: bytearray = field(default_factory=bytearray)
    waiting: list[Call] = field(default_factory=list)

    def sync(self) -> None:
        """Let everything reach the disk."""
        for call in self.waiting:
            apply(self.durable, call)
        self.waiting.clear()

    def after_cut(self, generator: np.random.Generator) -> bytes:
        """Return what a power cut leaves."""
        content, kept = bytearray(self.durable), list(self.waiting)
        how = generator.choice(["none", "all", "first", "pages"])
        if how == "none":
            kept = []
        elif how == "first":
            kept = kept[: generator.integers(len(kept), endpoint=True)]
        elif how == "pages":
            pages = [page for call in kept for page in cut_at_pages(call)]
            kept = [page for page in pages if generator.random() < 0.5]
        for call in kept:
            apply(content, call)
        return bytes(content)


def cut_at_pages(call: Call) -> Iterator[Call]:
    """Cut a write where pages begin; other calls are one."""
    if call.kind != "w":
        yield call
        return
    start, end = call.offset, call.offset + len(call.content)
    while start < end:
        stop = min(end, (start // PAGE + 1) * PAGE)
        piece = call.content[start - call.offset : stop - call.offset]
        yield Call("w", call.path, call.other, start, piece)
        start = stop


def apply(content: bytearray, call: Call) -> None:
    """Do a write, a truncation or the emptying of a file."""
    size = {"t": call.offset, "e": 0}.get(call.kind)
    if size is None:
        size = max(len(content), call.offset + len(call.content))
    content.extend(bytes(max(0, size - len(content))))
    if call.kind == "w":
        content[call.offset : call.offset + len(call.content)] = call.content
    else:
        del content[size:]


class Disk:
    """The files below a folder, as the calls of a log leave them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.names: dict[Path, File] = {}
        self.durable: dict[Path, File | None] = {}  # None is a folder
        self.waiting: dict[Path, list[tuple[str, Path, Path, File | None]]] = {}

    def do(self, call: Call) -> None:
        """Take in the next call."""
        kind, path, other = call.kind, call.path, call.other
        if kind in "wte":
            self.names[path].waiting.append(call)
        elif kind == "s":
            if path in self.names:
                self.names[path].sync()
            for change in self.waiting.pop(path, []):
                change_names(self.durable, change)
        else:
            file = self.names.get(path)
            if kind == "c":
                file = self.names[path] = File()
            elif kind == "r" and file is not None:
                self.names[other] = self.names.pop(path)
            elif kind == "r":
                self._move(path, other)
            elif kind == "u":
                self.names.pop(path)
            folder = (other if kind == "r" else path).parent
            self.waiting.setdefault(folder, []).append((kind, path, other, file))

    def _move(self, path: Path, other: Path) -> None:
        """Rename a folder: what lies in it, and what waits in it, has its new name from now on."""

        def moved(name: Path) -> Path:
            return other / name.relative_to(path) if name.is_relative_to(path) else name

        self.names = {moved(name): file for name, file in self.names.items()}
        waiting, self.waiting = self.waiting, {}
        for folder, changes in waiting.items():
            if folder.is_relative_to(path):
                changes = [(kind, moved(one), moved(two), file) for kind, one, two, file in changes]
            self.waiting.setdefault(moved(folder), []).extend(changes)

    def now(self) -> dict[Path, bytes | None]:
        """Return the files, and the folders as None, as a process sees them: nothing is lost."""
        names = dict(self.durable)
        for changes in self.waiting.values():
            for change in changes:
                change_names(names, change)
        found: dict[Path, bytes | None] = {}
        for path, file in names.items():
            content = None if file is None else bytearray(file.durable)
            for call in file.waiting if file is not None else ():
                apply(content, call)
            found[path.relative_to(self.root)] = None if content is None else bytes(content)
        return found

    def after_cut(
        self, generator: np.random.Generator, all_names: bool = False
    ) -> dict[Path, bytes | None]:
        """Return the files, and the folders as None, that a power cut leaves.

        With ``all_names`` only contents are lost, as where a file system logs names alone.
        """
        names = dict(self.durable)
        for changes in self.waiting.values():
            if all_names:
                kept = changes
            elif generator.random() < 0.5:
                kept = changes[: generator.integers(len(changes), endpoint=True)]
            else:
                kept = [change for change in changes if generator.random() < 0.5]
            for change in kept:
                change_names(names, change)
        return {
            path.relative_to(self.root): None if file is None else file.after_cut(generator)
            for path, file in names.items()
            if all(above in names for above in path.parents if self.root in above.parents)
        }


def change_names(
    names: dict[Path, File | None], change: tuple[str, Path, Path, File | None]
) -> None:
    """Make, rename or remove a name."""
    kind, path, other, file = change
    if kind in "cm":
        names[path] = file
    elif kind == "r":
        below = [] if file is not None else [name for name in names if path in name.parents]
        for name in below:
            names[other / name.relative_to(path)] = names.pop(name)
        names.pop(path, None)
        names[other] = file
    else:
        names.pop(path, None)


def states(calls: list[Call], root: Path, cuts: list[int], seed: int) -> Iterator[tuple]:
    """Return each cut, the cells that are promised there, and the files that it leaves."""
    disk, wanted = Disk(root), Counter(cuts)
    told, promised = [], set()
    for number, call in enumerate(calls):
        for repeat in range(wanted[number]):
            yield number, promised, disk.after_cut(np.random.default_rng([seed, number, repeat]))
        if call.path == root / "told":
            told.append(call.content.decode().strip())
        elif call.kind == "s" and call.path == root / "study.h5.journal":
            promised = {line for line in told if line.startswith("cell ")}
        disk.do(call)


def problems(folder: Path, promised: set[str], reference) -> Iterator[str]:
    """Say what is wrong with a study after a power cut."""
    import kills

    from mlaut.errors import StoreWarning

    study = kills.StudyStore(folder / "study.h5")
    try:
        if (folder / "input.h5").exists():
            input_io = kills.FilesIO(folder / "input.h5")
            for path in input_io.list_datasets()[1]:
                input_io.load_dataset(path)
        if not study.exists:
            yield from promised and ["the study is not there"]
            return
        list(study.blocks())
        with warnings.catch_warnings(category=StoreWarning, action="ignore"):
            study.settle()  # a record of which a page is lost lies before others that are there
        yield from kills._lost(study, promised, "after it is settled")
        yield from (f"{where}: {what}" for where, what in kills.problems_of(study))
        yield from kills._torn(study, reference)
    except (kills.MlautError, OSError) as error:
        yield f"it does not open: {error}"


def make(folder: Path, state: dict[Path, bytes | None]) -> None:
    """Make the files that a power cut leaves."""
    for path, content in sorted(state.items()):
        if content is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
        elif path != Path("told"):
            (folder / path).write_bytes(content)


def cut(n_cuts: int, seed: int, folder: Path, seconds: float) -> dict[str, object]:
    """Cut the power so many times; give the figures, or leave with what was lost."""
    import kills

    begun = time.monotonic()
    reference = kills.StudyStore(folder / "reference" / "study.h5")
    kills.live(kills._empty(reference.path.parent), len)
    expected = kills.arrays(reference)
    child = kills.Child(kills._empty(folder / "logged"), _live_and_log)
    if not child.ended()[0]:
        raise SystemExit("the life that is logged was ended")
    calls = read_log(folder / "log")
    generator = np.random.default_rng(seed)
    cuts = generator.integers(0, len(calls), n_cuts).tolist()
    done = n_promised = ends = 0
    for number, promised, state in states(calls, (folder / "logged").resolve(), cuts, seed):
        if time.monotonic() - begun > seconds:
            break
        here = kills._empty(folder / "life")
        make(here, state)
        found = [*problems(here, promised, reference)]
        if found:
            kept = kills.keep(here)
            raise SystemExit("\n".join([f"cut at call {number}, see {kept}:", *found]))
        done += 1
        n_promised += len(promised)
        if done % ONE_IN_TO_THE_END == 0:
            kills.live(here, len)
            kills.assert_same(kills.StudyStore(here / "study.h5"), expected)
            ends += 1
    return {
        "power cuts": done,
        "calls": len(calls),
        "cells promised": n_promised,
        "lives to their end": ends,
        "lost, torn, not opened": 0,
        "seconds": round(time.monotonic() - begun, 1),
        "seed": seed,
    }


def _live_and_log(folder: Path, report) -> None:
    """Live the life of a study, logged; what it reports is written to a file, so that it is too."""
    import kills

    shim.log_to(folder, folder.parent / "log")
    with (folder / "told").open("ab", buffering=0) as told:
        kills.live(folder, lambda text: told.write(f"{text}\n".encode()))


def main() -> None:
    """Read the command line, cut, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    shim.begin_again_watched()
    with tempfile.TemporaryDirectory(prefix="mlaut-cuts-", dir=MEMORY) as folder:
        figures = cut(given.cuts, given.seed, Path(folder).resolve(), given.seconds)
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()

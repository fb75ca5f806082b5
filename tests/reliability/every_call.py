"""Kill a small study, and cut its power, at every call that changes a file.

    python tests/reliability/every_call.py

The life of a study is lived once: splits are made, strategies and repeats are added, cells are
stored, the journal moves into the study while a run lasts, the study is compacted, and it is merged
with a shard whose run was interrupted. Each call
that changes a file is logged (``shim.c``). The files are then rebuilt as they are at every place in
that log: after a kill between two calls; after a kill when half of a write is written; after a
power cut that leaves nothing that was not synced; after one that leaves a part, drawn at random.
No reported (or, after a cut, synced) cell may be lost, and none torn.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "files_io"))
import shim
from powercuts import Call, Disk, apply, make, read_log
from processes import MEMORY

State = dict[Path, bytes | None]
IN_SHARD = [("svc", 1, 1), ("new", 0, 1), ("new", 1, 0)]


def cells() -> list[tuple[str, int, int]]:
    """Return strategy, repeat and fold of all cells, in the order in which they are stored."""
    first = [("tree", 0, 0), ("tree", 0, 1), ("svc", 0, 1)]
    return [*first, ("new", 0, 0), ("tree", 1, 0), ("new", 1, 1), ("svc", 1, 0)]


def live(folder: Path, report) -> None:
    """Live the life of a small study."""
    from studies import entry, outcome, strategy

    from mlaut.errors import StoreError
    from mlaut.files_io import StudyStore, merge_studies
    from mlaut.files_io.studies import study_writer

    study, todo = StudyStore(folder / "study.h5"), cells()
    study.save_splits([entry("iris", n_rows=12)])
    study.allocate([strategy("tree"), strategy("svc")])
    for repeats, n_cells in ((1, 3), (1, 1), (2, 3)):
        if repeats == 2:
            study_writer.LARGEST_JOURNAL = 100  # the journal moves after each cell
            study.save_splits([entry("iris", n_rows=12, n_repeats=2), entry("wine", n_rows=12)])
        of = study.load_split("iris")
        with study.writing({"threads": 1}) as writer:
            for _ in range(n_cells):
                name, repeat, fold = todo.pop(0)
                writer.write(outcome(of, name, repeat, fold))
                report(f"cell {name} {repeat} {fold}")
        study.allocate([strategy("new")])
    study.compact()
    shard = StudyStore(folder / "shard.h5")
    shard.save_splits([entry("iris", n_rows=12, n_repeats=2)])
    shard.allocate([strategy("svc"), strategy("new")])
    with contextlib.suppress(StoreError), shard.writing({"engine": "local"}) as writer:
        for cell in IN_SHARD:
            writer.write(outcome(of, *cell))
        raise StoreError("the disk is full")  # which leaves the journal
    report("cells of shard")
    merge_studies([study.path, shard.path], folder / "merged.h5")
    report("merged")


def problems(folder: Path, promised: set[str], settled: bool) -> Iterator[str]:
    """Yield what is wrong with a state."""
    of_study = {cell for cell in promised if cell not in ("merged", "cells of shard")}
    yield from _problems(folder / "study.h5", of_study, settled)
    of_shard = {f"cell {name} {repeat} {fold}" for name, repeat, fold in IN_SHARD}
    known = of_shard if "cells of shard" in promised else set()
    yield from _problems(folder / "shard.h5", known, settled)
    merged, everything = folder / "merged.h5", of_study | of_shard
    if merged.exists() or "merged" in promised:
        yield from _problems(merged, everything, settled)


def _problems(path: Path, promised: set[str], settled: bool) -> Iterator[str]:
    from studies import entry, outcome

    from mlaut.errors import MlautError
    from mlaut.files_io import StudyStore
    from mlaut.files_io.studies.study_checks import problems_of

    study = StudyStore(path)
    try:
        if not study.path.exists():
            yield from [f"{path.name} is lost"] if promised else []
            return
        if settled:
            with warnings.catch_warnings(action="ignore"):
                study.settle()
            yield from (what for _, what in problems_of(study))
        if not study.datasets:
            return
        block, of = study.block("iris"), entry("iris", n_rows=12, n_repeats=2)
        done = set()
        for s, repeat, fold in np.argwhere(block.done).tolist():
            name, test = block.strategies[s], of.split.rows(repeat, fold)[1]
            done.add(f"cell {name} {repeat} {fold}")
            known = outcome(of, name, repeat, fold)
            same = np.array_equal(block.predictions[s, repeat, test], known.predictions)
            if not same or (block.probabilities[s, repeat, test] != known.probabilities).any():
                yield f"{path.name}: torn: {name} {repeat} {fold}"
        yield from (f"{path.name}: lost: {cell}" for cell in sorted(promised - done))
    except (MlautError, OSError) as error:
        yield f"{path.name} does not open: {error}"


def states(calls: list[Call], root: Path) -> Iterator[tuple[str, int, set[str], State]]:
    """Yield how and where each state came about, what is promised there, and its files."""
    disk, told, promised = Disk(root), set(), set()
    for number, call in enumerate(calls):
        yield "killed between two calls", number, set(told), _all(disk)
        if call.kind == "w" and call.path in disk.names and call.path != root / "told":
            half = replace(call, content=call.content[: len(call.content) // 2])
            state = _all(disk)
            content = bytearray(state[call.path.relative_to(root)] or b"")
            apply(content, half)
            state[call.path.relative_to(root)] = bytes(content)
            yield "killed when half was written", number, set(told), state
        durable = {
            path.relative_to(root): None if file is None else bytes(file.durable)
            for path, file in disk.durable.items()
        }
        yield "cut, nothing that was not synced is left", number, set(promised), durable
        drawn = disk.after_cut(np.random.default_rng(number))
        yield "cut, a part is left", number, set(promised), drawn
        if call.path == root / "told" and call.kind == "w":
            told |= {call.content.decode().strip()}
        elif call.kind == "s" and call.path == root / "study.h5.journal":
            promised = set(told)
        disk.do(call)


def _all(disk: Disk) -> State:
    found: State = {}
    for path, file in disk.names.items():
        content = bytearray(file.durable)
        for call in file.waiting:
            apply(content, call)
        found[path.relative_to(disk.root)] = bytes(content)
    return found


def check_all(folder: Path) -> dict[str, object]:
    """Check every state; return the figures, or leave with what was lost."""
    import kills

    child = kills.Child(kills._empty(folder / "logged"), _live_and_log)
    if not child.ended()[0]:
        raise SystemExit("the life that is logged was ended")
    calls, counts = read_log(folder / "log"), Counter()
    last = None
    for how, number, promised, state in states(calls, (folder / "logged").resolve()):
        if state == last:
            continue
        last = state
        for settled in (False, True) if how.startswith("killed") else (True,):
            here = kills._empty(folder / "life")
            make(here, state)
            found = [*problems(here, promised, settled)]
            if found:
                kept = kills.keep(here)
                raise SystemExit("\n".join([f"{how}, call {number}, see {kept}:", *found]))
        counts[how] += 1
    return {"calls": len(calls), **counts, "lost, torn, not opened": 0}


def _live_and_log(folder: Path, report) -> None:
    shim.log_to(folder, folder.parent / "log")
    with (folder / "told").open("ab", buffering=0) as told:
        live(folder, lambda text: told.write(f"{text}\n".encode()))


def main() -> None:
    """Check every state, and print the figures."""
    shim.begin_again_watched()
    with tempfile.TemporaryDirectory(prefix="mlaut-every-", dir=MEMORY) as folder:
        figures = check_all(Path(folder).resolve())
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()

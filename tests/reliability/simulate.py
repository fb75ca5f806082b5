r"""Live histories of studies that a seed draws, with faults at any call, and shrink what fails.

    python tests/reliability/simulate.py --seeds 0 1000 [--calls 1000000] [--seconds 3600]
    python tests/reliability/simulate.py --history '[["run", {...}, ["kill", 312, "half"]], ...]'

A history is a list of steps. A step stores datasets, runs strategies in a study or in one of two
shards, reads, settles, compacts, merges the shards, or goes on with a race; its cells end in an
order that the seed draws, some of them crashed. A step may have a fault: it is killed at a call
that changes a file, before it, after it or when half of it is written; a call fails by errno, or
writes half of what it should; or the power is cut, and of what was not synced something is lost
(``powercuts.py``): the step is lived to its end and logged, and what cuts leave is looked at in
several places, most of them beside a call that syncs, renames or removes. So is what a kill leaves
there, which is everything, and what a changed bit of the journal does. Steps run one after the
other, each in a fork of this process, with no clock and no thread: a seed does the same calls each
time. The runner and the store are the real ones; what a cell predicts, which no step changes, is
found once, but for some cells that are run again.

After each step, in a copy: the databases open, each dataset is read, and the studies pass every
check of ``mlaut verify``; each cell that was reported is done, also for a reader before the study
is settled, with its details and saved model; that reader sees the statuses that settling leaves;
and each cell that is done has, bit for bit, what it has in a life that nobody disturbed. A reader
in the middle of a run sees each cell that was reported. At the end everything is run once more
without faults: all arrays are those of the undisturbed life, of the merged shards too, and the race
has decided the same. Then bits of the study are changed, one at a time: ``mlaut verify`` says so,
or no result differs.

A history that fails is shrunk: steps and faults are left out as long as it still fails.

One process uses one core. For a night on several, start one for each range of seeds:

    for k in 0 1 2 3; do
        python tests/reliability/simulate.py --seeds ${k}000000 $((k + 1))000000 \
            --seconds 28800 > night-$k.json 2>&1 &
    done; wait
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from unittest import mock

import cloudpickle
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import kills
import powercuts
import race_kills
import shim
from processes import MEMORY, in_child

from mlaut.errors import MlautError, StoreError, StudyError
from mlaut.estimators.catalogue import registry
from mlaut.experiments.engines import engine as engines
from mlaut.experiments.runs import execution
from mlaut.experiments.workers import environment
from mlaut.files_io import merge_studies
from mlaut.files_io.outcomes.journal import Journal, _header
from mlaut.files_io.studies import study_writer
from mlaut.files_io.studies.models import is_recorded, models_folder, write_model
from mlaut.files_io.studies.study_checks import problems_of
from mlaut.identity import distributions, syntax
from mlaut.records import UNSAVED, Cell, Outcome, Status

STUDIES = {"study": None, "left": "1/2", "right": "2/2"}
STRATEGIES = ("one", "other", "third", "fourth", "fifth", "saved")
MERGED = "both"
N_FOLDS = 80
# Calls that change files before a fault: drawn so that early and late ones are as likely.
MOST_CALLS = 20_000
N_RACE_DATASETS = 4
tables = cache(partial(kills.tables, 2 * N_FOLDS))
SHARE_SYNCED = 0.3  # of the records of a journal
SHARE_AGAIN = 0.03  # of the cells that are run again
SHARE_LOOKS = 0.02  # of the instants between cells at which a reader looks
LARGEST_YOUNG = 100_000  # objects between two collections, each of which a fork would pay for
HEADER = len(_header(""))  # bytes of a journal before its records
N_DAMAGED = 10  # bits of each study, most of them in bytes that are not zero
N_LOOKS = 6  # at the states that one log leaves; the history goes on with the last
Step = list[Any]  # name, arguments, fault or None
State = Mapping[Path, bytes | None]  # files below a folder; a folder is None


class HistoryError(Exception):
    """A history has lost something, or has not told a damage."""


# ------------------------------------------------------------------------- drawing


def draw(seed: int) -> list[Step]:
    """Return the history of a seed."""
    rng = random.Random(seed)
    steps = []
    names = ["data", *["run"] * 6, "read", "settle", "compact", "merge", "race"]
    drawn = [rng.choice(names) for _ in range(rng.randint(8, 20))]
    if "merge" in drawn:  # it needs shards, and a study with some of their cells
        runs = [["run", _draw_run(rng, study), _draw_fault(rng)] for study in STUDIES]
        steps = rng.sample(runs, len(runs))
    for name in drawn:
        given: dict[str, Any] = {}
        if name == "data":
            given = {"n": rng.randint(1, 3)}
        elif name == "run":
            given = _draw_run(rng, rng.choice([*STUDIES, "study"]))
        elif name in ("read", "settle", "compact"):
            given = {"study": rng.choice([*STUDIES])}
        elif name == "merge":
            given = {"first": ["study"] if rng.random() < 0.75 else []}
        steps.append([name, given, _draw_fault(rng)])
    return steps


def _draw_run(rng: random.Random, study: str) -> dict[str, Any]:
    return {
        "study": study,
        "order": rng.randrange(10**6),
        "strategies": rng.sample(STRATEGIES, rng.randint(1, 4)),
        "datasets": rng.randint(1, 3),
        "repeats": rng.randint(1, 2),
        "crashing": rng.choice([0.05, 0.5]),
        "largest": rng.choice([5 * 10**3, 5 * 10**4, 10**8]),
    }


def _draw_fault(rng: random.Random) -> list[Any] | None:
    if rng.random() < 0.3:
        return None
    number = int(MOST_CALLS ** rng.random())
    kind = rng.choice(["kill", "fail", "power", "power"])
    how = {"kill": shim.HOW, "fail": [*shim.KINDS], "power": [rng.randrange(10**6)]}[kind]
    return [kind, number, rng.choice(how)]


# --------------------------------------------------------------------------- steps


class KeepingEngine(engines.InlineEngine):
    """Engine that runs each cell once, and from then on returns its outcome.

    What a cell predicts depends on its strategy, its rows and its seed alone, so that forks need
    not find it again. Its model is written each time. Where ``again`` returns True, cells are run.
    """

    kept: ClassVar[dict[object, tuple[Outcome, bytes]]] = {}

    def __init__(self, again: Callable[[], bool] = bool) -> None:
        self._again = again

    def run(self, groups):
        table_of = cache(engines.load_table)
        for group in groups:
            if group is None:
                return
            run, models = None, group.options.models
            for cell in group.keys:
                folds = group.folds[cell.repeat].tobytes()
                key = cell, group.dataset.fingerprint, group.strategy, group.seed, folds, not models
                if key in self.kept and not self._again():
                    yield [_with_its_model(*self.kept[key], models)]
                    continue
                strategy = partial(cloudpickle.loads, group.strategy)
                run = run or engines.prepare(group, table_of(group.dataset), strategy)
                outcome, content = run(cell), b""
                if "model" in outcome.details:
                    content = (Path(models) / outcome.details["model"]["file"]).read_bytes()
                if outcome.status is Status.DONE:
                    self.kept[key] = outcome, content
                yield [outcome]


def _with_its_model(outcome: Outcome, content: bytes, models: str | None) -> Outcome:
    """Write the model of an outcome, as the process that has fitted it does."""
    if not models:
        return outcome
    known = outcome.details["model"]
    try:
        written = write_model(Path(models), outcome.cell, content, Path(known["file"]).suffix)
    except StoreError as error:
        return Outcome(outcome.cell, Status.ERROR, reason=str(error), details={UNSAVED: True})
    return replace(outcome, details={**outcome.details, "model": {**known, **written}})


class SeededEngine:
    """Engine that runs cells here, in an order that a seed draws, and lets some of them crash.

    It takes up to three groups at a time, as workers do. When it is asked for the next outcomes,
    the last are stored: it reports them. Now and then a reader looks at the study.
    """

    def __init__(
        self,
        path: Path,
        order: int | None,
        crashing: float,
        report: Callable[[str], object],
        ask: Callable[[Path, set[str]], str],
    ) -> None:
        self._path, self._crashing, self._report, self._ask = path, crashing, report, ask
        self._rng = None if order is None else random.Random(order)

    def of(self, options):
        return self

    def run(self, groups):
        taken, inner = [], KeepingEngine(self._again)
        reported: set[str] = set()
        for group in groups:
            if group is not None:
                taken.append(group)
            if group is None or self._rng is None or len(taken) > self._rng.randint(0, 2):
                yield from self._end(taken, inner, reported)
                taken = []
        yield from self._end(taken, inner, reported)
        self._report("settle")

    def _again(self) -> bool:
        return self._rng is not None and self._rng.random() < SHARE_AGAIN

    def _end(self, groups, inner, reported):
        outcomes = [outcome for some in inner.run(iter(groups)) for outcome in some]
        if self._rng is not None:
            self._rng.shuffle(outcomes)
        while outcomes:
            n = self._rng.choice([0, 1, 1, 1, 2, 3]) if self._rng is not None else len(outcomes)
            now = [self._ended(outcome) for outcome in outcomes[:n]]
            del outcomes[:n]
            yield now
            for outcome in now:
                cell = outcome.cell
                if outcome.status is Status.DONE:
                    text = f"{cell.dataset} {cell.strategy} {cell.repeat} {cell.fold}"
                    reported.add(text)
                    self._report(f"cell {text}")
            looks = self._rng is not None and self._rng.random() < SHARE_LOOKS
            if looks and (what := self._ask(self._path, reported)):
                raise AssertionError(f"a reader in the middle: {what}")

    def _ended(self, outcome):
        """Return an outcome with a warning, which no array holds, or one that has crashed."""
        cell = outcome.cell
        if self._rng is None or self._rng.random() > self._crashing:
            details = {**outcome.details, "warnings": [f"{cell} warns"]}
            if self._rng is None or outcome.status is not Status.DONE:
                return replace(outcome, details=details)
            # Each life of a cell has other times, so that two lives cannot be mixed up.
            searched, fitted, predicted = (self._rng.random() for _ in range(3))
            return replace(
                outcome,
                details={**details, "elapsed": searched + fitted + predicted},
                seconds=(searched, fitted, predicted),
            )
        kept = {"cell": cell, "seed": outcome.seed, "details": {"elapsed": 0.0}}
        return type(outcome)(status=Status.CRASHED, reason=f"{cell} dies", **kept)


def look(path: Path, reported: set[str]) -> None:
    """Raise an error where a reader does not see a cell that was reported."""
    study = Read(path)
    cells = {f"cell {text}" for text in reported}
    missing = [*kills._lost(study, cells, "for a reader"), *bare(study, cells)]
    if missing:
        raise AssertionError("\n".join(missing))


class Reader:
    """A process that looks at studies while others write them; a fork for each look is slow."""

    def __init__(self) -> None:
        self._pipe, other = multiprocessing.Pipe()
        self._pid = os.fork()
        if not self._pid:
            self._pipe.close()
            _answer(other)
        other.close()

    def ask(self, path: Path, reported: set[str]) -> str:
        """Have it `look`; return what it has raised."""
        self._pipe.send((path, reported))
        return self._pipe.recv()

    def end(self) -> None:
        """End it, so that its CPU seconds count."""
        self._pipe.close()
        os.waitpid(self._pid, 0)


def _answer(pipe) -> NoReturn:
    while True:
        try:
            given = pipe.recv()
        except EOFError:  # whoever could ask has ended
            os._exit(0)
        try:
            pipe.send(look(*given) or "")
        except BaseException:
            pipe.send(traceback.format_exc())


def bare(study, reported: Collection[str], reference=None) -> Iterator[str]:
    """Yield the cells that lack their model or details, or have another seed.

    Only reported cells must have details that no array holds: a power cut may leave of another
    cell what the arrays have of it, and until it is settled (``reference``) even a part of that,
    which its status alone does not show.
    """
    folder = models_folder(study.path)
    for name, (strategies, status) in study.statuses().items():
        told, known = (one.known.get(name, {}) if one else {} for one in (study, reference))
        for s, repeat, fold in np.argwhere(status == Status.DONE).tolist():
            cell = strategies[s], repeat, fold
            found = told.get(cell, {})
            is_reported = f"cell {name} {cell[0]} {repeat} {fold}" in reported
            if not (is_reported or known):
                continue
            if "started" not in found and "elapsed" not in found:
                yield f"no details: {name} {cell}"
            elif known and found["seed"] != known[cell]["seed"]:
                yield f"another seed: {name} {cell}"
            if not is_reported:
                continue
            if found.get("warnings") != [f"{Cell(name, *cell)} warns"]:
                yield f"no warning: {name} {cell}"
            if cell[0] == "saved" and not is_recorded(folder, found.get("model", {})):
                yield f"no model: {name} {cell}"


def _seen_otherwise(before, after) -> Iterator[str]:
    """Yield the datasets of which a reader saw other statuses before the study was settled."""
    for name, (_, status) in after.items():
        seen = before[name][1]
        if not np.array_equal(seen, status):
            yield f"{name}: {seen.tolist()} before it is settled, now {status.tolist()}"


def do(step: Step, folder: Path, report: Callable[[str], object], ask: Any) -> None:
    """Do a step of a history."""
    name, given, _ = step
    path = folder / f"{given.get('study', MERGED)}.h5"
    _sync_by_the_seed(random.Random(given.get("order", repr(step))))
    study_writer.LARGEST_JOURNAL = given.get("largest", study_writer.LARGEST_JOURNAL)
    if name == "data":
        save(folder, **given)
    elif name == "run":
        run(folder, report, ask, **given)
    elif name == "merge":
        merge(folder, report, **given)
    elif name == "race":
        race(folder / "race")
    elif kills.StudyStore(path).exists:
        study = kills.StudyStore(path)
        {"read": lambda: list(study.blocks()), "settle": study.settle, "compact": study.compact}[
            name
        ]()


def save(folder: Path, n: int) -> None:
    """Store the first n datasets, where they are not yet."""
    kills.Data().open_hdf5(folder / "input.h5", mode="a").save_datasets(tables()[:n], "tables")


def race(folder: Path) -> None:
    """Run the race to its end, in this process."""
    with mock.patch.object(execution, "make_engine", return_value=KeepingEngine()):
        race_kills.run_race(folder / "study.toml", verbose=0)


def _sync_by_the_seed(rng: random.Random) -> None:
    """Have the journal synced behind records that a seed draws; a run syncs it by the clock."""
    append = Journal.append

    def appended(journal: Journal, *payloads: bytes) -> bool:
        synced = append(journal, *payloads)
        if rng.random() < SHARE_SYNCED:
            journal.sync()
        return synced

    Journal._sync_by_the_clock = lambda _: None
    Journal.append = appended


def run(
    folder: Path,
    report: Callable[[str], object],
    ask: Any,
    study: str,
    strategies: list[str],
    repeats: int,
    datasets: int = 1,
    order: int | None = None,
    crashing: float = 0.05,
    largest: int = 0,
) -> None:
    """Run strategies in a study on the datasets that are stored, and on the first ones."""
    data, path = kills.Data(), folder / f"{study}.h5"
    input_io = data.open_hdf5(folder / "input.h5", mode="a")
    input_io.save_datasets(tables()[:datasets], "tables")
    out_io, store = data.open_hdf5(path, mode="a"), kills.StudyStore(path)
    if store.exists:
        repeats = max([repeats, *(e.split.n_repeats for e in store.load_splits().values())])
    scheme = f"repeated_kfold({N_FOLDS}, {repeats})" if repeats > 1 else f"kfold({N_FOLDS})"
    paths = input_io.list_datasets("tables")[1]
    data.split_datasets(input_io, out_io, paths, scheme=scheme, seed=1)
    for models in (False, True):
        asked = [kills.plain(name) for name in strategies if (name == "saved") == models]
        if asked:
            kills.Orchestrator(input_io, out_io).run(
                asked,
                engine=SeededEngine(path, order, crashing, report, ask),
                verbose=0,
                save_models=models,
                retry=["crashed", "error"],
                shard=STUDIES[study],
            )


def merge(folder: Path, report: Callable[[str], object], first: Sequence[str] = ()) -> None:
    """Merge the two shards, where both are there and nothing was merged before, and others."""
    parts = [kills.StudyStore(folder / f"{name}.h5") for name in (*first, "left", "right")]
    if not all(part.exists for part in parts):
        return
    try:
        merge_studies([part.path for part in parts], folder / f"{MERGED}.h5")
    except StudyError as error:
        if "exists, and merging makes a new study" not in str(error):
            raise
        return
    for part in parts:
        for name, details in part.all_details(only=[Status.DONE]):
            for of in details:
                if "warnings" in of:  # a power cut may have left a cell without
                    report(f"cell {name} {of['strategy']} {of['repeat']} {of['fold']}")


# ------------------------------------------------------------------------ histories


class Read(kills.StudyStore):
    """Study that does not change any more: it is read once."""

    statuses = lru_cache(maxsize=4)(kills.StudyStore.statuses)
    block = lru_cache(maxsize=100)(kills.StudyStore.block)

    @cached_property
    def known(self):
        """Details of all cells, by dataset and cell."""
        return {
            name: {(d["strategy"], d["repeat"], d["fold"]): d for d in details}
            for name, details in self.all_details()
        }


class World:
    """The reference of all histories: study, arrays and race of a life that nobody disturbed."""

    def __init__(self, folder: Path) -> None:
        _hurry()
        self.folder, self.calls = folder, 0
        self.happened: Counter[str] = Counter()
        self.passed: set[bytes] = set()
        calm = kills._empty(folder / "reference")
        save(calm, len(tables()))
        run(calm, len, None, "study", [*STRATEGIES], 2)
        self.reference = Read(calm / "study.h5")
        self.expected = kills.arrays(self.reference)
        race_kills.write_study(folder / "empty race", N_RACE_DATASETS, "")
        shutil.copytree(folder / "empty race", folder / "calm race")
        race(folder / "calm race")  # here, so that forks find what it imports and keeps
        self.race = race_kills.found(folder / "calm race")
        gc.freeze()
        gc.set_threshold(LARGEST_YOUNG)
        self.reader = Reader()

    def live(self, steps: list[Step], seed: int = 0) -> None:
        """Live a history, and raise `HistoryError` at the first thing that is wrong."""
        here = kills._empty(self.folder / "life").resolve()
        self.passed.clear()
        shutil.copytree(self.folder / "empty race", here / "race")
        reported: dict[str, set[str]] = defaultdict(set)
        for number, step in enumerate(steps):
            where = f"step {number}, {json.dumps(step)}"
            of_step = step[1].get("study", MERGED)
            told = self._step(step, here, where, reported[of_step])
            if step[0] in ("run", "merge"):
                reported[of_step] |= told
            self._check(here, reported, where)
        self._to_the_end(here, steps)
        self._damage(here, random.Random(seed))

    def _step(self, step: Step, here: Path, where: str, before: set[str]) -> set[str]:
        kind, number, how = step[2] or (None, 0, None)
        log, disk = self.folder / "log", None
        # In the log of a power cut, reports stand between the calls; else no fault may meet them.
        told_file = (here if kind == "power" else self.folder) / "told"
        if kind == "power":
            disk = powercuts.Disk(here)
            for path in sorted(here.rglob("*")):
                file = None
                if path.is_file():
                    file = disk.names[path] = powercuts.File(bytearray(path.read_bytes()))
                disk.durable[path] = file

        def work() -> int:
            if kind == "power":
                shim.log_to(here, log)
            elif kind == "fail":
                shim.fail_at(here, number, how)
            else:
                shim.kill_at(here, number or 10**9, how or "before")
            told = os.open(told_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            do(step, here, lambda text: os.write(told, f"{text}\n".encode()), self.reader.ask)
            return (number or 10**9) - shim.calls_left()

        ended, text = in_child(work)
        self.happened[f"{kind or 'no fault'}: {ended}"] += 1
        if ended in ("raised", "hung") or (ended == "refused" and ("\n" in text or not kind)):
            raise HistoryError(f"{where}: {ended}: {text}")
        told = told_file.read_text().splitlines() if told_file.exists() else []
        told_file.unlink(missing_ok=True)
        if disk is None:
            self.calls += int(text or 0) if ended == "done" else number
        else:
            calls = powercuts.read_log(log)
            self.calls += sum(call.path != told_file for call in calls)
            told = self._looks(disk, calls, how, step, here, before, where)
        return {line for line in told if line.startswith("cell ")}

    def _looks(self, disk, calls, seed, step, here, before, where) -> list[str]:
        """Look at what kills and power cuts leave; leave the last, and return what it promises."""
        rng = np.random.default_rng(seed)
        places = sorted(_place(calls, rng) for _ in range(N_LOOKS))
        name = step[1].get("study", MERGED)
        journal = here / f"{name}.h5.journal"
        told, synced, promised = [], [], []
        for number in range(len(calls) + 1):
            for _ in range(places.count(number)):
                killed = rng.random() < 0.4
                state = disk.now() if killed else disk.after_cut(rng, rng.random() < 0.5)
                promised = [*told] if killed or number == len(calls) else synced
                safe = before | {line for line in promised if line.startswith("cell ")}
                what = f"{where}: {'killed' if killed else 'cut'} before call {number}"
                safe = safe if step[0] in ("run", "merge") else before
                self._raise(state, {name: safe, "input": set()}, what)
                content = bytearray(state.get(journal.relative_to(here)) or b"")
                if len(content) > HEADER:
                    place, bit = int(rng.integers(HEADER, len(content))), 1 << int(rng.integers(8))
                    content[place] ^= bit
                    what += f", bit {bit} of byte {place} of the journal changed"
                    flipped = {**state, journal.relative_to(here): bytes(content)}
                    self._raise(flipped, {name: before}, what)
            if number < len(calls):
                call = calls[number]
                if call.path == here / "told":
                    told.append(call.content.decode().strip())
                elif call.kind == "s" and call.path == journal:
                    synced = [*told]
                disk.do(call)
        kills._empty(here)
        powercuts.make(here, state)
        return promised

    def _check(self, here: Path, reported: dict[str, set[str]], where: str) -> None:
        state = {p: content for p, content in _contents(here).items() if p.parts[0] != "race"}
        self._raise(state, {name: reported[name] for name in (*STUDIES, MERGED, "input")}, where)

    def _raise(self, state: State, reported: dict[str, set[str]], where: str) -> None:
        """Raise an error if databases of a state are wrong; the same files are looked at once."""
        copy, wrong = self.folder / "copy", []
        for name, cells in reported.items():
            files = {
                p: content
                for p, content in state.items()
                if p.parts[0].startswith((f"{name}.", f".{name}."))
            }
            key = hashlib.sha256(repr((name, sorted(cells), "changed" in where)).encode())
            for path, content in sorted(files.items()):
                key.update(repr((str(path), content and len(content))).encode() + (content or b""))
            if key.digest() in self.passed:
                continue
            powercuts.make(kills._empty(copy), files)
            found = [
                *(_unread(copy) if name == "input" else self._problems(copy, name, cells, where))
            ]
            wrong += [f"{name}: {what}" for what in found]
            self.passed.add(key.digest())
        if wrong:
            raise HistoryError("\n".join([f"{where}:", *wrong]))

    def _problems(self, folder: Path, name: str, reported: set[str], where: str) -> Iterator[str]:
        study = Read(folder / f"{name}.h5")
        try:
            if not study.exists:
                yield from reported and ["the study is not there"]
                return
            with warnings.catch_warnings(action="ignore"):
                yield from kills._lost(study, reported, "before it is settled")
                if "of the journal changed" not in where:  # the details may have been there alone
                    yield from bare(study, reported)
                seen, files = study.statuses(), _contents(folder)
                study.settle()
            if _contents(folder) != files:  # else it is read already
                study = Read(study.path)
                yield from kills._lost(study, reported, "after it is settled")
                yield from _seen_otherwise(seen, study.statuses())
            yield from (f"{place}: {what}" for place, what in problems_of(study))
            yield from kills._torn(study, self.reference)
            if "of the journal changed" not in where:
                yield from bare(study, reported, self.reference)
        except (MlautError, OSError) as error:
            yield f"it does not open: {error}"

    def _to_the_end(self, here: Path, steps: list[Step]) -> None:
        """Do what is left of the studies that the history began, and compare them."""
        begun = {given.get("study", name) for name, given, _ in steps}
        shards = "merge" in begun
        names = [name for name in STUDIES if name == "study" or shards]
        for path in here.glob(f"{MERGED}.h5*"):  # it may lack what came later
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        everything = {"strategies": [*STRATEGIES], "repeats": 2}
        last: list[Step] = [["data", {"n": 3}, None]]
        last += [["run", {"study": name, **everything}, None] for name in names]
        last += [
            [name, {}, None]
            for name in ("merge", "race")
            if name in begun or (shards and name == "merge")
        ]
        for step in last:
            ended, text = in_child(partial(do, step, here, len, self.reader.ask))
            if ended != "done":
                raise HistoryError(f"at the end, {step[0]}: {ended}: {text}")
        for name in ["study", MERGED] if shards else ["study"]:
            self._same(kills.StudyStore(here / f"{name}.h5"), f"at the end, {name}")
        if ["race", {}, None] in last:
            raced = race_kills.found(here / "race")
            if not race_kills.same(raced, self.race):
                raise HistoryError("at the end: the race has decided otherwise")

    def _same(self, study, where: str) -> None:
        found = kills.arrays(study)
        differ = [k for k, v in self.expected.items() if not _alike(found.get(k), v)]
        if differ or {*found} != {*self.expected}:
            raise HistoryError(
                f"{where}: other values: {differ or sorted({*found} ^ {*self.expected})}"
            )

    def _damage(self, here: Path, rng: random.Random) -> None:
        path = here / "study.h5"
        ended, text = in_child(partial(self._verified, path, path.read_bytes(), rng))
        if ended != "done":
            raise HistoryError(f"a bit is changed: {ended}: {text}")

    def _verified(self, path: Path, content: bytes, rng: random.Random) -> None:
        """Raise an error if a changed bit changes a result and is not told in one line."""
        used = np.flatnonzero(np.frombuffer(content, dtype=np.uint8))
        for _ in range(N_DAMAGED):
            place = rng.randrange(len(content)) if rng.random() < 0.2 else int(rng.choice(used))
            bit = 1 << rng.randrange(8)
            changed = bytearray(content)
            changed[place] ^= bit
            path.write_bytes(changed)
            study, where = kills.StudyStore(path), f"bit {bit} of byte {place} changed"
            try:
                if not [*problems_of(study)]:
                    self._same(study, f"{where}, and verify has found nothing")
            except MlautError as error:
                if "\n" in str(error):
                    raise HistoryError(f"{where}: {error}") from error


def _contents(folder: Path) -> State:
    return {
        path.relative_to(folder): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def _unread(folder: Path) -> Iterator[str]:
    """Yield what is wrong with the database of the datasets."""
    try:
        if (folder / "input.h5").exists():
            datasets = kills.FilesIO(folder / "input.h5")
            for path in datasets.list_datasets()[1]:
                datasets.load_dataset(path)
    except (MlautError, OSError) as error:
        yield f"it does not open: {error}"


def _place(calls: list[powercuts.Call], rng: np.random.Generator) -> int:
    """Return a place in a log: mostly behind a call that orders others, of a kind drawn first.

    What a rename or a removal relies on must be on the disk then, and until the next sync.
    """
    kinds = sorted({call.kind for call in calls} - {"w"})
    if not kinds or rng.random() < 0.3:
        return int(rng.integers(len(calls), endpoint=True))
    kind = rng.choice([*kinds, *({"r", "u"} & {*kinds})])
    found = [number for number, call in enumerate(calls) if call.kind == kind]
    return min(len(calls), int(rng.choice(found)) + int(rng.integers(4)))


def _alike(one: np.ndarray | None, other: np.ndarray) -> bool:
    return one is not None and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def shrink(world: World, steps: list[Step]) -> tuple[list[Step], str]:
    """Return a history that still fails when no step and no fault can be left out, and how."""
    why = _fails(world, steps)
    smaller = True
    while smaller:
        smaller = False
        for k, step in enumerate(steps):
            without = [*steps[:k], *steps[k + 1 :]]
            calm = [*steps[:k], [*step[:2], None], *steps[k + 1 :]] if step[2] else None
            for tried in (without, calm):
                if tried is not None and (now := _fails(world, tried)):
                    steps, why, smaller = tried, now, True
                    break
            if smaller:
                break
    return steps, why


def _fails(world: World, steps: list[Step]) -> str:
    try:
        world.live(steps)
    except HistoryError as lost:
        return str(lost)
    return ""


def _cpu_seconds() -> float:
    times = os.times()
    return sum(times[:4])


def _hurry() -> None:
    """Have forks find what no history changes: tables, syntax of classes, versions of packages."""
    syntax.SourceFile._node = cache(syntax.SourceFile._node)
    registry._is_installed = cache(registry._is_installed)
    distributions.installed_version = cache(distributions.installed_version)
    environment.installed_version = distributions.installed_version


def simulate(
    seeds: range, most_calls: float, seconds: float, folder: Path, shrinking: bool = True
) -> dict[str, object]:
    """Live the history of each seed; give the figures, or leave with what was lost."""
    world, begun, used = World(folder), time.monotonic(), _cpu_seconds()
    lived = n_steps = 0
    for seed in seeds:
        if world.calls >= most_calls or time.monotonic() - begun > seconds:
            break
        steps = draw(seed)
        try:
            world.live(steps, seed)
        except HistoryError as lost:
            if not shrinking:
                raise SystemExit(f"seed {seed}: {lost}") from None
            kept = kills.keep(world.folder / "life")
            steps, why = shrink(world, steps)
            history = json.dumps(steps)
            raise SystemExit(
                f"seed {seed}: {lost}\n(see {kept})\nshrunk: --history '{history}'\n{why}"
            ) from None
        lived, n_steps = lived + 1, n_steps + len(steps)
    world.reader.end()
    return {
        "histories": lived,
        "steps": n_steps,
        "calls": world.calls,
        **dict(sorted(world.happened.items())),
        "lost": 0,
        "seconds": round(time.monotonic() - begun, 1),
        "cpu_seconds": round(_cpu_seconds() - used, 1),
    }


def main() -> None:
    """Read the command line, simulate, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 10**9), metavar=("FROM", "TO"))
    parser.add_argument("--calls", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--as-it-is", action="store_true", help="do not shrink what fails")
    parser.add_argument("--history", type=json.loads, help="steps to live, as they are printed")
    given = parser.parse_args()
    shim.begin_again_watched()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="mlaut-simulate-", dir=MEMORY) as place:
        folder = Path(place).resolve()
        if given.history is not None:
            why = _fails(World(folder), given.history)
            raise SystemExit(why or None)
        figures = simulate(
            range(*given.seeds), given.calls, given.seconds, folder, not given.as_it_is
        )
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()

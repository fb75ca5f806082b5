"""Kill each command at its calls that change files, fail its calls, and give the command again.

    python tests/reliability/storm.py [--places 1000] [--commands publish merge] [--seed 0]

A command is given once undisturbed, and its calls are counted (``shim.c``). Then, in copies of the
same folder, it is killed at places spread over its calls and at the last: before a call, after it,
or when half of a write is written; and calls fail by errno (EIO, ENOSPC and EDQUOT from there on,
EMFILE) or write half of what they should; ``--ways EIO-rare`` is EIO in calls that do not read or
write. A failing call may only end in a message of one line. Given again, the command must succeed,
with the results of the undisturbed one and the same files.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
sys.path.insert(0, str(Path(__file__).parents[1] / "files_io"))
sys.path.insert(0, str(Path(__file__).parent))
import kills
import race_kills
import shim
from processes import MEMORY, in_child, in_child_and_import

from mlaut import Data, Orchestrator
from mlaut.estimators import Generic_Estimator
from mlaut.experiments.engines.engine import InlineEngine
from mlaut.experiments.restructure import restructure
from mlaut.experiments.runs import execution
from mlaut.files_io import FilesIO, StudyStore, merge_studies

MOST_CALLS = 10**9

# ---------------------------------------------------------------------- the commands


def prepare(folder: Path, commands: Collection[str]) -> None:
    """Make what the commands are given."""
    from studies import strategy

    if {*commands} - {"race"}:
        text = '[study]\noutput = "study.h5"\n[data]\ninput = "study.datasets.h5"\n'
        folder.joinpath("study.toml").write_text(text)
        _run(folder, "study", kills.plain("one"), kills.plain("other"))
    if "merge" in commands:
        _run(folder, "mine", kills.plain("mine"), save_models=True)
        _run(folder, "other", kills.plain("third"), save_models=True)
    if "compact" in commands:
        study, many = StudyStore(folder / "large.h5"), [f"gone {k}" for k in range(20)]
        shutil.copyfile(folder / "study.h5", study.path)
        for version in range(4):  # what is replaced is room that can be freed
            study.allocate([strategy(name, version) for name in many], replace=True)
    if "race" in commands:
        race_kills.write_study(folder / "race", 6, race_kills.RACES[0])


def _run(folder: Path, name: str, *strategies: object, **options: object) -> None:
    data, io = Data(), FilesIO(folder / "study.datasets.h5", "a")
    io.save_datasets(kills.tables()[:2])
    out = FilesIO(folder / f"{name}.h5", "a")
    data.split_datasets(io, out, scheme="kfold(2)", seed=1)
    Orchestrator(io, out).run(strategies, engine="inline", verbose=0, **options)


def publish(folder: Path) -> None:
    from mlaut_exchange import publish_study

    publish_study(folder / "study.h5", folder / "bundle", include="all", title="A study")


def predictions(folder: Path) -> None:
    from mlaut_exchange import import_predictions

    study = StudyStore(folder / "study.h5")
    for name, entry in study.load_splits().items():
        if entry.targets:  # no program's predictions of several are taken
            continue
        rows = [(f, row) for f in range(2) for row in entry.split.rows(0, f)[1].tolist()]
        table = pd.DataFrame(rows, columns=["fold", "row"]).assign(dataset=name, repeat=0)
        table["prediction"] = [entry.classes[row % 2] for row in table["row"]]
        import_predictions(study, table, strategy=f"of R on {name}", source="R 4.5")


def merge(folder: Path) -> None:
    merge_studies([folder / f"{n}.h5" for n in ("study", "mine", "other")], folder / "merged.h5")


def add(folder: Path) -> None:
    tuned = Generic_Estimator(
        kills.Guess(), name="tuned", param_grid={"random_state": [1, 2]}, preprocessing=None
    )
    known = kills.plain("one"), kills.plain("other"), kills.plain("new")
    _run(folder, "study", *known, tuned, save_models=True)


def compact(folder: Path) -> None:
    StudyStore(folder / "large.h5").compact()


def remove(folder: Path) -> None:
    restructure(folder / "study.toml", {"first": None}, {"other": None})


def rename(folder: Path) -> None:
    restructure(folder / "study.toml", {"first": "new first"}, {"one": "new one"})


def race(folder: Path) -> None:
    execution.make_engine = lambda *_: InlineEngine()  # in this process, which is a fork
    race_kills.run_race(folder / "race" / "study.toml", verbose=0)


COMMANDS: dict[str, Callable[[Path], None]] = {
    "publish": publish,
    "import": predictions,
    "merge": merge,
    "add": add,
    "compact": compact,
    "remove": remove,
    "rename": rename,
    "race": race,
}


def results(folder: Path) -> dict[str, object]:
    """Return what a command made: values of studies, contents of bundles, names of all files."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".change":  # could not be removed, and goes with the next change
            continue
        # The model of a fit that no study recorded stays: the next one has a digest in its name.
        name = re.sub(r"-[0-9a-f]{12}(?=\.\w+\.z$)", "", str(path.relative_to(folder)))
        found[name] = None
        if path.suffix == ".h5" and path.is_file():
            found[name] = _values(path)
        elif path.parent.name in ("bundle", "site") and path.suffix != ".h5":
            found[name] = path.read_bytes()
    if (folder / "race" / "study.h5").exists():
        found["decisions"] = repr(race_kills.found(folder / "race")[:2])
    return found


def _values(path: Path) -> object:
    study = StudyStore(path)
    if not study.exists:
        return sorted(FilesIO(path).fingerprints(FilesIO(path).list_datasets()[1]))
    details = [(n, d["strategy"], d["fold"], d["status"], str(d.get("best_params")))
               for n, of in study.all_details() for d in of]  # fmt: skip
    arrays = [
        (b.dataset, b.strategies, *(None if a is None else a.tobytes() for a in values))
        for b in study.blocks()
        for values in [(b.status, b.split.folds, b.predictions, b.probabilities)]
    ]
    return study.strategies, sorted(map(str, details)), arrays


# ------------------------------------------------------------------------ disturbing


def disturb(folder: Path, command: Callable[[Path], None], number: int, how: str) -> int:
    """Run a command whose n-th call is disturbed; return how many calls of its kind there were."""
    if how in shim.HOW:
        shim.kill_at(folder, number, how)
    else:
        shim.fail_at(folder, number, how)
    command(folder)
    return number - shim.calls_left()


def storm(name: str, folder: Path, places: int, seed: int, ways: Collection[str]) -> Counter[str]:
    """Disturb a command at so many places of each way; return what happened how often."""
    command, origin, here = COMMANDS[name], folder / "origin", folder / "life"
    expected, figures, generator = None, Counter(), np.random.default_rng(seed)
    fresh(origin, here)
    in_child_and_import(partial(command, here))
    for how in ways:
        fresh(origin, here)
        ended, text = in_child(
            partial(disturb, here, command, MOST_CALLS, "before" if how == "kill" else how)
        )
        if ended != "done":
            raise SystemExit(f"{name} by itself: {ended}: {text}")
        n_calls, found = int(text), results(here)
        expected = expected or found
        assert_same(found, expected, f"{name} by itself")
        figures[f"calls ({how})"] = n_calls
        drawn = generator.permutation(n_calls - 1)[: places - 1] + 1
        for number in [*sorted(drawn.tolist()), n_calls]:
            way = str(generator.choice(shim.HOW)) if how == "kill" else how
            fresh(origin, here)
            ended, text = in_child(partial(disturb, here, command, number, way))
            figures[f"{how}: {ended}"] += 1
            where = f"{name}, {way} at call {number} of {n_calls}"
            if ended in ("raised", "hung"):
                lost(here, f"{where}: {ended}: {text}")
            if ended == "refused" and "\n" in text:
                lost(here, f"{where}: a message of several lines: {text}")
            before = text
            ended, text = in_child(partial(command, here))
            if ended != "done":
                lost(here, f"{where} ({before}), and again: {ended}: {text}")
            assert_same(results(here), expected, where)
    return figures


def fresh(origin: Path, here: Path) -> None:
    """Make a new copy of what a command is given."""
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(origin, here)


def assert_same(found: dict[str, object], expected: dict[str, object], where: str) -> None:
    """Compare two `results`."""
    differ = sorted({*found} ^ {*expected}) or [n for n in found if found[n] != expected[n]]
    if differ:
        raise SystemExit(f"{where}: other results or files: {differ}")


def lost(folder: Path, what: str) -> None:
    """Leave with what was found; the folder is kept."""
    raise SystemExit(f"{what}\n(see {kills.keep(folder)})")


def main() -> None:
    """Read the command line, disturb the commands, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--places", type=int, default=1000)
    ways = "kill", *shim.KINDS
    parser.add_argument("--ways", nargs="+", default=ways, choices=[*ways, *shim.RARE])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    shim.begin_again_watched()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="mlaut-storm-", dir=MEMORY) as place:
        folder = Path(place).resolve()
        (folder / "origin").mkdir()
        prepare(folder / "origin", given.commands)
        for name in given.commands:
            figures = storm(name, folder, given.places, given.seed, given.ways)
            sys.stdout.write(json.dumps({"command": name, **figures}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Kill a study at every kind of call that changes a file, and see that nothing of it is lost.

    python tests/reliability/calls.py --kills 2000 [--by command] [--seed 0] [--seconds 3600]

As ``kills.py``, but the instant is not a time: the process is killed at the n-th call from now that
writes, syncs, truncates, makes, renames or removes a file of the study; n is drawn at random, and
so is whether it dies before the call, after it, or when half of what it writes is written. A C
compiler is needed: ``shim.c`` is loaded before the C library.

With ``--by command`` a life of a study is four times ``mlaut run study.toml``, and its cells run in
a worker process; what is killed is the process that writes. Half of these kills are counted from
the begin of the cells: most of the time goes by before it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import shim
from processes import MEMORY, in_child_and_import

ONE_IN_FAR = 10  # of the kills come at up to a thousand calls, the others at up to a hundred
STUDY = """
[study]
output = "{output}"
[data]
input = "{input}"
folder = "{tables}"
datasets = {datasets}
[split]
scheme = "{scheme}"
[strategies]
file = "{strategies}"
[run]
n_jobs = 1
save_models = {models}
retry = ["crashed"]
"""
STAGES = (  # datasets, scheme, strategies, models
    (2, "kfold(2)", ("one", "other"), "false"),
    (2, "repeated_kfold(2, 2)", ("one", "other", "third"), "false"),
    (3, "repeated_kfold(2, 2)", ("one", "other", "third"), "false"),
    (3, "repeated_kfold(2, 2)", ("saved",), "true"),
)


def from_the_cells(folder: Path, report: Callable[[str], object], life, number: int, how: str):
    """Live the life of a study, and be killed at a call counted from the begin of the cells."""

    def report_and_begin(step: str) -> None:
        report(step)
        if step == "cells":
            shim.kill_at(folder, number, how)

    life(folder, report_and_begin)


def live_by_command(folder: Path, report: Callable[[str], object], files: Path) -> None:
    """Run the commands of the life of a study that are not done yet."""
    import kills

    from mlaut.cli import main
    from mlaut.experiments.runs import execution

    made = execution.make_engine
    execution.make_engine = lambda *a: kills.Reporting(made(*a), "cells", report)
    study = kills.StudyStore(folder / "study.h5")
    splits = study.load_splits() if study.exists else {}
    grown = any(entry.split.n_repeats == 2 for entry in splits.values())
    for number, (datasets, scheme, names, models) in enumerate(STAGES):
        if grown and scheme == "kfold(2)":
            continue
        report("command")
        path = files / f"{number}.toml"
        strategies = files / f"{'_'.join(names)}.py"
        strategies.write_text(f"from kills import plain\nstrategies = [*map(plain, {names})]\n")
        here = {"output": folder / "study.h5", "input": folder / "input.h5", "tables": files / "t"}
        known = [one.name for one in kills.tables()][:datasets]
        path.write_text(
            STUDY.format(
                **here,
                datasets=json.dumps(known),
                scheme=scheme,
                strategies=strategies,
                models=models,
            )
        )
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                main(["run", str(path), "--quiet"])
        except SystemExit as end:
            if end.code:
                raise


def survive(
    kills_wanted: int, seed: int, folder: Path, seconds: float, by: str
) -> dict[str, object]:
    """Kill studies at so many calls; give the figures, or leave with what was lost."""
    import kills

    generator = np.random.default_rng(seed)
    files = folder / "files"
    (files / "t").mkdir(parents=True)
    table, array, series = kills.tables()
    table.frame.to_csv(files / "t" / f"{table.name}.csv", index=False)
    np.savez(files / "t" / f"{array.name}.npz", X=array.array, y=array.labels.to_numpy())
    rows = zip(series.array[:], series.labels, strict=True)
    lines = [f"{','.join(map(str, one[0].tolist()))}:{label}\n" for one, label in rows]
    head = "@timeStamps false\n@classLabel true no yes\n@data\n"
    (files / "t" / f"{series.name}.ts").write_text(head + "".join(lines))
    life = partial(live_by_command, files=files) if by == "command" else kills.live
    ended, text = in_child_and_import(partial(life, kills._empty(folder / "reference"), len))
    if ended != "done":
        raise SystemExit(f"the life that nobody interrupts: {ended}: {text}")
    reference = kills.StudyStore(folder / "reference" / "study.h5")
    expected = kills.arrays(reference)
    begun = time.monotonic()
    during: Counter[str] = Counter()
    hows: Counter[str] = Counter()
    n_reported = lives = n_calls = 0
    while during.total() < kills_wanted and time.monotonic() - begun < seconds:
        lives += 1
        here, ended = kills._empty(folder / "life"), False
        reported: set[str] = set()
        while not ended and during.total() < kills_wanted:
            how = str(generator.choice(shim.HOW))
            far = generator.random() < 1 / ONE_IN_FAR
            number = int(generator.integers(1, 1000 if far else 100, endpoint=True))
            if by == "command" and generator.random() < 0.5:
                child = kills.Child(
                    here, partial(from_the_cells, life=life, number=number, how=how)
                )
            else:
                child = kills.Child(here, life, partial(shim.kill_at, here, number, how))
            ended, told = child.ended()
            cells = {line for line in told if line.startswith("cell ")}
            reported |= cells
            n_reported += len(cells)
            if not ended:
                steps = [line for line in told if line in (*kills.STEPS, "command")]
                during[steps[-1] if steps else "data"] += 1
                hows[how] += 1
                n_calls += number
            found = [*kills.problems(here, reported, reference)]
            if not kills.none_left(child.mark):
                found.append("a process is left")
            if left := [path.name for path in here.glob(".*.tmp")]:
                found += [f"left: {name}" for name in left] if ended else []
            if found:
                kept = kills.keep(here)
                raise SystemExit("\n".join([f"after {during.total()} kills, see {kept}:", *found]))
            ended = ended and not kills.cells_given_up(here)
        if ended:
            kills.assert_same(kills.StudyStore(here / "study.h5"), expected)
    return {
        "kills": during.total(),
        "while": dict(sorted(during.items())),
        "how": dict(sorted(hows.items())),
        "lives": lives,
        "calls": n_calls,
        "cells reported": n_reported,
        "lost, torn, not opened, processes or copies left": 0,
        "seconds": round(time.monotonic() - begun, 1),
        "seed": seed,
    }


def main() -> None:
    """Read the command line, kill, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=2000)
    parser.add_argument("--by", choices=["functions", "command"], default="functions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    shim.begin_again_watched()
    with tempfile.TemporaryDirectory(prefix="mlaut-calls-", dir=MEMORY) as folder:
        figures = survive(given.kills, given.seed, Path(folder), given.seconds, given.by)
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()

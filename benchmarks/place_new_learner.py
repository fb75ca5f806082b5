"""Place a real new learner by few datasets in both arms, also with kills, and by all datasets.

    python benchmarks/place_new_learner.py ARCHIVE WORK OUTPUT

ARCHIVE is a folder in the layout of the data of Fernandez-Delgado et al. (2014), for example of
tools/delgado_archive.py. The learner, histogram gradient boosting, is none of the 179 published
ones. Each arm runs twice: once without interruption, and once killed by SIGKILL after 2, 4, 6, ...
seconds and started again until it ends. Then all datasets run, to know the truth and the CPU time.

It needs the plug-in mlaut-boards: pip install ./plugins/exchange ./plugins/boards
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from mlaut_boards.placing.placement import place_study

from mlaut.analysis import Results

MOST_ROWS = 2_000
BUDGET = "10"
STUDY = """
[study]
output = "{name}.h5"
[data]
input = "place.input.h5"
folder = "{archive}"
datasets = {datasets}
[strategies]
file = "learner.py"
[run]
n_jobs = 1
timeout = "2m cpu"
"""
LEARNER = """
from sklearn.ensemble import HistGradientBoostingClassifier

strategies = {"HistGradientBoosting": HistGradientBoostingClassifier(random_state=0)}
"""
CALL = """
import sys
from mlaut_boards.placing.placement import place_study
found = place_study(
    sys.argv[1], "delgado2014", budget=sys.argv[2], check=["lda_R"], verbose=0,
    few={"arm": sys.argv[3], "audit": sys.argv[3] == "designed"},
)
found.frame.to_csv(sys.argv[4], float_format="%.17g")
found.pairs.to_csv(sys.argv[4] + ".pairs", float_format="%.17g")
"""


def run(study, arm, file, seconds=None):
    """Return whether a process that places the study came to its end."""
    call = [sys.executable, "-c", CALL, str(study), BUDGET, arm, str(file)]
    process = subprocess.Popen(call, start_new_session=True)
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return False


def seconds_of(paths):
    """Return the seconds of the new learner by dataset."""
    found = {}
    for path in paths:
        results = Results.from_study(path, "accuracy", strategies=["HistGradientBoosting"])
        used = np.nansum(results.seconds, axis=(1, 2, 3, 4))
        found |= dict(zip(results.datasets, used.tolist(), strict=True))
    return found


def main(archive, work, output):
    """Run both arms and all datasets; write a row for each."""
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    (work / "learner.py").write_text(LEARNER)
    sizes = {path.name: len((path / f"{path.name}_R.dat").read_text().splitlines()) - 1
             for path in sorted(Path(archive).iterdir())}  # fmt: skip
    names = [name for name, rows in sizes.items() if rows <= MOST_ROWS]
    for name in ("designed", "random", "designed-killed", "random-killed", "all"):
        text = STUDY.format(name=name, archive=Path(archive).resolve(), datasets=json.dumps(names))
        (work / f"{name}.toml").write_text(text)
    kills = {}
    for arm in ("designed", "random"):
        assert run(work / f"{arm}.toml", arm, work / f"{arm}.csv")
        killed, seconds = work / f"{arm}-killed", 2
        while not run(killed.with_suffix(".toml"), arm, f"{killed}.csv", seconds):
            seconds += 2
        kills[arm] = seconds // 2 - 1
        for ending in ("", ".pairs"):
            once = (work / f"{arm}.csv{ending}").read_bytes()
            assert once == Path(f"{killed}.csv{ending}").read_bytes(), arm
    whole = place_study(
        work / "all.toml", "delgado2014", budget=str(len(names)), check=["lda_R"], verbose=0
    )
    every = seconds_of(sorted(work.glob("all.delgado2014-?.h5")))
    truth = whole.frame.loc["HistGradientBoosting"]
    rows = []
    for arm in ("designed", "random"):
        row = pd.read_csv(work / f"{arm}.csv", index_col=0).loc["HistGradientBoosting"]
        ran = seconds_of(sorted(work.glob(f"{arm}.delgado2014-?.h5")))
        share = sum(every[name] for name in ran) / sum(every.values())
        ends = f"{row['average rank low']:.1f} to {row['average rank high']:.1f}"
        rows.append([f"{arm}, {row['datasets']:.0f} of {len(every)}",
                     f"{row['average rank']:.1f} ({ends})",
                     f"{row['score']:.2f} ({row['score low']:.2f} to {row['score high']:.2f})",
                     f"{row['strange p']:.2f}", f"{row['audit p']:.2f}" if "audit p" in row else "",
                     f"{len(ran)} datasets, {100 * share:.0f} %", kills[arm]])  # fmt: skip
    rows.append([f"all {len(every)}", f"{truth['average rank']:.1f}", f"{truth['score']:.2f}",
                 "", "", "100 %", ""])  # fmt: skip
    heads = ["arm", "average rank of 173", "clipped score", "strange p", "audit p",
             "run, share of its seconds", "kills survived with the same bytes"]  # fmt: skip
    pd.DataFrame(rows, columns=heads).to_csv(output, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:4])

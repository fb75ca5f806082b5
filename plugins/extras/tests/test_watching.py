"""`mlaut status --follow`: a live view of a run."""

import os
import pty
import re
import select
import subprocess
import sys

import pytest
from mlaut_extras.snapshot import take_snapshot

from mlaut.cli import main
from mlaut.experiments import run_study, study_status
from mlaut.files_io import StudyStore

TABLE = "x,y,class\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
OWN = """
import time
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y):
        time.sleep(0.2)
        return super().fit(X, y)

class Fails(GaussianNB):
    def fit(self, X, y):
        raise ValueError("no \\x1b[2J fit")

strategies = [("slow", Slow()), ("fails", Fails())]
"""
STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(5)"
[strategies]
names = ["BaselineClassifier"]
file = "own.py"
[run]
n_jobs = 1
"""


@pytest.fixture
def folder(tmp_path):
    tmp_path.joinpath("tables").mkdir()
    for name in "pqr":
        tmp_path.joinpath("tables", f"{name}.csv").write_text(TABLE)
    tmp_path.joinpath("own.py").write_text(OWN)
    tmp_path.joinpath("study.toml").write_text(STUDY)
    return tmp_path


def test_a_live_view_without_rich_says_how_to_get_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(SystemExit):
        main(["status", str(tmp_path / "study.h5"), "--follow"])
    assert "pip install 'mlaut[watch]'" in capsys.readouterr().err


def test_a_study_is_shown_once_for_scripts(folder, capsys):
    folder.joinpath("own.py").write_text(OWN.replace("sleep(0.2)", "sleep(0)"))
    run_study(folder / "study.toml", verbose=0, engine="inline")
    main(["status", str(folder / "study.toml"), "--follow"])
    shown = capsys.readouterr().out
    assert "100%  30 done, 15 failed, 0 left" in shown
    assert "no run is active" in shown
    assert re.search(r"fails\s+███\s+15/15, 15 failed", shown)
    assert "fails on r: error: ValueError: no" in shown
    assert "\x1b" not in shown
    now = take_snapshot(folder / "study.h5", n_failures=2)
    assert now.finished
    assert len(now.failures) == 2
    assert str(now.cells_per_minute) == str(now.seconds_left) == "nan"


@pytest.mark.slow
def test_a_running_study_is_followed_in_a_terminal_and_not_hindered(folder):
    """The first and the eighth fit wait until the terminal has shown one and two views."""
    command, fits = [sys.executable, "-m", "mlaut"], folder / "fits"
    gate = f"""
        with open({str(fits)!r}, "a") as file:
            file.write("x")
        n = Path({str(fits)!r}).stat().st_size
        while n in (1, 8) and not Path(f"{fits}.{{n}}").exists():
            time.sleep(0.01)
    """
    own = OWN.replace("import time", "import time\nfrom pathlib import Path")
    folder.joinpath("own.py").write_text(own.replace("        time.sleep(0.2)", gate.rstrip()))
    run = subprocess.Popen([*command, "run", "study.toml", "-q", "--no-trial"], cwd=folder)
    stored = StudyStore(folder / "study.h5")
    while not stored.path.exists() or not stored.exists or not study_status(stored.path).n_cells:
        assert run.poll() is None
    terminal, other_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    follow = [*command, "status", "study.h5", "--follow"]
    watch = subprocess.Popen(
        follow, cwd=folder, stdin=other_end, stdout=other_end, stderr=other_end, env=environment
    )
    os.close(other_end)
    shown = b""
    while True:
        assert select.select([terminal], [], [], 120)[0], shown
        try:
            part = os.read(terminal, 2**16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
        views = {*re.findall(rb"(\d+) done, (\d+) failed, (\d+) left", shown)}
        for n in (1, 8)[: len(views)]:
            fits.with_name(f"fits.{n}").touch()
    os.close(terminal)
    assert (watch.wait(60), run.wait(60)) == (0, 0)
    text = shown.decode()
    views = re.findall(r"(\d+) done, (\d+) failed, (\d+) left", text)
    assert len(set(views)) > 2  # it followed the run
    assert views[-1] == ("30", "15", "0")
    assert f"process {run.pid} on " in text
    assert re.search(r"[\d.]+ cells a minute, about \d+:\d\d left", text)
    assert "fails on r: error: ValueError: no \\x1b[2J fit" in text  # it cannot clear the screen
    assert study_status(folder / "study.h5").n_done == 30

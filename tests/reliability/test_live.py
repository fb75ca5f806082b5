"""A study that is written: read, kept from a second writer, taken over after a kill, removed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from mlaut import AnalyseResults, Data, Orchestrator
from mlaut.cli import main
from mlaut.data import load_sklearn
from mlaut.errors import StoreError, StudyLockedError
from mlaut.experiments import study_status
from mlaut.experiments.engines.engine import InlineEngine
from mlaut.files_io import StudyStore
from mlaut.records import Status

HERE = Path(__file__).parent
SCRIPT = """
    import sys
    sys.path.insert(0, {learners!r})
    from learners import Random, Traced
    from mlaut import Data, Orchestrator
    data = Data()
    orchestrator = Orchestrator(data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"))
    strategies = ["BaselineClassifier", "GaussianNaiveBayes", Traced({trace!r}, seconds=0.4)]
    orchestrator.run(strategies, n_jobs=1, verbose=0)
"""


@pytest.fixture
def databases(tmp_path):
    data = Data()
    folder = tmp_path / "studies"
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    input_io.save_datasets(load_sklearn(["iris", "wine"]), "tables")
    out_io = data.open_hdf5(folder / "study.h5", mode="a")
    paths = input_io.list_datasets("tables")[1]
    data.split_datasets(input_io, out_io, paths, scheme="kfold(4)", seed=1)
    return input_io, out_io


def test_a_live_study_is_read_and_a_killed_one_is_taken_over(databases, tmp_path, capsys):
    input_io, out_io = databases
    path, trace = str(out_io.path), tmp_path / "trace"
    script = textwrap.dedent(SCRIPT).format(
        learners=str(HERE.parent / "experiments"),
        input=str(input_io.path),
        output=path,
        trace=str(trace),
    )
    writer = subprocess.Popen([sys.executable, "-c", script])
    try:
        while not trace.exists() or len(trace.read_text().splitlines()) < 2:
            time.sleep(0.01)
            assert writer.poll() is None
        main(["status", path, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert told["running"]["pid"] == writer.pid
        main(["report", path, "--format", "full"])
        assert "GaussianNaiveBayes" in capsys.readouterr().out
        analyse = AnalyseResults(hdf5_output_io=out_io, hdf5_input_io=input_io)
        assert "BaselineClassifier" in analyse.results("accuracy").strategies
        with pytest.raises(StudyLockedError, match=rf"process {writer.pid} on .* is writing to it"):
            Orchestrator(input_io, out_io).run("BaselineClassifier", verbose=0)
        assert writer.poll() is None
        done = study_status(path).total[Status.DONE]
        before = {b.dataset: b for b in StudyStore(path).blocks()}
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    lock = Path(path + ".lock")
    assert str(writer.pid) in lock.read_text()  # a lock that its holder left
    assert study_status(path).running is None
    summary = Orchestrator(input_io, out_io).run("GaussianNaiveBayes", n_jobs=1, verbose=0)
    assert summary.complete
    assert study_status(path).total[Status.DONE] >= done
    for block in StudyStore(path).blocks():
        known = before[block.dataset]
        for s, repeat, fold in np.argwhere(known.done).tolist():
            test = known.split.rows(repeat, fold)[1]
            np.testing.assert_array_equal(
                block.predictions[s, repeat, test], known.predictions[s, repeat, test]
            )
    assert not lock.exists()


class Then:
    """An engine that does something after the third cell."""

    def __init__(self, deed):
        self.deed = deed

    def of(self, options):
        return self

    def run(self, groups):
        for n, outcomes in enumerate(InlineEngine().run(groups)):
            yield outcomes
            if n == 2:
                self.deed()


def run(databases, deed):
    return Orchestrator(*databases).run(
        ["BaselineClassifier", "GaussianNaiveBayes"], engine=Then(deed), verbose=0
    )


def test_a_folder_that_vanishes_ends_the_run_in_one_line(databases):
    folder = databases[1].path.parent
    with pytest.raises(StoreError, match=r"study\.h5") as raised:
        run(databases, lambda: shutil.rmtree(folder))
    assert "\n" not in str(raised.value)
    assert not folder.exists()


def test_a_folder_that_comes_back_has_what_was_stored(databases):
    folder = databases[1].path.parent
    away = folder.with_name("elsewhere")
    with pytest.raises(StoreError, match=r"study\.h5"):
        run(databases, lambda: folder.rename(away))
    away.rename(folder)
    StudyStore(databases[1].path).settle()
    assert study_status(databases[1].path).total[Status.DONE] >= 3
    assert run(databases, lambda: None).complete


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_becomes_read_only_is_told(databases):
    folder = databases[1].path.parent
    try:
        with pytest.raises(StoreError, match="no permission"):
            run(databases, lambda: folder.chmod(0o555))
    finally:
        folder.chmod(0o755)
    assert run(databases, lambda: None).complete

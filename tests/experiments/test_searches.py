"""Limits of searches: what is refused, and how CPU time is measured."""

import subprocess
import sys
import threading
import time

import pytest

from mlaut import Study
from mlaut.errors import StudyError
from mlaut.experiments.cells.memory import cpu_seconds

WITHOUT = """
import sys
sys.modules["mlaut_sharing"] = None  # as where it is not installed
from mlaut import Study
study = Study(sys.argv[1])
study.add_datasets("starter/iris")
for option in ({}, {"tuning_timeout": "10m"}, {"trace_predictions": True}):
    try:
        print(study.run("K_Neighbours", engine="inline", verbose=0, **option).complete)
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_cpu_seconds_are_those_of_threads_and_children_too():
    work = "import time\nwhile time.process_time() < 0.2: pass"
    begun = cpu_seconds()
    subprocess.run([sys.executable, "-c", work], check=True)
    assert cpu_seconds() - begun >= 0.19
    begun, until = cpu_seconds(), time.process_time() + 0.1
    thread = threading.Thread(target=lambda: all(iter(lambda: time.process_time() < until, False)))
    thread.start()
    thread.join()
    assert cpu_seconds() - begun >= 0.09


def test_a_time_that_is_none_is_refused(tmp_path):
    with pytest.raises(StudyError, match="tuning_timeout 'soon': not a time above 0"):
        Study(tmp_path / "study.h5").run("SVC", tuning_timeout="soon")


def test_limits_without_their_plugin_are_refused_and_name_it(tmp_path):
    command = [sys.executable, "-c", WITHOUT, str(tmp_path / "study.h5")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    refused = (
        "OptionalPackageError tuning_timeout and trace_predictions need the plug-in mlaut-sharing: "
        "'pip install ./plugins/sharing' in a copy of MLaut's repository"
    )
    assert done.stdout.splitlines() == ["True", refused, refused]

"""Each script of examples/studies says in one line what it lacks on a fresh clone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "examples" / "studies"
WAYS_OUT = {
    "lacoste2012/prepare.py": "python ../load.py loads the tables",
    "lacoste2012/run.py": "python ../load.py loads the tables",
    "lacoste2012/compare.py": "python run.py makes the study",
    "race35/prepare.py": "python ../load.py loads the tables",
    "race35/tables.py": "mlaut run study.toml makes the study",
    "today2026/tables.py": "mlaut run study.toml makes the study",
    "today2026/beside.py": "mlaut run study.toml makes the study",
    "bouckaert2003/read.py": "python run.py makes them",
    "mlaut2019/tables.py": "name study.h5 and trained.h5",
}

PLUG_IN = {
    "race35/tables.py": "'pip install ./plugins/races'",
    "today2026/tables.py": "'pip install ./plugins/races'",
}
"""What a script says where its plug-in is not installed."""


@pytest.mark.parametrize("script", WAYS_OUT)
def test_what_a_script_lacks_is_told_in_one_line(script, tmp_path):
    folder, _, name = script.partition("/")
    left_out = shutil.ignore_patterns("*.h5*", "*.png", "*.searches")
    shutil.copytree(STUDIES / folder, tmp_path / folder, ignore=left_out)
    command = [sys.executable, name]
    ran = subprocess.run(
        command, cwd=tmp_path / folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode
    told = ran.stderr.splitlines()[-1]
    assert WAYS_OUT[script] in told or PLUG_IN.get(script, WAYS_OUT[script]) in told
    assert "Traceback" not in ran.stderr

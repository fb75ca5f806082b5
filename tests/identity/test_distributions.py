"""Whose code it is: that of Python, of an installed distribution, or the user's own."""

import json
import os
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import pytest

import mlaut
from mlaut.identity.distributions import (
    installed_version,
    is_library,
    is_library_file,
    versions_of,
)

PACKAGES = [Path(sysconfig.get_path(key)) for key in ("purelib", "platlib")]

OWN = "import numpy as np\n\ndef own(x):\n    return np.sqrt(x)\n"
IDENTITIES = """
import json
import own_module
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from mlaut.estimators import as_strategies
own = make_pipeline(FunctionTransformer(own_module.own), SVC())
given = [{"svc": SVC()}, ("own", own), "RandomForestClassifier"]
print(json.dumps([strategy.identity() for strategy in as_strategies(given)]))
"""


def links(folder, *, records=True):
    """Lay the packages of this environment out in another folder."""
    folder.mkdir(parents=True)
    for packages in dict.fromkeys(PACKAGES):
        for path in packages.iterdir():
            installer = path.name.endswith((".dist-info", ".egg-info"))
            if path.suffix != ".pth" and (records or not installer):
                (folder / path.name).symlink_to(path)
    return folder


def identities(folder, *more, python=sys._base_executable, **environment):
    """Identities as another interpreter gives them, which has no packages of its own."""
    (folder / "own_module.py").write_text(OWN)
    paths = [folder, Path(mlaut.__file__).parents[1], *more]
    run = subprocess.run(
        [python, "-c", IDENTITIES],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return identities(tmp_path_factory.mktemp("here"), python=sys.executable)


@pytest.mark.slow
def test_a_folder_on_the_path_as_pip_target_makes_it(tmp_path, here):
    svc, own, _ = here
    assert "own" not in svc["assembled"]["parameters"]
    assert set(own["reads"]) == {"np"}
    assert identities(tmp_path, links(tmp_path / "libs")) == here


@pytest.mark.slow
def test_the_packages_of_debian(tmp_path, here):
    folder = links(tmp_path / "usr" / "lib" / "python3" / "dist-packages", records=False)
    assert identities(tmp_path, folder) == here


@pytest.mark.slow
def test_the_packages_of_a_user(tmp_path, here):
    folder = Path(sysconfig.get_path("purelib", "posix_user", {"userbase": str(tmp_path / "home")}))
    links(folder)
    assert identities(tmp_path, PYTHONUSERBASE=str(tmp_path / "home")) == here


@pytest.mark.slow
def test_an_environment_that_sees_the_packages_of_the_system(tmp_path, here):
    folder = tmp_path / "venv"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", folder], check=True)
    inside = next(folder.glob("lib/python*/site-packages"))
    system = links(tmp_path / "system" / "site-packages")
    (inside / "system.pth").write_text(f"{system}\n")
    assert identities(tmp_path, python=folder / "bin" / "python") == here


def test_a_package_installed_for_editing_is_ones_own(tmp_path):
    """Its source tree holds what its build left, and the installer lists a pointer to it."""
    tree = tmp_path / "src"
    (tree / "editable_tool").mkdir(parents=True)
    (tree / "editable_tool" / "__init__.py").write_text("def f(x):\n    return x\n")
    (tree / "editable_tool.egg-info").mkdir()
    (tree / "editable_tool.egg-info" / "top_level.txt").write_text("editable_tool\n")
    assert not is_library_file(str(tree / "editable_tool" / "__init__.py"))
    target = tmp_path / "target"  # as ``pip install --target`` leaves it
    (target / "editable_tool-1.dist-info").mkdir(parents=True)
    (target / "editable_tool-1.dist-info" / "RECORD").write_text("editable_tool/__init__.py,,\n")
    assert is_library_file(str(target / "editable_tool" / "other.py"))
    assert not is_library_file(str(target / "beside.py"))


def test_modules_of_python_and_of_nobody():
    assert all(map(is_library, ["json", "builtins", "sys", "collections.abc", "numpy.linalg"]))
    assert not any(map(is_library, ["__main__", "not_there_at_all", "<run_path>"]))


def test_versions_are_those_of_all_that_is_required():
    found = versions_of(["sklearn", "not_there_at_all"])
    assert {"scikit-learn", "numpy", "scipy", "joblib", "threadpoolctl"} <= set(found)
    assert "pytest" not in found  # an extra of scikit-learn
    assert found["scikit-learn"] == installed_version("scikit-learn") == version("scikit-learn")
    assert installed_version("not-there-at-all") is None

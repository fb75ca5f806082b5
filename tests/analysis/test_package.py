"""The package: every public name is there, and heavy packages wait until they are needed."""

import importlib
import subprocess
import sys

import pytest
from everything import PACKAGES, names_of

import mlaut.analysis

HEAVY = ("matplotlib", "sklearn", "scipy.stats", "scikit_posthocs", "statsmodels")


PUBLIC = [(package, name) for package in PACKAGES for name in names_of(package)]


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_every_public_name_is_there_and_documented(package, name):
    value = getattr(package, name)
    assert name in dir(package)
    if callable(value):
        assert value.__doc__


def test_each_name_has_one_home_and_the_front_fits_a_screen():
    names = [name for _, name in PUBLIC]
    assert len(names) == len(set(names))
    assert len(mlaut.analysis.__all__) <= 60


def test_a_name_of_a_room_can_be_imported_from_above():
    from mlaut.analysis.methods.cross_validation import cv_test

    assert mlaut.analysis.cv_test is cv_test


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'anova'"):
        _ = mlaut.analysis.anova


def _loaded_after(code):
    show = f"import sys; {code}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", show], capture_output=True, text=True, check=True
    ).stdout.split()


def test_importing_it_loads_nothing_heavy():
    assert _loaded_after("import mlaut.analysis") == []


def test_the_first_screen_of_a_table_loads_nothing_heavy():
    code = (
        "import numpy as np, pandas as pd; from mlaut.report import make_report; "
        "table = pd.DataFrame(np.arange(36.0).reshape(12, 3) % 7 / 7, columns=list('ABC')); "
        "str(make_report(table, 'accuracy'))"
    )
    assert _loaded_after(code) == []


def test_a_comparison_loads_no_learners():
    code = (
        "import pandas as pd; from mlaut.analysis import AnalyseResults; "
        "AnalyseResults().compare({'A': [.1, .2, .3], 'B': [.2, .4, .5]})"
    )
    assert "sklearn" not in _loaded_after(code)


def test_no_function_has_the_name_of_its_module():
    """Else ``from mlaut.analysis import x`` would give one or the other, by what ran before."""
    for package, name in PUBLIC:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"{package.__name__}.{name}")

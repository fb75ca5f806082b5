"""The package: every public name is there, and heavy packages wait until they are needed."""

import importlib
import subprocess
import sys

import pytest

import mlaut.analysis

HEAVY = ("matplotlib", "sklearn", "scipy.stats", "scikit_posthocs", "statsmodels")


@pytest.mark.parametrize("name", mlaut.analysis.__all__)
def test_every_public_name_is_there_and_documented(name):
    found = getattr(mlaut.analysis, name)
    assert name in dir(mlaut.analysis)
    if callable(found):
        assert found.__doc__


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


def test_a_comparison_loads_neither_figures_nor_learners():
    code = (
        "import pandas as pd; from mlaut.analysis import AnalyseResults; "
        "AnalyseResults().compare({'A': [.1, .2, .3], 'B': [.2, .4, .5]})"
    )
    assert set(_loaded_after(code)) <= {"scipy.stats"}


def test_no_function_has_the_name_of_its_module():
    """Else ``from mlaut.analysis import x`` would give one or the other, by what ran before."""
    for name in mlaut.analysis.__all__:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"mlaut.analysis.{name}")

"""Public names that are imported when they are first used."""

import importlib
import subprocess
import sys
from collections import OrderedDict

import pytest

import mlaut
import mlaut.analysis
from mlaut.analysis import methods
from mlaut.helpers.lazy import imported


def test_every_public_name_of_the_analysis_can_be_had_from_it():
    for room in map(importlib.import_module, (f"mlaut.analysis.{r}" for r in mlaut.analysis.ROOMS)):
        for name in room.__all__:
            assert callable(getattr(mlaut.analysis, name)) or getattr(room, name) is not None
            if room.__name__.startswith("mlaut.analysis.methods."):
                assert getattr(methods, name) is getattr(room, name)
    from mlaut.analysis import cv_test
    from mlaut.analysis.methods import cv_test as same
    from mlaut.analysis.methods import elo_ratings

    assert cv_test is same
    assert elo_ratings is mlaut.analysis.elo_ratings


def test_a_name_that_does_not_exist_is_none_of_a_room():
    with pytest.raises(AttributeError, match=r"'mlaut\.analysis' has no attribute 'cv_tests'"):
        mlaut.analysis.cv_tests  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from mlaut.analysis.methods import nothing  # noqa: F401


def test_only_classes_whose_modules_are_imported_are_looked_at():
    assert imported("collections.OrderedDict", "collections.Nothing") == (OrderedDict,)
    assert imported("no_such_package.Class") == ()


MODELS = (
    "import sys, mlaut.experiments.runs.orchestrator, mlaut.experiments.cells.fold_models\n"
    "import mlaut.estimators.catalogue.strategies\n"
    "rooms = ('ensemble', 'impute', 'linear_model', 'neighbors', 'semi_supervised', 'svm')\n"
    "print([x for x in rooms if f'sklearn.{x}' in sys.modules])"
)
READERS = (
    "import sys, mlaut.analysis, mlaut.report, mlaut.report.questions\n"
    "import mlaut.analysis.importers.asked\n"
    "mlaut.report.make_report, mlaut.analysis.QuestionError\n"
    "print([x for x in sys.modules if 'importers.grids' in x or 'scipy.sparse' in x])"
)


@pytest.mark.parametrize(
    "code", [MODELS, READERS], ids=["models, of a run", "readers of tables, of a report"]
)
def test_nothing_is_imported_that_is_not_needed(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"

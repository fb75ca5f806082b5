"""Modules of the user: the same file is the same code, and one that was edited is loaded again."""

import importlib
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from mlaut.errors import StrategyError
from mlaut.estimators import as_strategies
from mlaut.experiments.plans.entries import changed_parameters, strategy_entries
from mlaut.experiments.study_files.choices import own_strategies
from mlaut.identity import without_modules
from mlaut.identity.digests import digest

MINE = """
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

POWER = 2
GRID = {"power": [POWER]}
DATA = Path(__file__).parent / "data.csv"

def helper(y):
    return np.unique(y) ** POWER, GRID, DATA

class Slow(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = helper(y)
        return self

    def predict(self, X):
        return X

class Plain(GaussianNB):  # without a method of its own
    pass

strategies = {"slow": Slow(), "plain": Plain()}
if __name__ == "__main__":
    from mlaut.estimators import as_strategies
    print([one.fingerprint() for one in as_strategies(strategies)])
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file of strategies, in a folder from which it can be imported as well."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path / "its_mine.py"
    sys.modules.pop("its_mine", None)


def imported():
    return as_strategies(importlib.import_module("its_mine").strategies)


def test_a_file_is_the_same_code_however_it_is_loaded(file):
    file.write_text(MINE)
    of_import = [one.fingerprint() for one in imported()]
    assert [one.fingerprint() for one in as_strategies(own_strategies(file))] == of_import
    sys.modules.pop("its_mine")  # as in the process of a command
    assert [one.fingerprint() for one in as_strategies(own_strategies(file))] == of_import
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(of_import)
    file.write_text(MINE.replace("POWER = 2", "POWER = 3"))
    changed = [one.fingerprint() for one in as_strategies(own_strategies(file))]
    assert [a == b for a, b in zip(of_import, changed, strict=True)] == [False, True]


@pytest.mark.parametrize("stored_by", ["file", "import"])
def test_studies_with_names_of_modules_go_on(file, stored_by):
    file.write_text(MINE.replace(", DATA\n", "\n"))
    from_file, from_import = as_strategies(own_strategies(file)), imported()
    stored = []
    for one in from_file if stored_by == "file" else from_import:
        former = replace(one.identified(former=True), modules=frozenset()).identity
        stored.append(replace(strategy_entries([one])[0], identity=former))
    stored = [replace(one, fingerprint=digest(one.identity)) for one in stored]
    study = SimpleNamespace(strategies=stored)
    name = {"file": "<run_path>", "import": "its_mine"}[stored_by]
    assert f"{name}.helper" in stored[0].identity["reads"]
    same = from_file if stored_by == "file" else from_import
    now = strategy_entries(same, study)
    assert [one.is_same(other) for one, other in zip(now, stored, strict=True)] == [True, True]
    assert now[0].identity == stored[0].identity  # the study keeps what it has
    other = from_import if stored_by == "file" else from_file
    assert strategy_entries(other, study)[0].is_same(stored[0])
    file.write_text(MINE.replace(", DATA\n", "\n").replace("** POWER", "** POWER + 1"))
    changed = strategy_entries(as_strategies(own_strategies(file)), study)[0]
    assert not changed.is_same(stored[0])
    (what,) = changed_parameters(stored[0], changed)
    assert what.startswith("reads.helper.syntax: ")


def test_names_of_two_modules_stay_apart():
    reads = {"a.N": 1, "b.N": 2, "a.f": {"function": "a.f", "syntax": "x"}, "sklearn.N": 3}
    one = without_modules({"reads": reads}, {"a", "b"})
    assert one == {
        "reads": {"N": 1, "N (2)": 2, "f": {"function": "f", "syntax": "x"}, "sklearn.N": 3}
    }
    renamed = {key.replace("b.", "0."): value for key, value in reads.items()}
    assert without_modules({"reads": renamed}, {"a", "0"}) == one


@pytest.mark.parametrize(
    ("old", "new"),
    [("np.unique(y)", "np.sort(y)"), ("POWER = 2", "POWER = 3"), ("def helper(y)", "def other(y)")],
)
def test_a_module_that_was_edited_is_refused_until_it_is_loaded_again(file, old, new):
    file.write_text(MINE)
    slow, _ = imported()
    file.write_text(MINE.replace(old, new))
    reason = "strategy 'slow': the file of its_mine is not what this session has loaded of it"
    with pytest.raises(StrategyError, match=reason):
        slow.identified()
    file.write_text(MINE)
    slow.identified()
    file.write_text(MINE.replace("[POWER]", "[1]"))  # seen the second time alone
    with pytest.raises(StrategyError, match=r"importlib.reload it and make the strategy again"):
        slow.identified()
    importlib.reload(sys.modules["its_mine"])
    imported()[0].identified()


def test_what_says_nothing_may_change_and_a_patched_constant_may_not(file):
    file.write_text(MINE)
    slow, _ = imported()
    file.write_text(MINE.replace("def helper(y):", "# more\n\ndef helper(y):  # a helper"))
    before = slow.fingerprint()
    file.write_text(MINE)
    assert slow.fingerprint() == before
    sys.modules["its_mine"].POWER = 5  # processes of a run read the file
    with pytest.raises(StrategyError, match="the file of its_mine is not"):
        slow.identified()

"""What an object is, in plain JSON values."""

import functools
import json
import re
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.errors import StrategyError
from mlaut.estimators.identity import canonical, digest, plain


def function(source, name="f", module="study"):
    """Compile a function as a user's module has it."""
    space = types.ModuleType(module)
    exec(compile(source, "study.py", "exec"), vars(space))
    return vars(space)[name]


def test_everything_is_plain_json_without_addresses():
    value = [
        SVC(kernel=lambda a, b: a @ b.T),
        BaggingClassifier(DecisionTreeClassifier(), random_state=np.random.RandomState(0)),
        FunctionTransformer(np.log1p),
        KFold(3, shuffle=True),
        np.random.default_rng(0),
        {1: {2.5, float("nan")}, None: b"x"},
        np.array([[1, 2]]),
        np.array(["a", None], dtype=object),
        pd.DataFrame({"a": [1]}),
        functools.partial(np.power, 2),
        range(3),
        np.float32(0.5),
        "".join,
        int,
    ]
    text = json.dumps(canonical(value), allow_nan=False)
    assert not re.search(r"0x[0-9a-f]{6}", text)
    assert json.loads(text) == canonical(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], (1, 2)),
        ([0, 1, 2], range(3)),
        ([0.5, 1.0], np.array([0.5, 1.0])),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1, 2, 3}, frozenset([3, 2, 1])),
        (SVC(C=1), SVC(C=1, verbose=True)),
        (BaggingClassifier(n_jobs=2), BaggingClassifier(n_jobs=None)),
        (np.random.RandomState(1), np.random.RandomState(1)),
    ],
)
def test_the_same_content_is_the_same(one, other):
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", 1),
        (SVC(), SVC(C=2)),
        (SVC(), DecisionTreeClassifier()),
        (KFold(3), KFold(4)),
        (BaggingClassifier(SVC(C=1)), BaggingClassifier(SVC(C=2))),
        (np.zeros((2, 2)), np.zeros((4, 1))),
        (np.arange(2000), np.arange(1, 2001)),
        (pd.Series([1, 2]), pd.Series([2, 1])),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
        (np.random.RandomState(1), np.random.RandomState(2)),
        (functools.partial(pow, 2), functools.partial(pow, 3)),
    ],
)
def test_other_content_is_not(one, other):
    assert digest(one) != digest(other)


SOURCE = "def f(x, power=2):\n    return [y for y in x if y ** power > 3]\n"


@pytest.mark.parametrize(
    "same",
    [
        "# why\n\n\n" + SOURCE,
        SOURCE.replace("    return", "    # a comment\n    return"),
        SOURCE.replace("    return", '    """Words."""\n    return'),
    ],
)
def test_a_comment_changes_nothing(same):
    assert digest(function(same)) == digest(function(SOURCE))


@pytest.mark.parametrize(
    "changed",
    [
        SOURCE.replace("3", "4"),
        SOURCE.replace("power=2", "power=3"),
        SOURCE.replace(">", "<"),
        SOURCE.replace("return [", "return abs([").replace("]", "])"),
    ],
)
def test_other_code_is_another_function(changed):
    assert digest(function(changed)) != digest(function(SOURCE))


def test_what_a_function_took_along_counts():
    source = "def make(n):\n    def f(x):\n        return x + n\n    return f\n"
    make = function(source, "make")
    assert digest(make(1)) == digest(make(1)) != digest(make(2))


def test_a_function_may_hold_itself():
    source = "def make():\n    def f(x):\n        return f(x - 1)\n    return f\n"
    assert digest(function(source, "make")()) == digest(function(source, "make")())


CLASS = """
from sklearn.base import BaseEstimator

class Mine(BaseEstimator):
    def fit(self, X, y):
        return self

    @property
    def answer(self):
        return 42

    @staticmethod
    def rule(x):
        return super
"""


def test_the_methods_of_a_class_of_ones_own_count():
    one = digest(function(CLASS, "Mine")())
    assert (
        digest(function(CLASS.replace("return self", "# yes\n        return self"), "Mine")())
        == one
    )
    for old, new in [("return self", "return None"), ("42", "43"), ("super", "None")]:
        assert digest(function(CLASS.replace(old, new), "Mine")()) != one


def test_a_list_that_holds_itself_has_an_end():
    endless = [1]
    endless.append(endless)
    assert canonical(endless) == [1, {"again": 1}]


def test_an_object_that_cannot_be_read_is_refused():
    with pytest.raises(
        StrategyError, match=r"a _io.TextIOWrapper in the parameters .* by its content"
    ):
        canonical(sys.__stdout__)


def test_the_digest_is_the_same_in_another_process():
    code = (
        "from sklearn.svm import SVC; from mlaut.estimators.identity import digest; "
        "print(digest([SVC(C=3), {'b', 'a', 'c'}, len, {1.5: None}]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest([SVC(C=3), {"b", "a", "c"}, len, {1.5: None}])


def test_plain_values_are_for_reading():
    given = {"a": np.int64(1), "b": (np.nan, None), "c": SVC(C=2), "d": np.mean, 1: np.arange(2)}
    assert plain(given) == {"a": 1, "b": ["nan", None], "c": "SVC(C=2)", "d": "mean", "1": [0, 1]}

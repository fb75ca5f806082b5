"""What an object is, in plain JSON values."""

import functools
import importlib.util
import json
import linecache
import re
import subprocess
import sys
import types
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mlaut.errors import StrategyError
from mlaut.identity.digests import canonical, describe, digest, plain


def module(source, name="study"):
    """Run a source as a module of the user's own, which is found as a cell of a notebook is."""
    file, space = f"<source {abs(hash(source))}>", types.ModuleType(name)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), vars(space))
    return space


def function(source, name="f"):
    """Return a function, or a class, of a module of the user's own."""
    return vars(module(source))[name]


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


def test_a_class_that_was_read_from_a_pickle_is_the_same(monkeypatch):
    """As in a script whose strategy ran in its own process: engine="inline"."""
    space = module(CLASS, "script_of_a_user")
    monkeypatch.setitem(sys.modules, "script_of_a_user", space)
    cloudpickle.register_pickle_by_value(space)
    before = canonical(space.Mine())
    assert "BaseEstimator" in before["reads"]
    cloudpickle.loads(cloudpickle.dumps(space.Mine()))
    assert canonical(space.Mine()) == before
    cloudpickle.unregister_pickle_by_value(space)


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
        "from sklearn.svm import SVC; from mlaut.identity.digests import digest; "
        "print(digest([SVC(C=3), {'b', 'a', 'c'}, len, {1.5: None}]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest([SVC(C=3), {"b", "a", "c"}, len, {1.5: None}])


def test_plain_values_are_for_reading():
    given = {"a": np.int64(1), "b": (np.nan, None), "c": SVC(C=2), "d": np.mean, 1: np.arange(2)}
    assert plain(given) == {"a": 1, "b": ["nan", None], "c": "SVC(C=2)", "d": "mean", "1": [0, 1]}


# ------------------------------------------------------- what code reads from outside

CALLS = """
import numpy as np
from functools import lru_cache, partial, singledispatch

POWER = 2
GRID = {"C": [1, POWER]}
SCALE = np.array([1.0, 2.0])

def base(x):
    return x ** POWER

def above(x):
    return base(x) + 1

def decorated(f):
    def inner(x):
        return f(x) * 2
    return inner

@lru_cache
def cached(x):
    return above(x)

class Tool:
    size = POWER
    def use(self, x):
        return above(x)

class Better(Tool):
    def other(self):
        return 1

tool = Better()
pair = [lambda x: x, lambda x: base(x)]
choice = {"a": partial(above)}

@decorated
def f(x): return SCALE

@singledispatch
def one(x): return 1

@one.register
def _(x: int): return base(x)

def g(x): return cached(x) + choice["a"](x) + tool.use(x)

def h(x, rule=GRID["C"]):
    return [pair[1](y) for y in x]

def inside():
    from collections import Counter
    def deeper():
        return base(1), Counter
    return deeper
"""


@pytest.mark.parametrize(
    ("old", "new", "noticed"),
    [
        ("POWER = 2", "POWER = 3", "ghio"),
        ("return x ** POWER", "return POWER ** x", "ghio"),
        ("base(x) + 1", "base(x) + 2", "g"),
        ("f(x) * 2", "f(x) * 3", "f"),
        ("[1.0, 2.0]", "[1.0, 3.0]", "f"),
        ("size = POWER", "size = 1", "g"),
        ("lambda x: base(x)", "lambda x: base(x) + 1", "h"),
        ("partial(above)", "partial(base)", "g"),
        ('"C": [1', '"C": [2', "h"),
        ("def base(x):", "def base(x):\n    # why\n    'doc'", ""),
        ("import numpy as np", "import numpy as np\n\nUNREAD = 1", ""),
    ],
)
def test_what_a_function_reads_from_its_module_counts(old, new, noticed):
    """The function itself is the same each time: only what it calls or reads changes."""
    assert old in CALLS
    names = {"f": "f", "g": "g", "h": "h", "i": "inside", "o": "one"}
    before, after = module(CALLS), module(CALLS.replace(old, new))
    changed = {
        short
        for short, name in names.items()
        if digest(getattr(before, name)) != digest(getattr(after, name))
    }
    assert changed == set(noticed)


def test_what_is_read_has_names_and_values():
    reads = describe(function(CALLS, "h")).reads
    assert list(reads) == ["study.GRID", "study.POWER", "study.base", "study.pair"]
    assert reads["study.GRID"] == {"C": [1, 2]}
    assert reads["study.POWER"] == 2


def test_the_keys_of_a_pattern_are_read_and_its_captures_are_not():
    source = (
        "class Keys:\n    first = 'a'\n"
        "found = rest = 1\n"
        "def f(x):\n    match x:\n        case {Keys.first: found, **rest}:\n"
        "            return found, rest\n"
    )
    assert list(describe(function(source)).reads) == ["study.Keys"]


def test_modules_of_ones_own_are_followed_and_libraries_are_not(tmp_path, monkeypatch):
    (tmp_path / "own_helpers.py").write_text("LEVEL = 1\ndef helper(x):\n    return x + LEVEL\n")
    monkeypatch.syspath_prepend(tmp_path)
    source = (
        "import own_helpers as own\nimport numpy as np\n"
        "def f(x): return own.helper(x) + np.log(x)\n"
        "def g(x):\n    from own_helpers import helper as h\n    return h(x)\n"
        "def k(x): return getattr(own, x)\n"
    )
    try:
        both = {"own_helpers.LEVEL", "own_helpers.helper"}
        assert set(describe(function(source)).reads) == both | {"study.np"}
        assert describe(function(source)).libraries == {"numpy"}
        assert set(describe(function(source, "g")).reads) == both
        assert describe(function(source, "k")).unseen == (
            "study.own: the names that are read from this module are not known",
        )
    finally:
        sys.modules.pop("own_helpers", None)


def test_where_it_cannot_look_is_told(tmp_path):
    space = {"__name__": "study"}
    exec("def f(x): return g(x)\ndef g(x): return x", space)  # as typed in: no source
    assert describe(space["f"]).unseen == tuple(
        f"study.{name}: its source is not there; what it was compiled to is compared, and that is "
        "another in another Python"
        for name in "fg"
    )
    with (tmp_path / "open").open("w") as file:
        source = "def make(file):\n    return lambda x: file.write(x)\n"
        assert describe(function(source, "make")(file)).unseen == (
            "study.make.<locals>.<lambda>: file: the content of a _io.TextIOWrapper cannot be read",
        )
    source = "import random\nrng = random.Random(0)\ndef f(): return rng.random()\n"
    assert describe(function(source)).unseen == (
        "study.rng: the state of a random generator is not compared",
    )
    source = "from os import environ\ndef f(): return environ['HOME']\n"
    assert describe(function(source)).unseen == ("study.environ: the environment is not compared",)
    assert describe(function(CALLS, "g")).unseen == ()


def test_a_file_that_changed_after_it_was_imported_is_not_taken_for_what_runs(tmp_path):
    file = tmp_path / "changing.py"
    space = {"__name__": "changing"}
    file.write_text("def f(x):\n    return x + 1\n")
    exec(compile(file.read_text(), str(file), "exec"), space)
    before = digest(space["f"])
    file.write_text("# longer\n\ndef f(x):\n    return x + 1\n")
    linecache.clearcache()
    assert digest(space["f"]) == before
    file.write_text("def f(x):\n    return x + 2\n")
    linecache.clearcache()
    (told,) = describe(space["f"]).unseen
    assert told.startswith("changing.f: its source is not there")


def test_a_path_below_the_folder_of_its_module_is_the_same_in_another_folder(tmp_path, monkeypatch):
    source = "from pathlib import Path\nTABLE = Path(__file__).parent / 'a.csv'\n"
    source += "def f(): return TABLE\n"
    found = []
    for folder in (tmp_path / "one", tmp_path / "other"):
        folder.mkdir()
        (folder / "own_paths.py").write_text(source)
        monkeypatch.syspath_prepend(folder)
        found.append(describe(importlib.import_module("own_paths").f).reads)
        del sys.modules["own_paths"]
    assert found == [{"own_paths.TABLE": "./a.csv"}] * 2


def load_sample():
    spec = importlib.util.spec_from_file_location(
        "syntax_sample", Path(__file__).with_name("syntax_sample.py")
    )
    sys.modules["syntax_sample"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["syntax_sample"])
    return sys.modules["syntax_sample"]


DIGESTS = {
    "two": "4226c147d3c1",
    "nested": "c0847c292d03",
    "nested(1)": "707f92aff370",
    "partial": "ccc6195227f9",
    "strings": "be1826a6b824",
    "numbers": "0d040f0cbbee",
    "helper": "4c0b629f4a01",
    "comprehensions": "2ff26f1957d5",
    "matching": "3813c7acba77",
    "waiting": "ada42a3cec00",
    "managed": "c51e76b566e2",
    "cached": "a7bc187faa59",
    "made": "66e63bf4761c",
    "made(3)": "5514f56efb41",
    "Base": "9c1f35f62c0b",
    "Base(1.0)": "f0d8df5a49a9",
    "Derived": "07a15221632f",
    "Record": "df5e861dbcf1",
    "Record('a', [1])": "94eb66667567",
    "Kind": "84159ee357df",
    "Kind.ONE": "db9b98b6965f",
    "Callable()": "413468d81107",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_every_python_reads_the_same(name):
    """Python 3.11, 3.12 and 3.13 were seen to give these; what they compile to differs."""
    value = eval(name, vars(load_sample()))
    assert describe(value).unseen == ()
    assert digest(value)[:12] == DIGESTS[name]


def test_distributions_of_scipy_are_recognised_by_their_content():
    from scipy.stats import loguniform, randint, rv_discrete, uniform

    assert digest(loguniform(1, 10)) == digest(loguniform(1, 10))
    drawn = loguniform(1, 10)
    drawn.rvs(5)  # changes the state of a generator
    assert digest(drawn) == digest(loguniform(1, 10))
    values = [loguniform(1, 10), loguniform(1, 11), randint(1, 10), uniform(1, 10), uniform]
    values += [rv_discrete(values=([1, 2], [0.5, 0.5])), rv_discrete(values=([1, 3], [0.5, 0.5]))]
    assert len({digest(value) for value in values}) == len(values)
    code = "from mlaut.identity.digests import digest; from scipy.stats import loguniform as f; "
    command = [sys.executable, "-c", f"{code}print(digest(f(1, 10)))"]
    other = subprocess.run(command, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(loguniform(1, 10))

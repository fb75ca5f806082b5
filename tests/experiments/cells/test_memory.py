"""Limits of time, and errors that say that an allocation failed or only say so."""

import errno
import subprocess
import sys
import types

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from mlaut.experiments.cells.memory import CpuSeconds, lacked_memory, parse_seconds


def caught(call, *args):
    try:
        call(*args)
    except Exception as error:
        return error
    raise AssertionError(f"{call} raised nothing")


class Fails(GaussianNB):
    """Raises what it is given when it is fitted."""

    def __init__(self, error=None):
        super().__init__()
        self.error = error

    def fit(self, X, y):
        raise self.error


def searched(error):
    """Return what scikit-learn raises where all fits of a search raise an error."""
    search = GridSearchCV(Fails(), {"error": [error]}, cv=2)
    return caught(search.fit, np.zeros((4, 1)), [0, 1, 0, 1])


def of_library(name, package, text):
    return type(name, (Exception,), {"__module__": package})(text)


def raised_in(package, error):
    """Return an error after code of a package has raised it."""
    module = types.ModuleType(package)
    exec("def fail(error):\n    raise error", vars(module))
    return caught(module.fail, error)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        caught(np.empty, 2**50),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        of_library("XGBoostError", "xgboost.core", "std::bad_alloc"),
        of_library("OutOfMemoryError", "torch", "CUDA out of memory. Tried to allocate 2 GiB"),
        of_library("ResourceExhaustedError", "tensorflow.python.framework.errors_impl", "OOM"),
        raised_in("torch.nn.functional", RuntimeError("CUDA error: out of memory")),
        RuntimeError("[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried"),
        searched(MemoryError("no room")),
        searched(of_library("XGBoostError", "xgboost.core", "std::bad_alloc")),
    ],
    ids=repr,
)
def test_a_failed_allocation_is_known(error):
    assert lacked_memory(error)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("out of memory"),
        RuntimeError("Out of memory: std::bad_alloc, MemoryError"),
        OSError(errno.EACCES, "out of memory"),
        of_library("OutOfMemoryError", "mine", "out of memory"),
        of_library("XGBoostError", "xgboost.core", "Check failed: labels"),
        searched(ValueError("out of memory")),
    ],
    ids=repr,
)
def test_an_error_that_only_says_so_is_an_error(error):
    assert not lacked_memory(error)


@pytest.mark.parametrize("text", ["10m cpu", "600 CPU", "0.1666666666666666666 h cpu", "600cpu"])
def test_the_word_cpu_makes_a_limit_of_cpu_time(text):
    limit = parse_seconds(text)
    assert isinstance(limit, CpuSeconds)
    assert limit == pytest.approx(600)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a cell")
def test_what_pyarrow_reserves_is_not_memory_of_a_cell():
    pytest.importorskip("pyarrow")
    code = (
        "import numpy, pyarrow\n"
        "from mlaut.experiments.cells.memory import limited_memory\n"
        "with limited_memory(1100 * 2**20):\n"
        "    texts, numbers = pyarrow.array(['a']), numpy.empty(500 * 2**20, dtype='u1')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")

"""Start of keras: choice of the backend, number of threads, and cache of compiled networks.

A backend reads its settings once, when it starts. `start_keras` sets them only for that moment, so
every import of keras by MLaut goes through it.
"""

import contextlib
import gc
import itertools
import os
import random
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np

from mlaut.helpers.optional import changed, need

BACKENDS = ("jax", "torch", "tensorflow")
"""Backends in order of preference; `docs/networks.md` has the measurements."""

SHAPES_KEPT = 16
"""Number of fits after which jax drops compiled networks; the compilation cache still has them."""


def choose_backend() -> str:
    """Return the backend that keras will use, and set ``KERAS_BACKEND`` before keras is imported.

    The backend is ``KERAS_BACKEND`` if it is set, otherwise the first of jax, torch and tensorflow
    that is installed. The file ``keras.json`` is not used: keras itself writes TensorFlow into it,
    installed or not, so it does not show what a user chose.
    """
    if keras := sys.modules.get("keras"):
        return str(keras.config.backend())
    chosen = os.environ.get("KERAS_BACKEND")
    if not chosen:
        chosen = next((name for name in BACKENDS if find_spec(name)), BACKENDS[0])
        os.environ["KERAS_BACKEND"] = chosen
    return chosen


def start_keras(threads: int = 1) -> ModuleType:
    """Import keras, start its backend with a limited number of threads, and return keras.

    Parameters
    ----------
    threads : int, default 1
        Number of threads. jax and TensorFlow keep the number of the first call in a process; torch
        uses the number of the latest call.

    Raises
    ------
    OptionalPackageError
        Keras is not installed, or no backend is.
    """
    backend = choose_backend()
    own_choice = [] if any(map(find_spec, BACKENDS)) else [BACKENDS[0]]
    need("keras", *own_choice, extra="keras", purpose="A neural network")
    with changed(
        os.environ,
        NPROC=str(threads),  # size of XLA's thread pool on CPUs
        TF_NUM_INTRAOP_THREADS=str(threads),
        TF_NUM_INTEROP_THREADS=str(threads),
        # By default, the first process would reserve three quarters of the GPU's memory.
        # On a GPU, jax would time several kernels for each shape and keep the fastest: for up to
        # three quarters of a minute, and with other bits where another one wins.
        XLA_FLAGS=os.environ.get("XLA_FLAGS", "--xla_gpu_deterministic_ops=true"),
        XLA_PYTHON_CLIENT_PREALLOCATE=os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
    ):
        keras = import_module("keras")
        if backend in _STARTERS:
            _STARTERS[backend](threads)
    return keras


def _start_jax(_: int) -> None:
    jax = import_module("jax")
    if jax.config.jax_compilation_cache_dir is None and (folder := compilation_cache()):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.devices()  # starts the backend


def _start_tensorflow(_: int) -> None:
    import_module("tensorflow").constant(0)  # starts the backend


def _start_torch(threads: int) -> None:
    import_module("torch").set_num_threads(threads)


_STARTERS = {"jax": _start_jax, "tensorflow": _start_tensorflow, "torch": _start_torch}


def forget_earlier_networks() -> None:
    """Free the networks of earlier fits, and every `SHAPES_KEPT` fits the caches of jax.

    A network refers to itself, so only the garbage collector frees it. jax would keep half a
    megabyte for each new shape that it is trained on.
    """
    gc.collect()
    if next(_fits) % SHAPES_KEPT == 0 and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


_fits = itertools.count(1)


def compilation_cache() -> Path | None:
    """Return the folder in which jax caches compiled networks, or None if it is not writable.

    The cache ensures that each shape is compiled once per machine. The folder is
    ``~/.cache/mlaut/jax``, or below ``XDG_CACHE_HOME``; ``JAX_COMPILATION_CACHE_DIR`` takes
    precedence. The folder can be deleted at any time.
    """
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "mlaut" / "jax"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@contextlib.contextmanager
def seeded(keras: ModuleType, seed: int) -> Iterator[None]:
    """Seed everything random in keras; restore Python's and NumPy's global states at the end."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    keras.utils.set_random_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings of keras and its backends that a user cannot act on."""
    below = r"(keras|jax|torch|tensorflow)\b"
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category, module=below)
        warnings.filterwarnings("ignore", message="Error .* persistent compilation cache")
        warnings.filterwarnings("ignore", message="You are using a softmax")  # over a single class
        yield

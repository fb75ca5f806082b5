"""Start keras: which backend, with how many threads, and where compiled networks are kept.

A backend reads its settings once, when it starts. So they are set here, for that moment only, and
every import of keras by MLaut goes through `start_keras`.
"""

from __future__ import annotations

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

from mlaut.optional import need

__all__ = [
    "choose_backend",
    "compilation_cache",
    "forget_earlier_networks",
    "quiet",
    "seeded",
    "start_keras",
]

BACKENDS = ("jax", "torch", "tensorflow")
"""In the order in which they are taken; `docs/networks.md` has the measurements."""

SHAPES_KEPT = 16
"""Fits after which jax forgets what it compiled; it is read again from the compilation cache."""


def choose_backend() -> str:
    """Name the backend that keras will use, and tell keras before anything imports it.

    ``KERAS_BACKEND`` decides; without it the first of jax, torch and tensorflow that is installed.
    (Keras itself would take TensorFlow, installed or not, and write that into ``keras.json``, so
    that file cannot tell what somebody chose.)
    """
    if keras := sys.modules.get("keras"):
        return str(keras.config.backend())
    chosen = os.environ.get("KERAS_BACKEND")
    if not chosen:
        chosen = next((name for name in BACKENDS if find_spec(name)), BACKENDS[0])
        os.environ["KERAS_BACKEND"] = chosen
    return chosen


def start_keras(threads: int = 1) -> ModuleType:
    """Import keras, its backend started with bounded threads.

    Parameters
    ----------
    threads : int, default 1
        jax and TensorFlow keep what they were first started with; torch follows each call.

    Raises
    ------
    OptionalPackageError
        Keras is not installed, or no backend is.
    """
    backend = choose_backend()
    own_choice = [] if any(map(find_spec, BACKENDS)) else [BACKENDS[0]]
    need("keras", *own_choice, extra="keras", purpose="A neural network")
    with _environment(
        NPROC=str(threads),  # the pool of XLA on processors
        TF_NUM_INTRAOP_THREADS=str(threads),
        TF_NUM_INTEROP_THREADS=str(threads),
        # Else the first process takes three quarters of a GPU.
        XLA_PYTHON_CLIENT_PREALLOCATE=os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
    ):
        keras = import_module("keras")
        _STARTERS.get(backend, lambda _: None)(threads)
    return keras


def _start_jax(_: int) -> None:
    jax = import_module("jax")
    if jax.config.jax_compilation_cache_dir is None and (folder := compilation_cache()):
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.devices()  # starts it


def _start_tensorflow(_: int) -> None:
    import_module("tensorflow").constant(0)  # starts it


def _start_torch(threads: int) -> None:
    import_module("torch").set_num_threads(threads)


_STARTERS = {"jax": _start_jax, "tensorflow": _start_tensorflow, "torch": _start_torch}


def forget_earlier_networks() -> None:
    """Free the networks of earlier fits, and now and then what jax keeps of their shapes.

    A network refers to itself, so that only the garbage collector frees it; and jax would keep
    half a megabyte of each new shape that it is trained on.
    """
    gc.collect()
    if next(_fits) % SHAPES_KEPT == 0 and "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


_fits = itertools.count(1)


def compilation_cache() -> Path | None:
    """Where jax keeps compiled networks, so that each shape is compiled once a machine.

    ``~/.cache/mlaut/jax``, or below ``XDG_CACHE_HOME``; ``JAX_COMPILATION_CACHE_DIR`` goes before
    it. It can be deleted at any time. None where it cannot be written.
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
    """Draw everything random in keras from a seed, and leave Python's and NumPy's states alone."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    keras.utils.set_random_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hush what the packages below warn one another of, and what needs no action."""
    below = r"(keras|jax|torch|tensorflow)\b"
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=category, module=below)
        warnings.filterwarnings("ignore", message="Error .* persistent compilation cache")
        warnings.filterwarnings("ignore", message="You are using a softmax")  # of a single class
        yield


@contextlib.contextmanager
def _environment(**settings: str) -> Iterator[None]:
    """Set variables for a while."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

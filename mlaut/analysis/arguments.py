"""Whether arguments are what they must be: one rule for each name, the same in every function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from mlaut.analysis.results import Results
from mlaut.errors import AnalysisError

__all__ = ["check", "floats"]


def check(**given: Any) -> None:
    """Raise `AnalysisError` for an argument that breaks the rule of its name.

    Examples
    --------
    >>> check(confidence=0.95, alpha=0.05)
    >>> check(confidence=95)
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: confidence = 95 is not between 0 and 1, for example 0.95
    """
    for name, value in given.items():
        _RULES[name](name, value)


def floats(name: str, values: Any) -> np.ndarray:
    """Return numbers as an array of floats, or raise `AnalysisError` for what is no real number.

    Examples
    --------
    >>> floats("differences", [1, 2])
    array([1., 2.])
    >>> floats("differences", [1j])
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: differences must be real numbers, and hold complex128
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise AnalysisError(f"{name} must be an array of numbers: {one_line(error)}") from None
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise AnalysisError(f"{name} has masked values, and each of them counts: make them NaN")
    if array.dtype.kind in "biuf":
        return array.astype(float, copy=False)
    if array.dtype.kind != "O" or not all(map(_is_number, array.ravel())):
        held = type(values).__name__ if array.ndim == 0 else str(array.dtype)
        raise AnalysisError(f"{name} must be real numbers, and hold {held}")
    return array.astype(float)


def one_line(error: Exception) -> str:
    """Return what another package's error says, in one line."""
    return " ".join(str(error).split())


# ----------------------------------------------------------------------- rules


def _results(_: str, value: Any) -> None:
    if not isinstance(value, Results):
        raise AnalysisError(
            f"{type(value).__name__} does not say which metric it has, nor whether more is better: "
            "make it Results.from_table(table, metric='accuracy'), with greater_is_better= for a "
            "metric of your own, or Results.from_study(study, 'accuracy')"
        )


def _share(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 < value < 1:
        example = 0.95 if name == "confidence" else 0.8 if name == "power" else 0.05
        raise AnalysisError(f"{name} = {value!r} is not between 0 and 1, for example {example:g}")


def _shares(name: str, values: Any) -> None:
    if isinstance(values, str) or not isinstance(values, Iterable) or not list(values):
        raise AnalysisError(f"{name} = {values!r}: give numbers between 0 and 1, such as [0.05]")
    for value in values:
        _share(name, value)


def _size(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 <= value < np.inf:
        raise AnalysisError(f"{name} = {value!r} is not a number of 0 or more")


def _positive(name: str, value: Any) -> None:
    if not _is_number(value) or not 0 < value < np.inf:
        raise AnalysisError(f"{name} = {value!r} is not a positive number")


def _counts_from(least: int) -> Callable[[str, Any], None]:
    def rule(name: str, value: Any) -> None:
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise AnalysisError(f"{name} = {value!r} is not a whole number of {least} or more")

    return rule


def _seed(name: str, value: Any) -> None:
    if not isinstance(value, np.random.SeedSequence):
        _counts_from(0)(name, value)


def _yes_or_no(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise AnalysisError(f"{name} = {value!r} is neither True nor False")


def _pair(name: str, value: Any) -> None:
    if isinstance(value, str) or not isinstance(value, Iterable) or len(list(value)) != 2:
        raise AnalysisError(f"{name} = {value!r} are not two names, such as ('A', 'B')")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


_RULES: dict[str, Callable[[str, Any], None]] = {
    "results": _results,
    **dict.fromkeys(("alpha", "confidence", "delta", "level", "power"), _share),
    "levels": _shares,
    **dict.fromkeys(("between", "rope", "within"), _size),
    **dict.fromkeys(("difference", "prior", "sd"), _positive),
    **dict.fromkeys(("n_datasets", "n_repetitions", "folds", "repeats"), _counts_from(1)),
    "n_strategies": _counts_from(2),
    "n_samples": _counts_from(0),
    "seed": _seed,
    **dict.fromkeys(("as_scores", "greater_is_better", "ties"), _yes_or_no),
    "strategies": _pair,
}

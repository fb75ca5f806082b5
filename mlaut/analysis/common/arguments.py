"""Checks of arguments: the annotation of an argument says what it takes, and `checked` keeps to it.

Functions that users call are decorated with `checked`. A type that Python has no word for has one
here, such as `Share`. What else a function asks of its arguments, it checks itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from mlaut.errors import AnalysisError, check_options, nearest, some_of

_LARGEST_FIGURE = 200  # inches; at 300 dots an inch matplotlib draws at most 218
LARGEST = 2**31 - 1  # largest whole number: numpy accepts it, and no computation needs more

OWN_ERRORS = partial(np.errstate, divide="warn", over="warn", under="ignore", invalid="warn")
"""NumPy's error state as it is without `numpy.seterr`: a number may be too small to be told from 0.

It is entered here for all functions of the analysis, so that a session that has numpy raise
everything (``np.seterr(all="raise")``) gets their results.
"""

P = ParamSpec("P")
T = TypeVar("T")
Rule = Callable[[str, Any], Any]

# types of arguments, with what help() says of them
Share = Annotated[float, "between 0 and 1"]
NotNegative = Annotated[float, "0 or more"]
Prior = Annotated[float, "weight, 0 or more"]
PositivePrior = Annotated[float, "weight above 0"]
Positive = Annotated[int, "1 or more"]
Count = Annotated[int, "0 or more"]
Seed = Annotated[int, "seed, 0 or more"]
Pair = Annotated[Sequence[str], "two names"]
Size = Annotated[tuple[float, float], "inches"]


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that an argument that is not what its annotation says is refused.

    The function computes with NumPy's own error state (`OWN_ERRORS`).

    Examples
    --------
    >>> @checked
    ... def half_width(confidence: Share):
    ...     return confidence / 2
    >>> half_width(95)
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: confidence = 95 is not between 0 and 1, for example 0.95
    """
    takes = signature(function, eval_str=True)
    found = {name: _rule_of(each.annotation) for name, each in takes.parameters.items()}
    rules = {name: rule for name, rule in found.items() if rule}

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        check_options(function.__name__, list(takes.parameters), kwargs, AnalysisError)
        try:
            given = takes.bind(*args, **kwargs)
        except TypeError:  # Python says best what is lacking
            return function(*args, **kwargs)
        for name, rule in rules.items():
            if name in given.arguments:
                given.arguments[name] = rule(name, given.arguments[name])
        with OWN_ERRORS():
            return function(*given.args, **given.kwargs)

    return wrapper


def floats(name: str, values: Any) -> np.ndarray:
    """Return numbers as an array of floats; raise `AnalysisError` if one is not a real number.

    Examples
    --------
    >>> floats("differences", [1, 2])
    array([1., 2.])
    >>> floats("differences", [1j])
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: differences must be real numbers, and there are complex128
    """
    if np.ma.is_masked(values):
        raise AnalysisError(f"{name} has masked values: replace them by NaN")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise AnalysisError(f"{name} is not an array of numbers: {one_line(error)}") from None
    if array.dtype.kind in "biuf":
        return array.astype(float, copy=False)
    if array.dtype.kind != "O" or not all(map(_is_number, array.flat)):
        there = f"is {shown(values)}" if array.ndim == 0 else f"there are {array.dtype}"
        raise AnalysisError(f"{name} must be real numbers, and {there}")
    return array.astype(float)


def one_of(word: str, value: Any, known: Iterable[str]) -> str:
    """Return an option; raise `AnalysisError` with the nearest ones if it is not known.

    Examples
    --------
    >>> one_of("method", "exakt", ("auto", "exact", "normal"))
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: method 'exakt' is not known; did you mean 'exact'?
    """
    known = tuple(known)
    if any(isinstance(value, type(each)) and value == each for each in known):
        return str(value)
    words = [name for name in known if len(name) > 3]  # any two short names are near each other
    hint = nearest(value, words) or f"; one of {', '.join(map(repr, filter(None, known)))}"
    raise AnalysisError(f"{word} {shown(value)} is not known{hint}")


def one_line(error: Exception) -> str:
    """Return the message of another package's error in one line."""
    return " ".join(str(error).split())


def shown(value: Any) -> str:
    """Return a value as text for an error message: one line of at most 60 characters.

    Examples
    --------
    >>> shown("A"), shown(np.eye(2))
    ("'A'", 'array([[1., 0.], [0., 1.]])')
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


# ----------------------------------------------------------------------- rules


def the_results(_: str, value: Any) -> Any:
    """Return `Results`, also those of a comparison."""
    if _is_a("Comparison", value):
        value = value.results
    if _is_a("Results", value):
        return value
    raise AnalysisError(
        f"{type(value).__name__} does not say whether more is better, nor what its scores are: "
        "make it read_results(scores, metric='accuracy') of mlaut.analysis, with "
        "greater_is_better= for a metric of your own, or Results.from_study(study, 'accuracy')"
    )


def _is_a(kind: str, value: Any) -> bool:
    """Return whether a value is an instance of the class with this name, without importing it."""
    return any(base.__name__ == kind for base in type(value).__mro__)


def _instance(kind: str, maker: str, name: str, value: Any) -> Any:
    if not _is_a(kind, value):
        raise AnalysisError(f"{name} must be {maker}, not {type(value).__name__}")
    return value


def _require(holds: Any, name: str, value: Any, wrong: str) -> Any:
    """Return the value if something holds; else raise `AnalysisError` with what is wrong."""
    if not holds:
        raise AnalysisError(f"{name} = {shown(value)} {wrong}")
    return value


def share(name: str, value: Any) -> Any:
    """Require a number between 0 and 1."""
    example = {"confidence": 0.95, "power": 0.8}.get(name, 0.05)
    wrong = f"is not between 0 and 1, for example {example:g}"
    return _require(_is_number(value) and 0 < value < 1, name, value, wrong)


def real(name: str, value: Any) -> Any:
    """Require a number; the function itself checks its range."""
    _require(_is_number(value), name, value, "is not a number")
    if isinstance(value, Integral) and abs(int(value)) > LARGEST:  # numpy may not take it
        return float(value) if abs(int(value)) < 10**300 else np.inf
    return value


def prior(name: str, value: Any) -> Any:
    """Require a number of 0 or more that does not outweigh any data."""
    too_large = LARGEST < real(name, value) < np.inf
    _require(not too_large, name, value, "is too large: it would outweigh any data")
    return _require(0 <= value < np.inf, name, value, "must be 0 or a positive number")


def positive_prior(name: str, value: Any) -> Any:
    """Require a positive number that does not outweigh any data."""
    return _require(prior(name, value), name, value, "is not a positive number, such as 1")


def priors(name: str, values: Any, least: int, most: int) -> tuple[float, ...]:
    """Require ``least`` to ``most`` positive numbers."""
    values = tuple(each(positive_prior)(name, values))
    number = f"{least} to {most}" if least < most else f"{least}"
    wrong = f"are not {number} positive numbers"
    return _require(least <= len(values) <= most, name, values, wrong)


def whole(name: str, value: Any) -> Any:
    """Require a whole number; the function itself checks its range."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    _require(is_whole, name, value, "is not a whole number")
    return _require(int(value) <= LARGEST, name, value, f"is too large, above {LARGEST}")


def not_negative(name: str, value: Any) -> Any:
    """Require a finite number of 0 or more."""
    return _require(0 <= real(name, value) < np.inf, name, value, "is not a number of 0 or more")


def _at_least_one(name: str, value: Any) -> Any:
    return _require(whole(name, value) >= 1, name, value, "must be at least 1")


def count(name: str, value: Any) -> Any:
    """Require a whole number of 0 or more."""
    return _require(whole(name, value) >= 0, name, value, "is not a whole number of 0 or more")


def _seed(name: str, value: Any) -> Any:
    return value if isinstance(value, np.random.SeedSequence) else count(name, value)


def each(rule: Rule) -> Rule:
    """Return a rule that requires a list of values that ``rule`` allows."""

    def of_each(name: str, values: Any) -> Any:
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise AnalysisError(f"{name} = {shown(values)} is not a list")
        if np.ma.is_masked(values):
            raise AnalysisError(f"{name} has masked values")
        values = values if isinstance(values, tuple | list | np.ndarray) else list(values)
        for value in values:
            rule(name, value)
        return values

    return of_each


def _text(name: str, value: Any) -> Any:
    return _require(isinstance(value, str), name, value, "is not a name")


def yes_or_no(name: str, value: Any) -> Any:
    """Require True or False."""
    is_one = isinstance(value, bool | np.bool_)
    return _require(is_one, name, value, "is neither True nor False")


def names(name: str, value: Any) -> Any:
    """Return names as a list; any iterable of names is allowed, such as an array or a Series."""
    return list(each(_text)(name, value))


def _pair(name: str, value: Any) -> Any:
    both = names(name, value)
    are_two = len(both) == 2 and both[0] != both[1]
    _require(are_two, name, value, "are not two names, such as ('A', 'B')")
    return both


def _size(name: str, value: Any) -> Any:
    """Require the width and height of a figure."""
    pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(_is_number, value))
    fits = pair and all(0.5 <= side <= _LARGEST_FIGURE for side in value)
    wrong = f"is not a width and a height of 0.5 to {_LARGEST_FIGURE} inches, such as (7.5, 4)"
    return _require(fits, name, value, wrong)


def _series(name: str, value: Any) -> Any:
    if not _is_a("Series", value):
        raise AnalysisError(f"{name} must be a Series by strategy, not {type(value).__name__}")
    floats(name, value.to_numpy())
    return value


def _function(name: str, value: Any) -> Any:
    return _require(callable(value), name, value, "is not a function")


def mapping_of(rule: Rule) -> Rule:
    """Return a rule that requires a mapping, of values that ``rule`` allows."""

    def of_each(name: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise AnalysisError(f"{name} must be a dict by name, not {type(value).__name__}")
        for key, item in value.items():
            rule(f"{name}[{shown(key)}]", item)
        return value

    return of_each


def _none(name: str, value: Any) -> Any:
    if value is not None:
        raise AnalysisError(f"{name} is not None")  # to write a long result would take long


def _any_of(rules: Sequence[Rule], name: str, value: Any) -> Any:
    """Require what one of the rules allows; else the first says what is wrong."""
    for rule in rules[1:]:
        try:
            return rule(name, value)
        except AnalysisError:
            continue
    return rules[0](name, value)


_MADE_BY = {
    "Axes": "axes of matplotlib",
    "Look": "mlaut.analysis.Look(...)",
    "Pairwise": "the result of a test of all pairs",
    "Race": "what race returns",
    "RankProbabilities": "what probability_of_best returns",
    "ResultTable": "a ResultTable",
    "VerdictTable": "what Comparison.decision returns",
}
_OF_CLASSES = {"Results": the_results, "Series": _series} | {
    kind: partial(_instance, kind, maker) for kind, maker in _MADE_BY.items()
}
_RULES: dict[Any, Rule] = {
    Share: share,
    NotNegative: not_negative,
    Prior: prior,
    PositivePrior: positive_prior,
    Positive: _at_least_one,
    Count: count,
    Seed: _seed,
    Pair: _pair,
    Size: _size,
    bool: yes_or_no,
    int: whole,
    float: real,
    str: _text,
    NoneType: _none,
    ArrayLike: floats,
    np.ndarray: floats,
    Sequence[str]: names,
    Iterable[str]: names,
}


def _rule_of(kind: Any) -> Rule | None:
    """Return the rule of a type; None if any value is taken, or the function checks it itself."""
    if kind in _RULES:
        return _RULES[kind]
    origin, inside = get_origin(kind), [_rule_of(each) for each in get_args(kind)[-1:]]
    if origin in (Union, UnionType):
        rules = [rule for each in get_args(kind) if (rule := _rule_of(each))]
        return partial(_any_of, rules) if len(rules) == len(get_args(kind)) else None
    if origin is Callable:
        return _function
    if origin in (Sequence, Mapping) and inside[0]:
        return (each if origin is Sequence else mapping_of)(inside[0])
    return _OF_CLASSES.get(getattr(kind, "__name__", ""))


def position(word: str, name: str, names: Sequence[str]) -> int:
    """Return the position of a name; raise `AnalysisError` with the nearest name if unknown."""
    if isinstance(name, str) and name in names:
        return list(names).index(name)
    hint = nearest(name, names, 0.5) or f"; there are {some_of(names)}"
    raise AnalysisError(f"{word} {shown(name)} is not in these results{hint}")


def positions(word: str, chosen: Iterable[str] | None, names: Sequence[str]) -> list[int]:
    """Return the positions of several names; None means all."""
    if chosen is None:
        return list(range(len(names)))
    if isinstance(chosen, str):
        chosen = [chosen]
    if not isinstance(chosen, Iterable):
        raise AnalysisError(f"{shown(chosen)} does not name a {word}; there are {some_of(names)}")
    known = {name: place for place, name in enumerate(names)}
    places = [
        known[name] if isinstance(name, str) and name in known else position(word, name, names)
        for name in chosen
    ]
    if not places:
        raise AnalysisError(f"no {word} was chosen; there are {some_of(names)}")
    return places

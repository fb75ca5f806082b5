"""Errors that MLaut raises on purpose.

Each message is one line with three parts: the cause, the evidence (which file, dataset, column or
strategy), and the way out. The command line prints that line and exits with ``exit_code``.
"""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from inspect import getfullargspec, isfunction
from typing import Any, TypeVar

_WORD = re.compile(r"\S{200,}")
# Words of other libraries, and of other places of MLaut, with those that may be meant.
_OTHER_WORDS = {"random_state": "seed", "names": "datasets", "cv": "split", "scoring": "metric"}

T = TypeVar("T")


def shortened(text: str, most: int) -> str:
    """Return text of at most ``most`` characters; a longer text keeps its begin and its end.

    Examples
    --------
    >>> shortened("0123456789", 10), shortened("the beginning, the end", 13)
    ('0123456789', 'the be...end')
    """
    part = most // 4
    return text if len(text) <= most else f"{text[: most - 3 - part]}...{text[-part:]}"


class _Sentence(BaseException):
    """Base class of what IPython and notebooks show as one sentence, without the traceback."""

    @property
    def _render_traceback_(self) -> Callable[[], list[str]]:
        """IPython's name for what shows an error; with ``%xmode Verbose`` it shows the whole."""
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if getattr(getattr(shell, "InteractiveTB", None), "mode", "") not in ("Context", "Minimal"):
            raise AttributeError("_render_traceback_")
        hint = "(the whole traceback: %xmode Verbose, then %tb; to look around in it: %debug)"
        return lambda: [f"{type(self).__name__}: {self}", hint]


class MlautError(_Sentence, Exception):
    """Base class of every error that MLaut raises on purpose; its text is one line."""

    exit_code = 1

    def __str__(self) -> str:
        return shortened(_WORD.sub(lambda word: shortened(word[0], 200), super().__str__()), 2000)


class DataError(MlautError, ValueError):
    """Error for a dataset, a column or a target that cannot be used."""

    exit_code = 3


class StoreError(MlautError):
    """Error for an HDF5 database that cannot be opened, read or written."""

    exit_code = 4


class StudyLockedError(StoreError):
    """Error for a study that another process, or a run in another thread, is writing to."""


class StoreWarning(UserWarning):
    """Warning about a damaged file beside a database; only its undamaged parts were read."""


class UnusableWarning(UserWarning):
    """Warning about a dataset that no strategy can be run on; a run leaves it out."""


class TextWarning(UserWarning):
    """Warning about texts of a dataset that seem to be numbers, dates or one class; none is."""


class PluginWarning(UserWarning):
    """Warning about an installed plug-in that cannot be loaded; MLaut works without it."""


class StudyError(MlautError):
    """Error for a request that contradicts a study file, a plan or a stored study."""

    exit_code = 5


class StrategyError(MlautError, ValueError):
    """Error for a strategy that is unknown, is named twice, or does not suit the task."""

    exit_code = 6


class DivergedError(StrategyError):
    """Error for a model whose training diverged; its cell ends as ``diverged``.

    An estimator of your own may raise it too.
    """


class AnalysisError(MlautError, ValueError):
    """Error for a statistic that is not defined for its input."""

    exit_code = 7


class MissingCellsError(AnalysisError):
    """Error for cells without a result where no treatment of missing cells was chosen."""


class DirectionError(AnalysisError):
    """Error for scores of which it is not known whether more is better."""


class OptionalPackageError(MlautError, ImportError):
    """Error for an optional package that is needed but not installed."""

    exit_code = 8


class RunInterrupted(_Sentence, KeyboardInterrupt):
    """Interrupt of a run by a signal; every finished cell is stored.

    It is a ``KeyboardInterrupt``, not an ``MlautError``. A script therefore stops where it would
    stop without MLaut, and no later code takes a partial study for a complete one.
    """

    exit_code = 130  # as shells report a process that SIGINT ended: 128 + 2
    word = "stopped"


class TimeIsOver(RunInterrupted):
    """Interrupt of a run by a signal that says that the time of its job ends; call again."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h: the same call succeeds later
    word = "the time of the job is over"


def nearest(word: object, known: Iterable[object], cutoff: float = 0.6) -> str:
    """Return the end of a message about an unknown word.

    The end suggests the nearest known word; it is empty if no known word is similar.

    Examples
    --------
    >>> "no column 'specis'" + nearest("specis", ["petal", "species"])
    "no column 'specis'; did you mean 'species'?"
    >>> nearest("colour", [0, 1])
    ''
    """
    by_text = {str(name).lower(): name for name in known}
    text = str(word).lower()
    other = _OTHER_WORDS.get(text, text)
    close = get_close_matches(other if other in by_text else text, by_text, n=1, cutoff=cutoff)
    return f"; did you mean {by_text[close[0]]!r}?" if close else ""


def refuse_unknown(
    given: Iterable[object],
    known: Collection[Any],
    error: type[MlautError],
    what: str,
    where: str = "",
    words: str = "there are",
) -> None:
    """Raise an error at the first word that is not known: it names the nearest one, or all.

    Examples
    --------
    >>> refuse_unknown(["traget"], ["target", "weight"], DataError, "no role")
    Traceback (most recent call last):
    mlaut.errors.DataError: no role 'traget'; did you mean 'target'?
    >>> refuse_unknown([3], ["a", "b"], DataError, "unknown key", " in [data]", "known are")
    Traceback (most recent call last):
    mlaut.errors.DataError: unknown key 3 in [data]; known are a, b
    """
    for word in given:
        if word not in known:
            hint = nearest(word, known) or f"; {words} {some_of(known, 30)}"
            raise error(f"{what} {word!r}{where}{hint}")


def one_value_each(
    pairs: Iterable[tuple[str, T]], error: type[Exception], what: str
) -> dict[str, T]:
    """Return pairs as a dictionary; raise an error at the first name with another value.

    Examples
    --------
    >>> one_value_each([("svm", "a"), ("svm", "b")], StudyError, "the new name")
    Traceback (most recent call last):
    mlaut.errors.StudyError: the new name of 'svm' is given as 'a' and as 'b'; give it once
    """
    values: dict[str, T] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise error(
                f"{what} of {name!r} is given as {values[name]!r} and as {value!r}; give it once"
            )
    return values


def some_of(names: Iterable[object], most: int = 8) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> some_of("abcd", 2), some_of([])
    ('a, b and 2 more', 'none')
    """
    texts = [str(name) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more or "none"


def nearest_of(word: str, known: Collection[str]) -> str:
    """Return `nearest`; if no known word is similar, their number and the three nearest.

    Examples
    --------
    >>> nearest_of("abc", ["xyz", "cxyz"])
    "; it has 2 others, the nearest: 'cxyz', 'xyz'"
    """
    likest = ", ".join(map(repr, get_close_matches(word, known, n=3, cutoff=0)))
    return nearest(word, known) or f"; it has {len(known)} others, the nearest: {likest}"


def check_options(
    function: str, known: Sequence[str], given: Iterable[str], error: type[MlautError]
) -> None:
    """Raise an error that names the nearest option if a function lacks one that was given.

    The first argument of a function, its subject, is not an option.

    Examples
    --------
    >>> check_options("t_test", ["results", "alpha"], ["alhpa"], AnalysisError)
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: unknown option 'alhpa' of t_test; did you mean 'alpha'?
    >>> check_options("race", ["self"], ["split"], AnalysisError)
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: unknown option 'split' of race; it takes none
    >>> check_options("compare_learners", ["learners", "split"], ["cv"], AnalysisError)
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: unknown option 'cv' of compare_learners; did you mean 'split'?
    """
    for name in given:
        if name not in known:
            listed = f"known are {', '.join(known[1:])}" if known[1:] else "it takes none"
            hint = nearest(name, known) or f"; {listed}"
            raise error(f"unknown option {name!r} of {function}{hint}")


def with_checked_options(error: type[MlautError]) -> Callable[[T], T]:
    """Return a decorator that makes functions or methods report unknown options in one line.

    Functions with ``**options`` check these themselves.
    """

    def with_options(target: Any) -> Any:
        if isinstance(target, type):
            for name, member in list(vars(target).items()):
                if isfunction(member) and not name.startswith("_"):
                    setattr(target, name, with_options(member))
                elif isinstance(member, classmethod):
                    setattr(target, name, classmethod(with_options(member.__func__)))
            return target
        takes = getfullargspec(target)

        @wraps(target)
        def wrapper(*args: Any, **options: Any) -> Any:
            check_options(target.__name__, takes.args + takes.kwonlyargs, options, error)
            return target(*args, **options)

        return target if takes.varkw else wrapper

    return with_options

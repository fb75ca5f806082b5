"""Records of the libraries of learners, in one table."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Library:
    """Record of a library of learners.

    `LIBRARIES` has a record for each package that needs one. For your own library, add a record
    before the run, which sends the record with the strategies to each of its processes.

    Attributes
    ----------
    threads : str
        Parameter with the number of threads.
    all_cores : bool
        Whether learners use all cores if that parameter is not set.
    sparse_parameters : bool
        Whether ``get_params`` returns only parameters that were set.
    seeds : tuple of str
        Names of the seed of a learner, if it is not ``random_state`` or if ``get_params`` may lack
        it. MLaut sets the first one, unless one of them is set.
    coding : callable
        Function that returns the coding of categories that a learner takes (``"native"`` or
        ``"text"``), or None for one-hot.
    columns : tuple of str
        Parameters that name columns of the table; a learner with one of them gets the raw table.
    stop : callable or None
        Function ``stop(learner, known, held, rounds, **more)`` that fits a learner on ``known``,
        stops when ``rounds`` rounds in a row bring no better loss on ``held``, and returns the
        learner. Both parts are ``(X, y, weights)``; weights may be None. ``more`` are arguments of
        ``fit``.
    stopping : tuple of str
        Parameters with the number of rounds after which a learner stops by itself. 0 and None
        switch this off; any other value is refused, since only ``stop`` may set one.
    refused_names : str
        Regular expression of what the library does not take in names of columns; the learner gets
        other names. Empty: it takes all names.
    out_of_memory : tuple of str
        Words with which errors report a failed allocation, besides the usual ones (`MEMORY_WORDS`).
    distributions : tuple of str
        Distributions that install the package, if the name differs or if there are several.
    extra : str
        Extra of MLaut that installs the package.

    Examples
    --------
    >>> LIBRARIES["catboost"].threads
    'thread_count'
    >>> LIBRARIES["my_boosting"] = Library(threads="workers", all_cores=True)
    >>> del LIBRARIES["my_boosting"]
    """

    threads: str = "n_jobs"
    all_cores: bool = False
    sparse_parameters: bool = False
    seeds: tuple[str, ...] = ()
    coding: Callable[[Any], str | None] = lambda _: None
    columns: tuple[str, ...] = ()
    stop: Callable[..., Any] | None = None
    stopping: tuple[str, ...] = ()
    refused_names: str = ""
    out_of_memory: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    extra: str = ""


def package_of(part: Any) -> str:
    """Return the top package of the class of an object.

    A class that is derived from a class of a library in `LIBRARIES` belongs to that library.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> package_of(SVC())
    'sklearn'
    """
    packages = [cls.__module__.partition(".")[0] for cls in type(part).__mro__]
    return next((package for package in packages if package in LIBRARIES), packages[0])


def library_of(part: Any) -> Library:
    """Return the record of the library of an object, or a record of defaults if none is known."""
    return LIBRARIES.get(package_of(part), Library())


def reports_lack_of_memory(package: str, text: str) -> bool:
    """Return whether the text of an error of a library reports a failed allocation."""
    library = LIBRARIES.get(package)
    return library is not None and any(
        words in text for words in (*MEMORY_WORDS, *library.out_of_memory)
    )


Part = tuple[Any, Any, Any]  # table, labels, weights or None


def _fit_xgboost(model: Any, known: Part, validation: Part, rounds: int, **more: Any) -> Any:
    X, y, weights = known
    held = None if validation[2] is None else [validation[2]]
    return model.set_params(early_stopping_rounds=rounds).fit(
        X,
        y,
        sample_weight=weights,
        eval_set=[validation[:2]],
        sample_weight_eval_set=held,
        verbose=False,
        **more,
    )


def _fit_lightgbm(model: Any, known: Part, validation: Part, rounds: int, **more: Any) -> Any:
    from sklearn.utils.validation import has_fit_parameter

    lightgbm = import_module("lightgbm")
    X, y, weights = known
    # LightGBM 4.7 deprecates eval_set, but does not number the labels of eval_y, which replaces
    # it: its loss would be that of other classes.
    held: dict[str, Any] = {"eval_set": [validation[:2]]}
    if not has_fit_parameter(model, "eval_set"):
        held = {"eval_X": validation[0], "eval_y": validation[1]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The argument 'eval_set' is deprecated")
        return model.fit(
            X,
            y,
            sample_weight=weights,
            **held,
            eval_sample_weight=None if validation[2] is None else [validation[2]],
            callbacks=[lightgbm.early_stopping(rounds, verbose=False)],
            **more,
        )


def _fit_catboost(model: Any, known: Part, validation: Part, rounds: int, **more: Any) -> Any:
    catboost = import_module("catboost")
    X, y, weights = known
    categories = more.get("cat_features")
    held = catboost.Pool(
        validation[0], validation[1], weight=validation[2], cat_features=categories
    )
    stop = {"eval_set": held, "early_stopping_rounds": rounds, "verbose": False}
    return model.fit(X, y, sample_weight=weights, **stop, **more)


def _coding_of_xgboost(model: Any) -> str | None:
    return "native" if model.get_params(deep=False).get("enable_categorical") else None


def _coding_of_interpret(model: Any) -> str | None:
    """Return the coding of explainable boosting; other classes of its package need one-hot."""
    explainable = {"ExplainableBoostingClassifier", "ExplainableBoostingRegressor"}
    return "native" if type(model).__name__ in explainable else None


# The first letters, whose case differs between libraries, are left out.
MEMORY_WORDS = ("MemoryError", "bad_alloc", "annot allocate memory", "ut of memory", "Exhausted")
"""Parts of the messages with which Python, C++ and the system report a failed allocation."""

_STOPPING = ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change")

LIBRARIES = {
    "catboost": Library(
        threads="thread_count",
        all_cores=True,
        sparse_parameters=True,
        seeds=("random_state", "random_seed"),
        coding=lambda _: "text",
        columns=("cat_features", "text_features", "embedding_features"),
        stop=_fit_catboost,
        extra="catboost",
    ),
    "interpret": Library(
        coding=_coding_of_interpret, distributions=("interpret-core",), extra="interpret"
    ),
    "keras": Library(extra="keras"),
    "lightgbm": Library(
        all_cores=True,
        coding=lambda _: "native",
        stop=_fit_lightgbm,
        stopping=_STOPPING,
        refused_names=r'[\[\]{}",:\n]|^$',
        extra="lightgbm",
    ),
    "pytabkit": Library(threads="n_threads", all_cores=True, extra="realmlp"),
    "tabpfn": Library(extra="tabpfn"),
    "xgboost": Library(
        all_cores=True,
        coding=_coding_of_xgboost,
        stop=_fit_xgboost,
        stopping=_STOPPING,
        refused_names=r"[\[\]<]",
        distributions=("xgboost", "xgboost-cpu"),
        extra="xgboost",
    ),
    # Of these, only their errors need to be known.
    **dict.fromkeys(("cuml", "cupy", "jax", "jaxlib", "tensorflow", "torch"), Library()),
}
"""Records of libraries by the name of their package."""
_OF_MLAUT = dict(LIBRARIES)


def with_libraries(contained: Any) -> Any:
    """Return an object that is pickled with the records that a user has put into `LIBRARIES`.

    When the object is unpickled in a process of a run, the records are added there too.
    """
    own = {name: lib for name, lib in LIBRARIES.items() if _OF_MLAUT.get(name) is not lib}
    return _WithLibraries(contained, own) if own else contained


class _WithLibraries:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __reduce__(self) -> Any:
        return _arrived, self.parts


def _arrived(contained: Any, own: Mapping[str, Library]) -> Any:
    LIBRARIES.update(own)
    return contained

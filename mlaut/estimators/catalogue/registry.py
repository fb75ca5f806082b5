"""Registry of strategies, which are found by name, family, task or metadata.

A record (`Strategy`) has the facts that a search needs. Listing and searching therefore import
neither keras nor scikit-learn; a class is imported when it is instantiated.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

from mlaut.errors import (
    OptionalPackageError,
    PluginWarning,
    StrategyError,
    UnusableWarning,
    refuse_unknown,
    some_of,
)
from mlaut.estimators.catalogue.catalogue import CATALOGUE, NETWORKS, TODAY
from mlaut.estimators.libraries.library import LIBRARIES, Library
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.estimators.strategy.metadata import ALL, DEFAULT, PAPER
from mlaut.helpers.former_names import former
from mlaut.helpers.lazy import pd
from mlaut.plugins.finding import found
from mlaut.records import check_name

if TYPE_CHECKING:
    from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator

Class = TypeVar("Class", bound=type)


_OTHER_NAMES = {
    "kernelmethod": "supportvectormachine",
    "prototypemethod": "nearestneighbour",
    "cluster": "nearestneighbour",
    "nearestneighbor": "nearestneighbour",
    "deeplearning": "neuralnetwork",
    "sklearn": "scikitlearn",
}
"""Families of MLaut 0.1 and its paper, and a package, by the name that they have here."""
_NEAR = 0.45  # least likeness of a word that is suggested; below it, words share single letters


def _plain(word: Any) -> str:
    """Return a word in small letters, without the task of an estimator and a final s."""
    return re.sub("classifier|regressor|[^a-z0-9]", "", str(word).lower()).removesuffix("s")


class Registry:
    """Ordered collection of strategies with unique names.

    Parameters
    ----------
    specs : iterable of Strategy, optional

    Examples
    --------
    >>> [spec.name for spec in REGISTRY.search("Naive_Bayes", tasks="Classification")]
    ['GaussianNaiveBayes', 'BernoulliNaiveBayes']
    >>> REGISTRY.search("KNeighbours")
    Traceback (most recent call last):
    mlaut.errors.StrategyError: no strategy, family or task is called 'KNeighbours'; did you \
mean 'K_Neighbours' or 'K_Neighbours_Regressor' or 'Nearest_Neighbours'? 'mlaut list strategies' \
has all
    """

    def __init__(self, specs: Iterable[Strategy] = ()) -> None:
        self._specs: dict[str, Strategy] = {}
        for spec in specs:
            self.add(spec)

    def __iter__(self) -> Iterator[Strategy]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)

    def __getitem__(self, name: str) -> Strategy:
        if name not in self._specs:
            raise self._unknown("strategy", name, dict(zip(self._specs, self._specs, strict=True)))
        return self._specs[name]

    def add(self, spec: Strategy) -> None:
        """Add a strategy.

        Raises
        ------
        StrategyError
            The name is taken, or cannot name a strategy.
        """
        check_name(spec.name)
        if spec.name in self._specs:
            raise StrategyError(
                f"a strategy called {spec.name!r} is registered already "
                f"({self._specs[spec.name].class_name}); give the new one another name"
            )
        self._specs[spec.name] = spec

    def register(self, cls: Class) -> Class:
        """Add a user's strategy class and return it; usable as a decorator above `properties`.

        Raises
        ------
        StrategyError
            The name is taken.
        """
        known = vars(cls.properties)  # type: ignore[attr-defined]
        self.add(Strategy(**{**known, "class_name": cls.__name__, "cls": cls}))
        return cls

    def search(self, *words: str, **metadata: Any) -> tuple[Strategy, ...]:
        """Return the strategies that match any of the words and all of the properties.

        Parameters
        ----------
        *words : str
            Names, families, tasks, collections, or ``"all"``. The result is the union, in the
            order of the words. Without words, all strategies are searched.
        **metadata
            Required properties, for example ``tasks="Regression"``, ``missing=True``. A strategy
            must have all of them.

        Returns
        -------
        tuple of Strategy

        Raises
        ------
        StrategyError
            A word or a property is not known.
        """
        specs = [spec for spec, _ in self.by_word(*words)] if words else self
        return tuple(
            spec
            for spec in specs
            if all(spec.has(key, wanted) for key, wanted in self._checked(metadata).items())
        )

    def by_word(self, *words: str) -> list[tuple[Strategy, str]]:
        """Return strategies as `search` does, each once, with the word that matched it.

        If several words match a strategy, its own name takes precedence over words for several
        strategies.
        """
        specs: dict[str, tuple[Strategy, str]] = {}
        for word in words:
            for spec in self._asked_for(word):
                if spec.name not in specs or word in spec.names:
                    specs[spec.name] = (spec, word)
        return list(specs.values())

    def can_run(self, *words: str) -> list[tuple[Strategy, str]]:
        """Return strategies as `by_word` does; of ``"all"``, those whose package is installed.

        A warning names the others. A strategy that another word matches is returned in any case.
        """
        found = self.by_word(*words)
        left_out = [spec for spec, word in found if word == ALL and not _is_installed(spec.package)]
        for package in dict.fromkeys(spec.package for spec in left_out):
            names = [spec.name for spec in left_out if spec.package == package]
            warnings.warn(
                f"left out of 'all': {some_of(map(repr, names), 2)}, since {package} is "
                f"not installed here: pip install {_requirement(package)!r}",
                UnusableWarning,
                stacklevel=3,
            )
        return [one for one in found if one[0] not in left_out]

    def _asked_for(self, word: str) -> list[Strategy]:
        matches = [spec for spec in self if word in spec.words]
        if not matches:
            group = _OTHER_NAMES.get(_plain(word), _plain(word))
            matches = [spec for spec in self if group in map(_plain, spec.groups)]
        if not matches:
            # A package is a word, too, but one that is like the name of a strategy by chance.
            known = {word: word for spec in self for word in spec.groups if word != spec.package}
            known |= {spec.wraps.partition(":")[2]: spec.name for spec in self}
            known |= {spec.name: spec.name for spec in self}
            raise self._unknown("strategy, family or task", word, known)
        return matches

    def _unknown(self, what: str, word: Any, known: Mapping[str, str]) -> StrategyError:
        """Return an error that suggests words of ``known`` whose keys are near the unknown one."""

        def likeness(name: str) -> tuple[float, bool]:
            same_task = str(word)[-9:] == name[-9:]  # both end in "Regressor", for example
            return SequenceMatcher(None, _plain(word), _plain(name)).ratio(), same_task

        alike = [name for name in known if likeness(name)[0] >= _NEAR]
        near = sorted(alike, key=likeness, reverse=True)
        words = " or ".join(map(repr, list(dict.fromkeys(known[name] for name in near))[:3]))
        hint = f"did you mean {words}? " * bool(words) + "'mlaut list strategies' has all"
        today = former().get(str(word))
        hint = f"today: {today}" if today else hint if known else "register it"
        return StrategyError(f"no {what} is called {word!r}; {hint}")

    def _checked(self, metadata: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(
            metadata, Strategy.__dataclass_fields__, StrategyError, "no property is called"
        )
        return metadata

    def table(self, *words: str, **metadata: Any) -> pd.DataFrame:
        """Return a table of strategies: one per row, with family, task, collection and package.

        Examples
        --------
        >>> REGISTRY.table("Naive_Bayes")["family"].tolist()
        ['Naive_Bayes', 'Naive_Bayes']
        """
        rows = [spec.row() for spec in self.search(*words, **metadata)]
        return pd.DataFrame(rows, columns=["name", "family", "task", "collection", "package"])


def instantiate_default_estimators(
    estimators: str | Iterable[str] = (ALL,),
    verbose: int = 0,
    n_jobs: int | None = 1,
    **parameters: Any,
) -> list[MlautEstimator]:
    """Return new strategies of MLaut, with their default tuning grids.

    Parameters
    ----------
    estimators : str or iterable of str, default ("all",)
        Names, families, tasks (``"Classification"``), collections, or ``"all"``: all whose package
        is installed; a warning names the others.
    verbose : int, default 0
        Verbosity of the tuning searches.
    n_jobs : int or None, default 1
        Number of tuning fits in parallel; -1 uses all cores.
    **parameters
        Parameters of `MlautEstimator` for every strategy: ``random_state=0``, ``cv=3``, ...

    Returns
    -------
    list of MlautEstimator

    Raises
    ------
    StrategyError
        A name, or the word for a grid, is not known; the message suggests the nearest one.

    Examples
    --------
    >>> est = ["RandomForestClassifier", "BaggingClassifier"]
    >>> instantiate_default_estimators(estimators=est)
    [<mlaut.estimators.ensemble_estimators.Random_Forest_Classifier>,
     <mlaut.estimators.ensemble_estimators.Bagging_Classifier>]
    """
    words = [estimators] if isinstance(estimators, str) else list(estimators)
    grid = parameters.get("param_grid")
    if isinstance(grid, str) and grid not in (DEFAULT, PAPER):
        raise StrategyError(f"no param_grid is called {grid!r}; give default, paper or a mapping")
    specs = REGISTRY.can_run(*words)
    return [spec.make(word, verbose=verbose, n_jobs=n_jobs, **parameters) for spec, word in specs]


def _with_plugins(registry: Registry) -> Registry:
    for plugin, specs in found("strategies").items():
        for spec in specs:
            try:
                registry.add(spec)
            except StrategyError as error:
                text = f"plug-in {plugin}: {error}; the strategy is left out"
                warnings.warn(text, PluginWarning, stacklevel=2)
    return registry


REGISTRY = _with_plugins(Registry((*CATALOGUE, *TODAY, *NETWORKS)))
"""Strategies that come with MLaut, and those of plug-ins."""


def check_packages(strategies: Iterable[MlautEstimator]) -> None:
    """Raise an error if the package of a strategy is not installed; import nothing.

    Raises
    ------
    OptionalPackageError
        A package is missing. The message names the strategies and the command that installs it.

    Examples
    --------
    >>> from mlaut.estimators import Generic_Estimator
    >>> from sklearn.svm import SVC
    >>> mine = Generic_Estimator(SVC(), properties={"name": "Mine", "package": "no-such-package"})
    >>> check_packages([mine])
    Traceback (most recent call last):
    mlaut.errors.OptionalPackageError: strategy 'Mine' needs no-such-package, which is not \
installed here: pip install 'no-such-package', or leave it out
    """
    lacking: dict[str, list[str]] = {}
    for strategy in strategies:
        if not _is_installed(strategy.metadata.package):
            lacking.setdefault(strategy.metadata.package, []).append(strategy.name)
    for package, names in lacking.items():
        single = len(names) == 1
        raise OptionalPackageError(
            f"strateg{'y' if single else 'ies'} {some_of(map(repr, names), 2)} "
            f"need{'s' if single else ''} {package}, which is not installed here: pip install "
            f"{_requirement(package)!r}, or leave {'it' if single else 'them'} out"
        )


def _requirement(package: str) -> str:
    """Return what pip installs for a package: the extra of MLaut, where there is one."""
    extra = _library(package).extra
    return f"mlaut[{extra}]" if extra else package


def _is_installed(package: str) -> bool:
    for distribution in _library(package).distributions or (package,):
        try:
            version(distribution)
        except PackageNotFoundError:
            continue
        return True
    return False


def _library(distribution: str) -> Library:
    """Return the record of the library that a distribution installs."""
    for package, library in LIBRARIES.items():
        if distribution in (library.distributions or (package,)):
            return library
    return Library()

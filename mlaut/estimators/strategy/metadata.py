"""Metadata and record of strategies, which are known before a class is made or imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from mlaut.errors import StrategyError
from mlaut.estimators.names import class_at, nearest
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS, check_name

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class DataShape:
    """Size of a training part; ``build`` can adapt the estimator of a strategy to it.

    Attributes
    ----------
    n_rows, n_features : int
        Numbers of rows and columns before preprocessing.
    n_classes : int
        Number of classes; 0 for regression.
    dataset : str
        Name of the dataset in its study; empty outside of a study.
    """

    n_rows: int
    n_features: int
    n_classes: int = 0
    dataset: str = ""

    @property
    def task(self) -> str:
        """Task that follows from the number of classes."""
        return CLASSIFICATION if self.n_classes else REGRESSION


def _as_needed() -> Any:
    from mlaut.estimators.preparing.preprocessing import Preprocessor  # imports scikit-learn

    return Preprocessor(as_needed=True)


@dataclass(frozen=True)
class Properties:
    """Metadata of a strategy.

    Attributes
    ----------
    name : str
        Name by which the strategy is found and stored.
    estimator_family : sequence of str
        One or more families, for example ``"Ensemble_methods"``.
    tasks : sequence of str
        ``"Classification"``, ``"Regression"``, or both.
    missing, categories, sparse : bool
        Whether the wrapped estimator itself handles gaps, categories (not coded as numbers), and
        sparse tables. With its preprocessing, every strategy handles gaps and categories.
    weights : bool or None
        Whether the wrapped estimator takes weights of rows. None: its ``fit`` decides.
    early_stopping, threads, gpu : bool
        Whether the wrapped estimator stops by rows held back for validation, can use several
        threads, and can use a GPU.
    preprocessing : transformer or None
        Transformer from the raw table to the table that the estimator needs.
    normalize_labels : bool
        Whether a regression target is scaled to mean 0 and standard deviation 1 for fitting.
    param_grid : mapping, list of mappings, or None
        Tuning grid; None if nothing is tuned.
    beyond_paper : tuple of str
        Parameters of the grid that the MLaut paper does not print for this strategy.
    search_space : mapping or None
        Space from which a search draws its candidates: for each parameter a list of values, a
        range (`Floats`, `Integers`), or a distribution of SciPy. None: the space of ``param_grid``.
    source : str
        Publication of the search space.
    cv : int
        Number of folds for tuning.
    size_limit : SizeLimit, mapping, int or None
        Largest training part for which a run uses the strategy; None for no limit.
    package : str
        Distribution that must be installed.

    Examples
    --------
    >>> Properties(name="Mine", estimator_family=["Baseline"], tasks=["classification"])
    Traceback (most recent call last):
    mlaut.errors.StrategyError: strategy 'Mine': no task is called 'classification'; \
did you mean 'Classification'?
    """

    name: str
    estimator_family: Sequence[str]
    tasks: Sequence[str]
    missing: bool = False
    categories: bool = False
    sparse: bool = False
    weights: bool | None = None
    early_stopping: bool = False
    threads: bool = False
    gpu: bool = False
    preprocessing: Any = field(default_factory=_as_needed)
    normalize_labels: bool = False
    param_grid: Any = None
    beyond_paper: tuple[str, ...] = ()
    search_space: Any = None
    source: str = ""
    cv: int = 5
    size_limit: Any = None
    package: str = "scikit-learn"

    def __post_init__(self) -> None:
        check_name(self.name)
        for attribute in ("estimator_family", "tasks"):
            value = getattr(self, attribute)
            words = (value,) if isinstance(value, str) else tuple(value)
            object.__setattr__(self, attribute, words)
        for task in self.tasks:
            if task not in TASKS:
                raise StrategyError(
                    f"strategy {self.name!r}: no task is called {task!r}; {nearest(task, TASKS)}"
                )
        if not self.tasks:
            raise StrategyError(f"strategy {self.name!r} has no task; give {' or '.join(TASKS)}")

    @property
    def paper_grid(self) -> Any:
        """Tuning grid of the MLaut paper, without the parameters that go beyond the paper."""
        own = self.beyond_paper
        return (
            {n: v for n, v in self.param_grid.items() if n not in own} if own else self.param_grid
        )


def properties(**metadata: Any) -> Callable[[Class], Class]:
    """Return a class decorator that attaches metadata to a strategy class.

    Parameters
    ----------
    **metadata
        Attributes of `Properties`.

    Raises
    ------
    StrategyError
        A name or a task is not valid, or an attribute is not known.

    Examples
    --------
    >>> from sklearn.neighbors import NearestCentroid
    >>> from mlaut.estimators import MlautEstimator
    >>> @properties(
    ...     name="NearestCentroid",
    ...     estimator_family=["Cluster"],
    ...     tasks=["Classification"],
    ...     param_grid={"shrink_threshold": [None, 0.5]},
    ... )
    ... class Nearest_Centroid(MlautEstimator):
    ...     def build(self, **kwargs):
    ...         return self.tuned(NearestCentroid())
    >>> Nearest_Centroid().name
    'NearestCentroid'
    """
    known = list(Properties.__dataclass_fields__)
    for key in metadata:
        if key not in known:
            raise StrategyError(f"no property is called {key!r}; {nearest(key, known)}")
    record = Properties(**metadata)

    def attach(cls: Class) -> Class:
        cls.properties = record  # type: ignore[attr-defined]
        return cls

    return attach


if TYPE_CHECKING:
    from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator

TODAY = "Today"
"""Collection of the learners of today."""

ALL = "all"
DEFAULT, PAPER = "default", "paper"  # words for the parameters of tuning, and for a grid
_CLASSES = "mlaut.estimators.catalogue.listed"  # module that makes the classes of the catalogue
LISTED_KEYS = ("name", "class_name", "estimator_family", "tasks", "collection", "package")


@dataclass(frozen=True)
class Strategy(Properties):
    """Record of a strategy, known before its class is imported.

    The catalogue consists of such records, and a registry finds them. They name classes as text
    (``"module:class"``), so that reading them imports no scikit-learn.

    Attributes
    ----------
    name, estimator_family, tasks, param_grid, ...
        As in `Properties`; the name is unique in a registry.
    class_name : str
        Name of the strategy class; by default the name with underscores between words. Studies and
        pickles name it, so it never changes.
    about : str
        Docstring of the class.
    wraps : str
        Class of the estimator, as ``"module:class"``.
    base : str
        Class of the estimator inside an ensemble; empty for none.
    settings : mapping
        Parameters of the estimator that differ from its defaults.
    at_most_rows : str
        Parameter that is lowered to the number of training rows; empty for none.
    preprocessing : mapping
        Parameters of the `Preprocessor`.
    then : str
        Class of a transformer after the `Preprocessor`; empty for none.
    stops : bool
        Whether the estimator is wrapped in `EarlyStopping`.
    takes : frozenset of str
        What the wrapped estimator handles itself: ``"missing"``, ``"categories"``, ``"sparse"``,
        ``"early_stopping"``, ``"threads"``, ``"gpu"``.
    collection : str
        Empty for the default strategies, which are found by their families and tasks. A strategy
        of a collection is found by its name, by the collection, and by ``"all"``. Strategies of
        ``"Today"`` are not found by ``"all"``, because they need further packages.
    package : str
        Distribution that must be installed. The strategy is also found by this name.
    cls : type or None
        Class of a user's strategy; those of MLaut are made when they are first used.
    """

    class_name: str = ""
    about: str = ""
    wraps: str = ""
    base: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    at_most_rows: str = ""
    preprocessing: Any = field(default_factory=lambda: {"as_needed": True})
    then: str = ""
    stops: bool = False
    takes: frozenset[str] = frozenset()
    collection: str = ""
    cls: type | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        words = re.sub("(?<=[a-z])(?=[A-Z])|-", "_", self.name)
        object.__setattr__(self, "class_name", self.class_name or words)
        for kind in self.takes:
            object.__setattr__(self, kind, True)

    @property
    def words(self) -> tuple[str, ...]:
        """Words by which the strategy is found."""
        return (self.name, self.class_name, *self.groups)

    @property
    def groups(self) -> tuple[str, ...]:
        """Words that stand for several strategies, including this one."""
        groups = (self.collection,) if self.collection else (*self.estimator_family, *self.tasks)
        return (*groups, self.package, *([] if self.collection == TODAY else [ALL]))

    def make(self, word: str, **parameters: Any) -> MlautEstimator:
        """Return a new strategy; ``chosen_by`` keeps a word that stands for several strategies."""
        strategy: MlautEstimator = self.load()(**parameters)
        if word not in (self.name, self.class_name):
            strategy.chosen_by = word
        return strategy

    def load(self) -> Any:
        """Import and return the class."""
        return self.cls or class_at(f"{_CLASSES}:{self.class_name}")

    def has(self, key: str, wanted: Any) -> bool:
        """Return whether a property equals or contains a value; import the class if needed."""
        value = getattr(self if key in LISTED_KEYS else self.load().properties, key)
        if key == "weights" and value is None:
            value = self.load()().takes_weights()
        return wanted in value if isinstance(value, tuple) else bool(value == wanted)

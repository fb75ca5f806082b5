"""What is known of a strategy besides how it is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mlaut.errors import StrategyError
from mlaut.estimators.names import check_name, nearest
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS

__all__ = ["DataShape", "Properties", "properties"]

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class DataShape:
    """The size of a training part, from which a strategy may be built to measure.

    Attributes
    ----------
    n_rows, n_features : int
        Rows and columns before preprocessing.
    n_classes : int
        0 for regression.
    """

    n_rows: int
    n_features: int
    n_classes: int = 0

    @property
    def task(self) -> str:
        """The task that the number of classes tells."""
        return CLASSIFICATION if self.n_classes else REGRESSION


@dataclass(frozen=True)
class Properties:
    """The metadata of a strategy.

    Attributes
    ----------
    name : str
        By which it is asked for and stored.
    estimator_family : sequence of str
        One or more of the families, for example ``"Ensemble_methods"``.
    tasks : sequence of str
        ``"Classification"``, ``"Regression"``, or both.
    missing, categories, sparse : bool
        Whether the wrapped estimator itself takes gaps, categories (not as numbers), and sparse
        tables. With its preprocessing every strategy takes gaps and categories.
    preprocessing : transformer or None
        From the table as it is to the table that the estimator needs.
    normalize_labels : bool
        Whether a regression target is scaled to mean 0 and standard deviation 1 for fitting.
    param_grid : mapping, list of mappings, or None
        The tuning grid; None if nothing is tuned.
    cv : int
        Folds for tuning.
    size_limit : SizeLimit, mapping, int or None
        The largest training part that a run gives it unasked; None for any.
    package : str
        What must be installed.

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
    preprocessing: Any = field(default_factory=lambda: Preprocessor(as_needed=True))
    normalize_labels: bool = False
    param_grid: Any = None
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


def properties(**metadata: Any) -> Callable[[Class], Class]:
    """Attach metadata to a class of strategies; a class decorator.

    Parameters
    ----------
    **metadata
        The attributes of `Properties`.

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

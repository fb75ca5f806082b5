"""Metadata of strategies: what a class says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeVar

from mlaut.arrays import row_shape
from mlaut.errors import StrategyError, refuse_unknown
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS, check_name

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True)
class DataShape:
    """Size of a training part; ``build`` can adapt the estimator of a strategy to it.

    Attributes
    ----------
    n_rows, n_features : int
        Numbers of rows and columns before preprocessing; of an array, the values of a row.
    n_classes : int
        Number of classes, or of the labels that a row may have; 0 for regression.
    dataset : str
        Name of the dataset in its study; empty outside of a study.
    row : tuple of int
        Shape of a row: ``(n_features,)`` of a table, for example ``(3, 40)`` of an array.
    n_targets : int
        Number of targets, if there are several; else 0.
    """

    n_rows: int
    n_features: int
    n_classes: int = 0
    dataset: str = ""
    row: tuple[int, ...] = ()
    n_targets: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "row", self.row or (self.n_features,))

    @classmethod
    def of(
        cls, X: Any, n_rows: int, n_classes: int = 0, dataset: str = "", n_targets: int = 0
    ) -> DataShape:
        """Return the shape of a training part of a table or array."""
        row = row_shape(X)
        return cls(n_rows, prod(row), n_classes, dataset, row, n_targets)

    @property
    def task(self) -> str:
        """Task that follows from the number of classes."""
        return CLASSIFICATION if self.n_classes else REGRESSION

    @property
    def n_outputs(self) -> int:
        """Numbers that a network gives for a row: of classes or labels, of targets, or one."""
        return self.n_classes or self.n_targets or 1

    @property
    def activation(self) -> str:
        """Activation of the last layer of a network, as keras names it.

        Examples
        --------
        >>> DataShape(60, 4, 3).activation, DataShape(60, 4, 3, n_targets=3).activation
        ('softmax', 'sigmoid')
        """
        return ("sigmoid" if self.n_targets else "softmax") if self.n_classes else "linear"


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
        what = f"strategy {self.name!r}: no task is called"
        refuse_unknown(self.tasks, TASKS, StrategyError, what)
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
    ...     estimator_family=["Nearest_Neighbours"],
    ...     tasks=["Classification"],
    ...     param_grid={"shrink_threshold": [None, 0.5]},
    ... )
    ... class Nearest_Centroid(MlautEstimator):
    ...     def build(self, **kwargs):
    ...         return self.tuned(NearestCentroid())
    >>> Nearest_Centroid().name
    'NearestCentroid'
    """
    refuse_unknown(
        metadata, Properties.__dataclass_fields__, StrategyError, "no property is called"
    )
    record = Properties(**metadata)

    def attach(cls: Class) -> Class:
        cls.properties = record  # type: ignore[attr-defined]
        return cls

    return attach


ALL = "all"
DEFAULT, PAPER = "default", "paper"  # words for the parameters of tuning, and for a grid

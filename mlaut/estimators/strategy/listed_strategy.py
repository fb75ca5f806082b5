"""Record of a strategy, which is known before its class is made or imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from mlaut.estimators.strategy.metadata import ALL, Properties

if TYPE_CHECKING:
    from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator

TODAY = "Today"
"""Collection of the learners of today."""

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
    called : mapping of str to str
        Parameters that the wrapped estimator calls otherwise than the field does, with its names.
    also : tuple of str
        Further names by which the strategy is found, such as those of a paper.
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
    called: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
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
        return (*self.names, *self.groups)

    @property
    def names(self) -> tuple[str, ...]:
        """Words that stand for this strategy alone."""
        return (self.name, self.class_name, *self.also)

    @property
    def groups(self) -> tuple[str, ...]:
        """Words that stand for several strategies, including this one."""
        groups = (self.collection,) if self.collection else (*self.estimator_family, *self.tasks)
        return (*groups, self.package, *([] if self.collection == TODAY else [ALL]))

    def row(self) -> dict[str, str]:
        """Return the facts by which it is listed."""
        return {
            "name": self.name,
            "family": ", ".join(self.estimator_family),
            "task": ", ".join(self.tasks),
            "collection": self.collection,
            "package": self.package,
        }

    def make(self, word: str, **parameters: Any) -> MlautEstimator:
        """Return a new strategy; ``chosen_by`` keeps a word that stands for several strategies."""
        strategy: MlautEstimator = self.load()(**parameters)
        if word not in self.names:
            strategy.chosen_by = word
        return strategy

    def load(self) -> Any:
        """Import and return the class."""
        return self.cls or resolve_name(f"{_CLASSES}:{self.class_name}")

    def has(self, key: str, wanted: Any) -> bool:
        """Return whether a property equals or contains a value; import the class if needed."""
        value = getattr(self if key in LISTED_KEYS else self.load().properties, key)
        if key == "weights" and value is None:
            value = self.load()().takes_weights()
        return wanted in value if isinstance(value, tuple) else bool(value == wanted)

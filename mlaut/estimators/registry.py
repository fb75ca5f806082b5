"""Registry of strategies, which are found by name, family, task or metadata.

An entry names its class as text ("module:class"), with the facts that a search needs. Listing and
searching therefore import neither keras nor scikit-learn; a class is imported when it is
instantiated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from mlaut.errors import StrategyError
from mlaut.estimators.architectures import LISTED
from mlaut.estimators.names import check_name, nearest
from mlaut.records import CLASSIFICATION, REGRESSION

if TYPE_CHECKING:
    import pandas as pd

    from mlaut.estimators.mlaut_estimator import MlautEstimator

__all__ = ["REGISTRY", "Registry", "Spec", "instantiate_default_estimators"]

Class = TypeVar("Class", bound=type)

ALL = "all"


@dataclass(frozen=True)
class Spec:
    """Facts about a strategy that are known before its class is imported.

    Attributes
    ----------
    name : str
        Name of the strategy; unique in a registry.
    entry_point : str or type
        ``"module:class"``, or the class itself.
    estimator_family, tasks : tuple of str
    collection : str
        Empty for the default strategies, which are found by their families and tasks. A strategy
        of a collection is found by its name, by the collection, and by ``"all"``.
    package : str
        Distribution that must be installed.
    """

    name: str
    entry_point: str | type
    estimator_family: tuple[str, ...]
    tasks: tuple[str, ...]
    collection: str = ""
    package: str = "scikit-learn"

    @property
    def class_name(self) -> str:
        """Name of the class; the strategy is found by it too."""
        if isinstance(self.entry_point, type):
            return self.entry_point.__name__
        return self.entry_point.rpartition(":")[2]

    @property
    def words(self) -> tuple[str, ...]:
        """Words by which the strategy is found."""
        groups = (self.collection,) if self.collection else (*self.estimator_family, *self.tasks)
        return (self.name, self.class_name, *groups, ALL)

    def make(self, word: str, **parameters: Any) -> MlautEstimator:
        """Return a new strategy; ``chosen_by`` keeps a word that stands for several strategies."""
        strategy: MlautEstimator = self.load()(**parameters)
        if word not in (self.name, self.class_name):
            strategy.chosen_by = word
        return strategy

    def load(self) -> Any:
        """Import and return the class."""
        if isinstance(self.entry_point, type):
            return self.entry_point
        module, _, name = self.entry_point.partition(":")
        return getattr(import_module(module), name)

    def has(self, key: str, wanted: Any) -> bool:
        """Return whether a property equals or contains a value; import the class if needed."""
        source = self if key in _SPEC_FIELDS else self.load().properties
        value = getattr(source, key)
        return wanted in value if isinstance(value, tuple) else bool(value == wanted)


_SPEC_FIELDS = tuple(field.name for field in fields(Spec))


class Registry:
    """Ordered collection of strategies with unique names.

    Parameters
    ----------
    specs : iterable of Spec, optional

    Examples
    --------
    >>> [spec.name for spec in REGISTRY.search("Naive_Bayes", tasks="Classification")]
    ['GaussianNaiveBayes', 'BernoulliNaiveBayes']
    >>> REGISTRY.search("KNeighbours")
    Traceback (most recent call last):
    mlaut.errors.StrategyError: no strategy, family or task is called 'KNeighbours'; \
did you mean 'K_Neighbours'?
    """

    def __init__(self, specs: Iterable[Spec] = ()) -> None:
        self._specs: dict[str, Spec] = {}
        for spec in specs:
            self.add(spec)

    def __iter__(self) -> Iterator[Spec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)

    def __getitem__(self, name: str) -> Spec:
        if name not in self._specs:
            raise StrategyError(f"no strategy is called {name!r}; {nearest(name, self._specs)}")
        return self._specs[name]

    def add(self, spec: Spec) -> None:
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
                f"({self._specs[spec.name].entry_point}); give the new one another name"
            )
        self._specs[spec.name] = spec

    def register(self, cls: Class) -> Class:
        """Add a user's strategy class and return it; usable as a decorator above `properties`.

        Raises
        ------
        StrategyError
            The name is taken.
        """
        metadata = cls.properties  # type: ignore[attr-defined]
        self.add(
            Spec(
                metadata.name,
                cls,
                metadata.estimator_family,
                metadata.tasks,
                package=metadata.package,
            )
        )
        return cls

    def search(self, *words: str, **metadata: Any) -> tuple[Spec, ...]:
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
        tuple of Spec

        Raises
        ------
        StrategyError
            A word or a property is not known.
        """
        found = self.by_word(*(words or (ALL,)))
        return tuple(
            spec
            for spec, _ in found
            if all(spec.has(key, wanted) for key, wanted in self._checked(metadata).items())
        )

    def by_word(self, *words: str) -> list[tuple[Spec, str]]:
        """Return strategies as `search` does, each once, with the word that matched it.

        If several words match a strategy, its own name takes precedence over words for several
        strategies.
        """
        found: dict[str, tuple[Spec, str]] = {}
        for word in words:
            for spec in self._asked_for(word):
                if spec.name not in found or word in (spec.name, spec.class_name):
                    found[spec.name] = (spec, word)
        return list(found.values())

    def _asked_for(self, word: str) -> list[Spec]:
        matches = [spec for spec in self if word in spec.words]
        if not matches:
            known = dict.fromkeys(known for spec in self for known in spec.words)
            raise StrategyError(
                f"no strategy, family or task is called {word!r}; {nearest(str(word), known)}"
            )
        return matches

    def _checked(self, metadata: dict[str, Any]) -> dict[str, Any]:
        unknown = [key for key in metadata if key not in _SPEC_FIELDS]
        if unknown:
            from mlaut.estimators.metadata import Properties

            known = {*_SPEC_FIELDS, *Properties.__dataclass_fields__}
            for key in unknown:
                if key not in known:
                    raise StrategyError(f"no property is called {key!r}; {nearest(key, known)}")
        return metadata

    def table(self, *words: str, **metadata: Any) -> pd.DataFrame:
        """Return a table of strategies: one per row, with family, task, collection and package.

        Examples
        --------
        >>> REGISTRY.table("Naive_Bayes")["family"].tolist()
        ['Naive_Bayes', 'Naive_Bayes']
        """
        import pandas as pd

        rows = [
            {
                "name": spec.name,
                "family": ", ".join(spec.estimator_family),
                "task": ", ".join(spec.tasks),
                "collection": spec.collection,
                "package": spec.package,
            }
            for spec in self.search(*words, **metadata)
        ]
        return pd.DataFrame(rows, columns=["name", "family", "task", "collection", "package"])


def instantiate_default_estimators(
    estimators: str | Iterable[str] = (ALL,),
    verbose: int = 0,
    n_jobs: int | None = 1,
    *,
    registry: Registry | None = None,
    **parameters: Any,
) -> list[MlautEstimator]:
    """Return new strategies of MLaut, with their default tuning grids.

    Parameters
    ----------
    estimators : str or iterable of str, default ("all",)
        Names, families, tasks (``"Classification"``), collections, or ``"all"``.
    verbose : int, default 0
        Verbosity of the tuning searches.
    n_jobs : int or None, default 1
        Number of tuning fits in parallel; -1 uses all cores.
    registry : Registry, optional
        Registry to search; by default `REGISTRY`, which comes with MLaut.
    **parameters
        Parameters of `MlautEstimator` for every strategy: ``random_state=0``, ``cv=3``, ...

    Returns
    -------
    list of MlautEstimator

    Raises
    ------
    StrategyError
        A name is not known; the message suggests the nearest name.

    Examples
    --------
    >>> est = ["RandomForestClassifier", "BaggingClassifier"]
    >>> instantiate_default_estimators(estimators=est)
    [<mlaut.estimators.ensemble_estimators.Random_Forest_Classifier>,
     <mlaut.estimators.ensemble_estimators.Bagging_Classifier>]
    """
    words = [estimators] if isinstance(estimators, str) else list(estimators)
    found = (REGISTRY if registry is None else registry).by_word(*words)
    return [spec.make(word, verbose=verbose, n_jobs=n_jobs, **parameters) for spec, word in found]


def _specs(module: str, family: str, task: str, **names: str) -> list[Spec]:
    """Return the specs of a module, from ``class="name"`` pairs."""
    home = f"mlaut.estimators.{module}"
    return [Spec(name, f"{home}:{cls}", (family,), (task,)) for cls, name in names.items()]


def _lacoste(name: str, family: str) -> Spec:
    entry_point = f"mlaut.estimators.lacoste_estimators:{name}"
    return Spec(name, entry_point, (family,), (CLASSIFICATION,), collection="Lacoste2012")


def _networks() -> list[Spec]:
    """Return the specs of the study's networks; their family is also their collection."""
    home = "mlaut.estimators.nn_estimators"
    family = "Neural_Networks"
    return [
        Spec(n.name, f"{home}:{n.class_name}", (family,), (n.task,), family, "keras")
        for n in LISTED
    ]


REGISTRY = Registry(
    [
        *_specs(
            "baseline_estimators",
            "Baseline",
            CLASSIFICATION,
            Baseline_Classifier="BaselineClassifier",
        ),
        *_specs(
            "nb_estimators",
            "Naive_Bayes",
            CLASSIFICATION,
            Gaussian_Naive_Bayes="GaussianNaiveBayes",
            Bernoulli_Naive_Bayes="BernoulliNaiveBayes",
        ),
        *_specs(
            "glm_estimators",
            "Generalized_Linear_Models",
            CLASSIFICATION,
            Logistic_Regression="LogisticRegression",
            Passive_Aggressive_Classifier="PassiveAggressiveClassifier",
        ),
        *_specs("cluster_estimators", "Cluster", CLASSIFICATION, K_Neighbours="K_Neighbours"),
        *_specs("svm_estimators", "Support_Vector_Machines", CLASSIFICATION, SVC_mlaut="SVC"),
        *_specs(
            "tree_estimators",
            "Decision_Tree",
            CLASSIFICATION,
            Decision_Tree_Classifier="DecisionTreeClassifier",
        ),
        *_specs(
            "ensemble_estimators",
            "Ensemble_methods",
            CLASSIFICATION,
            Random_Forest_Classifier="RandomForestClassifier",
            Bagging_Classifier="BaggingClassifier",
            Gradient_Boosting_Classifier="GradientBoostingClassifier",
            Hist_Gradient_Boosting_Classifier="HistGradientBoostingClassifier",
        ),
        *_specs(
            "baseline_estimators", "Baseline", REGRESSION, Baseline_Regressor="BaselineRegressor"
        ),
        *_specs(
            "glm_estimators",
            "Generalized_Linear_Models",
            REGRESSION,
            Ridge_Regression="RidgeRegression",
            Lasso_mlaut="Lasso",
            Lasso_Lars="LassoLars",
        ),
        *_specs(
            "cluster_estimators",
            "Cluster",
            REGRESSION,
            K_Neighbours_Regressor="K_Neighbours_Regressor",
        ),
        *_specs("svm_estimators", "Support_Vector_Machines", REGRESSION, SVR_mlaut="SVR"),
        *_specs(
            "tree_estimators",
            "Decision_Tree",
            REGRESSION,
            Decision_Tree_Regressor="DecisionTreeRegressor",
        ),
        *_specs(
            "ensemble_estimators",
            "Ensemble_methods",
            REGRESSION,
            Random_Forest_Regressor="RandomForestRegressor",
            Bagging_Regressor="BaggingRegressor",
            Gradient_Boosting_Regressor="GradientBoostingRegressor",
            Hist_Gradient_Boosting_Regressor="HistGradientBoostingRegressor",
        ),
        _lacoste("Lacoste_SVM", "Support_Vector_Machines"),
        _lacoste("Lacoste_Parzen", "Cluster"),
        _lacoste("Lacoste_AdaBoost", "Ensemble_methods"),
        _lacoste("Lacoste_ANN", "Neural_Networks"),
        Spec(
            "RandomForestClassifier_large_grid",
            "mlaut.estimators.ensemble_estimators:Random_Forest_Classifier_Large_Grid",
            ("Ensemble_methods",),
            (CLASSIFICATION,),
            collection="Large_grids",
        ),
        *_networks(),
    ]
)
"""Strategies that come with MLaut."""

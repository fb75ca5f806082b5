"""Strategy that wraps any scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from mlaut.errors import StrategyError
from mlaut.estimators.catalogue import NATIVE
from mlaut.estimators.early_stopping import EarlyStopping
from mlaut.estimators.metadata import Properties
from mlaut.estimators.mlaut_estimator import DEFAULT, MlautEstimator
from mlaut.estimators.native import coding_of
from mlaut.estimators.parameters import package_of
from mlaut.estimators.preprocessing import Preprocessor
from mlaut.identity.digests import canonical
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS

__all__ = ["Generic_Estimator"]


class Generic_Estimator(MlautEstimator):  # noqa: N801 - MLaut's name
    """Strategy that wraps any scikit-learn estimator.

    The table is prepared only as far as necessary: gaps are filled and columns that are not numbers
    are encoded. LightGBM, CatBoost, histogram boosting, explainable boosting, and XGBoost with
    ``enable_categorical=True``, take gaps and categories as they are. A table of complete numbers
    reaches the estimator unchanged, so results equal those of scikit-learn alone on the same rows
    in the same order. (A study has rows in ascending order, as scikit-learn's k-fold splitters do;
    ``ShuffleSplit`` returns them in the order of the draw.)
    An estimator that contains a `Pipeline` or `ColumnTransformer` gets no preprocessing; add
    ``preprocessing=Preprocessor()`` if it cannot handle the table.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor, alone, in a pipeline or in a search. It is not changed.
    properties : Properties or mapping, optional
        Metadata. Missing entries are derived from the estimator: ``name`` from its class, ``tasks``
        from its type.
    **parameters
        Parameters of `MlautEstimator`; ``param_grid`` turns on tuning.

    Raises
    ------
    StrategyError
        The object is not an estimator, or its task cannot be inferred.

    Examples
    --------
    >>> from sklearn.neighbors import NearestCentroid
    >>> strategy = Generic_Estimator(estimator=NearestCentroid(), name="Centroids")
    >>> strategy.name, strategy.tasks
    ('Centroids', ('Classification',))
    """

    def __init__(
        self,
        estimator: Any,
        *,
        properties: Properties | Mapping[str, Any] | None = None,
        name: str = DEFAULT,
        params: Mapping[str, Any] | None = None,
        param_grid: Any = DEFAULT,
        search: str | None = None,
        budget: Any = None,
        search_space: Any = DEFAULT,
        cv: Any = DEFAULT,
        scoring: Any = None,
        preprocessing: Any = DEFAULT,
        normalize_labels: bool | str = DEFAULT,
        random_state: Any = None,
        n_jobs: int | None = None,
        share_work: bool = True,
        size_limit: Any = DEFAULT,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.properties = properties
        super().__init__(
            name=name,
            params=params,
            param_grid=param_grid,
            search=search,
            budget=budget,
            search_space=search_space,
            cv=cv,
            scoring=scoring,
            preprocessing=preprocessing,
            normalize_labels=normalize_labels,
            random_state=random_state,
            n_jobs=n_jobs,
            share_work=share_work,
            size_limit=size_limit,
            verbose=verbose,
        )

    @property
    def metadata(self) -> Properties:
        """Metadata from ``properties``, completed from the estimator."""
        if isinstance(self.properties, Properties):
            return self.properties
        given = dict(self.properties or {})
        if "tasks" not in given:
            given["tasks"] = _tasks_of(self.estimator)
        own = {} if _prepares_itself(self.estimator) else {"preprocessing": self._prepared()}
        known = {"name": name_of(self.estimator), "estimator_family": ["Generic"]}
        return Properties(**{**known, "preprocessing": None, **own, **given})

    def _prepared(self) -> Preprocessor:
        coding = coding_of(self.estimator)
        native = {**NATIVE, "categories": coding} if coding else {}
        return Preprocessor(as_needed=True, **native)

    def formerly(self) -> Self | None:
        """Return the strategy that studies of older versions have under its name, or None.

        They have one-hot columns for learners that take categories.
        """
        one_hot = Preprocessor(as_needed=True)
        now, then, found = map(canonical, (self._prepared(), one_hot, self.preprocessing))
        if now == then or now != found:
            return None
        older = clone(self).set_params(preprocessing=one_hot)
        older.chosen_by = self.chosen_by
        return older

    def build(self, **_: Any) -> Any:
        """Return the estimator, wrapped in a search if there is a ``param_grid``.

        Raises
        ------
        StrategyError
            It is none of scikit-learn's kind, or a learner in it stops early, and nothing gives it
            rows to stop by.
        """
        if self.preprocessing is not None:
            _check_tags(self.estimator)
        _check_stopping(self.estimator)
        return self.tuned(self.estimator)

    def _required(self) -> dict[str, Any]:
        return {"estimator": self.estimator, "properties": self.properties}


def name_of(estimator: Any) -> str:
    """Return a name for an estimator: its class, or the classes of the steps of a pipeline.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> name_of(make_pipeline(StandardScaler(), SVC()))
    'StandardScaler-SVC'
    """
    if isinstance(estimator, Pipeline):
        steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
        return "-".join(name_of(step) for step in steps)
    inner = getattr(estimator, "estimator", None)
    if hasattr(estimator, "cv") and hasattr(inner, "fit"):
        return f"{type(estimator).__name__}-{name_of(inner)}"
    return type(estimator).__name__


def _tasks_of(estimator: Any) -> list[str]:
    if isinstance(estimator, type):
        name = estimator.__name__
        raise StrategyError(f"{name} is a class, not an estimator; give an instance: {name}()")
    for attribute in ("fit", "predict", "get_params"):
        # of the class too: an unfitted stack has no predict, which depends on its last estimator
        if not (hasattr(estimator, attribute) or hasattr(type(estimator), attribute)):
            raise StrategyError(
                f"a {type(estimator).__name__} is not an estimator: it has no {attribute} method; "
                "give a scikit-learn estimator, or derive the class from "
                "sklearn.base.BaseEstimator or MlautEstimator"
            )
    try:
        kinds = {CLASSIFICATION: is_classifier(estimator), REGRESSION: is_regressor(estimator)}
    except (AttributeError, TypeError):  # the estimator does not implement scikit-learn's tags
        kinds = {}
    if _takes_several_targets(estimator):
        raise StrategyError(
            f"{name_of(estimator)} is for several targets, and a dataset has one; give an "
            "estimator for one target"
        )
    tasks = [task for task, fits in kinds.items() if fits]
    if not tasks:
        raise StrategyError(
            f"the task of {name_of(estimator)} cannot be inferred: it is neither a classifier nor "
            f"a regressor; give properties={{'tasks': [{' or '.join(map(repr, TASKS))}]}} to "
            "Generic_Estimator"
        )
    return tasks


def _takes_several_targets(estimator: Any) -> bool:
    """Return whether an estimator is for tables of targets only."""
    try:
        return not get_tags(estimator).target_tags.single_output
    except (AttributeError, TypeError):  # the estimator does not implement scikit-learn's tags
        return False


def _check_tags(estimator: Any) -> None:
    """Raise an error if an estimator lacks the tags that a pipeline asks of its last step."""
    try:
        get_tags(estimator)
    except AttributeError as error:
        made = type(estimator).__name__
        raise StrategyError(
            f"{made} does not inherit from scikit-learn's BaseEstimator: let it do so with "
            "ClassifierMixin or RegressorMixin, or give preprocessing=None"
        ) from error


def _check_stopping(estimator: Any) -> None:
    """Raise an error if a learner stops early without `EarlyStopping`: it has no rows for it."""
    parts = {"": estimator, **estimator.get_params(deep=True)}
    for name, part in parts.items():
        held = isinstance(parts.get(name.rpartition("__")[0]), EarlyStopping)
        if package_of(part) not in ("xgboost", "lightgbm") or held:
            continue
        if given := [key for key in _STOPPING if (part.get_params().get(key) or 0) > 0]:
            made = type(part).__name__
            raise StrategyError(
                f"{made} stops early by rows that it does not fit: leave {given[0]} out, and give "
                f"EarlyStopping({made}(...), rounds={part.get_params()[given[0]]})"
            )


_STOPPING = ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change")
"""Parameters by which XGBoost and LightGBM stop, as their classes and parameters name them."""


def _prepares_itself(estimator: Any) -> bool:
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(isinstance(part, Pipeline | ColumnTransformer) for part in parts)

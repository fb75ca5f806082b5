"""Strategy that wraps any scikit-learn estimator."""

import contextlib
import copy
import numbers
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from inspect import Parameter, signature
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from mlaut.errors import StrategyError, shortened
from mlaut.estimators.libraries.early_stopping import EarlyStopping
from mlaut.estimators.libraries.library import library_of
from mlaut.estimators.libraries.native import coding_of
from mlaut.estimators.libraries.parameters import settable
from mlaut.estimators.looking import has, looked_at
from mlaut.estimators.preparing import NATIVE
from mlaut.estimators.preparing.preprocessing import Preprocessor
from mlaut.estimators.strategy.metadata import Properties
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.helpers.lazy import imported
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS


@dataclass(eq=False, repr=False)
class Generic_Estimator(MlautEstimator):  # noqa: N801 - MLaut's name
    """Strategy that wraps any scikit-learn estimator.

    The table is prepared only as far as necessary: gaps are filled and columns that are not numbers
    are encoded. LightGBM, CatBoost, histogram boosting, explainable boosting, and XGBoost with
    ``enable_categorical=True`` get gaps and categories unchanged. A table of complete numbers
    reaches the estimator unchanged, so results equal those of scikit-learn alone on the same rows
    in the same order. (A study has rows in ascending order, like scikit-learn's k-fold splitters;
    ``ShuffleSplit`` returns them in the order of the draw.)

    An estimator that contains a `Pipeline` or `ColumnTransformer` gets no preprocessing, nor does
    CatBoost with ``cat_features``; add ``preprocessing=Preprocessor()`` if it cannot handle the
    table. A `FrozenEstimator` is not fitted: fit it on other rows before.

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

    estimator: Any
    _: KW_ONLY
    properties: Properties | Mapping[str, Any] | None = None  # type: ignore[misc]

    @property
    def metadata(self) -> Properties:
        """Metadata from ``properties``, completed from the estimator."""
        check_methods(self.estimator)
        if isinstance(self.properties, Properties):
            return self.properties
        given = dict(self.properties or {})
        name = name_of(self.estimator)
        with looked_at(name):
            if "tasks" not in given:
                given["tasks"] = _tasks_of(self.estimator)
            own = {} if _prepares_itself(self.estimator) else {"preprocessing": self._prepared()}
        known = {"name": name, "estimator_family": ["Generic"]}
        return Properties(**{**known, "preprocessing": None, **own, **given})

    def _prepared(self) -> Preprocessor:
        coding = coding_of(self.estimator)
        return Preprocessor(as_needed=True, **({**NATIVE, "categories": coding} if coding else {}))

    def build(self, **_: Any) -> Any:
        """Return the estimator, wrapped in a search if there is a ``param_grid``.

        Raises
        ------
        StrategyError
            The estimator lacks scikit-learn's tags, or a learner in it stops early without
            validation rows.
        """
        if self.preprocessing is not None:
            _check_tags(self.estimator)
        _check_stopping(self.estimator)
        return self.tuned(self.estimator)

    def __sklearn_clone__(self) -> Self:
        try:
            return super().__sklearn_clone__()
        except RuntimeError:  # a learner that `clone` refuses
            return copy.deepcopy(self)
        except TypeError as error:  # of a lock, a connection, an open file
            raise StrategyError(
                f"a parameter of {type(self.estimator).__name__} cannot be copied for each fit "
                f"({error}); give what describes it, and make the object in fit"
            ) from error

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
    if has(estimator, "cv") and has(estimator, "estimator") and has(estimator.estimator, "fit"):
        return f"{type(estimator).__name__}-{name_of(estimator.estimator)}"
    return type(estimator).__name__


def check_methods(estimator: Any) -> None:
    """Raise an error if an object is not an estimator."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise StrategyError(f"{name} is a class, not an estimator; give an instance: {name}()")
    _refuse_other_kinds(estimator)
    for attribute in ("fit", "predict", "get_params"):
        # of the class too: an unfitted stack has no predict, which depends on its last estimator
        if not (has(estimator, attribute) or has(type(estimator), attribute)):
            raise StrategyError(
                f"a {type(estimator).__name__} is not an estimator: it has no {attribute} method; "
                "give a scikit-learn estimator, or derive the class from "
                "sklearn.base.BaseEstimator or MlautEstimator"
            )


def _tasks_of(estimator: Any) -> list[str]:
    try:
        kinds = {CLASSIFICATION: is_classifier(estimator), REGRESSION: is_regressor(estimator)}
    except Exception:  # the estimator does not implement scikit-learn's tags
        kinds = {}
    tasks = [task for task, fits in kinds.items() if fits]
    if not tasks:
        why = _hidden_kind(estimator) or (
            "it is neither a classifier nor a regressor: derive its class from ClassifierMixin or "
            "RegressorMixin, before BaseEstimator"
        )
        raise StrategyError(
            f"the task of {name_of(estimator)} cannot be inferred: {why}, or give "
            f"properties={{'tasks': [{' or '.join(map(repr, TASKS))}]}} to Generic_Estimator"
        )
    return tasks


def _refuse_other_kinds(estimator: Any) -> None:
    """Raise an error for an estimator that predicts neither classes nor numbers."""
    kind = "survival learner" if has(estimator, "predict_survival_function") else None
    with contextlib.suppress(Exception):  # scikit-learn's tags are not there
        kind = kind or _OTHER_KINDS.get(get_tags(estimator).estimator_type)
    if kind:
        raise StrategyError(
            f"{name_of(estimator)} is a {kind}, and MLaut takes classifiers and regressors only; "
            "leave it out"
        )


_OTHER_KINDS: dict[Any, str] = {
    "clusterer": "clusterer",
    "outlier_detector": "detector of outliers",
    "density_estimator": "density estimator",
    "transformer": "transformer",
}


def _hidden_kind(estimator: Any) -> str:
    """Return why scikit-learn does not know the kind of a part; empty if no part hides it."""
    for part in (estimator, *estimator.get_params(deep=True).values()):
        for mixin, is_one in ((ClassifierMixin, is_classifier), (RegressorMixin, is_regressor)):
            if isinstance(part, mixin) and not is_one(part):
                name = type(part).__name__
                return (
                    f"scikit-learn asks BaseEstimator before {mixin.__name__}; write class {name}("
                    f"{mixin.__name__}, BaseEstimator)"
                )
    return ""


def _check_tags(estimator: Any) -> None:
    """Raise an error if an estimator lacks the tags that a pipeline needs for its last step."""
    try:
        get_tags(estimator)
    except AttributeError as error:
        learner = type(estimator).__name__
        raise StrategyError(
            f"{learner} does not inherit from scikit-learn's BaseEstimator: let it do so with "
            "ClassifierMixin or RegressorMixin, or give preprocessing=None"
        ) from error


def _check_stopping(estimator: Any) -> None:
    """Raise an error if a learner stops early without `EarlyStopping`, which holds rows back."""
    parts = {"": estimator, **settable(estimator)}
    for name, part in parts.items():
        _check_copied(part)
        held = isinstance(parts.get(name.rpartition("__")[0]), EarlyStopping)
        if held or not has(part, "get_params"):
            continue
        values = part.get_params()
        for key in library_of(part).stopping:
            rounds, kind = values.get(key), type(part).__name__
            is_number = isinstance(rounds, numbers.Real)
            if not rounds or (is_number and rounds <= 0):
                continue
            raise StrategyError(
                f"{kind} stops early by rows that it does not fit: leave {key} out, and give "
                f"EarlyStopping({kind}(...){f', rounds={rounds}' * is_number})"
            )


def _check_copied(part: Any) -> None:
    """Raise an error if copies of a learner lose what its class takes as ``**names``."""
    own = getattr(type(part), "get_params", None) is BaseEstimator.get_params
    if own and Parameter.VAR_KEYWORD in {x.kind for x in signature(type(part)).parameters.values()}:
        copied = type(part)(**part.get_params(deep=False))
        kept, left = (re.sub(r" at 0x\w+", "", repr(vars(one))) for one in (part, copied))
        if kept != left:
            given = f"{shortened(left, 80)}, not {shortened(kept, 80)}: name each in its __init__"
            raise StrategyError(f"copies of {type(part).__name__} for the fits have {given}")


def _prepares_itself(estimator: Any) -> bool:
    """Return whether an estimator prepares the table, or names columns of it."""
    try:
        parts = [estimator, *estimator.get_params(deep=True).values()]
    except Exception as error:  # of scikit-learn, about the constructor
        kind, why = type(estimator).__name__, " ".join(str(error).split()).rstrip(".")
        raise StrategyError(f"{kind}: {why}; name and store each parameter in __init__") from error
    return any(
        isinstance(part, (Pipeline, *imported("sklearn.compose.ColumnTransformer")))
        or ((names := library_of(part).columns) and not part.get_params().keys().isdisjoint(names))
        for part in parts
    )

"""Which estimators take features that are no table, or several targets; a step that flattens."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from mlaut.arrays import row_shape
from mlaut.estimators.libraries.library import LIBRARIES
from mlaut.estimators.looking import has
from mlaut.estimators.preparing.preprocessing import Preprocessor
from mlaut.helpers.lazy import imported
from mlaut.records import CLASSIFICATION

_OF_TABLES = ("sklearn", "mlaut", *LIBRARIES)  # packages whose tags say what they take


class Flatten(TransformerMixin, BaseEstimator):
    """Step of a pipeline that makes a table of an array: a column for each value of a row.

    Attributes
    ----------
    n_features_in_ : int
        Length of the first dimension of a row.

    Examples
    --------
    >>> Flatten().fit_transform(np.arange(12).reshape(2, 3, 2)).tolist()
    [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Note the shape of a row.

        Parameters
        ----------
        X : array-like, shape (n_rows, ...)
        y : ignored
        """
        self.row_ = row_shape(np.asarray(X))
        self.n_features_in_ = self.row_[0]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows as a table: shape (n_rows, n_values)."""
        return np.asarray(X).reshape(len(X), -1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:  # noqa: ARG002
        """Return the places of the values in a row, as in ``x0_12``."""
        places = np.ndindex(*self.row_)
        return np.array(["x" + "_".join(map(str, place)) for place in places], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def takes_arrays(model: Any) -> bool:
    """Return whether a model takes rows of more than one dimension, as far as one can know.

    What is of no package of learners for tables takes them: it may be the user's, or aeon's.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> takes_arrays(SVC()), takes_arrays(make_pipeline(Flatten(), SVC()))
    (False, True)
    """
    model = _core_of(model)
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if not _passes_on(step)]
        return not steps or takes_arrays(steps[0])
    if type(model).__module__.partition(".")[0] not in _OF_TABLES:
        return True
    tags = get_tags(model)
    return bool(tags.no_validation or tags.input_tags.three_d_array)


def takes_unequal(model: Any) -> bool:
    """Return whether a model takes series of different lengths, as far as one can know.

    Models of aeon and sktime have a tag for it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> takes_unequal(DummyClassifier()), takes_unequal(Flatten())
    (True, False)
    """
    model = _core_of(model)
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps if not _passes_on(step)]
        return not steps or takes_unequal(steps[0])
    own = model.get_tags() if hasattr(model, "get_tags") else {}
    known = type(model).__module__.partition(".")[0] in _OF_TABLES
    by_tags = known and bool(get_tags(model).no_validation)
    return bool(own.get("capability:unequal_length", by_tags or not known))


def takes_sparse(model: Any) -> bool:
    """Return whether a model takes sparse matrices, by its tags; those of other packages may not.

    scikit-learn 1.6 has no such tags: its models are taken to take them, and fail if they do not.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> takes_sparse(LinearSVC())
    True
    """
    from sklearn.linear_model import Ridge  # slow to load

    core = _core_of(model)
    known = get_tags(Ridge()).input_tags.sparse or not type(core).__module__.startswith("sklearn.")
    return bool(get_tags(core).input_tags.sparse or not known)


_UNTAGGED = ("MLPRegressor", "StackingClassifier")  # take several, which their tags do not say


def takes_targets(model: Any, task: str) -> str:
    """Return the targets that a model takes, by its tags: ``"one"``, ``"several"`` or ``"any"``.

    Models of other packages are taken to take any, and fail if they do not.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.svm import SVR
    >>> takes_targets(SVR(), "Regression"), takes_targets(Ridge(), "Regression")
    ('one', 'any')
    """
    if isinstance(model, Pipeline):
        return takes_targets(model.steps[-1][1], task)
    try:
        tags = get_tags(model)
    except Exception:  # of an object without tags
        return "any"
    if not tags.target_tags.single_output:
        return "several"
    labels = tags.classifier_tags if task == CLASSIFICATION else None
    if tags.target_tags.multi_output or (labels is not None and labels.multi_label):
        return "any"
    if (inner := _core_of(model)) is not model:
        return takes_targets(inner, task)
    known = type(model).__module__.partition(".")[0] in ("sklearn", "mlaut")
    return "one" if known and type(model).__name__ not in _UNTAGGED else "any"


def _passes_on(step: Any) -> bool:
    return step in (None, "passthrough") or isinstance(step, Preprocessor)


def _core_of(model: Any) -> Any:
    """Return what gets the rows first: the estimator in a search, or in a wrapper of MLaut."""
    if isinstance(model, imported("sklearn.compose.TransformedTargetRegressor")):
        return _core_of(model.regressor)
    inner = model.estimator if has(model, "estimator") else None
    passed = has(model, "cv") or type(model).__module__.startswith("mlaut.")
    return _core_of(inner) if passed and inner is not None else model

"""Weights and groups of rows: whether a model takes them, and by which argument of ``fit``."""

import contextlib
import inspect
from typing import Any

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from mlaut.errors import StrategyError
from mlaut.estimators.looking import has
from mlaut.helpers.lazy import imported

TAKES_NO_WEIGHTS = (
    "its fit takes no sample_weight; leave it out, or give the column of weights the role ignore"
)

NO_GROUPS = (
    "folds in it need the group of each row: give a column of the dataset the role group, or "
    "leave cv out"
)
_SPACES = ("param_grid", "param_distributions", "search_spaces")  # attributes of searches


def weight_argument(model: Any) -> str | None:
    """Return the name of the argument of ``fit`` that takes weights of rows.

    If a part of the model requests weights (scikit-learn's metadata routing, as in
    ``StandardScaler().set_fit_request(sample_weight=True)``), all parts get what they request; see
    `routes_weights`. Otherwise the last step of a pipeline gets the weights, and a search hands
    them to its estimator, which it scores without weights, as scikit-learn does without routing.

    Parameters
    ----------
    model : estimator
        Estimator, pipeline, search or scaled regressor.

    Returns
    -------
    str or None
        None if the model takes no weights, or if a step of a pipeline draws rows itself.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> weight_argument(SVC()), weight_argument(make_pipeline(StandardScaler(), SVC()))
    ('sample_weight', 'svc__sample_weight')
    >>> weight_argument(KNeighborsClassifier()) is None
    True
    """
    if routes_weights(model):
        return "sample_weight"
    if isinstance(model, Pipeline):
        if any(has(step, "fit_resample") for _, step in model.steps):
            return None
        name, last = model.steps[-1]
        inner = weight_argument(last)
        return inner and f"{name}__{inner}"
    if isinstance(model, imported("sklearn.compose.TransformedTargetRegressor")):
        return weight_argument(model.regressor)
    if _is_search(model):
        return weight_argument(model.estimator)
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else None


def group_argument(model: Any) -> str | None:
    """Return the name of the argument of ``fit`` that takes the groups of rows, if folds need them.

    A search hands groups to its folds. It may be the last step of a pipeline. Other estimators
    with folds (``LogisticRegressionCV``, members of a stack) get them by metadata routing.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> search = GridSearchCV(SVC(), {"C": [1, 10]}, cv=GroupKFold(3))
    >>> group_argument(make_pipeline(search)), group_argument(search.set_params(cv=3))
    ('gridsearchcv__groups', None)
    """
    if isinstance(model, Pipeline) and (inner := group_argument(model.steps[-1][1])):
        return f"{model.steps[-1][0]}__{inner}"
    if isinstance(model, imported("sklearn.compose.TransformedTargetRegressor")):
        return group_argument(model.regressor)
    return "groups" if _is_search(model) and _are_of_groups(model.cv) else None


def _is_search(model: Any) -> bool:
    return has(model, "estimator") and any(has(model, space) for space in _SPACES)


def _are_of_groups(folds: Any) -> bool:
    """Return whether folds need groups: as scikit-learn says, or by the signature of own code."""
    if not has(folds, "split") or isinstance(folds, str):
        return False
    if type(folds).__module__.partition(".")[0] in ("sklearn", "mlaut"):
        return _consumes(folds, "split", "groups")
    return "groups" in inspect.signature(folds.split).parameters


def needs_groups(model: Any) -> bool:
    """Return whether folds in a model need the groups of rows."""
    parts = model.get_params(deep=True).values()
    if not any(has(part, "split") and not isinstance(part, str) for part in parts):
        return False
    return group_argument(model) is not None or _consumes(model, "fit", "groups")


def fit_arguments(
    model: Any, weights: Any, groups: Any, *, grouped: bool
) -> tuple[dict[str, Any], contextlib.AbstractContextManager[None]]:
    """Return the weights and the groups of rows as arguments of ``fit``.

    Parameters
    ----------
    model : estimator
    weights, groups : ndarray, shape (n_rows,), or None
    grouped : bool
        `needs_groups` of the model.

    Returns
    -------
    arguments : dict
    context : context manager
        Context of the fit: it switches scikit-learn's metadata routing on where a part requests
        what is given.

    Raises
    ------
    StrategyError
        The model takes no weights, or its folds need groups and there are none.
    """
    given: dict[str, Any] = {}
    routed = weights is not None and routes_weights(model)
    if grouped:
        if groups is None:
            raise StrategyError(NO_GROUPS)
        direct = None if routed else group_argument(model)
        routed = direct is None
        given[direct or "groups"] = groups
    if weights is not None:
        name = "sample_weight" if routed else weight_argument(model)
        if name is None:
            raise StrategyError(TAKES_NO_WEIGHTS)
        given[name] = weights
    return given, config_context(enable_metadata_routing=True) if routed else _AS_IT_IS


_AS_IT_IS = contextlib.nullcontext()


def routes_weights(model: Any) -> bool:
    """Return whether a part of a model requests weights of rows for its fit.

    Such a model is fitted with scikit-learn's metadata routing switched on. Requests need the
    routing, too: ``with sklearn.config_context(enable_metadata_routing=True): ...``.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> with config_context(enable_metadata_routing=True):
    ...     asking = SVC().set_fit_request(sample_weight=True)
    >>> routes_weights(SVC()), routes_weights(asking)
    (False, True)
    """
    return _consumes(model, "fit", "sample_weight")


def _consumes(part: Any, method: str, name: str) -> bool:
    with config_context(enable_metadata_routing=True):
        try:
            return bool(get_routing_for_object(part).consumes(method, [name]))
        except (NotImplementedError, ValueError):
            return False  # a meta-estimator that does not route, or a fit of other arguments

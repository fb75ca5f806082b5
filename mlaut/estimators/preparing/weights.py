"""Weights of rows: whether a model takes them, and by which argument of ``fit``."""

from typing import Any

from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from mlaut.estimators.looking import has

TAKES_NO_WEIGHTS = (
    "its fit takes no sample_weight; leave it out, or give the column of weights the role ignore"
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
    if isinstance(model, TransformedTargetRegressor):
        return weight_argument(model.regressor)
    if has(model, "estimator") and any(has(model, space) for space in _SPACES):
        return weight_argument(model.estimator)
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else None


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
    with config_context(enable_metadata_routing=True):
        try:
            return bool(get_routing_for_object(model).consumes("fit", ["sample_weight"]))
        except NotImplementedError:  # a meta-estimator that does not route
            return False

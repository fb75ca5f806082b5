"""Categories for learners that accept them without one-hot coding."""

from typing import Any

from sklearn.pipeline import Pipeline

from mlaut.estimators.libraries.early_stopping import EarlyStopping
from mlaut.estimators.libraries.library import LIBRARIES, package_of
from mlaut.estimators.preparing.preprocessing import Preprocessor


def coding_of(estimator: Any) -> str | None:
    """Return the coding of categories that an estimator takes natively; None for one-hot.

    Returns
    -------
    str or None
        ``categories`` of the `Preprocessor`. It depends on the settings: XGBoost takes categories
        with ``enable_categorical=True``, histogram boosting with ``categorical_features`` unset.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    >>> coding_of(HistGradientBoostingClassifier()), coding_of(RandomForestClassifier())
    ('native', None)
    """
    if isinstance(estimator, EarlyStopping):
        return coding_of(estimator.estimator)
    if (package := package_of(estimator)) in LIBRARIES:
        return LIBRARIES[package].coding(estimator)
    of_dtype = estimator.get_params(deep=False).get("categorical_features") == "from_dtype"
    return "native" if of_dtype and package == "sklearn" else None


def category_arguments(model: Any, X: Any) -> dict[str, Any]:
    """Return the argument of ``fit`` that names the columns of text for CatBoost, else no argument.

    Parameters
    ----------
    model : estimator
        Assembled model of a strategy: its first step may be a `Preprocessor`.
    X : DataFrame or array-like, shape (n_rows, n_features)
        Table before preprocessing.
    """
    prepared = model.steps[0][1] if isinstance(model, Pipeline) else None
    if not isinstance(prepared, Preprocessor) or prepared.categories != "text":
        return {}
    texts = prepared.text_columns(X)
    return {f"{model.steps[-1][0]}__cat_features": texts} if texts else {}

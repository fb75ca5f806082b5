"""Catalogue of metrics by name: MLaut's metrics, scikit-learn's scorers, and metrics of users."""

import re
from contextlib import suppress
from typing import Any

from mlaut.analysis.common.arguments import shown
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.metrics import OWN, LossCost, LossQuantile
from mlaut.analysis.scores.usual_names import usual_name
from mlaut.errors import AnalysisError, nearest

# Endings of the names of metrics: lower is better for LESS, higher is better for GREATER.
LESS = (
    *("error", "loss", "rmse", "mae", "mse", "mape", "smape", "mase", "rmsle", "msle", "deviance"),
    *("pce", "wape", "wql", "mql", "sql", "crps", "incorrect", "inaccuracy", "imprecision"),
)
GREATER = (
    *("score", "accuracy", "acc", "auc", "r2", "correct", "correlation", "correlationcoefficient"),
    *("kappa", "kappastatistic", "roc", "prc", "precision", "recall", "measure", "f1"),
)
# Words of scores whose direction differs between fields, or that are losses by another name.
_EITHER = "brier|energy|entropy|interval|log|quantile|probab|rank|winkler|" + "|".join(LESS)
# Beginnings of words for what is bad, so that a score of it is none of which more is better.
_BAD = re.compile(
    r"(?<![a-z])(?:abnormal|anomal|attack|bad(?![a-z])|bias|complex|cost|damag|defect|delay|deviat|"
    r"difficult|disagree|dispar|dissimilar|distan|distort|diverg|drift|fail|fals|hallucinat|harm|"
    r"miss|nois|novelty|outlier|penal|perplex|regret|risk|sever|surpris|toxic|uncertain|unfair|"
    r"unsafe|violat|wrong).*(?:score|measure)$"
)
_CHANGE = re.compile(  # in front of what changes
    r"(?<![a-z])(?:chang|decreas|delta|differen|drop(?!out)|gain|gap|improv|increas|invers|loss(?:es)?[\s_]"
    r"(?:in|of)|reduc|saving)[a-z]*[\s_]"
)
# What is in every name that `metric` accepts beyond `OWN`: others need not wait for scikit-learn.
_KNOWN = re.compile(
    r"accuracy|auc|corrcoef|error|f1|jaccard|likelihood|precision|r2|recall|score|variance|"
    r"^neg|(?:cost|pinball|quantile)\("
)
_TIME = re.compile(  # with its unit
    r"(?:\w+[_ ])?(?:time|runtime|latency|duration|elapsed)[_ (]+"
    r"(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?|h|hours?)\)?"
)
_QUANTILE = re.compile(r"\s*(?:pinball|quantile)\(\s*(?:quantile\s*=\s*)?(\d*\.?\d+)\s*\)\s*", re.I)
_TURNED = re.compile(r"\s*(?:1(?:00)?\s*%?\s*[-\u2212]|[-\u2212]|minus\b|negative\b)\s*(.+)", re.I)


def direction(name: str) -> bool | None:
    """Return whether greater values of a metric are better; None if its name does not show it.

    Examples
    --------
    >>> direction("accuracy"), direction("my loss"), direction("cost of energy")
    (True, False, None)
    >>> direction("1 - accuracy"), direction("percent incorrect"), direction("interval score")
    (False, False, None)
    >>> direction("anomaly score"), direction("reduction of error"), direction("quality score")
    (None, None, True)
    """
    if (plain := _plain(name)) in OWN or _KNOWN.search(plain):
        with suppress(AnalysisError):
            return metric(name).greater_is_better
    word = re.sub(r"[^a-z0-9]", "", name.lower())
    if turned := _TURNED.fullmatch(name):
        return None if (other := direction(turned[1])) is None else not other
    if _TIME.fullmatch(name.lower()):
        return False
    if usual_name(name) is None and any(x.search(name.lower().strip()) for x in (_BAD, _CHANGE)):
        return None
    if name.startswith("neg_") or word.endswith(LESS):
        return name.startswith("neg_")
    if word.endswith("score") and re.search(_EITHER, word):
        return None
    if usual := usual_name(name):
        return usual.greater
    return True if word.endswith(GREATER) else None


def metric_names() -> list[str]:
    """Return every name that `metric` accepts, including the names of scikit-learn's scorers.

    Examples
    --------
    >>> {"misclassification", "f1", "neg_mean_absolute_error"} <= set(metric_names())
    True
    """
    from sklearn.metrics import get_scorer_names

    return sorted({*OWN, *get_scorer_names()})


def describe_metrics() -> list[dict[str, str]]:
    """Return a description of the metrics, one row for each name that `metric` accepts.

    Examples
    --------
    >>> describe_metrics()[0]["name"]
    'absolute'
    >>> [row for row in describe_metrics() if row["name"] == "mmce"]
    [{'name': 'mmce', 'metric': 'misclassification', 'task': 'Classification', 'better': 'less', \
'range': '0 to 1', 'needs': 'labels', 'source': 'MLaut'}]
    """
    rows = []
    for name in metric_names():
        score = metric(name)
        low, high = score.bounds
        rows.append(
            {
                "name": name,
                "metric": score.name,
                "task": score.task or "any",
                "better": "greater" if score.greater_is_better else "less",
                "range": f"{low:g} to {high:g}",
                "needs": score.uses,
                "source": "MLaut" if name in OWN else "scikit-learn",
            }
        )
    return rows


def metric(
    which: str | MLautScore | type[MLautScore] | Any, *, greater_is_better: bool | None = None
) -> MLautScore:
    """Return a metric.

    Parameters
    ----------
    which : str, MLautScore, scikit-learn scorer, or function
        The name of a metric of MLaut or of a scikit-learn scorer (if both have it, MLaut's metric
        is returned); a metric or its class; or a scorer that ``sklearn.metrics.make_scorer``
        returned. ``"cost(bad>good=5)"`` is a `LossCost`,
        ``"pinball(0.9)"`` a `LossQuantile`. Also, with a direction, a function of the
        truth and the predictions (labels, or numbers) of a test set.
    greater_is_better : bool, optional
        Direction of a function, which every other metric has by itself.

    Raises
    ------
    AnalysisError
        No metric has that name (the message names the nearest one), or a metric lacks its
        direction, its name or its method.

    Examples
    --------
    >>> metric("accuracy")
    <accuracy: Classification, average, greater is better, 0 to 1>
    >>> metric("neg_mean_absolute_error").loss_name
    'mean_absolute_error'
    >>> from sklearn.metrics import max_error
    >>> metric(max_error, greater_is_better=False)
    <max_error: any task, aggregate, less is better, -inf to inf>
    >>> metric("acuracy")
    Traceback (most recent call last):
    mlaut.errors.AnalysisError: metric 'acuracy' is not known; did you mean 'accuracy'?
    """
    is_function = callable(which) and not isinstance(which, type) and not hasattr(which, "_sign")
    if greater_is_better is not None and not is_function:
        raise AnalysisError(
            f"metric {shown(which)} has a direction of its own: leave greater_is_better out"
        )
    if isinstance(which, MLautScore):
        return _checked(which)
    if isinstance(which, type) and issubclass(which, MLautScore):
        return _checked(which())
    if callable(which):
        return _of_scikit(which, greater_is_better)
    if costs := re.fullmatch(r"\s*cost\((.*)\)\s*", str(which), re.DOTALL | re.I):
        return LossCost(costs[1])
    if quantile := _QUANTILE.fullmatch(str(which)):
        return LossQuantile(float(quantile[1]))
    name = _plain(str(which))
    if name in OWN:
        return OWN[name]()
    names = metric_names()
    if name in names:
        return _of_scikit(name)
    usual = _ABBREVIATED.get(name) or getattr(usual_name(name), "metric", name)
    hint = nearest(usual, names) or "; 'mlaut list metrics' lists those that are"
    raise AnalysisError(f"metric {shown(which)} is not known{hint}")


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


_ABBREVIATED = {
    "mape": "neg_mean_absolute_percentage_error",
    "medae": "neg_median_absolute_error",
    "msle": "neg_mean_squared_log_error",
    "rmsle": "neg_root_mean_squared_log_error",
}
"""Suggestions for abbreviations of the field whose letters are nearer to another metric."""


def _of_scikit(scorer: Any, greater_is_better: bool | None = None) -> MLautScore:
    from mlaut.analysis.scores.scikit import scikit_score

    return scikit_score(scorer, greater_is_better)


def _checked(score: MLautScore) -> MLautScore:
    """Return a metric; raise `AnalysisError` if it has no direction, no name or no method."""
    if not isinstance(getattr(score, "greater_is_better", None), bool):
        raise AnalysisError(
            f"metric {score.name or type(score).__name__!r} does not say its direction: "
            "set greater_is_better = True or False in its class"
        )
    if not score.name:
        raise AnalysisError(f"metric {type(score).__name__!r} has no name: set name in its class")
    if not score.average and type(score).calculate is MLautScore.calculate:
        raise AnalysisError(
            f"metric {score.name!r} computes nothing: define points(truth, predictions), "
            "or calculate(truth, predictions)"
        )
    return score

"""The Bayesian correlated t-test of two strategies on one dataset, from cross-validation.

Scenario (b). The posterior of the expected difference is a Student distribution. Its scale accounts
for the training rows that folds share: Corani & Benavoli (2015), after Nadeau & Bengio (2003).
"""

import numpy as np
from numpy.typing import ArrayLike

from mlaut.analysis.common.arguments import NotNegative, Pair, checked
from mlaut.analysis.common.display import SMALLEST_P
from mlaut.analysis.common.numerics import RELATIVE_NOISE
from mlaut.analysis.common.result_types import Estimate, ResultTable, TestResult
from mlaut.analysis.methods.bayes.sign_tests import EQUIVALENT
from mlaut.analysis.methods.cross_validation import fold_tests
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_interval, difference_table
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS
from mlaut.analysis.results.given import of_results
from mlaut.analysis.results.results import Results

_SOURCE = "Corani & Benavoli 2015; Benavoli, Corani, Demsar & Zaffalon 2017, section 3"


@checked
def correlated_t_probabilities(
    differences: ArrayLike, rope: NotNegative = 0.0, test_to_train: float | None = None
) -> np.ndarray:
    """Compute the Bayesian correlated t-test for many tables of differences, exactly.

    Scenario (b).

    Parameters
    ----------
    differences : array_like of float, shape (..., folds, runs), or (folds,)
        Loss of the first strategy minus loss of the second on each test set.
    rope : float, default 0
        Half width of the region of practical equivalence: expected differences up to this size are
        equivalent.
    test_to_train : float, optional
        Ratio of test to training rows; default 1 / (folds - 1), a correlation of 1 / folds.

    Returns
    -------
    ndarray of float, shape (..., 3)
        Probabilities that the first strategy is better, that both are equivalent, and that the
        second is better. If the differences do not vary, the posterior is a point. A point on the
        margin of the region counts as equivalent; a point at 0 without a region counts half for
        each strategy.

    Raises
    ------
    AnalysisError
        A difference is missing, the table is too small, or ``rope`` is negative.

    Examples
    --------
    >>> d = [-0.05, -0.01, 0.02, -0.04, -0.03, 0.0, -0.06, -0.02, -0.03, 0.01]
    >>> correlated_t_probabilities(d, rope=0.01).round(4)
    array([0.8093, 0.1762, 0.0145])
    """
    from scipy.special import stdtr

    x = difference_table(differences, CV_TESTS["corrected repeated k-fold"])
    mean, error, _, _ = cv_interval(x, test_to_train=test_to_train)
    df = x.shape[-1] * x.shape[-2] - 1
    scale = np.where(error > 0, error, 1.0)
    first = stdtr(df, (-rope - mean) / scale)
    second = stdtr(df, (mean - rope) / scale)
    far, near = (np.abs(mean) + rope) / scale, (np.abs(mean) - rope) / scale
    p = np.stack([first, stdtr(df, -near) - stdtr(df, -far), second], axis=-1)
    p = np.clip(p, SMALLEST_P, 1.0)
    p[..., 1] = np.where(rope > 0, p[..., 1], 0.0)
    return np.where((error > 0)[..., None], p, _point_probabilities(mean, rope))


def _point_probabilities(mean: np.ndarray, rope: float) -> np.ndarray:
    """Return the three probabilities of a posterior that is a point: shape (..., 3)."""
    outside = rope * (1 + RELATIVE_NOISE)
    first, second = (mean < -outside).astype(float), (mean > outside).astype(float)
    rest = 1 - first - second
    if rope > 0:
        return np.stack([first, rest, second], axis=-1)
    return np.stack([first + rest / 2, 0 * rest, second + rest / 2], axis=-1)


@checked
def correlated_t_test(
    differences: ArrayLike,
    rope: NotNegative = 0.0,
    strategies: Pair = ("A", "B"),
    metric: str = "",
    test_to_train: float | None = None,
) -> TestResult:
    """Compute the Bayesian correlated t-test of two strategies on one dataset.

    Scenario (b). There is no null hypothesis. The result is three probabilities, for strategies
    that are trained again on this source: the expected loss of the first is smaller by more than
    ``rope``; both are equivalent; the second is better.

    Parameters
    ----------
    differences : array_like of float, shape (folds, runs), or (folds,)
        Loss of the first strategy minus loss of the second on each test set.
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the loss.
    strategies : pair of str
        Names of the two strategies in the result.
    metric : str
        Name of the loss in the result.
    test_to_train : float, optional
        Ratio of test to training rows; default 1 / (folds - 1).

    Returns
    -------
    TestResult
        The effect is the expected difference with its 95 % credible interval, which equals the
        confidence interval of the corrected repeated k-fold t-test.

    Raises
    ------
    AnalysisError
        A difference is missing, the table is too small, or ``rope`` is negative.

    Notes
    -----
    Benavoli, Corani, Demsar & Zaffalon (2017), section 3.

    Examples
    --------
    >>> d = [-0.05, -0.01, 0.02, -0.04, -0.03, 0.0, -0.06, -0.02, -0.03, 0.01]
    >>> result = correlated_t_test(d, rope=0.01, strategies=["forest", "tree"])
    >>> {name: round(p, 4) for name, p in result.probabilities.items()}
    {'P(forest better)': 0.8093, 'P(equivalent)': 0.1762, 'P(tree better)': 0.0145}
    """
    x = difference_table(differences, CV_TESTS["corrected repeated k-fold"])
    p = correlated_t_probabilities(x, rope, test_to_train)
    mean, error, low, high = (float(v) for v in cv_interval(x, test_to_train=test_to_train))
    first, second = strategies
    names = (f"P({first} better)", EQUIVALENT, f"P({second} better)")
    effect = Estimate(
        name="expected difference",
        value=mean,
        standard_error=error,
        low=low,
        high=high,
        method="Student posterior",
        scenario="(b)",
        n=x.size,
        unit="test sets",
    )
    return TestResult(
        name="Bayesian correlated t-test",
        strategies=(first, second),
        metric=metric,
        null=f"none is tested: is one better by more than {rope:g}, re-trained on this dataset?",
        source=_SOURCE,
        scenario="(b)",
        df=float(x.size - 1),
        probabilities=dict(zip(names, p.tolist(), strict=True)),
        effects=(effect,),
        n=x.size,
        unit="test sets",
        ties=int((x == 0).sum()),
        notes=() if error else ("the differences do not vary: the posterior is a point",),
    )


@of_results
def correlated_t_datasets(
    results: Results, *, pair: Pair | None = None, rope: NotNegative = 0.0
) -> ResultTable:
    """Compute the Bayesian correlated t-test of all pairs of strategies on each dataset of a study.

    Scenario (b): each dataset is tested separately; see `correlated_t_test`.

    Parameters
    ----------
    results : Results
        Results of a cross-validation, repeated or not.
    pair : (str, str), optional
        Names of two strategies; default all pairs.
    rope : float, default 0
        Half width of the region of practical equivalence, in units of the metric.

    Returns
    -------
    ResultTable
        One row for each dataset and pair: the expected difference of the losses (first minus
        second) with its interval, and the three probabilities.

    Raises
    ------
    MissingCellsError
        Cells are missing.
    AnalysisError
        A dataset has fewer than two folds.

    Examples
    --------
    >>> import pandas as pd
    >>> folds = pd.MultiIndex.from_product([["iris"], range(2), range(3)])
    >>> losses = pd.DataFrame({"A": [1, 2, 3, 1, 2, 3.5], "B": [2, 2, 5, 3, 1, 4]}, index=folds)
    >>> results = Results.from_table(losses, greater_is_better=False)
    >>> correlated_t_datasets(results, rope=0.1).frame["P(first better)"].round(3).to_dict()
    {('iris', 'A', 'B'): 0.736}
    """
    results = fold_tests.selected(results, pair)

    def columns(x: np.ndarray, ratio: float | None) -> dict[str, np.ndarray]:
        mean, _, low, high = cv_interval(x, test_to_train=ratio, span=results.metric.span)
        first, equal, second = correlated_t_probabilities(x, rope, ratio).T
        values = {"expected difference": mean, "low": low, "high": high}
        return values | {"P(first better)": first, EQUIVALENT: equal, "P(second better)": second}

    frame = fold_tests.frame_by_dataset(results, fold_tests.fold_differences(results), columns)
    notes = [f"region of practical equivalence: +-{rope:g}"]
    name = "Bayesian correlated t-test on each dataset"
    return results.table(name, frame, _SOURCE, scenario="(b)", notes=notes)

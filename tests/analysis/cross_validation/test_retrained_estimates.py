import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis.methods.cross_validation.repeated_cv import (
    cv_interval,
    retrained_estimates,
    retrained_mean_estimates,
)
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, MissingCellsError


def _results(repeats: int = 2, folds: int = 5, **sizes: int) -> Results:
    index = pd.MultiIndex.from_product([["iris", "wine"], range(repeats), range(folds)])
    losses = np.random.default_rng(0).random((len(index), 2))
    table = pd.DataFrame(losses, index=index, columns=["A", "B"])
    return Results.from_table(table, greater_is_better=False, **sizes)


def test_each_dataset_has_the_corrected_interval():
    results = _results()
    frame = retrained_estimates(results, confidence=0.9).frame
    x = results.fold_losses.loc["wine", "B"].to_numpy().reshape(2, 5).T
    assert frame.loc[("wine", "B")].tolist() == pytest.approx(
        [float(v) for v in cv_interval(x, 0.9)]
    )
    assert frame.loc[("wine", "B"), "value"] == pytest.approx(results.losses.loc["wine", "B"])


def test_the_mean_adds_variances():
    results = _results()
    each = retrained_estimates(results).frame["standard_error"].unstack()
    mean = retrained_mean_estimates(results)
    known = np.sqrt((each["A"] ** 2).sum()) / 2
    assert mean.frame.loc["A", "standard_error"] == pytest.approx(known)
    half = mean.frame.loc["A", "high"] - mean.frame.loc["A", "value"]
    # Welch's test of two samples has the same degrees of freedom
    df = stats.ttest_ind(*results.fold_losses["A"].to_numpy().reshape(2, 10), equal_var=False).df
    assert 9 < df < 18
    assert half == pytest.approx(stats.t.ppf(0.975, df) * known)
    assert mean.scenario == "(b)"
    assert mean.notes[-1].startswith("approximate")


def test_the_mean_over_one_dataset_is_its_estimate():
    results = _results(repeats=1, n_test=10, n_train=40).select(datasets=["wine"])
    bounded = Results.from_table(results.fold_losses, metric="error", n_test=10, n_train=40)
    for given in (results, bounded):
        each = retrained_estimates(given).frame.loc["wine"]
        assert retrained_mean_estimates(given).frame.to_numpy() == pytest.approx(each.to_numpy())


@pytest.mark.parametrize("sd", [[1], [1, 1], [1, 4], [1] * 5])
def test_intervals_of_few_datasets_hold_their_level(sd):
    # Folds with the correlation that the corrected variance assumes: 1 / 3 for three folds. A
    # normal quantile covers 81, 88, 83 and 92 % here.
    generator = np.random.default_rng(0)
    shared, own = (generator.normal(size=(len(sd), n, 4000)) for n in (1, 3))
    x = np.array(sd)[:, None, None] * (np.sqrt(1 / 3) * shared + np.sqrt(2 / 3) * own)
    index = pd.MultiIndex.from_product([range(len(sd)), range(3)])
    table = pd.DataFrame(x.reshape(-1, 4000), index, columns=[f"s{i}" for i in range(4000)])
    frame = retrained_mean_estimates(Results.from_table(table, greater_is_better=False)).frame
    covered = ((frame["low"] < 0) & (frame["high"] > 0)).mean()
    assert 0.935 < covered < 0.97


def test_random_splits_take_the_sizes_of_the_study():
    results = _results(repeats=8, folds=1, n_test=10, n_train=40)
    x = results.fold_losses.loc["iris", "A"].to_numpy()
    known = cv_interval(x, test_to_train=0.25)
    row = retrained_estimates(results).frame.loc[("iris", "A")]
    assert row.tolist() == pytest.approx([float(v) for v in known])


def test_bad_studies_are_named():
    with pytest.raises(AnalysisError, match="dataset 'iris' has random splits of unknown size"):
        retrained_estimates(_results(repeats=8, folds=1))
    with pytest.raises(
        AnalysisError, match=r"dataset 'iris': .* from 1 fold x 1 run: split with 'kfold\(10\)'"
    ):
        retrained_estimates(_results(repeats=1, folds=1, n_test=10, n_train=20))
    index = pd.MultiIndex.from_product([["iris"], range(2), range(2)])
    gaps = pd.DataFrame({"A": [1, 2, 3, np.nan]}, index=index)
    with pytest.raises(MissingCellsError):
        retrained_estimates(Results.from_table(gaps, greater_is_better=False))

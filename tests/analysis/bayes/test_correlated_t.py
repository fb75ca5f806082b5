from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis.methods.bayes.correlated_t import (
    correlated_t_datasets,
    correlated_t_probabilities,
    correlated_t_test,
)
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError

# Benavoli et al. (2017), supplementary data: accuracy in percent of WEKA's classifiers.
FOLDS = pd.read_csv(Path(__file__).parents[1] / "data" / "benavoli2017_folds.csv")


def accuracy_differences(dataset: str, first: str, second: str) -> np.ndarray:
    rows = FOLDS[FOLDS["dataset"] == dataset]
    return (rows[first] - rows[second]).to_numpy().reshape(10, 10).T


@pytest.mark.parametrize(
    ("dataset", "expected", "tolerance"),
    [
        ("d46_squash-unstored", (0.800815, 0.085934, 0.113251), 6e-7),
        ("d01_anneal", (0.954286, 0.045714, 3.02e-07), 6e-7),
        ("d02_audiology", (0.081963, 0.908725, 0.009312), 6e-7),
    ],
)
def test_nbc_against_aode_with_a_rope_of_one_point(dataset, expected, tolerance):
    # Python notebook of Benavoli et al. (2017) for anneal: .954297, .045703, 3.04e-07.
    x = accuracy_differences(dataset, "nbc", "aode") / 100
    p = correlated_t_probabilities(x, rope=0.01)
    assert p == pytest.approx(expected, abs=tolerance)
    assert p.sum() == pytest.approx(1)


def test_squash_unstored_has_the_published_posterior():
    x = accuracy_differences("d46_squash-unstored", "nbc", "aode") / 100
    effect = correlated_t_test(x, 0.01).effect
    assert (effect.value, effect.standard_error) == pytest.approx((-0.056, 0.054232233), abs=6e-10)


def test_the_example_in_the_documentation_of_baycomp():
    # It does not name the dataset: it is the one called soybean in the corrected list of names.
    x = accuracy_differences("d41_soybean", "nbc", "j48")[:, 0]
    p = correlated_t_probabilities(-x)
    assert p[[0, 2]] == pytest.approx((0.4145119975061462, 0.5854880024938538), abs=1e-12)
    expected = (0.28584464173791, 0.269151871688025, 0.4450034865740651)
    assert correlated_t_probabilities(-x, rope=0.5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.3])
def test_baycomp_agrees(rope):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(0)
    x, y = rng.random(20), rng.random(20)
    theirs = baycomp.two_on_single(x, y, rope=rope, runs=2)
    ours = correlated_t_probabilities((y - x).reshape(2, 10).T, rope)
    assert ours[[0, 2] if rope == 0 else slice(None)] == pytest.approx(theirs, abs=1e-12)


def test_all_probabilities_keep_their_digits():
    x = np.random.default_rng(1).normal(0.2, 0.001, size=(10, 10))
    scale = np.sqrt(x.var(ddof=1) * (1 / 100 + 1 / 9))
    posterior = stats.t(99, x.mean(), scale)
    p = correlated_t_probabilities(x, rope=0.05)
    assert p[0] == pytest.approx(posterior.cdf(-0.05), rel=1e-9)
    assert p[1] == pytest.approx(posterior.cdf(0.05) - posterior.cdf(-0.05), rel=1e-9)
    swapped = correlated_t_probabilities(-x, rope=0.05)
    assert swapped[::-1] == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("value", "rope", "expected"),
    [
        (0.0, 0.0, (0.5, 0, 0.5)),
        (0.0, 0.1, (0, 1, 0)),
        (-0.2, 0.1, (1, 0, 0)),
        (0.2, 0.0, (0, 0, 1)),
        (0.1, 0.1, (0, 1, 0)),
    ],
)
def test_differences_that_do_not_vary_have_a_defined_answer(value, rope, expected):
    result = correlated_t_test(np.full(10, value), rope)
    assert tuple(result.probabilities.values()) == expected
    assert result.notes == ("the differences do not vary: the posterior is a point",)


def test_every_dataset_and_pair_of_a_study():
    index = pd.MultiIndex.from_product([["iris", "wine"], range(2), range(5)])
    losses = np.random.default_rng(2).random((20, 3))
    results = Results.from_table(
        pd.DataFrame(losses, index, ["A", "B", "C"]), greater_is_better=False
    )
    table = correlated_t_datasets(results, rope=0.05)
    here = results.fold_losses.loc["wine"]
    x = (here["B"] - here["C"]).to_numpy().reshape(2, 5).T
    row = table.frame.loc[("wine", "B", "C")]
    names = ["P(first better)", "P(equivalent)", "P(second better)"]
    assert row[names].tolist() == pytest.approx(correlated_t_probabilities(x, 0.05).tolist())
    assert len(table.frame) == 6
    assert table.notes[-1] == "region of practical equivalence: +-0.05"


def test_bad_input_is_named():
    with pytest.raises(AnalysisError, match="rope = -1 is not a number of 0 or more"):
        correlated_t_probabilities([0.1, 0.2], rope=-1)
    with pytest.raises(AnalysisError, match="a difference is missing"):
        correlated_t_probabilities([0.1, np.nan])

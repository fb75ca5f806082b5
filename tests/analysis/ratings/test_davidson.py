"""The Bradley-Terry-Davidson model: printed tables, quadrature, invariances, awkward tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import expit

from mlaut.analysis import Results, treat_missing
from mlaut.analysis.methods.ratings import bradley_terry
from mlaut.errors import AnalysisError, MissingCellsError

FIXTURES = Path(__file__).parents[1] / "fixtures"
WAINER = {"ties": "spread", "weight": 1.0, "confidence": 0.89}


def folds_of(name):
    table = pd.read_csv(FIXTURES / name, index_col=["dataset", "fold"])
    return Results.from_table(table, metric="accuracy")


@pytest.fixture(scope="module")
def base():
    return folds_of("wainer2023_base.csv")


def test_duels_of_wainer(base):
    """Wainer 2023, Table 3a. It has 9, 8, 3 for lgbm and xgb, and 5, 15, 0 for lda and svm: there
    three pairs of equal means differ in the 16th digit, and count as wins."""
    pairs = bradley_terry(base, n_samples=64).pairs
    order = ["dt", "lda", "lgbm", "xgb", "svm"]
    printed = {
        ("dt", "lda"): (6, 13, 1), ("dt", "lgbm"): (0, 17, 3), ("dt", "xgb"): (0, 17, 3),
        ("dt", "svm"): (5, 14, 1), ("lda", "lgbm"): (6, 13, 1), ("lda", "xgb"): (5, 14, 1),
        ("lda", "svm"): (5, 14, 1), ("lgbm", "xgb"): (8, 7, 5), ("lgbm", "svm"): (10, 9, 1),
        ("xgb", "svm"): (11, 8, 1),
    }  # fmt: skip
    assert list(pairs.strategies) == order
    for (a, b), (won, lost, tied) in printed.items():
        wins, ties = pairs.table("wins"), pairs.table("ties")
        assert (wins.loc[a, b], wins.loc[b, a], ties.loc[a, b]) == (won, lost, tied)


# Wainer 2023, Tables 4 and 6: mean, low and high (89 %), above .50, in [.45, .55]
PRINTED = {
    ("xgb", "lda"): (0.72, 0.62, 0.81, 1.00, 0.01), ("xgb", "dt"): (0.83, 0.76, 0.90, 1.00, 0.00),
    ("lgbm", "lda"): (0.71, 0.62, 0.81, 1.00, 0.01), ("lgbm", "dt"): (0.82, 0.76, 0.90, 1.00, 0.00),
    ("xgb", "lgbm"): (0.51, 0.40, 0.63, 0.56, 0.49), ("xgb", "svm"): (0.56, 0.47, 0.69, 0.82, 0.37),
    ("lgbm", "svm"): (0.55, 0.43, 0.66, 0.77, 0.40), ("svm", "lda"): (0.66, 0.56, 0.77, 0.99, 0.05),
    ("svm", "dt"): (0.79, 0.71, 0.87, 1.00, 0.00), ("lda", "dt"): (0.66, 0.56, 0.77, 0.99, 0.05),
}  # fmt: skip


def test_printed_tables_of_wainer(base):
    """The printed digits are rounded to .01 and come from 4,000 draws, as the ends show most."""
    table = base.fold_losses
    table.loc[("vote", slice(None), slice(None)), "svm"] -= 1e-6  # its win in Table 3a
    results = Results.from_table(table, greater_is_better=False)
    region = bradley_terry(results, rope=0.05, n_samples=20_000, **WAINER).pairs
    plain = bradley_terry(results, n_samples=20_000, **WAINER).pairs
    for (a, b), (mean, low, high, above, inside) in PRINTED.items():
        name = "probability of winning"
        assert region.value(name, a, b) == pytest.approx(mean, abs=0.0075)
        ends = [region.value(f"{name} {end}", a, b) for end in ("low", "high")]
        assert ends == pytest.approx([low, high], abs=0.025)
        assert plain.value("P(row better)", a, b) == pytest.approx(above, abs=0.015)
        assert region.value("P(equivalent)", a, b) == pytest.approx(inside, abs=0.025)


def test_local_region_as_in_the_readme_of_bbtcomp():
    """bbtcomp's README: duels with a local region of .4, and the means after spreading ties."""
    results = folds_of("wainer2023_first.csv")
    pairs = bradley_terry(results, local_rope=0.4, rope=0.05, **WAINER).pairs
    printed = {
        ("lgbm", "svm"): (9, 5, 6, 0.62, 0.16), ("lgbm", "rf"): (7, 6, 7, 0.53, 0.49),
        ("lgbm", "dt"): (18, 2, 0, 0.79, 0.00), ("lgbm", "knn"): (11, 5, 4, 0.68, 0.02),
        ("svm", "dt"): (13, 6, 1, 0.69, 0.02), ("svm", "knn"): (9, 3, 8, 0.57, 0.33),
        ("rf", "svm"): (11, 5, 4, 0.59, 0.26), ("rf", "dt"): (14, 4, 2, 0.77, 0.00),
        ("rf", "knn"): (11, 5, 4, 0.66, 0.05), ("knn", "dt"): (12, 6, 2, 0.63, 0.11),
    }  # fmt: skip
    for (a, b), (won, lost, tied, mean, inside) in printed.items():
        counts = pairs.value("wins", a, b), pairs.value("wins", b, a), pairs.value("ties", a, b)
        assert counts == (won, lost, tied)
        assert pairs.value("probability of winning", a, b) == pytest.approx(mean, abs=0.012)
        assert pairs.value("P(equivalent)", a, b) == pytest.approx(inside, abs=0.03)


def test_missing_as_in_wainer(base):
    """Wainer 2023, Table 7: xgb has no result on two datasets, whose duels are not counted."""
    table = base.fold_losses
    table.loc[("vote", slice(None), slice(None)), "svm"] -= 1e-6  # its win in Table 3a
    table.loc[(["biomed", "breast"], slice(None), slice(None)), "xgb"] = np.nan
    results = Results.from_table(table, greater_is_better=False)
    with pytest.raises(MissingCellsError):
        bradley_terry(results)
    pairs = bradley_terry(results, missing="left out", rope=0.05, n_samples=20_000, **WAINER).pairs
    won, lost = pairs.value("wins", "xgb", "svm"), pairs.value("wins", "svm", "xgb")
    assert (won, lost, pairs.value("ties", "xgb", "svm")) == (9, 8, 1)  # 10 and 9, spread
    printed = {("lgbm", "svm"): 0.54, ("xgb", "svm"): 0.53, ("xgb", "lda"): 0.69,
               ("xgb", "dt"): 0.81, ("svm", "lda"): 0.66}  # fmt: skip
    for (a, b), mean in printed.items():
        assert pairs.value("probability of winning", a, b) == pytest.approx(mean, abs=0.012)
    last = bradley_terry(treat_missing(results, "worst rank")).pairs
    assert last.value("wins", "dt", "xgb") == pairs.value("wins", "dt", "xgb") + 2


def _by_quadrature(won, lost, tied, weight=1.0):
    """P(first better) and the mean probability of winning of two strategies, by integration."""
    spreads = np.exp(np.linspace(-2, 2, 81))
    chances = np.exp(-2 * np.log(spreads) ** 2)

    def prior(x, scale):
        sd = scale * spreads
        return float(chances @ (np.exp(-0.5 * (x / sd) ** 2) / sd))

    def density(d, v):
        norm = np.log(np.exp(d / 2) + np.exp(-d / 2) + (np.exp(v) if tied else 0))
        log = (won - lost) * d / 2 + tied * (v if tied else 0) - (won + lost + tied) * norm
        return np.exp(weight * log) * prior(d, np.sqrt(2)) * (prior(v, 1) if tied else 1)

    def integral(f, low):
        if tied:
            return dblquad(lambda d, v: f(d) * density(d, v), -7, 4, low, 7, epsrel=1e-5)[0]
        return quad(lambda d: f(d) * density(d, 0), low, 7, epsrel=1e-8)[0]

    total = integral(lambda _: 1, -7)
    return integral(lambda _: 1, 0) / total, integral(expit, -7) / total


@pytest.mark.parametrize(("won", "lost", "tied"), [(9, 4, 0), (6, 0, 0), (5, 3, 6)])
def test_draws_are_those_of_quadrature(won, lost, tied, losses):
    outcome = np.repeat([0.0, 2.0, 1.0], [won, lost, tied])
    pairs = bradley_terry(
        losses({"A": outcome, "B": np.ones_like(outcome)}), n_samples=20_000, weight=1
    ).pairs
    better, mean = _by_quadrature(won, lost, tied)
    error = 4 * pairs.value("Monte Carlo error", "A", "B")
    assert error < 0.02
    assert pairs.value("P(row better)", "A", "B") == pytest.approx(better, abs=error)
    assert pairs.value("probability of winning", "A", "B") == pytest.approx(mean, abs=0.005)


class TestInvariance:
    def table(self, seed=4, n=40, k=4):
        values = np.random.default_rng(seed).normal(size=(n, k)) + 0.3 * np.arange(k)
        return pd.DataFrame(values, columns=list("ABCDEFGH")[:k])

    def of(self, table, **how):
        return bradley_terry(Results.from_table(table, greater_is_better=False), **how)

    def test_a_strategy_more_hardly_changes_a_pair(self):
        """Model: the odds of A against B do not depend on C. The weight keeps their width too."""
        table = self.table()
        few, many = self.of(table[["A", "B", "C"]]).pairs, self.of(table.assign(Z=9.0)).pairs
        name = "probability of winning"
        one, other = (
            [p.value(name + end, "A", "B") for end in ("", " low", " high")] for p in (few, many)
        )
        assert one == pytest.approx(other, abs=0.03)

    def test_names_and_units_do_not_matter(self):
        table = self.table(n=12)
        units = 2.0 ** np.arange(-12, 12, 2)[:, None]
        one, other = self.of(table), self.of(units * table)
        pd.testing.assert_frame_equal(one.strengths, other.strengths)
        turned = self.of(table[["C", "A", "D", "B"]], n_samples=20_000).strengths.sort_index()
        again = self.of(table, n_samples=20_000).strengths.sort_index()
        np.testing.assert_allclose(turned, again, atol=0.05)


def test_awkward_tables():
    """Scales from 1e-12 to 1e12, ties only, separation: probabilities, no warning."""
    rng = np.random.default_rng(5)
    for case in range(10):
        n, k = rng.integers(2, 9), rng.integers(2, 8)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        if case % 5 == 0:
            values[:] = values[:, :1]
        if case % 5 == 1:
            values = np.tile(np.arange(float(k)), (n, 1))
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        found = bradley_terry(Results.from_table(table, greater_is_better=False), n_samples=64)
        assert np.isfinite(found.strengths).all(axis=None)
        assert found.strengths["P(best)"].sum() == pytest.approx(1)
        if case % 5 == 0:
            assert found.strengths["strength"].abs().max() < 0.5
            assert found.tie > 0


def test_what_it_says(base):
    found = bradley_terry(base, n_samples=640)
    assert found.sentence().startswith(
        "Bradley-Terry-Davidson model of 1 - accuracy, 20 datasets: xgb is the strongest with "
        "probability 0."
    )
    assert found.pairs.pair("lgbm", "dt").effect.name == "probability of winning"
    assert any("weight of a duel 0.5" in note for note in found.notes)
    assert found.tie < 0  # few ties


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"ties": "drop"}, "ties = 'drop' is not known; one of 'davidson'"),
        ({"rope": 0.6}, "rope must be from 0 to less than .5"),
        ({"weight": 0.0}, "weight = 0 is not above 0 and at most 1"),
        ({"missing": "worst"}, "missing = 'worst' is not known; one of 'raise', 'left out'"),
        ({"local_rope": 0.4}, "a local region needs two folds, and '0' has one"),
    ],
)
def test_bad_options(how, words, losses):
    with pytest.raises(AnalysisError, match=words):
        bradley_terry(losses({"A": [0.0, 1.0], "B": [1.0, 0.0]}), **how)

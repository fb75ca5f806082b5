"""Scale-free means and the part of the best: published numbers, by hand, units, awkward tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, multi_comparison, nemenyi_test, scale_free_table

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture(scope="module")
def delgado():
    """121 datasets x 179 classifiers of Fernandez-Delgado et al. 2014, with 449 missing cells."""
    table = pd.read_csv(FIXTURES / "delgado2014_accuracy.csv.gz", index_col=0)
    return Results.from_table(table / 100, metric="accuracy")


def test_formulas_of_tabarena_by_hand(losses):
    """Improvability 1 - best / loss; 0 where all losses are 0. Ranks share ties."""
    table = {"A": [1.0, 0.0, 2.0, 4.0], "B": [2.0, 0.0, 1.0, 4.0], "C": [4.0, 0.0, 5.0, 2.0]}
    found = scale_free_table(losses(table)).frame
    assert found.loc["A", "improvability"] == pytest.approx((0 + 0 + 0.5 + 0.5) / 4)
    assert found.loc["C", "improvability"] == pytest.approx((0.75 + 0 + 0.8 + 0) / 4)
    assert found.loc["A", "average rank"] == pytest.approx((1 + 2 + 2 + 2.5) / 4)
    assert found.loc["A", "won duels"] == pytest.approx((1 + 0.5 + 0.5 + 0.25) / 4)
    assert found.loc["A", "share best"] == pytest.approx((1 + 1 / 3 + 0 + 0) / 4)
    # medians are 2, 0, 2 and 4
    assert found.loc["B", "normalised score"] == pytest.approx((0 + 1 + 1 + 0) / 4)
    assert found["share best"].sum() == pytest.approx(1)
    assert found["won duels"].mean() == pytest.approx(0.5)


def test_a_baseline_has_the_score_0(losses):
    table = {"A": [1.0, 2.0], "B": [2.0, 1.5], "C": [5.0, 3.0]}
    found = scale_free_table(losses(table), baseline="C").frame
    assert found.loc["C", "normalised score"] == 0
    assert found.loc["B", "normalised score"] == pytest.approx((3 / 4 + 1) / 2)


def test_units_do_not_matter():
    values = np.random.default_rng(0).random((6, 4))
    units = 10.0 ** np.array([-12, -5, 0, 3, 8, 12])[:, None]
    one, other = (
        scale_free_table(pd.DataFrame(v, columns=[*"ABCD"]), metric="loss", greater_is_better=False)
        for v in (values, values * units)
    )
    pd.testing.assert_frame_equal(one.frame, other.frame)


def test_losses_below_0_have_no_improvability(losses):
    found = scale_free_table(losses({"A": [-1.0, 1.0], "B": [0.0, 2.0]}))
    assert "improvability" not in found.frame
    assert any("improvability is a share of the loss" in note for note in found.notes)


def test_awkward_tables():
    rng = np.random.default_rng(1)
    for case in range(60):
        n, k = rng.integers(2, 9), 200 if case == 0 else rng.integers(2, 9)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        table = pd.DataFrame(values, columns=[f"s{i}" for i in range(k)])
        found = scale_free_table(table, metric="loss", greater_is_better=False).frame
        assert np.isfinite(found).all(axis=None)
        for name in ("won duels", "share best", "normalised score", "improvability"):
            low, value, high = (found[f"{name}{end}"] for end in (" low", "", " high"))
            assert ((low <= value) & (value <= high)).all()
            assert low.min() >= 0
            assert high.max() <= 1


def test_numbers_of_evaluma(garcia):
    """evaluma 0.3.0: improvability_ranking, elo_ranking's win rates, frequentist_comparison."""
    frame = scale_free_table(garcia).frame
    improvable = {"C4.5": 22.175128, "NaiveBayes": 23.508431, "CN2": 35.340813,
                  "k-NN(k=1)": 35.876021, "Kernel": 53.071515}  # fmt: skip
    assert (100 * frame["improvability"]).to_dict() == pytest.approx(improvable, abs=1e-6)
    rates = {"NaiveBayes": 0.466667, "CN2": 0.783333, "k-NN(k=1)": 0.75, "Kernel": 0.9}
    won = multi_comparison(garcia)
    counts = [[won.value(key, "C4.5", other) for key in ("wins", "ties")] for other in rates]
    shares = (np.array(counts) @ [1, 0.5]) / 30
    assert shares == pytest.approx(list(rates.values()), abs=1e-6)
    p = nemenyi_test(garcia).p_values.loc["C4.5"]
    theirs = {"CN2": 9.276498e-02, "Kernel": 4.471406e-07, "NaiveBayes": 9.992069e-01,
              "k-NN(k=1)": 3.895772e-02}  # fmt: skip
    assert p[list(theirs)].to_dict() == pytest.approx(theirs, rel=1e-6)

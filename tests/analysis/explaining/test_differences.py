"""Explained differences: correlations of scipy, invariances, what is found in noise."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test, spearmanr
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

from mlaut.analysis import Results, explain_differences, load_result, save_result
from mlaut.errors import AnalysisError


def noise(n, k=3, seed=0, spread=0.05):
    rng = np.random.default_rng(seed)
    losses = 0.3 + rng.normal(0, spread, (n, k))
    return pd.DataFrame(losses, columns=[*"ABCDEF"[:k]])


def about(n, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "rows": rng.lognormal(6, 2, n),
            "classes": 2 + (rng.random(n) < 0.2),
            "gaps": np.maximum(rng.normal(size=n), 0),
        }
    )


def explained(table, properties, **how):
    how = {"metric": "loss", "greater_is_better": False, "n_samples": 99} | how
    return explain_differences(table, properties, **how)


@pytest.mark.parametrize("n", [9, 25])
def test_correlations_are_scipys_with_a_jackknife(n):
    table, properties = noise(n), about(n)
    found = explained(table, properties).associations
    assert len(found) == 9
    for (first, second, name), row in found.iterrows():
        theirs = spearmanr(properties[name], table[second] - table[first])
        assert row["rho"] == pytest.approx(theirs.statistic)
        advantage = table[second] - table[first]
        left = [spearmanr(properties[name].drop(i), advantage.drop(i)).statistic for i in range(n)]
        t = abs(theirs.statistic) / np.sqrt((n - 1) * np.var(left))
        assert row["p_value"] == pytest.approx(max(theirs.pvalue, 2 * student.sf(t, n - 2)))
    adjusted = multipletests(found["p_value"], method="fdr_bh")[1]
    assert found["adjusted"].to_numpy() == pytest.approx(adjusted)


def test_few_datasets_have_exact_p_values():
    table, properties = noise(5, k=2), about(5)[["rows", "gaps"]]
    found = explained(table, properties).associations
    for (first, second, name), row in found.iterrows():
        d = table[second] - table[first]
        theirs = permutation_test(
            (properties[name],),
            lambda x, d=d: spearmanr(x, d).statistic,
            permutation_type="pairings",
            n_resamples=np.inf,
        )
        assert row["p_value"] == pytest.approx(theirs.pvalue, abs=1e-9)


def test_a_perfect_order_has_the_p_value_of_the_rarest_order():
    n = 9
    table = pd.DataFrame({"A": 1.0 + np.arange(n), "B": np.ones(n)})
    found = explained(table, pd.DataFrame({"rows": np.arange(n)})).associations
    assert found["rho"].item() == pytest.approx(-1)
    assert found["p_value"].item() == pytest.approx(2 / 362880)


def planted(n=60):
    table, properties = noise(n), about(n)
    table["A"] -= 0.03 * (np.log(properties["rows"]) - 6)
    return table, properties


def test_what_is_planted_is_found():
    found = explained(*planted())
    assert [key[2] for key in found.found.index] == ["rows", "rows"]
    assert {frozenset(key[:2]) for key in found.found.index} == {frozenset("AB"), frozenset("AC")}
    assert (found.found["rho"] > 0).all()
    assert set(found.predicted.index) == {("A", "B"), ("A", "C")}
    assert (found.predicted["R2"] > 0.2).all()
    assert (found.predicted["right"] > found.predicted["right without"] + 0.05).all()
    assert "2 are found (benjamini-hochberg, 0.05); the strongest: A gains on" in found.sentence()
    assert found.sentence().endswith("a model of all properties predicts 2 of 3 pairs.")


def test_nothing_is_found_in_noise():
    found = explained(noise(40, seed=5), about(40))
    assert found.found.empty
    assert found.predicted.empty
    assert "of 9 rank correlations between an advantage and a property, none is found" in (
        found.sentence()
    )
    assert found.sentence().endswith("predicts no difference: nothing is found.")


def test_names_and_order_do_not_matter():
    table, properties = planted()
    whole = explained(table, properties)
    turned = explained(table[["C", "B", "A"]], properties[["gaps", "rows", "classes"]])
    for (first, second, name), row in whole.associations.iterrows():
        other = turned.associations.loc[(second, first, name)]
        assert other["rho"] == pytest.approx(-row["rho"])
        assert other["p_value"] == pytest.approx(row["p_value"])
    for first, second in whole.models.index:
        assert turned.models.loc[(second, first), "R2"] == pytest.approx(
            whole.models.loc[(first, second), "R2"]
        )


def test_another_strategy_changes_no_correlation_nor_model():
    table, properties = planted()
    whole, alone = explained(table, properties), explained(table, properties, pair=("A", "B"))
    key, rows = ["rho", "p_value"], alone.associations.index
    pd.testing.assert_frame_equal(whole.associations.loc[rows, key], alone.associations[key])
    key = ["R2", "p_value", "right", "right without"]
    pd.testing.assert_frame_equal(whole.models.loc[[("A", "B")], key], alone.models[key])
    assert alone.models["adjusted"].item() == alone.models["p_value"].item()


def test_units_of_properties_and_of_losses_do_not_matter():
    table, properties = planted()
    unit = 10.0 ** np.random.default_rng(3).integers(-9, 9, len(table))
    whole = explained(table, properties, metric="rmse", greater_is_better=None)
    other = explained(
        table.mul(unit, axis=0), np.log1p(properties), metric="rmse", greater_is_better=None
    )
    pd.testing.assert_frame_equal(whole.associations, other.associations)
    pd.testing.assert_frame_equal(whole.models, other.models)


def test_the_loss_of_a_strategy_explains_only_the_others():
    table, properties = noise(20), about(20)[["rows"]]
    found = explained(table, properties.assign(**{"loss of A": table["A"]})).associations
    assert ("B", "C", "loss of A") in found.index
    assert len(found) == 4
    with pytest.raises(AnalysisError, match="the only property is the loss of a compared strategy"):
        explained(table[["A", "B"]], pd.DataFrame({"loss of A": table["A"]}))


def test_equal_strategies_and_constant_properties_are_named():
    table = noise(12)
    table["B"] = table["A"]
    found = explained(table, about(12).assign(same=1.0))
    assert "the same on all datasets, left out: same" in found.notes
    assert "no advantage varies between A and B" in found.notes
    equal = found.associations.loc[[("A", "B", name) for name in about(12)]]
    assert np.isnan(equal["rho"]).all()
    assert (equal["p_value"] == 1).all()
    assert found.models.loc[("A", "B"), "p_value"] == 1


def test_saved_and_loaded(tmp_path):
    found = explained(noise(12), about(12))
    save_result(found, tmp_path / "e.json")
    again = load_result(tmp_path / "e.json")
    assert again.sentence() == found.sentence()
    pd.testing.assert_frame_equal(again.models, found.models)


@pytest.mark.parametrize("heteroscedastic", [False, True])
def test_false_findings_in_noise(heteroscedastic):
    """At 5 %, 40 studies of noise have findings in 2 +- 1.4; 8 are 4 standard errors more."""
    with_finding = predicted = 0
    for seed in range(40):
        properties = about(12, seed=1000 + seed)
        spread = (
            0.05 / np.sqrt(1 + properties[["rows"]].rank().to_numpy()) if heteroscedastic else 1
        )
        found = explained(
            pd.DataFrame(np.random.default_rng(seed).normal(0, spread, (12, 3)), columns=[*"ABC"]),
            properties,
            n_samples=39,
            seed=seed,
        )
        with_finding += len(found.found) > 0
        predicted += len(found.predicted) > 0
    assert with_finding < 8
    assert predicted < 8


def test_bad_input():
    def told(message, table=None, properties=None, **how):
        with pytest.raises(AnalysisError, match=message):
            explained(
                noise(10) if table is None else table,
                about(10) if properties is None else properties,
                **how,
            )

    told("3 datasets explain nothing: it needs 4 datasets", noise(3))
    told("properties has no row for 8, 9", properties=about(8))
    told("properties has a dataset or a property twice", properties=about(10).set_axis([0] * 10))
    text = about(10).assign(domain="text")
    told("property 'domain' is no number: give a column of 0 and 1", properties=text)
    gap = about(10).mask(about(10)["rows"] == about(10)["rows"].max())
    told("property 'rows' is missing or infinite on some datasets", properties=gap)
    told("no property varies", properties=pd.DataFrame({"x": [1] * 10}))
    told("correction 'shaffer' is not known", correction="shaffer")
    told("n_samples must be 1 or more", n_samples=0)
    with pytest.raises(AnalysisError, match="properties must be a DataFrame by dataset, not list"):
        explained(noise(10), [1, 2])
    signed = Results.from_table(noise(10) - 0.3, metric="rmse", greater_is_better=False)
    with pytest.raises(AnalysisError, match="losses below 0 in different units do not compare"):
        explain_differences(signed, about(10))

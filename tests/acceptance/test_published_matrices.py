"""The script of examples/studies/published_matrices on a small table that is made up."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "studies" / "published_matrices" / "read.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("read_published_matrix", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return 12 datasets of 2 x 4 folds in percent: ``good`` is best, ``same`` is ``plain``."""
    rng = np.random.default_rng(0)
    level = np.repeat(rng.uniform(60, 80, 12), 8)[:, None]
    scores = level + rng.normal([8, 0, -9], 1.5, (96, 3))
    frame = pd.DataFrame(scores, columns=["good", "plain", "bad"]).round(3)
    frame["same"] = frame["plain"] + rng.normal(0, 0.05, 96)
    places = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(12)], [1, 2], [1, 2, 3, 4]], names=["dataset", "run", "fold"]
    )
    path = tmp_path_factory.mktemp("published") / "table.csv"
    frame.set_index(places).to_csv(path)
    return path


@pytest.fixture(scope="module")
def tables(script, table):
    pytest.importorskip("mlaut_extras")  # which has the hierarchical test
    results = script.read_folds(table, percent=True)
    return script.read(results, rope=0.01, draws=500, slow_pairs=1)


def test_methods_agree_where_the_data_are_clear(tables):
    verdicts = tables["verdicts"]
    for pair in [("good", "plain"), ("good", "bad"), ("plain", "bad")]:
        said = verdicts.loc[pair].drop([c for c in verdicts if "hierarchical" in c])
        paired = said.drop([c for c in said.index if "unpaired" in c])
        assert (paired == "first").mean() > 0.9
    assert verdicts.loc[("plain", "same"), "Bayesian sign, rope 0.01"] == "equivalent"


def test_counts_and_agreement_belong_to_the_verdicts(tables):
    methods, share = tables["methods"], tables["agreement"]
    assert (methods["pairs"] == methods.iloc[:, 3:].sum(axis=1)).all()
    assert methods.loc["Bayesian hierarchical, rope 0.01", "pairs"] == 1
    said = tables["verdicts"]
    expected = (said["t"] == said["Nemenyi"]).mean()
    assert share.loc["t", "Nemenyi"] == share.loc["Nemenyi", "t"] == expected
    assert np.allclose(np.diag(share), 1)


def test_kappa_is_that_of_cohen(script):
    said = pd.DataFrame({"a": ["first", "first", "undecided", "undecided"]})
    said["b"] = ["first", "undecided", "undecided", "undecided"]
    share, kappa = script.agreement(said)
    assert share.loc["a", "b"] == 0.75
    assert kappa.loc["a", "b"] == pytest.approx(0.5)


def test_a_quarrel_is_told_with_what_may_explain_it(tables):
    row = tables["contested"].loc[("plain", "same")]
    assert row["equivalent"] >= 2
    assert row["within rope"] == 1
    assert set(tables["contested"]["quarrel"]) <= {"equivalent or better", "decided or not"}


def test_methods_that_decide_for_different_strategies_come_first(script, table):
    results = script.read_folds(table, percent=True)
    said = pd.DataFrame({"a": ["first"] * 6, "b": ["first"] * 4 + ["undecided", "second"]})
    said.index = pd.MultiIndex.from_tuples(script.ma.t_test(results).pairs)
    found = script.contested_pairs(results, said, rope=0.01)
    assert found["quarrel"].tolist() == ["direction", "decided or not"]
    assert found.index[0] == ("bad", "same")


def test_single_datasets_are_judged_by_every_test_that_fits(tables):
    table = tables["on_each_dataset"]
    assert table["as reference"].iloc[0] == 1
    assert (table["verdicts"] == 12 * 6).all()
    assert table.loc["Bayesian correlated t, rope 0.01", "equivalent"] >= 6
    assert not table.index.str.contains("5x2cv").any()


def test_everything_is_written(script, tables, table, tmp_path):
    results = script.read_folds(table, percent=True)
    script.save(tables, script.figures(results, tables["agreement"]), tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"verdicts.csv", "tables.md", "agreement.png", "ranks.png", "pairs.png"} <= written
    assert "## methods" in (tmp_path / "tables.md").read_text(encoding="utf-8")


def test_missing_cells_that_matter_are_told(script, table):
    results = script.read_folds(table, percent=True)
    assert script.robustness(results).empty


def test_a_table_without_folds_is_refused(script, tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("dataset,A,B\niris,0.9,0.8\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="needs the columns dataset and fold"):
        script.read_folds(path)

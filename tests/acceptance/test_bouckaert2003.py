"""The scripts of examples/studies/bouckaert2003 on small inputs, and its page beside its tables."""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results
from mlaut.analysis.methods.cross_validation import cv_p_values

FOLDER = Path(__file__).parents[2] / "examples" / "studies" / "bouckaert2003"


sys.path.append(str(FOLDER))  # `run.py` imports `simulated.py`, which lies beside it


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"bouckaert_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and workers look it up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def run():
    yield loaded("run")
    del sys.modules["bouckaert_run"]


@pytest.fixture(scope="module")
def read():
    module = loaded("read")
    module.RUNS, module.SPLITS = (2, 10), (10,)  # fewer than on the page
    yield module
    del sys.modules["bouckaert_read"]


@pytest.fixture(scope="module")
def differences():
    """Make differences whose mean varies between datasets, larger from set to set."""
    rng = np.random.default_rng(0)

    def draw(n, folds, runs, mean=0.0):
        centre = rng.normal(mean, 0.02, (n, 1, 1))
        return centre + rng.normal(0, 0.08, (n, folds, runs))

    made = {"set1": draw(80, 10, 10), "again": draw(12, 10, 100, 0.06)}
    made["again_halves"] = draw(12, 2, 50, 0.06)
    for place, mean in enumerate((0, 0.03, 0.06, 0.1), start=1):
        made.setdefault(f"set{place}", draw(40, 10, 10, mean))
        made[f"set{place}_halves"] = draw(40, 2, 10, mean)
        made[f"set{place}_splits"] = draw(40, 100, 1, mean)[..., 0]
    return made


@pytest.fixture(scope="module")
def tables(read, differences):
    return read.read(differences)


def test_the_class_is_the_rule_but_for_the_flipped_rows(run):
    table = run.rule_table(np.random.default_rng(0), flipped=0.0)
    expected = np.where(table["x1"] == 1, table["x2"], table["x3"])
    assert ((table["class"] == "b") == (expected == 1)).mean() in (0.0, 1.0)
    noisy = run.rule_table(np.random.default_rng(0), flipped=0.15)
    assert noisy.drop(columns="class").equals(table.drop(columns="class"))
    assert 0.1 < (noisy["class"] != table["class"]).mean() < 0.2


def test_a_plan_runs_and_finds_everything_done_the_second_time(run, read, tmp_path):
    plan = replace(run.PLANS[1], scheme="repeated_kfold(5, 2)")
    for _ in range(2):
        assert plan.run(tmp_path, 2, engine="inline", verbose=0) == "set2: 40 cells, 40 done"
    studies = read.load(tmp_path)
    row = read.accuracy_table(studies).loc["set2"]
    assert (row["scheme"], row["datasets"], row["cells"]) == ("5 x 2", 2, 40)
    x = read.pair_differences(studies)["set2"]
    assert x.shape == (2, 5, 2)
    assert x.mean() == pytest.approx(row["tree"] - row["naive Bayes"])


def test_studies_of_one_set_differ_in_their_splits_only(run):
    by_set = {}
    for plan in run.PLANS:
        if plan.name.startswith("set"):
            by_set.setdefault(plan.name[:4], set()).add(plan.flipped)
    assert {name: len(flipped) for name, flipped in by_set.items()} == dict.fromkeys(by_set, 1)
    assert len({plan.name for plan in run.PLANS}) == len(run.PLANS)


def test_pairs_are_named_and_signed(read):
    losses = pd.DataFrame(
        {"naive Bayes": [1.0, 1, 1, 1], "tree": [0.0, 0, 0, 1], "other": [1.0, 1, 1, 0]},
        index=pd.MultiIndex.from_product([["a", "b"], range(2)]),
    )
    x = read.pair_differences({"set9": Results.from_table(losses, greater_is_better=False)})
    assert list(x) == ["set9", "set9: naive Bayes, other", "set9: tree, other"]
    assert x["set9"].sum() == 3
    assert x["set9: tree, other"].sum() == -2


def test_experiments_are_runs_that_follow_each_other(read):
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    two = read.experiments(x, 2)
    assert two.shape == (2, 2, 3, 2)
    assert two[1, 1].tolist() == x[1, :, 2:].tolist()


def test_effective_n_is_that_of_independent_differences(read):
    x = np.random.default_rng(1).normal(size=(4000, 10, 2))
    row = read.pair_table({"set1": x}).loc["set1"]
    assert row["effective n"] == pytest.approx(20, rel=0.1)
    assert row["standard error"] == pytest.approx(1 / np.sqrt(20 * 4000), rel=0.1)


def test_calibrated_degrees_of_freedom_reach_the_level(tables, differences):
    row = tables["calibration"].loc[("naive Bayes, tree", "use all data", 10, 0.05)]
    p = cv_p_values(differences["set1"], "use all data", row["df"])
    assert (p <= 0.05).mean() == row["type I error"]
    assert row["low"] <= row["df"] <= row["high"]
    k_fold = tables["calibration"].xs(("k-fold", 0.05), level=("test", "level"))
    assert k_fold["df"].nunique() == 1  # it uses the first run only


def test_rates_rise_from_set_to_set(tables, differences):
    rates = tables["rates"].sort_index().xs(("use all data", "calibrated"))
    assert rates["0.05"].is_monotonic_increasing
    p = cv_p_values(differences["set3"], "use all data")
    assert rates.loc["set3", "0.05"] == (p <= 0.05).mean()
    assert set(tables["rates"].xs("folds").index.unique("df")) == {"default"}


def test_replicability_is_counted_over_ten_experiments(tables, differences):
    p = cv_p_values(np.split(differences["again"], 10, axis=-1), "use all data")
    rejected = (p <= 0.05).sum(axis=0)
    row = tables["replicability"].loc[("use all data", 0.05)]
    assert row["all ten alike"] == np.isin(rejected, (0, 10)).mean()
    assert row["rejected"] == pytest.approx(rejected.mean() / 10)
    assert (row["datasets"], len(rejected)) == (12, 12)
    assert (tables["pairs"]["least"] <= tables["pairs"]["set3"]).all()


def test_figures_are_drawn_of_every_test(read, tables):
    table = tables["calibration"]
    panels = read.calibration_figure(table, "naive Bayes, tree").axes
    titles = {axes.get_title() for axes in panels if axes.get_title()}
    assert titles == set(table.index.unique("test"))
    drawn = read.tests_figure(tables["rates"], tables["replicability"])
    assert len(drawn.axes) == 3


@pytest.fixture(scope="module")
def published():
    """Return the committed tables."""
    index = {
        "calibration": ["pair", "test", "runs", "level"],
        "rates": ["test", "df", "set"],
        "replicability": ["test", "level"],
        "runs": ["test", "runs"],
    }
    paths = sorted(FOLDER.glob("*.csv"))
    return {p.stem: pd.read_csv(p, index_col=index.get(p.stem, 0)) for p in paths}


def test_the_page_shows_the_committed_tables(read, published):
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert (FOLDER / "tables.md").read_text(encoding="utf-8") == read.page(published)
    for frame in (
        published["effective_n"],
        read.df_page(published["calibration"]),
        read.tests_page(published),
    ):
        assert read.markdown(frame) in page


def test_the_committed_tables_are_of_the_studies_that_the_script_plans(run, published):
    studies = published["studies"]
    assert sorted(studies.index) == sorted(plan.name for plan in run.PLANS)
    for plan in run.PLANS:
        row = studies.loc[plan.name]
        folds, repeats = map(int, row["scheme"].split(" x "))
        assert row["datasets"] == plan.n_datasets
        assert row["cells"] == plan.n_datasets * folds * repeats * len(plan.strategies)
        assert list(row.dropna().index[3:]) == list(plan.strategies)


def test_what_the_page_says_of_the_tables_is_so(published):
    again = published["replicability"].xs(0.05, level="level")["pairs alike"]
    assert again["use all data"] > again["k-fold"] + 0.1
    best = published["calibration"].xs(("naive Bayes, tree", 0.05), level=("pair", "level"))["df"]
    assert best.xs("use all data", level="test").between(6, 9).all()
    assert best.xs("folds", level="test").max() <= 3

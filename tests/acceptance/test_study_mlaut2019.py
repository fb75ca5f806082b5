"""The tables of examples/studies/mlaut2019 on a small study with the same names."""

import importlib.util
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind, ttest_rel
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

import mlaut.analysis as ma
from mlaut import Data, Orchestrator
from mlaut.data import collection, collection_entries
from mlaut.errors import DataError, UnusableWarning
from mlaut.estimators import Generic_Estimator
from mlaut.experiments.study_files.choices import choose_strategies, prepare_data
from mlaut.experiments.study_files.study_file import read_study_file

FOLDER = Path(__file__).parents[2] / "examples" / "studies" / "mlaut2019"
TABLE8 = pd.read_csv(FOLDER / "table8.csv", index_col="strategy")
SMALL = ["iris", "wine", "zoo", "hepatitis", "glass"]
TRAINED = [name.removesuffix("_paper") for name in TABLE8.index if name.endswith("_paper")]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("tables_of_mlaut2019", FOLDER / "tables.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


class Never(GaussianNB):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise ValueError("never")


def learner(name):
    """Return a strategy of that name: the forest learns, one network fails, others guess."""
    if name in ("RandomForestClassifier", *TRAINED[:2]):
        kind = GaussianNB()
    elif name == "NN-4-layer_thin_dropout_lr1_paper":
        kind = Never()
    else:
        kind = DummyClassifier(strategy="prior")
    return Generic_Estimator(kind, name=name)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlaut2019")
    data = Data()
    tables = data.open_hdf5(folder / "input.h5", mode="a")
    tables.save_datasets(collection("starter", names=SMALL), "tables")
    for file, names in (("study.h5", TABLE8.index), ("trained.h5", TRAINED)):
        outcomes = data.open_hdf5(folder / file, mode="a")
        data.split_datasets(tables, outcomes, scheme="holdout")
        Orchestrator(tables, outcomes).run([*map(learner, names)], engine="inline", verbose=0)
    return folder / "study.h5", folder / "trained.h5"


@pytest.fixture(scope="module")
def tables(script, studies, tmp_path_factory):
    matrix = pd.DataFrame(
        {
            "RandomForestClassifier": [0.1, 0.2, 0.3],
            "SVC": [0.5, 0.6, 0.7],
            "BaselineClassifier": [0.7, 0.8, 0.9],
        },
        index=pd.Index(["iris", "wine", "elsewhere"], name="dataset"),
    )
    path = tmp_path_factory.mktemp("published") / "matrix.csv"
    matrix.to_csv(path)
    return script.read(*studies, path)[0]


def test_the_study_files_name_the_strategies_of_the_paper():
    files = [read_study_file(FOLDER / name) for name in ("study.toml", "trained.toml")]
    assert len(set(files[0].data.datasets)) == 35
    first, second = files
    assert (first.data, first.split) == (second.data, second.split)
    assert first.study.seed == second.study.seed
    paper, trained = ({s.name for s in choose_strategies(f)} for f in files)
    assert set(TABLE8.index) <= paper
    assert len(paper) == 12 + 18
    assert set(TRAINED) <= trained


def test_the_study_starts_on_a_fresh_clone(tmp_path):
    """Nine strategies of Table 8 on the datasets of the study that come with MLaut."""
    for name in ("starter.toml", "starter.py"):
        shutil.copy(FOLDER / name, tmp_path)
    file = read_study_file(tmp_path / "starter.toml")
    whole = read_study_file(FOLDER / "study.toml")
    ours = {entry.name for entry in collection_entries("starter")}
    assert list(file.data.datasets) == [name for name in whole.data.datasets if name in ours]
    assert (file.split, file.study.seed) == (whole.split, whole.study.seed)
    networks = bool(find_spec("keras"))
    with nullcontext() if networks else pytest.warns(UnusableWarning, match="18 networks"):
        strategies = choose_strategies(file)
    paper = [name for name in TABLE8.index if networks or not name.startswith("NN-")]
    assert {s.name for s in strategies} == {name.removesuffix("_paper") for name in paper}
    changed = replace(file, data=replace(file.data, datasets=("iris",)))
    assert prepare_data(changed)[1] == ["/starter/iris"]


@pytest.mark.parametrize("name", ["mlaut2019/study.toml", "race35/study.toml"])
def test_a_study_without_its_tables_says_what_loads_them(name, tmp_path):
    shutil.copy(FOLDER.parent / name, tmp_path)
    with pytest.raises(DataError, match=r"python \.\./load\.py"):
        prepare_data(read_study_file(tmp_path / "study.toml"))


def test_table_8_lies_beside_what_was_found(tables):
    table, scores = tables["table8_here"], tables["accuracy"].T
    assert set(table.index) == set(TABLE8.index)
    forest = table.loc["RandomForestClassifier"]
    found = scores["RandomForestClassifier"]
    assert forest["accuracy"] == pytest.approx(found.mean())
    assert forest["standard_error"] == pytest.approx(found.std(ddof=1) / np.sqrt(5))
    spread = np.hypot(0.013, forest["standard_error"])
    assert forest["z"] == pytest.approx((forest["accuracy"] - 0.831) / spread)
    assert table.index[0] == "RandomForestClassifier"  # the only one of the paper that learns


def test_where_there_is_no_result_the_baseline_stands_in_for_ranks_alone(tables):
    table = tables["table8_here"]
    failed = table.loc["NN-4-layer_thin_dropout_lr1_paper"]
    assert failed["rank"] == table.loc["BaselineClassifier", "rank"]
    assert failed["datasets"] == 0
    assert failed[["accuracy", "seconds", "z"]].isna().all()
    assert tables["cells"].loc["NN-4-layer_thin_dropout_lr1_paper", "error"] == 5


def test_errors_are_compared_on_the_datasets_of_both(tables):
    row = tables["same_datasets"].loc["SVC"]
    here = 1 - tables["accuracy"].loc["SVC", ["iris", "wine"]].astype(float).to_numpy()
    difference = here - [0.5, 0.6]
    assert row["datasets"] == 2
    assert row["difference"] == pytest.approx(difference.mean())
    assert row["furthest"] == ["iris", "wine"][np.abs(difference).argmax()]


def test_the_published_baseline_lies_beside_two_ways_to_guess(tables):
    table = tables["baselines"]
    assert list(table.index) == ["iris", "wine"]
    assert list(table["published"]) == [0.7, 0.8]
    assert table.loc["iris", "in proportion"] == pytest.approx(2 / 3)
    assert table.loc["wine", "majority"] == pytest.approx(1 - 71 / 178, abs=0.01)


def test_what_pairing_changes(script):
    rng = np.random.default_rng(0)
    level = rng.uniform(0, 0.8, 30)
    errors = pd.DataFrame({"a": level, "b": level + rng.normal(0.05, 0.02, 30)})
    errors["c"] = rng.permutation(level)
    table = script.pairing(ma.Results.from_table(errors, metric="error"))
    pair = table.loc[("a", "b")]
    assert pair["t"] == pytest.approx(ttest_rel(errors["a"], errors["b"]).pvalue)
    assert pair["t, unpaired"] == pytest.approx(ttest_ind(errors["a"], errors["b"]).pvalue)
    assert pair["t, Bonferroni"] == pytest.approx(3 * pair["t"])
    counts = script.decided(table)
    assert counts["t, Bonferroni"] == counts["signed rank, Bonferroni"] == 1
    assert counts["t, unpaired"] == counts["rank sum, unpaired"] == 0


def test_pairing_changes_what_the_published_errors_say(script):
    table = script.pairing(
        ma.Results.from_table(pd.read_csv(script.PUBLISHED, index_col="dataset"), metric="error")
    )
    pair = table.loc[("RandomForestClassifier", "SVC")]
    assert pair["t, unpaired"] == pytest.approx(0.348, abs=5e-4)
    assert pair["t"] == pytest.approx(0.00062, abs=5e-6)
    counts = script.decided(table)
    assert (counts["t, unpaired, Bonferroni"], counts["t, Bonferroni"]) == (23, 30)


def test_networks_are_compared_on_the_datasets_of_both_protocols(tables):
    networks = tables["networks"]
    learnt = networks.loc[TRAINED[0]]
    assert learnt["datasets"] == 5
    assert learnt["trained"] == learnt["RandomForestClassifier"] > learnt["one epoch"]
    assert learnt["P(trained better than one epoch)"] > 0.85
    none = networks.loc["NN-4-layer_thin_dropout_lr1"]
    assert none["datasets"] == 0
    assert np.isnan(none["P(trained better than one epoch)"])


def rows_of_page(after):
    """Return the cells of each row of the first table after a text of the page."""
    page = (FOLDER / "README.md").read_text(encoding="utf-8").split(after, 1)[1]
    lines = page[page.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()[2:]
    return {
        cells[0]: cells[1:]
        for cells in ([c.strip(" *") for c in r.split("|")[1:-1]] for r in lines)
    }


def committed(name):
    return pd.read_csv(FOLDER / "results" / f"{name}.csv", index_col=0)


def test_the_page_shows_the_committed_table_8():
    table = committed("table8_here").rename(index=lambda name: name.removesuffix("_paper"))
    page = rows_of_page("## The paper's Table 8")
    assert list(page) == list(table.index)
    for name, row in table.iterrows():
        shown = page[name]
        assert shown[1] == f"{row['rank']:.1f}"
        assert shown[3] == f"{row['accuracy']:.3f}"
        assert (shown[6], shown[7]) == (f"{row['datasets']:.0f}", f"{row['z']:.1f}")


def test_the_page_shows_the_committed_networks_and_ranks():
    networks = committed("networks").query("datasets >= 3")
    page = rows_of_page("Bayesian signed-rank test")
    assert list(page) == list(networks.index)
    for name, row in networks.iterrows():
        assert page[name][1:3] == [f"{row['one epoch']:.3f}", f"{row['trained']:.3f}"]
    ranks = rows_of_page("every dataset:")
    assert {n: r[0] for n, r in ranks.items()} == {
        n: f"{r:.2f}" for n, r in committed("ranks_trained")["average_rank"].items()
    }


def test_the_page_counts_the_committed_cells():
    page = rows_of_page("what it could not hold")
    counts = committed("cells")
    statuses = ["done", "skipped", "timeout", "error", "diverged", "not run"]
    assert counts[statuses].sum(axis=1).eq(35).all()
    assert [int(n.replace(",", "")) for n in page["all"]] == list(
        counts[[*statuses, "tuning cut short"]].sum()
    )


def test_tables_of_accuracies_are_those_of_the_committed_scores(script):
    tables, _ = script.read_scores(FOLDER / "results" / "accuracy.csv", script.PUBLISHED)
    found = tables["networks"]["trained"]
    assert list(found) == pytest.approx(list(committed("networks")["trained"]), rel=1e-5)
    assert list(tables["table8_here"].index) == list(committed("table8_here").index)
    assert tables["ranks_trained"].index[0] == "NN-4-layer-dropout-each-layer_lr001"

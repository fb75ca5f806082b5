"""The study in one object: the same files, splits and numbers as the steps one by one."""

from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, max_error, mean_pinball_loss
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator, Results, Study
from mlaut.analysis import metric, read_results
from mlaut.data import fetch, from_frame
from mlaut.errors import (
    AnalysisError,
    DataError,
    MlautError,
    StoreError,
    StudyError,
    UnusableWarning,
)
from mlaut.experiments import run_study
from mlaut.files_io import FilesIO
from mlaut.files_io import StudyStore as Store
from mlaut.files_io.safe_files import hdf5, seal
from mlaut.records import Status
from mlaut.report import make_report, write_report

STRATEGIES = ["BaselineClassifier", ("tree", DecisionTreeClassifier(random_state=0))]
QUIET = {"engine": "inline", "verbose": 0}


@pytest.fixture
def study(tmp_path):
    made = Study(tmp_path / "study.h5")
    assert made.add_datasets(["starter/iris", "starter/zoo"]) == ["iris", "zoo"]
    return made


def test_it_does_what_the_steps_do(study, tmp_path):
    study.run(STRATEGIES, split="kfold(3)", **QUIET)

    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "steps.h5", mode="a")
    data.load(["starter/iris", "starter/zoo"], hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io, scheme="kfold(3)")
    Orchestrator(input_io, out_io).run(STRATEGIES, **QUIET)

    for mine, theirs in zip(Store(study.path).blocks(), Store(out_io.path).blocks(), strict=True):
        assert np.array_equal(mine.predictions, theirs.predictions)
    assert study.results("accuracy").losses.equals(Results.from_study(out_io, "accuracy").losses)


def test_a_second_run_and_a_new_dataset_do_only_what_is_new(study, tmp_path):
    assert study.run(STRATEGIES, split="kfold(3)", **QUIET).n_done == 12
    assert study.run(STRATEGIES, **QUIET).n_before == 12
    again = Study(study.path)
    assert again.add_datasets("starter/wine") == ["wine"]
    summary = again.run(STRATEGIES, **QUIET)
    assert (summary.n_before, summary.n_cells) == (12, 18)
    splits = Store(study.path).load_splits()
    assert {entry.split.scheme for entry in splits.values()} == {"kfold(n_folds=3)"}
    assert again.status().total[Status.DONE] == 18


def test_datasets_of_a_study_that_was_made_by_steps_are_found(tmp_path):
    data = Data()
    input_io = data.open_hdf5(tmp_path / "elsewhere" / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "steps.h5", mode="a")
    data.load("starter/iris", hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io)
    Orchestrator(input_io, out_io).run("BaselineClassifier", **QUIET)
    assert Study(out_io.path).datasets == ["iris"]


def test_a_file_that_is_no_study_is_refused(study, tmp_path):
    with pytest.raises(
        StudyError, match=r"datasets\.h5: a database of datasets, not a study; name"
    ):
        Study(tmp_path / "study.datasets.h5")
    with h5py.File(tmp_path / "old.hdf5", "w") as file:
        file["split_dts_idx/iris/train_idx"] = np.arange(3)
    with pytest.raises(StoreError, match=r"results of MLaut 0\.1 or 0\.2"):
        Study(tmp_path / "old.hdf5")


def test_datasets_outside_of_the_folder_have_to_be_named(tmp_path):
    """A study from an unknown source may name any file of the machine as its datasets."""
    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    out_io = data.open_hdf5(tmp_path / "studies" / "steps.h5", mode="a")
    data.load("starter/iris", hdf5_io=input_io)
    data.split_datasets(hdf5_in=input_io, hdf5_out=out_io)
    Orchestrator(input_io, out_io).run("BaselineClassifier", **QUIET)
    study = Study(out_io.path)
    assert study.status().total[Status.DONE] == 1
    with pytest.raises(StudyError, match=r"datasets are in \.\./input\.h5, .* name them yourself"):
        study.add_datasets("starter/zoo")
    assert Study(out_io.path, datasets=input_io.path).datasets == ["iris"]


def test_a_study_that_is_opened_again_goes_on_with_its_seed(tmp_path):
    """New cells have the bits that one run of all of them would have given."""
    forest = ("forest", ExtraTreesClassifier(n_estimators=3))
    for name in ("once", "twice"):
        study = Study(tmp_path / f"{name}.h5", seed=5)
        study.add_datasets("starter/iris")
        if name == "twice":
            study.run("BaselineClassifier", split="kfold(3)", **QUIET)
            study = Study(study.path)
            assert study.seed == 5
        study.run(["BaselineClassifier", forest], split="kfold(3)", **QUIET)
    once, twice = (next(Store(tmp_path / f"{name}.h5").blocks()) for name in ("once", "twice"))
    assert np.array_equal(once.probabilities, twice.probabilities)


def test_a_table_of_ones_own(tmp_path):
    x = np.arange(40.0)
    table = pd.DataFrame({"x": x, "price": x * 2 + 1})
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(table, name="prices", target="price") == ["prices"]
    several = {"prices": table, "more": table * 2}
    assert study.add_datasets(several, target="price") == ["prices", "more"]
    study.run(["BaselineRegressor", ("line", LinearRegression())], **QUIET)
    assert study.results().losses.loc["prices", "line"] == pytest.approx(0, abs=1e-9)


def test_tables_given_together_are_stored_in_one_change(tmp_path, monkeypatch):
    changes = []
    listed = seal.list_open
    monkeypatch.setattr(hdf5, "list_open", lambda *of: changes.append(1) or listed(*of))
    table = pd.DataFrame({"x": np.arange(9.0), "target": [*"aabbabaab"]})
    tables = {f"t{number}": table.assign(x=table["x"] + number) for number in range(5)}
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(tables) == study.datasets == [*tables]
    study.add_datasets(["starter/iris", "starter/zoo", "starter/wine"])
    assert len(changes) == 3  # a new file, the tables, the references
    same, other = (from_frame(one, "target", name="t0") for one in (tables["t0"], tables["t1"]))
    assert study.add_datasets([same, same]) == ["t0"]
    with pytest.raises(DataError, match="dataset 't0': given twice for /t0; rename one"):
        study.add_datasets([same, other])


def test_models_of_cells_that_are_done_are_saved_on_demand(study):
    with pytest.raises(StudyError, match=r"nothing was run yet, so there are no models; run it"):
        study.save_models(STRATEGIES)
    study.run(STRATEGIES, split="kfold(2)", **QUIET)
    assert study.save_models(STRATEGIES, engine="inline") == 8
    assert study.save_models(STRATEGIES, engine="inline") == 0
    records = [record for _, told in Store(study.path).all_details() for record in told]
    assert len(records) == 8
    assert all(record["model"] for record in records)


def made_regression(tmp_path, n=3):
    study = Study(tmp_path / "own.h5")
    for seed in range(n):
        x = np.random.default_rng(seed).normal(size=(30, 2))
        study.add_datasets((x, x[:, 0] + 0.1 * x[:, 1]), name=f"t{seed}")
    return study


def test_metrics_of_ones_own_in_regression_with_pairs_as_split(tmp_path):
    study, rows = made_regression(tmp_path), np.arange(30)
    study.run(
        {"linear": LinearRegression(), "mean": DummyRegressor()},
        split=[(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)],
        engine="inline",
        verbose=0,
    )
    worst = metric(max_error, greater_is_better=False)
    scorer = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    for own, name in ((worst, "max_error"), (scorer, "neg_mean_pinball_loss(alpha=0.9)")):
        compared = study.compare(own)
        assert compared.results.metric.name.startswith(name)
        assert compared.results.losses.mean().idxmin() == "linear"
        compared.decision(alpha=0.2)
        with pytest.raises(AnalysisError, match="has no name by which a study could find it"):
            study.analysis(metric=own)
    report = study.report(metric=["r2", worst])
    assert [section.results.metric.name for section in report.sections] == ["r2", "max_error"]


def test_unknown_options_are_answered_in_one_line(tmp_path):
    study = Study(tmp_path / "s.h5")
    for call, answer in {
        lambda: study.add_datasets(
            "starter", nam="x"
        ): "'nam' of add_datasets; did you mean 'name'",
        lambda: Results.from_table(
            pd.DataFrame(), metrics="r2"
        ): "of from_table; did you mean 'metr",
    }.items():
        with pytest.raises(MlautError, match=f"unknown option .*{answer}"):
            call()


def test_compare_and_report(study, tmp_path, capsys):
    study.run([*STRATEGIES, "GaussianNaiveBayes"], split="kfold(3)", **QUIET)
    found = study.compare()
    found.show()
    shown = capsys.readouterr().out
    assert found.decision().answer() in shown
    study.report(tmp_path / "report.html")
    assert "GaussianNaiveBayes" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be_done_is_said_in_one_line(study, tmp_path):
    table = pd.DataFrame({"x": [1.0, 2.0], "target": ["a", "b"]})
    with pytest.raises(DataError, match="a table has no name; pass name="):
        study.add_datasets(table)
    with pytest.raises(DataError, match="'stater' is no collection"):
        study.add_datasets("stater")
    with pytest.raises(
        StudyError, match=r"no dataset in .*empty.datasets.h5; copy that file there .* or add some"
    ):
        Study(tmp_path / "empty.h5").run(STRATEGIES)
    assert not (tmp_path / "empty.h5").exists()


def test_the_way_out_of_another_split_is_one_that_exists(study):
    study.run("BaselineClassifier", split="kfold(3)", **QUIET)
    with pytest.raises(StudyError, match=r"Data\.split_datasets\(\.\.\., overwrite=True\)$"):
        study.run("BaselineClassifier", split="kfold(2)", **QUIET)
    files = FilesIO(study.datasets_path), FilesIO(study.path, "a")
    Data().split_datasets(*files, scheme="kfold(2)", overwrite=True)
    assert study.run("BaselineClassifier", split="kfold(2)", **QUIET).n_done == 4


@pytest.mark.parametrize("asked", ["results", "compare", "report"])
def test_what_needs_results_says_that_nothing_was_run(tmp_path, asked):
    with pytest.raises(StudyError, match=r"s\.h5: nothing was run yet; run the study first"):
        getattr(Study(tmp_path / "s.h5"), asked)()


def test_a_dataset_that_cannot_be_split_is_left_out_with_a_line(study):
    study.add_datasets(pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}), name="few", target="y")
    with pytest.warns(UnusableWarning, match="left out: .*'few': 2 rows"):
        study.run("BaselineClassifier", split="kfold(3)", **QUIET)
    assert set(Store(study.path).datasets) == {"iris", "zoo"}


def test_sources_of_datasets_are_sealed_with_the_analysis(tmp_path):
    study, rng = Study(tmp_path / "study.h5"), np.random.default_rng(0)
    stored = FilesIO(study.datasets_path, "a")
    for place in range(14):
        table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "b"])
        table["y"] = table["a"] + rng.normal(size=30) > 0
        about = {"dataset_name": f"d{place}", "class_name": "y"}
        stored.save_pandas_dataset(table, "/", {**about, "cluster": f"source {place // 2}"})
    study.run(STRATEGIES, split="kfold(2)", **QUIET)
    known = {f"d{place}": f"source {place // 2}" for place in range(14)}
    assert study.analysis().clusters == known
    results = study.results("accuracy")
    assert dict(zip(results.datasets, results.clusters, strict=True)) == known
    decision = study.compare().decision()
    assert "14 datasets of 7 sources" in decision.title()
    report = study.report()
    assert report.sections[0].decision.n_sources == 7
    other = study.report(clusters={"d0": "one", "d1": "one"})
    assert other.sections[0].decision.n_sources == 13
    assert "clusters from 7 sources of 14 datasets to 1 source of 2 datasets" in " ".join(
        other.sections[0].decision.caveats()
    )
    study.run(STRATEGIES, **QUIET)
    assert study.analysis().clusters == known
    study.analysis(clusters={"d0": "one", "d3": "one"})
    assert study.results("accuracy").n_sources == 13
    with pytest.raises(AnalysisError, match="the source of 'd0' is 3 and no text"):
        study.analysis(clusters={"d0": 3})


def test_a_relative_path_names_the_same_files_in_another_folder(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path)
    study = Study("study.h5")
    study.add_datasets("starter/iris")
    assert (study.path, study.datasets_path) == (Path("study.h5"), Path("study.datasets.h5"))
    monkeypatch.chdir("notebooks")
    assert study.datasets == ["iris"]
    assert study.run("BaselineClassifier", engine="inline", verbose=0).n_done == 1
    assert (study.path, [*Path().iterdir()]) == (tmp_path / "study.h5", [])


def test_a_tilde_is_the_home_directory_and_part_of_other_names(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    study = Study("~/s.h5")
    study.add_datasets(["starter/iris"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.datasets.h5"]
    study.run(["BaselineClassifier"], split="kfold(2)", engine="inline", verbose=0)
    assert Study("~/s.h5").status().n_cells == 2
    table = "dataset,one,two\n" + "".join(f"d{k},0.{k},0.5\n" for k in range(6))
    for name in ("table.csv", "~table.csv", "~$table.csv"):
        Path(name).write_text(table)
        assert read_results(name, "accuracy").scores.shape == (6, 2)
    write_report(make_report("~/table.csv", "accuracy"), "~/report.md")
    assert "6 datasets" in Path("report.md").read_text()
    Path("tables").mkdir()
    Path("tables", "mine.csv").write_text("x,y\n" + "".join(f"{k},{k % 2}\n" for k in range(9)))
    assert study.add_datasets("~/tables", target="y") == ["mine"]


def test_a_run_that_is_refused_for_its_strategies_splits_no_rows(study):
    with pytest.raises(MlautError, match="no strategy, family or task is called 'Nope'"):
        study.run(["Nope"], split="kfold(3)", **QUIET)
    with pytest.raises(MlautError, match="n_jobs 0: no worker could run a cell"):
        study.run(["BaselineClassifier"], split="kfold(3)", **QUIET | {"n_jobs": 0})
    assert study.run(["BaselineClassifier"], split="kfold(4)", **QUIET).n_done == 8


def test_datasets_that_were_loaded_are_added(tmp_path):
    study, (iris, servo) = Study(tmp_path / "study.h5"), fetch(["starter/iris", "starter/servo"])
    assert study.add_datasets([iris, servo], task="Classification") == ["iris"]
    assert study.add_datasets({"cars": servo}, roles={"ignore": ["motor"]}) == ["cars"]
    assert study.add_datasets(iris, name="flowers") == ["flowers"]
    stored = FilesIO(tmp_path / "study.datasets.h5").load_dataset("/cars")
    expected = "cars", "Regression", {"ignore": ("motor",)}
    assert (stored.name, stored.task, stored.roles) == expected


# ------------------------------------------------------- before and beside a run

PATIENTS = pd.DataFrame(
    {"age": [50, 61, 38, 70, 44, 67] * 4, "target": ["no", "yes", "no", "yes", "yes", "no"] * 4},
    index=[f"patient {number}" for number in range(24)],
)


@pytest.fixture
def patients(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(PATIENTS, name="patients")
    return study


def test_the_status_before_the_first_run(patients, tmp_path):
    assert (
        str(Study(tmp_path / "new.h5").status())
        == f"{tmp_path}/new.h5: nothing run yet: 0 datasets"
    )
    said = f"{patients.path}: nothing run yet: 1 dataset"
    assert str(patients.status()) == said
    FilesIO(patients.path, "a")  # a file without a study, as a refused run leaves it
    assert str(patients.status()) == said
    patients.analysis(metric="mcc")
    assert (str(patients.status()), patients.status().complete) == (said, False)
    Data().split_datasets(FilesIO(patients.datasets_path), FilesIO(patients.path, "a"))
    assert str(patients.status()) == said


def test_the_first_run_names_the_metric_that_nobody_chose(patients, tmp_path, capsys):
    told = "mlaut: primary metric: accuracy, as none was chosen; reports name a later change"
    options = {"engine": "inline", "split": "kfold(2)"}
    patients.run("BaselineClassifier", **options)
    assert told in capsys.readouterr().err
    patients.run(STRATEGIES, **options)
    assert "primary metric" not in capsys.readouterr().err
    (tmp_path / "other").mkdir()
    other = Study(tmp_path / "other" / "study.h5", datasets=patients.datasets_path)
    other.analysis(metric="accuracy")
    other.run("BaselineClassifier", **options)
    assert "primary metric" not in capsys.readouterr().err


def test_predictions_are_a_table_with_the_labels_of_the_user(patients, tmp_path):
    numbers = PATIENTS.assign(target=np.linspace(0, 1, 24))
    patients.add_datasets(numbers, name="numbers")
    strategies = ["GaussianNaiveBayes", ("line", LinearRegression()), ("svc", LinearSVC())]
    with pytest.raises(StudyError, match="nothing was run yet"):
        patients.predictions("patients")
    patients.run(strategies, split="repeated_kfold(3, 2)", **QUIET)
    found = patients.predictions("patients")
    assert list(found) == [
        *("dataset", "strategy", "repeat", "fold", "row", "truth", "prediction"),
        *("confidence.no", "confidence.yes"),
    ]
    assert len(found) == 2 * 2 * 24
    block = Store(patients.path).block("patients")
    for s, (strategy, of) in enumerate(found.groupby("strategy", observed=True)):
        assert strategy == block.strategies[s]
        for (repeat, fold), part in of.groupby(["repeat", "fold"]):
            rows = block.split.rows(repeat, fold)[1]
            assert part["row"].tolist() == rows.tolist()
            assert part.index.tolist() == PATIENTS.index[rows].tolist()
            assert part["truth"].tolist() == PATIENTS["target"].iloc[rows].tolist()
            codes = block.predictions[s, repeat, rows]
            assert part["prediction"].tolist() == [block.classes[code] for code in codes]
            confidence = part[["confidence.no", "confidence.yes"]].to_numpy()
            assert np.array_equal(confidence, block.probabilities[s, repeat, rows], equal_nan=True)
            assert np.isnan(confidence).all() == (strategy == "svc")
    line = patients.predictions("numbers", "line")
    assert list(line)[-2:] == ["truth", "prediction"]
    assert line["truth"].tolist() == numbers["target"].iloc[line["row"]].tolist()
    bayes = patients.predictions("patients", ["GaussianNaiveBayes"])
    if find_spec("mlaut_exchange"):
        assert patients.import_predictions(bayes, strategy="copy", source="myself") == 6
        copied = patients.predictions("patients", "copy").drop(columns="strategy")
        assert copied.equals(bayes.drop(columns="strategy"))
    patients.datasets_path.rename(tmp_path / "gone")
    alone = Study(patients.path).predictions("patients", "svc")
    assert alone.index.tolist() == alone["row"].tolist()


def test_predictions_are_those_of_done_cells(patients):
    patients.run(
        [("bad", ExtraTreesClassifier(-1)), "BaselineClassifier"], split="kfold(2)", **QUIET
    )
    assert set(patients.predictions("patients")["strategy"]) == {"BaselineClassifier"}
    for arguments, said in (
        (("patient",), r"no dataset 'patient'; did you mean 'patients'\?"),
        (("patients", "Baseline"), r"no strategy 'Baseline'"),
        (("patients", "bad"), "no cell of dataset 'patients' is done yet; run it first"),
    ):
        with pytest.raises(StudyError, match=said):
            patients.predictions(*arguments)


STUDY_FILE = """
[study]
seed = 7
[data]
folder = "tables"
datasets = ["one", "two"]
[split]
scheme = "kfold(3)"
[strategies]
names = ["K_Neighbours", "BaselineClassifier"]
[run]
engine = "inline"
"""


def test_a_study_of_a_study_file_goes_on_from_python(tmp_path):
    (tmp_path / "tables").mkdir()
    for name in ("one", "two", "three"):
        PATIENTS.to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY_FILE)
    assert run_study(tmp_path / "study.toml", verbose=0).n_done == 12
    study = Study(tmp_path / "study.h5")
    assert (study.datasets, study.seed) == (["one", "two"], 7)
    same = study.run("K_Neighbours", split="kfold(3)", **QUIET)
    assert (same.n_before, same.n_cells) == (6, 6)
    study.add_datasets(PATIENTS, name="four")
    assert study.run("BaselineClassifier", **QUIET).n_done == 9
    assert Study(study.path).datasets == ["four", "one", "two"]
    assert {e.split.seed for e in Store(study.path).load_splits().values()} == {0}
    everything = Study(study.path, datasets=study.datasets_path)
    assert everything.datasets == ["four", "one", "three", "two"]


def test_what_was_stored_is_not_read_again_for_its_names(tmp_path, monkeypatch):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "target": [*"abab"]})
    new = Study(tmp_path / "new.h5")
    monkeypatch.delattr(FilesIO, "infos_of")
    assert new.add_datasets({"a/b": table, "50 %": table.assign(x=7.0)}) == ["a/b", "50 %"]
    assert new.add_datasets([]) == []
    assert new.datasets == ["50 %", "a/b"]

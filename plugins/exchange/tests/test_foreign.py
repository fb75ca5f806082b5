"""Predictions of other programs in a study: what is checked, what is stored, what is shown."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from mlaut_exchange import import_predictions, read_predictions
from studies import entry as entry_of

import mlaut
from mlaut.analysis import Results
from mlaut.cli import main
from mlaut.errors import AnalysisError, DataError, StrategyError, StudyError
from mlaut.experiments import verify_study
from mlaut.files_io import StudyStore
from mlaut.records import REGRESSION, Status

VIRGINICA = "confidence.Iris-virginica"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    study = mlaut.Study(folder / "study.h5")
    study.add_datasets(["starter/iris", "starter/zoo"])
    study.run(["GaussianNaiveBayes"], split="kfold(3)", engine="inline", verbose=0)
    return folder


@pytest.fixture
def study(made, tmp_path):
    shutil.copytree(made, tmp_path / "copy")
    return StudyStore(tmp_path / "copy" / "study.h5")


def right_table(study, **more):
    """Return predictions that are right on every second row."""
    rows = []
    for name, entry in study.load_splits().items():
        labels = np.asarray(entry.classes, dtype=object)
        for fold in range(entry.split.n_folds):
            test = entry.split.rows(0, fold)[1]
            right = labels[entry.truth[test]]
            wrong = labels[(entry.truth[test] + 1) % len(labels)]
            rows.append(
                pd.DataFrame(
                    {
                        "dataset": name,
                        "repeat": 0,
                        "fold": fold,
                        "row": test,
                        "prediction": np.where(test % 2 == 0, right, wrong),
                        "truth": right,
                        "fitting_seconds": 0.5,
                        **more,
                    }
                )
            )
    return pd.concat(rows, ignore_index=True)


def test_imported_predictions_are_scored_beside_those_of_runs(study):
    assert import_predictions(study, right_table(study), strategy="R", source="R 4.3") == 6
    results = Results.from_study(study, "accuracy")
    for name, entry in study.load_splits().items():
        even = [(entry.split.rows(0, f)[1] % 2 == 0).mean() for f in range(3)]
        assert results.scores.loc[name, "R"] == pytest.approx(np.mean(even), abs=1e-12)
    assert results.seconds[:, 1, 0, :, 1].tolist() == [[0.5] * 3] * 2
    assert "imported from R 4.3, not run here: R" in results.notes
    only = Results.from_study(study, "accuracy", strategies=["GaussianNaiveBayes"])
    assert not any("R 4.3" in note for note in only.notes)
    assert verify_study(study.path).ok


def test_the_same_predictions_again_change_nothing(study):
    table = right_table(study)
    import_predictions(study, table, strategy="R", source="R 4.3")
    before = study.path.read_bytes()
    assert import_predictions(study, table, strategy="R", source="R 4.3") == 0
    assert study.path.read_bytes() == before


def test_the_order_of_rows_is_enough_where_the_truth_proves_it(study):
    table = right_table(study).drop(columns="row")
    assert import_predictions(study, table, strategy="R", source="R 4.3") == 6
    with pytest.raises(StudyError, match="neither 'row' nor 'truth'"):
        import_predictions(study, table.drop(columns="truth"), strategy="S", source="R 4.3")


def test_probabilities_are_stored(study):
    table = right_table(study)
    table = table[table["dataset"] == "iris"]
    labels = study.load_split("iris").classes
    for label in labels:
        table = table.assign(**{f"confidence.{label}": (table["prediction"] == label) * 1.0})
    import_predictions(study, table, strategy="R", source="R 4.3")
    block = study.block("iris")
    assert (block.probabilities[1].argmax(axis=-1) == block.predictions[1]).all()
    assert (study.status("iris")[1] == Status.DONE).all()
    wanting = table.drop(columns=VIRGINICA)
    with pytest.raises(StudyError, match=r"has no column 'confidence\.Iris-virginica'"):
        import_predictions(study, wanting, strategy="S", source="R")
    with pytest.raises(StudyError, match="confidences of some rows are no probabilities"):
        import_predictions(study, table.assign(**{VIRGINICA: 2.0}), strategy="S", source="R")


def _other_truth(table):
    return table.assign(truth=table.groupby("dataset")["truth"].shift(1, fill_value="Iris-setosa"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_other_truth, "rows have another truth than in the study"),
        (lambda t: t.iloc[1:], "its 50 test rows and the 49 rows of the table are not the same"),
        (lambda t: t.assign(row=t["row"] + 1), "are not the same"),
        (lambda t: t.assign(fold=t["fold"] + 3), "repeat 0, fold 3: the study has 1 repeats of 3"),
        (
            lambda t: t.assign(dataset="irsi"),
            "the study has no dataset 'irsi'; did you mean 'iris'",
        ),
        (lambda t: t.assign(prediction="tulip"), "'tulip' in column 'prediction' is no class"),
        (lambda t: t.drop(columns="prediction"), "the table has no column 'prediction'"),
        (lambda t: t.drop(columns="fold"), "no column 'fold', and the study has 3 of them"),
        (lambda t: t.iloc[:0], "are a DataFrame with one row for each test row"),
        (
            lambda t: t.drop(columns="row").iloc[1:],
            r"49 predictions for 50 test rows; predictions must come from the split",
        ),
        (
            lambda t: t.rename(columns={"fitting_seconds": "truth"}),
            "the table has two columns 'truth'; leave one of them out",
        ),
        (
            lambda t: t.assign(prediction=[[label] for label in t["prediction"]]),
            "column 'prediction' has lists; write one value in each row",
        ),
        (
            lambda t: t.assign(row=t["row"] + 0.5),
            r"column 'row' has 4\.5, which is no position, counted from 0",
        ),
        (
            lambda t: t.assign(fitting_seconds=-1.0),
            r"column 'fitting_seconds' has -1\.0, which is no number that can stand there",
        ),
        (
            lambda t: t.assign(fitting_seconds=pd.Timedelta("1s")),
            r"'fitting_seconds' has Timedelta.*, which is no number that can stand there",
        ),
    ],
)
def test_what_does_not_fit_the_study_changes_nothing(study, change, message):
    before = study.path.read_bytes()
    with pytest.raises(StudyError, match=message):
        import_predictions(study, change(right_table(study)), strategy="R", source="R 4.3")
    assert study.path.read_bytes() == before


def test_other_predictions_replace_stored_ones_only_if_asked(study):
    table = right_table(study)
    import_predictions(study, table, strategy="R", source="R 4.3")
    all_right = table.assign(prediction=table["truth"])
    with pytest.raises(StudyError, match="other predictions are stored already"):
        import_predictions(study, all_right, strategy="R", source="R 4.3")
    with pytest.raises(StudyError, match=r"come from 'R 4\.3', and these from 'R 5'"):
        import_predictions(study, table, strategy="R", source="R 5")
    assert import_predictions(study, all_right, strategy="R", source="R 5", overwrite=True) == 6
    assert (Results.from_study(study, "accuracy").scores["R"] == 1).all()


def test_predictions_that_come_in_parts_are_one_strategy(study):
    table = right_table(study)
    for name in ("iris", "zoo"):
        part = table[table["dataset"] == name]
        assert import_predictions(study, part, strategy="R", source="R 4.3") == 3
    assert [s.name for s in study.strategies] == ["GaussianNaiveBayes", "R"]
    assert import_predictions(study, table, strategy="R", source="R 4.3") == 0


def test_a_strategy_that_was_run_is_not_replaced(study):
    with pytest.raises(StudyError, match="'GaussianNaiveBayes' is a strategy that was run here"):
        import_predictions(study, right_table(study), strategy="GaussianNaiveBayes", source="R")


def test_a_run_goes_on_beside_imported_predictions(study):
    opened = mlaut.Study(study.path)
    assert opened.import_predictions(right_table(study), strategy="R", source="R 4.3") == 6
    summary = opened.run(["BaselineClassifier"], engine="inline", verbose=0)
    assert summary.n_done == 6
    assert (study.status("iris")[1] == Status.DONE).all()
    assert set(opened.results("accuracy").strategies) == {
        "GaussianNaiveBayes",
        "R",
        "BaselineClassifier",
    }


def test_the_command_line_imports_tables(study, tmp_path, capsys):
    table = right_table(study)
    table[table["dataset"] == "iris"].to_csv(tmp_path / "a.csv", index=False)
    table[table["dataset"] == "zoo"].to_csv(tmp_path / "b.tsv", index=False, sep="\t")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.tsv")]
    main(["import", str(study.path), *files, "--strategy", "R", "--source", "R 4.3"])
    assert capsys.readouterr().out == f"6 cells of R stored in {study.path}\n"
    with pytest.raises(SystemExit):
        main(["import", str(study.path), "x.xlsx", "--strategy", "R", "--source", "R"])
    assert "x.xlsx: no such file or folder" in capsys.readouterr().err


def test_numbers_are_imported_and_their_truth_may_be_rounded_by_a_text_file(tmp_path):
    of = entry_of("cpu", n_rows=6, task=REGRESSION)
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([of])
    rows = np.concatenate([of.split.rows(0, fold)[1] for fold in (0, 1)])
    given = {"fold": [0] * 3 + [1] * 3, "row": rows, "truth": of.truth[rows] * (1 + 1e-12)}
    table = pd.DataFrame({**given, "prediction": of.truth[rows] + 0.5})
    assert import_predictions(study, table, strategy="R", source="R") == 2
    np.testing.assert_array_equal(study.block("cpu").predictions[0, 0], of.truth + 0.5)
    assert study.block("cpu").probabilities is None
    other = table.assign(truth=table["truth"] + [0, 0, 1e-6, 0, 0, 0])
    with pytest.raises(StudyError, match=r"1 of 3 rows have another truth .*the first: row 4"):
        import_predictions(study, other, strategy="S", source="R")
    infinite = table.assign(prediction=np.inf)
    with pytest.raises(StudyError, match="inf in column 'prediction' is no finite number"):
        import_predictions(study, infinite, strategy="S", source="R")


def test_nothing_joins_a_race(tmp_path):
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry_of("iris")])
    study.store_analysis({"race": {"losses": 1}})
    table = pd.DataFrame({"fold": [0], "row": [0], "prediction": ["no"]})
    with pytest.raises(StudyError, match="is a race, and a strategy cannot join a race"):
        import_predictions(study, table, strategy="R", source="R")


@pytest.mark.parametrize("name", ["", " ", "a/b", "s\udcfc", "a\nb"], ids=ascii)
def test_a_name_that_a_run_refuses_is_refused_before_anything_is_stored(study, name):
    before = study.path.read_bytes()
    with pytest.raises(StrategyError, match="cannot name a strategy"):
        import_predictions(study, right_table(study), strategy=name, source="R")
    assert study.path.read_bytes() == before


def test_a_table_with_two_columns_of_one_name_is_refused(study, tmp_path):
    table = right_table(study)
    twice = pd.concat([table, table[["prediction"]]], axis=1)
    twice.to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(DataError, match="two columns are called 'prediction'"):
        read_predictions(tmp_path / "twice.csv", study.load_splits())


def test_predictions_are_a_table_or_name_the_plugin_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut_exchange.reading.found", lambda _: {})
    (tmp_path / "a.xlsx").write_text("")
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(AnalysisError, match="neither a table"):
        read_predictions(tmp_path / "a.xlsx", {})
    with pytest.raises(DataError, match="cannot be read as CSV"):
        read_predictions(tmp_path / "a.csv", {})
    with pytest.raises(AnalysisError, match="are read by the plug-in mlaut-boards: 'pip install"):
        read_predictions(tmp_path, {})


def test_a_pipe_is_refused_at_once(study, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    words = "import", str(study.path), str(tmp_path / "pipe.csv")
    with pytest.raises(SystemExit):
        main([*words, "--strategy", "s", "--source", "x"])
    assert "a pipe or a device, and must be a file" in capsys.readouterr().err
